//! `fencepost bench core`: decisions of the coordinator core with 100,000 transactional ids, and the memory of an idle
//! one.

use super::rows::{Row, tell};
use crate::args::Bench;
use crate::exit::{Exit, Failure};
use fencepost::coordinator::{
    AddPartitionsToTxn, AddPartitionsToTxnForm, Answer, AppendOutcome, Authorization, Claim,
    Config, Coordinator, Correlation, Effect, Effects, EndTxn, InitProducerId, Input, Leadership,
    MarkerOutcome, PartitionAccess, ProducerIdBlock, Request,
};
use fencepost::error_code::ErrorCode;
use fencepost::types::*;
use fencepost_search::resident_bytes;
use std::time::{Duration, Instant};

const IDS: usize = 100_000;
/// Coprime to the number of ids: neighbouring requests come from ids that lie apart.
const STRIDE: usize = 61_803;
/// How many requests are decided before their appends end: a group commit.
const GROUP: usize = 1_000;
/// The partitions of a large transaction, and over how many of its additions a row is taken.
const PARTITIONS: usize = 1_000;
const ADDITIONS: usize = 100;
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// Runs it, on one core. Of several repetitions the fastest counts.
pub fn run(args: &Bench, json: bool) -> Result<Exit, Failure> {
    let (mut office, bytes) = Office::open()?;
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..args.repeats {
        let round = office.round()?;
        if rows.is_empty() {
            rows = round;
            continue;
        }
        for (best, row) in rows.iter_mut().zip(round) {
            if row.seconds < best.seconds {
                *best = row;
            }
        }
    }
    let mut idle = Row::of("idle_transactional_id", 1, IDS as u64, 0, 0.0);
    idle.bytes_per_state = bytes.map(|bytes| bytes as f64 / IDS as f64);
    rows.push(idle);
    tell(&rows, json)?;
    Ok(Exit::AsExpected)
}

/// A coordinator that leads every partition of the log, with its ids and what their producers know.
struct Office {
    coordinator: Coordinator,
    names: Vec<String>,
    claims: Vec<Claim>,
    next_producer_id: i64,
}

impl Office {
    /// Every id initialised, and by how many bytes the process grew by it.
    fn open() -> Result<(Self, Option<u64>), Failure> {
        let config = Config::default();
        let mut coordinator = Coordinator::new(config, TransactionVersion::V2);
        for partition in 0..config.transaction_log_partitions {
            let coordinator_epoch = CoordinatorEpoch::new(1);
            for told in [
                Leadership::Elected {
                    partition,
                    coordinator_epoch,
                },
                Leadership::Loaded {
                    partition,
                    coordinator_epoch,
                },
            ] {
                coordinator.step(Input::Leadership(told), NOW);
            }
        }
        let nobody = Claim {
            producer_id: None,
            producer_epoch: None,
        };
        let mut office = Self {
            coordinator,
            names: (0..IDS)
                .map(|id| format!("payments-service-{id}"))
                .collect(),
            claims: vec![nobody; IDS],
            next_producer_id: 0,
        };
        let before = resident_bytes();
        for id in 0..IDS {
            office.initialise(id)?;
        }
        let after = resident_bytes();
        Ok((
            office,
            after
                .zip(before)
                .map(|(now, then)| now.saturating_sub(then)),
        ))
    }

    fn initialise(&mut self, id: usize) -> Result<(), Failure> {
        let request = |name: &str| {
            Request::InitProducerId(InitProducerId {
                version: 5,
                transactional_id: Some(TransactionalId::new(name)),
                transaction_timeout_ms: 60_000,
                expected_producer_id: None,
                expected_producer_epoch: None,
                enable_2pc: false,
                keep_prepared_txn: false,
                authorization: Authorization::Allowed,
                two_phase_commit_authorization: Authorization::Denied,
            })
        };
        // The first try of a block's end only asks for the next block.
        for _ in 0..2 {
            let asked = Input::Request(Correlation(id as u64), request(&self.names[id]));
            let effects = self.coordinator.step(asked, NOW);
            self.finish(effects)?;
            if self.claims[id].producer_id.is_some() {
                return Ok(());
            }
        }
        Err(unexpected("an id has no producer id"))
    }

    /// One transaction of every id: what the decisions took, and the whole of it.
    fn round(&mut self) -> Result<Vec<Row>, Failure> {
        let began = Instant::now();
        let (mut adding, mut ending) = (Duration::ZERO, Duration::ZERO);
        let order: Vec<usize> = (0..IDS).map(|at| at * STRIDE % IDS).collect();
        for group in order.chunks(GROUP) {
            adding += self.decide(group, |office, id| office.add_partitions(id))?;
            ending += self.decide(group, |office, id| office.end(id))?;
        }
        let whole = began.elapsed();
        let ids = IDS as u64;
        let row = |name, took: Duration| Row::of(name, 1, ids, ids, took.as_secs_f64());
        let mut rows = vec![
            row("add_partitions_to_txn", adding),
            row("end_txn", ending),
            row("whole_transaction", whole),
        ];
        rows.extend(self.large_transaction()?);
        Ok(rows)
    }

    /// One transaction of a thousand partitions, added one by one: what the first and the last additions took. Each
    /// record holds all of them, so the last ones cost more.
    fn large_transaction(&mut self) -> Result<[Row; 2], Failure> {
        let id = 0;
        let (mut first, mut last) = (Duration::ZERO, Duration::ZERO);
        for at in 0..PARTITIONS {
            let took = self.decide(&[id], |office, id| office.add_partition(id, at))?;
            if at < ADDITIONS {
                first += took;
            } else if at + ADDITIONS >= PARTITIONS {
                last += took;
            }
        }
        self.decide(&[id], |office, id| office.end(id))?;
        let of = ADDITIONS as u64;
        let row = |name, took: Duration| Row::of(name, 1, of, of, took.as_secs_f64());
        Ok([
            row("add_first_100_of_1000_partitions", first),
            row("add_last_100_of_1000_partitions", last),
        ])
    }

    /// Decides a group of requests, and then ends what they have begun. Only the decisions are measured.
    fn decide(
        &mut self,
        group: &[usize],
        request: impl Fn(&Self, usize) -> Request,
    ) -> Result<Duration, Failure> {
        let asked = group.iter().map(|id| {
            let request = request(self, *id);
            Input::Request(Correlation(*id as u64), request)
        });
        let asked: Vec<Input> = asked.collect();
        let mut decided = Vec::with_capacity(GROUP);
        let began = Instant::now();
        for input in asked {
            decided.push(self.coordinator.step(input, NOW));
        }
        let took = began.elapsed();
        for effects in decided {
            if !matches!(effects.as_slice(), [Effect::Append { .. }]) {
                return Err(unexpected("a request was refused"));
            }
            self.finish(effects)?;
        }
        Ok(took)
    }

    fn add_partitions(&self, id: usize) -> Request {
        self.add_partition(id, id % 32)
    }

    fn add_partition(&self, id: usize, partition: usize) -> Request {
        let partition = TopicPartition::new("payments", partition as i32);
        Request::AddPartitionsToTxn(AddPartitionsToTxn {
            form: AddPartitionsToTxnForm::Broker,
            transactional_id: TransactionalId::new(&self.names[id]),
            claim: self.claims[id],
            partitions: vec![(partition, PartitionAccess::Allowed)],
            authorization: Authorization::Allowed,
        })
    }

    fn end(&self, id: usize) -> Request {
        Request::EndTxn(EndTxn {
            version: 5,
            transactional_id: TransactionalId::new(&self.names[id]),
            claim: self.claims[id],
            result: TransactionResult::Commit,
            authorization: Authorization::Allowed,
        })
    }

    /// Plays the shell until nothing is left to do: appends are written, markers too.
    fn finish(&mut self, effects: Effects) -> Result<(), Failure> {
        let mut left = effects;
        while let Some(effect) = left.pop() {
            let input = match effect {
                Effect::Append { ticket, .. } => {
                    Input::AppendFinished(ticket, AppendOutcome::Written)
                }
                Effect::SendMarkers { ticket, partitions } => {
                    let written = MarkerOutcome::Answered(ErrorCode::None);
                    let outcomes = partitions.into_iter().map(|it| (it, written)).collect();
                    Input::MarkersAnswered(ticket, outcomes)
                }
                Effect::Reply(to, answer) => {
                    self.answered(to.0 as usize, &answer)?;
                    continue;
                }
                Effect::AllocateProducerIds => {
                    let block = ProducerIdBlock {
                        first: ProducerId::new(self.next_producer_id),
                        len: 1_000,
                    };
                    self.next_producer_id += 1_000;
                    Input::ProducerIdBlockArrived(Some(block))
                }
                Effect::Loaded { .. }
                | Effect::LoadFailed { .. }
                | Effect::MarkerAbandoned { .. } => {
                    return Err(unexpected("a marker or a load failed"));
                }
            };
            left.extend(self.coordinator.step(input, NOW));
        }
        Ok(())
    }

    /// A producer learns who it is from here on.
    fn answered(&mut self, id: usize, answer: &Answer) -> Result<(), Failure> {
        let producer = match answer {
            Answer::InitProducerId(Ok(initialised)) => initialised.producer,
            Answer::EndTxn(Ok(Some(producer))) => *producer,
            Answer::AddPartitionsToTxn(Ok(_))
            | Answer::InitProducerId(Err(ErrorCode::CoordinatorLoadInProgress)) => return Ok(()),
            Answer::InitProducerId(Err(_))
            | Answer::EndTxn(_)
            | Answer::AddPartitionsToTxn(Err(_))
            | Answer::AddOffsetsToTxn(_)
            | Answer::DescribeTransactions(_)
            | Answer::ListTransactions(_) => return Err(unexpected("a request was refused")),
        };
        self.claims[id] = Claim {
            producer_id: Some(producer.producer_id),
            producer_epoch: Some(producer.producer_epoch),
        };
        Ok(())
    }
}

fn unexpected(what: &str) -> Failure {
    Failure::Internal(format!("the benchmark is broken: {what}"))
}
