//! Apache Kafka itself, started for a test or a person: the judge of every doubt.
//!
//! KRaft, loopback only, free ports, a temporary directory that goes away with the value. Maven
//! resolves the classpath (`conformance/kafka/pom.xml`), a JDK 17 runs it. The nodes can be killed
//! and restarted on their data, and stopped in their tracks (SIGSTOP).

mod classpath;
mod node;

use std::fmt;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use node::Node;

/// How to start Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaConfig {
    /// Feature level of `transaction.version`: 0, 1 or 2.
    pub transaction_version: i16,
    /// Brokers: node 1 is broker and controller, the others are brokers only. At least 1.
    pub nodes: usize,
    /// Further lines for each node's server.properties, name and value.
    pub properties: Vec<(String, String)>,
}

impl KafkaConfig {
    /// One node at this `transaction.version`.
    #[must_use]
    pub const fn one_node(transaction_version: i16) -> Self {
        Self {
            transaction_version,
            nodes: 1,
            properties: Vec::new(),
        }
    }

    /// Two brokers at this `transaction.version`: a partition led by broker 2 holds a transaction
    /// in Prepare* while broker 2 is paused.
    #[must_use]
    pub const fn two_brokers(transaction_version: i16) -> Self {
        Self {
            transaction_version,
            nodes: 2,
            properties: Vec::new(),
        }
    }
}

impl KafkaConfig {
    /// Two brokers that both have every partition of `__transaction_state`: while broker 2 is
    /// paused, which it may be for half a minute, nothing of that log is replicated.
    #[must_use]
    pub fn replicated_log(transaction_version: i16) -> Self {
        let properties = [
            ("transaction.state.log.replication.factor", "2"),
            ("broker.session.timeout.ms", "30000"),
            ("replica.lag.time.max.ms", "30000"),
        ];
        Self {
            properties: properties
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            ..Self::two_brokers(transaction_version)
        }
    }
}

/// Why Kafka did not start.
#[derive(Debug)]
pub enum StartError {
    /// This machine lacks what it takes (java, mvn); a test may skip.
    Missing(String),
    /// It is all there and did not work.
    Failed(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) => write!(f, "Apache Kafka cannot run here: {what}"),
            Self::Failed(what) => write!(f, "Apache Kafka did not start: {what}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Kafka's own classpath, clients included, as Maven resolves it.
///
/// # Errors
/// As [`KafkaServer::start`].
pub fn classpath() -> Result<String, StartError> {
    classpath::resolve()
}

/// A running Kafka. Dropping it stops every node and removes the directory.
#[derive(Debug)]
pub struct KafkaServer {
    nodes: Vec<Node>,
    directory: PathBuf,
}

impl KafkaServer {
    /// Formats fresh storage, starts the nodes and waits until each accepts connections.
    ///
    /// # Errors
    /// [`StartError::Missing`] without java or mvn; [`StartError::Failed`] with the end of the
    /// node's log otherwise.
    pub fn start(config: &KafkaConfig) -> Result<Self, StartError> {
        let classpath = classpath::resolve()?;
        let mut server = Self {
            nodes: Vec::new(),
            directory: fresh_directory()?,
        };
        let controller = free_address()?;
        for id in 1..=config.nodes.max(1) {
            let node = Node {
                id,
                address: free_address()?,
                directory: server.directory.join(format!("node{id}")),
                classpath: classpath.clone(),
                process: None,
            };
            fs::create_dir_all(&node.directory)?;
            fs::write(node.properties(), properties(config, &node, controller))?;
            node.format(config.transaction_version)?;
            server.nodes.push(node);
        }
        for node in &mut server.nodes {
            node.launch()?;
        }
        for node in &mut server.nodes {
            node.wait_until_ready()?;
        }
        Ok(server)
    }

    /// Address of the first broker.
    #[must_use]
    pub fn bootstrap(&self) -> SocketAddr {
        self.address(1)
    }

    /// Address of broker `id`, from 1.
    ///
    /// # Panics
    /// Where there is no such broker.
    #[must_use]
    pub fn address(&self, id: usize) -> SocketAddr {
        self.nodes[id - 1].address
    }

    /// Kills broker `id` with SIGKILL; its data stays.
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    ///
    /// # Panics
    /// Where there is no such broker.
    pub fn kill(&mut self, id: usize) -> io::Result<()> {
        self.nodes[id - 1].kill()
    }

    /// Stops broker `id` with SIGTERM and waits for it; its data stays.
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    ///
    /// # Panics
    /// Where there is no such broker.
    pub fn stop(&mut self, id: usize) -> io::Result<()> {
        self.nodes[id - 1].stop()
    }

    /// Starts broker `id` again on its data and its old port.
    ///
    /// # Errors
    /// As [`Self::start`].
    ///
    /// # Panics
    /// Where there is no such broker.
    pub fn restart(&mut self, id: usize) -> Result<(), StartError> {
        let node = &mut self.nodes[id - 1];
        node.launch()?;
        node.wait_until_ready()
    }

    /// Halts broker `id` (SIGSTOP): connections stay open, nothing is answered.
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    ///
    /// # Panics
    /// Where there is no such broker.
    pub fn pause(&mut self, id: usize) -> io::Result<()> {
        self.nodes[id - 1].signal("STOP")
    }

    /// Lets broker `id` go on (SIGCONT).
    ///
    /// # Errors
    /// Where the signal cannot be sent.
    ///
    /// # Panics
    /// Where there is no such broker.
    pub fn resume(&mut self, id: usize) -> io::Result<()> {
        self.nodes[id - 1].signal("CONT")
    }
}

impl Drop for KafkaServer {
    fn drop(&mut self) {
        // Brokers before the controller, which they tell of their leaving.
        for node in self.nodes.iter_mut().rev() {
            // A node that cannot be stopped dies with its standard input, which closes here.
            let _ = node.stop();
        }
        // Best effort: what is left stands in the temporary directory.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn fresh_directory() -> io::Result<PathBuf> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let name = format!("fencepost-kafka-{}-{now}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// A loopback port that nobody listens on right now.
fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

fn properties(config: &KafkaConfig, node: &Node, controller: SocketAddr) -> String {
    let address = node.address;
    let controls = node.id == 1;
    let listeners = if controls {
        format!("PLAINTEXT://{address},CONTROLLER://{controller}")
    } else {
        format!("PLAINTEXT://{address}")
    };
    let mut lines = vec![
        fs::read_to_string(kafka_folder().join("server.properties")).unwrap_or_default(),
        format!(
            "process.roles={}",
            if controls {
                "broker,controller"
            } else {
                "broker"
            }
        ),
        format!("node.id={}", node.id),
        format!("controller.quorum.bootstrap.servers={controller}"),
        format!("listeners={listeners}"),
        format!("advertised.listeners=PLAINTEXT://{address}"),
        format!("log.dirs={}", node.directory.join("data").display()),
    ];
    lines.extend(
        config
            .properties
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    lines.join("\n") + "\n"
}

/// The folder with the Maven file, the launcher and the common properties.
fn kafka_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/kafka"))
}

/// Asks `ready` every 50 ms until it says yes; false after `limit`.
fn wait_for(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if ready() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
