//! Worlds and states prepared for a table. One id, one partition, one group; the stored identity
//! is 5/3, and 5/2 is the identity before the last bump.

use fencepost_spec::client::Workload;
use fencepost_spec::coverage::Cell;
use fencepost_spec::message::{Correlation, Message};
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::types::*;
use fencepost_spec::world::{Action, State, World};

/// The stored identity.
pub const CURRENT: Identity = identity(5, 3);
/// The identity before the last bump.
pub const LAST: Identity = identity(5, 2);
/// An identity before that.
pub const OLDER: Identity = identity(5, 1);
/// An epoch that was never given.
pub const NEWER: Identity = identity(5, 4);
/// Another producer id.
pub const OTHER: Identity = identity(6, 3);

/// The only id.
pub const ID: TransactionalId = TransactionalId(0);
/// The only data partition.
pub const DATA: PartitionIndex = PartitionIndex(0);
/// The offsets partition.
pub const OFFSETS: PartitionIndex = PartitionIndex(1);
/// Who asks.
pub const ASKER: Correlation = Correlation {
    producer: ProducerIndex(0),
    number: 1,
    attempt: 0,
};

const fn identity(id: u8, epoch: i16) -> Identity {
    Identity {
        producer_id: ProducerId(id),
        producer_epoch: ProducerEpoch(epoch),
    }
}

/// The right rules at a version, with every answer really sent.
pub fn world(version: TransactionVersion) -> World {
    let workload = Workload::sending(&[0], 1).with_offset();
    let scenario = Scenario {
        prune: false,
        ..Scenario::plain(vec![workload], 1).answering()
    };
    World::new(scenario, Rules::kafka(version))
}

/// Delivers a message in a state: the cell that it takes, and the state after it. `None` where the
/// actor leaves the message waiting without a decision.
pub fn deliver(
    world: &World,
    state: &State,
    message: Message,
    broker: Option<BrokerId>,
) -> Option<(Option<Cell>, State)> {
    let mut state = state.clone();
    state.network.push(message);
    let action = Action::Deliver { message, broker };
    world
        .take_with_cell(&state, &action)
        .map(|(next, cell)| (cell, next))
}
