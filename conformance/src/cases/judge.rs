//! A broker that we start ourselves, which a case may halt, kill and restart: Apache Kafka, the judge, or our own cores,
//! the judged.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::kafka_server::{KafkaConfig, KafkaServer, StartError};
use crate::loopback::{Loopback, Order};
use crate::wire::{Connection, ErrorCode, TopicSpec, WireError};

/// How the judge is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Configuration {
    /// One node.
    OneNode,
    /// Two brokers, the internal topics on the first: a partition that the second one leads holds
    /// a transaction in Prepare* while that broker is halted.
    TwoBrokers,
    /// Two brokers that both have every partition of `__transaction_state`: while the second one
    /// is halted no transition is replicated, so each stays pending.
    ReplicatedLog,
}

impl Configuration {
    /// Every configuration.
    pub const ALL: [Self; 3] = [Self::OneNode, Self::TwoBrokers, Self::ReplicatedLog];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneNode => "one-node",
            Self::TwoBrokers => "two-brokers",
            Self::ReplicatedLog => "replicated-log",
        }
    }

    /// The configuration of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == word)
    }

    fn config(self, transaction_version: i16) -> KafkaConfig {
        match self {
            Self::OneNode => KafkaConfig::one_node(transaction_version),
            Self::TwoBrokers => KafkaConfig::two_brokers(transaction_version),
            Self::ReplicatedLog => KafkaConfig::replicated_log(transaction_version),
        }
    }
}

/// A running broker of ours; its processes end with the last copy of this value.
#[derive(Clone, Debug)]
pub struct Judge {
    configuration: Configuration,
    server: Server,
}

#[derive(Clone, Debug)]
enum Server {
    Kafka(Arc<Mutex<KafkaServer>>),
    Loopback(Arc<Loopback>),
}

/// The broker that cases halt.
const HALTED: usize = 2;
/// Within this time every thread of a halted process has stopped.
const STOPPED: Duration = Duration::from_millis(30);

/// Places the groups' partition on the first broker, which is never halted.
fn keep_groups_on_first(bootstrap: SocketAddr) -> Result<(), WireError> {
    let mut wire = Connection::open(bootstrap, Duration::from_secs(10))?;
    let topic = TopicSpec {
        name: "__consumer_offsets".to_owned(),
        replicas: vec![1],
        configs: vec![("cleanup.policy".to_owned(), "compact".to_owned())],
    };
    match wire.create_topic(&topic)? {
        ErrorCode::NONE => Ok(()),
        error => Err(WireError::Malformed(format!("CreateTopics: {error}"))),
    }
}

impl Judge {
    /// Starts Apache Kafka at a `transaction.version`.
    ///
    /// # Errors
    /// As [`KafkaServer::start`].
    pub fn start(
        configuration: Configuration,
        transaction_version: i16,
    ) -> Result<Self, StartError> {
        let server = KafkaServer::start(&configuration.config(transaction_version))?;
        if configuration != Configuration::OneNode {
            keep_groups_on_first(server.bootstrap())
                .map_err(|error| StartError::Failed(format!("__consumer_offsets: {error}")))?;
        }
        Ok(Self {
            configuration,
            server: Server::Kafka(Arc::new(Mutex::new(server))),
        })
    }

    /// Our own cores. There is one broker: what would be held with the second one is held inside it.
    #[must_use]
    pub fn of_our_own(configuration: Configuration, loopback: Loopback) -> Self {
        Self {
            configuration,
            server: Server::Loopback(Arc::new(loopback)),
        }
    }

    /// How it is set up.
    #[must_use]
    pub const fn configuration(&self) -> Configuration {
        self.configuration
    }

    /// Whether it is Apache Kafka.
    #[must_use]
    pub const fn is_kafka(&self) -> bool {
        matches!(self.server, Server::Kafka(_))
    }

    /// Address of the first broker.
    #[must_use]
    pub fn bootstrap(&self) -> SocketAddr {
        match &self.server {
            Server::Kafka(server) => locked(server).bootstrap(),
            Server::Loopback(loopback) => loopback.address(),
        }
    }

    /// Halts the second broker (SIGSTOP), or what it would hold up.
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    pub fn halt(&self) -> io::Result<()> {
        match (&self.server, self.configuration) {
            (Server::Kafka(server), _) => {
                locked(server).pause(HALTED)?;
                std::thread::sleep(STOPPED);
                Ok(())
            }
            (Server::Loopback(loopback), Configuration::ReplicatedLog) => {
                loopback.operate(Order::HoldLog)
            }
            (Server::Loopback(loopback), Configuration::TwoBrokers) => {
                loopback.operate(Order::HoldMarkers)
            }
            (Server::Loopback(_), Configuration::OneNode) => Ok(()),
        }
    }

    /// Lets the second broker go on (SIGCONT).
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    pub fn let_go(&self) -> io::Result<()> {
        match &self.server {
            Server::Kafka(server) => locked(server).resume(HALTED),
            Server::Loopback(loopback) => loopback.operate(Order::LetGo),
        }
    }

    /// Ends the first broker (SIGKILL, or SIGTERM where `gently`) and starts it again on its data.
    ///
    /// # Errors
    /// As [`KafkaServer::restart`].
    pub fn restart(&self, gently: bool) -> Result<(), StartError> {
        match &self.server {
            Server::Kafka(server) => {
                let mut server = locked(server);
                if gently {
                    server.stop(1)?;
                } else {
                    server.kill(1)?;
                }
                server.restart(1)
            }
            Server::Loopback(loopback) => loopback
                .operate(Order::Restart { gently })
                .map_err(|error| StartError::Failed(error.to_string())),
        }
    }

    /// How many requests have arrived and are not answered; none for Apache Kafka, which does not say.
    ///
    /// # Errors
    /// Where the broker's thread has ended.
    pub fn unanswered(&self) -> io::Result<Option<usize>> {
        match &self.server {
            Server::Kafka(_) => Ok(None),
            Server::Loopback(loopback) => loopback.unanswered().map(Some),
        }
    }

    /// Does what only our own broker can have done to it; false for Apache Kafka.
    ///
    /// # Errors
    /// Where its thread has ended.
    pub fn operate(&self, order: Order) -> io::Result<bool> {
        match &self.server {
            Server::Kafka(_) => Ok(false),
            Server::Loopback(loopback) => loopback.operate(order).map(|()| true),
        }
    }
}

fn locked(server: &Mutex<KafkaServer>) -> MutexGuard<'_, KafkaServer> {
    // A case that panicked has left the processes as they are.
    server.lock().unwrap_or_else(PoisonError::into_inner)
}
