//! The cases, area by area. Ids are for ever: a case that goes leaves its number unused.

mod admin;
mod end;
mod epoch;
mod fence;
mod init;
pub(super) mod judged;
mod lso;
mod markers;
mod offsets;
pub(super) mod ours;
mod parts;
mod seq;
mod tv2;
mod two_phase;
mod visible;

use super::case::{Body, Case, Level, Need, Requirement};
use super::stage::{Outcome, Stage};

/// Every case, in the order of the areas and of the ids.
#[must_use]
pub fn all() -> Vec<Case> {
    [
        init::CASES,
        seq::CASES,
        parts::CASES,
        offsets::CASES,
        end::CASES,
        markers::CASES,
        fence::CASES,
        visible::CASES,
        lso::CASES,
        tv2::CASES,
        epoch::CASES,
        admin::CASES,
        two_phase::CASES,
    ]
    .concat()
}

/// A MUST of the core level.
const fn core(
    id: &'static str,
    name: &'static str,
    needs: &'static [Need],
    source: &'static str,
    title: &'static str,
    body: fn(&mut Stage) -> Outcome,
) -> Case {
    Case {
        id,
        name,
        requirement: Requirement::Must,
        level: Level::Core,
        needs,
        source,
        title,
        body: Body::Written(body),
    }
}

impl Case {
    const fn should(self) -> Self {
        Self {
            requirement: Requirement::Should,
            ..self
        }
    }

    const fn may(self) -> Self {
        Self {
            requirement: Requirement::May,
            ..self
        }
    }

    const fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }
}

const OBSERVED: &str = "observed on Kafka 4.4.0";

const fn api(key: i16, name: &'static str, version: i16) -> Need {
    Need::Api { key, name, version }
}

const PRODUCE_11: Need = api(0, "Produce", 11);
const PRODUCE_12: Need = api(0, "Produce", 12);
const INIT_4: Need = api(22, "InitProducerId", 4);
const ADD_3: Need = api(24, "AddPartitionsToTxn", 3);
const ADD_4: Need = api(24, "AddPartitionsToTxn", 4);
const OFFSETS_3: Need = api(25, "AddOffsetsToTxn", 3);
const END_4: Need = api(26, "EndTxn", 4);
const END_5: Need = api(26, "EndTxn", 5);
const MARKERS_1: Need = api(27, "WriteTxnMarkers", 1);
const MARKERS_2: Need = api(27, "WriteTxnMarkers", 2);
const STAGE_3: Need = api(28, "TxnOffsetCommit", 3);
const STAGE_5: Need = api(28, "TxnOffsetCommit", 5);
const DESCRIBE_0: Need = api(65, "DescribeTransactions", 0);
const TV1: Need = Need::TransactionVersion(1);
const TV2: Need = Need::TransactionVersion(2);

/// What a transaction of one record takes.
const ONE_TRANSACTION: &[Need] = &[INIT_4, ADD_3, PRODUCE_11, END_4];
/// What a transaction of one record takes under TV2.
const ONE_TV2: &[Need] = &[INIT_4, PRODUCE_12, END_5, TV2];
/// What EndTxn v5 takes where the partition is added by the client.
const ONE_V5: &[Need] = &[INIT_4, ADD_3, PRODUCE_11, END_5, TV1];
