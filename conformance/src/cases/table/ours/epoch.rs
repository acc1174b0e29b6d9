//! Epochs: what is answered where they run out. The log says that an id is there, as if its sessions had come and gone.

use super::{Case, ours};
use crate::cases::stage::{Abort, Commit, Manner};

const LAST: i16 = i16::MAX - 1;
const END: &str = "KIP-98, KIP-360: producer ids rotate before their epochs run out";

pub(super) const CASES: &[Case] = &[
    ours(
        "epochs/01",
        "a-session-after-the-last",
        END,
        "After 32766 comes a fresh producer id at 0, for who names the epoch in use or none; any other one is in error.",
        |s| {
            for expected in [None, Some(LAST), Some(LAST - 1), Some(0)] {
                s.init()?;
                s.raise_epochs(LAST)?;
                let earlier = s.at(0);
                match expected {
                    None => drop(s.init()?),
                    Some(epoch) => drop(s.init_expecting(s.at(epoch))?),
                }
                s.describe()?;
                // Of the id before only the last epoch may come again, not one that is by chance that of the id in use.
                s.init_expecting(earlier)?;
                s.describe()?;
            }
            Ok(())
        },
    ),
    ours(
        "epochs/02",
        "the-last-session",
        END,
        "From 32765 to 32766 nothing is special, and the request may be repeated.",
        |s| {
            s.init()?;
            s.raise_epochs(LAST - 1)?;
            let before = s.me();
            s.init_expecting(before)?;
            s.init_expecting(before)?;
            s.describe()?;
            s.begin()?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            let last = s.me();
            s.init_expecting(last)?;
            s.init_expecting(last)?;
            s.compare_all()
        },
    ),
    ours(
        "epochs/03",
        "a-decision-at-the-end",
        "KAFKA-18660, KAFKA-20090: the answer names the fresh producer id",
        "EndTxn v5 at 32766 writes its markers at 32767 and answers a fresh producer id at 0; a retry is given the same.",
        |s| {
            if !s.takes_tv2() {
                return Ok(());
            }
            for (result, other) in [(Commit, Abort), (Abort, Commit)] {
                s.init()?;
                s.raise_epochs(LAST)?;
                s.begin()?;
                let before = s.me();
                s.end(5, before, result)?;
                s.settle()?;
                s.end(5, before, other)?;
                s.end(5, before, result)?;
                s.compare_all()?;
                s.partition = 0;
                s.restart_broker(false)?;
                s.end(5, before, result)?;
                s.begin()?;
                s.end(5, s.me(), Abort)?;
                s.settle()?;
                s.read()?;
            }
            Ok(())
        },
    ),
    ours(
        "epochs/04",
        "a-fence-at-the-end",
        "KAFKA-20090: a fence at the end rotates, or leaves 32767 to the coordinator",
        "A new session over a transaction that is open at 32766 aborts it and gives a fresh producer id.",
        |s| {
            s.init()?;
            s.raise_epochs(LAST)?;
            s.begin()?;
            s.init()?;
            s.settle()?;
            s.init()?;
            s.compare_all()?;
            s.partition = 0;
            s.begin()?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "epochs/05",
        "past-the-end",
        "KAFKA-20090: at 32767 a transaction can be aborted and not be committed",
        "A transaction that a fence has left at 32767 is ended at that epoch, by an abort alone.",
        |s| {
            for result in [Commit, Abort] {
                s.init()?;
                s.begin()?;
                s.raise_epochs(i16::MAX)?;
                s.end(s.end_version(), s.me(), result)?;
                s.settle()?;
                s.compare_all()?;
                s.partition = 0;
                s.init()?;
                s.settle()?;
                s.init()?;
                s.compare_all()?;
                s.partition = 0;
            }
            Ok(())
        },
    ),
    ours(
        "epochs/06",
        "the-timer-at-the-end",
        "KAFKA-20090: the coordinator's own abort at the last epoch",
        "A transaction that is open at 32766 for too long is aborted, and the next session has a fresh producer id.",
        |s| {
            s.init()?;
            s.raise_epochs(LAST)?;
            s.begin()?;
            // The first sweep after a restart may find no producer id at hand.
            s.pass_ms(60_001)?;
            s.await_time_out()?;
            s.init()?;
            s.compare_all()?;
            s.partition = 0;
            s.begin()?;
            s.compare_all()
        },
    ),
    ours(
        "epochs/07",
        "a-fence-forgets-the-epoch-before",
        "KIP-360: a session that was fenced is not the one that repeats its request",
        "Once a fence has raised the epoch a retry of the request before it is refused.",
        |s| {
            s.init()?;
            let first = s.me();
            s.init_expecting(first)?;
            s.begin()?;
            s.put(Manner::Once);
            s.init()?;
            s.put(Manner::Insisting);
            s.settle()?;
            s.describe()?;
            s.init_expecting(first)?;
            s.describe()
        },
    ),
];
