//! Who may commit, plainly or in a transaction, and who may read.

use super::*;
use crate::error_code::ErrorCode::{
    ConcurrentTransactions, CoordinatorLoadInProgress, CoordinatorNotAvailable, FencedInstanceId,
    IllegalGeneration, InvalidGroupId, InvalidProducerEpoch, InvalidProducerIdMapping,
    InvalidRequest, InvalidTxnState, NetworkException, NotCoordinator, NotLeaderOrFollower,
    OffsetMetadataTooLarge, ProducerFenced, RebalanceInProgress, TransactionAbortable,
    UnknownMemberId, UnstableOffsetCommit,
};
use crate::types::TransactionResult::{Abort, Commit};

/// A stable group of `a` (static id `i`) in generation 1.
fn static_group() -> Host {
    let mut host = Host::new();
    let request = host.request();
    let mut first = join(request, "", "a");
    first.instance_id = Some(GroupInstanceId::new("i"));
    host.step(Input::JoinGroup(first));
    host.sync("a", 1, &[]);
    host
}

#[test]
fn who_may_commit() {
    let missing = Host::new;
    let simple = || {
        let mut host = Host::new();
        host.commit(&[(0, 1)]);
        host
    };
    let staged_only = || {
        let mut host = Host::new();
        host.stage(9, 0, &[(0, 1)]);
        host
    };
    let empty = || {
        let mut host = Host::stable();
        host.leave("a");
        host
    };
    let rebalancing = || {
        let mut host = static_group();
        host.join("", "b");
        host
    };
    let completing = || {
        let mut host = Host::new();
        host.join("", "a");
        host
    };
    type Make<'a> = &'a dyn Fn() -> Host;
    let nobody = MemberIdentity::anonymous();
    let ill = Err(IllegalGeneration);
    let unknown = Err(UnknownMemberId);
    // (name, group, committer, answer in a transaction, plain answer)
    type Row<'a> = (
        &'a str,
        Make<'a>,
        MemberIdentity,
        Result<(), ErrorCode>,
        Result<(), ErrorCode>,
    );
    let table: [Row<'_>; 22] = [
        ("missing", &missing, nobody.clone(), Ok(()), Ok(())),
        ("missing", &missing, member(None, "x", None), Ok(()), Ok(())),
        ("missing", &missing, member(Some(0), "", None), ill, ill),
        ("missing", &missing, member(Some(3), "x", None), ill, ill),
        ("simple", &simple, nobody.clone(), Ok(()), Ok(())),
        (
            "simple",
            &simple,
            member(Some(3), "x", None),
            unknown,
            unknown,
        ),
        (
            "only staged",
            &staged_only,
            member(Some(3), "x", None),
            unknown,
            unknown,
        ),
        ("empty", &empty, nobody.clone(), Ok(()), Ok(())),
        ("empty", &empty, member(None, "a", None), Ok(()), Ok(())),
        (
            "empty",
            &empty,
            member(Some(2), "a", None),
            unknown,
            unknown,
        ),
        ("stable", &Host::stable, nobody.clone(), Ok(()), unknown),
        (
            "stable",
            &Host::stable,
            member(Some(1), "a", None),
            Ok(()),
            Ok(()),
        ),
        (
            "stable",
            &Host::stable,
            member(Some(0), "a", None),
            ill,
            ill,
        ),
        (
            "stable",
            &Host::stable,
            member(Some(2), "a", None),
            ill,
            ill,
        ),
        ("stable", &Host::stable, member(None, "a", None), ill, ill),
        (
            "stable",
            &Host::stable,
            member(Some(1), "x", None),
            unknown,
            unknown,
        ),
        (
            "stable",
            &Host::stable,
            member(Some(1), "", None),
            unknown,
            unknown,
        ),
        (
            "static",
            &static_group,
            member(Some(1), "a", Some("i")),
            Ok(()),
            Ok(()),
        ),
        (
            "static",
            &static_group,
            member(Some(1), "x", Some("i")),
            Err(FencedInstanceId),
            Err(FencedInstanceId),
        ),
        (
            "static",
            &static_group,
            member(Some(1), "a", Some("j")),
            unknown,
            unknown,
        ),
        (
            "rebalancing",
            &rebalancing,
            member(Some(1), "a", None),
            Ok(()),
            Ok(()),
        ),
        (
            "completing",
            &completing,
            member(Some(1), "a", None),
            Ok(()),
            Err(RebalanceInProgress),
        ),
    ];
    for (name, make, who, staged, plain) in table {
        assert_eq!(
            make().stage_as(1, 0, who.clone(), &[(5, 7)]),
            staged,
            "{name}, {who:?}, in a transaction"
        );
        assert_eq!(
            make().commit_as(who.clone(), &[(5, 7)]),
            plain,
            "{name}, {who:?}, plain"
        );
    }
}

#[test]
fn what_is_asked_before_the_group() {
    let mut host = Host::new();
    let mut send = |edit: &dyn Fn(&mut TxnOffsetCommit)| {
        let mut commit = TxnOffsetCommit {
            request: RequestId(99),
            version: 4,
            transactional_id: TransactionalId::new("t"),
            producer: producer(1, 0),
            group: GroupId::new(G),
            member: MemberIdentity::anonymous(),
            offsets: to_commit(&[(0, 1)]),
        };
        edit(&mut commit);
        first_line(&host.step(Input::TxnOffsetCommit(commit)))
    };
    assert_eq!(send(&|it| it.group = GroupId::new("")), Err(InvalidGroupId));
    assert_eq!(
        send(&|it| it.transactional_id = TransactionalId::new("")),
        Err(InvalidRequest)
    );
    let request = host.request();
    let plain = OffsetCommit {
        request,
        group: GroupId::new(""),
        member: MemberIdentity::anonymous(),
        offsets: to_commit(&[(0, 1)]),
    };
    assert_eq!(
        first_line(&host.step(Input::OffsetCommit(plain))),
        Err(InvalidGroupId)
    );
}

#[test]
fn the_first_commit_of_a_transaction_asks_and_later_ones_do_not() {
    for (version, verify_only) in [(3, true), (4, true), (5, false)] {
        let mut host = Host::new();
        host.version = version;
        let (request, effects) = host.send_staged(7, 3, MemberIdentity::anonymous(), &[(0, 1)]);
        assert_eq!(
            effects,
            [Effect::AskCoordinator {
                request,
                transactional_id: TransactionalId::new("t"),
                producer: producer(7, 3),
                verify_only,
            }]
        );
        assert!(matches!(
            host.answer(request, Ok(()))[..],
            [Effect::Append(_)]
        ));
        assert_eq!(answers(&host.replicate_all()).len(), 1);
        let (_, effects) = host.send_staged(7, 3, MemberIdentity::anonymous(), &[(1, 1)]);
        assert!(matches!(effects[..], [Effect::Append(_)]));
        assert_eq!(host.answer(request, Ok(())), [], "answered before");
    }
}

#[test]
fn the_coordinators_refusals_are_translated() {
    // By version: 1, 3, 4, 5.
    let load = CoordinatorLoadInProgress;
    let gone = CoordinatorNotAvailable;
    let table = [
        (ProducerFenced, [InvalidProducerEpoch; 4]),
        (
            TransactionAbortable,
            [
                InvalidTxnState,
                InvalidTxnState,
                TransactionAbortable,
                TransactionAbortable,
            ],
        ),
        (InvalidProducerIdMapping, [InvalidProducerIdMapping; 4]),
        (NetworkException, [gone, load, load, load]),
        (CoordinatorLoadInProgress, [gone, load, load, load]),
        (CoordinatorNotAvailable, [gone; 4]),
        (ConcurrentTransactions, [ConcurrentTransactions; 4]),
    ];
    for (said, heard) in table {
        for (version, heard) in [1, 3, 4, 5].into_iter().zip(heard) {
            let mut host = Host::new();
            host.version = version;
            let (request, _) = host.send_staged(1, 0, MemberIdentity::anonymous(), &[(0, 1)]);
            assert_eq!(
                first_line(&host.answer(request, Err(said))),
                Err(heard),
                "{said:?} {version}"
            );
            assert_eq!(host.group.offsets().staged().count(), 0);
        }
    }
}

#[test]
fn too_much_metadata_is_refused_by_partition() {
    let mut host = Host::new();
    let mut offsets = to_commit(&[(0, 1), (1, 2)]);
    offsets[0].metadata = "x".repeat(4097);
    offsets[1].metadata = "x".repeat(4096);
    let request = host.request();
    let commit = |offsets| OffsetCommit {
        request,
        group: GroupId::new(G),
        member: MemberIdentity::anonymous(),
        offsets,
    };
    host.step(Input::OffsetCommit(commit(offsets.clone())));
    let Some(Answer::OffsetCommit(lines)) = answers(&host.replicate_all()).pop() else {
        panic!("no answer");
    };
    assert_eq!(
        [lines[0].1, lines[1].1],
        [Err(OffsetMetadataTooLarge), Ok(())]
    );
    assert_eq!(host.committed(), [(1, 2)]);
    // Nothing is left: nothing is appended.
    offsets.pop();
    let end = host.group.partition().log().end_offset();
    let effects = host.step(Input::OffsetCommit(commit(offsets)));
    assert_eq!(first_line(&effects), Err(OffsetMetadataTooLarge));
    assert_eq!(host.group.partition().log().end_offset(), end);
}

#[test]
fn staged_offsets_show_when_their_transaction_commits() {
    let mut host = Host::new();
    host.commit(&[(0, 1)]);
    host.stage(1, 0, &[(0, 10), (1, 11)]);
    assert_eq!(host.fetch(0, false), Ok(Some(1)));
    assert_eq!(host.fetch(1, false), Ok(None));
    assert_eq!(host.fetch(0, true), Err(UnstableOffsetCommit));
    assert_eq!(host.fetch(2, true), Ok(None));
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(10)));
    assert_eq!(host.fetch(1, true), Ok(Some(11)));
    host.stage(1, 0, &[(0, 20)]);
    host.mark(1, 0, Abort).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(10)));
    assert_eq!(host.group.offsets().staged().count(), 0);
}

#[test]
fn everything_is_listed_when_nothing_is_named() {
    let mut host = Host::new();
    host.commit(&[(2, 1), (0, 1)]);
    host.stage(1, 0, &[(1, 10)]);
    let mut list = |require_stable| {
        let request = host.request();
        let effects = host.step(Input::OffsetFetch(OffsetFetch {
            request,
            group: GroupId::new(G),
            partitions: None,
            require_stable,
        }));
        match answers(&effects).pop() {
            Some(Answer::OffsetFetch(Ok(lines))) => lines
                .into_iter()
                .map(|(partition, line)| (partition.partition, line.is_ok()))
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(list(false), [(0, true), (2, true)]);
    assert_eq!(list(true), [(0, true), (2, true)]);
}

#[test]
fn the_later_record_wins_whichever_shows_first() {
    // Staged, then committed plainly, then the transaction commits: the plain one was written later.
    let mut host = Host::new();
    host.stage(1, 0, &[(0, 10)]);
    host.commit(&[(0, 5)]);
    assert_eq!(host.fetch(0, false), Ok(Some(5)));
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(5)));
    // The other order.
    let mut host = Host::new();
    host.commit(&[(0, 5)]);
    host.stage(1, 0, &[(0, 10)]);
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(10)));
    // Two transactions: by their records, not by their markers.
    let mut host = Host::new();
    host.stage(1, 0, &[(0, 10)]);
    host.stage(2, 0, &[(0, 20)]);
    host.mark(2, 0, Commit).unwrap();
    assert_eq!(host.fetch(0, true), Err(UnstableOffsetCommit));
    host.mark(1, 0, Commit).unwrap();
    assert_eq!(host.fetch(0, true), Ok(Some(20)));
}

#[test]
fn a_producers_epoch_is_checked_where_it_writes() {
    let mut host = Host::new();
    host.stage(1, 3, &[(0, 1)]);
    host.mark(1, 4, Abort).unwrap();
    let stale = host.stage_as(1, 3, MemberIdentity::anonymous(), &[(0, 2)]);
    assert_eq!(stale, Err(InvalidProducerEpoch));
    host.stage(1, 4, &[(0, 2)]);
}

#[test]
fn plain_reads_are_of_what_is_replicated_and_stable_ones_wait() {
    let mut host = Host::new();
    host.commit(&[(0, 1)]);
    let request = host.request();
    host.step(Input::OffsetCommit(OffsetCommit {
        request,
        group: GroupId::new(G),
        member: MemberIdentity::anonymous(),
        offsets: to_commit(&[(0, 2)]),
    }));
    let mut fetch = |require_stable| {
        let request = host.request();
        answers(&host.step(Input::OffsetFetch(OffsetFetch {
            request,
            group: GroupId::new(G),
            partitions: Some(vec![TopicPartition::new("in", 0)]),
            require_stable,
        })))
    };
    let Some(Answer::OffsetFetch(Ok(lines))) = fetch(false).pop() else {
        panic!("no answer");
    };
    assert_eq!(
        lines[0].1.as_ref().unwrap().as_ref().unwrap().value.offset,
        Offset::new(1)
    );
    assert_eq!(fetch(true), []);
    assert_eq!(answers(&host.replicate_all()).len(), 2);
}

#[test]
fn nothing_is_served_before_the_log_is_read_nor_after_the_lead_is_lost() {
    let mut host = Host::stable();
    host.commit_as(member(Some(1), "a", None), &[(0, 1)])
        .unwrap();
    let (parked, _) = host.send_staged(1, 0, MemberIdentity::anonymous(), &[(0, 1)]);
    let effects = host.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    assert_eq!(first_line(&effects), Err(NotCoordinator));
    assert_eq!(host.answer(parked, Ok(())), []);
    assert_eq!(host.fetch(0, true), Err(NotCoordinator));
    assert_eq!(host.mark(1, 0, Commit), Err(NotLeaderOrFollower));
    let leader_epoch = LeaderEpoch::new(3);
    host.step(Input::BecomeLeader { leader_epoch });
    assert_eq!(host.fetch(0, true), Err(CoordinatorLoadInProgress));
    assert_eq!(host.beat("a", 1), Err(CoordinatorLoadInProgress));
    assert_eq!(host.mark(1, 0, Commit), Err(NotLeaderOrFollower));
    host.step(Input::Load {
        leader_epoch: LeaderEpoch::new(2),
    });
    assert_eq!(
        host.fetch(0, true),
        Err(CoordinatorLoadInProgress),
        "not this leadership"
    );
    host.step(Input::Load { leader_epoch });
    assert_eq!(host.fetch(0, true), Ok(Some(1)));
    assert_eq!(host.beat("a", 1), Ok(()));
}
