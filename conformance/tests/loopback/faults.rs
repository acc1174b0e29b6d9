//! Faults that are put between the broker's shell and its cores, each with the case that must notice it. Faults in the
//! cores themselves: `conformance/faulty/tests/seen_by_cases.rs`.

use fencepost::coordinator::{
    self, AddPartitionsToTxn, AddPartitionsToTxnForm, EndTxn, InitProducerId,
    Input as ToCoordinator, Request,
};
use fencepost::error_code::ErrorCode;
use fencepost::group::{self, Input as ToGroup};
use fencepost::partition::{
    Answer, Effect, Input as ToPartition, Produce, Produced, TransactionSupport, WriteTxnMarker,
};
use fencepost::types::{CoordinatorEpoch, TransactionResult, TransactionVersion};
use fencepost_conformance::cases::{Options, Verdict, run};
use fencepost_conformance::loopback::{Loopback, LoopbackConfig, Tamper};

use super::broker;

/// A fault, the case that must notice, and what is done to the broker.
pub(super) type Fault = (&'static str, &'static str, Tamper);

fn request(input: ToCoordinator, change: fn(Request) -> Request) -> ToCoordinator {
    match input {
        ToCoordinator::Request(to, request) => ToCoordinator::Request(to, change(request)),
        other => other,
    }
}

fn marker(input: ToPartition, change: fn(WriteTxnMarker) -> WriteTxnMarker) -> ToPartition {
    match input {
        ToPartition::WriteTxnMarker(marker) => ToPartition::WriteTxnMarker(change(marker)),
        other => other,
    }
}

fn produce(input: ToPartition, change: fn(Produce) -> Produce) -> ToPartition {
    match input {
        ToPartition::Produce(produce) => ToPartition::Produce(change(produce)),
        other => other,
    }
}

pub(super) const FAULTS: [Fault; 22] = [
    (
        "an expected identity is ignored",
        "init/07",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::InitProducerId(init) => Request::InitProducerId(InitProducerId {
                        expected_producer_id: None,
                        expected_producer_epoch: None,
                        ..init
                    }),
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "old versions are told PRODUCER_FENCED",
        "init/11",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::InitProducerId(init) => Request::InitProducerId(InitProducerId {
                        version: init.version.max(4),
                        ..init
                    }),
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "a new instance takes the open transaction over",
        "init/12",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::InitProducerId(init) => Request::InitProducerId(InitProducerId {
                        version: 6,
                        enable_2pc: true,
                        keep_prepared_txn: true,
                        ..init
                    }),
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "verifyOnly adds",
        "parts/04",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::AddPartitionsToTxn(add) => {
                        let form = match add.form {
                            AddPartitionsToTxnForm::VerifyOnly => AddPartitionsToTxnForm::Broker,
                            other => other,
                        };
                        Request::AddPartitionsToTxn(AddPartitionsToTxn { form, ..add })
                    }
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "the broker's form only verifies",
        "parts/09",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::AddPartitionsToTxn(add) => {
                        let form = match add.form {
                            AddPartitionsToTxnForm::Broker => AddPartitionsToTxnForm::VerifyOnly,
                            other => other,
                        };
                        Request::AddPartitionsToTxn(AddPartitionsToTxn { form, ..add })
                    }
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "EndTxn v5 follows the rules of v4",
        "end/16",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::EndTxn(end) => Request::EndTxn(EndTxn {
                        version: end.version.min(4),
                        ..end
                    }),
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "EndTxn v4 raises the epoch",
        "parts/18",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::EndTxn(end) => Request::EndTxn(EndTxn { version: 5, ..end }),
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "every transaction is committed",
        "visible/02",
        Tamper {
            coordinator_takes: |input| {
                request(input, |it| match it {
                    Request::EndTxn(end) => Request::EndTxn(EndTxn {
                        result: TransactionResult::Commit,
                        ..end
                    }),
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "whoever meets an open transaction is told to give up",
        "fence/01",
        Tamper {
            coordinator_asks: |effect| match effect {
                coordinator::Effect::Reply(
                    to,
                    coordinator::Answer::InitProducerId(Err(ErrorCode::ConcurrentTransactions)),
                ) => coordinator::Effect::Reply(
                    to,
                    coordinator::Answer::InitProducerId(Err(ErrorCode::ProducerFenced)),
                ),
                other => other,
            },
            ..Tamper::NONE
        },
    ),
    (
        "markers end the other way",
        "markers/02",
        Tamper {
            partition_takes: |input| {
                marker(input, |it| WriteTxnMarker {
                    result: match it.result {
                        TransactionResult::Commit => TransactionResult::Abort,
                        TransactionResult::Abort => TransactionResult::Commit,
                    },
                    ..it
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "markers are judged by the rules before KIP-1228",
        "markers/05",
        Tamper {
            partition_takes: |input| {
                marker(input, |it| WriteTxnMarker {
                    transaction_version: TransactionVersion::V0,
                    ..it
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "the epoch of a marker's coordinator is ignored",
        "markers/09",
        Tamper {
            partition_takes: |input| {
                marker(input, |it| WriteTxnMarker {
                    coordinator_epoch: CoordinatorEpoch::new(0),
                    ..it
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "Produce v12 does not add",
        "tv2/04",
        Tamper {
            partition_takes: |input| {
                produce(input, |it| Produce {
                    support: TransactionSupport::VerifyOrAbortable,
                    ..it
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "old producers are told TRANSACTION_ABORTABLE",
        "tv2/02",
        Tamper {
            partition_takes: |input| {
                produce(input, |it| Produce {
                    support: match it.support {
                        TransactionSupport::Verify => TransactionSupport::VerifyOrAbortable,
                        other => other,
                    },
                    ..it
                })
            },
            ..Tamper::NONE
        },
    ),
    (
        "a write waits for nobody's word",
        "tv2/01",
        Tamper {
            partition_takes: |input| match input {
                ToPartition::CoordinatorAnswered { request, .. } => {
                    ToPartition::CoordinatorAnswered {
                        request,
                        answer: Ok(()),
                    }
                }
                other => other,
            },
            ..Tamper::NONE
        },
    ),
    (
        "an answer names the offset after the record's",
        "seq/01",
        Tamper {
            partition_asks: |effect| match effect {
                Effect::Reply {
                    request,
                    answer: Answer::Produce(Ok(it)),
                } => {
                    let base_offset = it.base_offset.plus(1).unwrap_or(it.base_offset);
                    let answer = Answer::Produce(Ok(Produced { base_offset, ..it }));
                    Effect::Reply { request, answer }
                }
                other => other,
            },
            ..Tamper::NONE
        },
    ),
    (
        "no aborted transaction is listed",
        "lso/05",
        Tamper {
            gives: |mut fetched| {
                fetched.aborted_transactions = fetched.aborted_transactions.map(|_| Vec::new());
                fetched
            },
            ..Tamper::NONE
        },
    ),
    (
        "the last stable offset is the high watermark",
        "lso/03",
        Tamper {
            gives: |mut fetched| {
                fetched.last_stable_offset = fetched.high_watermark;
                fetched
            },
            ..Tamper::NONE
        },
    ),
    (
        "readers do not ask for stable offsets",
        "offsets/01",
        Tamper {
            group_takes: |input| match input {
                ToGroup::OffsetFetch(fetch) => ToGroup::OffsetFetch(group::OffsetFetch {
                    require_stable: false,
                    ..fetch
                }),
                other => other,
            },
            ..Tamper::NONE
        },
    ),
    (
        "any generation may stage offsets",
        "offsets/08",
        Tamper {
            group_takes: |input| match input {
                ToGroup::TxnOffsetCommit(commit) => {
                    ToGroup::TxnOffsetCommit(group::TxnOffsetCommit {
                        member: group::MemberIdentity::anonymous(),
                        ..commit
                    })
                }
                other => other,
            },
            ..Tamper::NONE
        },
    ),
    (
        "staged offsets are committed at once",
        "offsets/03",
        Tamper {
            group_takes: |input| match input {
                ToGroup::TxnOffsetCommit(commit) => ToGroup::OffsetCommit(group::OffsetCommit {
                    request: commit.request,
                    group: commit.group,
                    member: commit.member,
                    offsets: commit.offsets,
                }),
                other => other,
            },
            ..Tamper::NONE
        },
    ),
    (
        "an abort commits the staged offsets",
        "offsets/02",
        Tamper {
            group_takes: |input| match input {
                ToGroup::WriteTxnMarker(marker) => ToGroup::WriteTxnMarker(WriteTxnMarker {
                    result: TransactionResult::Commit,
                    ..marker
                }),
                other => other,
            },
            ..Tamper::NONE
        },
    ),
];

#[test]
fn every_fault_is_caught_by_its_case() {
    let right = broker(TransactionVersion::V2);
    for (fault, id, tamper) in FAULTS {
        let wrong = Loopback::start(LoopbackConfig {
            tamper,
            ..LoopbackConfig::new(TransactionVersion::V2)
        });
        let wrong = wrong.expect("a free port of 127.0.0.1");
        for (broker, expected) in [(&right, Verdict::Pass), (&wrong, Verdict::Fail)] {
            let options = Options {
                globs: vec![id.to_owned()],
                ..Options::default()
            };
            let report = run(broker.address(), &options, |_| {}).expect("a broker");
            let case = &report.cases[0];
            assert_eq!(case.verdict, expected, "{fault}, {id}: {}", case.story());
        }
    }
}
