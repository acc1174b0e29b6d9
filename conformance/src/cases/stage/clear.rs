//! Clearing away what a case has created: on a shared broker nothing of it may be in anybody's way.

use std::time::{Duration, Instant};

use super::setup::DESCRIBE_TRANSACTIONS;
use super::{AGAIN, Manner, Stage, Stop, TRANSIENT};
use crate::wire::{CoordinatorKey, ErrorCode, GroupMember, InitProducerId};

const DELETE_TOPICS: i16 = 20;
const DELETE_TOPICS_VERSION: i16 = 4;
const DELETE_GROUPS: i16 = 42;
const DELETE_GROUPS_VERSION: i16 = 1;
const UNKNOWN_TOPIC: ErrorCode = ErrorCode(3);
const CONCURRENT_TRANSACTIONS: ErrorCode = ErrorCode(51);
const GROUP_ID_NOT_FOUND: ErrorCode = ErrorCode(69);

/// How long a broker may take to complete an abort. One that never does holds up each case so long.
const PATIENCE: Duration = Duration::from_secs(3);

impl Stage {
    /// Ends what the case left open, empties and deletes its group, deletes its topic. What could not be cleared away
    /// is named with the reason; the verdict stands.
    pub fn clear(&mut self) -> Vec<String> {
        // A broker that stays halted would say so in the next case.
        let _ = self.let_go();
        self.put(Manner::Insisting);
        self.route.forget();
        self.route.wait_until(Instant::now() + PATIENCE);
        let open = (0..2).filter(|index| self.identities[*index].is_some());
        let ids: Vec<String> = open.map(|index| self.ids[index].clone()).collect();
        let mut left = Vec::new();
        for id in ids {
            if let Err(why) = self.end_transaction(&id) {
                left.push(format!("transaction of {id}: {}", reason(why)));
            }
        }
        if let Err(why) = self.delete_group() {
            left.push(format!("group {}: {}", self.group, reason(why)));
        }
        if let Err(why) = self.delete_the_topic() {
            left.push(format!("topic {}: {}", self.topic, reason(why)));
        }
        left
    }

    /// InitProducerId fences and aborts, whatever epoch the coordinator is at, and is told to ask again until the abort
    /// is complete.
    fn end_transaction(&mut self, id: &str) -> Result<(), Stop> {
        let can_describe = self.require(DESCRIBE_TRANSACTIONS, "", 0).is_ok();
        loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Transaction(id))?;
            let found = match can_describe {
                true => coordinator
                    .describe_transaction(id)
                    .map(|it| (it.error, it.state))?,
                false => (
                    ErrorCode::NONE,
                    "a state that cannot be asked for".to_owned(),
                ),
            };
            let (error, state) = found;
            let is_decided = state.starts_with("Prepare");
            let is_transient = TRANSIENT.contains(&error.0);
            if can_describe && !is_transient && !is_decided && state != "Ongoing" {
                return Ok(());
            }
            if is_decided && self.outbid {
                let why = "the case has sent a marker that outbids the coordinator's";
                return Err(Stop::Unclear(format!("{state}: {why}")));
            }
            if is_transient {
                self.route.forget();
            } else if !is_decided {
                let answer = coordinator.init_producer_id(1, InitProducerId::plain(id))?;
                let again =
                    answer.error == CONCURRENT_TRANSACTIONS || TRANSIENT.contains(&answer.error.0);
                if !can_describe && !again {
                    return Ok(());
                }
            }
            if !self.route.pause(AGAIN) {
                return Err(Stop::Unclear(format!("{error} {state}")));
            }
        }
    }

    fn delete_group(&mut self) -> Result<(), Stop> {
        if !self.route.has_asked_a_group() && self.party.is_empty() {
            return Ok(());
        }
        let group = self.group.clone();
        let of_the_party = std::mem::take(&mut self.party).into_keys();
        let of_the_party = of_the_party.map(|member_id| GroupMember {
            member_id,
            ..GroupMember::unknown()
        });
        let members = self.member.take().into_iter().chain(self.second.take());
        for member in members.chain(of_the_party).collect::<Vec<_>>() {
            let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
            coordinator.leave_group(&group, &member)?;
        }
        self.require(DELETE_GROUPS, "DeleteGroups", DELETE_GROUPS_VERSION)?;
        loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Group(&group))?;
            let error = coordinator.delete_group(&group)?;
            if error == ErrorCode::NONE || error == GROUP_ID_NOT_FOUND {
                return Ok(());
            }
            if !TRANSIENT.contains(&error.0) || !self.route.pause(AGAIN) {
                return Err(Stop::Unclear(error.to_string()));
            }
        }
    }

    fn delete_the_topic(&mut self) -> Result<(), Stop> {
        self.require(DELETE_TOPICS, "DeleteTopics", DELETE_TOPICS_VERSION)?;
        let topic = self.topic.clone();
        match self.route.any()?.delete_topic(&topic)? {
            ErrorCode::NONE | UNKNOWN_TOPIC => Ok(()),
            error => Err(Stop::Unclear(error.to_string())),
        }
    }
}

fn reason(stop: Stop) -> String {
    match stop {
        Stop::Wrong(why) | Stop::Skip(why) | Stop::Unclear(why) => why,
    }
}
