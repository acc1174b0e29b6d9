//! Reachability: for each property, a state in which what it talks about has come about, and a
//! scenario in which the search finds one. A property without it could hold for want of anything
//! to judge.

use super::Id;
use crate::client::{Outcome, Phase};
use crate::coordinator::{Role, TransactionState};
use crate::fault::Fault;
use crate::message::Message;
use crate::partition::{Partition, Record, RecordKind, decided, read_committed_view};
use crate::scenario::RuleSet;
use crate::types::*;
use crate::world::{State, World};

/// A row of the list.
#[derive(Clone, Copy, Debug)]
pub struct Witness {
    /// The property.
    pub id: Id,
    /// What the state shows.
    pub says: &'static str,
    /// Where the search finds it.
    pub scenario: &'static str,
    /// Under which rules.
    pub rules: RuleSet,
    reached: fn(&World, &State) -> bool,
}

macro_rules! witnesses {
    ($($id:ident $scenario:literal $rules:ident $reached:ident $says:literal),+ $(,)?) => {
        /// The witness of each property, in the order of the properties.
        pub const WITNESSES: &[Witness] = &[$(Witness {
            id: Id::$id,
            says: $says,
            scenario: $scenario,
            rules: RuleSet::$rules,
            reached: $reached,
        }),+];
    };
}

witnesses! {
    S1 "smoke" Tv2 commit_is_told_and_read
        "An application was told that its transaction is committed, and its record is read.",
    S2 "smoke" Tv2 aborted_record_is_passed
        "An aborted record lies below the last stable offset.",
    S3 "smoke" Tv2 one_transaction_is_decided_twice
        "Records of one transaction are decided in two partitions.",
    S4 "smoke" Tv2 second_transaction_is_decided
        "Two transactions of one producer id are decided in one partition.",
    S5 "zombie" Tv2 older_instance_still_sends
        "A newer instance has its identity, and a batch of an older one is in flight.",
    S6 "idempotent" Tv2 copy_of_a_written_batch
        "A copy of a batch that is in the log is in flight.",
    S7 "zombie" Tv2 definite_error
        "A producer was refused for good.",
    S8 "zombie" Tv2 two_instances_have_identities
        "Two instances of one id were given identities.",
    S9 "election" Tv2 log_was_replayed
        "A coordinator serves what it has read from the log.",
    S10 "reader" Tv2 reader_has_passed
        "A reader was served up to the last stable offset.",
    S11 "smoke" Tv2 stable_below_high_watermark
        "An undecided record is replicated: the last stable offset is below the high watermark.",
    S12 "smoke" Tv2 decision_is_durable
        "A decision is replicated.",
    S13 "two-phase" Tv2 two_phase_may_time_out
        "A two-phase transaction is open and the timer may fire.",
    S14 "exhaustion" Tv2 next_epoch_is_decided_at_the_end
        "A coordinator makes a transition from an epoch of 32766 or above.",
    L1 "late" Tv2 given_up_and_open
        "A producer gave up a send, and a transaction is open on a partition.",
    L2 "smoke" Tv2 decision_is_durable
        "A decision is replicated and not complete.",
    L3 "offsets" Tv2 offset_is_staged
        "An offset is staged.",
    L4 "smoke" Tv2 second_transaction_begins
        "A producer is in its second transaction.",
}

/// The properties that `state` is a witness of, as a mask of bits.
pub fn reached(world: &World, state: &State) -> u32 {
    WITNESSES
        .iter()
        .filter(|w| (w.reached)(world, state))
        .fold(0, |mask, w| mask | w.id.bit())
}

fn view(partition: &Partition) -> Vec<Record> {
    let stable = partition.last_stable_offset();
    let below = partition.log.iter().filter(|r| r.offset < stable);
    read_committed_view(below, &partition.aborted)
}

/// The transactional data records with their verdicts.
fn verdicts(partition: &Partition) -> impl Iterator<Item = (&Record, Option<TransactionResult>)> {
    partition
        .log
        .iter()
        .filter(|r| r.kind == RecordKind::Data && r.transactional)
        .map(|r| (r, decided(&partition.log, r)))
}

fn commit_is_told_and_read(world: &World, state: &State) -> bool {
    state.producers.iter().any(|p| {
        (0..).zip(p.outcome).any(|(txn, outcome)| {
            let ghost = Ghost::of(p.index, txn, world.scenario.ghost_key);
            outcome == Outcome::CommitTold
                && state
                    .partitions
                    .iter()
                    .any(|q| view(q).iter().any(|r| r.ghost == ghost))
        })
    })
}

fn aborted_record_is_passed(_: &World, state: &State) -> bool {
    state.partitions.iter().any(|p| {
        let stable = p.last_stable_offset();
        verdicts(p).any(|(r, v)| v == Some(TransactionResult::Abort) && r.offset < stable)
    })
}

fn one_transaction_is_decided_twice(_: &World, state: &State) -> bool {
    let decided_in =
        |p: &Partition, ghost: Ghost| verdicts(p).any(|(r, v)| v.is_some() && r.ghost == ghost);
    state.partitions.iter().enumerate().any(|(i, p)| {
        verdicts(p).any(|(r, v)| {
            v.is_some() && state.partitions[..i].iter().any(|q| decided_in(q, r.ghost))
        })
    })
}

fn second_transaction_is_decided(_: &World, state: &State) -> bool {
    state.partitions.iter().any(|p| {
        verdicts(p).any(|(a, va)| {
            verdicts(p).any(|(b, vb)| {
                let same = a.identity.producer_id == b.identity.producer_id;
                va.is_some() && vb.is_some() && same && a.ghost != b.ghost
            })
        })
    })
}

fn older_instance_still_sends(world: &World, state: &State) -> bool {
    state.network.iter().any(|message| match message {
        Message::Produce(m) => m
            .ghost
            .ghost_reveal(world.scenario.ghost_key)
            .and_then(|(p, _)| Some((p, world.workload(p).transactional_id?)))
            .is_some_and(|(p, id)| {
                state.ghost_newest[usize::from(id.0)].is_some_and(|newest| newest > p)
            }),
        _ => false,
    })
}

fn copy_of_a_written_batch(_: &World, state: &State) -> bool {
    state.network.iter().any(|message| match message {
        Message::Produce(m) => state.partitions[usize::from(m.partition.0)]
            .log
            .iter()
            .any(|r| {
                r.identity == m.identity && r.sequence == m.sequence && r.kind == RecordKind::Data
            }),
        _ => false,
    })
}

fn definite_error(_: &World, state: &State) -> bool {
    state
        .producers
        .iter()
        .any(|p| p.phase == Phase::Fatal || p.outcome.contains(&Outcome::ErrorTold))
}

fn two_instances_have_identities(world: &World, state: &State) -> bool {
    state.producers.iter().enumerate().any(|(i, p)| {
        state.producers[..i].iter().any(|q| {
            let id = world.workload(p.index).transactional_id;
            id.is_some()
                && id == world.workload(q.index).transactional_id
                && p.first_identity.is_some()
                && q.first_identity.is_some()
        })
    })
}

fn log_was_replayed(_: &World, state: &State) -> bool {
    state.coordinators.iter().any(|c| {
        let current = c.role == Role::Leader && c.epoch == state.log.epoch;
        current && c.epoch > CoordinatorEpoch(0) && c.slots.iter().any(|s| s.metadata.is_some())
    })
}

fn reader_has_passed(_: &World, state: &State) -> bool {
    state.readers.iter().any(|r| {
        let partition = &state.partitions[usize::from(r.partition.0)];
        r.position > Offset(0) && r.position == partition.last_stable_offset()
    })
}

fn stable_below_high_watermark(_: &World, state: &State) -> bool {
    state
        .partitions
        .iter()
        .any(|p| p.last_stable_offset() < p.high_watermark && verdicts(p).any(|(_, v)| v.is_none()))
}

fn decision_is_durable(_: &World, state: &State) -> bool {
    state
        .log
        .committed
        .iter()
        .flatten()
        .any(|m| m.state.prepared().is_some())
}

fn two_phase_may_time_out(_: &World, state: &State) -> bool {
    let open = state
        .log
        .committed
        .iter()
        .flatten()
        .any(|m| m.two_phase && m.state == TransactionState::Ongoing);
    open && state.budgets.left(Fault::Timer) > 0
}

fn next_epoch_is_decided_at_the_end(_: &World, state: &State) -> bool {
    state
        .coordinators
        .iter()
        .flat_map(|c| &c.slots)
        .any(|slot| {
            slot.pending.is_some()
                && slot
                    .metadata
                    .is_some_and(|m| m.producer_epoch.is_exhausted())
        })
}

fn given_up_and_open(_: &World, state: &State) -> bool {
    let open = state
        .partitions
        .iter()
        .any(|p| p.producers.iter().any(|e| e.open.is_some()));
    open && state.producers.iter().any(|p| p.ghost_gave_up)
}

fn offset_is_staged(_: &World, state: &State) -> bool {
    state.group.as_ref().is_some_and(|g| !g.staged.is_empty())
}

fn second_transaction_begins(_: &World, state: &State) -> bool {
    state
        .producers
        .iter()
        .any(|p| p.txn >= 1 && p.phase == Phase::InTransaction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::PROPERTIES;
    use crate::scenario;
    use fencepost_search::{Checks, Options, run_bfs};

    #[test]
    fn every_property_has_its_witness() {
        let listed: Vec<_> = WITNESSES.iter().map(|w| w.id).collect();
        let all: Vec<_> = PROPERTIES.iter().map(|r| r.id).collect();
        assert_eq!(listed, all);
    }

    #[test]
    fn no_state_at_the_start_is_a_witness() {
        for witness in WITNESSES {
            let world = world(witness);
            assert!(
                !(witness.reached)(&world, &world.initial()),
                "{}",
                witness.id.name()
            );
        }
    }

    #[test]
    fn every_witness_is_found() {
        for witness in WITNESSES {
            let bit = u64::from(witness.id.bit());
            let checks = Checks::new(
                crate::properties::NAMES.iter().copied(),
                move |world: &World, state: &State| u64::from(reached(world, state)) & bit,
                |_, _| 0,
            );
            let options = Options {
                max_states: Some(500_000),
                stop_when: bit,
                ..Options::default()
            };
            let found = checks.map(|checks| run_bfs(&world(witness), &checks, &options));
            let found = found.map(|f| f.violation(witness.id.name()).is_some());
            assert_eq!(found, Ok(true), "{}: {}", witness.id.name(), witness.says);
        }
    }

    fn world(witness: &Witness) -> World {
        let entry = scenario::find(witness.scenario)
            .unwrap_or_else(|| panic!("no scenario {}", witness.scenario));
        World::new(entry.scenario(witness.rules), entry.rules(witness.rules))
    }
}
