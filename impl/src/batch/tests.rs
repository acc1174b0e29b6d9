//! Byte vectors, round trips and hostile bytes.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::types::{
    CoordinatorEpoch, LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence, Timestamp,
    TransactionResult,
};

/// A commit marker of producer 42, epoch 5, coordinator epoch 9, at offset 7 and leader epoch 3, computed apart from
/// this crate from the format's description.
const COMMIT_MARKER: &str = "0000000000000007000000420000000302c2ff330500300000000000000000000003e8\
    00000000000003e8000000000000002a0005ffffffff000000012000000008000000010c00000000000900";

/// Two records at offset 100 of a transaction of producer 42: value "a"; key "k", tombstone, header "h" twice.
const TWO_RECORDS: &str = "000000000000006400000048ffffffff02ef7983f2001000000001000000000000\
    03e800000000000003ed000000000000002a000500000007000000020e000000010261001c000a02026b01040268\
    0231026801";

fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn marker() -> NewBatch {
    let mut batch = NewBatch::end_txn_marker(
        ProducerId::new(42),
        ProducerEpoch::new(5),
        EndTxnMarker {
            result: TransactionResult::Commit,
            coordinator_epoch: CoordinatorEpoch::new(9),
        },
        Timestamp::from_millis(1000),
    );
    batch.base_offset = Offset::new(7);
    batch.leader_epoch = Some(LeaderEpoch::new(3));
    batch
}

fn two_records() -> NewBatch {
    let header = |value: Option<&'static [u8]>| NewHeader {
        key: Bytes::from_static(b"h"),
        value: value.map(Bytes::from_static),
    };
    let mut second = NewRecord::new(
        Timestamp::from_millis(1005),
        Some(Bytes::from_static(b"k")),
        None,
    );
    second.headers = vec![header(Some(b"1")), header(None)];
    NewBatch {
        base_offset: Offset::new(100),
        leader_epoch: None,
        producer: Some(BatchProducer {
            producer_id: ProducerId::new(42),
            producer_epoch: ProducerEpoch::new(5),
            base_sequence: Some(Sequence::new(7)),
        }),
        is_transactional: true,
        is_control: false,
        records: vec![
            NewRecord::new(
                Timestamp::from_millis(1000),
                None,
                Some(Bytes::from_static(b"a")),
            ),
            second,
        ],
    }
}

fn patched(bytes: &Bytes, at: usize, new: &[u8], fix_crc: bool) -> Bytes {
    let mut out = bytes.to_vec();
    out[at..at + new.len()].copy_from_slice(new);
    if fix_crc {
        let crc = crc32c::crc32c(&out[21..]);
        out[17..21].copy_from_slice(&crc.to_be_bytes());
    }
    out.into()
}

#[test]
fn a_marker_is_written_byte_for_byte() {
    let batch = marker().write().unwrap();
    assert_eq!(batch.bytes(), &hex(COMMIT_MARKER));
    assert_eq!(
        batch.control_record(),
        Ok(Some(ControlRecord::EndTxn(EndTxnMarker {
            result: TransactionResult::Commit,
            coordinator_epoch: CoordinatorEpoch::new(9),
        })))
    );
    assert_eq!(batch.last_sequence(), None);
    assert_eq!(batch.next_offset(), Offset::new(8));
}

#[test]
fn records_are_written_and_read_byte_for_byte() {
    let batch = two_records().write().unwrap();
    assert_eq!(batch.bytes(), &hex(TWO_RECORDS));
    let records: Vec<Record<'_>> = batch.records().unwrap().map(Result::unwrap).collect();
    assert_eq!(records[0].value, Some(&b"a"[..]));
    assert_eq!(records[0].key, None);
    assert_eq!(records[1].offset, Offset::new(101));
    assert_eq!(records[1].timestamp, Timestamp::from_millis(1005));
    assert_eq!(records[1].value, None);
    let headers: Vec<_> = records[1].headers.clone().map(|it| it.value).collect();
    assert_eq!(headers, [Some(&b"1"[..]), None]);
    assert_eq!(batch.last_sequence(), Some(Sequence::new(8)));
}

#[test]
fn each_broken_field_has_its_error() {
    use crate::error_code::ErrorCode::{
        CorruptMessage, InvalidRecord, UnsupportedForMessageFormat,
    };
    let good = hex(TWO_RECORDS);
    let cases: [(&str, Bytes, crate::error_code::ErrorCode); 9] = [
        ("cut", good.slice(..good.len() - 1), CorruptMessage),
        (
            "length",
            patched(&good, 8, &48_i32.to_be_bytes(), false),
            CorruptMessage,
        ),
        (
            "huge length",
            patched(&good, 8, &i32::MAX.to_be_bytes(), false),
            CorruptMessage,
        ),
        (
            "negative length",
            patched(&good, 8, &(-5_i32).to_be_bytes(), false),
            CorruptMessage,
        ),
        (
            "magic",
            patched(&good, 16, &[1], false),
            UnsupportedForMessageFormat,
        ),
        ("value", patched(&good, 70, &[9], false), CorruptMessage),
        (
            "epoch",
            patched(&good, 51, &[0xff, 0xff], true),
            InvalidRecord,
        ),
        ("codec", patched(&good, 22, &[0x17], true), InvalidRecord),
        (
            "delta",
            patched(&good, 23, &(-1_i32).to_be_bytes(), true),
            InvalidRecord,
        ),
    ];
    for (name, bytes, code) in cases {
        let error = RecordBatch::parse(bytes).expect_err(name);
        assert_eq!(error.code(), code, "{name}: {error}");
    }
}

#[test]
fn offsets_that_do_not_exist_are_refused() {
    let good = hex(TWO_RECORDS);
    let last = patched(&good, 0, &i64::MAX.to_be_bytes(), false);
    assert_eq!(RecordBatch::parse(last), Err(BatchError::OffsetRange));
    let batch = RecordBatch::parse(good).unwrap();
    assert_eq!(
        batch.clone().placed_at(Offset::MAX, None),
        Err(BatchError::OffsetRange)
    );
    let moved = batch
        .placed_at(Offset::new(5), Some(LeaderEpoch::new(8)))
        .unwrap();
    assert_eq!(RecordBatch::parse(moved.bytes().clone()), Ok(moved));
}

#[test]
fn a_count_that_does_not_fit_the_bytes_is_refused_before_use() {
    let good = hex(TWO_RECORDS);
    for count in [1_i32, 3, i32::MAX] {
        let batch = RecordBatch::parse(patched(&good, 57, &count.to_be_bytes(), true)).unwrap();
        assert!(batch.check_records().is_err(), "{count}");
    }
}

#[test]
fn b67_an_empty_control_batch_says_nothing() {
    // B67: compaction may leave a control batch without its record.
    let bytes = patched(&hex(COMMIT_MARKER), 57, &0_i32.to_be_bytes(), true);
    let batch = RecordBatch::parse(bytes).unwrap();
    assert_eq!(batch.control_record(), Ok(None));
}

#[test]
fn a_newer_control_record_is_read_and_a_negative_version_is_not() {
    let read = |key: &'static [u8], value: &'static [u8]| {
        let mut batch = marker();
        batch.records[0].key = Some(Bytes::from_static(key));
        batch.records[0].value = Some(Bytes::from_static(value));
        batch.write().unwrap().control_record()
    };
    let abort = ControlRecord::EndTxn(EndTxnMarker {
        result: TransactionResult::Abort,
        coordinator_epoch: CoordinatorEpoch::new(4),
    });
    assert_eq!(
        read(&[0, 1, 0, 0, 7], &[0, 1, 0, 0, 0, 4, 9, 9]),
        Ok(Some(abort))
    );
    assert_eq!(read(&[0, 0, 0, 3], &[]), Ok(Some(ControlRecord::Other(3))));
    let wrong = Err(BatchError::ControlRecord);
    assert_eq!(read(&[0xff, 0xff, 0, 0], &[0, 0, 0, 0, 0, 4]), wrong);
    assert_eq!(read(&[0, 0, 0], &[0, 0, 0, 0, 0, 4]), wrong);
    assert_eq!(read(&[0, 0, 0, 0], &[0, 0, 0, 0, 0]), wrong);
    assert_eq!(read(&[0, 0, 0, 0], &[0x80, 0, 0, 0, 0, 4]), wrong);
    assert_eq!(read(&[0, 0, 0, 0], &[0, 0, 0xff, 0, 0, 4]), wrong);
}

fn log_of_three() -> (Bytes, Vec<usize>) {
    let mut all = Vec::new();
    let mut ends = Vec::new();
    for base in [0_i64, 2, 4] {
        let mut batch = two_records();
        batch.base_offset = Offset::new(base);
        all.extend_from_slice(batch.write().unwrap().bytes());
        ends.push(all.len());
    }
    (all.into(), ends)
}

#[test]
fn b2_a_log_cut_anywhere_is_good_up_to_the_last_whole_batch() {
    let (log, ends) = log_of_three();
    for cut in 0..=log.len() {
        let scan = scan(log.slice(..cut));
        let whole = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(scan.batches.len(), whole, "{cut}");
        assert_eq!(
            scan.valid_bytes,
            if whole == 0 { 0 } else { ends[whole - 1] }
        );
        let clean = cut == 0 || ends.contains(&cut);
        assert_eq!(scan.end == ScanEnd::Clean, clean, "{cut}");
        assert!(!matches!(scan.end, ScanEnd::Damaged(_)), "{cut}");
    }
}

#[test]
fn b2_one_flipped_bit_in_the_middle_is_damage_and_in_the_last_batch_a_torn_tail() {
    let (log, ends) = log_of_three();
    for at in ends[0]..log.len() {
        // The base offset and leader epoch lie outside the checksum; offsets are checked by their order.
        let within = (at - ends[0]) % (ends[0]);
        if within < 8 || (12..16).contains(&within) {
            continue;
        }
        let mut bytes = log.to_vec();
        bytes[at] ^= 0x40;
        let scan = scan(bytes.into());
        if at < ends[1] {
            assert!(
                matches!(scan.end, ScanEnd::Damaged(_)),
                "{at}: {:?}",
                scan.end
            );
            assert_eq!(scan.batches.len(), 1);
        } else {
            assert!(
                matches!(scan.end, ScanEnd::TornTail(_)),
                "{at}: {:?}",
                scan.end
            );
            assert_eq!(scan.batches.len(), 2);
        }
    }
}

#[test]
fn offsets_that_go_back_are_damage() {
    let mut batch = two_records();
    batch.base_offset = Offset::new(4);
    let mut log = batch.write().unwrap().bytes().to_vec();
    batch.base_offset = Offset::new(5);
    log.extend_from_slice(batch.write().unwrap().bytes());
    batch.base_offset = Offset::new(9);
    log.extend_from_slice(batch.write().unwrap().bytes());
    let scan = scan(log.into());
    assert_eq!(scan.end, ScanEnd::Damaged(BatchError::OffsetRange));
    assert_eq!(scan.batches.len(), 1);
}

prop_compose! {
    fn any_record()(
        millis in -10_i64..10_000,
        key in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
        value in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200)),
        headers in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 0..5),
             proptest::option::of(proptest::collection::vec(any::<u8>(), 0..5))), 0..4),
    ) -> NewRecord {
        NewRecord {
            timestamp: Timestamp::from_millis(millis),
            key: key.map(Bytes::from),
            value: value.map(Bytes::from),
            headers: headers
                .into_iter()
                .map(|(key, value)| NewHeader { key: key.into(), value: value.map(Bytes::from) })
                .collect(),
        }
    }
}

prop_compose! {
    fn any_batch()(
        base in 0_i64..1_000_000,
        leader in -1_i32..5,
        producer in proptest::option::of((0_i64..9, 0_i16..=i16::MAX, -1_i32..=i32::MAX)),
        is_transactional: bool,
        records in proptest::collection::vec(any_record(), 1..6),
    ) -> NewBatch {
        NewBatch {
            base_offset: Offset::new(base),
            leader_epoch: LeaderEpoch::from_wire(leader),
            producer: producer.map(|(id, epoch, sequence)| BatchProducer {
                producer_id: ProducerId::new(id),
                producer_epoch: ProducerEpoch::new(epoch),
                base_sequence: Sequence::from_wire(sequence),
            }),
            is_transactional,
            is_control: false,
            records,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(new in any_batch()) {
        let batch = new.write().unwrap();
        prop_assert_eq!(batch.producer(), new.producer);
        prop_assert_eq!(batch.header().leader_epoch, new.leader_epoch);
        prop_assert_eq!(batch.base_offset(), new.base_offset);
        let read: Vec<NewRecord> = batch
            .records()
            .unwrap()
            .map(|record| {
                let record = record.unwrap();
                NewRecord {
                    timestamp: record.timestamp,
                    key: record.key.map(Bytes::copy_from_slice),
                    value: record.value.map(Bytes::copy_from_slice),
                    headers: record
                        .headers
                        .map(|it| NewHeader {
                            key: Bytes::copy_from_slice(it.key),
                            value: it.value.map(Bytes::copy_from_slice),
                        })
                        .collect(),
                }
            })
            .collect();
        prop_assert_eq!(read, new.records);
    }

    #[test]
    fn a_marker_says_what_its_bytes_say_or_nothing(
        key in proptest::collection::vec(0_u8..3, 0..8),
        value in proptest::collection::vec(any::<u8>(), 0..10),
    ) {
        let mut batch = marker();
        batch.records[0].key = Some(key.clone().into());
        batch.records[0].value = Some(value.clone().into());
        if let Ok(Some(ControlRecord::EndTxn(marker))) = batch.write().unwrap().control_record() {
            prop_assert_eq!(&key[2..4], &marker.key()[2..]);
            prop_assert_eq!(&value[2..6], &marker.value()[2..]);
            prop_assert!(value[0] < 0x80 && value[2] < 0x80);
        }
    }

    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = scan(Bytes::from(bytes));
    }

    /// Bytes with a good length, magic and checksum, so that what follows them is reached.
    #[test]
    fn hostile_records_never_panic(
        new in any_batch(),
        edits in proptest::collection::vec((21_usize..400, any::<u8>()), 1..6),
    ) {
        let mut bytes = new.write().unwrap().bytes().to_vec();
        for (at, byte) in edits {
            let at = 21 + at % (bytes.len() - 21);
            bytes[at] = byte;
        }
        let bytes = patched(&bytes.into(), 16, &[2], true);
        if let Ok(batch) = RecordBatch::parse(bytes) {
            let _ = batch.check_records();
            let _ = batch.control_record();
            if let Ok(records) = batch.records() {
                prop_assert!(records.count() <= batch.bytes().len());
            }
        }
    }
}
