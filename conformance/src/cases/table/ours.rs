//! What takes our own broker: its clock is moved on, its disk fails, it starts again in the middle. They are asked by the
//! profile of mutants only, so they are in no list of what a foreign broker is asked.

use super::*;
use crate::cases::judge::Configuration;
use crate::cases::oracle::Elapsed;
use crate::cases::stage::{Abort, Commit, Damage, Refused};
use crate::loopback::{Order, Rights};
use crate::wire::{GroupMember, InitProducerId};
use fencepost::coordinator::Authorization;

const OURS: &[Need] = &[Need::Judge(Configuration::OneNode)];
const TIME: &str = "the defaults of transaction, producer, id and offset expiry";
const RELOAD: &str = "KIP-98: what is durable is all that there is";
const DISK: &str = "what is not written is not there";
/// `transactional.id.expiration.ms` and `offsets.retention.minutes`.
const WEEK_MS: u64 = 7 * 24 * 3600 * 1000;
const NOTHING: Rights = Rights {
    all: Authorization::Denied,
    two_phase: Authorization::Denied,
};
const NO_TWO_PHASE: Rights = Rights {
    all: Authorization::Allowed,
    two_phase: Authorization::Denied,
};
const LIMITS: &str = "Kafka's limits on what a request may hold";

const fn ours(
    id: &'static str,
    name: &'static str,
    source: &'static str,
    title: &'static str,
    body: fn(&mut Stage) -> Outcome,
) -> Case {
    core(id, name, OURS, source, title, body).at(Level::Fault)
}

/// Another epoch than the member's.
fn of_generation(member: &GroupMember, by: i32) -> GroupMember {
    GroupMember {
        generation_id: member.generation_id + by,
        ..member.clone()
    }
}

pub(in crate::cases) const CASES: &[Case] = &[
    ours(
        "time/01",
        "the-timer-aborts",
        TIME,
        "A transaction that is open for longer than its timeout is aborted, and not before.",
        |s| {
            s.ongoing(1)?;
            s.pass_half_a_minute()?;
            s.describe()?;
            s.pass(Elapsed::Minute)?;
            s.compare_all()?;
            s.partition = 0;
            s.end(4, s.me(), Commit)?;
            s.init()?;
            s.begin()
        },
    ),
    ours(
        "time/02",
        "idle-ids-expire-together",
        TIME,
        "Ids that were idle for a week are forgotten, for good.",
        |s| {
            s.empty(1)?;
            s.switch();
            s.complete(1, Commit, 4)?;
            s.pass(Elapsed::Day)?;
            s.describe()?;
            s.pass(Elapsed::Week)?;
            for _ in 0..2 {
                s.describe()?;
                s.switch();
                s.describe()?;
                s.restart_broker(false)?;
            }
            s.init()?;
            s.describe()
        },
    ),
    ours(
        "time/03",
        "two-phase-has-no-timeout",
        TIME,
        "A two-phase transaction is neither aborted nor forgotten.",
        |s| {
            s.init_two_phase(false)?;
            s.begin()?;
            s.pass(Elapsed::Minute)?;
            s.pass(Elapsed::Week)?;
            s.describe()?;
            s.restart_broker(false)?;
            s.pass(Elapsed::Week)?;
            s.describe()?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.read()
        },
    ),
    ours(
        "time/04",
        "idle-producers-are-forgotten",
        TIME,
        "A producer that was silent for a day may begin at any sequence; one with an open transaction may not.",
        |s| {
            s.complete(1, Commit, 4)?;
            s.pass(Elapsed::Day)?;
            s.describe_producers()?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 3)?;
            s.produce(11, s.me(), 3)?;
            s.produce(11, s.me(), 5)?;
            s.end(4, s.me(), Abort)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "time/05",
        "offsets-expire",
        TIME,
        "A group without members keeps its offsets for a week.",
        |s| {
            s.empty(1)?;
            s.commit_plainly(3)?;
            s.pass(Elapsed::Day)?;
            s.fetch_offset(true)?;
            s.pass(Elapsed::Week)?;
            s.fetch_offset(true)?;
            s.restart_broker(false)?;
            s.fetch_offset(false)
        },
    ),
    ours(
        "time/06",
        "a-silent-member-is-dropped",
        TIME,
        "A member that is silent for longer than its session is no member, and its group is empty.",
        |s| {
            let member = s.join_as(None)?;
            s.commit_as(&member, 4, "NONE")?;
            s.pass_half_a_minute()?;
            s.beat(&member, "UNKNOWN_MEMBER_ID")?;
            s.commit_as(&member, 5, "UNKNOWN_MEMBER_ID")?;
            s.commit_plainly(6)?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "load/01",
        "members-survive-a-restart",
        RELOAD,
        "A group's members, generation and offsets are there after a restart; other generations are refused.",
        |s| {
            let member = s.join_as(None)?;
            s.commit_as(&member, 4, "NONE")?;
            for gently in [false, true] {
                s.restart_for_members(gently)?;
                s.beat(&member, "NONE")?;
                s.beat(&of_generation(&member, 1), "ILLEGAL_GENERATION")?;
                s.commit_as(&of_generation(&member, -1), 9, "ILLEGAL_GENERATION")?;
                s.commit_as(&GroupMember::unknown(), 9, "UNKNOWN_MEMBER_ID")?;
                s.commit_as(&member, 5, "NONE")?;
                s.fetch_every_offset(true, "/0 NONE 5")?;
            }
            Ok(())
        },
    ),
    ours(
        "load/02",
        "static-members",
        "KIP-345: static membership",
        "A static member is known by its instance; whoever it was before is fenced, before and after a restart.",
        |s| {
            let first = s.join_as(Some("one"))?;
            s.commit_as(&first, 4, "NONE")?;
            let unknown = GroupMember {
                instance_id: Some("two".to_owned()),
                ..first.clone()
            };
            s.commit_as(&unknown, 9, "UNKNOWN_MEMBER_ID")?;
            let second = s.join_as(Some("one"))?;
            for gently in [false, true] {
                s.commit_as(&first, 9, "FENCED_INSTANCE_ID")?;
                s.beat(&second, "NONE")?;
                s.commit_as(&second, 5, "NONE")?;
                s.restart_for_members(gently)?;
            }
            s.fetch_offset(true)
        },
    ),
    ours(
        "load/03",
        "staged-offsets-survive-a-restart",
        RELOAD,
        "Offsets that are staged before a restart are committed after it.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 7)?;
            s.restart_broker(false)?;
            s.fetch_offset(true)?;
            s.fetch_offset(false)?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)?;
            s.restart_broker(true)?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "load/04",
        "aborted-transactions-survive-a-restart",
        RELOAD,
        "Aborted transactions are listed after restarts of both kinds, whatever comes between.",
        |s| {
            s.complete(1, Abort, 4)?;
            s.restart_broker(true)?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 1)?;
            s.switch();
            s.ongoing(0)?;
            s.restart_broker(true)?;
            s.end(4, s.me(), Abort)?;
            s.settle()?;
            s.compare_all()?;
            s.partition = 0;
            s.switch();
            s.restart_broker(false)?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
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
        "size/01",
        "fetch-up-to-a-limit",
        LIMITS,
        "As many whole batches as fit, and one at least.",
        |s| {
            s.ongoing(1)?;
            for sequence in 1..=4 {
                s.produce(11, s.me(), sequence)?;
            }
            for (from, batches, expected) in [
                (0, 1, 1),
                (0, 2, 2),
                (0, 9, 5),
                (3, 1, 1),
                (3, 2, 2),
                (5, 1, 0),
            ] {
                s.read_limited(from, batches, expected)?;
            }
            Ok(())
        },
    ),
    ours(
        "size/02",
        "damaged-batches",
        LIMITS,
        "A batch that does not fit together is refused and leaves no trace.",
        |s| {
            s.empty(1)?;
            s.add(3, s.me())?;
            for (damage, allowed) in [
                (Damage::Nothing, "INVALID_RECORD"),
                (Damage::Checksum, "CORRUPT_MESSAGE"),
                (Damage::Gap, "INVALID_RECORD"),
                (Damage::Count, "INVALID_RECORD"),
                (Damage::Overflow, "INVALID_RECORD"),
                (Damage::Control, "INVALID_RECORD"),
                (Damage::NoSequence, "INVALID_RECORD"),
                (Damage::NoProducer, "INVALID_RECORD"),
                (Damage::NoId, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
            ] {
                s.produce_damaged(damage, allowed)?;
            }
            s.compare_all()?;
            s.partition = 0;
            s.produce(11, s.me(), 0)
        },
    ),
    ours(
        "size/03",
        "every-offset-of-a-group",
        LIMITS,
        "A fetch that names no partition gives all that are committed, and where stable ones are asked for those that are \
         staged, too.",
        |s| {
            s.empty(1)?;
            s.fetch_every_offset(false, "")?;
            s.commit_plainly(3)?;
            s.fetch_every_offset(false, "/0 NONE 3")?;
            s.partition = 1;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 7)?;
            s.fetch_every_offset(false, "/0 NONE 3")?;
            s.fetch_every_offset(true, "/0 NONE 3; /1 UNSTABLE_OFFSET_COMMIT -1")
        },
    ),
    ours(
        "size/04",
        "words-beside-an-offset",
        LIMITS,
        "An offset may carry 4,096 bytes of metadata, and no more.",
        |s| {
            s.commit_beside(4096, 3, "NONE")?;
            s.commit_beside(4097, 4, "OFFSET_METADATA_TOO_LARGE")?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "size/05",
        "timeouts-that-may-be-asked-for",
        LIMITS,
        "A transaction timeout is above 0 and at most transaction.max.timeout.ms.",
        |s| {
            for (timeout_ms, allowed) in [
                (0, "INVALID_TRANSACTION_TIMEOUT"),
                (1, "NONE"),
                (900_000, "NONE"),
                (900_001, "INVALID_TRANSACTION_TIMEOUT"),
            ] {
                let request = InitProducerId {
                    timeout_ms,
                    ..InitProducerId::plain("timeouts")
                };
                s.init_refused(request, &[allowed], LIMITS)?;
            }
            Ok(())
        },
    ),
    ours(
        "size/06",
        "an-unknown-partition-spoils-the-request",
        LIMITS,
        "Where one partition is unknown none is added.",
        |s| {
            s.empty(1)?;
            s.add_with_unknown("0 OPERATION_NOT_ATTEMPTED; 7 UNKNOWN_TOPIC_OR_PARTITION")?;
            s.describe()
        },
    ),
    ours(
        "size/08",
        "the-longest-id",
        LIMITS,
        "An id may have 32,767 bytes, which is what the key of its record can hold.",
        |s| s.init_long(32_767, "NONE"),
    ),
    ours(
        "size/07",
        "producer-ids-come-in-blocks",
        LIMITS,
        "Each block is used up before the next, and without one there is no producer id.",
        |s| {
            s.take_producer_ids(65)?;
            s.operate(Order::HoldProducerIds)?;
            s.use_up_producer_ids("COORDINATOR_LOAD_IN_PROGRESS")?;
            s.operate(Order::LetGo)?;
            s.pass_ms(2_000)?;
            s.take_producer_ids(45)
        },
    ),
    ours(
        "time/07",
        "to-the-millisecond",
        TIME,
        "A transaction may be open for its timeout and is aborted after it; lists count strictly, too.",
        |s| {
            s.operate(Order::StopClock)?;
            s.ongoing(1)?;
            s.pass_ms(59_999)?;
            s.list(&[], true, 59_998, "NONE [Ongoing]")?;
            s.list(&[], true, 59_999, "NONE []")?;
            s.list(&[], true, -1, "NONE [Ongoing]")?;
            s.list(&[], false, -1, "NONE []")?;
            s.list(&["Empty"], true, -1, "NONE []")?;
            s.pass_ms(1)?;
            s.describe()?;
            s.pass_ms(1)?;
            s.after_the_time_out()?;
            s.describe()
        },
    ),
    ours(
        "time/08",
        "ids-to-the-millisecond",
        TIME,
        "An id is kept for a week and not longer.",
        |s| {
            s.operate(Order::StopClock)?;
            s.empty(1)?;
            s.pass_ms(WEEK_MS - 1)?;
            s.describe()?;
            s.pass_ms(1)?;
            s.answered(Refused::Describe, "TRANSACTIONAL_ID_NOT_FOUND")
        },
    ),
    ours(
        "time/09",
        "members-to-the-millisecond",
        TIME,
        "A heartbeat counts from when it comes; at the end of its session a member is dropped.",
        |s| {
            s.operate(Order::StopClock)?;
            let member = s.join_as(None)?;
            s.pass_ms(29_999)?;
            s.beat(&member, "NONE")?;
            s.pass_ms(29_999)?;
            s.commit_as(&member, 3, "NONE")?;
            s.pass_ms(29_999)?;
            s.beat(&member, "NONE")?;
            s.pass_ms(30_000)?;
            s.beat(&member, "UNKNOWN_MEMBER_ID")
        },
    ),
    ours(
        "time/10",
        "offsets-to-the-millisecond",
        TIME,
        "An offset is kept for a week after its commit, or after its group became empty.",
        |s| {
            s.operate(Order::StopClock)?;
            s.commit_plainly(3)?;
            s.pass_ms(WEEK_MS - 1)?;
            s.fetch_offset(true)?;
            s.pass_ms(1)?;
            s.fetch_every_offset(true, "")
        },
    ),
    ours(
        "time/11",
        "offsets-of-an-empty-group",
        TIME,
        "The week of an offset begins when its group becomes empty.",
        |s| {
            s.operate(Order::StopClock)?;
            let member = s.join_as(None)?;
            s.commit_as(&member, 3, "NONE")?;
            s.pass_ms(20_000)?;
            s.leave_as(&member, "NONE")?;
            s.pass_ms(WEEK_MS - 1)?;
            s.fetch_offset(true)?;
            s.pass_ms(1)?;
            s.fetch_every_offset(true, "")?;
            s.beat(&member, "UNKNOWN_MEMBER_ID")
        },
    ),
    ours(
        "group/01",
        "who-may-join",
        "the classic group protocol",
        "Sessions have a range, members share a protocol, and ids are given by the coordinator.",
        |s| {
            const RANGE: (&str, i32) = ("range", 30_000);
            s.ask_to_join("stranger", None, RANGE, "UNKNOWN_MEMBER_ID")?;
            s.ask_to_join("", None, ("range", 5_999), "INVALID_SESSION_TIMEOUT")?;
            s.ask_to_join("", None, ("range", 1_800_001), "INVALID_SESSION_TIMEOUT")?;
            let promised = s.ask_to_join("", None, RANGE, "MEMBER_ID_REQUIRED")?;
            let member = s.ask_to_join(&promised.member_id, None, RANGE, "NONE")?;
            s.commit_as(&member, 3, "REBALANCE_IN_PROGRESS")?;
            s.beat(&member, "NONE")?;
            s.sync(&of_generation(&member, 1), "ILLEGAL_GENERATION")?;
            s.sync(&member, "NONE")?;
            s.commit_as(&member, 3, "NONE")?;
            s.ask_to_join("stranger", None, RANGE, "UNKNOWN_MEMBER_ID")?;
            s.ask_to_join(
                "",
                Some("one"),
                ("other", 30_000),
                "INCONSISTENT_GROUP_PROTOCOL",
            )?;
            let again = s.ask_to_join(&member.member_id, None, ("other", 6_000), "NONE")?;
            s.beat(&member, "ILLEGAL_GENERATION")?;
            s.sync(&again, "NONE")?;
            s.beat(&again, "NONE")?;
            s.leave_as(&again, "NONE")?;
            s.beat(&again, "UNKNOWN_MEMBER_ID")?;
            s.leave_as(&again, "UNKNOWN_MEMBER_ID")?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "group/02",
        "a-silent-second-member",
        "the classic group protocol",
        "A rebalance waits for the members that there are; who says nothing is dropped in time.",
        |s| {
            s.operate(Order::StopClock)?;
            let member = s.join_as(None)?;
            s.begin_rebalance()?;
            s.beat(&member, "REBALANCE_IN_PROGRESS")?;
            s.commit_as(&member, 3, "NONE")?;
            let again = s.ask_to_join(&member.member_id, None, ("range", 30_000), "NONE")?;
            s.beat(&member, "ILLEGAL_GENERATION")?;
            s.sync(&again, "NONE")?;
            s.beat(&again, "NONE")?;
            s.pass_ms(20_000)?;
            s.beat(&again, "NONE")?;
            s.pass_ms(10_000)?;
            s.beat(&again, "REBALANCE_IN_PROGRESS")?;
            let alone = s.ask_to_join(&again.member_id, None, ("range", 30_000), "NONE")?;
            s.sync(&alone, "NONE")?;
            s.pass_ms(29_999)?;
            s.beat(&alone, "NONE")
        },
    ),
    ours(
        "group/03",
        "staging-in-a-group-that-has-offsets",
        "KIP-447: group metadata in TxnOffsetCommit",
        "A generation that the group does not have is refused whether it has members, offsets or nothing.",
        |s| {
            let named = GroupMember {
                generation_id: 3,
                member_id: "somebody".to_owned(),
                instance_id: None,
            };
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            s.commit_as(&named, 9, "ILLEGAL_GENERATION")?;
            s.stage_refused(3, named.clone(), &["ILLEGAL_GENERATION"], "KIP-447")?;
            s.commit_plainly(3)?;
            s.commit_as(&named, 9, "UNKNOWN_MEMBER_ID")?;
            s.stage_refused(3, named.clone(), &["UNKNOWN_MEMBER_ID"], "KIP-447")?;
            let member = s.join_as(None)?;
            s.stage_refused(3, named, &["UNKNOWN_MEMBER_ID"], "KIP-447")?;
            s.stage_refused(
                3,
                of_generation(&member, 1),
                &["ILLEGAL_GENERATION"],
                "KIP-447",
            )?;
            s.stage_offset(3, s.me(), 7)?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "lead/01",
        "notices-of-an-election",
        "KAFKA-9307, KAFKA-15468: a notice of the same epoch reloads nothing, one of an older epoch is late",
        "A coordinator goes on whatever it hears of its own or of an older epoch, and stops at a newer one.",
        |s| {
            s.ongoing(1)?;
            s.operate(Order::ElectAgain)?;
            s.describe()?;
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
];
