//! Bugs that group coordinators have had. Each test names the bug and shows the right behaviour.

use super::*;
use crate::error_code::ErrorCode::{
    IllegalGeneration, InvalidProducerEpoch, InvalidTxnState, TransactionAbortable,
    UnstableOffsetCommit,
};
use crate::types::TransactionResult::{Abort, Commit};

const WEEK: i64 = 7 * 24 * 60 * 60 * 1000;

#[test]
fn b23_a_marker_has_taken_effect_before_it_is_answered() {
    // The next transaction of the same producer stages before the answer is out.
    let mut host = Host::new();
    host.stage(1, 0, &[(0, 10)]);
    let request = host.request();
    let effects = host.step(Input::WriteTxnMarker(WriteTxnMarker {
        request,
        producer_id: ProducerId::new(1),
        producer_epoch: ProducerEpoch::new(0),
        result: Commit,
        coordinator_epoch: CoordinatorEpoch::new(0),
        transaction_version: TransactionVersion::V0,
    }));
    assert_eq!(answers(&effects), []);
    assert_eq!(host.committed(), [(0, 10)]);
    host.stage(1, 0, &[(0, 20)]);
    assert_eq!(host.committed(), [(0, 10)]);
    host.mark(1, 0, Abort).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(10)));
}

#[test]
fn b24_an_answer_from_before_the_marker_stages_nothing() {
    let mut host = Host::new();
    let (request, _) = host.send_staged(1, 0, MemberIdentity::anonymous(), &[(0, 10)]);
    host.mark(1, 0, Abort).unwrap();
    assert_eq!(
        first_line(&host.answer(request, Ok(()))),
        Err(InvalidTxnState)
    );
    assert_eq!(host.fetch(0, true), Ok(None));
}

#[test]
fn b24_a_commit_outside_any_transaction_stages_nothing() {
    let mut host = Host::new();
    let (request, _) = host.send_staged(1, 0, MemberIdentity::anonymous(), &[(0, 10)]);
    let answer = host.answer(request, Err(TransactionAbortable));
    assert_eq!(first_line(&answer), Err(TransactionAbortable));
    assert_eq!(host.fetch(0, true), Ok(None));
}

#[test]
fn b24_a_zombies_epoch_stages_nothing() {
    let mut host = Host::new();
    host.mark(1, 5, Abort).unwrap();
    let late = host.stage_as(1, 4, MemberIdentity::anonymous(), &[(0, 10)]);
    assert_eq!(late, Err(InvalidProducerEpoch));
}

#[test]
fn b24_members_are_checked_when_the_offsets_are_staged() {
    // Valid when it was sent, and overtaken by a rebalance while the coordinator was asked.
    let mut host = Host::stable();
    let (request, _) = host.send_staged(1, 0, member(Some(1), "a", None), &[(0, 10)]);
    host.join("", "b");
    host.join("a", "-");
    assert_eq!(
        first_line(&host.answer(request, Ok(()))),
        Err(IllegalGeneration)
    );
}

#[test]
fn b25_a_stable_fetch_does_not_pass_an_undecided_offset() {
    let mut host = Host::new();
    host.stage(1, 0, &[(0, 10)]);
    assert_eq!(host.fetch(0, true), Err(UnstableOffsetCommit));
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(10)));
}

#[test]
fn b26_a_member_that_lost_its_partitions_moves_no_offset() {
    let mut host = Host::stable();
    host.join("", "b");
    host.now = 60_000;
    host.step(Input::Tick);
    host.sync("b", 2, &[("b", "0")]);
    let zombie = host.stage_as(1, 0, member(Some(1), "a", None), &[(0, 10)]);
    assert!(zombie.is_err());
    assert_eq!(
        host.stage_as(2, 0, member(Some(2), "b", None), &[(0, 10)]),
        Ok(())
    );
}

#[test]
fn b28_a_marker_counts_in_every_phase() {
    type Bring = fn(&mut Host);
    let phases: [(GroupPhase, Bring); 4] = [
        (GroupPhase::Stable, |_| {}),
        (GroupPhase::PreparingRebalance, |host| {
            drop(host.join("", "b"))
        }),
        (GroupPhase::CompletingRebalance, |host| {
            host.join("", "b");
            host.join("a", "-");
        }),
        (GroupPhase::Empty, |host| drop(host.leave("a"))),
    ];
    for (phase, bring) in phases {
        let mut host = Host::stable();
        host.stage_as(1, 0, member(Some(1), "a", None), &[(0, 10)])
            .unwrap();
        bring(&mut host);
        assert_eq!(host.phase(), phase);
        host.mark(1, 0, Commit).unwrap();
        assert_eq!(host.committed(), [(0, 10)], "{phase:?}");
        assert_eq!(host.group.offsets().staged().count(), 0);
    }
}

#[test]
fn b55_the_last_staged_offset_counts_and_nothing_leaks_into_the_next_transaction() {
    let mut host = Host::new();
    host.stage(1, 0, &[(0, 10), (1, 10)]);
    host.stage(1, 0, &[(0, 11)]);
    host.mark(1, 0, Abort).unwrap();
    host.stage(1, 0, &[(0, 12)]);
    host.stage(1, 0, &[(0, 13)]);
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.committed(), [(0, 13)]);
}

#[test]
fn b68_a_staged_offset_keeps_its_key_and_its_group() {
    let mut host = Host::new();
    host.commit(&[(0, 1), (1, 1)]);
    host.stage(1, 0, &[(0, 10)]);
    host.now = WEEK;
    host.step(Input::Tick);
    assert_eq!(host.committed(), [(0, 1)]);
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.committed(), [(0, 10)]);
}

#[test]
fn b68_old_offsets_go_and_their_group_with_the_last_one() {
    let mut host = Host::stable();
    host.commit_as(member(Some(1), "a", None), &[(0, 1)])
        .unwrap();
    host.now = WEEK;
    host.beat("a", 1).unwrap();
    host.step(Input::Tick);
    assert_eq!(host.committed(), [(0, 1)], "there is a member");
    host.leave("a");
    host.now = 2 * WEEK - 1;
    host.step(Input::Tick);
    assert_eq!(
        host.committed(),
        [(0, 1)],
        "the group is not empty for long enough"
    );
    host.stage(1, 0, &[(1, 10)]);
    host.now = 2 * WEEK;
    host.step(Input::Tick);
    assert_eq!(host.committed(), []);
    assert_eq!(host.group.groups().count(), 1, "an offset is staged");
    host.mark(1, 0, Abort).unwrap();
    host.step(Input::Tick);
    assert_eq!(host.group.groups().count(), 0);
    let leader_epoch = LeaderEpoch::new(3);
    host.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    host.step(Input::BecomeLeader { leader_epoch });
    host.step(Input::Load { leader_epoch });
    assert_eq!((host.group.groups().count(), host.committed()), (0, vec![]));
}

#[test]
fn b70_news_of_a_leadership_that_is_known_changes_nothing() {
    let mut host = Host::stable();
    let before = host.group.clone();
    let leader_epoch = LeaderEpoch::new(1);
    assert_eq!(host.step(Input::BecomeLeader { leader_epoch }), []);
    assert_eq!(host.step(Input::Load { leader_epoch }), []);
    assert_eq!(host.step(Input::BecomeFollower { leader_epoch }), []);
    assert_eq!(host.group, before);
}

#[test]
fn b57_a_replica_that_led_all_along_does_not_read_its_log_again() {
    let mut host = Host::stable();
    host.join("", "b");
    let leader_epoch = LeaderEpoch::new(2);
    host.step(Input::BecomeLeader { leader_epoch });
    assert_eq!(host.group.status(), Status::Serving);
    assert_eq!(
        host.join("a", "-").len(),
        2,
        "the waiting member is still waiting"
    );
}

#[test]
fn a_failed_append_stages_and_commits_nothing() {
    let mut host = Host::new();
    host.commit(&[(0, 1)]);
    let before = host.group.clone();
    let (request, _) = host.send_staged(1, 0, MemberIdentity::anonymous(), &[(0, 10)]);
    host.answer(request, Ok(()));
    let from = before.partition().log().end_offset();
    let effects = host.step(Input::AppendFailed { from });
    assert_eq!(first_line(&effects), Err(ErrorCode::NotCoordinator));
    assert_eq!(host.group.offsets(), before.offsets());
    assert_eq!(host.group.partition().log(), before.partition().log());
}
