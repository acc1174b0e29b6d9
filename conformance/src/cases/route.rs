//! Who to ask: the coordinator of an id or a group, the leader of a partition, over connections
//! that are opened when first needed.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::wire::{Connection, CoordinatorKey, ErrorCode, TopicPartition, WireError};

/// How long an answer that was held back is waited for.
const LATE: Duration = Duration::from_secs(20);

/// Connections of one case.
#[derive(Debug)]
pub struct Route {
    bootstrap: SocketAddr,
    timeout: Duration,
    deadline: Instant,
    /// Ask a broker that does not coordinate.
    pub elsewhere: bool,
    open: BTreeMap<SocketAddr, Connection>,
    coordinators: BTreeMap<String, SocketAddr>,
    leaders: BTreeMap<TopicPartition, SocketAddr>,
    asked_a_group: bool,
}

impl Route {
    /// No connection yet; `timeout` holds for each read and write, `deadline` for all waiting.
    pub fn new(bootstrap: SocketAddr, timeout: Duration, deadline: Instant) -> Self {
        Self {
            bootstrap,
            timeout,
            deadline,
            elsewhere: false,
            open: BTreeMap::new(),
            coordinators: BTreeMap::new(),
            leaders: BTreeMap::new(),
            asked_a_group: false,
        }
    }

    /// Another end of all waiting, for what comes after the case.
    pub const fn wait_until(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Whether any group's coordinator was asked for.
    pub const fn has_asked_a_group(&self) -> bool {
        self.asked_a_group
    }

    /// Connections of its own with another timeout, to the same brokers.
    pub fn aside(&self, timeout: Duration) -> Self {
        Self {
            coordinators: self.coordinators.clone(),
            leaders: self.leaders.clone(),
            ..Self::new(self.bootstrap, timeout, self.deadline)
        }
    }

    /// How long each read and write may take.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Waits for the answers that are still to come.
    pub fn take_late_answers(&mut self) -> Result<(), WireError> {
        for connection in self.open.values_mut() {
            if connection.is_owed_an_answer() {
                connection.take_late_answer(LATE)?;
            }
        }
        Ok(())
    }

    /// The broker that was named to the suite.
    pub fn any(&mut self) -> Result<&mut Connection, WireError> {
        self.at(self.bootstrap)
    }

    /// Waits a little; false once the case's time is over.
    pub fn pause(&self, pause: Duration) -> bool {
        std::thread::sleep(pause);
        Instant::now() < self.deadline
    }

    /// The coordinator of a transactional id or a group.
    pub fn coordinator(&mut self, key: CoordinatorKey<'_>) -> Result<&mut Connection, WireError> {
        let name = match key {
            CoordinatorKey::Group(id) => {
                self.asked_a_group = true;
                format!("group {id}")
            }
            CoordinatorKey::Transaction(id) => format!("transaction {id}"),
        };
        let address = match self.coordinators.get(&name) {
            Some(address) => *address,
            None => {
                let address = self.find_coordinator(key)?;
                self.coordinators.insert(name, address);
                address
            }
        };
        if self.elsewhere {
            let other = self.other_than(address)?;
            return self.at(other);
        }
        self.at(address)
    }

    fn other_than(&mut self, coordinator: SocketAddr) -> Result<SocketAddr, WireError> {
        for broker in self.any()?.brokers()? {
            let address = resolve(&broker.host, broker.port)?;
            if address != coordinator {
                return Ok(address);
            }
        }
        Err(waited("a second broker"))
    }

    fn find_coordinator(&mut self, key: CoordinatorKey<'_>) -> Result<SocketAddr, WireError> {
        loop {
            let found = self.any()?.find_coordinator(key)?;
            if found.error == ErrorCode::NONE {
                let port = u16::try_from(found.port)
                    .map_err(|_| WireError::Malformed(format!("port {}", found.port)))?;
                return resolve(&found.host, port);
            }
            if !self.pause(Duration::from_millis(20)) {
                return Err(waited(&format!("a coordinator: {}", found.error)));
            }
        }
    }

    /// The leader of a partition, once it has one.
    pub fn leader(&mut self, partition: &TopicPartition) -> Result<&mut Connection, WireError> {
        let address = match self.leaders.get(partition) {
            Some(address) => *address,
            None => {
                let address = self.find_leader(partition)?;
                self.leaders.insert(partition.clone(), address);
                address
            }
        };
        self.at(address)
    }

    fn find_leader(&mut self, partition: &TopicPartition) -> Result<SocketAddr, WireError> {
        loop {
            let (_, leaders) = self.any()?.leaders(&partition.topic)?;
            let leader = leaders
                .iter()
                .find(|it| it.partition == partition.partition && it.leader >= 0);
            if let Some(leader) = leader {
                let brokers = self.any()?.brokers()?;
                if let Some(broker) = brokers.iter().find(|broker| broker.id == leader.leader) {
                    return resolve(&broker.host, broker.port);
                }
            }
            if !self.pause(Duration::from_millis(10)) {
                return Err(waited("a partition's leader"));
            }
        }
    }

    fn at(&mut self, address: SocketAddr) -> Result<&mut Connection, WireError> {
        match self.open.entry(address) {
            std::collections::btree_map::Entry::Occupied(open) => Ok(open.into_mut()),
            std::collections::btree_map::Entry::Vacant(place) => {
                Ok(place.insert(Connection::open(address, self.timeout)?))
            }
        }
    }

    /// Forgets who was asked and closes every connection: an answer that came too late must not be
    /// taken for the next one.
    pub fn forget(&mut self) {
        self.open.clear();
        self.coordinators.clear();
        self.leaders.clear();
    }
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, WireError> {
    (host, port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| WireError::Malformed(format!("no address for {host}:{port}")))
}

/// The error of a wait that ended without what it waited for.
pub fn waited(what: &str) -> WireError {
    WireError::Io(std::io::Error::new(
        std::io::ErrorKind::TimedOut,
        format!("waited in vain for {what}"),
    ))
}
