//! Size: what requests, batches and answers may hold.

use super::{Case, ours};
use crate::cases::stage::Damage;
use crate::loopback::{Blocks, Order};
use crate::wire::InitProducerId;

/// `transactional.id.expiration.ms`.
const WEEK_MS: u64 = 7 * 24 * 3600 * 1000;
const LIMITS: &str = "Kafka's limits on what a request may hold";

pub(super) const CASES: &[Case] = &[
    ours(
        "size/01",
        "fetch-up-to-a-limit",
        LIMITS,
        "As many whole batches as fit, and one at least.",
        |s| {
            s.ongoing(1)?;
            for sequence in 1..=4 {
                s.produce(11, s.me(), sequence)?;
            }
            for (from, batches, expected) in [
                (0, 1, 1),
                (0, 2, 2),
                (0, 9, 5),
                (3, 1, 1),
                (3, 2, 2),
                (5, 1, 0),
            ] {
                s.read_limited(from, batches, expected)?;
            }
            Ok(())
        },
    ),
    ours(
        "size/02",
        "damaged-batches",
        LIMITS,
        "A batch that does not fit together is refused and leaves no trace.",
        |s| {
            s.empty(1)?;
            s.add(3, s.me())?;
            for (damage, allowed) in [
                (Damage::Nothing, "INVALID_RECORD"),
                (Damage::Checksum, "CORRUPT_MESSAGE"),
                (Damage::Gap, "INVALID_RECORD"),
                (Damage::Count, "INVALID_RECORD"),
                (Damage::Overflow, "INVALID_RECORD"),
                (Damage::Control, "INVALID_RECORD"),
                (Damage::NoId, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
            ] {
                s.produce_damaged(damage, allowed)?;
            }
            s.compare_all()?;
            s.partition = 0;
            s.produce(11, s.me(), 0)?;
            // Not before: Kafka 4.4 asks about the batch first, and then takes nothing after the sequence that it lacked.
            s.produce_damaged(Damage::NoSequence, "INVALID_RECORD")?;
            s.produce(11, s.me(), 1)?;
            // What names no producer is nobody's transaction.
            s.produce_damaged(Damage::NoProducer, "NONE")
        },
    ),
    ours(
        "size/03",
        "every-offset-of-a-group",
        LIMITS,
        "A fetch that names no partition gives all that are committed, stable or not, and none that are only staged.",
        |s| {
            s.empty(1)?;
            s.fetch_every_offset(false, "")?;
            s.commit_plainly(3)?;
            s.fetch_every_offset(false, "/0 NONE 3")?;
            s.partition = 1;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 7)?;
            s.fetch_every_offset(false, "/0 NONE 3")?;
            s.fetch_every_offset(true, "/0 NONE 3")?;
            s.partition = 0;
            s.stage_offset(3, s.me(), 8)?;
            s.fetch_every_offset(false, "/0 NONE 3")?;
            s.fetch_every_offset(true, "/0 UNSTABLE_OFFSET_COMMIT -1")
        },
    ),
    ours(
        "size/04",
        "words-beside-an-offset",
        LIMITS,
        "An offset may carry 4,096 bytes of metadata, and no more.",
        |s| {
            s.commit_beside(4096, 3, "NONE")?;
            s.commit_beside(4097, 4, "OFFSET_METADATA_TOO_LARGE")?;
            s.fetch_offset(true)
        },
    ),
    ours(
        "size/05",
        "timeouts-that-may-be-asked-for",
        LIMITS,
        "A transaction timeout is above 0 and at most transaction.max.timeout.ms.",
        |s| {
            for (timeout_ms, allowed) in [
                (0, "INVALID_TRANSACTION_TIMEOUT"),
                (1, "NONE"),
                (900_000, "NONE"),
                (900_001, "INVALID_TRANSACTION_TIMEOUT"),
            ] {
                let request = InitProducerId {
                    timeout_ms,
                    ..InitProducerId::plain("timeouts")
                };
                s.init_refused(request, &[allowed], LIMITS)?;
            }
            Ok(())
        },
    ),
    ours(
        "size/06",
        "an-unknown-partition-spoils-the-request",
        LIMITS,
        "Where one partition is unknown none is added.",
        |s| {
            s.empty(1)?;
            s.add_with_unknown("0 OPERATION_NOT_ATTEMPTED; 7 UNKNOWN_TOPIC_OR_PARTITION")?;
            s.describe()
        },
    ),
    ours(
        "size/07",
        "producer-ids-come-in-blocks",
        LIMITS,
        "Each block is used up before the next, and without one there is no producer id.",
        |s| {
            s.take_producer_ids(None, 65)?;
            s.operate(Order::ProducerIds(Blocks::Refused))?;
            let last = s.use_up_producer_ids("COORDINATOR_LOAD_IN_PROGRESS")?;
            s.operate(Order::LetGo)?;
            s.pass_ms(2_000)?;
            s.take_producer_ids(last, 45)
        },
    ),
    ours(
        "size/09",
        "one-block-at-a-time",
        "KIP-730: AllocateProducerIds, one request in flight",
        "While a request for a block is not answered there is no other one, so that no block is lost.",
        |s| {
            s.operate(Order::ProducerIds(Blocks::Late))?;
            let last = s.use_up_producer_ids("COORDINATOR_LOAD_IN_PROGRESS")?;
            s.use_up_producer_ids("COORDINATOR_LOAD_IN_PROGRESS")?;
            s.operate(Order::LetGo)?;
            s.take_producer_ids(last, 45)
        },
    ),
    ours(
        "size/10",
        "blocks-that-cannot-be-used",
        "KIP-98: a producer id is given once",
        "A block that was given before, has no ids or runs past the largest one is refused, and another one asked for.",
        |s| {
            for blocks in [Blocks::GivenBefore, Blocks::Empty, Blocks::PastTheEnd] {
                s.operate(Order::StopClock)?;
                s.operate(Order::ProducerIds(blocks))?;
                let last = s.use_up_producer_ids("COORDINATOR_LOAD_IN_PROGRESS")?;
                s.pass_ms(49)?;
                s.use_up_producer_ids("COORDINATOR_LOAD_IN_PROGRESS")?;
                s.pass_ms(1)?;
                s.take_producer_ids(last, 25)?;
            }
            Ok(())
        },
    ),
    ours(
        "size/11",
        "full-batches-of-tombstones",
        "KAFKA-13099: ids that expire together are removed in few batches",
        "Batches of tombstones are at least half full.",
        |s| {
            const ID: &str = "expiring-id";
            const IDS: usize = 40;
            const TIMES: &str = "transactional.id.expiration.ms";
            // What is here already goes first.
            s.operate(Order::StopClock)?;
            s.pass_ms(WEEK_MS)?;
            let ids: Vec<String> = (10..10 + IDS).map(|n| format!("{ID}{n}")).collect();
            for id in &ids {
                s.init_refused(InitProducerId::plain(id), &["NONE"], TIMES)?;
            }
            // Six of them fit into 300 bytes and two into 100, as Kafka counts a record.
            let most = if s.is_tv2() { 6 } else { 2 };
            s.operate(Order::FillLog((IDS * 2).div_ceil(most) as u32))?;
            s.pass_ms(WEEK_MS)?;
            for id in &ids {
                s.described(id, "TRANSACTIONAL_ID_NOT_FOUND")?;
            }
            s.operate(Order::LetGo)
        },
    ),
    ours(
        "size/08",
        "the-longest-id",
        LIMITS,
        "An id may have 32,767 bytes, which is what the key of its record can hold.",
        |s| s.init_long(32_767, "NONE"),
    ),
    ours(
        "size/12",
        "batches-of-several-records",
        "KIP-98: a batch is known by its first and its last sequence",
        "A batch that comes again is answered with its first offset; a part of it is out of order.",
        |s| {
            s.empty(1)?;
            s.add(3, s.me())?;
            s.produce_several(0, 3, "NONE at 0")?;
            s.produce_several(0, 3, "NONE at 0")?;
            s.produce_several(1, 2, "OUT_OF_ORDER_SEQUENCE_NUMBER at -1")?;
            s.produce_several(0, 2, "OUT_OF_ORDER_SEQUENCE_NUMBER at -1")?;
            s.produce_several(3, 4, "NONE at 3")?;
            s.produce_several(0, 3, "NONE at 0")?;
            s.operate(Order::Restart { gently: true })?;
            s.produce_several(3, 4, "NONE at 3")?;
            s.produce_several(7, 2, "NONE at 7")?;
            s.look("[epoch 1 sequence 8 open 0] end 9 stable 0 aborted 0")
        },
    ),
];
