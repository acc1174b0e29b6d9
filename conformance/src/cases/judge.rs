//! The judge that we start ourselves: a broker whose processes a case may halt, kill and restart.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::kafka_server::{KafkaConfig, KafkaServer, StartError};
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

/// A running judge; its processes end with the last copy of this value.
#[derive(Clone, Debug)]
pub struct Judge {
    configuration: Configuration,
    server: Arc<Mutex<KafkaServer>>,
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
            server: Arc::new(Mutex::new(server)),
        })
    }

    /// How it is set up.
    #[must_use]
    pub const fn configuration(&self) -> Configuration {
        self.configuration
    }

    /// Address of the first broker.
    #[must_use]
    pub fn bootstrap(&self) -> SocketAddr {
        self.server().bootstrap()
    }

    /// Halts the second broker (SIGSTOP).
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    pub fn halt(&self) -> io::Result<()> {
        self.server().pause(HALTED)?;
        std::thread::sleep(STOPPED);
        Ok(())
    }

    /// Lets the second broker go on (SIGCONT).
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    pub fn let_go(&self) -> io::Result<()> {
        self.server().resume(HALTED)
    }

    /// Ends the first broker (SIGKILL, or SIGTERM where `gently`) and starts it again on its data.
    ///
    /// # Errors
    /// As [`KafkaServer::restart`].
    pub fn restart(&self, gently: bool) -> Result<(), StartError> {
        let mut server = self.server();
        if gently {
            server.stop(1)?;
        } else {
            server.kill(1)?;
        }
        server.restart(1)
    }

    fn server(&self) -> MutexGuard<'_, KafkaServer> {
        // A case that panicked has left the processes as they are.
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
