//! Groups: members and generations beyond the one of the other cases.

use super::{Case, of_generation, ours};
use crate::cases::stage::Commit;
use crate::loopback::Order;
use crate::wire::GroupMember;

pub(super) const CASES: &[Case] = &[
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
                &member.member_id,
                None,
                ("other", 30_000),
                "INCONSISTENT_GROUP_PROTOCOL",
            )?;
            s.ask_to_join(
                "",
                Some("one"),
                ("other", 30_000),
                "INCONSISTENT_GROUP_PROTOCOL",
            )?;
            let again = s.ask_to_join(&member.member_id, None, ("range", 6_000), "NONE")?;
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
            // Nobody makes a group by naming a member of it.
            s.ask_to_join("somebody", None, ("range", 30_000), "UNKNOWN_MEMBER_ID")?;
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
];
