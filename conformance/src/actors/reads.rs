//! What a reader's steps find at a production partition, against what the model's found.

use super::replica::abstract_batch;
use super::{Difference, Frame, Production};
use crate::map;
use fencepost::batch::RecordBatch;
use fencepost::client::read_committed;
use fencepost_spec::client::{Reader, ReaderStage};
use fencepost_spec::partition::Record;
use fencepost_spec::types::*;
use fencepost_spec::world::Action;

/// What both sides found at one step of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The model's bound, end of data, or delivered records.
    pub model: String,
    /// Production's.
    pub production: String,
}

/// What both sides find at a reader's step; `None` for a step that is none of a reader's.
///
/// # Errors
/// [`Difference`] where production cannot take the step.
pub fn read_step(
    production: &Production,
    frame: &Frame<'_>,
    action: &Action,
) -> Result<Option<Read>, Difference> {
    let (Action::TakeBound(i) | Action::TakeData(i) | Action::TakeAborted(i)) = *action else {
        return Ok(None);
    };
    let reader = &frame.before.readers[usize::from(i)];
    let at = usize::from(reader.partition.0);
    let model = &frame.before.partitions[at];
    let core = production.replicas()[at].core()?;
    let rules = &frame.rules.fetch;
    let isolation = map::isolation(reader.isolation);
    let from = map::offset(reader.position);
    let refused = |error| Difference::effect("fetch", error);
    let read = match (*action, reader.stage) {
        (Action::TakeBound(_), _) => {
            let bound = model.fetch_bound(rules, reader.isolation);
            Read {
                model: format!("{:?}", bound.map(|it| it.upper)),
                production: format!("{:?}", Some(map::spec_offset(core.fetch_bound(isolation))?)),
            }
        }
        (Action::TakeData(_), ReaderStage::Bounded { bound, .. }) => {
            let bound = map::offset(bound.upper);
            let data = core.fetch_data(from, bound, usize::MAX).map_err(refused)?;
            let mut after = reader.clone();
            after.take_data(model, rules);
            Read {
                model: format!("{:?}", end_of_data(&after)),
                production: format!("{:?}", Some(map::spec_offset(data.upper)?)),
            }
        }
        (Action::TakeAborted(_), ReaderStage::HasData { upper, .. }) => {
            let upper = map::offset(upper);
            let data = core.fetch_data(from, upper, usize::MAX).map_err(refused)?;
            let kept = match reader.isolation {
                IsolationLevel::ReadUncommitted => data.batches,
                IsolationLevel::ReadCommitted => {
                    let aborted = core.fetch_aborted(from, upper);
                    let consumed = read_committed(from, &data.batches, &aborted);
                    consumed
                        .map_err(|error| Difference::effect("consumer", error))?
                        .batches
                }
            };
            let delivered = reader.clone().take_aborted(model, rules);
            Read {
                model: format!("{:?}", delivered.map(without_ghosts)),
                production: format!("{:?}", Some(records(&kept)?)),
            }
        }
        (_, _) => return Err(Difference::Missing("fetch at this stage".to_owned())),
    };
    Ok(Some(read))
}

fn end_of_data(reader: &Reader) -> Option<Offset> {
    match reader.stage {
        ReaderStage::HasData { upper, .. } => Some(upper),
        ReaderStage::Idle | ReaderStage::Parked | ReaderStage::Bounded { .. } => None,
    }
}

fn without_ghosts(records: Vec<Record>) -> Vec<Record> {
    let ghost = Ghost::NONE;
    records
        .into_iter()
        .map(|record| Record { ghost, ..record })
        .collect()
}

fn records(batches: &[RecordBatch]) -> Result<Vec<Record>, Difference> {
    batches
        .iter()
        .filter(|batch| !batch.header().is_control)
        .map(|batch| Ok(abstract_batch(batch)?))
        .collect()
}
