//! Disk: writes that fail.

use fencepost::error_code::ErrorCode;

use super::{Case, ours};
use crate::cases::oracle::Elapsed;
use crate::cases::stage::{Abort, Commit, Refused};
use crate::loopback::Order;

const DISK: &str = "what is not written is not there";

const LOG: &str = "TransactionStateManager: what a client is told when the log refuses";

/// What the log says, and what a client is told.
const REFUSALS: [(ErrorCode, &str); 9] = [
    (
        ErrorCode::UnknownTopicOrPartition,
        "COORDINATOR_NOT_AVAILABLE",
    ),
    (ErrorCode::NotEnoughReplicas, "COORDINATOR_NOT_AVAILABLE"),
    (
        ErrorCode::NotEnoughReplicasAfterAppend,
        "COORDINATOR_NOT_AVAILABLE",
    ),
    (ErrorCode::RequestTimedOut, "COORDINATOR_NOT_AVAILABLE"),
    (ErrorCode::NotLeaderOrFollower, "NOT_COORDINATOR"),
    (ErrorCode::KafkaStorageError, "NOT_COORDINATOR"),
    (ErrorCode::MessageTooLarge, "UNKNOWN_SERVER_ERROR"),
    (ErrorCode::RecordListTooLarge, "UNKNOWN_SERVER_ERROR"),
    (ErrorCode::CorruptMessage, "CORRUPT_MESSAGE"),
];

pub(super) const CASES: &[Case] = &[
    ours(
        "disk/01",
        "a-failed-batch",
        DISK,
        "A batch that the disk does not take is refused and leaves no trace; the same batch follows later.",
        |s| {
            s.ongoing(1)?;
            s.produce_to_a_failing_disk(1)?;
            s.compare_all()?;
            s.partition = 0;
            s.produce(11, s.me(), 1)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "disk/02",
        "a-failed-first-batch",
        DISK,
        "A transaction whose first batch fails is not open at the partition.",
        |s| {
            s.empty(1)?;
            s.add(3, s.me())?;
            s.produce_to_a_failing_disk(0)?;
            s.read()?;
            s.describe_producers()?;
            s.produce(11, s.me(), 0)?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "disk/03",
        "a-failed-offset",
        DISK,
        "An offset that the disk does not take is refused and not staged.",
        |s| {
            s.empty(1)?;
            s.commit_plainly(3)?;
            s.add_offsets(3, s.me())?;
            s.stage_on_a_failing_disk(3, "NOT_COORDINATOR")?;
            s.fetch_offset(true)?;
            s.stage_offset(3, s.me(), 7)?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "disk/04",
        "a-failed-write-brings-nobody-back",
        DISK,
        "A batch that the disk does not take leaves the others as they were: who was forgotten stays forgotten.",
        |s| {
            s.complete(1, Commit, 4)?;
            s.pass(Elapsed::Day)?;
            s.describe_producers()?;
            s.switch();
            s.ongoing(1)?;
            s.produce_to_a_failing_disk(1)?;
            s.describe_producers()?;
            s.produce(11, s.me(), 1)?;
            s.produce_to_a_failing_disk(2)?;
            s.produce(11, s.me(), 1)?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "disk/05",
        "a-failed-record",
        LOG,
        "What cannot be logged is refused in words that clients know, and leaves everything as it was.",
        |s| {
            s.empty(1)?;
            for (error, allowed) in REFUSALS {
                for api in [Refused::Init, Refused::Add, Refused::AddOffsets] {
                    s.operate(Order::FailLog(0, error))?;
                    s.answered(api, allowed)?;
                    s.describe()?;
                }
            }
            s.begin()?;
            for (error, allowed) in REFUSALS {
                s.operate(Order::FailLog(0, error))?;
                s.answered(Refused::End, allowed)?;
                s.describe()?;
            }
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "disk/06",
        "a-failed-fence",
        "KAFKA-9666: a fence that cannot be logged uses up no further epoch",
        "A new session whose abort cannot be logged comes again, and the next one raises the epoch again.",
        |s| {
            s.ongoing(1)?;
            for _ in 0..2 {
                for (error, allowed) in REFUSALS {
                    s.operate(Order::FailLog(0, error))?;
                    s.answered(Refused::Init, allowed)?;
                }
                s.init()?;
                s.describe()?;
                s.begin()?;
                // Nothing fails: the fence is as any other.
                s.init()?;
                s.describe()?;
                s.begin()?;
            }
            s.compare_all()
        },
    ),
    ours(
        "disk/07",
        "a-failed-abort-of-the-timer",
        "KAFKA-9666, KAFKA-19367: the timer comes again",
        "A transaction whose abort cannot be logged is aborted by the next sweep, and the next time-out raises the epoch.",
        |s| {
            s.ongoing(1)?;
            for _ in 0..2 {
                s.operate(Order::FailLog(0, ErrorCode::NotEnoughReplicas))?;
                s.pass_ms(60_001)?;
                s.await_time_out()?;
                s.compare_all()?;
                s.partition = 0;
                s.init()?;
                s.begin()?;
                s.pass(Elapsed::Minute)?;
                s.compare_all()?;
                s.partition = 0;
                s.init()?;
                s.begin()?;
            }
            Ok(())
        },
    ),
    ours(
        "disk/08",
        "a-failed-completion",
        "KAFKA-10080: the completion is tried again where that can help",
        "A decision whose completion cannot be logged is completed later, at the latest by the next coordinator.",
        |s| {
            s.ongoing(1)?;
            s.operate(Order::FailLog(1, ErrorCode::RequestTimedOut))?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.compare_all()?;
            s.partition = 0;
            s.init()?;
            s.begin()?;
            s.operate(Order::FailLog(1, ErrorCode::NotLeaderOrFollower))?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.operate(Order::Restart { gently: false })?;
            s.settle()?;
            // Its markers were sent again, which the model's are not.
            s.describe()?;
            s.describe_producers()
        },
    ),
];
