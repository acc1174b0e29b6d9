//! What groups were told to commit, and what they may be answered.

use std::collections::{HashMap, VecDeque};

use super::event::Place;

/// Offsets that are remembered for each partition of a group.
const REMEMBERED: usize = 1_000;

/// A group's offset of one partition.
#[derive(Debug, Default)]
struct Committed {
    /// What stood there before anything of this run, once known.
    before: Option<i64>,
    /// Whatever was to be committed, whether it came to that or not.
    values: VecDeque<i64>,
    /// The transactional ids that staged offsets.
    stagers: Vec<String>,
    /// An offset was committed outside of any transaction.
    plainly: bool,
}

/// The groups of a run.
#[derive(Debug, Default)]
pub struct Groups {
    offsets: HashMap<String, HashMap<Place, Committed>>,
    /// Groups whose offsets somebody deleted.
    unsure: Vec<String>,
    /// Nothing was committed before the run.
    from_empty: bool,
}

impl Groups {
    /// The run begins on an empty broker.
    pub fn begin_empty(&mut self) {
        self.from_empty = true;
    }

    /// Offsets are to be committed: in a transaction of an id, or plainly.
    pub fn commit(&mut self, group: &str, by: Option<&str>, offsets: &[(Place, i64)]) {
        for (place, offset) in offsets {
            let committed = self.at(group, place);
            match by {
                Some(id) if !committed.stagers.iter().any(|it| it == id) => {
                    committed.stagers.push(id.to_owned());
                }
                Some(_) => {}
                None => committed.plainly = true,
            }
            committed.values.push_back(*offset);
            if committed.values.len() > REMEMBERED {
                committed.values.pop_front();
                // What is forgotten here cannot be told from what was there before.
                committed.before = None;
            }
        }
    }

    /// Offsets of the group may be gone.
    pub fn forget(&mut self, group: &str) {
        self.offsets.remove(group);
        if !self.unsure.iter().any(|it| it == group) {
            self.unsure.push(group.to_owned());
        }
    }

    /// The ids that staged offsets of any of these partitions; of any partition for none.
    pub fn stagers(&self, group: &str, places: Option<&[Place]>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (place, committed) in self.offsets.get(group).into_iter().flatten() {
            if places.is_none_or(|it| it.contains(place)) {
                found.extend(committed.stagers.iter().cloned());
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// Whether one id alone ever committed offsets there.
    pub fn is_alone(&self, group: &str, place: &Place) -> bool {
        let committed = self.offsets.get(group).and_then(|it| it.get(place));
        let sure = !self.unsure.iter().any(|it| it == group);
        sure && committed.is_some_and(|it| it.stagers.len() == 1 && !it.plainly)
    }

    /// What stood there before the run, where that is known.
    pub fn before(&self, group: &str, place: &Place) -> Option<i64> {
        self.offsets.get(group)?.get(place)?.before
    }

    /// A group was given an offset: it must be one that somebody committed.
    pub fn given(&mut self, group: &str, place: &Place, offset: i64) -> Result<(), String> {
        if self.unsure.iter().any(|it| it == group) {
            return Ok(());
        }
        let committed = self.at(group, place);
        if committed.values.contains(&offset) {
            return Ok(());
        }
        match committed.before {
            None => committed.before = Some(offset),
            Some(before) if before == offset => {}
            Some(before) => {
                return Err(format!(
                    "offset {offset} was never committed; before the run it was {before}"
                ));
            }
        }
        Ok(())
    }

    fn at(&mut self, group: &str, place: &Place) -> &mut Committed {
        let before = self.from_empty.then_some(-1);
        let group = self.offsets.entry(group.to_owned()).or_default();
        group.entry(place.clone()).or_insert_with(|| Committed {
            before,
            ..Committed::default()
        })
    }
}
