//! OffsetFetch: a consumer asks where its group is.

use super::{Answer, Effect, GroupCoordinator, OffsetFetch};
use crate::error_code::ErrorCode;
use crate::records::offset_commit::OffsetCommitKey;
use crate::types::TopicPartition;

impl GroupCoordinator {
    /// A stable answer is taken from the log end and waits until that is replicated: it must not miss a commit that is
    /// on its way (B25). A plain one is taken from what is replicated.
    pub(super) fn offset_fetch(&mut self, fetch: OffsetFetch) -> Vec<Effect> {
        let request = fetch.request;
        let mut effects = Vec::new();
        if let Err(code) = self.serving() {
            effects.push(Effect::Reply {
                request,
                answer: Answer::OffsetFetch(Err(code)),
            });
            return effects;
        }
        let offsets = if fetch.require_stable {
            self.offsets.latest()
        } else {
            self.offsets.replicated()
        };
        // As in Kafka 4.4, a fetch of everything knows nothing of partitions that are only staged, stable or not.
        let everything = || offsets.committed_of(&fetch.group).cloned().collect();
        let partitions = fetch.partitions.unwrap_or_else(everything);
        let line = |partition: TopicPartition| {
            let key = OffsetCommitKey {
                group: fetch.group.clone(),
                partition,
            };
            let unstable = fetch.require_stable && offsets.is_staged(&key);
            let result = if seeded!(UnstableAnswered, unstable, false) {
                Err(ErrorCode::UnstableOffsetCommit)
            } else {
                Ok(offsets.committed(&key).cloned())
            };
            (key.partition, result)
        };
        let answer = Answer::OffsetFetch(Ok(partitions.into_iter().map(line).collect()));
        let reached = if fetch.require_stable {
            self.partition.log().end_offset()
        } else {
            self.partition.high_watermark()
        };
        self.reply_at(reached, request, answer, &mut effects);
        effects
    }
}
