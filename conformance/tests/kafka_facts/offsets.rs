//! TxnOffsetCommit and OffsetFetch (semantics 3.5 and 7).

use fencepost_conformance::wire::{
    ErrorCode, GroupMember, Producer, TopicPartition, TxnOffsetCommit,
};

use super::harness::Facts;
use super::story::{Abort, Commit, Story};

const GENERATION: &str = "ILLEGAL_GENERATION";
const UNKNOWN_MEMBER: &str = "UNKNOWN_MEMBER_ID";
const STALE: &str = "INVALID_PRODUCER_EPOCH";

pub fn all(facts: &mut Facts) {
    membership_of_the_transaction(facts);
    identity(facts);
    simple_group(facts);
    classic_group(facts);
    static_member(facts);
    visibility(facts);
}

struct Group<'a, 'b> {
    story: &'a mut Story<'b>,
    id: String,
}

impl Group<'_, '_> {
    fn commit(
        &mut self,
        version: i16,
        producer: Producer,
        member: &GroupMember,
        offset: i64,
        semantics: &str,
    ) {
        let id = self.story.id.clone();
        let partition = self.story.partition.clone();
        let commit = TxnOffsetCommit {
            transactional_id: &id,
            producer,
            group_id: &self.id,
            member: member.clone(),
            partition,
            offset,
        };
        let error = self
            .story
            .wire()
            .txn_offset_commit(version, &commit)
            .expect("TxnOffsetCommit");
        let pair = self.story.pair(producer);
        let who = match (
            member.generation_id,
            member.member_id.as_str(),
            &member.instance_id,
        ) {
            (-1, "", None) => String::new(),
            (generation, "", None) => format!(" generation {generation}, no member"),
            (generation, "nobody", None) => format!(" generation {generation}, unknown member"),
            (generation, "nobody", Some(_)) => {
                format!(" generation {generation}, instance, wrong member")
            }
            (generation, _, None) => format!(" generation {generation}, member"),
            (generation, _, Some(_)) => format!(" generation {generation}, member, instance"),
        };
        self.story.row(
            &format!("TxnOffsetCommit v{version} {pair} offset {offset}{who}"),
            semantics,
            &error.to_string(),
        );
    }

    fn fetch(&mut self, require_stable: bool, semantics: &str) {
        let partition = self.story.partition.clone();
        let found = self
            .story
            .wire()
            .offset_fetch(&self.id, &partition, require_stable)
            .expect("OffsetFetch");
        let stable = if require_stable { " requireStable" } else { "" };
        self.story.row_after(
            &format!("OffsetFetch{stable}"),
            semantics,
            &format!("{} {}", found.error, found.offset),
            "",
        );
    }

    fn add_offsets(&mut self) {
        let (id, producer) = (self.story.id.clone(), self.story.producer);
        let error = self
            .story
            .facts
            .wire
            .add_offsets_to_txn(3, &id, producer, &self.id)
            .expect("AddOffsetsToTxn");
        assert_eq!(error, ErrorCode::NONE);
    }
}

/// The story's own group, once the group coordinator is there.
fn group<'a, 'b>(story: &'a mut Story<'b>) -> Group<'a, 'b> {
    let id = format!("group-of-{}", story.id);
    story.facts.await_group(&id);
    Group { story, id }
}

fn nobody() -> GroupMember {
    GroupMember::unknown()
}

fn member(generation_id: i32, member_id: &str) -> GroupMember {
    GroupMember {
        generation_id,
        member_id: member_id.to_owned(),
        instance_id: None,
    }
}

fn membership_of_the_transaction(facts: &mut Facts) {
    for (version, semantics) in [
        (0, "INVALID_TXN_STATE"),
        (2, "INVALID_TXN_STATE"),
        (3, "INVALID_TXN_STATE"),
        (4, "TRANSACTION_ABORTABLE"),
        (5, "NONE"),
    ] {
        let mut story = facts.story("offsets").empty_at(1);
        let current = story.producer;
        let mut group = group(&mut story);
        group.commit(version, current, &nobody(), 7, semantics);
    }
    for version in [0, 2, 3, 4, 5] {
        let mut story = facts.story("offsets").empty_at(1);
        let current = story.producer;
        let mut group = group(&mut story);
        group.add_offsets();
        "Ongoing (P,1), offsets added".clone_into(&mut group.story.start);
        group.commit(version, current, &nobody(), 7, "NONE");
    }
}

fn identity(facts: &mut Facts) {
    for version in [3, 4, 5] {
        let mut story = facts.story("offsets").empty_at(1);
        let current = story.producer;
        let mut group = group(&mut story);
        group.add_offsets();
        "Ongoing (P,1), offsets added".clone_into(&mut group.story.start);
        group.commit(version, current.at(0), &nobody(), 7, STALE);
        group.commit(version, current.at(2), &nobody(), 7, STALE);
        let other = Producer {
            id: current.id + 5000,
            epoch: 1,
        };
        group.commit(version, other, &nobody(), 7, "INVALID_PRODUCER_ID_MAPPING");
        group.commit(version, current, &nobody(), 7, "NONE");
        group.commit(version, current.at(0), &nobody(), 7, STALE);
        let known = group.story.partition.clone();
        group.story.partition = TopicPartition::new("no-such-topic", 0);
        group.commit(version, current, &nobody(), 7, "UNKNOWN_TOPIC_OR_PARTITION");
        group.story.partition = known;
        group.id.clear();
        group.commit(version, current, &nobody(), 7, "INVALID_GROUP_ID");
    }
}

fn simple_group(facts: &mut Facts) {
    for version in [3, 4, 5] {
        let mut story = facts.story("offsets").empty_at(1);
        let current = story.producer;
        let mut group = group(&mut story);
        group.add_offsets();
        "group missing, offsets added".clone_into(&mut group.story.start);
        group.commit(version, current, &member(0, ""), 7, GENERATION);
        group.commit(version, current, &member(1, "nobody"), 7, GENERATION);
        group.commit(version, current, &member(-1, "nobody"), 7, "?");
        group.commit(version, current, &nobody(), 7, "NONE");
        group.commit(version, current, &member(0, ""), 7, "?");
    }
}

/// Joins as the only member and gives its id and generation.
fn join(group: &mut Group<'_, '_>, instance: Option<&str>) -> GroupMember {
    let id = group.id.clone();
    let mut answer = group
        .story
        .wire()
        .join_group(&id, "", instance)
        .expect("JoinGroup");
    if answer.error == ErrorCode(79) {
        let member_id = answer.member.member_id.clone();
        answer = group
            .story
            .wire()
            .join_group(&id, &member_id, instance)
            .expect("JoinGroup");
    }
    assert_eq!(answer.error, ErrorCode::NONE);
    let error = group
        .story
        .wire()
        .sync_group(&id, &answer.member)
        .expect("SyncGroup");
    assert_eq!(error, ErrorCode::NONE);
    let error = group
        .story
        .wire()
        .heartbeat(&id, &answer.member)
        .expect("Heartbeat");
    assert_eq!(error, ErrorCode::NONE);
    answer.member
}

fn classic_group(facts: &mut Facts) {
    for version in [2, 3, 4, 5] {
        let mut story = facts.story("offsets").empty_at(1);
        let current = story.producer;
        let mut group = group(&mut story);
        group.add_offsets();
        let me = join(&mut group, None);
        assert_eq!(me.generation_id, 1);
        "group Stable, generation 1, one member".clone_into(&mut group.story.start);
        group.commit(version, current, &nobody(), 7, "NONE");
        if version >= 3 {
            group.commit(version, current, &me, 7, "NONE");
            group.commit(version, current, &member(0, &me.member_id), 7, GENERATION);
            group.commit(version, current, &member(2, &me.member_id), 7, GENERATION);
            group.commit(version, current, &member(-1, &me.member_id), 7, GENERATION);
            group.commit(version, current, &member(1, "nobody"), 7, UNKNOWN_MEMBER);
            group.commit(version, current, &member(1, ""), 7, UNKNOWN_MEMBER);
        }
        let id = group.id.clone();
        group
            .story
            .wire()
            .leave_group(&id, &me)
            .expect("LeaveGroup");
        "group Empty again".clone_into(&mut group.story.start);
        group.commit(version, current, &nobody(), 8, "NONE");
        if version >= 3 {
            group.commit(version, current, &me, 8, UNKNOWN_MEMBER);
        }
    }
}

fn static_member(facts: &mut Facts) {
    let mut story = facts.story("offsets").empty_at(1);
    let current = story.producer;
    let mut group = group(&mut story);
    group.add_offsets();
    let me = join(&mut group, Some("instance"));
    "group Stable, generation 1, one static member".clone_into(&mut group.story.start);
    group.commit(3, current, &me, 7, "NONE");
    let mut wrong = me.clone();
    "nobody".clone_into(&mut wrong.member_id);
    group.commit(3, current, &wrong, 7, "FENCED_INSTANCE_ID");
    wrong.instance_id = Some("other".to_owned());
    group.commit(3, current, &wrong, 7, UNKNOWN_MEMBER);
}

fn visibility(facts: &mut Facts) {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    for done in [Commit, Abort] {
        let mut story = facts.story("offsets").empty_at(1);
        let current = story.producer;
        let mut group = group(&mut story);
        let id = group.id.clone();
        let partition = group.story.partition.clone();
        let error = group
            .story
            .wire()
            .offset_commit(&id, &nobody(), &partition, 3)
            .expect("OffsetCommit");
        assert_eq!(error, ErrorCode::NONE);
        group.add_offsets();
        "offset 3 committed before, offsets added".clone_into(&mut group.story.start);
        group.fetch(true, "NONE 3");
        group.commit(3, current, &nobody(), 7, "NONE");
        group.fetch(true, "UNSTABLE_OFFSET_COMMIT -1");
        group.fetch(false, "NONE 3");
        group.commit(3, current, &nobody(), 8, "NONE");
        group.story.end(
            end,
            current,
            done,
            if end == 5 { "NONE (P,2)" } else { "NONE" },
        );
        let seen = if done == Commit { "NONE 8" } else { "NONE 3" };
        group.fetch(true, seen);
        group.fetch(false, seen);
    }
    // A plain commit after the staged one is later in the log and wins.
    let mut story = facts.story("offsets").empty_at(1);
    let current = story.producer;
    let mut group = group(&mut story);
    group.add_offsets();
    group.commit(3, current, &nobody(), 7, "NONE");
    let id = group.id.clone();
    let partition = group.story.partition.clone();
    let error = group
        .story
        .wire()
        .offset_commit(&id, &nobody(), &partition, 4)
        .expect("OffsetCommit");
    group
        .story
        .row("OffsetCommit offset 4", "NONE", &error.to_string());
    group.story.end(
        end,
        current,
        Commit,
        if end == 5 { "NONE (P,2)" } else { "NONE" },
    );
    group.fetch(true, "NONE 4");
}
