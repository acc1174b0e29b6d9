//! Where one can go from a place, and what can be asked there.

use fencepost_spec::types::*;

use super::node::Node;
use crate::cases::tour::command::{Command, Place};
use crate::cases::tour::{FAR, is_far_marker};

const STRANGER: ProducerId = ProducerId(200);
const VERSIONS: [TransactionVersion; 2] = [TransactionVersion::Tv1, TransactionVersion::Tv2];
const RESULTS: [TransactionResult; 2] = [TransactionResult::Commit, TransactionResult::Abort];

impl Node {
    /// What may come before the request that meets a cell.
    pub(super) fn steps(&self) -> Vec<Vec<Command>> {
        if self.log_held {
            return Vec::new();
        }
        let mut steps = vec![Command::Init(None)];
        if self.path.len() <= 1 {
            steps.push(Command::DeleteTopic);
        }
        if self.active == 0 && self.path.len() > 1 {
            steps.push(Command::Switch);
        }
        if self.joined {
            steps.push(Command::Rebalance);
        } else {
            steps.push(Command::Join);
        }
        if let Some(me) = self.me() {
            let above = at_epoch(me, 1);
            let p0 = Place {
                who: me,
                partition: 0,
            };
            let p1 = Place {
                who: me,
                partition: 1,
            };
            steps.extend([Command::Add(p0), Command::Init(Some(me))]);
            for version in VERSIONS {
                for at in [p0, p1] {
                    steps.push(Command::Produce(version, at, self.next_sequence(at)));
                }
                for result in RESULTS {
                    steps.push(Command::End(version, result, me));
                }
                steps.push(Command::Stage(version, me, None));
            }
            let held = self.path.iter().any(is_far_marker);
            if !held {
                for who in [me, above] {
                    let at = Place { who, partition: 0 };
                    steps.push(Command::Marker(
                        TransactionVersion::Tv1,
                        TransactionResult::Abort,
                        at,
                        FAR,
                    ));
                }
            }
        }
        let held = steps.clone();
        let held = held
            .into_iter()
            .filter(|it| {
                !matches!(
                    it,
                    Command::Join | Command::Rebalance | Command::DeleteTopic | Command::Switch
                )
            })
            .map(|it| vec![Command::HoldLog, Command::Unanswered, it]);
        let held: Vec<Vec<Command>> = held.collect();
        let rebalance = (!self.joined).then(|| vec![Command::Join, Command::Rebalance]);
        steps
            .into_iter()
            .map(|it| vec![it])
            .chain(rebalance)
            .chain(held)
            .collect()
    }

    /// Every request, with every neighbouring identity.
    pub(super) fn probes(&self) -> Vec<Vec<Command>> {
        let mut probes = vec![
            Command::Init(None),
            Command::InitTooLong,
            Command::FetchOffset,
        ];
        for who in self.neighbours() {
            let p0 = Place { who, partition: 0 };
            probes.extend([Command::Init(Some(who)), Command::AddOffsets(who)]);
            for partition in [0, 1] {
                let at = Place { who, partition };
                probes.extend([
                    Command::Add(at),
                    Command::Verify(at),
                    Command::AddByBroker(at),
                ]);
                self.produce_probes(at, &mut probes);
            }
            for version in VERSIONS {
                for result in RESULTS {
                    probes.push(Command::End(version, result, who));
                }
                probes.push(Command::Stage(version, who, None));
                if self.joined {
                    probes.extend([1, 0, 9].map(|g| Command::Stage(version, who, Some(g))));
                }
                for epoch in [0, FAR] {
                    let abort = TransactionResult::Abort;
                    probes.push(Command::Marker(version, abort, p0, epoch));
                }
            }
        }
        let first = self.path.is_empty();
        let elsewhere = probes.clone();
        let elsewhere = elsewhere
            .into_iter()
            .filter(|_| first)
            .filter(is_for_the_coordinator)
            .map(|it| vec![Command::Elsewhere, it]);
        let elsewhere: Vec<Vec<Command>> = elsewhere.collect();
        probes
            .into_iter()
            .map(|it| vec![it])
            .chain(elsewhere)
            .collect()
    }

    fn produce_probes(&self, at: Place, probes: &mut Vec<Command>) {
        let next = self.next_sequence(at);
        let mut sequences = vec![0, next, next + 4];
        if next > 0 {
            sequences.push(next - 1);
        }
        for sequence in sequences {
            probes.extend(VERSIONS.map(|version| Command::Produce(version, at, sequence)));
            probes.push(Command::ProducePlain(at, sequence));
        }
    }

    fn neighbours(&self) -> Vec<Identity> {
        let other = self.clients[1 - self.active].map(|other| at_epoch(other, 1));
        let Some(me) = self.me() else {
            let stranger = Identity::new(STRANGER, ProducerEpoch(0));
            return [stranger].into_iter().chain(other).collect();
        };
        let mut found = vec![
            me,
            Identity::new(STRANGER, me.producer_epoch),
            at_epoch(me, 1),
        ];
        if me.producer_epoch.0 > 0 {
            found.push(at_epoch(me, -1));
        }
        found
    }
}

fn at_epoch(identity: Identity, by: i16) -> Identity {
    Identity::new(
        identity.producer_id,
        ProducerEpoch(identity.producer_epoch.0 + by),
    )
}

fn is_for_the_coordinator(command: &Command) -> bool {
    matches!(
        command,
        Command::Init(_)
            | Command::Add(_)
            | Command::AddOffsets(_)
            | Command::Verify(_)
            | Command::AddByBroker(_)
            | Command::End(..)
    )
}
