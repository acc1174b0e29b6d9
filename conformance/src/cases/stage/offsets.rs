//! Requests to the group coordinator.

use fencepost_spec::message::{self, Message};
use fencepost_spec::types::*;

use super::partition::abortable_since;
use super::words::pair;
use super::{Outcome, Real, Stage, Stop};
use crate::cases::route::waited;
use crate::wire::{CoordinatorKey, ErrorCode, GroupMember, TxnOffsetCommit};

/// How long the second member's JoinGroup is waited for: it has arrived by then.
const SECOND_MEMBER: std::time::Duration = std::time::Duration::from_millis(300);
const MEMBER_ID_REQUIRED: ErrorCode = ErrorCode(79);

impl Stage {
    /// The case's client joins the group as its only member; the generation it is given.
    pub fn join(&mut self) -> Result<u8, Stop> {
        let group = self.group.clone();
        let mut member_id = String::new();
        let member = loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
            let answer = coordinator.join_group(&group, &member_id, None)?;
            if answer.error == ErrorCode::NONE {
                break answer.member;
            }
            if answer.error == MEMBER_ID_REQUIRED {
                member_id = answer.member.member_id;
            }
            if !self.route.pause(std::time::Duration::from_millis(10)) {
                return Err(waited(&format!("the group: {}", answer.error)).into());
            }
        };
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.sync_group(&group, &member)?;
        self.expect(
            "SyncGroup v3",
            &error.to_string(),
            &["NONE"],
            "classic group protocol",
        )?;
        let generation = u8::try_from(member.generation_id)
            .map_err(|_| Stop::Unclear(format!("generation {}", member.generation_id)))?;
        self.oracle.set_generation(generation);
        self.member = Some(member);
        Ok(generation)
    }

    /// A second member asks to join: the group waits for the first one, which says nothing.
    pub fn begin_rebalance(&mut self) -> Outcome {
        let group = self.group.clone();
        let key = CoordinatorKey::Group(&group);
        // What is answered is asked with the case's patience.
        let asked = self.route.coordinator(key)?.join_group(&group, "", None)?;
        self.second = Some(asked.member.clone());
        let mut aside = self.route.aside(SECOND_MEMBER);
        if asked.error == MEMBER_ID_REQUIRED {
            let coordinator = aside.coordinator(key)?;
            let joined = coordinator.join_group(&group, &asked.member.member_id, None);
            if let Ok(answer) = joined {
                return Err(Stop::Unclear(format!("JoinGroup: {}", answer.error)));
            }
        }
        self.aside.push(aside);
        self.oracle.begin_rebalance();
        Ok(())
    }

    /// The member leaves, so that the group is empty.
    pub fn leave(&mut self) -> Outcome {
        let (Some(member), group) = (self.member.take(), self.group.clone()) else {
            return Ok(());
        };
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        coordinator.leave_group(&group, &member)?;
        Ok(())
    }

    /// TxnOffsetCommit without group metadata.
    pub fn stage_offset(&mut self, version: i16, who: Identity, offset: u8) -> Outcome {
        self.stage_as(version, who, offset, None)
    }

    /// TxnOffsetCommit of the member, in a generation.
    pub fn stage_offset_in(
        &mut self,
        version: i16,
        who: Identity,
        offset: u8,
        generation: u8,
    ) -> Outcome {
        self.stage_as(version, who, offset, Some(generation))
    }

    fn stage_as(
        &mut self,
        version: i16,
        who: Identity,
        offset: u8,
        generation: Option<u8>,
    ) -> Outcome {
        self.require(28, "TxnOffsetCommit", version)?;
        if version >= 5 && self.transaction_version < 1 {
            return Err(Stop::Skip(
                "TxnOffsetCommit v5 cannot add at transaction.version 0".to_owned(),
            ));
        }
        let message = Message::TxnOffsetCommit(message::TxnOffsetCommit {
            correlation: self.oracle.correlation(),
            transactional_id: self.model_id(),
            identity: who,
            member: generation.map(|generation| message::GroupMember {
                id: ProducerIndex(0),
                generation: Generation(generation),
            }),
            offset: Payload(offset),
            version: if version >= 5 {
                TransactionVersion::Tv2
            } else {
                TransactionVersion::Tv1
            },
            ghost: Ghost::NONE,
        });
        let member = GroupMember {
            generation_id: generation.map_or(-1, i32::from),
            member_id: match (&self.member, generation) {
                (Some(member), Some(_)) => member.member_id.clone(),
                (Some(_) | None, _) => String::new(),
            },
            instance_id: None,
        };
        let in_generation = generation.map_or(String::new(), |it| format!(" generation {it}"));
        let request = format!(
            "TxnOffsetCommit v{version} {} offset {offset}{in_generation}",
            pair(who)
        );
        let (id, group, producer) = (self.id(), self.group.clone(), self.wire(who));
        let partition = self.topic_partition();
        self.ask(&request, &message, abortable_since(version, 4), |route| {
            let commit = TxnOffsetCommit {
                transactional_id: &id,
                producer,
                group_id: &group,
                member: member.clone(),
                partition: partition.clone(),
                offset: i64::from(offset),
            };
            let coordinator = route.coordinator(CoordinatorKey::Group(&group))?;
            coordinator
                .txn_offset_commit(version, &commit)
                .map(Real::error)
        })?;
        Ok(())
    }

    /// A TxnOffsetCommit whose verdict on the group the model has no cell for. It must not be
    /// accepted by the broker in a way that stages anything.
    pub fn stage_refused(
        &mut self,
        version: i16,
        member: GroupMember,
        allowed: &[&str],
        source: &'static str,
    ) -> Outcome {
        self.require(28, "TxnOffsetCommit", version)?;
        let (id, group, producer) = (self.id(), self.group.clone(), self.wire(self.me()));
        let words = format!(
            "TxnOffsetCommit v{version} {} generation {} member {:?} instance {:?}",
            pair(self.me()),
            member.generation_id,
            member.member_id,
            member.instance_id
        );
        let commit = TxnOffsetCommit {
            transactional_id: &id,
            producer,
            group_id: &group,
            member,
            partition: self.topic_partition(),
            offset: 99,
        };
        let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
        let error = coordinator.txn_offset_commit(version, &commit)?;
        self.expect(&words, &error.to_string(), allowed, source)
    }

    /// OffsetCommit outside any transaction, without group metadata.
    pub fn commit_plainly(&mut self, offset: u8) -> Outcome {
        let group = self.group.clone();
        let partition = self.topic_partition();
        let error = loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
            let nobody = GroupMember::unknown();
            let error =
                coordinator.offset_commit(&group, &nobody, &partition, i64::from(offset))?;
            let transient = super::TRANSIENT.contains(&error.0);
            if !transient || !self.route.pause(std::time::Duration::from_millis(10)) {
                break error;
            }
        };
        let words = format!("OffsetCommit v7 offset {offset}");
        self.expect(
            &words,
            &error.to_string(),
            &["NONE"],
            "Kafka's consumer protocol",
        )?;
        self.oracle.commit_plainly(offset);
        Ok(())
    }

    /// OffsetFetch v7, judged by what the model's group holds.
    pub fn fetch_offset(&mut self, require_stable: bool) -> Outcome {
        self.require(9, "OffsetFetch", 7)?;
        let (group, partition) = (self.group.clone(), self.topic_partition());
        let found = loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
            let found = coordinator.offset_fetch(&group, &partition, require_stable)?;
            let transient = super::TRANSIENT.contains(&found.error.0);
            if !transient || !self.route.pause(std::time::Duration::from_millis(10)) {
                break found;
            }
        };
        let answer = format!("{} {}", found.error, found.offset);
        let seen = |state: &fencepost_spec::world::State| {
            let group = state.group.as_deref().cloned().unwrap_or_default();
            if require_stable && !group.staged.is_empty() {
                "UNSTABLE_OFFSET_COMMIT -1".to_owned()
            } else if group.committed == Payload(0) {
                "NONE -1".to_owned()
            } else {
                format!("NONE {}", group.committed.0)
            }
        };
        let stable = if require_stable { " requireStable" } else { "" };
        self.compare(&format!("OffsetFetch v7{stable}"), &answer, seen, "KIP-447")
    }
}
