//! The shape of every request that the broker takes, for [`crate::wire::preflight`]. From Kafka's message schemas;
//! only lengths and counts matter, so numbers stand as their size in bytes.

use crate::wire::preflight::Kind::{Array, Blob, Fixed, Tagged, Text, Texts, Values};
use crate::wire::preflight::{Field, Shape};

const INT8: Field = Field::always(Fixed(1));
const INT16: Field = Field::always(Fixed(2));
const INT32: Field = Field::always(Fixed(4));
const INT64: Field = Field::always(Fixed(8));
const TEXT: Field = Field::always(Text);
/// Topics, each with a list of partition numbers.
const PARTITIONS: Field = Field::always(Array(&[TEXT, Field::always(Values(4))]));

const fn shape(flexible_from: i16, fields: &'static [Field]) -> Shape {
    Shape {
        flexible_from,
        fields,
    }
}

pub(super) static PRODUCE: Shape = shape(
    9,
    &[
        TEXT,
        INT16,
        INT32,
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[INT32, Field::always(Blob)])),
        ])),
    ],
);

pub(super) static FETCH: Shape = shape(
    12,
    &[
        INT32,
        INT32,
        INT32,
        INT32,
        INT8,
        Field::since(7, Fixed(4)),
        Field::since(7, Fixed(4)),
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[
                INT32,
                Field::since(9, Fixed(4)),
                INT64,
                Field::since(12, Fixed(4)),
                Field::since(5, Fixed(8)),
                INT32,
            ])),
        ])),
        Field::since(7, Array(&[TEXT, Field::always(Values(4))])),
        Field::since(11, Text),
        Field::always(Tagged(0, &Text)),
    ],
);

pub(super) static LIST_OFFSETS: Shape = shape(
    6,
    &[
        INT32,
        Field::since(2, Fixed(1)),
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[INT32, Field::since(4, Fixed(4)), INT64])),
        ])),
    ],
);

pub(super) static METADATA: Shape = shape(
    9,
    &[
        Field::always(Array(&[Field::since(10, Fixed(16)), TEXT])),
        Field::since(4, Fixed(1)),
        Field::between(8, 10, Fixed(1)),
        Field::since(8, Fixed(1)),
    ],
);

pub(super) static OFFSET_COMMIT: Shape = shape(
    8,
    &[
        TEXT,
        INT32,
        TEXT,
        Field::since(7, Text),
        Field::between(2, 4, Fixed(8)),
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[INT32, INT64, Field::since(6, Fixed(4)), TEXT])),
        ])),
    ],
);

pub(super) static OFFSET_FETCH: Shape = shape(6, &[TEXT, PARTITIONS, Field::since(7, Fixed(1))]);

pub(super) static FIND_COORDINATOR: Shape = shape(3, &[TEXT, Field::since(1, Fixed(1))]);

pub(super) static JOIN_GROUP: Shape = shape(
    6,
    &[
        TEXT,
        INT32,
        Field::since(1, Fixed(4)),
        TEXT,
        Field::since(5, Text),
        TEXT,
        Field::always(Array(&[TEXT, Field::always(Blob)])),
    ],
);

pub(super) static HEARTBEAT: Shape = shape(4, &[TEXT, INT32, TEXT, Field::since(3, Text)]);

pub(super) static LEAVE_GROUP: Shape = shape(
    4,
    &[
        TEXT,
        Field::between(0, 2, Text),
        Field::since(3, Array(&[TEXT, TEXT])),
    ],
);

pub(super) static SYNC_GROUP: Shape = shape(
    4,
    &[
        TEXT,
        INT32,
        TEXT,
        Field::since(3, Text),
        Field::since(5, Text),
        Field::since(5, Text),
        Field::always(Array(&[TEXT, Field::always(Blob)])),
    ],
);

pub(super) static API_VERSIONS: Shape = shape(3, &[Field::since(3, Text), Field::since(3, Text)]);

pub(super) static CREATE_TOPICS: Shape = shape(
    5,
    &[
        Field::always(Array(&[
            TEXT,
            INT32,
            INT16,
            Field::always(Array(&[INT32, Field::always(Values(4))])),
            Field::always(Array(&[TEXT, TEXT])),
        ])),
        INT32,
        INT8,
    ],
);

pub(super) static DELETE_TOPICS: Shape = shape(4, &[Field::always(Texts), INT32]);

pub(super) static INIT_PRODUCER_ID: Shape = shape(
    2,
    &[
        TEXT,
        INT32,
        Field::since(3, Fixed(8)),
        Field::since(3, Fixed(2)),
        Field::since(6, Fixed(1)),
        Field::since(6, Fixed(1)),
    ],
);

/// What a client sends.
pub(super) static ADD_PARTITIONS_TO_TXN: Shape = shape(3, &[TEXT, INT64, INT16, PARTITIONS]);

/// What a broker sends.
pub(super) static ADD_PARTITIONS_TO_TXN_BATCHED: Shape = shape(
    3,
    &[Field::always(Array(&[
        TEXT, INT64, INT16, INT8, PARTITIONS,
    ]))],
);

pub(super) static ADD_OFFSETS_TO_TXN: Shape = shape(3, &[TEXT, INT64, INT16, TEXT]);

pub(super) static END_TXN: Shape = shape(3, &[TEXT, INT64, INT16, INT8]);

pub(super) static WRITE_TXN_MARKERS: Shape = shape(
    1,
    &[Field::always(Array(&[
        INT64,
        INT16,
        INT8,
        PARTITIONS,
        INT32,
        Field::since(2, Fixed(1)),
    ]))],
);

pub(super) static TXN_OFFSET_COMMIT: Shape = shape(
    3,
    &[
        TEXT,
        TEXT,
        INT64,
        INT16,
        Field::since(3, Fixed(4)),
        Field::since(3, Text),
        Field::since(3, Text),
        Field::always(Array(&[
            TEXT,
            Field::always(Array(&[INT32, INT64, Field::since(2, Fixed(4)), TEXT])),
        ])),
    ],
);

pub(super) static DESCRIBE_PRODUCERS: Shape = shape(0, &[PARTITIONS]);

pub(super) static DESCRIBE_TRANSACTIONS: Shape = shape(0, &[Field::always(Texts)]);

pub(super) static LIST_TRANSACTIONS: Shape = shape(
    0,
    &[
        Field::always(Texts),
        Field::always(Values(8)),
        Field::since(1, Fixed(8)),
    ],
);
