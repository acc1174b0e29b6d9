//! Leading: elections that the broker hears of, and which partition of a log an id belongs to.

use super::{Case, ours};
use crate::cases::stage::{Abort, Commit, Refused};
use crate::loopback::Order;
use crate::wire::InitProducerId;

pub(super) const CASES: &[Case] = &[
    ours(
        "lead/01",
        "notices-of-an-election",
        "KAFKA-9307, KAFKA-15468: a notice of the same epoch reloads nothing, one of an older epoch is late",
        "A coordinator goes on whatever it hears of its own or of an older epoch, and stops at a newer one.",
        |s| {
            s.commit_plainly(3)?;
            s.ongoing(1)?;
            s.operate(Order::ElectAgain)?;
            s.describe()?;
            s.produce(11, s.me(), 1)?;
            s.fetch_offset(true)?;
            s.operate(Order::ResignLate)?;
            s.describe()?;
            s.operate(Order::Resign)?;
            for api in [
                Refused::Init,
                Refused::Add,
                Refused::AddOffsets,
                Refused::End,
                Refused::Describe,
            ] {
                s.answered(api, "NOT_COORDINATOR")?;
            }
            s.restart_broker(false)?;
            s.describe()?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "lead/02",
        "while-the-log-is-read",
        "KIP-98, KIP-890: who cannot answer says so",
        "A coordinator that is reading its log sends everybody away, and writers pass it on in words that they know.",
        |s| {
            s.empty(1)?;
            s.operate(Order::Unload)?;
            // What the leadership before has read is nothing to this one.
            s.operate(Order::LoadLate)?;
            for api in [
                Refused::Init,
                Refused::Add,
                Refused::AddOffsets,
                Refused::End,
                Refused::Describe,
            ] {
                s.answered(api, "COORDINATOR_LOAD_IN_PROGRESS")?;
            }
            s.answered(Refused::Stage(1), "COORDINATOR_NOT_AVAILABLE")?;
            s.answered(Refused::Stage(2), "COORDINATOR_LOAD_IN_PROGRESS")?;
            s.answered(Refused::Stage(4), "COORDINATOR_LOAD_IN_PROGRESS")?;
            s.answered(Refused::Produce, "NOT_ENOUGH_REPLICAS")?;
            s.operate(Order::LetGo)?;
            s.describe()?;
            s.compare_all()
        },
    ),
    ours(
        "lead/03",
        "half-of-the-log",
        "KIP-98: the hash of an id chooses the partition that owns it",
        "A broker that leads half of the log coordinates the ids of that half, and no others.",
        |s| {
            s.operate(Order::ResignOne(0))?;
            // The hash of the first is -2147483648, whose absolute value counts as 0; that of the second is 97.
            for (id, allowed) in [("polygenelubricants", "NOT_COORDINATOR"), ("a", "NONE")] {
                s.init_refused(
                    InitProducerId::plain(id),
                    &[allowed],
                    "Utils.abs(hashCode) % 2",
                )?;
            }
            s.restart_broker(false)
        },
    ),
    ours(
        "lead/04",
        "a-follower-takes-over",
        "Kafka's replication: a follower has what the leader has written",
        "A replica that has followed knows the producers, the open and the aborted transactions, and the offsets.",
        |s| {
            s.complete(1, Abort, 4)?;
            s.init()?;
            s.begin()?;
            s.produce(11, s.me(), 1)?;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 7)?;
            s.switch();
            s.ongoing(0)?;
            s.end(4, s.me(), Abort)?;
            s.settle()?;
            s.switch();
            for _ in 0..2 {
                s.fail_over()?;
                s.compare_all()?;
                s.partition = 0;
                s.produce(11, s.me(), 1)?;
                s.fetch_offset(true)?;
            }
            s.produce(11, s.me(), 2)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.fail_over()?;
            s.fetch_offset(true)?;
            s.compare_all()
        },
    ),
    ours(
        "lead/05",
        "an-unclean-election",
        "unclean.leader.election.enable",
        "What the new leader lacks never was: sequences go on where its log ends, a transaction whose marker is lost is open.",
        |s| {
            s.ongoing(1)?;
            s.produce(11, s.me(), 1)?;
            s.produce(11, s.me(), 2)?;
            s.operate(Order::Lose(2))?;
            s.look("[epoch 1 sequence 0 open 0] end 1 stable 0 aborted 0")?;
            s.produce_again(3, "OUT_OF_ORDER_SEQUENCE_NUMBER at -1")?;
            s.produce_again(1, "NONE at 1")?;
            s.look("[epoch 1 sequence 1 open 0] end 2 stable 0 aborted 0")?;
            s.end(4, s.me(), Abort)?;
            s.settle()?;
            s.look("[epoch 1 sequence 1 open -1] end 3 stable 3 aborted 1")?;
            s.operate(Order::Lose(1))?;
            s.look("[epoch 1 sequence 1 open 0] end 2 stable 0 aborted 0")?;
            s.operate(Order::Lose(1))?;
            s.look("[epoch 1 sequence 0 open 0] end 1 stable 0 aborted 0")
        },
    ),
];
