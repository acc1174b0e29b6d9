//! Faults that a test puts into the production side, to show that a run can fail.

use fencepost_spec::message::Message;
use fencepost_spec::world::Action;

/// A fault: production takes another step than the model, or says something else.
#[derive(Clone, Copy, Debug)]
pub struct Tamper {
    /// What production takes instead; `None` for nothing at all.
    pub takes: fn(Action) -> Option<Action>,
    /// What becomes of the messages that it sends.
    pub sends: fn(Message) -> Option<Message>,
}

impl Tamper {
    /// No fault: the start of every other one.
    pub const NONE: Self = Self {
        takes: Some,
        sends: Some,
    };
}
