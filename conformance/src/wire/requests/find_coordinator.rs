//! FindCoordinator: the broker that keeps a group or a transactional id.

use kafka_protocol::messages::FindCoordinatorRequest;

use super::{ErrorCode, WireError, text};
use crate::wire::Connection;

/// What a coordinator is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorKey<'a> {
    /// A consumer group (key type 0).
    Group(&'a str),
    /// A transactional id (key type 1).
    Transaction(&'a str),
}

/// The coordinator, or why there is none yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoordinatorAnswer {
    /// Refusal; COORDINATOR_NOT_AVAILABLE while the internal topic is being created.
    pub error: ErrorCode,
    /// Broker id, -1 for none.
    pub node_id: i32,
    /// Host that it advertises.
    pub host: String,
    /// Port that it advertises, -1 for none.
    pub port: i32,
}

impl Connection {
    /// FindCoordinator v3.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn find_coordinator(
        &mut self,
        key: CoordinatorKey<'_>,
    ) -> Result<CoordinatorAnswer, WireError> {
        let (key, key_type) = match key {
            CoordinatorKey::Group(id) => (id, 0),
            CoordinatorKey::Transaction(id) => (id, 1),
        };
        let request = FindCoordinatorRequest::default()
            .with_key(text(key))
            .with_key_type(key_type);
        let answer = self.call(3, &request)?;
        Ok(CoordinatorAnswer {
            error: ErrorCode(answer.error_code),
            node_id: answer.node_id.0,
            host: answer.host.to_string(),
            port: answer.port,
        })
    }
}
