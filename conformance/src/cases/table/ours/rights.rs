//! Rights: what a caller is refused.

use super::{Case, ours};
use crate::cases::stage::{Commit, Refused};
use crate::loopback::{Order, Rights};
use fencepost::coordinator::Authorization;

const NOTHING: Rights = Rights {
    all: Authorization::Denied,
    two_phase: Authorization::Denied,
};
const NO_TWO_PHASE: Rights = Rights {
    all: Authorization::Allowed,
    two_phase: Authorization::Denied,
};

pub(super) const CASES: &[Case] = &[
    ours(
        "rights/01",
        "who-may-not-is-told",
        "KIP-98, KIP-939: authorization comes first",
        "Without rights every request is refused, and two-phase commit has a right and a setting of its own.",
        |s| {
            s.empty(1)?;
            s.operate(Order::Grant(NOTHING))?;
            for api in [
                Refused::Init,
                Refused::Add,
                Refused::AddOffsets,
                Refused::End,
                Refused::Describe,
            ] {
                s.answered(api, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED")?;
            }
            s.operate(Order::Grant(NO_TWO_PHASE))?;
            s.init_two_phase_refused("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")?;
            s.init()?;
            s.operate(Order::Grant(Rights::ALL))?;
            s.operate(Order::TwoPhase(false))?;
            s.init_two_phase_refused("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")?;
            s.operate(Order::TwoPhase(true))?;
            s.init_two_phase(false)?;
            s.describe()
        },
    ),
    ours(
        "rights/02",
        "what-the-log-cannot-hold",
        "observed on Kafka 4.4.0 (FINDINGS-kafka-4.4, D6)",
        "At transaction.version 0 the requests of TV2 that have to be logged are refused; those of TV1 go on.",
        |s| {
            if s.takes_tv2() {
                return Ok(());
            }
            s.empty(1)?;
            for api in [Refused::AddByBroker, Refused::ProduceTv2, Refused::Stage(5)] {
                s.answered(api, "UNSUPPORTED_VERSION")?;
            }
            s.describe()?;
            s.begin()?;
            s.answered(Refused::EndTv2, "UNSUPPORTED_VERSION")?;
            s.verify(4, s.me())?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "rights/03",
        "what-is-kept-for-another-session",
        "KIP-939: keepPreparedTxn takes transaction.version 2",
        "Below transaction.version 2 no transaction is kept for another session.",
        |s| {
            if s.is_tv2() {
                return Ok(());
            }
            s.ongoing(1)?;
            s.init_keeping_refused("UNSUPPORTED_VERSION")?;
            s.describe()
        },
    ),
];
