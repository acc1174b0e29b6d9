//! Our own implementation as a broker on a TCP port: the cores of `fencepost` behind as little as can carry them.
//!
//! One thread owns every core and handles one request at a time; a thread for each connection reads frames and writes
//! answers. Logs are in memory, so an append ends at once; a restart keeps the bytes that a disk would have, and nothing
//! else. There is one broker, one replica, no quota. It stands in for the real broker until there is one, and is what the cases are
//! run on to judge our own cores from outside.

mod answer;
mod broker;
mod controller;
mod damage;
mod desk;
mod disk;
mod effects;
mod fetches;
mod frame;
mod index;
mod journal;
mod operator;
mod replicas;
mod requests;
mod shapes;
mod socket;
mod tamper;
mod topics;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use fencepost::coordinator::Config;
use fencepost::types::TransactionVersion;

use broker::{Broker, Event};
pub use controller::Blocks;
use journal::Journal;
pub use operator::{Order, Rights};
pub use tamper::Tamper;

/// Connections that are open at one time; further ones are closed at once.
const MAX_CONNECTIONS: usize = 512;

/// How a loopback broker is set up.
#[derive(Clone, Copy, Debug)]
pub struct LoopbackConfig {
    /// Where it listens; port 0 for a free one.
    pub listen: SocketAddr,
    /// The cluster's finalized `transaction.version`.
    pub transaction_version: TransactionVersion,
    /// Whether a transaction's first batch waits for the coordinator's word:
    /// `transaction.partition.verification.enable`.
    pub verification: bool,
    /// The transaction coordinator's settings, with two-phase commit enabled.
    pub coordinator: Config,
    /// How many producer ids a block has.
    pub producer_id_block: i32,
    /// A fault that a test puts in.
    pub tamper: Tamper,
}

impl LoopbackConfig {
    /// On a free port of 127.0.0.1, without any fault.
    #[must_use]
    pub fn new(transaction_version: TransactionVersion) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            transaction_version,
            verification: true,
            coordinator: Config::default(),
            producer_id_block: 1000,
            tamper: Tamper::NONE,
        }
    }
}

type Connections = Arc<Mutex<BTreeMap<u64, TcpStream>>>;

/// A running loopback broker; it stops when it is dropped.
#[derive(Debug)]
pub struct Loopback {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    connections: Connections,
    events: mpsc::Sender<Event>,
    threads: Vec<JoinHandle<()>>,
}

impl Loopback {
    /// Listens, and serves until it is dropped.
    ///
    /// # Errors
    /// Where the address cannot be listened on, or no thread can be had.
    pub fn start(config: LoopbackConfig) -> io::Result<Self> {
        Self::begin(config, None)
    }

    /// The same, and writes what the cores do to `log`, an event a line, for [`crate::observed::Validator`].
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_logged(config: LoopbackConfig, log: Box<dyn Write + Send>) -> io::Result<Self> {
        Self::begin(config, Some(log))
    }

    fn begin(config: LoopbackConfig, log: Option<Box<dyn Write + Send>>) -> io::Result<Self> {
        let listener = TcpListener::bind(config.listen)?;
        let address = listener.local_addr()?;
        let (events, inbox) = mpsc::channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let connections = Connections::default();
        let owner = std::thread::Builder::new()
            .name("loopback-owner".to_owned())
            .spawn(move || Broker::new(config, address, Journal::new(log)).run(&inbox))?;
        let acceptor = std::thread::Builder::new()
            .name("loopback-accept".to_owned())
            .spawn({
                let (stopping, connections) = (Arc::clone(&stopping), Arc::clone(&connections));
                let events = events.clone();
                move || accept(&listener, &stopping, &connections, &events)
            })?;
        Ok(Self {
            address,
            stopping,
            connections,
            events,
            threads: vec![acceptor, owner],
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many requests have arrived and are not answered.
    ///
    /// # Errors
    /// Where the broker's thread has ended.
    pub fn unanswered(&self) -> io::Result<usize> {
        let (done, told) = mpsc::channel();
        let ended = || io::Error::other("the broker's thread has ended");
        self.events.send(Event::Count(done)).map_err(|_| ended())?;
        told.recv().map_err(|_| ended())
    }

    /// Does to the broker what a client cannot, and waits until it is done.
    ///
    /// # Errors
    /// Where the broker's thread has ended.
    pub fn operate(&self, order: Order) -> io::Result<()> {
        let (done, told) = mpsc::channel();
        let ended = || io::Error::other("the broker's thread has ended");
        self.events
            .send(Event::Operator(order, done))
            .map_err(|_| ended())?;
        told.recv().map_err(|_| ended())
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Each of these may find that the other side is gone already.
        let _ = self.events.send(Event::Stop);
        let _ = TcpStream::connect(self.address);
        let open = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for stream in open.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(open);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn accept(
    listener: &TcpListener,
    stopping: &AtomicBool,
    connections: &Connections,
    events: &mpsc::Sender<Event>,
) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        if stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(kept) = stream.try_clone() else {
            continue;
        };
        let mut open = connections.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MAX_CONNECTIONS {
            continue;
        }
        open.insert(number, kept);
        drop(open);
        let (events, connections) = (events.clone(), Arc::clone(connections));
        let spawned = std::thread::Builder::new()
            .name(format!("loopback-{number}"))
            .spawn(move || {
                socket::serve(stream, &events);
                let mut open = connections.lock().unwrap_or_else(PoisonError::into_inner);
                open.remove(&number);
            });
        // No thread, no service: dropping the stream closes the connection.
        drop(spawned);
    }
}
