//! The partitions of one transaction.

use std::sync::Arc;

use crate::types::TopicPartition;

/// A set of partitions, in their order. Copies share it; a change makes a new one, so a change costs as much as the set
/// is large, which for the sets that transactions have is less than a tree costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionSet {
    sorted: Arc<[TopicPartition]>,
}

impl PartitionSet {
    /// Whether a partition is in the set.
    #[must_use]
    pub fn contains(&self, partition: &TopicPartition) -> bool {
        self.sorted.binary_search(partition).is_ok()
    }

    /// The partitions, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[TopicPartition] {
        &self.sorted
    }

    /// Whether there is no partition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The set with these partitions added.
    #[must_use]
    pub fn with(&self, added: &[TopicPartition]) -> Self {
        // A leader adds one: it is put in its place, and nothing is sorted.
        let [one] = added else {
            return self.sorted.iter().chain(added).cloned().collect();
        };
        match self.sorted.binary_search(one) {
            Ok(_) => self.clone(),
            Err(at) => {
                let (before, after) = self.sorted.split_at(at);
                let all = before.iter().chain(added).chain(after).cloned();
                Self {
                    sorted: all.collect(),
                }
            }
        }
    }

    /// The set without these partitions.
    #[must_use]
    pub fn without(&self, removed: &Self) -> Self {
        let left = self
            .sorted
            .iter()
            .filter(|partition| !removed.contains(partition));
        Self {
            sorted: left.cloned().collect(),
        }
    }
}

impl FromIterator<TopicPartition> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = TopicPartition>>(partitions: I) -> Self {
        let mut sorted: Vec<TopicPartition> = partitions.into_iter().collect();
        sorted.sort();
        sorted.dedup();
        Self {
            sorted: sorted.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PartitionSet;
    use crate::types::TopicPartition;

    #[test]
    fn a_set_is_sorted_and_has_each_partition_once() {
        let [a, b, c] = [0, 1, 2].map(|partition| TopicPartition::new("t", partition));
        let set: PartitionSet = [c.clone(), a.clone(), c.clone()].into_iter().collect();
        assert_eq!(set.as_slice(), [a.clone(), c.clone()]);
        assert!(set.contains(&c) && !set.contains(&b));
        let more = set.with(&[b.clone(), a.clone()]);
        assert_eq!(more.as_slice(), [a.clone(), b.clone(), c.clone()]);
        let first = TopicPartition::new("s", 7);
        let last = TopicPartition::new("u", 0);
        for one in [&first, &b, &last] {
            let by_sorting: PartitionSet = set.as_slice().iter().chain([one]).cloned().collect();
            assert_eq!(set.with(std::slice::from_ref(one)), by_sorting);
        }
        assert_eq!(set.with(std::slice::from_ref(&c)), set);
        let less = more.without(&set);
        assert_eq!(less.as_slice().len(), 1);
        assert!(less.without(&less).is_empty());
        assert_eq!(less.without(&less), PartitionSet::default());
    }
}
