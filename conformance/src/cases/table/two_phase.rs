//! Two-phase commit (KIP-939).

use super::*;
use crate::cases::stage::{Abort, Commit};

const KIP_939: &str = "KIP-939: two-phase commit";
const INIT_6: Need = api(22, "InitProducerId", 6);

pub(super) const CASES: &[Case] = &[
    core(
        "2pc/01",
        "enable-gives-an-identity",
        &[INIT_6],
        KIP_939,
        "InitProducerId with enable2Pc gives an identity like any other.",
        |s| s.init_two_phase(false).map(drop),
    )
    .at(Level::TwoPhase),
    core(
        "2pc/02",
        "without-keep-the-transaction-is-aborted",
        &[INIT_6, ADD_3, PRODUCE_11],
        KIP_939,
        "Without keepPreparedTxn an open two-phase transaction is aborted.",
        |s| {
            s.init_two_phase(false)?;
            s.begin()?;
            s.init_two_phase(false)?;
            s.settle()?;
            s.read()
        },
    )
    .at(Level::TwoPhase),
    core(
        "2pc/03",
        "keep-then-commit",
        &[INIT_6, ADD_3, PRODUCE_11, END_5, TV2],
        KIP_939,
        "keepPreparedTxn keeps the transaction and gives the next identity, which commits it.",
        |s| {
            s.init_two_phase(false)?;
            s.begin()?;
            s.init_two_phase(true)?;
            s.end(5, s.me(), Commit)?;
            s.settle()?;
            s.read()
        },
    )
    .at(Level::TwoPhase),
    core(
        "2pc/04",
        "keep-then-abort",
        &[INIT_6, ADD_3, PRODUCE_11, END_5, TV2],
        KIP_939,
        "keepPreparedTxn keeps the transaction and gives the next identity, which aborts it.",
        |s| {
            s.init_two_phase(false)?;
            s.begin()?;
            s.init_two_phase(true)?;
            s.end(5, s.me(), Abort)?;
            s.settle()?;
            s.read()
        },
    )
    .at(Level::TwoPhase),
];
