//! Groups of several members: each has a connection of its own, on which its request may wait for the others.

use bytes::Bytes;

use super::{Outcome, Stage, Stop, judge::unclear};
use crate::cases::route::{Route, waited};
use crate::wire::{CoordinatorKey, ErrorCode, GroupMember, Terms};

const CLASSIC: &str = "the classic group protocol";
/// How long a request of a member is waited for at a broker that does not say how many it has: it has arrived by then.
const ARRIVED: std::time::Duration = std::time::Duration::from_millis(300);

/// A member of the case's group, with its connection.
#[derive(Debug)]
pub struct Seat {
    name: &'static str,
    terms: Terms,
    route: Route,
    /// Who it is by now.
    pub member: GroupMember,
}

impl Seat {
    /// What it asks for from here on.
    pub fn change(&mut self, terms: Terms) {
        self.terms = terms;
    }
}

impl Stage {
    /// Somebody who is no member yet.
    pub fn seat(&mut self, name: &'static str, terms: Terms) -> Seat {
        Seat {
            name,
            route: self.route.aside(self.route.timeout()),
            member: GroupMember {
                instance_id: terms.instance_id.map(str::to_owned),
                ..GroupMember::unknown()
            },
            terms,
        }
    }

    /// JoinGroup without a member id: only an id is given, and whoever it is comes again with it.
    pub fn ask_for_id(&mut self, seat: &mut Seat) -> Outcome {
        let answer = self.joining(seat)?;
        let found = answer.error.to_string();
        seat.member.member_id = answer.member_id;
        self.know(seat);
        let request = format!("JoinGroup v5 of {} without an id", seat.name);
        self.expect(&request, &found, &["MEMBER_ID_REQUIRED"], "KIP-394")
    }

    /// The same of somebody whose id is not good any more.
    pub fn ask_for_id_again(&mut self, seat: &mut Seat) -> Outcome {
        seat.member.member_id.clear();
        self.ask_for_id(seat)
    }

    /// JoinGroup, which is not answered before the others have joined.
    pub fn send_join(&mut self, seat: &mut Seat) -> Outcome {
        let group = self.group.clone();
        let id = seat.member.member_id.clone();
        let wire = seat.route.coordinator(CoordinatorKey::Group(&group))?;
        wire.send_join_group(&group, &id, seat.name, &seat.terms)?;
        Ok(())
    }

    /// The answer to JoinGroup: error, generation, protocol, and for the leader everybody's name and metadata.
    pub fn joined(&mut self, seat: &mut Seat, allowed: &str) -> Outcome {
        let group = self.group.clone();
        let wire = seat.route.coordinator(CoordinatorKey::Group(&group))?;
        let answer = wire.receive_join_group()?;
        let found = if answer.error == ErrorCode::NONE {
            seat.member.member_id = answer.member_id;
            seat.member.generation_id = answer.generation_id;
            self.know(seat);
            let leader = self.known(&answer.leader);
            let mut members: Vec<String> = answer
                .members
                .iter()
                .map(|(id, instance, metadata)| {
                    let instance = instance
                        .as_deref()
                        .map_or(String::new(), |it| format!(" as {it}"));
                    let metadata = String::from_utf8_lossy(metadata);
                    format!("{}{instance} ({metadata})", self.known(id))
                })
                .collect();
            members.sort();
            let members = members.join(", ");
            format!(
                "generation {} by {}, {leader} leads [{members}]",
                answer.generation_id, answer.protocol
            )
        } else {
            answer.error.to_string()
        };
        let request = format!("JoinGroup v5 of {}", seat.name);
        self.expect(&request, &found, &[allowed], CLASSIC)
    }

    /// The same of a static member that has restarted, which is told who it was before as the leader.
    pub fn joined_after(&mut self, seat: &mut Seat, old: &Seat, allowed: &str) -> Outcome {
        self.joined(seat, allowed)?;
        let differs = seat.member.member_id != old.member.member_id;
        self.expect(
            "its member id",
            &differs.to_string(),
            &["true"],
            "KIP-345: each start has an id",
        )
    }

    /// JoinGroup that is answered at once.
    pub fn join_at_once(&mut self, seat: &mut Seat, allowed: &str) -> Outcome {
        self.send_join(seat)?;
        self.joined(seat, allowed)
    }

    /// SyncGroup, from a leader with what everybody is assigned, which waits until the leader has assigned.
    pub fn send_sync(&mut self, seat: &mut Seat, assigned: &[(&Seat, &'static str)]) -> Outcome {
        let assignments: Vec<(String, Bytes)> = assigned.iter().map(one).collect();
        self.send_assignments(seat, &assignments)
    }

    /// The same of a leader that assigns something to itself as well.
    pub fn send_sync_of_leader(
        &mut self,
        seat: &mut Seat,
        own: &'static str,
        others: &[(&Seat, &'static str)],
    ) -> Outcome {
        let mut assignments: Vec<(String, Bytes)> = others.iter().map(one).collect();
        assignments.push((
            seat.member.member_id.clone(),
            Bytes::from_static(own.as_bytes()),
        ));
        self.send_assignments(seat, &assignments)
    }

    /// The answer to SyncGroup: error and assignment.
    pub fn synced(&mut self, seat: &mut Seat, allowed: &str) -> Outcome {
        let group = self.group.clone();
        let wire = seat.route.coordinator(CoordinatorKey::Group(&group))?;
        let (error, assignment) = wire.receive_sync_group()?;
        let found = if error == ErrorCode::NONE {
            format!("assigned {:?}", String::from_utf8_lossy(&assignment))
        } else {
            error.to_string()
        };
        let request = format!("SyncGroup v3 of {}", seat.name);
        self.expect(&request, &found, &[allowed], CLASSIC)
    }

    /// So many requests have arrived and wait.
    pub fn waiting(&mut self, expected: usize) -> Outcome {
        let Some(judge) = self.judge.clone() else {
            return Err(Stop::Skip("needs a broker that we started".to_owned()));
        };
        loop {
            let Some(found) = judge.unanswered().map_err(unclear)? else {
                self.route.pause(ARRIVED);
                return Ok(());
            };
            if found == expected {
                let found = found.to_string();
                return self.expect("requests that wait", &found, &[&found], CLASSIC);
            }
            if !self.route.pause(std::time::Duration::from_millis(1)) {
                return Err(waited(&format!("{expected} requests: {found} wait")).into());
            }
        }
    }

    /// So many requests wait, now that all have arrived.
    pub fn still_waiting(&mut self, expected: usize) -> Outcome {
        let Some(judge) = self.judge.clone() else {
            return Err(Stop::Skip("needs a broker that we started".to_owned()));
        };
        match judge.unanswered().map_err(unclear)? {
            None => Ok(()),
            Some(found) => {
                let (found, expected) = (found.to_string(), expected.to_string());
                self.expect("requests that wait", &found, &[&expected], CLASSIC)
            }
        }
    }

    fn send_assignments(&mut self, seat: &mut Seat, assigned: &[(String, Bytes)]) -> Outcome {
        let group = self.group.clone();
        let member = seat.member.clone();
        let wire = seat.route.coordinator(CoordinatorKey::Group(&group))?;
        wire.send_sync_group(&group, &member, assigned)?;
        Ok(())
    }

    fn joining(&mut self, seat: &mut Seat) -> Result<crate::wire::GenerationAnswer, Stop> {
        self.send_join(seat)?;
        let group = self.group.clone();
        let wire = seat.route.coordinator(CoordinatorKey::Group(&group))?;
        Ok(wire.receive_join_group()?)
    }

    fn know(&mut self, seat: &Seat) {
        let id = seat.member.member_id.clone();
        self.party.insert(id, seat.name);
    }

    fn known(&self, id: &str) -> &'static str {
        self.party.get(id).copied().unwrap_or("a stranger")
    }
}

fn one((seat, what): &(&Seat, &'static str)) -> (String, Bytes) {
    (
        seat.member.member_id.clone(),
        Bytes::from_static(what.as_bytes()),
    )
}
