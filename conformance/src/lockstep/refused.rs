//! Requests that the model leaves waiting: production answers what the model would answer.

use super::compare::refused;
use super::edge::{new_messages, same_messages};
use super::known::known_difference;
use super::walk::without_strangers;
use super::{Exclusion, Lockstep, Mismatch, Tally};
use crate::actors::{Frame, Production, Took};
use crate::map::is_to_coordinator;
use fencepost_spec::message::Message;
use fencepost_spec::world::{Action, State};
use stateright::Model;

impl Lockstep {
    /// Every action that is not enabled for the protocol's reasons: the request is there, and its answer is to come
    /// again. How many there are.
    ///
    /// # Errors
    /// The action, and the [`Mismatch`], where production does not answer so, or changes by it.
    pub fn refusals(
        &self,
        state: &State,
        production: &Production,
        tally: &mut Tally,
    ) -> Result<u64, (Action, Mismatch)> {
        let mut count = 0;
        if !self.compares {
            return Ok(count);
        }
        let mut candidates = Vec::new();
        self.answering
            .actions(&without_strangers(state), &mut candidates);
        for action in candidates {
            if is_request(&action) && self.world.take(state, &action).is_none() {
                let answered = self.refusal(state, &action, production, tally);
                count += u64::from(answered.map_err(|mismatch| (action, mismatch))?);
            }
        }
        Ok(count)
    }

    /// Whether the model has an answer for the request; production must give the same.
    fn refusal(
        &self,
        state: &State,
        action: &Action,
        production: &Production,
        tally: &mut Tally,
    ) -> Result<bool, Mismatch> {
        let Some(answered) = self.answering.take(state, action) else {
            // Who may ask whom is the network's affair.
            return Ok(false);
        };
        if production.is_ahead() && is_offset_fetch(action) {
            tally.exclusions.meet(Exclusion::MarkerAhead);
            return Ok(false);
        }
        let frame = Frame {
            blocking: false,
            ..self.frame(state)
        };
        let mut asked = production.clone();
        let sent = match asked.take(&frame, action).map_err(refused)? {
            Took::Core(out) => out.messages,
            Took::Client(..) | Took::Own | Took::Excluded(_) => return Ok(false),
        };
        let expected = new_messages(state, action, &answered);
        let known = known_difference(state, action, &expected, &sent);
        match (same_messages(expected, sent), known) {
            (Ok(()), _) => {}
            (Err(_), Some(exclusion)) => {
                tally.exclusions.meet(exclusion);
                return Ok(false);
            }
            (Err(mismatch), None) => return Err(mismatch),
        }
        if asked == *production {
            Ok(true)
        } else {
            Err(Mismatch::Refused(
                "changed by a request that it refused".to_owned(),
            ))
        }
    }
}

fn is_request(action: &Action) -> bool {
    match action {
        Action::Deliver { message, .. } => is_to_coordinator(message) || is_offset_fetch(action),
        _ => false,
    }
}

fn is_offset_fetch(action: &Action) -> bool {
    matches!(
        action,
        Action::Deliver {
            message: Message::OffsetFetch(_),
            ..
        }
    )
}
