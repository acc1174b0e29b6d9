//! InitProducerId.

use super::*;
use crate::cases::stage::{Abort, Commit};
use crate::wire::{InitProducerId, Producer};

const KIP_360: &str = "KIP-360: expected producer id and epoch";

pub(super) const CASES: &[Case] = &[
    core(
        "init/01",
        "new-id-epoch-0",
        &[INIT_4],
        "KIP-98: InitProducerId",
        "A new transactional id is given a producer id at epoch 0.",
        |s| s.init().map(drop),
    ),
    core(
        "init/02",
        "again-bumps-epoch",
        &[INIT_4],
        "KIP-98: InitProducerId",
        "Each InitProducerId of an idle id raises the epoch by one.",
        |s| s.empty(3),
    ),
    core(
        "init/03",
        "idempotent-producer",
        &[INIT_4],
        "KIP-98: InitProducerId",
        "Without a transactional id every request is given a fresh producer id at epoch 0.",
        |s| {
            s.init_idempotent()?;
            s.init_idempotent().map(drop)
        },
    ),
    core(
        "init/04",
        "two-ids-two-producer-ids",
        &[INIT_4],
        "KIP-98: InitProducerId",
        "Two transactional ids never share a producer id.",
        |s| {
            s.init()?;
            s.switch();
            s.init().map(drop)
        },
    ),
    core(
        "init/05",
        "expected-current-bumps",
        &[INIT_4],
        KIP_360,
        "The current pair is accepted and the epoch raised.",
        |s| {
            s.empty(1)?;
            s.init_expecting(s.me()).map(drop)
        },
    ),
    core(
        "init/06",
        "expected-retry-does-not-bump",
        &[INIT_4],
        KIP_360,
        "The same request again, its answer lost, is given the same epoch again.",
        |s| {
            s.empty(1)?;
            let before = s.me();
            s.init_expecting(before)?;
            s.init_expecting(before)?;
            s.init_expecting(before).map(drop)
        },
    ),
    core(
        "init/07",
        "expected-older-is-fenced",
        &[INIT_4],
        KIP_360,
        "An older epoch is PRODUCER_FENCED.",
        |s| {
            s.empty(1)?;
            s.init_expecting(s.at(0)).map(drop)
        },
    ),
    core(
        "init/08",
        "expected-newer-is-fenced",
        &[INIT_4],
        KIP_360,
        "An epoch that was never given is PRODUCER_FENCED.",
        |s| {
            s.empty(1)?;
            s.init_expecting(s.at(2)).map(drop)
        },
    ),
    core(
        "init/09",
        "expected-other-producer-id-is-fenced",
        &[INIT_4],
        KIP_360,
        "Another producer id is PRODUCER_FENCED.",
        |s| {
            s.empty(1)?;
            s.init_expecting(s.stranger()).map(drop)
        },
    ),
    core(
        "init/10",
        "plain-init-ends-retries",
        &[INIT_4],
        KIP_360,
        "After an InitProducerId without a pair, a retry with the older pair is PRODUCER_FENCED.",
        |s| {
            s.empty(1)?;
            let before = s.me();
            s.init_expecting(before)?;
            s.init()?;
            s.init_expecting(before).map(drop)
        },
    ),
    core(
        "init/11",
        "version-3-knows-no-fenced",
        &[INIT_4, api(22, "InitProducerId", 3)],
        "KIP-588: PRODUCER_FENCED since v4",
        "Below v4 a fenced producer is told INVALID_PRODUCER_EPOCH.",
        |s| {
            s.empty(1)?;
            s.init_version(3, Some(s.at(0))).map(drop)
        },
    ),
    core(
        "init/12",
        "open-transaction-is-aborted",
        ONE_TRANSACTION,
        "KIP-98, KIP-890: fence and abort",
        "InitProducerId of an id with an open transaction aborts it with a raised epoch, answers \
         CONCURRENT_TRANSACTIONS until it is aborted, then the next epoch.",
        |s| {
            s.ongoing(1)?;
            s.init()?;
            s.settle()?;
            s.read()?;
            s.init()?;
            s.describe()
        },
    ),
    core(
        "init/13",
        "open-transaction-other-producer-id",
        ONE_TRANSACTION,
        KIP_360,
        "Another producer id does not abort an open transaction.",
        |s| {
            s.ongoing(1)?;
            s.init_expecting(s.stranger())?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.read()
        },
    ),
    core(
        "init/14",
        "open-transaction-expected-current",
        ONE_TRANSACTION,
        "KIP-360, KAFKA-19367",
        "With the current pair the open transaction is aborted, and the same request then goes on.",
        |s| {
            s.ongoing(1)?;
            let before = s.me();
            s.init_expecting(before)?;
            s.settle()?;
            s.init_expecting(before).map(drop)
        },
    ),
    core(
        "init/15",
        "after-commit",
        ONE_TRANSACTION,
        "KIP-98: InitProducerId",
        "After a commit the epoch goes up; older and newer pairs are fenced.",
        |s| {
            s.complete(1, Commit, 4)?;
            s.init_expecting(s.at(0))?;
            s.init_expecting(s.at(2))?;
            s.init_expecting(s.me())?;
            s.init().map(drop)
        },
    ),
    core(
        "init/16",
        "after-abort",
        ONE_TRANSACTION,
        "KIP-98: InitProducerId",
        "After an abort the epoch goes up; older and newer pairs are fenced.",
        |s| {
            s.complete(1, Abort, 4)?;
            s.init_expecting(s.at(0))?;
            s.init_expecting(s.at(2))?;
            s.init_expecting(s.me())?;
            s.init().map(drop)
        },
    ),
    core(
        "init/17",
        "after-v5-end-the-older-pair-is-a-retry",
        ONE_V5,
        "KIP-890: the bump at EndTxn; KIP-360",
        "After EndTxn v5 the pair from before the bump is taken for a retry and not bumped again.",
        |s| {
            s.ongoing(1)?;
            let before = s.me();
            s.end(5, before, Commit)?;
            s.settle()?;
            s.init_expecting(before)?;
            s.init().map(drop)
        },
    ),
    core(
        "init/18",
        "empty-id-is-invalid",
        &[INIT_4],
        "KIP-98: InitProducerId",
        "The empty string is no transactional id.",
        |s| s.init_refused(InitProducerId::plain(""), &["INVALID_REQUEST"], "KIP-98"),
    ),
    core(
        "init/19",
        "timeout-above-the-broker-limit",
        &[INIT_4],
        "KIP-98: transaction.max.timeout.ms",
        "A timeout of 0, below 0 or above the broker's limit is INVALID_TRANSACTION_TIMEOUT.",
        |s| {
            for timeout_ms in [0, -1, i32::MAX] {
                s.init_with_timeout(timeout_ms)?;
            }
            Ok(())
        },
    ),
    core(
        "init/20",
        "half-a-pair-is-invalid",
        &[INIT_4],
        KIP_360,
        "A producer id without an epoch, or an epoch without a producer id, is INVALID_REQUEST.",
        |s| {
            for expected in [Producer { id: 5, epoch: -1 }, Producer { id: -1, epoch: 5 }] {
                let request = InitProducerId::plain("fencepost-refused").expecting(expected);
                s.init_refused(request, &["INVALID_REQUEST"], KIP_360)?;
            }
            Ok(())
        },
    ),
    core(
        "init/21",
        "pending-decision-comes-first",
        &[INIT_4, ADD_3, MARKERS_1, END_4],
        "KIP-98; observed on Kafka 4.4.0",
        "While a decision is pending every InitProducerId is CONCURRENT_TRANSACTIONS, whatever pair \
         it expects.",
        |s| {
            s.ongoing(1)?;
            s.hold_markers()?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.init()?;
            s.init_expecting(s.at(0))?;
            s.init_expecting(s.stranger()).map(drop)
        },
    )
    .at(Level::Fault),
    core(
        "init/22",
        "expected-of-another-id-is-fenced",
        &[INIT_4],
        KIP_360,
        "An expected pair that is another id's is PRODUCER_FENCED, and that id's owner goes on.",
        |s| {
            s.empty(1)?;
            let other = s.me();
            s.switch();
            s.empty(1)?;
            s.init_expecting(other)?;
            s.init_expecting(s.me())?;
            s.switch();
            s.init_expecting(other).map(drop)
        },
    ),
];
