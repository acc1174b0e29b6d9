//! Tests of the coordinator through its one entry point.

mod add_partitions_to_txn;
mod describe;
mod end_txn_tv1;
mod end_txn_tv2;
mod init_producer_id;
mod kept_transaction;
mod load;
mod markers;
mod random;
mod seeds;
mod state_transitions;
mod sweeps;
mod tables;
mod txn_log;

use super::{
    AddOffsetsToTxn, AddPartitionsToTxn, AddPartitionsToTxnForm, Answer, AppendOutcome,
    AppendTicket, Authorization, Claim, Config, Coordinator, Correlation, Effect, Effects, EndTxn,
    InitProducerId, InitializedProducer, Input, Leadership, LogRecord, MarkerOutcome, MarkerTicket,
    PartitionAccess, PartitionSet, ProducerIdBlock, Request, Slot, TransactionMetadata,
    TransactionState,
};
use crate::error_code::ErrorCode;
use crate::types::{
    CoordinatorEpoch, ProducerEpoch, ProducerId, ProducerIdAndEpoch, Timestamp, TopicPartition,
    TransactionResult, TransactionVersion, TransactionalId,
};

const TV1: TransactionVersion = TransactionVersion::V1;
const TV2: TransactionVersion = TransactionVersion::V2;
const COMMIT: TransactionResult = TransactionResult::Commit;
const ABORT: TransactionResult = TransactionResult::Abort;
/// The last epoch that a client may hold.
const EXH: i16 = 32766;
/// The epoch of a fence or a marker beyond it.
const MAX: i16 = 32767;
/// The first producer id of the block that every test coordinator has.
const P: i64 = 1000;

fn id() -> TransactionalId {
    TransactionalId::new("txn")
}

fn epoch(raw: i32) -> CoordinatorEpoch {
    CoordinatorEpoch::new(raw)
}

fn claim(producer_id: i64, producer_epoch: i16) -> Claim {
    Claim {
        producer_id: ProducerId::from_wire(producer_id),
        producer_epoch: ProducerEpoch::from_wire(producer_epoch),
    }
}

fn producer(producer_id: i64, producer_epoch: i16) -> ProducerIdAndEpoch {
    ProducerIdAndEpoch {
        producer_id: ProducerId::new(producer_id),
        producer_epoch: ProducerEpoch::new(producer_epoch),
    }
}

fn p0() -> TopicPartition {
    TopicPartition::new("t", 0)
}

fn p1() -> TopicPartition {
    TopicPartition::new("t", 1)
}

fn init(expected: Option<(i64, i16)>) -> InitProducerId {
    InitProducerId {
        version: 5,
        transactional_id: Some(id()),
        transaction_timeout_ms: 60_000,
        expected_producer_id: expected.and_then(|(id, _)| ProducerId::from_wire(id)),
        expected_producer_epoch: expected.and_then(|(_, epoch)| ProducerEpoch::from_wire(epoch)),
        enable_2pc: false,
        keep_prepared_txn: false,
        authorization: Authorization::Allowed,
        two_phase_commit_authorization: Authorization::Allowed,
    }
}

fn init_kept() -> InitProducerId {
    InitProducerId {
        version: 6,
        keep_prepared_txn: true,
        ..init(None)
    }
}

fn add(
    form: AddPartitionsToTxnForm,
    claim: Claim,
    partitions: &[TopicPartition],
) -> AddPartitionsToTxn {
    AddPartitionsToTxn {
        form,
        transactional_id: id(),
        claim,
        partitions: partitions
            .iter()
            .map(|partition| (partition.clone(), PartitionAccess::Allowed))
            .collect(),
        authorization: Authorization::Allowed,
    }
}

fn add_offsets(claim: Claim) -> AddOffsetsToTxn {
    AddOffsetsToTxn {
        version: 4,
        transactional_id: id(),
        claim,
        group_id: "my-transactional-id".into(),
        authorization: Authorization::Allowed,
        group_authorization: Authorization::Allowed,
    }
}

fn end(version: i16, claim: Claim, result: TransactionResult) -> EndTxn {
    EndTxn {
        version,
        transactional_id: id(),
        claim,
        result,
        authorization: Authorization::Allowed,
    }
}

/// A coordinator with a clock, answering its own effects on demand.
#[derive(Clone)]
struct Desk {
    coordinator: Coordinator,
    now: Timestamp,
    /// Appends not finished yet.
    appends: Vec<AppendTicket>,
    /// Markers not answered yet.
    markers: Vec<(MarkerTicket, TopicPartition)>,
    /// Every record that was written.
    log: Vec<LogRecord>,
    unwritten: Vec<Vec<LogRecord>>,
    /// Answers in the order in which they came.
    answers: Vec<Answer>,
    /// Everything else.
    others: Vec<Effect>,
}

impl Desk {
    /// A coordinator with a block of producer ids from [`P`] that leads nothing.
    fn idle(level: TransactionVersion) -> Self {
        let config = Config {
            transaction_log_partitions: 1,
            two_phase_commit_enable: true,
            ..Config::default()
        };
        let mut desk = Self {
            coordinator: Coordinator::new(config, level),
            now: Timestamp::from_millis(1_000_000),
            appends: Vec::new(),
            markers: Vec::new(),
            log: Vec::new(),
            unwritten: Vec::new(),
            answers: Vec::new(),
            others: Vec::new(),
        };
        desk.step(Input::ProducerIdBlockArrived(Some(ProducerIdBlock {
            first: ProducerId::new(P),
            len: 1000,
        })));
        desk
    }

    /// The same, leading partition 0 at epoch 3.
    fn new(level: TransactionVersion) -> Self {
        let mut desk = Self::idle(level);
        desk.load(3, &[]);
        desk.others.clear();
        desk
    }

    fn load(&mut self, coordinator_epoch: i32, records: &[LogRecord]) {
        let (partition, coordinator_epoch) = (0, epoch(coordinator_epoch));
        self.step(Input::Leadership(Leadership::Elected {
            partition,
            coordinator_epoch,
        }));
        let records = records.to_vec();
        self.step(Input::Leadership(Leadership::Replayed {
            partition,
            coordinator_epoch,
            records,
        }));
        self.step(Input::Leadership(Leadership::Loaded {
            partition,
            coordinator_epoch,
        }));
    }

    /// A coordinator whose log says this of the id.
    fn given(level: TransactionVersion, metadata: &TransactionMetadata) -> Self {
        let mut desk = Self::idle(level);
        let record = super::txn_log::record(&id(), metadata, level);
        desk.load(3, &[record]);
        desk.others.clear();
        desk
    }

    fn step(&mut self, input: Input) {
        let effects = self.coordinator.step(input, self.now);
        self.file(effects);
    }

    fn file(&mut self, effects: Effects) {
        for effect in effects {
            match effect {
                Effect::Append {
                    ticket, records, ..
                } => {
                    self.appends.push(ticket);
                    self.unwritten.push(records);
                }
                Effect::SendMarkers { ticket, partitions } => {
                    self.markers.extend(
                        partitions
                            .into_iter()
                            .map(|partition| (ticket.clone(), partition)),
                    );
                }
                Effect::Reply(_, answer) => self.answers.push(answer),
                Effect::AllocateProducerIds
                | Effect::Loaded { .. }
                | Effect::LoadFailed { .. }
                | Effect::MarkerAbandoned { .. } => self.others.push(effect),
            }
        }
    }

    fn ask(&mut self, request: Request) {
        self.step(Input::Request(Correlation(7), request));
    }

    /// Ends the oldest append.
    fn append(&mut self, outcome: AppendOutcome) {
        let (ticket, records) = (self.appends.remove(0), self.unwritten.remove(0));
        if outcome == AppendOutcome::Written {
            self.log.extend(records);
        }
        self.step(Input::AppendFinished(ticket, outcome));
    }

    /// Answers the oldest marker.
    fn marker(&mut self, outcome: MarkerOutcome) {
        let (ticket, partition) = self.markers.remove(0);
        self.step(Input::MarkersAnswered(ticket, vec![(partition, outcome)]));
    }

    /// Lets every append and every marker succeed until nothing is under way.
    fn settle(&mut self) {
        while !self.appends.is_empty() || !self.markers.is_empty() {
            if self.appends.is_empty() {
                self.marker(MarkerOutcome::Answered(ErrorCode::None));
            } else {
                self.append(AppendOutcome::Written);
            }
        }
    }

    /// Asks, and lets appends succeed until the answer is there; markers stay unanswered.
    fn answer(&mut self, request: Request) -> Answer {
        self.answers.clear();
        self.ask(request);
        while self.answers.is_empty() {
            self.append(AppendOutcome::Written);
        }
        self.answers.remove(0)
    }

    fn init(&mut self, request: InitProducerId) -> Result<ProducerIdAndEpoch, ErrorCode> {
        self.init_kept(request).map(|answer| {
            assert_eq!(answer.ongoing, None);
            answer.producer
        })
    }

    fn init_kept(&mut self, request: InitProducerId) -> Result<InitializedProducer, ErrorCode> {
        match self.answer(Request::InitProducerId(request)) {
            Answer::InitProducerId(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// The outcomes of the partitions asked for, which must all be the same.
    fn add(&mut self, request: AddPartitionsToTxn) -> ErrorCode {
        match self.answer(Request::AddPartitionsToTxn(request)) {
            Answer::AddPartitionsToTxn(Ok(outcomes)) => {
                let first = outcomes[0].1;
                assert!(
                    outcomes.iter().all(|(_, outcome)| *outcome == first),
                    "{outcomes:?}"
                );
                first
            }
            other => panic!("{other:?}"),
        }
    }

    fn add_offsets(&mut self, request: AddOffsetsToTxn) -> Result<(), ErrorCode> {
        match self.answer(Request::AddOffsetsToTxn(request)) {
            Answer::AddOffsetsToTxn(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, request: EndTxn) -> Result<Option<ProducerIdAndEpoch>, ErrorCode> {
        match self.answer(Request::EndTxn(request)) {
            Answer::EndTxn(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn slot(&self) -> &Slot {
        self.coordinator
            .owner(&id())
            .expect("led")
            .get(&id())
            .expect("known")
    }

    fn now_holds(&self) -> &TransactionMetadata {
        self.slot().current()
    }

    /// State, producer id and epoch that hold now.
    fn brief(&self) -> (TransactionState, i64, i16) {
        let metadata = self.now_holds();
        (
            metadata.state,
            metadata.producer_id.get(),
            ProducerEpoch::to_wire(metadata.producer_epoch),
        )
    }

    /// A transaction of `p0` opened by producer [`P`] at epoch 0.
    fn ongoing(level: TransactionVersion) -> Self {
        let mut desk = Self::new(level);
        assert_eq!(desk.init(init(None)), Ok(producer(P, 0)));
        assert_eq!(
            desk.add(add(AddPartitionsToTxnForm::Broker, claim(P, 0), &[p0()])),
            ErrorCode::None
        );
        desk
    }
}

/// What the log says of an id in this state with this identity: open and decided ones hold `p0`.
fn stored(state: TransactionState, producer_id: i64, producer_epoch: i16) -> TransactionMetadata {
    let open = match state {
        TransactionState::Ongoing
        | TransactionState::PrepareCommit
        | TransactionState::PrepareAbort => true,
        TransactionState::Empty
        | TransactionState::CompleteCommit
        | TransactionState::CompleteAbort
        | TransactionState::Dead
        | TransactionState::PrepareEpochFence => false,
    };
    TransactionMetadata {
        producer_epoch: ProducerEpoch::from_wire(producer_epoch),
        state,
        partitions: if open {
            PartitionSet::default().with(&[p0()])
        } else {
            PartitionSet::default()
        },
        start_timestamp: (state != TransactionState::Empty)
            .then(|| Timestamp::from_millis(999_000)),
        client_transaction_version: TV2,
        ..TransactionMetadata::new(
            ProducerId::new(producer_id),
            super::TransactionTimeout::Millis(60_000),
            Timestamp::from_millis(999_500),
        )
    }
}
