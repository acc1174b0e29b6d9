//! Other replicas of the partitions: they have followed the leader, and take over from it.

use fencepost::batch::RecordBatch;
use fencepost::group::{self, GroupCoordinator};
use fencepost::partition::{Input, Partition, PartitionConfig, Role, Verifications};
use fencepost::types::{LeaderEpoch, Offset, Timestamp};

use super::broker::{Broker, Work};

/// How many batches a fetch brings beside those that its follower has.
const NEW: usize = 2;

impl Broker {
    /// Where nothing is asked and nobody waits for an answer no guard is kept, or they would pile up.
    ///
    /// # Panics
    /// Where one is.
    pub(super) fn check_guards(&mut self) {
        let none = Verifications::default();
        let of_data = self.topics.partitions_mut().map(|it| &*it);
        let unasked = of_data.filter(|it| it.parked().next().is_none());
        let of_groups = self.groups.iter().filter(|it| it.parked().next().is_none());
        for partition in unasked.chain(of_groups.map(GroupCoordinator::partition)) {
            let verifications = partition.verifications();
            if verifications.iter().next().is_none() {
                assert_eq!(*verifications, none, "guards that nobody holds");
            }
        }
    }

    /// A follower of each partition leads from here on: it has everything, and nothing but what the leader sent.
    pub(super) fn fail_over(&mut self) {
        let now = self.now();
        let config = self.settings.partition;
        for replica in self.topics.partitions_mut() {
            *replica = follower(config, replica, now);
            lead(replica, now);
        }
        for index in 0..self.offsets_partitions() {
            let Some(group) = usize::try_from(index)
                .ok()
                .and_then(|it| self.groups.get_mut(it))
            else {
                continue;
            };
            let followed = follower(config, group.partition(), now);
            let leader_epoch = next(followed.role());
            *group = GroupCoordinator::of(self.settings.group, followed);
            for input in [
                group::Input::BecomeLeader { leader_epoch },
                group::Input::Load { leader_epoch },
            ] {
                self.queue(Work::Group(index, input));
            }
        }
        self.settle();
    }

    /// Every leader hears of its own leadership again, as of another one's, and what was meant for a follower.
    pub(super) fn hear_late(&mut self) {
        let now = self.now();
        let to = Offset::ZERO;
        for replica in self.topics.partitions_mut() {
            let leader_epoch = known(replica.role());
            replica.step(Input::BecomeLeader { leader_epoch }, now);
            replica.step(Input::BecomeFollower { leader_epoch }, now);
            replica.step(Input::Truncate { to }, now);
        }
        for index in 0..self.offsets_partitions() {
            let group = usize::try_from(index)
                .ok()
                .and_then(|it| self.groups.get(it));
            let Some(leader_epoch) = group.map(|it| known(it.partition().role())) else {
                continue;
            };
            for input in [
                group::Input::BecomeLeader { leader_epoch },
                group::Input::BecomeFollower { leader_epoch },
                group::Input::Truncate { to },
            ] {
                self.queue(Work::Group(index, input));
            }
        }
        self.settle();
    }

    /// An unclean election: of each partition of data a replica leads that lacks the last `lost` batches, and this one
    /// follows it until it leads again.
    pub(super) fn lose(&mut self, lost: usize) {
        let now = self.now();
        for replica in self.topics.partitions_mut() {
            let log = replica.log();
            let ends: Vec<Offset> = log
                .batches_from(log.start_offset())
                .map(RecordBatch::base_offset)
                .collect();
            let Some(to) = ends.len().checked_sub(lost).and_then(|kept| ends.get(kept)) else {
                continue;
            };
            let leader_epoch = next(replica.role());
            replica.step(Input::BecomeFollower { leader_epoch }, now);
            replica.step(Input::Truncate { to: *to }, now);
            lead(replica, now);
        }
    }
}

/// The leadership that a replica knows.
fn known(role: Role) -> LeaderEpoch {
    match role {
        Role::Leader(epoch) | Role::Follower(Some(epoch)) => epoch,
        Role::Follower(None) => LeaderEpoch::new(0),
    }
}

/// The one after it.
fn next(role: Role) -> LeaderEpoch {
    LeaderEpoch::new(known(role).get() + 1)
}

/// Alone it has replicated everything.
fn lead(replica: &mut Partition, now: Timestamp) {
    let leader_epoch = next(replica.role());
    replica.step(Input::BecomeLeader { leader_epoch }, now);
    let up_to = replica.log().end_offset();
    replica.step(Input::Replicated { up_to }, now);
}

/// A replica that has followed `leader`. Each fetch brings the batch again that it got last, and a high watermark that
/// lags behind; once it hears that it is to cut what lies above the leader's log end, where it has nothing.
fn follower(config: PartitionConfig, leader: &Partition, now: Timestamp) -> Partition {
    let mut replica = Partition::new(config);
    let leader_epoch = known(leader.role());
    replica.step(Input::BecomeFollower { leader_epoch }, now);
    let log = leader.log();
    let batches: Vec<RecordBatch> = log.batches_from(log.start_offset()).cloned().collect();
    let mut had = 0;
    while had < batches.len() {
        let fetched = batches[had.saturating_sub(1)..batches.len().min(had + NEW)].to_vec();
        let high_watermark = batches[had].base_offset();
        replica.step(
            Input::Replicate {
                batches: fetched,
                high_watermark,
            },
            now,
        );
        let to = replica.log().end_offset();
        replica.step(Input::Truncate { to }, now);
        had += NEW;
    }
    let high_watermark = leader.high_watermark();
    let batches = Vec::new();
    replica.step(
        Input::Replicate {
            batches,
            high_watermark,
        },
        now,
    );
    replica
}
