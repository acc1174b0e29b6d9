use super::{TransactionLogKey, TransactionLogValue, TransactionLogValueVersion as Version};
use crate::records::RecordError;
use crate::types::{ProducerEpoch, ProducerId, Timestamp, TopicPartition, TransactionVersion};
use proptest::prelude::*;

fn plain() -> TransactionLogValue {
    TransactionLogValue {
        producer_id: ProducerId::new(0x0102),
        previous_producer_id: None,
        next_producer_id: None,
        producer_epoch: Some(ProducerEpoch::new(0x0304)),
        next_producer_epoch: None,
        transaction_timeout_ms: 60_000,
        transaction_status: 1,
        transaction_partitions: Some(vec![
            TopicPartition::new("a", 0),
            TopicPartition::new("a", 5),
            TopicPartition::new("bc", 1),
        ]),
        last_update_timestamp: Timestamp::from_millis(0x0a),
        start_timestamp: Some(Timestamp::from_millis(0x0b)),
        client_transaction_version: TransactionVersion::V0,
    }
}

const ID_EPOCH_TIMEOUT_STATUS: [u8; 15] = [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0xea, 0x60, 1];
const TIMES: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0x0b];
const CLASSIC_PARTITIONS: [u8; 31] = [
    0, 0, 0, 2, 0, 1, b'a', 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, b'b', b'c', 0, 0, 0, 1, 0, 0,
    0, 1,
];
const COMPACT_PARTITIONS: [u8; 21] = [
    3, 2, b'a', 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 3, b'b', b'c', 2, 0, 0, 0, 1,
];

#[test]
fn the_key_bytes_are_kafkas() {
    let key = TransactionLogKey {
        transactional_id: "t1".into(),
    };
    let bytes = key.encode().expect("fits");
    assert_eq!(&bytes[..], [0, 0, 0, 2, b't', b'1']);
    assert_eq!(TransactionLogKey::decode(&bytes), Ok(key));
    assert_eq!(
        TransactionLogKey::decode(&[0, 1, 0, 0]),
        Err(RecordError::UnknownVersion(1))
    );
    let long = TransactionLogKey {
        transactional_id: "x".repeat(32_768).as_str().into(),
    };
    assert_eq!(long.encode(), Err(RecordError::TooLong));
}

#[test]
fn version_0_bytes_are_kafkas() {
    let bytes = [
        &[0, 0][..],
        &ID_EPOCH_TIMEOUT_STATUS,
        &CLASSIC_PARTITIONS,
        &TIMES,
    ]
    .concat();
    assert_eq!(&plain().encode(Version::V0).expect("fits")[..], bytes);
    assert_eq!(TransactionLogValue::decode(&bytes), Ok(plain()));
}

#[test]
fn version_1_bytes_are_kafkas_with_no_tag() {
    let bytes = [
        &[0, 1][..],
        &ID_EPOCH_TIMEOUT_STATUS,
        &COMPACT_PARTITIONS,
        &[0],
        &TIMES,
        &[0],
    ]
    .concat();
    assert_eq!(&plain().encode(Version::V1).expect("fits")[..], bytes);
    assert_eq!(TransactionLogValue::decode(&bytes), Ok(plain()));
}

#[test]
fn an_empty_id_writes_null_partitions_and_minus_one() {
    let empty = TransactionLogValue {
        transaction_partitions: None,
        start_timestamp: None,
        producer_epoch: None,
        ..plain()
    };
    let head = [0, 0, 0, 0, 0, 0, 1, 2, 0xff, 0xff, 0, 0, 0xea, 0x60, 1];
    let times = [&TIMES[..8], &[0xff; 8]].concat();
    let v0 = [&[0, 0][..], &head, &[0xff, 0xff, 0xff, 0xff], &times].concat();
    let v1 = [&[0, 1][..], &head, &[0], &times, &[0]].concat();
    for (version, bytes) in [(Version::V0, v0), (Version::V1, v1)] {
        assert_eq!(&empty.encode(version).expect("fits")[..], bytes);
        assert_eq!(TransactionLogValue::decode(&bytes), Ok(empty.clone()));
    }
}

/// One tag of a value: the tag's bytes on the wire, and the value that holds it.
fn tagged() -> Vec<(Vec<u8>, TransactionLogValue)> {
    vec![
        (
            vec![0, 8, 0, 0, 0, 0, 0, 0, 0, 42],
            TransactionLogValue {
                previous_producer_id: Some(ProducerId::new(42)),
                ..plain()
            },
        ),
        (
            vec![1, 8, 0, 0, 0, 0, 0, 0, 0, 73],
            TransactionLogValue {
                next_producer_id: Some(ProducerId::new(73)),
                ..plain()
            },
        ),
        (
            vec![2, 2, 0, 2],
            TransactionLogValue {
                client_transaction_version: TransactionVersion::V2,
                ..plain()
            },
        ),
        (
            vec![3, 2, 0x7f, 0xfe],
            TransactionLogValue {
                next_producer_epoch: Some(ProducerEpoch::LAST_USABLE),
                ..plain()
            },
        ),
    ]
}

#[test]
fn each_tag_alone_has_kafkas_bytes() {
    for (tag, value) in tagged() {
        let bytes = [
            &[0, 1][..],
            &ID_EPOCH_TIMEOUT_STATUS,
            &COMPACT_PARTITIONS,
            &[0],
            &TIMES,
            &[1],
            &tag,
        ]
        .concat();
        assert_eq!(
            &value.encode(Version::V1).expect("fits")[..],
            bytes,
            "tag {}",
            tag[0]
        );
        assert_eq!(
            TransactionLogValue::decode(&bytes),
            Ok(value.clone()),
            "tag {}",
            tag[0]
        );
        let v0 = value.encode(Version::V0).expect("fits");
        assert_eq!(
            TransactionLogValue::decode(&v0),
            Ok(plain()),
            "version 0 has no tags"
        );
    }
}

#[test]
fn all_tags_together_rise() {
    let all = TransactionLogValue {
        previous_producer_id: Some(ProducerId::new(42)),
        next_producer_id: Some(ProducerId::new(73)),
        client_transaction_version: TransactionVersion::V2,
        next_producer_epoch: Some(ProducerEpoch::LAST_USABLE),
        ..plain()
    };
    let tags: Vec<u8> = tagged().into_iter().flat_map(|(tag, _)| tag).collect();
    let bytes = [
        &[0, 1][..],
        &ID_EPOCH_TIMEOUT_STATUS,
        &COMPACT_PARTITIONS,
        &[0],
        &TIMES,
        &[4],
        &tags,
    ]
    .concat();
    assert_eq!(&all.encode(Version::V1).expect("fits")[..], bytes);
    assert_eq!(TransactionLogValue::decode(&bytes), Ok(all));
}

#[test]
fn an_unknown_tag_is_skipped_and_damage_is_named() {
    let with_tag = |tag: &[u8]| {
        [
            &[0, 1][..],
            &ID_EPOCH_TIMEOUT_STATUS,
            &COMPACT_PARTITIONS,
            &[0],
            &TIMES,
            &[1],
            tag,
        ]
        .concat()
    };
    assert_eq!(
        TransactionLogValue::decode(&with_tag(&[9, 3, 1, 2, 3])),
        Ok(plain())
    );
    assert_eq!(
        TransactionLogValue::decode(&with_tag(&[2, 2, 0, 7])),
        Err(RecordError::InvalidField("client transaction version"))
    );
    assert_eq!(
        TransactionLogValue::decode(&with_tag(&[2, 3, 0, 2, 0])),
        Err(RecordError::TrailingBytes(1))
    );
    assert_eq!(
        TransactionLogValue::decode(&with_tag(&[0, 8, 0])),
        Err(RecordError::UnexpectedEnd)
    );
    assert_eq!(
        TransactionLogValue::decode(&[0, 2]),
        Err(RecordError::UnknownVersion(2))
    );
    let mut negative = with_tag(&[2, 2, 0, 2]);
    negative[2] = 0xff;
    assert_eq!(
        TransactionLogValue::decode(&negative),
        Err(RecordError::InvalidField("producer id"))
    );
    let mut huge_count = plain().encode(Version::V0).expect("fits").to_vec();
    huge_count[17] = 0x7f;
    assert_eq!(
        TransactionLogValue::decode(&huge_count),
        Err(RecordError::InvalidLength)
    );
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..160), version in 0_u8..3) {
        let mut bytes = bytes;
        let _ = TransactionLogKey::decode(&bytes);
        if bytes.len() >= 2 {
            bytes[0] = 0;
            bytes[1] = version;
        }
        let _ = TransactionLogValue::decode(&bytes);
    }

    #[test]
    fn damage_is_read_without_a_panic(cut in 0_usize..90, at in 0_usize..90, to in any::<u8>()) {
        let mut bytes = tagged()[1].1.encode(Version::V1).expect("fits").to_vec();
        bytes.truncate(cut);
        if let Some(byte) = bytes.get_mut(at) {
            *byte = to;
        }
        if let Ok(value) = TransactionLogValue::decode(&bytes) {
            let again = value.encode(Version::V1).expect("what was read fits");
            prop_assert_eq!(TransactionLogValue::decode(&again), Ok(value));
        }
    }
}
