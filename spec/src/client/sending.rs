//! Sending: the script of a transaction, registration under TV1, batches and their numbers.
//!
//! SOURCE: KIP-98 (registration before data), KIP-890 part 2 (none under TV2), KIP-360 (the bump
//! after a given-up batch), KAFKA-18227 (the bump before the first TV2 transaction).

use super::{ClientContext, InFlight, Item, Outcome, Phase, Producer};
use crate::message::*;
use crate::step::{Out, Step};
use crate::types::*;

impl Producer {
    /// Starts the instance: InitProducerId without an expected identity.
    pub fn start(&mut self, ctx: &ClientContext<'_>, out: &mut Out) -> Step {
        if self.phase != Phase::Unstarted {
            return Step::NotEnabled;
        }
        self.phase = Phase::Initializing;
        self.version = ctx.version;
        self.send_init(ctx, out);
        Step::Handled
    }

    /// Sends InitProducerId: the first one, or a bump that names the identity held (KIP-360).
    pub(super) fn send_init(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        self.ask(ctx, RequestKind::InitProducerId);
        self.emit_request(ctx, out);
    }

    /// Notes a new request, to be sent by [`Self::emit_request`].
    pub(super) fn ask(&mut self, ctx: &ClientContext<'_>, kind: RequestKind) {
        self.request = Some(kind);
        self.number += 1;
        self.attempt = u8::from(ctx.tagged);
        self.resent = false;
    }

    /// Sends the outstanding request again, unasked: the first copy may still arrive.
    pub fn resend_request(&mut self, ctx: &ClientContext<'_>, out: &mut Out) -> Step {
        if self.request.is_none() || self.is_finished() {
            return Step::NotEnabled;
        }
        self.resent = true;
        self.ghost_resent_init |= self.phase == Phase::Initializing;
        if ctx.tagged {
            self.attempt += 1;
        }
        self.emit_request(ctx, out);
        Step::Handled
    }

    /// Sends a batch in flight again, unasked.
    pub fn resend_batch(&mut self, ctx: &ClientContext<'_>, at: usize, out: &mut Out) -> Step {
        if at >= self.in_flight.len() || self.is_finished() {
            return Step::NotEnabled;
        }
        self.in_flight[at].copies += 1;
        if ctx.tagged {
            self.in_flight[at].attempt += 1;
        }
        self.emit_batch(ctx, at, out);
        Step::Handled
    }

    /// Sends the outstanding request.
    pub(super) fn emit_request(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        let correlation = self.correlation(self.number, self.attempt);
        let Some(kind) = self.request else {
            return;
        };
        if kind == RequestKind::InitProducerId {
            let first = self.phase == Phase::Initializing;
            out.send(Message::InitProducerId(InitProducerId {
                correlation,
                transactional_id: ctx.workload.transactional_id,
                expected: self.identity.filter(|_| !first),
                enable_2pc: ctx.workload.two_phase,
                keep_prepared_txn: first && ctx.workload.takes_over.is_some(),
                timeout_in_range: true,
                authorized: true,
            }));
            return;
        }
        if kind == RequestKind::OffsetFetch {
            out.send(Message::OffsetFetch(correlation));
            return;
        }
        let (Some(identity), Some(id)) = (self.identity, ctx.workload.transactional_id) else {
            return;
        };
        let ghost = self.ghost(ctx);
        let add = |partition| AddPartitionsToTxn {
            correlation,
            transactional_id: id,
            identity,
            partition,
            ghost,
        };
        match kind {
            RequestKind::AddPartitionsToTxn => {
                if let Some(Item::Send(partition)) = self.current_item(ctx) {
                    out.send(Message::AddPartitionsToTxn(add(partition)));
                }
            }
            RequestKind::AddOffsetsToTxn => out.send(Message::AddOffsetsToTxn(add(ctx.offsets))),
            RequestKind::TxnOffsetCommit => out.send(Message::TxnOffsetCommit(TxnOffsetCommit {
                correlation,
                transactional_id: id,
                identity,
                member: self.generation.map(|generation| GroupMember {
                    id: self.index,
                    generation,
                }),
                offset: Payload(self.position.0 + 1),
                version: self.version,
                ghost,
            })),
            RequestKind::EndTxn => {
                if let Phase::Ending(result) = self.phase {
                    out.send(Message::EndTxn(EndTxn {
                        correlation,
                        transactional_id: id,
                        identity,
                        result,
                        version: self.version,
                        ghost: self.end_ghost(ctx),
                    }));
                }
            }
            RequestKind::InitProducerId | RequestKind::OffsetFetch => {}
        }
    }

    pub(super) fn emit_batch(&self, ctx: &ClientContext<'_>, at: usize, out: &mut Out) {
        let batch = self.in_flight[at];
        out.send(Message::Produce(Produce {
            correlation: self.correlation(0, batch.attempt),
            transactional_id: ctx
                .workload
                .transactional_id
                .filter(|_| batch.transactional),
            identity: batch.identity,
            partition: batch.partition,
            sequence: batch.sequence,
            transactional: batch.transactional,
            version: self.version,
            payload: batch.payload,
            ghost: self.ghost(ctx),
        }));
    }

    pub(super) fn current_item(&self, ctx: &ClientContext<'_>) -> Option<Item> {
        ctx.workload.items.get(usize::from(self.item)).copied()
    }

    /// Begins the next transaction, or finishes the script. The version is chosen here.
    pub(super) fn begin(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        if self.txn >= ctx.workload.transactions {
            self.finish(Phase::Done);
            return;
        }
        let switches = self.version != ctx.version && self.txn > 0;
        if self.needs_bump || (switches && ctx.rules.client.bump_at_upgrade) {
            self.needs_bump = false;
            self.version = ctx.version;
            self.phase = Phase::Bumping;
            self.send_init(ctx, out);
            return;
        }
        self.version = ctx.version;
        self.phase = Phase::InTransaction;
        self.item = 0;
        self.registered = PartitionSet::EMPTY;
        self.proceed(ctx, out);
    }

    /// Goes on with the script as far as it can without an answer.
    pub(super) fn proceed(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        while self.phase == Phase::InTransaction && self.request.is_none() {
            if self.in_flight.len() >= usize::from(ctx.workload.max_in_flight) {
                return;
            }
            let draining = self.needs_bump && ctx.workload.transactional_id.is_none();
            if draining && ctx.rules.client.drain_before_bump {
                return;
            }
            let Some(item) = self.current_item(ctx) else {
                self.finish_if_idempotent(ctx);
                return;
            };
            match item {
                Item::Send(partition) => {
                    if self.must_register(ctx, partition) {
                        self.ask(ctx, RequestKind::AddPartitionsToTxn);
                        self.emit_request(ctx, out);
                        return;
                    }
                    self.send_record(ctx, partition, out);
                    self.item += 1;
                }
                Item::FetchOffset => {
                    self.ask(ctx, RequestKind::OffsetFetch);
                    self.emit_request(ctx, out);
                    return;
                }
                Item::CommitOffset => {
                    let kind = if self.must_register(ctx, ctx.offsets) {
                        RequestKind::AddOffsetsToTxn
                    } else {
                        RequestKind::TxnOffsetCommit
                    };
                    self.ask(ctx, kind);
                    self.emit_request(ctx, out);
                    return;
                }
            }
        }
    }

    fn must_register(&self, ctx: &ClientContext<'_>, partition: PartitionIndex) -> bool {
        ctx.workload.transactional_id.is_some()
            && self.version == TransactionVersion::Tv1
            && !self.registered.contains(partition)
    }

    fn send_record(&mut self, ctx: &ClientContext<'_>, partition: PartitionIndex, out: &mut Out) {
        let Some(identity) = self.identity else {
            return;
        };
        let p = usize::from(partition.0);
        let sequence = self.next_sequence[p];
        if ctx.rules.client.keeps_sequence {
            self.next_sequence[p] = sequence.next();
        }
        let later_in_txn = self.item > 0;
        let plain = !ctx.rules.client.batches_are_transactional && later_in_txn;
        let payload = if ctx.workload.inputs > 0 {
            self.position
        } else {
            Payload(self.item + 1)
        };
        self.in_flight.push(InFlight {
            partition,
            sequence,
            identity,
            payload,
            attempt: u8::from(ctx.tagged),
            copies: 1,
            answered: false,
            transactional: ctx.workload.transactional_id.is_some() && !plain,
        });
        self.emit_batch(ctx, self.in_flight.len() - 1, out);
    }

    fn finish_if_idempotent(&mut self, ctx: &ClientContext<'_>) {
        if ctx.workload.transactional_id.is_none() && self.in_flight.is_empty() {
            self.finish(Phase::Done);
        }
    }

    /// Leaves the stage: fields that nothing reads any more are cleared.
    pub(super) fn finish(&mut self, phase: Phase) {
        self.phase = phase;
        self.request = None;
        self.number = 0;
        self.known_coordinator = CoordinatorEpoch(0);
        self.attempt = 0;
        self.resent = false;
        self.in_flight.clear();
        self.registered = PartitionSet::EMPTY;
        self.item = 0;
        self.needs_bump = false;
        self.next_sequence = [Sequence::FIRST; 3];
        self.generation = None;
        self.position = Payload(0);
    }

    /// An instance that stopped before the scenario begins.
    pub(crate) fn crash_before_start(&mut self) {
        self.phase = super::Phase::Crashed;
    }

    /// The instance stops for good.
    pub fn crash(&mut self) -> Step {
        if !self.is_started() || self.is_finished() {
            return Step::NotEnabled;
        }
        self.finish(Phase::Crashed);
        Step::Handled
    }

    /// A batch's delivery timeout passes: its fate stays open.
    /// In a transaction only an abort may follow (KIP-360, KAFKA-9279).
    pub fn give_up(&mut self, ctx: &ClientContext<'_>, at: usize, out: &mut Out) -> Step {
        if self.is_finished() {
            return Step::NotEnabled;
        }
        if at == self.in_flight.len() && self.request == Some(RequestKind::TxnOffsetCommit) {
            return self.give_up_staging(ctx, out);
        }
        if at >= self.in_flight.len() {
            return Step::NotEnabled;
        }
        self.in_flight.remove(at);
        self.ghost_gave_up = true;
        if ctx.workload.transactional_id.is_none() {
            self.give_up_idempotent(ctx, out);
            return Step::Handled;
        }
        self.needs_bump |=
            self.version == TransactionVersion::Tv1 && ctx.rules.client.bump_after_give_up;
        self.fail_transaction(ctx, out);
        Step::Handled
    }

    /// The same for TxnOffsetCommit: only an abort may follow.
    fn give_up_staging(&mut self, ctx: &ClientContext<'_>, out: &mut Out) -> Step {
        self.ghost_gave_up = true;
        self.request = None;
        self.needs_bump |=
            self.version == TransactionVersion::Tv1 && ctx.rules.client.bump_after_give_up;
        self.fail_transaction(ctx, out);
        Step::Handled
    }

    /// Without a transaction the client bumps its own epoch, once every other batch is settled:
    /// a number whose fate is open must not be written again (KAFKA-14034).
    fn give_up_idempotent(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        if ctx.rules.client.drain_before_bump && !self.in_flight.is_empty() {
            self.needs_bump = true;
            return;
        }
        self.bump_locally(ctx, out);
    }

    pub(super) fn bump_locally(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        let Some(old) = self.identity else {
            return;
        };
        self.needs_bump = false;
        let identity = Identity::new(old.producer_id, old.producer_epoch.next());
        self.identity = Some(identity);
        if ctx.rules.client.bump_resets_all_partitions {
            self.next_sequence = [Sequence::FIRST; 3];
        } else {
            self.next_sequence[0] = Sequence::FIRST;
        }
        for i in 0..self.in_flight.len() {
            let p = usize::from(self.in_flight[i].partition.0);
            self.in_flight[i].identity = identity;
            self.in_flight[i].copies = 1;
            self.in_flight[i].answered = false;
            self.in_flight[i].sequence = self.next_sequence[p];
            self.next_sequence[p] = self.next_sequence[p].next();
            self.emit_batch(ctx, i, out);
        }
        self.proceed(ctx, out);
    }

    /// A send of this transaction failed: the latch that forbids the commit.
    pub(super) fn fail_transaction(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        if !ctx.rules.client.error_latch {
            self.proceed(ctx, out);
            return;
        }
        self.in_flight.clear();
        self.phase = Phase::AbortableError;
        self.abort_if_possible(ctx, out);
    }

    pub(super) fn outcome_mut(&mut self) -> Option<&mut Outcome> {
        self.outcome.get_mut(usize::from(self.txn))
    }
}
