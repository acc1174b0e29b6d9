//! From one generation to the next.

use super::*;
use crate::error_code::ErrorCode::{
    FencedInstanceId, IllegalGeneration, InconsistentGroupProtocol, InvalidGroupId,
    InvalidSessionTimeout, MemberIdRequired, NotCoordinator, RebalanceInProgress, UnknownMemberId,
};

fn joined(answer: &Answer) -> (i32, String, String, usize) {
    match answer {
        Answer::JoinGroup(Ok(it)) => (
            it.generation.get(),
            it.member_id.as_str().to_owned(),
            it.leader.as_str().to_owned(),
            it.members.len(),
        ),
        other => panic!("{other:?}"),
    }
}

fn refused(answers: &[Answer]) -> ErrorCode {
    match answers {
        [Answer::JoinGroup(Err(it))] => it.code,
        other => panic!("{other:?}"),
    }
}

fn assignment(bytes: &'static str) -> Answer {
    Answer::SyncGroup(Ok(Bytes::from_static(bytes.as_bytes())))
}

/// `a` and `b` in generation 2, stable.
fn two() -> Host {
    let mut host = Host::stable();
    assert_eq!(host.join("", "b"), []);
    let both = host.join("a", "-");
    assert_eq!(both.len(), 2);
    assert_eq!(joined(&both[0]), (2, "a".to_owned(), "a".to_owned(), 2));
    assert_eq!(joined(&both[1]), (2, "b".to_owned(), "a".to_owned(), 0));
    assert_eq!(host.sync("b", 2, &[]), []);
    let told = host.sync("a", 2, &[("a", "0"), ("b", "1")]);
    // In the order of the requests: `b` asked first.
    assert_eq!(told, [assignment("1"), assignment("0")]);
    host
}

#[test]
fn two_members_join_and_are_assigned() {
    let mut host = two();
    assert_eq!(host.phase(), GroupPhase::Stable);
    assert_eq!(host.beat("a", 2), Ok(()));
    assert_eq!(host.sync("b", 2, &[]), [assignment("1")], "asked again");
    assert_eq!(host.beat("b", 1), Err(IllegalGeneration));
    assert_eq!(host.beat("x", 2), Err(UnknownMemberId));
    assert_eq!(
        joined(&host.join("b", "-")[0]).0,
        2,
        "a lost answer is given again"
    );
}

#[test]
fn who_may_not_join() {
    let config = GroupConfig::default();
    type Edit = fn(&mut JoinGroup);
    let cases: [(ErrorCode, Edit); 7] = [
        (InvalidGroupId, |it| it.group = GroupId::new("")),
        (InvalidSessionTimeout, |it| it.session_timeout_ms = 5999),
        (InvalidSessionTimeout, |it| {
            it.session_timeout_ms = 1_800_001
        }),
        (InconsistentGroupProtocol, |it| it.protocols.clear()),
        (InconsistentGroupProtocol, |it| it.protocol_type.clear()),
        (UnknownMemberId, |it| it.member_id = MemberId::new("x")),
        (MemberIdRequired, |it| it.require_known_member_id = true),
    ];
    for (code, edit) in cases {
        let mut host = Host::with(config);
        let request = host.request();
        let mut it = join(request, "", "a");
        edit(&mut it);
        assert_eq!(refused(&answers(&host.step(Input::JoinGroup(it)))), code);
        assert!(
            host.group
                .groups()
                .all(|(_, group)| group.members().is_empty())
        );
    }
    let mut host = Host::stable();
    let request = host.request();
    let mut it = join(request, "", "b");
    it.protocols[0].0 = "sticky".to_owned();
    assert_eq!(
        refused(&answers(&host.step(Input::JoinGroup(it)))),
        InconsistentGroupProtocol
    );
}

#[test]
fn an_id_that_was_given_out_is_waited_for() {
    let mut host = Host::stable();
    let request = host.request();
    let mut it = join(request, "", "b");
    it.require_known_member_id = true;
    assert_eq!(
        refused(&answers(&host.step(Input::JoinGroup(it)))),
        MemberIdRequired
    );
    assert_eq!(host.phase(), GroupPhase::Stable);
    assert_eq!(host.join("b", "-"), []);
    assert_eq!(host.join("a", "-").len(), 2);
    // Given out and never used: forgotten after its session timeout.
    let mut host = Host::new();
    let request = host.request();
    let mut it = join(request, "", "b");
    it.require_known_member_id = true;
    host.step(Input::JoinGroup(it));
    host.now = 10_000;
    host.step(Input::Tick);
    assert_eq!(host.group.groups().count(), 0);
}

#[test]
fn an_empty_group_waits_for_more_members_and_again_where_some_come() {
    let mut host = Host::with(GroupConfig::default());
    let quiet = |host: &mut Host, at: i64| {
        host.now = at;
        assert_eq!(host.step(Input::Tick), []);
    };
    assert_eq!(host.join("", "b"), []);
    quiet(&mut host, 2999);
    assert_eq!(host.join("", "a"), []);
    quiet(&mut host, 3000);
    quiet(&mut host, 5999);
    host.now = 6000;
    let told = answers(&host.step(Input::Tick));
    let told: Vec<_> = told.iter().map(joined).collect();
    // The first to join leads.
    let [b, a] = [("b", 2), ("a", 0)].map(|(id, told)| (1, id.to_owned(), "b".to_owned(), told));
    assert!(
        told.len() == 2 && told.contains(&a) && told.contains(&b),
        "{told:?}"
    );
}

#[test]
fn an_empty_group_waits_no_longer_than_its_first_member_lets_it() {
    let mut host = Host::with(GroupConfig::default());
    host.join("", "a");
    // One more in each of 20 delays: together a minute, the rebalance timeout.
    for number in 1..=20 {
        host.now = number * 3000 - 1;
        host.step(Input::Tick);
        assert_eq!(host.join("", &format!("b{number}")), []);
    }
    host.now = 60_000;
    assert_eq!(answers(&host.step(Input::Tick)).len(), 21);
}

#[test]
fn an_empty_group_waits_for_nobody_who_was_given_an_id() {
    let mut host = Host::new();
    let request = host.request();
    let mut it = join(request, "", "a");
    it.require_known_member_id = true;
    let told = answers(&host.step(Input::JoinGroup(it)));
    assert_eq!(refused(&told), MemberIdRequired);
    assert_eq!(
        joined(&host.join("", "b")[0]),
        (1, "b".to_owned(), "b".to_owned(), 1)
    );
    // The id is good all the same.
    assert_eq!(host.join("a", "-"), []);
    let told = host.join("b", "-");
    let told: Vec<_> = told.iter().map(|it| joined(it).0).collect();
    assert_eq!(told, [2, 2]);
}

#[test]
fn who_leaves_a_group_that_still_waits_lets_it_begin() {
    let mut host = Host::with(GroupConfig::default());
    host.join("", "a");
    assert_eq!(host.join("", "b"), []);
    let told = host.leave("b");
    let generations: Vec<_> = told
        .iter()
        .filter(|it| matches!(it, Answer::JoinGroup(Ok(_))))
        .map(joined)
        .collect();
    assert_eq!(generations, [(1, "a".to_owned(), "a".to_owned(), 1)]);
}

/// The static member `s` is the only one of the first generation.
fn join_static(host: &mut Host, session_timeout_ms: i32) {
    let request = host.request();
    let mut it = join(request, "", "s");
    it.instance_id = Some(GroupInstanceId::new("i"));
    it.session_timeout_ms = session_timeout_ms;
    assert_eq!(answers(&host.step(Input::JoinGroup(it))).len(), 1);
}

#[test]
fn static_members_keep_their_places_until_their_sessions_end() {
    let mut host = Host::new();
    join_static(&mut host, 120_000);
    host.sync("s", 1, &[("s", "all")]);
    assert_eq!(host.join("", "b"), []);
    // It does not come back in time, and is a member of the next generation.
    host.now = 60_000;
    let told = answers(&host.step(Input::Tick));
    assert_eq!(told.len(), 1);
    assert_eq!(joined(&told[0]), (2, "b".to_owned(), "b".to_owned(), 2));
    host.sync("b", 2, &[("b", "0"), ("s", "1")]);
    // Gone when its session has ended, which began anew with the generation.
    for at in 7..18 {
        host.now = at * 10_000 - 1;
        assert_eq!(host.beat("b", 2), Ok(()));
        host.step(Input::Tick);
    }
    assert_eq!(host.phase(), GroupPhase::Stable);
    host.now = 180_000;
    assert_eq!(host.beat("b", 2), Ok(()));
    host.step(Input::Tick);
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
}

#[test]
fn a_group_of_absent_static_members_begins_no_generation() {
    let mut host = Host::new();
    join_static(&mut host, 300_000);
    host.sync("s", 1, &[("s", "all")]);
    assert_eq!(host.join("", "b"), []);
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
    // Who began it has left again, and the static member has not come: once more a rebalance timeout, and no new
    // generation.
    assert_eq!(host.leave("b").len(), 2);
    for at in [60_000, 119_999, 120_000] {
        host.now = at;
        assert_eq!(host.step(Input::Tick), []);
        assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
        assert_eq!(host.beat("s", 1), Err(RebalanceInProgress));
    }
    assert_eq!(host.join("", "c"), []);
    host.now = 180_000;
    let told = answers(&host.step(Input::Tick));
    assert_eq!(joined(&told[0]), (2, "c".to_owned(), "c".to_owned(), 2));
}

#[test]
fn during_a_rebalance() {
    let mut host = two();
    host.join("", "c");
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
    assert_eq!(host.beat("a", 2), Err(RebalanceInProgress));
    assert_eq!(
        host.sync("a", 2, &[]),
        [Answer::SyncGroup(Err(RebalanceInProgress))]
    );
    // `b` does not come back in time, and `a` does.
    host.join("a", "-");
    for at in [9_000, 18_000, 27_000, 36_000, 45_000, 54_000] {
        host.now = at;
        assert_eq!(host.beat("b", 2), Err(RebalanceInProgress));
        assert_eq!(host.step(Input::Tick), []);
    }
    host.now = 60_000;
    let told = answers(&host.step(Input::Tick));
    assert_eq!(
        told.iter().map(|it| joined(it).0).collect::<Vec<_>>(),
        [3, 3]
    );
    assert_eq!(host.beat("b", 3), Err(UnknownMemberId));
}

#[test]
fn a_join_while_assigning_begins_again() {
    let mut host = Host::stable();
    host.join("", "b");
    host.join("a", "-");
    assert_eq!(host.sync("b", 2, &[]), []);
    let told = host.join("", "c");
    assert_eq!(told, [Answer::SyncGroup(Err(RebalanceInProgress))]);
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
}

#[test]
fn a_leader_that_never_assigns_is_dropped() {
    let mut host = Host::stable();
    host.join("", "b");
    host.join("a", "-");
    host.sync("b", 2, &[]);
    host.now = 60_000;
    let told = answers(&host.step(Input::Tick));
    assert_eq!(told, [Answer::SyncGroup(Err(RebalanceInProgress))]);
    assert_eq!(
        joined(&host.join("b", "-")[0]),
        (3, "b".to_owned(), "b".to_owned(), 1)
    );
}

#[test]
fn silent_members_are_dropped_and_the_others_rebalance() {
    let mut host = two();
    host.now = 9_000;
    host.beat("a", 2).unwrap();
    host.now = 10_000;
    host.step(Input::Tick);
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
    assert_eq!(
        joined(&host.join("a", "-")[0]),
        (3, "a".to_owned(), "a".to_owned(), 1)
    );
}

#[test]
fn leaving() {
    let mut host = two();
    assert_eq!(host.leave("x"), [Answer::LeaveGroup(Err(UnknownMemberId))]);
    assert_eq!(host.leave("b"), [Answer::LeaveGroup(Ok(()))]);
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
    assert_eq!(host.leave("a"), [Answer::LeaveGroup(Ok(()))]);
    assert_eq!(host.phase(), GroupPhase::Empty);
    assert_eq!(host.beat("a", 3), Err(UnknownMemberId));
}

#[test]
fn a_static_member_that_restarts_fences_its_predecessor() {
    let mut host = Host::new();
    let static_join = |host: &mut Host, fresh: &str| {
        let request = host.request();
        let mut it = join(request, "", fresh);
        it.instance_id = Some(GroupInstanceId::new("i"));
        answers(&host.step(Input::JoinGroup(it)))
    };
    assert_eq!(joined(&static_join(&mut host, "a")[0]).1, "a");
    assert_eq!(joined(&static_join(&mut host, "b")[0]).1, "b");
    let old = MemberIdentity {
        generation: Some(GenerationId::new(1)),
        member_id: MemberId::new("a"),
        instance_id: Some(GroupInstanceId::new("i")),
    };
    assert_eq!(host.commit_as(old, &[(0, 1)]), Err(FencedInstanceId));
}

#[test]
fn a_static_member_that_restarts_in_a_stable_group_keeps_generation_and_assignment() {
    let mut host = Host::new();
    let static_join = |host: &mut Host, fresh: &str| {
        let request = host.request();
        let mut it = join(request, "", fresh);
        it.instance_id = Some(GroupInstanceId::new("i"));
        let mut effects = host.step(Input::JoinGroup(it));
        effects.extend(host.replicate_all());
        answers(&effects)
    };
    assert_eq!(joined(&static_join(&mut host, "a")[0]).0, 1);
    host.sync("a", 1, &[("a", "1")]);
    assert_eq!(host.phase(), GroupPhase::Stable);
    // Who led before is named, so that the new one does not assign.
    let again = static_join(&mut host, "b");
    assert_eq!(joined(&again[0]), (1, "b".to_owned(), "a".to_owned(), 0));
    assert_eq!(host.phase(), GroupPhase::Stable);
    assert_eq!(host.sync("b", 1, &[]), [assignment("1")]);
    let named = |id: &str| member(Some(1), id, Some("i"));
    assert_eq!(host.commit_as(named("a"), &[(0, 1)]), Err(FencedInstanceId));
    assert_eq!(host.commit_as(named("b"), &[(0, 1)]), Ok(()));
}

#[test]
fn the_protocol_is_one_that_all_know_and_most_prefer() {
    let mut host = Host::with(GroupConfig::default());
    for (id, names) in [("a", "xyz"), ("b", "zy"), ("c", "yz")] {
        let request = host.request();
        let mut it = join(request, "", id);
        it.protocols = names
            .chars()
            .map(|name| (name.to_string(), Bytes::new()))
            .collect();
        host.step(Input::JoinGroup(it));
    }
    host.now = 6000;
    let told = answers(&host.step(Input::Tick));
    let Answer::JoinGroup(Ok(it)) = &told[0] else {
        panic!("{told:?}")
    };
    assert_eq!(it.protocol, "y");
}

#[test]
fn a_generation_survives_the_coordinator() {
    let mut host = two();
    host.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    let leader_epoch = LeaderEpoch::new(3);
    host.step(Input::BecomeLeader { leader_epoch });
    host.step(Input::Load { leader_epoch });
    assert_eq!(host.beat("b", 2), Ok(()));
    assert_eq!(host.sync("b", 2, &[]), [assignment("1")]);
    assert_eq!(
        host.commit_as(member(Some(2), "a", None), &[(0, 1)]),
        Ok(())
    );
    assert_eq!(
        host.commit_as(member(Some(1), "a", None), &[(0, 1)]),
        Err(IllegalGeneration)
    );
}

#[test]
fn an_assignment_that_cannot_be_written_is_not_given() {
    let mut host = Host::new();
    host.join("", "a");
    let request = host.request();
    let effects = host.step(Input::SyncGroup(SyncGroup {
        request,
        group: GroupId::new(G),
        member_id: MemberId::new("a"),
        instance_id: None,
        generation: GenerationId::new(1),
        assignments: vec![],
    }));
    assert!(matches!(effects[..], [Effect::Append(_)]));
    let effects = host.step(Input::AppendFailed { from: Offset::ZERO });
    assert_eq!(answers(&effects), [Answer::SyncGroup(Err(NotCoordinator))]);
    assert_eq!(host.phase(), GroupPhase::PreparingRebalance);
    assert_eq!(joined(&host.join("a", "-")[0]).0, 2);
}
