//! Partitions: batches and markers where they stand, and what readers are given.

use super::{Open, Part, Validator};
use crate::observed::event::{Fetched, Inside, MarkerAsked, Place, Sent, Stored, Written};
use crate::observed::track::Said;

impl Validator {
    pub(super) fn produced(
        &mut self,
        open: &Open,
        batches: &[Sent],
        written: &[Written],
    ) -> Result<(), String> {
        let mut errors = Vec::new();
        for batch in batches {
            let Some(written) = written.iter().find(|it| it.at == batch.at) else {
                return Err(format!("no answer for {}-{}", batch.at.0, batch.at.1));
            };
            errors.push(written.error);
            if written.error != 0 || written.offset < 0 {
                continue;
            }
            let stored = Stored {
                offset: written.offset,
                last: written.offset + i64::from(batch.count) - 1,
                producer: batch.producer,
                sequence: batch.sequence,
                transactional: batch.transactional,
                marker: None,
            };
            let log = self.logs.entry(batch.at.clone()).or_default();
            let markers = log.insert(&stored)?;
            self.markers(&batch.at, &markers)?;
        }
        if open.messages.is_empty() {
            return Ok(());
        }
        self.judge(open, |at, _| {
            Said::error(errors.get(at).copied().unwrap_or(0))
        })
    }

    pub(super) fn fetched(
        &mut self,
        committed: bool,
        asked: &[(Place, i64)],
        floors: &[i64],
        answers: &[Fetched],
    ) -> Result<(), String> {
        for answer in answers.iter().filter(|it| it.error == 0) {
            let at = asked.iter().position(|(place, _)| *place == answer.at);
            let from = at.map_or(0, |at| asked[at].1);
            let floor = at.and_then(|at| floors.get(at)).copied().unwrap_or(-1);
            let log = self.logs.entry(answer.at.clone()).or_default();
            let markers = log
                .fetched(committed, from, floor, answer)
                .map_err(|why| format!("Fetch of {}-{}: {why}", answer.at.0, answer.at.1))?;
            self.markers(&answer.at, &markers)?;
        }
        Ok(())
    }

    /// Markers that came to be known by where they stand.
    fn markers(&mut self, place: &Place, markers: &[Stored]) -> Result<(), String> {
        if self.shows(Inside::Partitions) {
            // Each was an event of its own.
            return Ok(());
        }
        for marker in markers {
            let Some(id) = self.owner_of(marker) else {
                continue;
            };
            let Some(track) = self.ids.get_mut(&id) else {
                continue;
            };
            self.summary.judged += 1;
            let taken = track.marker(&self.world, place, marker);
            self.misfit(&id, taken, || {
                format!("{}-{} has {}", place.0, place.1, text(marker))
            })?;
        }
        Ok(())
    }

    /// A partition has appended to its log.
    pub(super) fn appended(&mut self, place: &Place, batch: &Stored) -> Result<(), String> {
        let log = self.logs.entry(place.clone()).or_default();
        log.insert(batch)?;
        let Some(id) = self.owner_of(batch) else {
            return Ok(());
        };
        let Some(track) = self.ids.get_mut(&id) else {
            return Ok(());
        };
        self.summary.judged += 1;
        let taken = track.appended(&self.world, place, batch);
        self.misfit(&id, taken, || {
            format!("{}-{} appends {}", place.0, place.1, text(batch))
        })
    }

    /// The id that has the producer id of a batch, where it is followed.
    fn owner_of(&self, batch: &Stored) -> Option<String> {
        let id = self.owners.get(&batch.producer.0)?;
        let track = self.ids.get(id)?;
        track.has(batch.producer.0).then(|| id.clone())
    }

    /// Markers that somebody else than a coordinator may have sent.
    pub(super) fn asked_markers(&mut self, markers: &[MarkerAsked], open: &mut Open) {
        for asked in markers {
            let Some(id) = self.owners.get(&asked.producer.0).cloned() else {
                continue;
            };
            if !self.shows(Inside::Partitions) {
                // The epochs of coordinators, by which it is judged, are not seen.
                if self.ids.contains_key(&id) {
                    self.give_up(&id);
                }
                continue;
            }
            let messages = self.ids.get_mut(&id).map(|it| it.ask_markers(asked));
            let parts = messages.into_iter().flatten().zip(&asked.partitions);
            open.messages.extend(parts.map(|(message, place)| Part {
                id: id.clone(),
                of: Some((asked.producer.0.to_string(), place.clone())),
                message,
            }));
        }
    }

    /// A topic is gone.
    pub(super) fn deleted(&mut self, topic: &str) {
        self.logs.retain(|place, _| place.0 != topic);
        for id in self.writers.remove(topic).into_iter().flatten() {
            if let Some(track) = self.ids.get_mut(&id) {
                track.deleted(topic);
            }
        }
    }
}

fn text(batch: &Stored) -> String {
    let kind = match batch.marker {
        Some(true) => "a commit marker",
        Some(false) => "an abort marker",
        None => "data",
    };
    format!("{kind} of {:?} at {}", batch.producer, batch.offset)
}
