//! ListTransactions (KIP-664): all transactional ids of a broker.

use kafka_protocol::messages::{ListTransactionsRequest, ProducerId};

use super::{ErrorCode, WireError, text};
use crate::wire::Connection;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedTransaction {
    /// Transactional id.
    pub transactional_id: String,
    /// Producer id that the coordinator holds.
    pub producer_id: i64,
    /// Kafka's name of the state.
    pub state: String,
}

impl Connection {
    /// ListTransactions v1, sorted by id. Empty filters ask for everything; `min_duration_ms`
    /// keeps transactions that are open for longer, -1 asks for all.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn list_transactions(
        &mut self,
        states: &[&str],
        producer_ids: &[i64],
        min_duration_ms: i64,
    ) -> Result<(ErrorCode, Vec<ListedTransaction>), WireError> {
        let request = ListTransactionsRequest::default()
            .with_state_filters(states.iter().copied().map(text).collect())
            .with_producer_id_filters(producer_ids.iter().copied().map(ProducerId).collect())
            .with_duration_filter(min_duration_ms);
        let answer = self.call(1, &request)?;
        let mut listed: Vec<ListedTransaction> = answer
            .transaction_states
            .iter()
            .map(|state| ListedTransaction {
                transactional_id: state.transactional_id.to_string(),
                producer_id: state.producer_id.0,
                state: state.transaction_state.to_string(),
            })
            .collect();
        listed.sort();
        Ok((ErrorCode(answer.error_code), listed))
    }
}
