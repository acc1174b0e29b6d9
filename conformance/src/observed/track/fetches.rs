//! OffsetFetch: the group's own answer, for the partitions that the id has staged offsets of.

use std::collections::HashSet;

use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::Message;
use fencepost_spec::types::Payload;
use fencepost_spec::world::{State, World};

use super::search::Reached;
use super::{Misfit, Track, unique};
use crate::observed::event::Place;

/// UNSTABLE_OFFSET_COMMIT.
const UNSTABLE: i16 = 88;

/// A question about offsets that waits for its answer.
#[derive(Clone, Debug)]
pub struct OffsetsAsked {
    message: Message,
    /// The id's last staging in the group when it was asked.
    latest: Payload,
}

impl Track {
    /// A member asks for its offsets, and is not to be given undecided ones. None where the id has
    /// staged nothing there, or in several groups, which the model takes for one.
    pub fn ask_offsets(&mut self, group: &str) -> Option<OffsetsAsked> {
        let latest = self.stagings.latest(group)?;
        let message = Message::OffsetFetch(self.correlation());
        for state in &mut self.states {
            state.network.push(message);
        }
        Some(OffsetsAsked { message, latest })
    }

    /// Whether the id's transaction staged an offset of this partition, the last before the
    /// question.
    pub fn has_staged(&self, asked: &OffsetsAsked, place: &Place) -> bool {
        self.stagings.offset(asked.latest, place).is_some()
    }

    /// The answer has come, for partitions that the id [has staged](Self::has_staged). Where
    /// nobody else ever committed offsets there, `alone` has what stood there before the run.
    pub fn offsets_answered(
        &mut self,
        world: &World,
        asked: &OffsetsAsked,
        group: &str,
        answers: &[(Place, i64, i16)],
        alone: Option<&[Option<i64>]>,
    ) -> Result<(), Misfit> {
        let unstable = answers.iter().filter(|it| it.2 == UNSTABLE).count();
        let given = answers.iter().filter(|it| it.2 == 0).count();
        let one = unstable + given == answers.len() && unstable.min(given) == 0;
        if answers.is_empty() || !one || self.stagings.latest(group) != Some(asked.latest) {
            // Another staging came in between, or something else was refused.
            self.offsets_unanswered(asked);
            return Ok(());
        }
        if unstable > 0 && alone.is_none() {
            // It may be somebody else's offset that is undecided.
            self.offsets_unanswered(asked);
            return Ok(());
        }
        let stagings = &self.stagings;
        let is_published = |name: Payload| {
            let before = alone.unwrap_or_default();
            let mut answers = answers.iter().zip(before);
            answers.all(|((place, offset, _), before)| {
                let published = match name {
                    Payload(0) => *before,
                    name => stagings.offset(name, place),
                };
                published.is_none_or(|it| it == *offset)
            })
        };
        let mut allowed = HashSet::new();
        let mut goal = Reached(|state: &mut State| {
            let (error, published) = take_answer(state, &asked.message)?;
            allowed.insert((error, published));
            let fits = match error {
                ErrorCode::None => given > 0 && is_published(published),
                _ => error.number() == UNSTABLE && unstable > 0,
            };
            Some(fits)
        });
        let found = self.advance(world, &mut goal)?;
        if found.is_empty() {
            let mut allowed: Vec<String> = allowed
                .iter()
                .map(|(error, published)| match error {
                    ErrorCode::None => {
                        let offsets: Vec<String> = answers
                            .iter()
                            .filter_map(|(place, _, _)| stagings.offset(*published, place))
                            .map(|it| it.to_string())
                            .collect();
                        if offsets.is_empty() {
                            "what stood there before".to_owned()
                        } else {
                            format!("offset {}", offsets.join(", "))
                        }
                    }
                    _ => error.to_string(),
                })
                .collect();
            allowed.sort();
            return Err(Misfit::Refused(format!(
                "the model allows {}",
                allowed.join(" or ")
            )));
        }
        self.states = found;
        self.trim();
        Ok(())
    }

    /// Nothing can be said of the answer. A question changes nothing.
    pub fn offsets_unanswered(&mut self, asked: &OffsetsAsked) {
        let mut states = std::mem::take(&mut self.states);
        for state in &mut states {
            if take_answer(state, &asked.message).is_none() {
                state.network.retain(|it| *it != asked.message);
            }
        }
        self.states = unique(states);
    }
}

fn take_answer(state: &mut State, question: &Message) -> Option<(ErrorCode, Payload)> {
    let Message::OffsetFetch(asked) = question else {
        return None;
    };
    let at = state.network.iter().position(
        |it| matches!(it, Message::OffsetFetchAnswer { correlation, .. } if correlation == asked),
    )?;
    match state.network.remove(at) {
        Message::OffsetFetchAnswer { error, offset, .. } => Some((error, offset)),
        _ => None,
    }
}
