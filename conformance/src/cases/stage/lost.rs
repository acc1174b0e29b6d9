//! What a partition says where the model's log is another one: after an unclean election, of batches of several records.

use super::words::pair;
use super::{Outcome, Stage};
use crate::wire::{Batch, IsolationLevel};

const UNCLEAN: &str =
    "unclean.leader.election.enable: producers are what the log that is left says";

impl Stage {
    /// Produce v11 of the client, and the offset or the refusal.
    pub fn produce_again(&mut self, sequence: i32, allowed: &str) -> Outcome {
        self.produce_several(sequence, 1, allowed)
    }

    /// The same with a batch of so many records.
    pub fn produce_several(&mut self, sequence: i32, records: usize, allowed: &str) -> Outcome {
        let (id, partition) = (self.id(), self.topic_partition());
        let mut batch = Batch::transactional(self.wire(self.me()), sequence, "again");
        batch.records = vec![batch.records[0].clone(); records];
        let leader = self.route.leader(&partition)?;
        let answer = leader.produce(11, Some(&id), &partition, &batch)?;
        let found = format!("{} at {}", answer.error, answer.base_offset);
        let who = pair(self.me());
        let request = format!("Produce v11 {who} sequence {sequence}, {records} records");
        self.expect(&request, &found, &[allowed], UNCLEAN)
    }

    /// The producers, the ends of the log for both kinds of readers, and the aborted transactions.
    pub fn look(&mut self, allowed: &str) -> Outcome {
        let partition = self.topic_partition();
        let leader = self.route.leader(&partition)?;
        let (_, producers) = leader.describe_producers(&partition)?;
        let producers: Vec<String> = producers
            .iter()
            .map(|it| {
                let (sequence, open) = (it.last_sequence, it.current_txn_start_offset);
                format!(
                    "epoch {} sequence {sequence} open {open}",
                    it.producer.epoch
                )
            })
            .collect();
        let (_, end) = leader.latest_offset(&partition, IsolationLevel::ReadUncommitted)?;
        let (_, stable) = leader.latest_offset(&partition, IsolationLevel::ReadCommitted)?;
        let fetched = leader.fetch(&partition, 0, IsolationLevel::ReadCommitted)?;
        let found = format!(
            "[{}] end {end} stable {stable} aborted {}",
            producers.join(", "),
            fetched.aborted.map_or(0, |it| it.len())
        );
        self.expect(
            "DescribeProducers, ListOffsets, Fetch",
            &found,
            &[allowed],
            UNCLEAN,
        )
    }
}
