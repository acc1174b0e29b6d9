//! The three steps of a reader's fetch.

use super::{State, World};
use crate::client::Reader;
use crate::partition::Partition;
use crate::step::Step;

impl World {
    /// A reader's fetch takes its bound.
    pub(super) fn take_bound(&self, state: &mut State, i: u8) -> Step {
        reader(state, i, |reader, partition| {
            reader.take_bound(partition, &self.rules.fetch)
        })
    }

    /// A reader's fetch takes its data.
    pub(super) fn take_data(&self, state: &mut State, i: u8) -> Step {
        reader(state, i, |reader, partition| {
            reader.take_data(partition, &self.rules.fetch)
        })
    }

    /// A reader's fetch takes the aborted list; the consumer delivers.
    pub(super) fn take_aborted(&self, state: &mut State, i: u8) -> Step {
        let mut taken = None;
        let step = reader(state, i, |reader, partition| {
            let (from, isolation) = (reader.position, reader.isolation);
            match reader.take_aborted(partition, &self.rules.fetch) {
                Some(delivered) => {
                    taken = Some((isolation, (from, reader.position), delivered));
                    Step::Handled
                }
                None => Step::NotEnabled,
            }
        });
        if let Some((isolation, range, delivered)) = taken {
            self.check_delivery(state, usize::from(i), isolation, range, &delivered);
        }
        step
    }
}

fn reader(state: &mut State, i: u8, step: impl FnOnce(&mut Reader, &Partition) -> Step) -> Step {
    match state.readers.get_mut(usize::from(i)) {
        Some(reader) => {
            let partition = &state.partitions[usize::from(reader.partition.0)];
            step(reader, partition)
        }
        None => Step::NotEnabled,
    }
}
