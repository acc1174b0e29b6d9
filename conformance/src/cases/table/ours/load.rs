//! Load: what a restart, gentle or not, reads back from the records.

use super::{Case, of_generation, ours};
use crate::cases::stage::{Abort, Commit, Restarted};
use crate::loopback::Order;
use crate::wire::GroupMember;

/// `offsets.retention.minutes`.
const WEEK_MS: u64 = 7 * 24 * 3600 * 1000;
const RELOAD: &str = "KIP-98: what is durable is all that there is";

pub(super) const CASES: &[Case] = &[
    ours(
        "load/01",
        "members-survive-a-restart",
        RELOAD,
        "A group's members, generation and offsets are there after a restart; other generations are refused.",
        |s| {
            let member = s.join_as(None)?;
            s.commit_as(&member, 4, "NONE")?;
            for how in Restarted::ALL {
                s.restart_for_members(how)?;
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
            for how in Restarted::ALL {
                s.commit_as(&first, 9, "FENCED_INSTANCE_ID")?;
                s.beat(&second, "NONE")?;
                s.commit_as(&second, 5, "NONE")?;
                s.restart_for_members(how)?;
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
        "load/05",
        "records-of-a-later-version",
        "TransactionStateManager: a key of an unknown version is left over from an upgrade, and passed over",
        "Records of a later version are passed over, and those around them are read.",
        |s| {
            s.ongoing(1)?;
            for _ in 0..2 {
                s.restart_beside_foreign_records()?;
                s.compare_all()?;
                s.partition = 0;
            }
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.restart_broker(false)?;
            s.compare_all()
        },
    ),
    ours(
        "load/06",
        "damaged-files",
        "ProducerStateManager, TransactionIndex: a corrupt file is thrown away",
        "No snapshot and no transaction index that is damaged is read as if it were whole.",
        |s| {
            s.complete(1, Abort, 4)?;
            s.init()?;
            s.begin()?;
            s.switch();
            s.complete(0, Abort, 4)?;
            s.switch();
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.init()?;
            s.begin()?;
            s.operate(Order::ReadDamaged)?;
            s.compare_all()
        },
    ),
    ours(
        "load/07",
        "a-group-that-is-gone",
        RELOAD,
        "A group that was read back and has nothing left is removed for good.",
        |s| {
            s.operate(Order::StopClock)?;
            let member = s.join_as(None)?;
            s.commit_as(&member, 3, "NONE")?;
            s.leave_as(&member, "NONE")?;
            s.restart_for_members(Restarted::Killed)?;
            s.commit_as(&member, 4, "UNKNOWN_MEMBER_ID")?;
            s.pass_ms(WEEK_MS)?;
            s.restart_for_members(Restarted::Killed)?;
            s.commit_as(&member, 4, "ILLEGAL_GENERATION")
        },
    ),
];
