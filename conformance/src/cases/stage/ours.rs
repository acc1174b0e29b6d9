//! Requests that only cases of our own broker make: limits, damage, refusals of a failing disk.

use bytes::{Bytes, BytesMut};

use super::words::pair;
use super::{Outcome, Stage, Stop};
use crate::loopback::Order;
use crate::wire::{
    Batch, CoordinatorKey, ErrorCode, GroupMember, IsolationLevel, TopicPartition,
    TransactionToAdd, TxnOffsetCommit,
};

/// Where the fields of a batch lie that are damaged here.
const ATTRIBUTES: usize = 21;
const LAST_OFFSET_DELTA: usize = 23;
const PRODUCER_ID: usize = 43;
const BASE_SEQUENCE: usize = 53;
const RECORD_COUNT: usize = 57;
const CRC: usize = 17;
const CONTROL: i16 = 0x20;

/// A request that is answered without a look at the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// InitProducerId v4.
    Init,
    /// EndTxn v4.
    End,
    /// AddOffsetsToTxn v3.
    AddOffsets,
    /// AddPartitionsToTxn v3.
    Add,
    /// DescribeTransactions.
    Describe,
    /// TxnOffsetCommit in a version.
    Stage(i16),
    /// Produce v11.
    Produce,
    /// EndTxn v5, which commits.
    EndTv2,
    /// AddPartitionsToTxn v5 of a broker that adds.
    AddByBroker,
    /// Produce v12, which adds its partition.
    ProduceTv2,
}

/// What is wrong with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing at all is sent.
    Nothing,
    /// Another checksum.
    Checksum,
    /// More offsets than records.
    Gap,
    /// More records announced than there are.
    Count,
    /// The last offset delta is the largest number, so that no count follows it.
    Overflow,
    /// A client's control batch.
    Control,
    /// A producer without a sequence.
    NoSequence,
    /// Transactional, but of nobody.
    NoProducer,
    /// No transactional id beside a transactional batch.
    NoId,
}

impl Damage {
    fn of(self, batch: &Batch) -> Bytes {
        let mut bytes = BytesMut::from(&batch.encode()[..]);
        let mut put = |at: usize, with: &[u8]| bytes[at..at + with.len()].copy_from_slice(with);
        match self {
            Self::Nothing => return Bytes::new(),
            Self::NoId => {}
            Self::Checksum => put(CRC, &[0, 0, 0, 0]),
            Self::Gap => put(LAST_OFFSET_DELTA, &1_i32.to_be_bytes()),
            Self::Count => put(RECORD_COUNT, &2_i32.to_be_bytes()),
            Self::Overflow => put(LAST_OFFSET_DELTA, &i32::MAX.to_be_bytes()),
            Self::Control => put(ATTRIBUTES, &(CONTROL | 0x10).to_be_bytes()),
            Self::NoSequence => put(BASE_SEQUENCE, &(-1_i32).to_be_bytes()),
            Self::NoProducer => put(PRODUCER_ID, &[0xff; 14]),
        }
        if self != Self::Checksum {
            let sum = crc32c::crc32c(&bytes[ATTRIBUTES..]);
            bytes[CRC..ATTRIBUTES].copy_from_slice(&sum.to_be_bytes());
        }
        bytes.freeze()
    }
}

impl Stage {
    /// A batch of the client that is damaged; it leaves no trace.
    pub fn produce_damaged(&mut self, damage: Damage, allowed: &str) -> Outcome {
        let (id, partition) = (self.id(), self.topic_partition());
        let batch = Batch::transactional(self.wire(self.me()), 0, "damaged");
        let id = (damage != Damage::NoId).then_some(id.as_str());
        let bytes = damage.of(&batch);
        let leader = self.route.leader(&partition)?;
        let answer = leader.produce_bytes(11, id, &partition, bytes)?;
        let request = format!("Produce v11 {} {damage:?}", pair(self.me()));
        let error = answer.error.to_string();
        self.expect(&request, &error, &[allowed], "Kafka's record validation")
    }

    /// The disk fails the client's next batch: it is refused and leaves no trace.
    pub fn produce_to_a_failing_disk(&mut self, sequence: i32) -> Outcome {
        self.operate(Order::FailWrite)?;
        let (id, partition) = (self.id(), self.topic_partition());
        let batch = Batch::transactional(self.wire(self.me()), sequence, "lost");
        let leader = self.route.leader(&partition)?;
        let answer = leader.produce(11, Some(&id), &partition, &batch)?;
        let request = format!(
            "Produce v11 {} sequence {sequence}, failing",
            pair(self.me())
        );
        let error = answer.error.to_string();
        self.expect(
            &request,
            &error,
            &["KAFKA_STORAGE_ERROR"],
            "what is not written is not there",
        )
    }

    /// The disk fails the client's next offset: it is refused and leaves no trace.
    pub fn stage_on_a_failing_disk(&mut self, version: i16, allowed: &str) -> Outcome {
        self.operate(Order::FailWrite)?;
        let (id, group, producer) = (self.id(), self.group.clone(), self.wire(self.me()));
        let commit = TxnOffsetCommit {
            transactional_id: &id,
            producer,
            group_id: &group,
            member: GroupMember::unknown(),
            partition: self.topic_partition(),
            offset: 98,
        };
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.txn_offset_commit(version, &commit)?.to_string();
        let request = format!("TxnOffsetCommit v{version} {}, failing", pair(self.me()));
        self.expect(
            &request,
            &error,
            &[allowed],
            "what is not written is not there",
        )
    }

    /// OffsetCommit of a member.
    pub fn commit_as(&mut self, member: &GroupMember, offset: u8, allowed: &str) -> Outcome {
        let (group, partition) = (self.group.clone(), self.topic_partition());
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.offset_commit(&group, member, &partition, i64::from(offset))?;
        let request = format!("OffsetCommit v7 of {member:?}, offset {offset}");
        self.expect(&request, &error.to_string(), &[allowed], CLASSIC)?;
        if error == ErrorCode::NONE {
            self.oracle.commit_plainly(offset);
        }
        Ok(())
    }

    /// A member with a static id joins and is the group's only member.
    pub fn join_as(&mut self, instance: Option<&str>) -> Result<GroupMember, Stop> {
        let group = self.group.clone();
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let mut answer = coordinator.join_group(&group, "", instance)?;
        if answer.error == ErrorCode(79) {
            answer = coordinator.join_group(&group, &answer.member.member_id, instance)?;
        }
        let error = answer.error.to_string();
        if answer.error == ErrorCode::NONE && answer.leader == answer.member.member_id {
            coordinator.sync_group(&group, &answer.member)?;
        }
        let request = format!("JoinGroup v5 as {instance:?}");
        self.expect(&request, &error, &["NONE"], CLASSIC)?;
        Ok(answer.member)
    }

    /// JoinGroup of whoever this is: the answer's error and member.
    pub fn ask_to_join(
        &mut self,
        member_id: &str,
        instance: Option<&str>,
        as_what: (&str, i32),
        allowed: &str,
    ) -> Result<GroupMember, Stop> {
        let group = self.group.clone();
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let answer = coordinator.join_group_as(&group, member_id, instance, as_what)?;
        let request = format!("JoinGroup v5 of {member_id:?} as {instance:?}, {as_what:?}");
        self.expect(&request, &answer.error.to_string(), &[allowed], CLASSIC)?;
        Ok(answer.member)
    }

    /// SyncGroup of a member.
    pub fn sync(&mut self, member: &GroupMember, allowed: &str) -> Outcome {
        let group = self.group.clone();
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.sync_group(&group, member)?.to_string();
        self.expect(
            &format!("SyncGroup v3 of {member:?}"),
            &error,
            &[allowed],
            CLASSIC,
        )
    }

    /// LeaveGroup of a member.
    pub fn leave_as(&mut self, member: &GroupMember, allowed: &str) -> Outcome {
        let group = self.group.clone();
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.leave_group(&group, member)?.to_string();
        self.expect(
            &format!("LeaveGroup v3 of {member:?}"),
            &error,
            &[allowed],
            CLASSIC,
        )
    }

    /// OffsetCommit with so many letters beside the offset.
    pub fn commit_beside(&mut self, letters: usize, offset: u8, allowed: &str) -> Outcome {
        let (group, at) = (self.group.clone(), self.topic_partition());
        let (nobody, words) = (GroupMember::unknown(), "x".repeat(letters));
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error =
            coordinator.offset_commit_beside(&group, &nobody, (&at, offset.into()), &words)?;
        let request = format!("OffsetCommit v7 with {letters} letters");
        self.expect(&request, &error.to_string(), &[allowed], CLASSIC)?;
        if error == ErrorCode::NONE {
            self.oracle.commit_plainly(offset);
        }
        Ok(())
    }

    /// AddPartitionsToTxn of a partition that there is and one that there is not.
    pub fn add_with_unknown(&mut self, allowed: &str) -> Outcome {
        let (id, producer) = (self.id(), self.wire(self.me()));
        let known = self.topic_partition();
        let unknown = TopicPartition::new(&self.topic, 7);
        let coordinator = self.route.coordinator(CoordinatorKey::Transaction(&id))?;
        let mut errors = coordinator.add_partitions_to_txn(3, &id, producer, &[known, unknown])?;
        // A broker answers in any order.
        errors.sort_by_key(|(at, _)| at.partition);
        let found: Vec<String> = errors
            .iter()
            .map(|(at, error)| format!("{} {error}", at.partition))
            .collect();
        let request = "AddPartitionsToTxn v3 of partitions 0 and 7";
        self.expect(request, &found.join("; "), &[allowed], "KIP-98")
    }

    /// A request of the client's that is answered so, whatever the model holds.
    pub fn answered(&mut self, api: Refused, allowed: &str) -> Outcome {
        let (id, producer, group) = (self.id(), self.wire(self.me()), self.group.clone());
        let partition = self.topic_partition();
        let error = match api {
            Refused::Init => {
                let plain = crate::wire::InitProducerId::plain(&id);
                self.route.any()?.init_producer_id(4, plain)?.error
            }
            Refused::End => {
                let commit = crate::wire::TransactionResult::Commit;
                self.route.any()?.end_txn(4, &id, producer, commit)?.error
            }
            Refused::AddOffsets => {
                let any = self.route.any()?;
                any.add_offsets_to_txn(3, &id, producer, &group)?
            }
            Refused::Add => {
                let add = std::slice::from_ref(&partition);
                let errors = self
                    .route
                    .any()?
                    .add_partitions_to_txn(3, &id, producer, add)?;
                errors.first().map_or(ErrorCode::NONE, |(_, error)| *error)
            }
            Refused::Describe => self.route.any()?.describe_transaction(&id)?.error,
            Refused::Stage(version) => {
                let commit = TxnOffsetCommit {
                    transactional_id: &id,
                    producer,
                    group_id: &group,
                    member: GroupMember::unknown(),
                    partition,
                    offset: 97,
                };
                self.route.any()?.txn_offset_commit(version, &commit)?
            }
            Refused::Produce | Refused::ProduceTv2 => {
                let version = if api == Refused::Produce { 11 } else { 12 };
                let batch = Batch::transactional(producer, 0, "refused");
                let leader = self.route.leader(&partition)?;
                leader
                    .produce(version, Some(&id), &partition, &batch)?
                    .error
            }
            Refused::EndTv2 => {
                let commit = crate::wire::TransactionResult::Commit;
                self.route.any()?.end_txn(5, &id, producer, commit)?.error
            }
            Refused::AddByBroker => {
                let transaction = TransactionToAdd {
                    transactional_id: &id,
                    producer,
                    verify_only: false,
                    partitions: vec![partition],
                };
                let any = self.route.any()?;
                let (whole, each) = any.add_partitions_to_txn_batched(5, &[transaction])?;
                let first = each.first().and_then(|(_, errors)| errors.first());
                first.map_or(whole, |(_, error)| *error)
            }
        };
        self.expect(
            &format!("{api:?} {}", pair(self.me())),
            &error.to_string(),
            &[allowed],
            "KIP-98",
        )
    }

    /// InitProducerId without an id: so many are given one after the other, from the one after `last` on without a gap.
    pub fn take_producer_ids(&mut self, mut last: Option<i64>, count: usize) -> Outcome {
        let mut gaps = 0;
        for _ in 0..count {
            let found = self.plain_producer_id()?;
            gaps += usize::from(last.is_some_and(|last: i64| found != last + 1));
            last = Some(found);
        }
        let request = format!("InitProducerId v2 without transactional id, {count} times");
        self.expect(
            &request,
            &format!("{gaps} gaps"),
            &["0 gaps"],
            "KIP-98: producer ids come in blocks",
        )
    }

    fn plain_producer_id(&mut self) -> Result<i64, Stop> {
        let plain = crate::wire::InitProducerId {
            transactional_id: None,
            ..crate::wire::InitProducerId::plain("")
        };
        loop {
            let answer = self.route.any()?.init_producer_id(2, plain)?;
            if answer.error == ErrorCode::NONE {
                return Ok(answer.producer.id);
            }
            if answer.error != LOADING || !self.route.pause(std::time::Duration::from_millis(1)) {
                return Err(Stop::Wrong(format!("InitProducerId v2: {}", answer.error)));
            }
        }
    }

    /// InitProducerId without an id, until the block is used up: how it is refused then, and the last one before.
    pub fn use_up_producer_ids(&mut self, allowed: &str) -> Result<Option<i64>, Stop> {
        const MOST: usize = 5_000;
        let plain = crate::wire::InitProducerId {
            transactional_id: None,
            ..crate::wire::InitProducerId::plain("")
        };
        let mut error = ErrorCode::NONE;
        let mut last = None;
        for _ in 0..MOST {
            let answer = self.route.any()?.init_producer_id(2, plain)?;
            error = answer.error;
            if error != ErrorCode::NONE {
                break;
            }
            last = Some(answer.producer.id);
        }
        let request = "InitProducerId v2 without transactional id, to the end of the block";
        self.expect(
            request,
            &error.to_string(),
            &[allowed],
            "KIP-98: producer ids come in blocks",
        )?;
        Ok(last)
    }

    /// InitProducerId v6 with enable2Pc of whoever may not.
    pub fn init_two_phase_refused(&mut self, allowed: &str) -> Outcome {
        let id = self.id();
        let flags = crate::wire::InitProducerId {
            enable_2pc: true,
            ..crate::wire::InitProducerId::plain(&id)
        };
        let answer = self.route.any()?.init_producer_id(6, flags)?;
        let error = answer.error.to_string();
        self.expect("InitProducerId v6 enable2Pc", &error, &[allowed], "KIP-939")
    }

    /// InitProducerId v6 with keepPreparedTxn where it cannot be served.
    pub fn init_keeping_refused(&mut self, allowed: &str) -> Outcome {
        let id = self.id();
        let flags = crate::wire::InitProducerId {
            keep_prepared: true,
            ..crate::wire::InitProducerId::plain(&id)
        };
        let answer = self.route.any()?.init_producer_id(6, flags)?;
        let error = answer.error.to_string();
        self.expect(
            "InitProducerId v6 keepPreparedTxn",
            &error,
            &[allowed],
            "KIP-939",
        )
    }

    /// The timer has aborted the active id's transaction by now.
    pub fn after_the_time_out(&mut self) -> Outcome {
        self.oracle.time_out(self.model_id());
        self.oracle.settle();
        Ok(())
    }

    /// A member's sign of life.
    pub fn beat(&mut self, member: &GroupMember, allowed: &str) -> Outcome {
        let group = self.group.clone();
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.heartbeat(&group, member)?.to_string();
        let request = format!("Heartbeat v3 of {member:?}");
        self.expect(&request, &error, &[allowed], CLASSIC)
    }

    /// OffsetFetch without naming partitions.
    pub fn fetch_every_offset(&mut self, require_stable: bool, allowed: &str) -> Outcome {
        let (group, topic) = (self.group.clone(), self.topic.clone());
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let found = coordinator.offset_fetch_all(&group, require_stable)?;
        let lines: Vec<String> = found
            .iter()
            .map(|(at, it)| {
                let name = at.topic.replacen(&topic, "", 1);
                format!("{name}/{} {} {}", at.partition, it.error, it.offset)
            })
            .collect();
        let stable = if require_stable { " requireStable" } else { "" };
        let request = format!("OffsetFetch v7{stable} of everything");
        self.expect(&request, &lines.join("; "), &[allowed], CLASSIC)
    }

    /// Fetches the active partition from its start with a limit of so many batches of the size of its first one: so
    /// many come, and one where not even one fits.
    pub fn read_limited(&mut self, from: i64, batches: usize, expected: usize) -> Outcome {
        let partition = self.topic_partition();
        let leader = self.route.leader(&partition)?;
        let level = IsolationLevel::ReadUncommitted;
        let first = leader.fetch_up_to(&partition, from, level, 1)?;
        let size = first.1;
        let limit = size * batches;
        let (answer, _) = leader.fetch_up_to(&partition, from, level, limit.max(1))?;
        let request = format!("Fetch v12 from {from}, up to {batches} batches");
        let found = format!("{} and {}", first.0.batches.len(), answer.batches.len());
        let expected = format!("{} and {expected}", expected.min(1));
        self.expect(&request, &found, &[&expected], "KIP-74")
    }

    /// When the active id's transaction began, in milliseconds since 1970.
    pub fn began(&mut self) -> Result<i64, Stop> {
        let id = self.id();
        Ok(self.route.any()?.describe_transaction(&id)?.start_time_ms)
    }

    /// DescribeTransactions of some other id.
    pub fn described(&mut self, id: &str, allowed: &str) -> Outcome {
        let error = self.route.any()?.describe_transaction(id)?.error;
        let request = format!("DescribeTransactions of {id:?}");
        self.expect(&request, &error.to_string(), &[allowed], "KIP-664")
    }

    /// InitProducerId of an id of so many letters.
    pub fn init_long(&mut self, letters: usize, allowed: &str) -> Outcome {
        let id = "x".repeat(letters);
        let request = crate::wire::InitProducerId::plain(&id);
        let answer = self.route.any()?.init_producer_id(4, request)?;
        let words = format!("InitProducerId v4 of {letters} letters");
        self.expect(
            &words,
            &answer.error.to_string(),
            &[allowed],
            "a record's key",
        )
    }
}

/// COORDINATOR_LOAD_IN_PROGRESS.
const LOADING: ErrorCode = ErrorCode(14);
const CLASSIC: &str = "the classic group protocol";
