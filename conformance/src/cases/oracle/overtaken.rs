//! A marker between the look at a transaction and the append.
//!
//! Where a batch or an offset arrives while its transaction is open, Kafka asks nobody, and appends
//! under another lock. A marker that comes between finds the write unverified in a transaction that
//! is not open any more: INVALID_TXN_STATE. In the model look and append are one step
//! (docs/DEVIATIONS.md), so that the refusal is added here, just where it can happen.

use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::Message;
use fencepost_spec::types::*;
use fencepost_spec::world::State;

use super::{Allowed, ModelAnswer, OFFSETS, Oracle};

impl Oracle {
    /// The refusals of a write that a marker of its own epoch overtakes, one for each state after
    /// the marker; a marker of a later epoch is an error that the model has.
    pub(super) fn overtaken(&self, request: &Message) -> Vec<Allowed> {
        let Some((partition, identity)) = written(request) else {
            return Vec::new();
        };
        let leader = |state: &State| state.partitions.get(usize::from(partition.0)).cloned();
        let mut open = self.clone();
        open.states = self.reachable();
        open.states.retain(|state| {
            leader(state).is_some_and(|it| it.has_open(&self.world.rules, identity))
        });
        let mut closed = open.reachable();
        closed.retain(|state| {
            leader(state)
                .and_then(|it| it.producer(identity.producer_id).cloned())
                .is_some_and(|it| it.open.is_none() && it.epoch == identity.producer_epoch)
        });
        let refused = |after| Allowed {
            answer: ModelAnswer {
                error: ErrorCode::InvalidTxnState,
                identity: None,
                ongoing: None,
                offset: None,
            },
            cell: None,
            after,
        };
        closed.into_iter().map(refused).collect()
    }
}

/// The partition that a transactional write goes to, and who writes.
fn written(request: &Message) -> Option<(PartitionIndex, Identity)> {
    match request {
        Message::Produce(m) => m.transactional.then_some((m.partition, m.identity)),
        Message::TxnOffsetCommit(m) => Some((OFFSETS, m.identity)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fencepost_spec::message::{EndTxn, InitProducerId, Produce};
    use fencepost_spec::rules::Rules;

    use super::*;

    const ID: TransactionalId = TransactionalId(0);

    /// Takes the first answer without an error.
    fn succeed(oracle: &mut Oracle, request: &Message) -> ModelAnswer {
        let mut allowed = oracle.ask(request);
        allowed.retain(|it| it.answer.error == ErrorCode::None);
        let answer = allowed.first().expect("it is allowed").answer;
        allowed.retain(|it| it.answer == answer);
        oracle.observe(allowed.iter());
        answer
    }

    fn produce(oracle: &mut Oracle, identity: Identity, sequence: i32) -> Message {
        Message::Produce(Produce {
            correlation: oracle.correlation(),
            transactional_id: Some(ID),
            identity,
            partition: PartitionIndex(0),
            sequence: Sequence(sequence),
            transactional: true,
            version: TransactionVersion::Tv2,
            payload: Payload(1),
            ghost: Ghost::NONE,
        })
    }

    fn errors(oracle: &Oracle, request: &Message) -> Vec<ErrorCode> {
        let mut errors: Vec<_> = oracle
            .ask(request)
            .iter()
            .map(|it| it.answer.error)
            .collect();
        errors.sort();
        errors.dedup();
        errors
    }

    #[test]
    fn a_write_is_refused_only_while_a_marker_of_its_epoch_may_overtake_it() {
        let mut oracle = Oracle::new(Rules::kafka(TransactionVersion::Tv2));
        let init = Message::InitProducerId(InitProducerId {
            correlation: oracle.correlation(),
            transactional_id: Some(ID),
            expected: None,
            enable_2pc: false,
            keep_prepared_txn: false,
            timeout_in_range: true,
            authorized: true,
        });
        let identity = succeed(&mut oracle, &init).identity.expect("an identity");
        let first = produce(&mut oracle, identity, 0);
        succeed(&mut oracle, &first);

        let second = produce(&mut oracle, identity, 1);
        assert_eq!(errors(&oracle, &second), [ErrorCode::None], "no marker yet");

        // EndTxn v4 ends at the epoch that the transaction has.
        let end = Message::EndTxn(EndTxn {
            correlation: oracle.correlation(),
            transactional_id: ID,
            identity,
            result: TransactionResult::Commit,
            version: TransactionVersion::Tv1,
            ghost: Ghost::NONE,
        });
        succeed(&mut oracle, &end);
        let under_way = errors(&oracle, &second);
        assert!(
            under_way.contains(&ErrorCode::InvalidTxnState) && under_way.contains(&ErrorCode::None),
            "{under_way:?}"
        );

        oracle.settle();
        assert_eq!(
            errors(&oracle, &second),
            [ErrorCode::None],
            "next transaction"
        );
    }
}
