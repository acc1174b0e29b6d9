//! What an id has staged in groups, under the names that the model has for it.

use std::collections::{HashMap, VecDeque};

use fencepost_spec::types::Payload;

use crate::observed::event::Place;

/// Stagings whose offsets are remembered; the model has one of a few.
const REMEMBERED: usize = 100;

#[derive(Debug)]
struct Staging {
    name: Payload,
    group: String,
    offsets: HashMap<Place, i64>,
    refused: bool,
    /// Which of the id's transactions, counted by what ends them.
    transaction: u64,
}

/// The TxnOffsetCommits of an id.
#[derive(Debug, Default)]
pub(super) struct Stagings {
    all: VecDeque<Staging>,
    given: u8,
    transaction: u64,
}

impl Stagings {
    /// The next one.
    pub(super) fn begin(&mut self, group: &str, offsets: &[(Place, i64)]) -> Payload {
        self.given = self.given % 250 + 1;
        let name = Payload(self.given);
        self.all.push_back(Staging {
            name,
            group: group.to_owned(),
            offsets: offsets.iter().cloned().collect(),
            refused: false,
            transaction: self.transaction,
        });
        if self.all.len() > REMEMBERED {
            self.all.pop_front();
        }
        name
    }

    /// Its offsets were not taken.
    pub(super) fn refuse(&mut self, name: Payload) {
        if let Some(found) = self.all.iter_mut().rev().find(|it| it.name == name) {
            found.refused = true;
        }
    }

    /// Something that ends the transaction was asked for.
    pub(super) fn end(&mut self) {
        self.transaction += 1;
    }

    /// The last one in `group`, and whether nothing was staged in another group.
    pub(super) fn latest(&self, group: &str) -> Option<Payload> {
        let latest = self.all.back().filter(|it| it.group == group)?;
        let alone = self.all.iter().all(|it| it.group == group);
        alone.then_some(latest.name)
    }

    /// What the transaction of the staging `name`, up to it, has for a partition.
    pub(super) fn offset(&self, name: Payload, place: &Place) -> Option<i64> {
        let at = self.all.iter().rposition(|it| it.name == name)?;
        let transaction = self.all[at].transaction;
        self.all
            .iter()
            .take(at + 1)
            .rev()
            .take_while(|it| it.transaction == transaction)
            .filter(|it| !it.refused)
            .find_map(|it| it.offsets.get(place).copied())
    }
}
