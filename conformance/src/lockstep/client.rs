//! A step of a client, on both sides.

use super::edge::{same_messages, taken};
use super::{Exclusion, Lockstep, Mismatch, Tally};
use crate::actors::Said;
use fencepost_spec::client::{ClientContext, Producer};
use fencepost_spec::step::{Out, Step};
use fencepost_spec::types::ProducerIndex;
use fencepost_spec::world::{Action, State};

impl Lockstep {
    /// The model's state once its client has taken the step too; what the two clients send is compared.
    pub(super) fn client_step(
        &self,
        before: &State,
        action: &Action,
        (index, said): (ProducerIndex, Said),
        tally: &mut Tally,
    ) -> Result<State, Mismatch> {
        let mut then = before.clone();
        if let Some(message) = taken(action)
            && let Some(at) = then.network.iter().position(|it| *it == message)
        {
            then.network.remove(at);
        }
        let mut out = Out::default();
        let ctx = self.world.client_context(before, index);
        let producer = &mut then.producers[usize::from(index.0)];
        if step(producer, &ctx, action, &mut out) == Step::NotEnabled {
            return Err(Mismatch::Refused(
                "the model's client step is not enabled".to_owned(),
            ));
        }
        for gap in &said.gaps {
            tally.exclusions.meet(Exclusion::Client(*gap));
        }
        let expected = out.messages.to_vec();
        let is_left_out = said.gaps.iter().any(|gap| gap.leaves_out());
        if self.compares && !is_left_out {
            same_messages(expected, said.messages)?;
        }
        then.network.extend(out.messages);
        Ok(then)
    }
}

fn step(producer: &mut Producer, ctx: &ClientContext<'_>, action: &Action, out: &mut Out) -> Step {
    match action {
        Action::Start(_) => producer.start(ctx, out),
        Action::End(_, result) => producer.end(ctx, *result, out),
        Action::Prepare(_) => producer.prepare(ctx),
        Action::Decided(_) => producer.decided(ctx, out),
        Action::ResendRequest(_) => producer.resend_request(ctx, out),
        Action::ResendBatch(_, at) => producer.resend_batch(ctx, usize::from(*at), out),
        Action::GiveUp(_, at) => producer.give_up(ctx, usize::from(*at), out),
        Action::CrashProducer(_) => producer.crash(),
        Action::Deliver { message, .. } => producer.handle(ctx, message, out),
        Action::FailAppend(_)
        | Action::FailVerification(_)
        | Action::LoseMarker(_)
        | Action::LoseMarkerAnswer(_)
        | Action::Stranger { .. }
        | Action::FindNoLeader(_)
        | Action::SkipTest(_)
        | Action::CommitRecord
        | Action::ManagerDecides(_)
        | Action::SendMarker(..)
        | Action::ResendMarker(..)
        | Action::Timeout(..)
        | Action::ExpireId(..)
        | Action::Elect(_)
        | Action::LearnElected(_)
        | Action::Load(_)
        | Action::Resign(_)
        | Action::CrashCoordinator(_)
        | Action::StepClockBack(_)
        | Action::Replicate(_)
        | Action::ApplyRecord(_)
        | Action::FailOver(_)
        | Action::Restart(_)
        | Action::Recover(_)
        | Action::TakeSnapshot(_)
        | Action::Evict(..)
        | Action::Compact(_)
        | Action::FollowerFetch(_)
        | Action::Promote(_)
        | Action::DeleteTopic(_)
        | Action::OperatorMarker(_)
        | Action::Materialise
        | Action::PrepareRebalance
        | Action::ExpireMember
        | Action::ReplaceStaticMember(_)
        | Action::CompleteRebalance(_)
        | Action::ExpireOffsets
        | Action::TakeBound(_)
        | Action::TakeData(_)
        | Action::TakeAborted(_)
        | Action::Upgrade => Step::NotEnabled,
    }
}
