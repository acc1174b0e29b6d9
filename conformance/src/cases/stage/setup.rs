//! Setting the scene.

use std::collections::BTreeMap;
use std::time::Duration;

use fencepost_spec::rules::Rules;
use fencepost_spec::types::{ProducerId, TransactionResult};

use super::{Address, Outcome, STRANGER, STRANGER_ON_THE_WIRE, Stage, Stop};
use crate::cases::judge::{Configuration, Judge};
use crate::cases::route::waited;
use crate::wire::{
    CoordinatorKey, ErrorCode, IsolationLevel, TopicPartition, TopicSpec, VersionRange,
};

/// What every case of a run has in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The broker that was named.
    pub bootstrap: Address,
    /// For each read and write.
    pub timeout: Duration,
    /// For a whole case.
    pub case_limit: Duration,
    /// Before every name.
    pub prefix: String,
    /// What the broker speaks.
    pub apis: BTreeMap<i16, VersionRange>,
    /// The cluster's finalized level.
    pub transaction_version: i16,
    /// The model's rules.
    pub rules: Rules,
    /// The judge, where we started the broker ourselves.
    pub judge: Option<Judge>,
}

impl Setting {
    /// What every name of a case begins with.
    pub fn name(&self, case: &str) -> String {
        format!("{}-{}", self.prefix, case.replace('/', "-"))
    }
}

/// API key.
pub(super) const DESCRIBE_TRANSACTIONS: i16 = 65;
const CREATE_TOPICS: i16 = 19;
const CREATE_TOPICS_VERSION: i16 = 5;

impl Stage {
    /// Creates the case's topic, with two partitions, and waits until they are led.
    pub fn open(&mut self) -> Outcome {
        self.oracle.name(STRANGER, STRANGER_ON_THE_WIRE);
        let brokers = self.route.any()?.brokers()?;
        // The broker that is halted leads the partitions where that is what is held.
        let configuration = self.judge.as_ref().map(Judge::configuration);
        let chosen = match configuration {
            Some(Configuration::TwoBrokers) => brokers.iter().max_by_key(|broker| broker.id),
            Some(Configuration::OneNode | Configuration::ReplicatedLog) | None => {
                brokers.iter().min_by_key(|broker| broker.id)
            }
        };
        let Some(first) = chosen else {
            return Err(Stop::Wrong("Metadata lists no broker".to_owned()));
        };
        if brokers.len() > 1 && self.judge.is_some() {
            self.choose_ids()?;
        }
        if self
            .require(CREATE_TOPICS, "", CREATE_TOPICS_VERSION)
            .is_ok()
        {
            let spec = TopicSpec {
                replicas: vec![first.id; 2],
                // Our records are of 1970, and retention looks at that every five minutes.
                configs: vec![("retention.ms".to_owned(), "-1".to_owned())],
                ..TopicSpec::one_partition(&self.topic)
            };
            let error = self.route.any()?.create_topic(&spec)?;
            if error != ErrorCode::NONE {
                return Err(Stop::Unclear(format!("CreateTopics: {error}")));
            }
        } else {
            // A broker that creates topics when it is asked about them gives its own number of
            // partitions; without the second one the wait below ends the case.
            self.route.any()?.ask_for_topic(&self.topic)?;
        }
        for partition in 0..2 {
            let partition = TopicPartition::new(&self.topic, partition);
            loop {
                let leader = self.route.leader(&partition)?;
                let (error, _) =
                    leader.latest_offset(&partition, IsolationLevel::ReadUncommitted)?;
                if error == ErrorCode::NONE {
                    break;
                }
                if !self.route.pause(Duration::from_millis(5)) {
                    return Err(waited(&format!("a leader: {error}")).into());
                }
            }
        }
        Ok(())
    }

    /// The id is Empty, its client at `epoch`.
    pub fn empty(&mut self, epoch: i16) -> Outcome {
        while self.init()?.is_none_or(|it| it.producer_epoch.0 < epoch) {}
        Ok(())
    }

    /// The id is Ongoing at `epoch`, with one record in the active partition.
    pub fn ongoing(&mut self, epoch: i16) -> Outcome {
        self.empty(epoch)?;
        self.begin()
    }

    /// Adds the active partition and writes sequence 0 to it.
    pub fn begin(&mut self) -> Outcome {
        self.add(3, self.me())?;
        self.produce(11, self.me(), 0)
    }

    /// A transaction begun at `epoch` is ended by EndTxn of `version`, and complete.
    pub fn complete(&mut self, epoch: i16, result: TransactionResult, version: i16) -> Outcome {
        self.ongoing(epoch)?;
        self.end(version, self.me(), result)?;
        self.settle()
    }

    /// Waits until the broker has nothing left to do for either id.
    pub fn settle(&mut self) -> Outcome {
        if self.require(DESCRIBE_TRANSACTIONS, "", 0).is_err() {
            // What cannot be seen may still be under way: the oracle allows for both.
            self.route.pause(Duration::from_millis(200));
            return Ok(());
        }
        for index in 0..2 {
            if self.identities[index].is_some() {
                self.settle_id(&self.ids[index].clone())?;
            }
        }
        self.oracle.settle();
        Ok(())
    }

    /// Waits where the broker may still have something to do.
    pub fn settle_if_busy(&mut self) -> Outcome {
        if self.oracle.is_settled() {
            return Ok(());
        }
        self.settle()
    }

    /// Skips the case where the cluster has one broker.
    pub fn second_broker(&mut self) -> Outcome {
        if self.route.any()?.brokers()?.len() < 2 {
            return Err(Stop::Skip("the cluster has one broker".to_owned()));
        }
        Ok(())
    }

    /// Compares everything that can be read: the coordinator's view, both partitions.
    pub fn compare_all(&mut self) -> Outcome {
        self.describe()?;
        for partition in 0..2 {
            self.partition = partition;
            self.describe_producers()?;
            self.read()?;
        }
        Ok(())
    }

    fn settle_id(&mut self, id: &str) -> Outcome {
        loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Transaction(id))?;
            let state = coordinator.describe_transaction(id)?.state;
            if self.held || !state.starts_with("Prepare") {
                return Ok(());
            }
            if !self.route.pause(Duration::from_millis(2)) {
                return Err(Stop::Unclear(format!("{id} stays {state}")));
            }
        }
    }

    /// Waits; the case ends here where its time is over.
    pub fn pass_time(&mut self, time: Duration) -> Outcome {
        if self.route.pause(time) {
            Ok(())
        } else {
            Err(waited("the case's next step").into())
        }
    }

    /// Waits until the sweep has aborted what the active id has open.
    pub fn await_time_out(&mut self) -> Outcome {
        let id = self.id();
        loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Transaction(&id))?;
            if coordinator.describe_transaction(&id)?.state == "CompleteAbort" {
                break;
            }
            if !self.route.pause(Duration::from_millis(50)) {
                return Err(waited("the sweep").into());
            }
        }
        self.oracle.time_out(self.model_id());
        self.oracle.settle();
        Ok(())
    }

    /// The active id's client goes on with this producer id.
    pub(super) fn adopt(&mut self, id: ProducerId, epoch: i16) {
        self.identities[self.active] = Some(fencepost_spec::types::Identity::new(
            id,
            fencepost_spec::types::ProducerEpoch(epoch),
        ));
    }
}
