//! The end of a producer id's epochs.

use super::*;
use crate::cases::stage::{Abort, Commit};

const EXHAUSTED: i16 = i16::MAX - 1;
const KIP_98: &str = "KIP-98: producer ids rotate before their epochs run out";

pub(super) const CASES: &[Case] = &[
    core("epoch/01", "new-producer-id-after-32766", &[INIT_4], KIP_98,
        "Epochs 0 to 32766 are handed out once each in order; then comes a fresh producer id at 0.",
        |s| {
            s.empty(EXHAUSTED)?;
            s.init().map(drop)
        }).at(Level::Slow),
    core("epoch/02", "end-v5-at-32766-rotates", ONE_V5, "KAFKA-18660: the answer names the fresh id",
        "EndTxn v5 at 32766 writes its markers at 32767 and answers a fresh producer id at 0; a retry \
         is given the same.",
        |s| {
            s.ongoing(EXHAUSTED)?;
            let before = s.me();
            s.end(5, before, Commit)?;
            s.settle()?;
            s.end(5, before, Commit)?;
            s.read()?;
            s.begin()?;
            s.end(5, s.me(), Abort)?;
            s.settle()?;
            s.read()
        }).at(Level::Slow),
    core("epoch/03", "fence-at-32766", ONE_TRANSACTION, "KAFKA-20090: a fence at the end rotates",
        "InitProducerId over a transaction that is open at 32766 aborts it and gives a fresh producer id.",
        |s| {
            s.ongoing(EXHAUSTED)?;
            s.init()?;
            s.settle()?;
            s.read()?;
            s.init().map(drop)
        }).at(Level::Slow),
];
