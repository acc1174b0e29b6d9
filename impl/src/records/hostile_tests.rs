//! Every record type against bytes that nobody wrote: noise, flipped bits, cut ends. Nothing panics, and nothing is taken
//! for the record that it was made from.

use super::RecordError;
use super::group_metadata::{GroupMetadataKey, GroupMetadataValue, MemberMetadata};
use super::offset_commit::{OffsetCommitKey, OffsetCommitValue};
use super::transaction_log::{
    TransactionLogKey, TransactionLogValue, TransactionLogValueVersion as Version,
};
use crate::types::{
    LeaderEpoch, Offset, ProducerEpoch, ProducerId, Timestamp, TopicPartition, TransactionVersion,
};
use bytes::Bytes;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// Reads bytes and writes what was read, at the version that the bytes name.
type Reread = fn(&[u8]) -> Result<Bytes, RecordError>;

const KINDS: [(&str, Reread); 6] = [
    ("TransactionLogKey", |bytes| {
        TransactionLogKey::decode(bytes)?.encode()
    }),
    ("TransactionLogValue", |bytes| {
        let version = match bytes.get(1) {
            Some(0) => Version::V0,
            Some(_) | None => Version::V1,
        };
        TransactionLogValue::decode(bytes)?.encode(version)
    }),
    ("OffsetCommitKey", |bytes| {
        OffsetCommitKey::decode(bytes)?.encode()
    }),
    ("OffsetCommitValue", |bytes| {
        OffsetCommitValue::decode(bytes)?.encode(version(bytes))
    }),
    ("GroupMetadataKey", |bytes| {
        GroupMetadataKey::decode(bytes)?.encode()
    }),
    ("GroupMetadataValue", |bytes| {
        GroupMetadataValue::decode(bytes)?.encode(version(bytes))
    }),
];

fn version(bytes: &[u8]) -> i16 {
    match bytes {
        [high, low, ..] => i16::from_be_bytes([*high, *low]),
        [] | [_] => -1,
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-z]{0,9}|é|😀"
}

fn partitions() -> impl Strategy<Value = Option<Vec<TopicPartition>>> {
    // Neighbours of one topic are one group on the wire.
    of(vec(("[a-z]{1,5}", vec(0_i32..9, 1..4)), 0..4)).prop_map(|topics| {
        let mut topics = topics?;
        topics.dedup_by(|a, b| a.0 == b.0);
        let partitions = topics.iter().flat_map(|(topic, partitions)| {
            partitions
                .iter()
                .map(|number| TopicPartition::new(topic, *number))
        });
        Some(partitions.collect())
    })
}

prop_compose! {
    fn transaction_log_value()(
        (producer_id, previous, next) in (0_i64.., of(0_i64..), of(0_i64..)),
        (epoch, next_epoch) in (of(0_i16..), of(0_i16..)),
        transaction_timeout_ms in any::<i32>(),
        transaction_status in 0_i8..6,
        transaction_partitions in partitions(),
        (last_update, start) in (0_i64.., of(0_i64..)),
        client in 0_usize..3,
    ) -> TransactionLogValue {
        TransactionLogValue {
            producer_id: ProducerId::new(producer_id),
            previous_producer_id: previous.map(ProducerId::new),
            next_producer_id: next.map(ProducerId::new),
            producer_epoch: epoch.map(ProducerEpoch::new),
            next_producer_epoch: next_epoch.map(ProducerEpoch::new),
            transaction_timeout_ms,
            transaction_status,
            transaction_partitions,
            last_update_timestamp: Timestamp::from_millis(last_update),
            start_timestamp: start.map(Timestamp::from_millis),
            client_transaction_version:
                [TransactionVersion::V0, TransactionVersion::V1, TransactionVersion::V2][client],
        }
    }
}

prop_compose! {
    fn offset_commit_value()(
        offset in 0_i64..,
        leader_epoch in of(0_i32..),
        metadata in text(),
        (commit, expire) in (0_i64.., of(0_i64..)),
        topic_id in of(any::<[u8; 16]>()),
    ) -> OffsetCommitValue {
        OffsetCommitValue {
            offset: Offset::new(offset),
            leader_epoch: leader_epoch.map(LeaderEpoch::new),
            metadata,
            commit_timestamp: Timestamp::from_millis(commit),
            expire_timestamp: expire.map(Timestamp::from_millis),
            topic_id,
        }
    }
}

prop_compose! {
    fn member()(
        (member_id, client_id, client_host) in (text(), text(), text()),
        group_instance_id in of(text()),
        (rebalance_timeout_ms, session_timeout_ms) in (any::<i32>(), any::<i32>()),
        (subscription, assignment) in (vec(any::<u8>(), 0..9), vec(any::<u8>(), 0..9)),
    ) -> MemberMetadata {
        MemberMetadata {
            member_id,
            group_instance_id,
            client_id,
            client_host,
            rebalance_timeout_ms,
            session_timeout_ms,
            subscription: subscription.into(),
            assignment: assignment.into(),
        }
    }
}

prop_compose! {
    fn group_metadata_value()(
        protocol_type in text(),
        generation in any::<i32>(),
        (protocol, leader) in (of(text()), of(text())),
        changed in of(0_i64..),
        members in vec(member(), 0..4),
    ) -> GroupMetadataValue {
        GroupMetadataValue {
            protocol_type,
            generation,
            protocol,
            leader,
            current_state_timestamp: changed.map(Timestamp::from_millis),
            members,
        }
    }
}

/// A record's kind, and the bytes of one.
fn record() -> impl Strategy<Value = (usize, Bytes)> {
    let fits = |bytes: Result<Bytes, RecordError>| bytes.expect("small records fit");
    prop_oneof![
        text().prop_map(move |id| {
            let key = TransactionLogKey {
                transactional_id: id.as_str().into(),
            };
            (0, fits(key.encode()))
        }),
        (transaction_log_value(), any::<bool>()).prop_map(move |(value, flexible)| {
            let version = if flexible { Version::V1 } else { Version::V0 };
            (1, fits(value.encode(version)))
        }),
        (text(), text(), any::<i32>()).prop_map(move |(group, topic, partition)| {
            let key = OffsetCommitKey {
                group: group.as_str().into(),
                partition: TopicPartition::new(&topic, partition),
            };
            (2, fits(key.encode()))
        }),
        (offset_commit_value(), 0_i16..5)
            .prop_map(move |(value, version)| (3, fits(value.encode(version)))),
        text().prop_map(move |group| {
            let key = GroupMetadataKey {
                group: group.as_str().into(),
            };
            (4, fits(key.encode()))
        }),
        (group_metadata_value(), 0_i16..5)
            .prop_map(move |(value, version)| (5, fits(value.encode(version)))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_written_is_read_and_written_again_byte_for_byte((kind, bytes) in record()) {
        let (name, reread) = KINDS[kind];
        prop_assert_eq!(reread(&bytes), Ok(bytes), "{}", name);
    }

    #[test]
    fn values_go_round_at_the_newest_version(
        log in transaction_log_value(),
        offset in offset_commit_value(),
        group in group_metadata_value(),
    ) {
        let bytes = log.encode(Version::V1).expect("fits");
        prop_assert_eq!(TransactionLogValue::decode(&bytes), Ok(log));
        let bytes = offset.encode(4).expect("fits");
        let kept = OffsetCommitValue { expire_timestamp: None, ..offset };
        prop_assert_eq!(OffsetCommitValue::decode(&bytes), Ok(kept));
        let bytes = group.encode(4).expect("fits");
        prop_assert_eq!(GroupMetadataValue::decode(&bytes), Ok(group));
    }

    #[test]
    fn a_cut_record_is_never_a_record((kind, bytes) in record()) {
        let (name, reread) = KINDS[kind];
        for cut in 0..bytes.len() {
            prop_assert!(reread(&bytes[..cut]).is_err(), "{} cut at {}", name, cut);
        }
    }

    #[test]
    fn a_flipped_bit_is_refused_or_seen((kind, bytes) in record(), at: usize, bit in 0_u8..8) {
        let (name, reread) = KINDS[kind];
        let mut flipped = bytes.to_vec();
        let at = at % flipped.len();
        flipped[at] ^= 1 << bit;
        if let Ok(again) = reread(&flipped) {
            // Two things have more than one form: key type 0 of a committed offset is type 1 in all else, and any
            // negative number says "none" where -1 does.
            let legacy = name == "OffsetCommitKey" && at < 2;
            let none = bytes[at.saturating_sub(7)..=at].contains(&0xff);
            prop_assert!(again != bytes || legacy || none, "{} byte {} bit {}", name, at, bit);
            prop_assert_eq!(reread(&again), Ok(again.clone()));
        }
    }

    #[test]
    fn noise_never_panics_and_what_is_read_of_it_is_stable(
        noise in vec(any::<u8>(), 0..200),
        version in 0_u8..6,
    ) {
        let mut versioned = noise.clone();
        if let [high, low, ..] = versioned.as_mut_slice() {
            (*high, *low) = (0, version);
        }
        for (name, reread) in KINDS {
            for bytes in [&noise, &versioned] {
                if let Ok(again) = reread(bytes) {
                    prop_assert_eq!(reread(&again), Ok(again.clone()), "{}", name);
                }
            }
        }
    }
}
