//! Groups that go on without somebody: who was only given an id, a static member that is away, who has yet to join again.

use super::party::{PLAIN, STATIC, alone, assigned};
use super::{Case, ours};
use crate::cases::stage::Commit;
use crate::wire::Terms;

pub(super) const CASES: &[Case] = &[
    ours(
        "party/13",
        "an-id-that-nobody-has-joined-with",
        "GroupMetadataManager: an initial rebalance waits for no pending member, which stays pending; KIP-394",
        "A new group begins without those who were only given an id; the id is good afterwards, and who led goes on leading.",
        |s| {
            let (mut a, mut b) = (s.seat("a", PLAIN), s.seat("b", PLAIN));
            s.ask_for_id(&mut a)?;
            s.ask_for_id(&mut b)?;
            s.send_join(&mut b)?;
            s.joined(&mut b, "generation 1 by range, b leads [b (b range)]")?;
            s.send_join(&mut a)?;
            s.waiting(1)?;
            s.send_join(&mut b)?;
            s.joined(
                &mut b,
                "generation 2 by range, b leads [a (a range), b (b range)]",
            )?;
            s.joined(&mut a, "generation 2 by range, b leads []")?;
            assigned(s, &mut b, &mut a)?;
            // The leader leaves: of those who stay one leads.
            s.leave_as(&b.member, "NONE")?;
            s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
            s.join_at_once(&mut a, "generation 3 by range, a leads [a (a range)]")?;
            s.leave_as(&a.member, "NONE")
        },
    ),
    ours(
        "party/14",
        "a-static-member-that-is-away",
        "GroupMetadataManager.completeClassicGroupJoin: only dynamic members that have not joined are removed; KIP-345",
        "A static member that does not come back in time is a member of the next generation, until its session ends.",
        |s| {
            const SHORT_MS: i32 = 300;
            let away = alone(
                s,
                Terms {
                    session_ms: 30_000,
                    rebalance_ms: SHORT_MS,
                    ..STATIC
                },
            )?;
            let mut b = s.seat(
                "b",
                Terms {
                    rebalance_ms: SHORT_MS,
                    ..PLAIN
                },
            );
            s.ask_for_id(&mut b)?;
            s.send_join(&mut b)?;
            s.waiting(1)?;
            s.let_pass_ms(SHORT_MS as u64)?;
            s.joined(
                &mut b,
                "generation 2 by range, b leads [a as one (a range), b (b range)]",
            )?;
            s.send_sync_of_leader(&mut b, "left", &[])?;
            s.synced(&mut b, "assigned \"left\"")?;
            s.beat(&away.member, "ILLEGAL_GENERATION")?;
            s.leave_as(&b.member, "NONE")
        },
    ),
    ours(
        "party/15",
        "a-marker-in-a-rebalance",
        "OffsetMetadataManager.replayEndTransactionMarker asks nothing of the group's state",
        "Offsets of a transaction that ends while the group rebalances are committed.",
        |s| {
            s.empty(1)?;
            let mut a = alone(s, PLAIN)?;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 7)?;
            let mut b = s.seat("b", PLAIN);
            s.ask_for_id(&mut b)?;
            s.send_join(&mut b)?;
            s.waiting(1)?;
            s.beat(&a.member, "REBALANCE_IN_PROGRESS")?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)?;
            s.send_join(&mut a)?;
            s.joined(
                &mut a,
                "generation 2 by range, a leads [a (a range), b (b range)]",
            )?;
            s.joined(&mut b, "generation 2 by range, a leads []")?;
            s.leave_as(&a.member, "NONE")?;
            s.leave_as(&b.member, "NONE")
        },
    ),
];
