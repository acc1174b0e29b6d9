//! Takes one step of a tour on the stage: on the wire and at the oracle.

use fencepost_spec::types::{TransactionResult, TransactionVersion};

use super::command::{Command, Place};
use crate::cases::stage::{Manner, MarkerForm, Outcome, Stage};

/// Above `transaction.max.timeout.ms` wherever that can be set.
const TOO_LONG: i32 = i32::MAX;
/// The offset that tours stage.
pub const OFFSET: u8 = 7;

impl Stage {
    /// Takes a step.
    pub fn drive(&mut self, command: Command) -> Outcome {
        match command {
            Command::Init(None) => self.init().map(|_| ()),
            Command::Init(Some(expected)) => self.init_expecting(expected).map(|_| ()),
            Command::InitIdempotent => self.init_idempotent().map(|_| ()),
            Command::InitTooLong => self.init_with_timeout(TOO_LONG),
            Command::Add(at) => self.at_place(at, |s| s.add(3, at.who)),
            Command::AddOffsets(who) => self.add_offsets(3, who),
            Command::Verify(at) => self.at_place(at, |s| s.verify(4, at.who)),
            Command::AddByBroker(at) => self.at_place(at, |s| s.add_by_broker(4, at.who)),
            Command::End(version, result, who) => self.end(of(version, 4, 5), who, result),
            Command::Produce(version, at, sequence) => {
                self.at_place(at, |s| s.produce(of(version, 11, 12), at.who, sequence))
            }
            Command::ProducePlain(at, sequence) => {
                self.at_place(at, |s| s.produce_plain(11, at.who, sequence))
            }
            Command::Stage(version, who, None) => {
                self.partition = 0;
                self.stage_offset(of(version, 4, 5), who, OFFSET)
            }
            Command::Stage(version, who, Some(generation)) => {
                self.partition = 0;
                self.stage_offset_in(of(version, 4, 5), who, OFFSET, generation)
            }
            Command::FetchOffset => {
                // The model's group has one partition's offset.
                self.partition = 0;
                self.fetch_offset(true)
            }
            Command::Marker(version, result, at, epoch) => {
                self.send_marker(version, result, at, epoch)
            }
            Command::Join => self.join().map(|_| ()),
            Command::Rebalance => self.begin_rebalance(),
            Command::Switch => {
                self.switch();
                Ok(())
            }
            Command::DeleteTopic => self.delete_topic(),
            Command::HoldLog => self.hold_log(),
            Command::Unanswered => {
                self.put(Manner::Unanswered);
                Ok(())
            }
            Command::Elsewhere => {
                self.second_broker()?;
                self.put(Manner::Elsewhere);
                Ok(())
            }
        }
    }

    fn at_place(&mut self, at: Place, step: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        self.partition = at.partition;
        step(self)
    }

    fn send_marker(
        &mut self,
        version: TransactionVersion,
        result: TransactionResult,
        at: Place,
        epoch: u8,
    ) -> Outcome {
        let form = match version {
            TransactionVersion::Tv1 => MarkerForm::V1,
            TransactionVersion::Tv2 => MarkerForm::V2,
        };
        self.at_place(at, |s| s.marker(form, at.who, result, epoch))?;
        if epoch == super::FAR {
            self.now_held();
        }
        Ok(())
    }
}

/// The version of a request that goes with TV1 or TV2.
const fn of(version: TransactionVersion, tv1: i16, tv2: i16) -> i16 {
    match version {
        TransactionVersion::Tv1 => tv1,
        TransactionVersion::Tv2 => tv2,
    }
}
