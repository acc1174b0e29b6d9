//! Groups of several members: who waits for whom, for how long, and who leads.

use super::{Case, ours};
use crate::cases::stage::{Outcome, Restarted, Seat, Stage};
use crate::loopback::Order;
use crate::wire::Terms;

const CLASSIC: &str = "GroupMetadataManager: the classic group protocol";

/// A session of 10 seconds, a minute to join again.
pub(super) const PLAIN: Terms = Terms {
    instance_id: None,
    session_ms: 10_000,
    rebalance_ms: 60_000,
    protocols: &["range"],
};
/// The same with half a minute of silence.
const PATIENT: Terms = Terms {
    session_ms: 30_000,
    ..PLAIN
};
/// Both protocols, the other one first.
const OTHER: Terms = Terms {
    protocols: &["sticky", "range"],
    ..PLAIN
};
/// None at all.
const NOTHING: Terms = Terms {
    protocols: &[],
    ..PLAIN
};
/// Only the other one.
const STICKY: Terms = Terms {
    protocols: &["sticky"],
    ..PLAIN
};
/// A static member.
pub(super) const STATIC: Terms = Terms {
    instance_id: Some("one"),
    ..PLAIN
};

/// Somebody is the only member of the first generation.
pub(super) fn alone(s: &mut Stage, terms: Terms) -> Result<Seat, crate::cases::stage::Stop> {
    let mut a = s.seat("a", terms);
    if a.member.instance_id.is_none() {
        s.ask_for_id(&mut a)?;
    }
    s.send_join(&mut a)?;
    let as_one = if a.member.instance_id.is_some() {
        " as one"
    } else {
        ""
    };
    s.joined(
        &mut a,
        &format!("generation 1 by range, a leads [a{as_one} (a range)]"),
    )?;
    s.send_sync_of_leader(&mut a, "all", &[])?;
    s.synced(&mut a, "assigned \"all\"")?;
    Ok(a)
}

/// A second member joins, the first one comes again: both are members of the second generation, which is not assigned.
fn joined_by(s: &mut Stage, a: &mut Seat, terms: Terms) -> Result<Seat, crate::cases::stage::Stop> {
    let mut b = s.seat("b", terms);
    s.ask_for_id(&mut b)?;
    s.send_join(&mut b)?;
    s.waiting(1)?;
    s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
    s.send_join(a)?;
    let as_one = if a.member.instance_id.is_some() {
        " as one"
    } else {
        ""
    };
    s.joined(
        a,
        &format!("generation 2 by range, a leads [a{as_one} (a range), b (b range)]"),
    )?;
    s.joined(&mut b, "generation 2 by range, a leads []")?;
    Ok(b)
}

/// The leader assigns to both.
pub(super) fn assigned(s: &mut Stage, a: &mut Seat, b: &mut Seat) -> Outcome {
    s.send_sync(b, &[])?;
    s.waiting(1)?;
    s.send_sync_of_leader(a, "left", &[(b, "right")])?;
    s.synced(a, "assigned \"left\"")?;
    s.synced(b, "assigned \"right\"")
}

/// Both are members of a stable group.
fn pair(
    s: &mut Stage,
    first: Terms,
    second: Terms,
) -> Result<(Seat, Seat), crate::cases::stage::Stop> {
    let mut a = alone(s, first)?;
    let mut b = joined_by(s, &mut a, second)?;
    assigned(s, &mut a, &mut b)?;
    Ok((a, b))
}

pub(super) const CASES: &[Case] = &[
    ours(
        "party/01",
        "two-members",
        CLASSIC,
        "A second member begins a rebalance; who comes again with nothing new is told the same again.",
        |s| {
            let mut a = alone(s, PLAIN)?;
            let mut b = joined_by(s, &mut a, PLAIN)?;
            // The generation is not assigned yet.
            s.beat(&a.member, "NONE")?;
            s.commit_as(&a.member, 3, "REBALANCE_IN_PROGRESS")?;
            s.join_at_once(&mut b, "generation 2 by range, a leads []")?;
            s.join_at_once(
                &mut a,
                "generation 2 by range, a leads [a (a range), b (b range)]",
            )?;
            assigned(s, &mut a, &mut b)?;
            s.commit_as(&b.member, 3, "NONE")?;
            // A follower is told again, a leader wants to assign again.
            s.join_at_once(&mut b, "generation 2 by range, a leads []")?;
            s.send_sync(&mut b, &[])?;
            s.synced(&mut b, "assigned \"right\"")?;
            s.send_join(&mut a)?;
            s.waiting(1)?;
            s.beat(&b.member, "REBALANCE_IN_PROGRESS")?;
            s.commit_as(&b.member, 4, "NONE")?;
            s.send_join(&mut b)?;
            s.joined(
                &mut a,
                "generation 3 by range, a leads [a (a range), b (b range)]",
            )?;
            s.joined(&mut b, "generation 3 by range, a leads []")?;
            s.beat(&super::of_generation(&b.member, -1), "ILLEGAL_GENERATION")?;
            assigned(s, &mut a, &mut b)?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "party/02",
        "the-leader-leaves",
        CLASSIC,
        "Whoever is left leads; who waits while another one leaves is answered.",
        |s| {
            let (a, mut b) = pair(s, PLAIN, PLAIN)?;
            s.leave_as(&a.member, "NONE")?;
            s.beat(&b.member, "REBALANCE_IN_PROGRESS")?;
            s.join_at_once(&mut b, "generation 3 by range, b leads [b (b range)]")?;
            s.send_sync_of_leader(&mut b, "all", &[])?;
            s.synced(&mut b, "assigned \"all\"")?;
            s.beat(&a.member, "UNKNOWN_MEMBER_ID")?;
            // A third one waits for the second, which leaves.
            let mut c = s.seat("c", PLAIN);
            s.ask_for_id(&mut c)?;
            s.send_join(&mut c)?;
            s.waiting(1)?;
            s.leave_as(&b.member, "NONE")?;
            s.joined(&mut c, "generation 4 by range, c leads [c (c range)]")?;
            s.leave_as(&c.member, "NONE")?;
            s.beat(&c.member, "UNKNOWN_MEMBER_ID")
        },
    ),
    ours(
        "party/03",
        "a-member-is-lost-on-the-way",
        CLASSIC,
        "Who waits for an assignment is sent to join again when another member goes or comes.",
        |s| {
            let mut a = alone(s, PLAIN)?;
            let mut b = joined_by(s, &mut a, PLAIN)?;
            s.send_sync(&mut b, &[])?;
            s.waiting(1)?;
            s.leave_as(&a.member, "NONE")?;
            s.synced(&mut b, "REBALANCE_IN_PROGRESS")?;
            s.join_at_once(&mut b, "generation 3 by range, b leads [b (b range)]")?;
            s.send_sync_of_leader(&mut b, "all", &[])?;
            s.synced(&mut b, "assigned \"all\"")?;
            s.leave_as(&b.member, "NONE")
        },
    ),
    ours(
        "party/04",
        "an-id-that-nobody-uses",
        "KIP-394: an id that was given out is waited for during a session",
        "A rebalance waits for whoever was given an id, to the millisecond.",
        |s| {
            s.operate(Order::StopClock)?;
            let mut a = alone(s, PATIENT)?;
            let mut c = s.seat("c", PLAIN);
            s.ask_for_id(&mut c)?;
            s.send_join(&mut a)?;
            s.waiting(1)?;
            s.pass_ms(9_999)?;
            s.still_waiting(1)?;
            s.pass_ms(1)?;
            s.joined(&mut a, "generation 2 by range, a leads [a (a range)]")?;
            s.join_at_once(&mut c, "UNKNOWN_MEMBER_ID")?;
            // One that leaves is not waited for either.
            s.ask_for_id_again(&mut c)?;
            s.send_join(&mut a)?;
            s.joined(&mut a, "generation 2 by range, a leads [a (a range)]")?;
            s.send_sync_of_leader(&mut a, "all", &[])?;
            s.synced(&mut a, "assigned \"all\"")?;
            s.send_join(&mut a)?;
            s.waiting(1)?;
            s.leave_as(&c.member, "NONE")?;
            s.joined(&mut a, "generation 3 by range, a leads [a (a range)]")?;
            s.leave_as(&a.member, "NONE")
        },
    ),
    ours(
        "party/05",
        "sessions-and-rebalances",
        CLASSIC,
        "Who waits in JoinGroup is not dropped for its silence; who does not come again is dropped when the time is over.",
        |s| {
            s.operate(Order::StopClock)?;
            let a = alone(s, PATIENT)?;
            let mut b = s.seat("b", PLAIN);
            s.ask_for_id(&mut b)?;
            s.send_join(&mut b)?;
            s.waiting(1)?;
            for ms in [20_000, 20_000, 19_999] {
                s.pass_ms(ms)?;
                s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
                s.still_waiting(1)?;
            }
            s.pass_ms(1)?;
            s.joined(&mut b, "generation 2 by range, b leads [b (b range)]")?;
            s.beat(&a.member, "UNKNOWN_MEMBER_ID")?;
            s.send_sync_of_leader(&mut b, "all", &[])?;
            s.synced(&mut b, "assigned \"all\"")?;
            s.pass_ms(9_999)?;
            s.beat(&b.member, "NONE")?;
            s.pass_ms(10_000)?;
            s.beat(&b.member, "UNKNOWN_MEMBER_ID")
        },
    ),
    ours(
        "party/06",
        "a-leader-that-does-not-assign",
        "KAFKA-13435: members that do not sync are dropped after the rebalance timeout",
        "Who waits for an assignment is not dropped; a leader that does not assign is, when the time is over.",
        |s| {
            s.operate(Order::StopClock)?;
            let mut a = alone(s, PATIENT)?;
            let mut b = joined_by(s, &mut a, PLAIN)?;
            s.send_sync(&mut b, &[])?;
            s.waiting(1)?;
            for ms in [20_000, 20_000, 19_999] {
                s.pass_ms(ms)?;
                s.beat(&a.member, "NONE")?;
                s.still_waiting(1)?;
            }
            s.pass_ms(1)?;
            s.synced(&mut b, "REBALANCE_IN_PROGRESS")?;
            s.beat(&a.member, "UNKNOWN_MEMBER_ID")?;
            s.join_at_once(&mut b, "generation 3 by range, b leads [b (b range)]")?;
            s.leave_as(&b.member, "NONE")
        },
    ),
    ours(
        "party/07",
        "a-silent-follower",
        CLASSIC,
        "A member that is silent at the end of its session begins a rebalance of the others.",
        |s| {
            s.operate(Order::StopClock)?;
            let (mut a, b) = pair(s, PATIENT, PLAIN)?;
            s.pass_ms(9_999)?;
            s.beat(&a.member, "NONE")?;
            s.pass_ms(1)?;
            s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
            s.beat(&b.member, "UNKNOWN_MEMBER_ID")?;
            s.join_at_once(&mut a, "generation 3 by range, a leads [a (a range)]")?;
            // A generation that nobody syncs with ends like its members.
            s.pass_ms(30_000)?;
            s.beat(&a.member, "UNKNOWN_MEMBER_ID")
        },
    ),
    ours(
        "party/08",
        "a-static-leader-restarts",
        "KIP-345, KIP-814: before version 9 a leader that has restarted is not told that it leads",
        "A static member that restarts in a stable group keeps generation and assignment, and leads where it led.",
        |s| {
            let (old, mut b) = pair(s, STATIC, PLAIN)?;
            let mut a = s.seat("a", STATIC);
            s.send_join(&mut a)?;
            s.joined_after(&mut a, &old, "generation 2 by range, a leads []")?;
            s.beat(&old.member, "FENCED_INSTANCE_ID")?;
            s.send_sync(&mut a, &[])?;
            s.synced(&mut a, "assigned \"left\"")?;
            s.beat(&b.member, "NONE")?;
            for how in Restarted::ALL {
                s.restart_for_members(how)?;
                s.beat(&old.member, "FENCED_INSTANCE_ID")?;
                s.join_at_once(&mut b, "generation 2 by range, a leads []")?;
                s.send_sync(&mut b, &[])?;
                s.synced(&mut b, "assigned \"right\"")?;
                s.send_sync(&mut a, &[])?;
                s.synced(&mut a, "assigned \"left\"")?;
            }
            s.send_join(&mut a)?;
            s.waiting(1)?;
            s.beat(&b.member, "REBALANCE_IN_PROGRESS")?;
            s.send_join(&mut b)?;
            s.joined(
                &mut a,
                "generation 3 by range, a leads [a as one (a range), b (b range)]",
            )?;
            s.joined(&mut b, "generation 3 by range, a leads []")?;
            assigned(s, &mut a, &mut b)
        },
    ),
    ours(
        "party/09",
        "a-static-follower-restarts",
        "KIP-345: static membership",
        "A static member that restarts while others wait, or with other protocols, takes part in the rebalance.",
        |s| {
            let mut a = alone(s, PLAIN)?;
            let mut old = s.seat("b", STATIC);
            s.send_join(&mut old)?;
            s.waiting(1)?;
            let mut b = s.seat("b", STATIC);
            s.send_join(&mut b)?;
            s.joined(&mut old, "FENCED_INSTANCE_ID")?;
            s.waiting(1)?;
            s.send_join(&mut a)?;
            s.joined(&mut b, "generation 2 by range, a leads []")?;
            s.joined(
                &mut a,
                "generation 2 by range, a leads [a (a range), b as one (b range)]",
            )?;
            assigned(s, &mut a, &mut b)?;
            // The same protocol would be chosen: nothing changes.
            let mut again = s.seat(
                "b",
                Terms {
                    protocols: OTHER.protocols,
                    ..STATIC
                },
            );
            s.join_at_once(&mut again, "generation 2 by range, a leads []")?;
            s.beat(&a.member, "NONE")?;
            s.beat(&b.member, "FENCED_INSTANCE_ID")?;
            s.leave_as(&again.member, "NONE")?;
            s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
            s.join_at_once(&mut a, "generation 3 by range, a leads [a (a range)]")?;
            s.leave_as(&a.member, "NONE")
        },
    ),
    ours(
        "party/10",
        "the-protocol-that-most-like",
        CLASSIC,
        "Of the protocols that all members know the one is chosen that most of them like best.",
        |s| {
            let mut nobody = s.seat("nobody", NOTHING);
            s.join_at_once(&mut nobody, "INCONSISTENT_GROUP_PROTOCOL")?;
            let mut a = alone(s, PLAIN)?;
            a.change(OTHER);
            s.join_at_once(&mut a, "generation 2 by sticky, a leads [a (a sticky)]")?;
            s.send_sync_of_leader(&mut a, "all", &[])?;
            s.synced(&mut a, "assigned \"all\"")?;
            let mut b = s.seat("b", PLAIN);
            s.ask_for_id(&mut b)?;
            s.send_join(&mut b)?;
            s.waiting(1)?;
            s.send_join(&mut a)?;
            s.joined(
                &mut a,
                "generation 3 by range, a leads [a (a range), b (b range)]",
            )?;
            s.joined(&mut b, "generation 3 by range, a leads []")?;
            assigned(s, &mut a, &mut b)?;
            // A third one knows none of what both know.
            let mut c = s.seat("c", STICKY);
            s.join_at_once(&mut c, "INCONSISTENT_GROUP_PROTOCOL")?;
            c.change(NOTHING);
            s.join_at_once(&mut c, "INCONSISTENT_GROUP_PROTOCOL")?;
            // Nor do members of both leave it behind.
            a.change(STICKY);
            s.join_at_once(&mut a, "INCONSISTENT_GROUP_PROTOCOL")?;
            s.beat(&a.member, "NONE")
        },
    ),
    ours(
        "party/11",
        "a-group-that-is-read-back",
        "KIP-98: what is durable is all that there is",
        "After a restart of any kind members, leader, protocol and assignments are those of before.",
        |s| {
            let (mut a, mut b) = pair(s, PLAIN, PATIENT)?;
            for how in Restarted::ALL {
                s.operate(Order::StopClock)?;
                s.restart_for_members(how)?;
                s.join_at_once(&mut b, "generation 2 by range, a leads []")?;
                s.send_sync(&mut b, &[])?;
                s.synced(&mut b, "assigned \"right\"")?;
                s.send_sync(&mut a, &[])?;
                s.synced(&mut a, "assigned \"left\"")?;
                s.pass_ms(9_999)?;
                s.beat(&a.member, "NONE")?;
            }
            // Sessions count from the restart.
            s.restart_for_members(Restarted::Killed)?;
            s.pass_ms(10_000)?;
            s.beat(&a.member, "UNKNOWN_MEMBER_ID")?;
            s.join_at_once(&mut b, "generation 3 by range, b leads [b (b range)]")?;
            s.leave_as(&b.member, "NONE")
        },
    ),
    ours(
        "party/12",
        "a-generation-that-is-not-written",
        "GroupMetadataManager: a SyncGroup whose record fails resets the assignment and begins a rebalance",
        "Where the group's record is not written the assignment never was, and the members join again.",
        |s| {
            let mut a = alone(s, PLAIN)?;
            let mut b = joined_by(s, &mut a, PLAIN)?;
            s.send_sync(&mut b, &[])?;
            s.waiting(1)?;
            s.operate(Order::FailWrite)?;
            s.send_sync_of_leader(&mut a, "left", &[(&b, "right")])?;
            s.synced(&mut a, "NOT_COORDINATOR")?;
            s.synced(&mut b, "NOT_COORDINATOR")?;
            s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
            s.send_join(&mut a)?;
            s.waiting(1)?;
            s.send_join(&mut b)?;
            s.joined(
                &mut a,
                "generation 3 by range, a leads [a (a range), b (b range)]",
            )?;
            s.joined(&mut b, "generation 3 by range, a leads []")?;
            assigned(s, &mut a, &mut b)?;
            s.commit_as(&b.member, 5, "NONE")?;
            s.fetch_offset(true)
        },
    ),
];
