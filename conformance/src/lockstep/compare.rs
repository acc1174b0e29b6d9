//! Whether the two sides are in the same state.

use super::{Exclusion, Exclusions, Mismatch, Tally};
use crate::actors::{Difference, Frame, Production};
use crate::map::{materialised, normal_coordinator, normal_group, normal_partition};
use fencepost_spec::fault::Fault;
use fencepost_spec::partition::Partition;
use fencepost_spec::step::Context;
use fencepost_spec::world::State;

/// The model's state with every actor in the form of comparison.
pub(super) fn normal(frame: &Frame<'_>, state: &State) -> State {
    let ctx = Context {
        rules: frame.rules,
        version: state.version,
        blocking: frame.blocking,
    };
    let mut state = state.clone();
    for coordinator in &mut state.coordinators {
        **coordinator = normal_coordinator(coordinator);
    }
    for partition in &mut state.partitions {
        let offsets = frame.scenario.offsets && partition.index.0 == frame.scenario.partitions;
        **partition = normal_partition(partition, offsets);
        if takes_snapshots(frame) {
            forget_batches(partition);
        }
    }
    state.group = state.group.map(|group| normal_group(&group, &ctx).into());
    state
}

/// The model's state once the group has applied every marker that is in its log, as production has.
pub(super) fn applied(frame: &Frame<'_>, state: &State) -> State {
    let ctx = Context {
        rules: frame.rules,
        version: state.version,
        blocking: frame.blocking,
    };
    State {
        group: state
            .group
            .as_ref()
            .map(|group| materialised(group, &ctx).into()),
        ..state.clone()
    }
}

/// The same state with production's abstraction in the place of the model's actors.
pub(super) fn abstracted(
    frame: &Frame<'_>,
    normal: &State,
    production: &Production,
) -> Result<State, Difference> {
    let mut state = normal.clone();
    for (at, broker) in production.brokers().iter().enumerate() {
        *state.coordinators[at] = broker.abstract_state(frame.scenario.ids, frame.blocking)?;
    }
    for (at, replica) in production.replicas().iter().enumerate() {
        let lags = frame.scenario.pace.apply_lag;
        let applied = lags.then_some(normal.partitions[at].applied);
        *state.partitions[at] = replica.abstract_state(applied)?;
        if takes_snapshots(frame) {
            forget_batches(&mut state.partitions[at]);
        }
    }
    let clients = production.clients().iter();
    for (client, producer) in clients.zip(&mut state.producers) {
        let found = client.abstract_producer(frame, state.version, producer)?;
        if found != **producer {
            **producer = found;
        }
    }
    if let Some(offsets) = production.offsets() {
        let at = usize::from(frame.scenario.partitions);
        *state.partitions[at] = offsets.abstract_partition()?;
        state.group = Some(offsets.abstract_group()?.into());
    }
    Ok(state)
}

pub(super) fn takes_snapshots(frame: &Frame<'_>) -> bool {
    frame.scenario.budgets.left(Fault::Snapshot) > 0
}

/// Keeps of each producer's batches the last.
pub(super) fn forget_batches(partition: &mut Partition) {
    for entry in &mut partition.producers {
        let forgotten = entry.batches.len().saturating_sub(1);
        entry.batches.drain(..forgotten);
    }
}

/// Compares the model's state after a step with production's, which is the answer: as the model would say it, in the form
/// of comparison.
pub(super) fn compare(
    frame: &Frame<'_>,
    after: &State,
    production: &Production,
    tally: &mut Tally,
) -> Result<State, Mismatch> {
    count(frame, after, &mut tally.exclusions);
    let model = normal(frame, after);
    let found = abstracted(frame, &model, production).map_err(refused)?;
    if found != model {
        return Err(Mismatch::States(Box::new((model, found))));
    }
    for partition in &after.partitions {
        let stable = production
            .last_stable_offset(partition.index)
            .map_err(refused)?;
        let expected = partition.last_stable_offset();
        if let Some(stable) = stable
            && stable != expected
        {
            return Err(Mismatch::Value {
                what: format!("last stable offset of p{}", partition.index.0),
                model: format!("{expected:?}"),
                production: format!("{stable:?}"),
            });
        }
    }
    Ok(found)
}

pub(super) fn refused(difference: Difference) -> Mismatch {
    Mismatch::Refused(difference.to_string())
}

/// Counts what this comparison leaves out.
fn count(frame: &Frame<'_>, after: &State, exclusions: &mut Exclusions) {
    exclusions.meet(Exclusion::Ghost);
    let decided = after
        .coordinators
        .iter()
        .flat_map(|it| &it.slots)
        .any(|slot| {
            slot.metadata
                .is_some_and(|it| it.state.prepared().is_some() && !it.partitions.is_empty())
        });
    if decided {
        exclusions.meet(Exclusion::DecidedPartitions);
    }
    if let Some(offsets) = after.offsets_partition()
        && offsets.producers.iter().any(|it| !it.batches.is_empty())
    {
        exclusions.meet(Exclusion::OffsetsSequences);
    }
    let mut batches = after.partitions.iter().flat_map(|it| &it.producers);
    if takes_snapshots(frame) && batches.any(|it| it.batches.len() > 1) {
        exclusions.meet(Exclusion::SnapshotBatches);
    }
    if frame.scenario.pace.apply_lag {
        exclusions.meet(Exclusion::Applied);
    }
}
