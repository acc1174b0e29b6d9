//! Somebody else on the broker that is judged: their topic, their transactions and their group are the same after a run
//! of the cases as before, and nothing of the run is left but what cannot be deleted.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use fencepost_conformance::cases::Report;
use fencepost_conformance::wire::{
    ActiveProducer, Batch, CommittedOffset, Connection, CoordinatorKey, ErrorCode, GroupMember,
    InitProducerId, IsolationLevel, ListedTransaction, Producer, TopicPartition, TopicSpec,
    TransactionDescription, TransactionResult, TxnOffsetCommit, WireError,
};

const TOPIC: &str = "orders";
const GROUP: &str = "billing";
/// Its transaction stays open over the run, with a record and a staged offset.
const OPEN: &str = "payments";
/// Its transaction is committed before the run.
const DONE: &str = "invoices";
/// Longer than any run: the broker's timer must not interfere.
const TIMEOUT_MS: i32 = 900_000;
/// How long a broker may take to create its internal topics, or to forget a deleted one.
const PATIENCE: Duration = Duration::from_secs(30);
/// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS,
/// UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER: ask again.
const AGAIN: [i16; 7] = [14, 15, 16, 51, 3, 5, 6];

/// Everything that the neighbour can see of what is theirs, and the names of everything that is not the run's.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    transactions: [TransactionDescription; 2],
    producers: Vec<ActiveProducer>,
    ends: [(ErrorCode, i64); 2],
    offsets: [CommittedOffset; 2],
    topics: Vec<String>,
    listed: Vec<ListedTransaction>,
    groups: Option<Vec<String>>,
}

/// The neighbour.
pub struct Neighbour {
    wire: Connection,
    at: TopicPartition,
    open: Producer,
    lists_groups: bool,
}

/// Asks until the answer is no mere "ask again".
fn until_served<T>(
    mut ask: impl FnMut() -> Result<(ErrorCode, T), WireError>,
    what: &str,
) -> (ErrorCode, T) {
    let begun = Instant::now();
    loop {
        let (error, answer) = ask().unwrap_or_else(|error| panic!("{what}: {error}"));
        if !AGAIN.contains(&error.0) || begun.elapsed() > PATIENCE {
            return (error, answer);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn done<T>(ask: impl FnMut() -> Result<(ErrorCode, T), WireError>, what: &str) -> T {
    let (error, answer) = until_served(ask, what);
    assert_eq!(error, ErrorCode::NONE, "{what}");
    answer
}

impl Neighbour {
    /// They commit an offset and a transaction, and begin another one.
    pub fn begin(bootstrap: SocketAddr) -> Self {
        let wire = Connection::open(bootstrap, PATIENCE).expect("a broker");
        let mut it = Self {
            wire,
            at: TopicPartition::new(TOPIC, 0),
            open: Producer::NONE,
            lists_groups: false,
        };
        let apis = it.wire.api_versions().expect("ApiVersions").apis;
        it.lists_groups = apis.contains_key(&16);
        let spec = TopicSpec {
            // The records are of 1970.
            configs: vec![("retention.ms".to_owned(), "-1".to_owned())],
            ..TopicSpec::one_partition(TOPIC)
        };
        let created = it.wire.create_topic(&spec).expect("CreateTopics");
        assert_eq!(created, ErrorCode::NONE);
        // A fresh broker creates its internal topics for whoever asks for a coordinator.
        for key in [
            CoordinatorKey::Group(GROUP),
            CoordinatorKey::Transaction(OPEN),
            CoordinatorKey::Transaction(DONE),
        ] {
            let wire = &mut it.wire;
            let find = || Ok((wire.find_coordinator(key)?.error, ()));
            done(find, "FindCoordinator");
        }
        let nobody = GroupMember::unknown();
        let (wire, at) = (&mut it.wire, it.at.clone());
        let commit = || Ok((wire.offset_commit(GROUP, &nobody, &at, 5)?, ()));
        done(commit, "OffsetCommit");
        let invoices = it.transaction(DONE);
        it.end(DONE, invoices, TransactionResult::Commit);
        it.open = it.transaction(OPEN);
        let (wire, open, at) = (&mut it.wire, it.open, it.at.clone());
        let add = || Ok((wire.add_offsets_to_txn(3, OPEN, open, GROUP)?, ()));
        done(add, "AddOffsetsToTxn");
        let staged = TxnOffsetCommit {
            transactional_id: OPEN,
            producer: open,
            group_id: GROUP,
            member: nobody,
            partition: at,
            offset: 9,
        };
        done(
            || Ok((wire.txn_offset_commit(3, &staged)?, ())),
            "TxnOffsetCommit",
        );
        it
    }

    /// A transaction with one record.
    fn transaction(&mut self, id: &str) -> Producer {
        let (wire, at) = (&mut self.wire, self.at.clone());
        let init = InitProducerId {
            timeout_ms: TIMEOUT_MS,
            ..InitProducerId::plain(id)
        };
        let producer = done(
            || {
                let answer = wire.init_producer_id(4, init)?;
                Ok((answer.error, answer.producer))
            },
            "InitProducerId",
        );
        let add = || {
            let errors = wire.add_partitions_to_txn(3, id, producer, std::slice::from_ref(&at))?;
            Ok((errors[0].1, ()))
        };
        done(add, "AddPartitionsToTxn");
        let batch = Batch::transactional(producer, 0, id);
        let produce = || Ok((wire.produce(11, Some(id), &at, &batch)?.error, ()));
        done(produce, "Produce");
        producer
    }

    fn end(&mut self, id: &str, producer: Producer, result: TransactionResult) {
        let wire = &mut self.wire;
        done(
            || Ok((wire.end_txn(3, id, producer, result)?.error, ())),
            "EndTxn",
        );
        let begun = Instant::now();
        while !self.described(id).state.starts_with("Complete") {
            assert!(begun.elapsed() < PATIENCE, "{id} stays undecided");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn described(&mut self, id: &str) -> TransactionDescription {
        self.wire.describe_transaction(id).expect("an answer")
    }

    /// What they see, but for the names that begin with `prefix`.
    pub fn sees(&mut self, prefix: &str) -> Seen {
        let transactions = [self.described(OPEN), self.described(DONE)];
        let (wire, at) = (&mut self.wire, &self.at);
        let ends = [
            IsolationLevel::ReadUncommitted,
            IsolationLevel::ReadCommitted,
        ]
        .map(|level| wire.latest_offset(at, level).expect("ListOffsets"));
        let offsets = [false, true].map(|stable| {
            let fetched = wire.offset_fetch(GROUP, at, stable);
            fetched.expect("OffsetFetch")
        });
        let (error, producers) = wire.describe_producers(at).expect("DescribeProducers");
        assert_eq!(error, ErrorCode::NONE);
        let names = everything(wire, self.lists_groups);
        let theirs = |name: &String| prefix.is_empty() || !name.starts_with(prefix);
        Seen {
            transactions,
            producers,
            ends,
            offsets,
            topics: names.topics.into_iter().filter(theirs).collect(),
            listed: names
                .listed
                .into_iter()
                .filter(|it| theirs(&it.transactional_id))
                .collect(),
            groups: names
                .groups
                .map(|groups| groups.into_iter().filter(theirs).collect()),
        }
    }

    /// Their open transaction is theirs to commit: its record and its offset come out.
    pub fn commit(mut self) {
        let (before, stable) = self.ends_and_offset();
        assert!(before.1 < before.0 && stable == -1, "{before:?} {stable}");
        self.end(OPEN, self.open, TransactionResult::Commit);
        let (after, stable) = self.ends_and_offset();
        assert!(after.0 == after.1 && stable == 9, "{after:?} {stable}");
    }

    /// The high watermark with the last stable offset, and the stable offset of the group.
    fn ends_and_offset(&mut self) -> ((i64, i64), i64) {
        let [high, stable] = [
            IsolationLevel::ReadUncommitted,
            IsolationLevel::ReadCommitted,
        ]
        .map(|level| {
            self.wire
                .latest_offset(&self.at, level)
                .expect("an offset")
                .1
        });
        let offset = self.wire.offset_fetch(GROUP, &self.at, true);
        ((high, stable), offset.expect("an offset").offset)
    }

    /// Nothing of the run is left: no topic, no group where the broker can delete one, no transaction that is open or
    /// undecided. The report names the rest.
    pub fn finds_nothing_of(&mut self, report: &Report) {
        let prefix = &report.prefix;
        assert!(prefix.len() > 12, "{prefix:?} may be anybody's");
        // The names of deleted topics go at the controller first.
        let begun = Instant::now();
        let names = loop {
            let names = everything(&mut self.wire, self.lists_groups);
            let any = names.topics.iter().any(|it| it.starts_with(prefix));
            if !any || begun.elapsed() > PATIENCE {
                break names;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let of_the_run = |name: &&String| name.starts_with(prefix);
        let topics: Vec<_> = names.topics.iter().filter(of_the_run).collect();
        assert!(topics.is_empty(), "{topics:?}");
        let undecided: Vec<_> = names
            .listed
            .iter()
            .filter(|it| it.transactional_id.starts_with(prefix))
            .filter(|it| it.state != "Empty" && !it.state.starts_with("Complete"))
            .collect();
        assert!(undecided.is_empty(), "{undecided:?}");
        let ids = names
            .listed
            .iter()
            .filter(|it| it.transactional_id.starts_with(prefix));
        assert!(ids.count() > 50, "the cases of the run have named no ids");
        match names.groups {
            Some(groups) => {
                let groups: Vec<_> = groups.iter().filter(of_the_run).collect();
                assert!(groups.is_empty(), "{groups:?}");
                assert!(report.left.is_empty(), "{:?}", report.left);
            }
            // What cannot be deleted is named.
            None => {
                let unnamed: Vec<_> = report
                    .left
                    .iter()
                    .filter(|it| {
                        !it.starts_with(&format!("group {prefix}"))
                            || !it.ends_with("the broker does not speak DeleteGroups")
                    })
                    .collect();
                assert!(unnamed.is_empty(), "{unnamed:?}");
                assert!(
                    !report.left.is_empty(),
                    "the cases of the run have named no group"
                );
            }
        }
        let told = report.leftovers();
        assert!(told.contains(prefix.as_str()), "{told}");
    }
}

struct Names {
    topics: Vec<String>,
    listed: Vec<ListedTransaction>,
    groups: Option<Vec<String>>,
}

fn everything(wire: &mut Connection, lists_groups: bool) -> Names {
    let (error, listed) = wire
        .list_transactions(&[], &[], -1)
        .expect("ListTransactions");
    assert_eq!(error, ErrorCode::NONE);
    Names {
        topics: wire.list_topics().expect("Metadata"),
        listed,
        groups: lists_groups.then(|| {
            let (error, groups) = wire.list_groups().expect("ListGroups");
            assert_eq!(error, ErrorCode::NONE);
            groups
        }),
    }
}
