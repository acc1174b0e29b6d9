//! Time: what the broker does when its clock is moved on, to the millisecond.

use super::{Case, ours};
use crate::cases::oracle::Elapsed;
use crate::cases::stage::{Abort, Commit, Refused};
use crate::loopback::Order;

const TIME: &str = "the defaults of transaction, producer, id and offset expiry";
/// `transactional.id.expiration.ms` and `offsets.retention.minutes`.
const WEEK_MS: u64 = 7 * 24 * 3600 * 1000;

pub(super) const CASES: &[Case] = &[
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
            // What never began counts as begun at -1.
            let began = s.began()?;
            s.switch();
            s.empty(1)?;
            s.list(&["Empty"], true, began + 59_999, "NONE [Empty]")?;
            s.list(&["Empty"], true, began + 60_000, "NONE []")?;
            s.switch();
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
        "time/12",
        "an-empty-group-that-is-read-back",
        "KIP-211: offsets of a group that has become empty are kept for offsets.retention.minutes from then on",
        "When a group became empty survives a restart: its offsets are kept for a week from then, not from their commit.",
        |s| {
            const FIVE_DAYS_MS: u64 = 5 * 24 * 3600 * 1000;
            s.empty(1)?;
            s.join_as(None)?;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 4)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            // The group's only member is dropped for its silence.
            s.pass_ms(FIVE_DAYS_MS)?;
            s.restart_broker(false)?;
            s.pass_ms(FIVE_DAYS_MS)?;
            s.fetch_offset(true)?;
            s.pass(Elapsed::Week)?;
            s.fetch_offset(true)
        },
    ),
];
