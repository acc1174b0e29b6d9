//! What is long past is dropped, so that a state stays small however long the run.

use fencepost_spec::partition::{Record, RecordKind};
use fencepost_spec::types::Offset;
use fencepost_spec::world::State;

use super::{DATA_PARTITIONS, Track, unique};

/// Records of a partition in a state before its past is dropped.
const MAX_RECORDS: usize = 40;

impl Track {
    /// Drops what is long past, so that a state stays small.
    pub(super) fn trim(&mut self) {
        for at in 0..usize::from(DATA_PARTITIONS) + 1 {
            let long = |it: &State| it.partitions[at].log.len() > MAX_RECORDS;
            if !self.states.iter().all(long) {
                continue;
            }
            let needed = self.states.iter().map(|it| oldest_needed(it, at)).min();
            let Some(base) = needed.filter(|base| *base > 0) else {
                continue;
            };
            let dropped = self.states.first().map_or(0, |it| {
                let log = &it.partitions[at].log;
                markers_of(log)
                    .filter(|record| record.offset.0 < base)
                    .count()
            });
            if at < self.trimmed.len() {
                if self.markers[at] < self.trimmed[at] + dropped {
                    // Not every marker has been seen yet: they are still to be compared.
                    continue;
                }
                self.trimmed[at] += dropped;
            }
            for state in &mut self.states {
                rebase(state, at, base);
            }
        }
        for state in &mut self.states {
            let slot = &mut state.coordinators[0].slots[0];
            if slot.pending.is_none() && slot.round > 0 && state.network.is_empty() {
                state.coordinators[0].slots[0].round = 0;
            }
            if let Some(group) = state.group.as_mut()
                && !group.ghost_published.is_empty()
            {
                group.ghost_published.clear();
            }
        }
        let states = std::mem::take(&mut self.states);
        self.states = unique(states);
    }
}

pub(super) fn markers_of(log: &[Record]) -> impl Iterator<Item = &Record> {
    log.iter()
        .filter(|it| matches!(it.kind, RecordKind::Marker(_)))
}

/// The first offset that the producer state of a partition still names.
fn oldest_needed(state: &State, at: usize) -> u8 {
    let partition = &state.partitions[at];
    let batches = partition
        .producers
        .iter()
        .flat_map(|it| it.batches.iter().map(|batch| batch.offset).chain(it.open));
    batches
        .chain([partition.log_end])
        .map(|it| it.0)
        .min()
        .unwrap_or(0)
}

fn rebase(state: &mut State, at: usize, base: u8) {
    let down = |offset: &mut Offset| offset.0 = offset.0.saturating_sub(base);
    let partition = &mut state.partitions[at];
    partition.log.retain(|record| record.offset.0 >= base);
    partition.log.iter_mut().for_each(|it| down(&mut it.offset));
    down(&mut partition.log_end);
    down(&mut partition.high_watermark);
    down(&mut partition.applied);
    partition.aborted.clear();
    partition.unreplicated.clear();
    for entry in &mut partition.producers {
        entry.batches.iter_mut().for_each(|it| down(&mut it.offset));
        if let Some(open) = entry.open.as_mut() {
            down(open);
        }
    }
}
