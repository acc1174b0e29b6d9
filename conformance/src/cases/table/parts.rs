//! AddPartitionsToTxn and AddOffsetsToTxn.

use super::*;
use crate::cases::stage::Outcome;
use crate::cases::stage::{Abort, Commit, Stage};

const KIP_98: &str = "KIP-98: AddPartitionsToTxn";
const KIP_890: &str = "KIP-890: AddPartitionsToTxn v4, verifyOnly";

/// Wrong and right identities around Empty and Ongoing, by one form of the request.
fn identities(s: &mut Stage, ask: fn(&mut Stage, i16) -> Outcome) -> Outcome {
    s.empty(1)?;
    for step in [STRANGER, 0, 2, 1, 1, STRANGER, 0, 2] {
        ask(s, step)?;
    }
    s.describe()
}

/// The current identity and the one before it, after a transaction ended.
fn after(s: &mut Stage, ask: fn(&mut Stage, i16) -> Outcome) -> Outcome {
    for result in [Commit, Abort] {
        s.complete(1, result, 4)?;
        let epoch = s.me().producer_epoch.0;
        ask(s, epoch - 1)?;
        ask(s, epoch)?;
        s.describe()?;
        s.switch();
    }
    Ok(())
}

/// Stands for a producer id that nobody was given.
const STRANGER: i16 = -2;

fn who(s: &Stage, epoch: i16) -> fencepost_spec::types::Identity {
    if epoch == STRANGER {
        s.stranger()
    } else {
        s.at(epoch)
    }
}

fn client(s: &mut Stage, epoch: i16) -> Outcome {
    s.add(3, who(s, epoch))
}

fn broker(s: &mut Stage, epoch: i16) -> Outcome {
    s.add_by_broker(4, who(s, epoch))
}

fn verify(s: &mut Stage, epoch: i16) -> Outcome {
    s.verify(4, who(s, epoch))
}

fn offsets(s: &mut Stage, epoch: i16) -> Outcome {
    s.add_offsets(3, who(s, epoch))
}

/// A decision is held back, and asked over.
fn pending(s: &mut Stage, ask: fn(&mut Stage, i16) -> Outcome) -> Outcome {
    s.ongoing(1)?;
    s.hold_markers()?;
    s.end(s.end_version(), s.me(), Commit)?;
    let epoch = s.me().producer_epoch.0;
    for epoch in [epoch, STRANGER, 0] {
        ask(s, epoch)?;
    }
    Ok(())
}

pub(super) const CASES: &[Case] = &[
    core("parts/01", "no-mapping", &[ADD_3], KIP_98,
        "An id that was never initialised is INVALID_PRODUCER_ID_MAPPING.",
        |s| s.add(3, s.stranger())),
    core("parts/02", "client-form-identities", &[INIT_4, ADD_3], KIP_98,
        "Another producer id is INVALID_PRODUCER_ID_MAPPING, any other epoch PRODUCER_FENCED, the \
         right pair NONE and NONE again.",
        |s| identities(s, client)),
    core("parts/03", "client-form-after-completion", ONE_TRANSACTION, KIP_98,
        "A completed id begins its next transaction; an older epoch does not.",
        |s| after(s, client)),
    core("parts/04", "verify-only-does-not-add", &[INIT_4, ADD_4], KIP_890,
        "verifyOnly of a partition that is not there is TRANSACTION_ABORTABLE and adds nothing.",
        |s| {
            s.empty(1)?;
            s.verify(4, s.me())?;
            s.describe()
        }),
    core("parts/05", "verify-only-in-transaction", &[INIT_4, ADD_3, ADD_4, PRODUCE_11], KIP_890,
        "verifyOnly is NONE for a partition of the transaction, TRANSACTION_ABORTABLE for another.",
        |s| {
            s.ongoing(1)?;
            s.verify(4, s.me())?;
            s.partition = 1;
            s.verify(4, s.me())?;
            s.describe()
        }),
    core("parts/06", "verify-only-identities", &[INIT_4, ADD_3, ADD_4, PRODUCE_11], KIP_890,
        "verifyOnly refuses another producer id and any other epoch.",
        |s| {
            s.ongoing(1)?;
            for epoch in [STRANGER, 0, 2] {
                verify(s, epoch)?;
            }
            Ok(())
        }),
    core("parts/07", "verify-only-after-completion", &[INIT_4, ADD_3, ADD_4, PRODUCE_11, END_4], KIP_890,
        "After the end nothing is in the transaction any more.",
        |s| after(s, verify)),
    core("parts/08", "verify-only-no-mapping", &[ADD_4], KIP_890,
        "verifyOnly of an id that was never initialised is INVALID_PRODUCER_ID_MAPPING.",
        |s| s.verify(4, s.stranger())),
    core("parts/09", "broker-form-adds", &[INIT_4, ADD_4, TV1], "KIP-890 part 2: implicit add",
        "The broker's form without verifyOnly adds, under the same rules as the client's.",
        |s| identities(s, broker)),
    core("parts/10", "broker-form-after-completion", &[INIT_4, ADD_3, ADD_4, PRODUCE_11, END_4, TV1],
        "KIP-890 part 2: implicit add",
        "The broker's form begins the next transaction of a completed id.",
        |s| after(s, broker)),
    core("parts/11", "broker-form-no-mapping", &[ADD_4, TV1], "KIP-890 part 2: implicit add",
        "The broker's form for an id that was never initialised is INVALID_PRODUCER_ID_MAPPING.",
        |s| s.add_by_broker(4, s.stranger())),
    core("parts/12", "offsets-identities", &[INIT_4, OFFSETS_3], "KIP-98: AddOffsetsToTxn",
        "AddOffsetsToTxn judges identities as AddPartitionsToTxn does.",
        |s| identities(s, offsets)),
    core("parts/13", "offsets-after-completion", &[INIT_4, ADD_3, PRODUCE_11, END_4, OFFSETS_3],
        "KIP-98: AddOffsetsToTxn",
        "AddOffsetsToTxn begins the next transaction of a completed id.",
        |s| after(s, offsets)),
    core("parts/14", "offsets-no-mapping", &[OFFSETS_3], "KIP-98: AddOffsetsToTxn",
        "An id that was never initialised is INVALID_PRODUCER_ID_MAPPING.",
        |s| s.add_offsets(3, s.stranger())),
    core("parts/15", "old-versions-know-no-fenced", &[INIT_4, api(24, "AddPartitionsToTxn", 0), api(24, "AddPartitionsToTxn", 1)],
        "KIP-588: PRODUCER_FENCED since v2",
        "Below v2 a fenced producer is told INVALID_PRODUCER_EPOCH; v2 and v3 say PRODUCER_FENCED.",
        |s| {
            s.empty(1)?;
            for version in 0..=3 {
                s.add(version, s.at(0))?;
            }
            Ok(())
        }),
    core("parts/16", "old-offsets-versions-know-no-fenced", &[INIT_4, api(25, "AddOffsetsToTxn", 0), api(25, "AddOffsetsToTxn", 1)],
        "KIP-588: PRODUCER_FENCED since v2",
        "AddOffsetsToTxn below v2 says INVALID_PRODUCER_EPOCH, later versions PRODUCER_FENCED.",
        |s| {
            s.empty(1)?;
            for version in 0..=3 {
                s.add_offsets(version, s.at(0))?;
            }
            Ok(())
        }),
    core("parts/17", "second-partition-joins", ONE_TRANSACTION, KIP_98,
        "A second partition joins an open transaction, and both get the marker.",
        |s| {
            s.ongoing(0)?;
            s.partition = 1;
            s.begin()?;
            s.describe()?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.read()?;
            s.partition = 0;
            s.read()
        }),
    core("parts/18", "oldest-version-works", &[INIT_4, api(24, "AddPartitionsToTxn", 0), PRODUCE_11, api(26, "EndTxn", 0)],
        "KIP-98; librdkafka sends v0 only",
        "A client that speaks v0 only can run a transaction.",
        |s| {
            s.empty(0)?;
            s.add(0, s.me())?;
            s.produce(11, s.me(), 0)?;
            s.end(0, s.me(), Commit)?;
            s.settle()?;
            s.read()
        }),
    core("parts/19", "pending-client-form", &[INIT_4, ADD_3, PRODUCE_11, END_4, MARKERS_1],
        "KAFKA-18660: pending before identity",
        "While a decision is pending the answer is CONCURRENT_TRANSACTIONS before any identity check.",
        |s| pending(s, client)).at(Level::Fault),
    core("parts/20", "pending-broker-form", &[INIT_4, ADD_3, ADD_4, PRODUCE_11, END_4, MARKERS_1, TV1],
        "KAFKA-18660: pending before identity",
        "The same for the broker's form.",
        |s| pending(s, broker)).at(Level::Fault),
    core("parts/21", "pending-verify-only", &[INIT_4, ADD_3, ADD_4, PRODUCE_11, END_4, MARKERS_1],
        "KIP-890: verifyOnly; observed on Kafka 4.4.0",
        "verifyOnly looks at identity before the pending decision.",
        |s| pending(s, verify)).at(Level::Fault),
    core("parts/22", "pending-offsets", &[INIT_4, ADD_3, PRODUCE_11, END_4, MARKERS_1, OFFSETS_3],
        "KAFKA-18660: pending before identity",
        "The same for AddOffsetsToTxn.",
        |s| pending(s, offsets)).at(Level::Fault),
    core("parts/23", "another-ids-identity", &[INIT_4, ADD_3], KIP_98,
        "Under one id the identity of another is INVALID_PRODUCER_ID_MAPPING, and neither is in a \
         transaction.",
        |s| {
            s.empty(1)?;
            let other = s.me();
            s.switch();
            s.empty(1)?;
            s.add(3, other)?;
            s.describe()?;
            s.switch();
            s.describe()
        }),
];
