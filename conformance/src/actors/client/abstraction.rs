//! The production client as the model's producer.

use super::{Client, Place, Running};
use crate::actors::{Difference, Frame};
use crate::map::{self, Unmapped};
use fencepost::client::{Request, State};
use fencepost_spec::client::{InFlight, Phase, Producer};
use fencepost_spec::types::*;

impl Client {
    /// The producer that the model would have in its place. What is the model's alone (ghosts, what it knows of
    /// coordinators, its first identity) is `model`'s own.
    ///
    /// # Errors
    /// [`Difference`] for a client that the model cannot say.
    pub fn abstract_producer(
        &self,
        frame: &Frame<'_>,
        version: TransactionVersion,
        model: &Producer,
    ) -> Result<Producer, Difference> {
        match self {
            Self::LeftOut(_) => Ok(model.clone()),
            Self::Unstarted => Ok(Producer {
                phase: Phase::Unstarted,
                identity: None,
                ..model.clone()
            }),
            Self::Closed(closed) => Ok(Producer {
                phase: closed.phase,
                identity: closed.identity,
                txn: closed.txn,
                outcome: closed.outcome,
                ..model.clone()
            }),
            Self::Running(client) => {
                let place = Place::new(frame, model.index);
                client.abstract_producer(Place { version, ..place }, model)
            }
        }
    }
}

impl Running {
    pub(super) fn identity(&self) -> Result<Option<Identity>, Difference> {
        let producer = self.core.producer();
        Ok(producer.map(map::spec_identity).transpose()?)
    }

    pub(super) fn version(&self) -> TransactionVersion {
        map::spec_version(self.core.version())
    }

    fn phase(&self) -> Result<Phase, Difference> {
        Ok(match self.core.state() {
            State::Uninitialized => Phase::Unstarted,
            State::Initializing => match self.core.in_flight() {
                Some(Request::InitProducerId { expected: Some(_) }) => Phase::Bumping,
                Some(_) | None => Phase::Initializing,
            },
            State::InTransaction => Phase::InTransaction,
            State::AbortableError => Phase::AbortableError,
            State::CommittingTransaction => Phase::Ending(TransactionResult::Commit),
            State::AbortingTransaction => Phase::Ending(TransactionResult::Abort),
            // The application goes on or closes at once.
            State::Ready | State::FatalError => {
                return Err(Unmapped::new("state of a client", self.core.state()).into());
            }
        })
    }

    fn abstract_producer(
        &self,
        place: Place<'_>,
        model: &Producer,
    ) -> Result<Producer, Difference> {
        let phase = self.phase()?;
        let request = self.request();
        let waits = request.is_some();
        let in_flight = self.in_flight().map(|sent| {
            let (identity, sequence) = self.numbered(place, sent)?;
            Ok(InFlight {
                partition: sent.partition,
                sequence,
                identity,
                payload: self.payload_of(place, sent),
                attempt: sent.attempt,
                copies: sent.copies,
                answered: sent.answered,
                transactional: true,
            })
        });
        Ok(Producer {
            phase,
            identity: self.identity()?,
            txn: self.txn,
            version: self.version(),
            item: self.model_item(),
            registered: self.registered(place, phase, model)?,
            request,
            number: self.number,
            // Nobody reads them while nothing waits.
            attempt: if waits { self.attempt } else { model.attempt },
            resent: if waits { self.resent } else { model.resent },
            in_flight: in_flight.collect::<Result<_, Difference>>()?,
            next_sequence: self.next_sequence(place, model),
            needs_bump: self.needs_bump(place, phase, model),
            position: self.position,
            generation: self.generation,
            outcome: self.outcome,
            ..model.clone()
        })
    }

    /// What TV1 has registered. Of the group the client remembers only that the transaction has begun.
    fn registered(
        &self,
        place: Place<'_>,
        phase: Phase,
        model: &Producer,
    ) -> Result<PartitionSet, Difference> {
        let between = matches!(phase, Phase::Initializing | Phase::Bumping);
        if between || self.version() == TransactionVersion::Tv2 {
            // The last transaction's, until the next one begins; or none.
            return Ok(if between {
                model.registered
            } else {
                PartitionSet::EMPTY
            });
        }
        let mut registered = PartitionSet::EMPTY;
        for partition in self.core.partitions_in_transaction() {
            registered = registered.with(place.topics.spec_partition(partition)?);
        }
        let offsets = PartitionIndex(place.topics.data);
        let by_group = registered.is_empty() || model.registered.contains(offsets);
        if self.core.transaction_started() && by_group {
            registered = registered.with(offsets);
        }
        Ok(registered)
    }

    fn next_sequence(&self, place: Place<'_>, model: &Producer) -> [Sequence; 3] {
        let mut next = model.next_sequence;
        for (at, next) in (0..place.topics.data).zip(&mut next) {
            let partition = place.topics.partition(PartitionIndex(at));
            let batches = self.core.batches().get(&partition);
            *next = batches.map_or(Sequence::FIRST, |batches| {
                map::spec_sequence(batches.next_sequence())
            });
        }
        next
    }

    /// The epoch that is raised because of an upgrade is the model's to raise later.
    fn needs_bump(&self, place: Place<'_>, phase: Phase, model: &Producer) -> bool {
        let ends = matches!(phase, Phase::Ending(_));
        let upgrades = self.version() == TransactionVersion::Tv1
            && place.version == TransactionVersion::Tv2
            && ends;
        if upgrades && self.core.epoch_bump_required() {
            model.needs_bump
        } else {
            self.core.epoch_bump_required()
        }
    }
}
