//! What readers and the describing requests see, against what the model holds.

use std::collections::BTreeSet;

use fencepost_spec::partition::{RecordKind, read_committed_view};
use fencepost_spec::types::{Offset, TransactionResult};
use fencepost_spec::world::State;

use super::words::letter;
use super::{Exchange, Outcome, Stage, Stop};
use crate::wire::{
    BatchView, Connection, CoordinatorKey, IsolationLevel, TopicPartition, WireError,
};

/// Answers of a Fetch loop before it is given up: far above what a case writes.
const MAX_FETCHES: usize = 200;

impl Stage {
    /// Compares an answer with what each state of the oracle would show.
    pub(super) fn compare(
        &mut self,
        request: &str,
        answer: &str,
        shows: impl Fn(&State) -> String,
        rule: &str,
    ) -> Outcome {
        let allowed: BTreeSet<String> = self.oracle.reachable().iter().map(&shows).collect();
        self.exchanges.push(Exchange {
            request: request.to_owned(),
            answer: answer.to_owned(),
            allowed: allowed.into_iter().collect(),
            rule: rule.to_owned(),
        });
        if self.oracle.keep(|state| shows(state) == answer) {
            Ok(())
        } else {
            Err(Stop::Wrong(format!("{request}: {answer}")))
        }
    }

    /// Fetches the active partition at both levels and compares the log, its bounds, the aborted
    /// list and what a read_committed consumer delivers.
    pub fn read(&mut self) -> Outcome {
        let partition = self.topic_partition();
        let leader = self.route.leader(&partition)?;
        let (_, stable) = leader.latest_offset(&partition, IsolationLevel::ReadCommitted)?;
        let all = fetch_all(leader, &partition, IsolationLevel::ReadUncommitted)?;
        let committed = fetch_all(leader, &partition, IsolationLevel::ReadCommitted)?;
        let answer = format!(
            "{} hw {} lso {stable} {} aborted [{}] delivered [{}]",
            log_text(&all.batches, |id| self.name_of(id)),
            all.high_watermark,
            if committed.last_stable_offset == stable {
                "agreed"
            } else {
                "Fetch and ListOffsets differ"
            },
            aborted_text(&committed.aborted, stable, |id| self.name_of(id)),
            delivered(&committed).join(" ")
        );
        let at = usize::from(self.partition);
        let request = format!("Fetch and ListOffsets, both levels, partition {at}");
        let rule = "KIP-98: last stable offset, aborted list, read_committed";
        self.compare(&request, &answer, |state| partition_text(state, at), rule)
    }

    /// DescribeTransactions of the active id; nothing where the broker does not have it, for most
    /// cases only look at it in passing.
    pub fn describe(&mut self) -> Outcome {
        if self.require(65, "DescribeTransactions", 0).is_err() {
            return Ok(());
        }
        let id = self.id();
        let coordinator = self.route.coordinator(CoordinatorKey::Transaction(&id))?;
        let found = coordinator.describe_transaction(&id)?;
        let answer = if found.error == crate::wire::ErrorCode::NONE {
            let pair = self.producer_text(found.producer);
            format!(
                "{} {pair} {} partitions",
                found.state,
                found.partitions.len()
            )
        } else {
            found.error.to_string()
        };
        let slot = self.active;
        let shows = |state: &State| match state.coordinators[0].slots[slot].metadata {
            None => "TRANSACTIONAL_ID_NOT_FOUND".to_owned(),
            Some(m) => format!(
                "{:?} ({},{}) {} partitions",
                m.state,
                letter(m.producer_id),
                m.producer_epoch.0,
                m.partitions.iter().count()
            ),
        };
        self.compare("DescribeTransactions v0", &answer, shows, "KIP-664")
    }

    /// DescribeProducers of the active partition, without the coordinator epoch; nothing where the
    /// broker does not have it.
    pub fn describe_producers(&mut self) -> Outcome {
        if self.require(61, "DescribeProducers", 0).is_err() {
            return Ok(());
        }
        let partition = self.topic_partition();
        let leader = self.route.leader(&partition)?;
        let (_, producers) = leader.describe_producers(&partition)?;
        let answer: Vec<String> = producers
            .iter()
            .map(|it| {
                let pair = self.producer_text(it.producer);
                format!(
                    "{pair} sequence {} open {}",
                    it.last_sequence, it.current_txn_start_offset
                )
            })
            .collect();
        let at = usize::from(self.partition);
        let shows = |state: &State| {
            let entries = state.partitions[at].producers.iter().map(|entry| {
                format!(
                    "({},{}) sequence {} open {}",
                    letter(entry.producer_id),
                    entry.epoch.0,
                    entry.batches.last().map_or(-1, |batch| batch.sequence.0),
                    entry.open.map_or(-1, |offset| i64::from(offset.0))
                )
            });
            entries.collect::<Vec<_>>().join("; ")
        };
        self.compare("DescribeProducers v0", &answer.join("; "), shows, "KIP-664")
    }

    /// ListTransactions with filters, narrowed to the active id: its state, or nothing.
    pub fn list(
        &mut self,
        states: &[&str],
        own_producer_id: bool,
        min_duration_ms: i64,
        allowed: &str,
    ) -> Outcome {
        self.require(66, "ListTransactions", 1)?;
        let id = self.id();
        let producer_id = if own_producer_id {
            self.wire(self.me()).id
        } else {
            i64::MAX
        };
        let coordinator = self.route.coordinator(CoordinatorKey::Transaction(&id))?;
        let (error, found) =
            coordinator.list_transactions(states, &[producer_id], min_duration_ms)?;
        let mine: Vec<&str> = found
            .iter()
            .filter(|it| it.transactional_id == id)
            .map(|it| it.state.as_str())
            .collect();
        let words = format!(
            "ListTransactions v1 states {states:?}, {} producer id, open for {min_duration_ms} ms",
            if own_producer_id { "own" } else { "another" }
        );
        let answer = format!("{error} [{}]", mine.join(" "));
        self.expect(&words, &answer, &[allowed], "KIP-664, KIP-994")
    }

    fn name_of(&self, real: i64) -> String {
        self.oracle
            .named(real)
            .map_or_else(|| real.to_string(), letter)
    }
}

struct Fetched {
    high_watermark: i64,
    last_stable_offset: i64,
    aborted: Vec<(i64, i64)>,
    batches: Vec<BatchView>,
}

/// Fetches to the end: a broker may stop an answer at any batch.
fn fetch_all(
    leader: &mut Connection,
    partition: &TopicPartition,
    level: IsolationLevel,
) -> Result<Fetched, WireError> {
    let mut batches: Vec<BatchView> = Vec::new();
    let mut aborted = BTreeSet::new();
    for _ in 0..MAX_FETCHES {
        let from = batches.last().map_or(0, |batch| batch.last_offset + 1);
        let answer = leader.fetch(partition, from, level)?;
        if answer.error != crate::wire::ErrorCode::NONE {
            return Err(WireError::Malformed(format!("Fetch: {}", answer.error)));
        }
        aborted.extend(answer.aborted.unwrap_or_default());
        let end = batches.len();
        batches.extend(
            answer
                .batches
                .into_iter()
                .filter(|batch| batch.last_offset >= from),
        );
        if batches.len() == end {
            return Ok(Fetched {
                high_watermark: answer.high_watermark,
                last_stable_offset: answer.last_stable_offset,
                aborted: aborted.into_iter().collect(),
                batches,
            });
        }
    }
    Err(WireError::Malformed("Fetch never ends".to_owned()))
}

fn log_text(batches: &[BatchView], name: impl Fn(i64) -> String) -> String {
    let words: Vec<String> = batches
        .iter()
        .map(|batch| {
            let kind = match batch.control {
                Some(marker) if marker.committed => 'C',
                Some(_) => 'A',
                None if batch.transactional => 'd',
                None => 'n',
            };
            format!("{kind}{}{}", name(batch.producer.id), batch.producer.epoch)
        })
        .collect();
    format!("[{}]", words.join(" "))
}

/// The list, without what lies past the last stable offset: a broker may list some of that too,
/// and no reader comes there with this answer.
fn aborted_text(aborted: &[(i64, i64)], stable: i64, name: impl Fn(i64) -> String) -> String {
    let mut words: Vec<String> = aborted
        .iter()
        .filter(|(_, first)| *first < stable)
        .map(|(producer, first)| format!("{first} {}", name(*producer)))
        .collect();
    words.sort();
    words.join(", ")
}

/// What a read_committed consumer hands to the application: it drops the records of a listed
/// producer from its first offset on, until that producer's abort marker.
fn delivered(fetched: &Fetched) -> Vec<String> {
    let mut waiting = fetched.aborted.clone();
    waiting.sort_by_key(|(_, first)| *first);
    let mut dropping: Vec<i64> = Vec::new();
    let mut values = Vec::new();
    for batch in &fetched.batches {
        while waiting
            .first()
            .is_some_and(|(_, first)| *first <= batch.last_offset)
        {
            dropping.push(waiting.remove(0).0);
        }
        match batch.control {
            Some(marker) if !marker.committed => {
                if let Some(at) = dropping.iter().position(|id| *id == batch.producer.id) {
                    dropping.remove(at);
                }
            }
            Some(_) => {}
            None if batch.transactional && dropping.contains(&batch.producer.id) => {}
            None => values.extend(batch.records.iter().map(|record| {
                let value = record.value.as_deref().unwrap_or_default();
                String::from_utf8_lossy(value).into_owned()
            })),
        }
    }
    values
}

/// The model's partition in the same words.
fn partition_text(state: &State, at: usize) -> String {
    let partition = &state.partitions[at];
    let stable = partition.last_stable_offset();
    let log: Vec<String> = partition
        .log
        .iter()
        .map(|record| {
            let kind = match record.kind {
                RecordKind::Marker(TransactionResult::Commit) => 'C',
                RecordKind::Marker(TransactionResult::Abort) => 'A',
                RecordKind::Data | RecordKind::Emptied if record.transactional => 'd',
                RecordKind::Data | RecordKind::Emptied => 'n',
            };
            let identity = record.identity;
            format!(
                "{kind}{}{}",
                letter(identity.producer_id),
                identity.producer_epoch.0
            )
        })
        .collect();
    let listed = partition.aborted_in(Offset(0), stable);
    let mut aborted: Vec<String> = listed
        .iter()
        .map(|it| format!("{} {}", it.first.0, letter(it.producer_id)))
        .collect();
    aborted.sort();
    let below = partition.log.iter().filter(|record| record.offset < stable);
    let values: Vec<String> = read_committed_view(below, &listed)
        .iter()
        .map(|record| record.payload.0.to_string())
        .collect();
    format!(
        "[{}] hw {} lso {} agreed aborted [{}] delivered [{}]",
        log.join(" "),
        partition.high_watermark.0,
        stable.0,
        aborted.join(", "),
        values.join(" ")
    )
}
