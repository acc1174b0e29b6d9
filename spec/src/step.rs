//! What a pure step function gets and gives: its rules, and the messages it sends.

use crate::coverage::Cell;
use crate::message::Message;
use crate::rules::Rules;
use crate::types::{CoordinatorEpoch, List, TransactionVersion};

/// Whether an input was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The input was consumed; the state may have changed.
    Handled,
    /// The input stays where it is. The state is as before, or is thrown away.
    NotEnabled,
}

/// What every step reads.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The rules of the run.
    pub rules: &'a Rules,
    /// The finalized `transaction.version` at this moment.
    pub version: TransactionVersion,
    /// True: a retriable answer is "not enabled yet", and the request stays in flight.
    /// False: the answer is really sent.
    pub blocking: bool,
}

/// What a step sends, and which cell of a decision table it took.
#[derive(Clone, Debug, Default)]
pub struct Out {
    /// Messages for the network.
    pub messages: List<Message, 4>,
    /// The cell that decided, for coverage.
    pub cell: Option<Cell>,
    /// The epoch that a coordinator's answers carry.
    pub coordinator_epoch: CoordinatorEpoch,
}

impl Out {
    /// Sends a message.
    pub fn send(&mut self, message: Message) {
        self.messages.push(message);
    }
}
