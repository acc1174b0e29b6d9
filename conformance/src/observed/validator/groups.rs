//! OffsetFetch: what groups are told of committed offsets.

use super::{Open, Validator};
use crate::observed::event::{OffsetsOf, Place};

/// UNSTABLE_OFFSET_COMMIT.
const UNSTABLE: i16 = 88;

impl Validator {
    /// A member asks for offsets that no transaction may still change.
    pub(super) fn asked_offsets(
        &mut self,
        groups: &[(String, Option<Vec<Place>>)],
        open: &mut Open,
    ) {
        for (group, places) in groups {
            for id in self.groups.stagers(group, places.as_deref()) {
                let asked = self.ids.get_mut(&id).and_then(|it| it.ask_offsets(group));
                if let Some(asked) = asked {
                    open.offsets.push((id, group.clone(), asked));
                }
            }
        }
    }

    pub(super) fn offsets_given(
        &mut self,
        open: &Open,
        require_stable: bool,
        asked: &[(String, Option<Vec<Place>>)],
        answers: &[OffsetsOf],
    ) -> Result<(), String> {
        for answer in answers {
            // An answer of an older version stands for the one group that was asked for.
            let group = match asked {
                [(group, _)] => group,
                _ => &answer.group,
            };
            let of_group = open.offsets.iter().filter(|(_, of, _)| of == group);
            for (id, _, question) in of_group {
                let Some(track) = self.ids.get_mut(id) else {
                    continue;
                };
                if answer.error != 0 {
                    track.offsets_unanswered(question);
                    continue;
                }
                let mut own = answer.offsets.clone();
                own.retain(|(place, _, _)| track.has_staged(question, place));
                let alone = own
                    .iter()
                    .all(|(place, _, _)| self.groups.is_alone(group, place));
                let before: Vec<Option<i64>> = own
                    .iter()
                    .map(|(place, _, _)| self.groups.before(group, place))
                    .collect();
                let before = alone.then_some(before.as_slice());
                let taken = track.offsets_answered(&self.world, question, group, &own, before);
                self.summary.judged += u64::from(!own.is_empty());
                self.misfit(id, taken, || {
                    let offsets = own.iter().map(|(place, offset, error)| match error {
                        0 => format!("{}-{}: {offset}", place.0, place.1),
                        error => format!("{}-{}: error {error}", place.0, place.1),
                    });
                    let offsets: Vec<String> = offsets.collect();
                    format!("OffsetFetch of {group} is answered {}", offsets.join(", "))
                })?;
            }
            self.values_given(require_stable, group, answer)?;
        }
        Ok(())
    }

    fn values_given(
        &mut self,
        require_stable: bool,
        group: &str,
        answer: &OffsetsOf,
    ) -> Result<(), String> {
        if answer.error != 0 {
            return Ok(());
        }
        for (place, offset, error) in &answer.offsets {
            let told = |why: &str| {
                let (topic, index) = place;
                format!("OffsetFetch of {group} for {topic}-{index}: {why}")
            };
            match *error {
                0 => {
                    let given = self.groups.given(group, place, *offset);
                    given.map_err(|why| told(&why))?;
                }
                UNSTABLE if !require_stable => {
                    return Err(told("refused as unstable, which was not asked for"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
