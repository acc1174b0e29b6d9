//! The shape of every answer that this client reads, for [`super::preflight`]. From Kafka's
//! message schemas; only lengths and counts matter, so numbers stand as their size in bytes.

use super::preflight::Kind::{Array, Blob, Fixed, Struct, Tagged, Text, Texts, Values};
use super::preflight::{Field, Shape};

const INT8: Field = Field::always(Fixed(1));
const INT16: Field = Field::always(Fixed(2));
const INT32: Field = Field::always(Fixed(4));
const INT64: Field = Field::always(Fixed(8));
const TEXT: Field = Field::always(Text);
const BLOB: Field = Field::always(Blob);

/// The answer's shape for an API key; nothing where this client does not speak it.
pub fn response_shape(api_key: i16, version: i16) -> Option<&'static Shape> {
    Some(match api_key {
        0 => &PRODUCE,
        1 => &FETCH,
        2 => &LIST_OFFSETS,
        3 => &METADATA,
        8 => &OFFSET_COMMIT,
        9 if version <= 7 => &OFFSET_FETCH,
        10 if version <= 3 => &FIND_COORDINATOR,
        11 => &JOIN_GROUP,
        12 => &HEARTBEAT,
        13 => &LEAVE_GROUP,
        14 => &SYNC_GROUP,
        16 => &LIST_GROUPS,
        18 => &API_VERSIONS,
        19 => &CREATE_TOPICS,
        20 => &DELETE_TOPICS,
        22 => &INIT_PRODUCER_ID,
        24 if version <= 3 => &ADD_PARTITIONS_TO_TXN,
        24 => &ADD_PARTITIONS_TO_TXN_BATCHED,
        25 => &ADD_OFFSETS_TO_TXN,
        26 => &END_TXN,
        27 => &WRITE_TXN_MARKERS,
        28 => &TXN_OFFSET_COMMIT,
        42 => &DELETE_GROUPS,
        61 => &DESCRIBE_PRODUCERS,
        65 => &DESCRIBE_TRANSACTIONS,
        66 => &LIST_TRANSACTIONS,
        _ => return None,
    })
}

const NODE_ENDPOINTS: Field = Field::always(Tagged(0, &Array(&[INT32, TEXT, INT32, TEXT])));

static PRODUCE: Shape = Shape {
    flexible_from: 9,
    fields: &[
        Field::always(Array(&[
            Field::between(0, 12, Text),
            Field::since(13, Fixed(16)),
            Field::always(Array(&[
                INT32,
                INT16,
                INT64,
                Field::since(2, Fixed(8)),
                Field::since(5, Fixed(8)),
                Field::since(8, Array(&[INT32, TEXT])),
                Field::since(8, Text),
                Field::always(Tagged(0, &Struct(&[INT32, INT32]))),
            ])),
        ])),
        INT32,
        NODE_ENDPOINTS,
    ],
};

static FETCH: Shape = Shape {
    flexible_from: 12,
    fields: &[
        INT32,
        Field::since(7, Fixed(2)),
        Field::since(7, Fixed(4)),
        Field::always(Array(&[
            Field::between(0, 12, Text),
            Field::since(13, Fixed(16)),
            Field::always(Array(&[
                INT32,
                INT16,
                INT64,
                INT64,
                Field::since(5, Fixed(8)),
                Field::always(Array(&[INT64, INT64])),
                Field::since(11, Fixed(4)),
                BLOB,
                Field::always(Tagged(0, &Struct(&[INT32, INT64]))),
                Field::always(Tagged(1, &Struct(&[INT32, INT32]))),
                Field::always(Tagged(2, &Struct(&[INT64, INT32]))),
            ])),
        ])),
        NODE_ENDPOINTS,
    ],
};

static LIST_OFFSETS: Shape = Shape {
    flexible_from: 6,
    fields: &[
        Field::since(2, Fixed(4)),
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[
                INT32,
                INT16,
                INT64,
                INT64,
                Field::since(4, Fixed(4)),
            ])),
        ])),
    ],
};

static METADATA: Shape = Shape {
    flexible_from: 9,
    fields: &[
        Field::since(3, Fixed(4)),
        Field::always(Array(&[INT32, TEXT, INT32, Field::since(1, Text)])),
        Field::since(2, Text),
        Field::since(1, Fixed(4)),
        Field::always(Array(&[
            INT16,
            TEXT,
            Field::since(10, Fixed(16)),
            Field::since(1, Fixed(1)),
            Field::always(Array(&[
                INT16,
                INT32,
                INT32,
                Field::since(7, Fixed(4)),
                Field::always(Values(4)),
                Field::always(Values(4)),
                Field::since(5, Values(4)),
            ])),
            Field::since(8, Fixed(4)),
        ])),
        Field::between(8, 10, Fixed(4)),
        Field::since(13, Fixed(2)),
    ],
};

static OFFSET_COMMIT: Shape = Shape {
    flexible_from: 8,
    fields: &[Field::since(3, Fixed(4)), PARTITION_ERRORS],
};

static OFFSET_FETCH: Shape = Shape {
    flexible_from: 6,
    fields: &[
        Field::since(3, Fixed(4)),
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[
                INT32,
                INT64,
                Field::since(5, Fixed(4)),
                TEXT,
                INT16,
            ])),
        ])),
        Field::since(2, Fixed(2)),
    ],
};

static FIND_COORDINATOR: Shape = Shape {
    flexible_from: 3,
    fields: &[
        Field::since(1, Fixed(4)),
        INT16,
        Field::since(1, Text),
        INT32,
        TEXT,
        INT32,
    ],
};

static JOIN_GROUP: Shape = Shape {
    flexible_from: 6,
    fields: &[
        Field::since(2, Fixed(4)),
        INT16,
        INT32,
        Field::since(7, Text),
        TEXT,
        TEXT,
        Field::since(9, Fixed(1)),
        TEXT,
        Field::always(Array(&[TEXT, Field::since(5, Text), BLOB])),
    ],
};

static HEARTBEAT: Shape = Shape {
    flexible_from: 4,
    fields: &[Field::since(1, Fixed(4)), INT16],
};

static LEAVE_GROUP: Shape = Shape {
    flexible_from: 4,
    fields: &[
        Field::since(1, Fixed(4)),
        INT16,
        Field::since(3, Array(&[TEXT, TEXT, INT16])),
    ],
};

static SYNC_GROUP: Shape = Shape {
    flexible_from: 4,
    fields: &[
        Field::since(1, Fixed(4)),
        INT16,
        Field::since(5, Text),
        Field::since(5, Text),
        BLOB,
    ],
};

static LIST_GROUPS: Shape = Shape {
    flexible_from: 3,
    fields: &[
        Field::since(1, Fixed(4)),
        INT16,
        Field::always(Array(&[
            TEXT,
            TEXT,
            Field::since(4, Text),
            Field::since(5, Text),
        ])),
    ],
};

static DELETE_GROUPS: Shape = Shape {
    flexible_from: 2,
    fields: &[INT32, Field::always(Array(&[TEXT, INT16]))],
};

static API_VERSIONS: Shape = Shape {
    flexible_from: 3,
    fields: &[
        INT16,
        Field::always(Array(&[INT16, INT16, INT16])),
        Field::since(1, Fixed(4)),
        Field::always(Tagged(0, &Array(&[TEXT, INT16, INT16]))),
        Field::always(Tagged(1, &Fixed(8))),
        Field::always(Tagged(2, &Array(&[TEXT, INT16, INT16]))),
        Field::always(Tagged(3, &Fixed(1))),
    ],
};

static CREATE_TOPICS: Shape = Shape {
    flexible_from: 5,
    fields: &[
        Field::since(2, Fixed(4)),
        Field::always(Array(&[
            TEXT,
            Field::since(7, Fixed(16)),
            INT16,
            Field::since(1, Text),
            Field::since(5, Fixed(4)),
            Field::since(5, Fixed(2)),
            Field::since(5, Array(&[TEXT, TEXT, INT8, INT8, INT8])),
            Field::always(Tagged(0, &Fixed(2))),
        ])),
    ],
};

static DELETE_TOPICS: Shape = Shape {
    flexible_from: 4,
    fields: &[
        Field::since(1, Fixed(4)),
        Field::always(Array(&[
            TEXT,
            Field::since(6, Fixed(16)),
            INT16,
            Field::since(5, Text),
        ])),
    ],
};

static INIT_PRODUCER_ID: Shape = Shape {
    flexible_from: 2,
    fields: &[INT32, INT16, INT64, INT16],
};

const PARTITION_ERRORS: Field =
    Field::always(Array(&[TEXT, Field::always(Array(&[INT32, INT16]))]));

static ADD_PARTITIONS_TO_TXN: Shape = Shape {
    flexible_from: 3,
    fields: &[INT32, PARTITION_ERRORS],
};

static ADD_PARTITIONS_TO_TXN_BATCHED: Shape = Shape {
    flexible_from: 3,
    fields: &[
        INT32,
        INT16,
        Field::always(Array(&[TEXT, PARTITION_ERRORS])),
    ],
};

static ADD_OFFSETS_TO_TXN: Shape = Shape {
    flexible_from: 3,
    fields: &[INT32, INT16],
};

static END_TXN: Shape = Shape {
    flexible_from: 3,
    fields: &[
        INT32,
        INT16,
        Field::since(5, Fixed(8)),
        Field::since(5, Fixed(2)),
    ],
};

pub static WRITE_TXN_MARKERS: Shape = Shape {
    flexible_from: 1,
    fields: &[Field::always(Array(&[INT64, PARTITION_ERRORS]))],
};

static TXN_OFFSET_COMMIT: Shape = Shape {
    flexible_from: 3,
    fields: &[INT32, PARTITION_ERRORS],
};

static DESCRIBE_PRODUCERS: Shape = Shape {
    flexible_from: 0,
    fields: &[
        INT32,
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[
                INT32,
                INT16,
                TEXT,
                Field::always(Array(&[INT64, INT32, INT32, INT64, INT32, INT64])),
            ])),
        ])),
    ],
};

static DESCRIBE_TRANSACTIONS: Shape = Shape {
    flexible_from: 0,
    fields: &[
        INT32,
        Field::always(Array(&[
            INT16,
            TEXT,
            TEXT,
            INT32,
            INT64,
            INT64,
            INT16,
            Field::always(Array(&[TEXT, Field::always(Values(4))])),
        ])),
    ],
};

static LIST_TRANSACTIONS: Shape = Shape {
    flexible_from: 0,
    fields: &[
        INT32,
        INT16,
        Field::always(Texts),
        Field::always(Array(&[TEXT, INT64, TEXT])),
    ],
};

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};
    use kafka_protocol::messages::{
        AddPartitionsToTxnResponse, ApiVersionsResponse, DescribeProducersResponse,
        DescribeTransactionsResponse, EndTxnResponse, FetchResponse, MetadataResponse,
        ProduceResponse, TopicName, WriteTxnMarkersResponse,
    };
    use kafka_protocol::messages::{
        add_partitions_to_txn_response as add, api_versions_response as api,
        describe_producers_response as producers, describe_transactions_response as described,
        fetch_response as fetch, metadata_response as metadata, produce_response as produce,
        write_txn_markers_response as markers,
    };
    use kafka_protocol::protocol::{Encodable, StrBytes};

    use super::*;
    use crate::wire::preflight::check;

    fn name() -> TopicName {
        TopicName(StrBytes::from_static_str("topic"))
    }

    /// The crate's own encoding fits the shape, and no cut of it does.
    fn fits(api_key: i16, version: i16, message: &impl Encodable) {
        let shape = response_shape(api_key, version).expect("a shape");
        let mut bytes = BytesMut::new();
        message.encode(&mut bytes, version).expect("encodes");
        check(shape, version, &bytes).unwrap_or_else(|error| {
            panic!("api {api_key} v{version}: {error}");
        });
        for cut in 0..bytes.len() {
            assert!(
                check(shape, version, &bytes[..cut]).is_err(),
                "api {api_key} v{version} cut at {cut}"
            );
        }
    }

    #[test]
    fn nested_answers_fit_their_shapes() {
        let batch = produce::PartitionProduceResponse::default()
            .with_record_errors(vec![produce::BatchIndexAndErrorMessage::default()])
            .with_error_message(Some(StrBytes::from_static_str("why")));
        let topic = produce::TopicProduceResponse::default()
            .with_name(name())
            .with_partition_responses(vec![batch]);
        for version in 8..=12 {
            fits(
                0,
                version,
                &ProduceResponse::default().with_responses(vec![topic.clone()]),
            );
        }
        let data = fetch::PartitionData::default()
            .with_aborted_transactions(Some(vec![fetch::AbortedTransaction::default()]))
            .with_records(Some(Bytes::from_static(b"records")));
        let topic = fetch::FetchableTopicResponse::default()
            .with_topic(name())
            .with_partitions(vec![data]);
        fits(1, 12, &FetchResponse::default().with_responses(vec![topic]));
        let partition = metadata::MetadataResponsePartition::default()
            .with_replica_nodes(vec![1.into(), 2.into()]);
        let topic = metadata::MetadataResponseTopic::default()
            .with_name(Some(name()))
            .with_partitions(vec![partition]);
        let answer = MetadataResponse::default()
            .with_brokers(vec![metadata::MetadataResponseBroker::default()])
            .with_topics(vec![topic]);
        fits(3, 12, &answer);
        let feature = api::FinalizedFeatureKey::default()
            .with_name(StrBytes::from_static_str("transaction.version"));
        let answer = ApiVersionsResponse::default()
            .with_api_keys(vec![api::ApiVersion::default()])
            .with_finalized_features(vec![feature]);
        fits(18, 3, &answer);
    }

    #[test]
    fn transaction_answers_fit_their_shapes() {
        let topic = add::AddPartitionsToTxnTopicResult::default()
            .with_name(name())
            .with_results_by_partition(vec![add::AddPartitionsToTxnPartitionResult::default()]);
        for version in 0..=3 {
            let answer = AddPartitionsToTxnResponse::default()
                .with_results_by_topic_v3_and_below(vec![topic.clone()]);
            fits(24, version, &answer);
        }
        let result = add::AddPartitionsToTxnResult::default().with_topic_results(vec![topic]);
        for version in 4..=5 {
            let answer = AddPartitionsToTxnResponse::default()
                .with_results_by_transaction(vec![result.clone()]);
            fits(24, version, &answer);
        }
        for version in 0..=5 {
            fits(26, version, &EndTxnResponse::default());
        }
        let topic = markers::WritableTxnMarkerTopicResult::default()
            .with_name(name())
            .with_partitions(vec![markers::WritableTxnMarkerPartitionResult::default()]);
        let marker = markers::WritableTxnMarkerResult::default().with_topics(vec![topic]);
        fits(
            27,
            1,
            &WriteTxnMarkersResponse::default().with_markers(vec![marker]),
        );
        let partition = producers::PartitionResponse::default()
            .with_active_producers(vec![producers::ProducerState::default()]);
        let topic = producers::TopicResponse::default()
            .with_name(name())
            .with_partitions(vec![partition]);
        fits(
            61,
            0,
            &DescribeProducersResponse::default().with_topics(vec![topic]),
        );
        let topic = described::TopicData::default()
            .with_topic(name())
            .with_partitions(vec![0, 1]);
        let state = described::TransactionState::default().with_topics(vec![topic]);
        let answer = DescribeTransactionsResponse::default().with_transaction_states(vec![state]);
        fits(65, 0, &answer);
    }
}
