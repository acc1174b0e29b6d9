//! What takes a broker that we started: its partition leader halted, or itself killed and started
//! again. They come last, since a coordinator that has loaded has a new epoch.

use super::*;
use crate::cases::judge::Configuration;
use crate::cases::stage::{Abort, Commit};
use fencepost_spec::types::TransactionResult;

const HALTED: &[Need] = &[
    INIT_4,
    ADD_3,
    ADD_4,
    PRODUCE_11,
    OFFSETS_3,
    END_4,
    Need::Judge(Configuration::TwoBrokers),
];
const HALTED_V5: &[Need] = &[
    INIT_4,
    ADD_3,
    ADD_4,
    PRODUCE_11,
    OFFSETS_3,
    END_5,
    TV1,
    Need::Judge(Configuration::TwoBrokers),
];
const RESTARTED: &[Need] = &[
    INIT_4,
    ADD_3,
    ADD_4,
    PRODUCE_11,
    END_4,
    Need::Judge(Configuration::OneNode),
];
const RESTARTED_V5: &[Need] = &[
    INIT_4,
    ADD_3,
    PRODUCE_11,
    END_5,
    TV1,
    Need::Judge(Configuration::OneNode),
];

/// A decision whose marker cannot be written yet: everything is asked over it, then it is carried
/// out, and the retry is recognised.
fn over_halted(s: &mut Stage, version: i16, done: TransactionResult) -> Outcome {
    s.ongoing(1)?;
    s.hold_leader()?;
    let before = s.me();
    s.end(version, before, done)?;
    for verb in [Commit, Abort] {
        for epoch in 0..=3 {
            s.end(version, s.at(epoch), verb)?;
        }
        s.end(version, s.stranger(), verb)?;
    }
    s.init()?;
    s.init_expecting(before)?;
    for who in [s.me(), before, s.stranger()] {
        s.add(3, who)?;
        s.add_offsets(3, who)?;
        s.verify(4, who)?;
        s.add_by_broker(4, who)?;
    }
    s.describe()?;
    s.let_go()?;
    s.settle()?;
    s.compare_all()?;
    s.partition = 0;
    s.end(version, before, done)
}

pub(in crate::cases) const CASES: &[Case] = &[
    core(
        "end/32",
        "v4-commit-while-the-leader-is-halted",
        HALTED,
        "KIP-98: the answer does not wait for the markers",
        "A commit is answered while a participant's leader is halted; until its marker is written \
         everything else is refused; then the transaction completes.",
        |s| over_halted(s, 4, Commit),
    )
    .at(Level::Fault),
    core(
        "end/33",
        "v4-abort-while-the-leader-is-halted",
        HALTED,
        "KIP-98: the answer does not wait for the markers",
        "The same for an abort.",
        |s| over_halted(s, 4, Abort),
    )
    .at(Level::Fault),
    core(
        "end/34",
        "v5-commit-while-the-leader-is-halted",
        HALTED_V5,
        "KIP-890 part 2; KAFKA-18464, KAFKA-18660",
        "The same for EndTxn v5, where pending comes before identity.",
        |s| over_halted(s, 5, Commit),
    )
    .at(Level::Fault),
    core(
        "end/35",
        "v5-abort-while-the-leader-is-halted",
        HALTED_V5,
        "KIP-890 part 2; KAFKA-18464, KAFKA-18660",
        "The same for an abort by EndTxn v5.",
        |s| over_halted(s, 5, Abort),
    )
    .at(Level::Fault),
    core(
        "parts/24",
        "transaction-survives-a-reload",
        RESTARTED,
        "KIP-98: the coordinator loads its log",
        "A transaction that is open when the broker is killed goes on after its restart, and commits.",
        |s| {
            s.ongoing(1)?;
            s.restart_broker(false)?;
            s.describe()?;
            s.verify(4, s.me())?;
            s.produce(11, s.me(), 1)?;
            s.add(3, s.me())?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    )
    .at(Level::Fault),
    core(
        "end/36",
        "v5-retry-after-a-reload",
        RESTARTED_V5,
        "KIP-890 part 2: the epoch alone tells a retry",
        "A commit whose answer was lost with the broker is NONE again after its restart.",
        |s| {
            s.ongoing(1)?;
            let before = s.me();
            s.end(5, before, Commit)?;
            s.settle()?;
            s.restart_broker(false)?;
            s.end(5, before, Commit)?;
            s.end(5, before, Abort)?;
            s.compare_all()
        },
    )
    .at(Level::Fault),
    core(
        "init/23",
        "reload-forgets-the-epoch-before",
        RESTARTED,
        "observed on Kafka 4.4.0; KAFKA-20357 is later",
        "The retry of InitProducerId with the epoch before is recognised, and fenced after a reload: \
         the record does not keep that epoch.",
        |s| {
            s.empty(1)?;
            let before = s.me();
            s.init_expecting(before)?;
            s.init_expecting(before)?;
            s.restart_broker(true)?;
            s.init_expecting(before)?;
            s.describe()
        },
    )
    .at(Level::Fault),
    core(
        "visible/11",
        "logs-read-the-same-after-a-kill",
        RESTARTED,
        "KIP-98: producer state and aborted index are rebuilt",
        "Committed, aborted and open records, the last stable offset and the aborted list are the \
         same after the broker was killed and started again.",
        |s| {
            s.complete(1, Commit, 4)?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 1)?;
            s.end(4, s.me(), Abort)?;
            s.settle()?;
            s.switch();
            s.ongoing(0)?;
            s.compare_all()?;
            s.partition = 0;
            s.restart_broker(false)?;
            s.compare_all()
        },
    )
    .at(Level::Fault),
    core(
        "seq/15",
        "the-last-batch-is-remembered-after-a-kill",
        RESTARTED,
        "KIP-98: producer state is rebuilt from the log",
        "The last batch sent again after the broker was killed is recognised, and the next one follows.",
        |s| {
            s.ongoing(1)?;
            s.produce(11, s.me(), 1)?;
            s.restart_broker(false)?;
            for sequence in [1, 3, 2] {
                s.produce(11, s.me(), sequence)?;
            }
            s.read()
        },
    )
    .at(Level::Fault),
];
