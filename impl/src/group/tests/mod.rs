//! Every rule of a group coordinator, by name; then offsets against a log read again.

mod commits;
mod log;
mod members;
mod regressions;

use bytes::Bytes;

use super::*;
use crate::partition::WriteTxnMarker;
use crate::records::offset_commit::OffsetCommitKey;
use crate::types::{
    CoordinatorEpoch, GenerationId, GroupInstanceId, MemberId, ProducerEpoch, ProducerId,
    ProducerIdAndEpoch, TopicPartition, TransactionResult, TransactionVersion, TransactionalId,
};

pub(super) const G: &str = "g";

/// A coordinator on the only replica, and a hand for each message.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) group: GroupCoordinator,
    pub(super) now: i64,
    /// The version of TxnOffsetCommit that producers send.
    pub(super) version: i16,
    requests: u64,
}

impl Host {
    pub(super) fn with(config: GroupConfig) -> Self {
        let mut host = Self {
            group: GroupCoordinator::new(config, PartitionConfig::default()),
            now: 0,
            version: 4,
            requests: 0,
        };
        let leader_epoch = LeaderEpoch::new(1);
        host.step(Input::BecomeLeader { leader_epoch });
        host.step(Input::Load { leader_epoch });
        host
    }

    pub(super) fn new() -> Self {
        Self::with(GroupConfig {
            initial_rebalance_delay_ms: 0,
            ..GroupConfig::default()
        })
    }

    pub(super) fn step(&mut self, input: Input) -> Vec<Effect> {
        self.group.step(input, Timestamp::from_millis(self.now))
    }

    pub(super) fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId(self.requests)
    }

    pub(super) fn replicate_all(&mut self) -> Vec<Effect> {
        let up_to = self.group.partition().log().end_offset();
        self.step(Input::Replicated { up_to })
    }

    /// Stages without answering the coordinator's question.
    pub(super) fn send_staged(
        &mut self,
        id: i64,
        epoch: i16,
        member: MemberIdentity,
        offsets: &[(i32, i64)],
    ) -> (RequestId, Vec<Effect>) {
        let request = self.request();
        let commit = TxnOffsetCommit {
            request,
            version: self.version,
            transactional_id: TransactionalId::new("t"),
            producer: producer(id, epoch),
            group: GroupId::new(G),
            member,
            offsets: to_commit(offsets),
        };
        (request, self.step(Input::TxnOffsetCommit(commit)))
    }

    /// Stages, with a coordinator that says yes; the answer of the first partition.
    pub(super) fn stage_as(
        &mut self,
        id: i64,
        epoch: i16,
        member: MemberIdentity,
        offsets: &[(i32, i64)],
    ) -> Result<(), ErrorCode> {
        let (request, mut effects) = self.send_staged(id, epoch, member, offsets);
        if effects
            .iter()
            .any(|it| matches!(it, Effect::AskCoordinator { .. }))
        {
            effects = self.answer(request, Ok(()));
        }
        effects.extend(self.replicate_all());
        first_line(&effects)
    }

    pub(super) fn stage(&mut self, id: i64, epoch: i16, offsets: &[(i32, i64)]) {
        let result = self.stage_as(id, epoch, MemberIdentity::anonymous(), offsets);
        assert_eq!(result, Ok(()));
    }

    pub(super) fn answer(
        &mut self,
        request: RequestId,
        answer: Result<(), ErrorCode>,
    ) -> Vec<Effect> {
        self.step(Input::CoordinatorAnswered { request, answer })
    }

    pub(super) fn commit_as(
        &mut self,
        member: MemberIdentity,
        offsets: &[(i32, i64)],
    ) -> Result<(), ErrorCode> {
        let request = self.request();
        let mut effects = self.step(Input::OffsetCommit(OffsetCommit {
            request,
            group: GroupId::new(G),
            member,
            offsets: to_commit(offsets),
        }));
        effects.extend(self.replicate_all());
        first_line(&effects)
    }

    pub(super) fn commit(&mut self, offsets: &[(i32, i64)]) {
        assert_eq!(self.commit_as(MemberIdentity::anonymous(), offsets), Ok(()));
    }

    pub(super) fn mark(
        &mut self,
        id: i64,
        epoch: i16,
        result: TransactionResult,
    ) -> Result<(), ErrorCode> {
        let request = self.request();
        let mut effects = self.step(Input::WriteTxnMarker(WriteTxnMarker {
            request,
            producer_id: ProducerId::new(id),
            producer_epoch: ProducerEpoch::new(epoch),
            result,
            coordinator_epoch: CoordinatorEpoch::new(0),
            transaction_version: TransactionVersion::V0,
        }));
        effects.extend(self.replicate_all());
        match answers(&effects).pop() {
            Some(Answer::WriteTxnMarker(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    /// The offset of partition 0 to 9, or the error, as a fetch says.
    pub(super) fn fetch(
        &mut self,
        partition: i32,
        require_stable: bool,
    ) -> Result<Option<i64>, ErrorCode> {
        let request = self.request();
        let mut effects = self.step(Input::OffsetFetch(OffsetFetch {
            request,
            group: GroupId::new(G),
            partitions: Some(vec![TopicPartition::new("in", partition)]),
            require_stable,
        }));
        effects.extend(self.replicate_all());
        match answers(&effects).pop() {
            Some(Answer::OffsetFetch(Ok(lines))) => lines[0]
                .1
                .clone()
                .map(|found| found.map(|it| it.value.offset.get())),
            Some(Answer::OffsetFetch(Err(code))) => Err(code),
            other => panic!("{other:?}"),
        }
    }

    /// What is committed at the log end, by partition.
    pub(super) fn committed(&self) -> Vec<(i32, i64)> {
        let all = self.group.offsets().iter();
        all.map(|(key, it)| (key.partition.partition, it.value.offset.get()))
            .collect()
    }
}

pub(super) fn producer(id: i64, epoch: i16) -> ProducerIdAndEpoch {
    ProducerIdAndEpoch {
        producer_id: ProducerId::new(id),
        producer_epoch: ProducerEpoch::new(epoch),
    }
}

pub(super) fn to_commit(offsets: &[(i32, i64)]) -> Vec<OffsetToCommit> {
    let one = |(partition, offset): &(i32, i64)| OffsetToCommit {
        partition: TopicPartition::new("in", *partition),
        offset: Offset::new(*offset),
        leader_epoch: None,
        metadata: String::new(),
    };
    offsets.iter().map(one).collect()
}

pub(super) fn key(partition: i32) -> OffsetCommitKey {
    OffsetCommitKey {
        group: GroupId::new(G),
        partition: TopicPartition::new("in", partition),
    }
}

pub(super) fn answers(effects: &[Effect]) -> Vec<Answer> {
    let answer = |effect: &Effect| match effect {
        Effect::Reply { answer, .. } => Some(answer.clone()),
        Effect::Append(_) | Effect::Truncate { .. } | Effect::AskCoordinator { .. } => None,
    };
    effects.iter().filter_map(answer).collect()
}

/// The first partition's line of the last commit answer.
pub(super) fn first_line(effects: &[Effect]) -> Result<(), ErrorCode> {
    match answers(effects).pop() {
        Some(Answer::TxnOffsetCommit(lines) | Answer::OffsetCommit(lines)) => lines[0].1,
        other => panic!("{other:?}"),
    }
}

pub(super) fn member(generation: Option<i32>, id: &str, instance: Option<&str>) -> MemberIdentity {
    MemberIdentity {
        generation: generation.map(GenerationId::new),
        member_id: MemberId::new(id),
        instance_id: instance.map(GroupInstanceId::new),
    }
}

pub(super) fn join(request: RequestId, id: &str, fresh: &str) -> JoinGroup {
    JoinGroup {
        request,
        group: GroupId::new(G),
        member_id: MemberId::new(id),
        instance_id: None,
        fresh_member_id: MemberId::new(fresh),
        require_known_member_id: false,
        client_id: "c".to_owned(),
        client_host: "h".to_owned(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 60_000,
        protocol_type: "consumer".to_owned(),
        protocols: vec![("range".to_owned(), Bytes::from_static(b"s"))],
    }
}

impl Host {
    pub(super) fn join(&mut self, id: &str, fresh: &str) -> Vec<Answer> {
        let request = self.request();
        answers(&self.step(Input::JoinGroup(join(request, id, fresh))))
    }

    pub(super) fn sync(
        &mut self,
        id: &str,
        generation: i32,
        assignments: &[(&str, &str)],
    ) -> Vec<Answer> {
        let request = self.request();
        let given = |(id, bytes): &(&str, &str)| {
            (MemberId::new(id), Bytes::copy_from_slice(bytes.as_bytes()))
        };
        let mut effects = self.step(Input::SyncGroup(SyncGroup {
            request,
            group: GroupId::new(G),
            member_id: MemberId::new(id),
            instance_id: None,
            generation: GenerationId::new(generation),
            assignments: assignments.iter().map(given).collect(),
        }));
        effects.extend(self.replicate_all());
        answers(&effects)
    }

    pub(super) fn beat(&mut self, id: &str, generation: i32) -> Result<(), ErrorCode> {
        let request = self.request();
        let effects = self.step(Input::Heartbeat(Heartbeat {
            request,
            group: GroupId::new(G),
            member_id: MemberId::new(id),
            instance_id: None,
            generation: GenerationId::new(generation),
        }));
        match answers(&effects).pop() {
            Some(Answer::Heartbeat(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn leave(&mut self, id: &str) -> Vec<Answer> {
        let request = self.request();
        answers(&self.step(Input::LeaveGroup(LeaveGroup {
            request,
            group: GroupId::new(G),
            member_id: MemberId::new(id),
            instance_id: None,
        })))
    }

    pub(super) fn phase(&self) -> GroupPhase {
        self.group
            .groups()
            .next()
            .map(|(_, group)| group.phase())
            .unwrap()
    }

    /// A stable group of one member, `a`, in generation 1.
    pub(super) fn stable() -> Self {
        let mut host = Self::new();
        host.join("", "a");
        host.sync("a", 1, &[("a", "0")]);
        assert_eq!(host.phase(), GroupPhase::Stable);
        host
    }
}
