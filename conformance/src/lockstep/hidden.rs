//! In what the production states differ that one model state was met with.

use super::product::Product;
use super::report::HiddenRow;
use super::{Edge, Tally};
use crate::actors::Production;
use std::collections::{BTreeMap, BTreeSet};

/// How many model states are looked at.
const LOOKED_AT: usize = 100;

/// The reasons, each with the number of model states that it was found in.
pub(super) fn reasons(product: &Product<'_>) -> Vec<HiddenRow> {
    let mut pairs: Vec<(u32, u32)> = product.hidden().collect();
    pairs.sort_unstable();
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    // Evenly over the run, so that what only happens late is looked at too.
    let every = pairs.len().div_ceil(LOOKED_AT).max(1);
    for (first, second) in pairs.into_iter().step_by(every) {
        let (Some(first), Some(second)) = (replay(product, first), replay(product, second)) else {
            continue;
        };
        let fields = differing_fields(&first, &second);
        let reasons: BTreeSet<String> = fields.iter().map(|field| reason(field)).collect();
        for reason in reasons {
            *found.entry(reason).or_default() += 1;
        }
    }
    let rows = found.into_iter();
    rows.map(|(what, count)| HiddenRow { what, count })
        .collect()
}

/// What a field in which production states differ is there for.
fn reason(field: &str) -> String {
    let field = field.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let known = match field {
        "VerificationGuard" | "guard" | "guard: VerificationGuard" | "held" => {
            "numbers of verification guards: which is the smallest free one depends on what else was asked"
        }
        "has_failed_epoch_fence" => {
            "a failed fence that is remembered after the decision that made it irrelevant"
        }
        "entries" | "aborted: AbortedIndex" | "last_stable_offset" => {
            "the last stable offset that an entry of the transaction index was written with"
        }
        "batches" | "last_offset: Offset" | "last_sequence: Sequence" => {
            "remembered batches before the last, which a recovery from a snapshot forgets"
        }
        "partitions: PartitionSet" | "sorted" | "topic" => {
            "partitions of a decided transaction whose marker is written"
        }
        "base_timestamp: Timestamp"
        | "max_timestamp: Timestamp"
        | "bytes"
        | "is_control"
        | "is_transactional"
        | "producer" => {
            "records that the model does not write: tombstones of expired offsets and generations of the group"
        }
        // One text goes on where the other one closes a list.
        "" => "how many entries one of the collections has",
        "Correlation" => "who waits for an append whose answer nobody reads any more",
        other => return format!("field {other}"),
    };
    known.to_owned()
}

/// The production state of a pair.
fn replay(product: &Product<'_>, at: u32) -> Option<Production> {
    let lockstep = product.lockstep;
    let mut tally = Tally::default();
    let (mut state, began) = lockstep.start(&mut tally).ok()?;
    let mut production = began.production;
    for action in product.path(at) {
        let after = lockstep.world.take(&state, &action)?;
        let edge = lockstep.step(&state, &action, &after, &production, &mut tally);
        let Ok(Edge::Taken(next)) = edge else {
            return None;
        };
        (state, production) = (after, next.production);
    }
    Some(production)
}

/// The names of the fields, or of the types, in which two states differ, by their debug texts.
fn differing_fields(first: &Production, second: &Production) -> BTreeSet<String> {
    let (first, second) = (format!("{first:#?}"), format!("{second:#?}"));
    let mut fields = BTreeSet::new();
    let mut context: Vec<String> = Vec::new();
    for (a, b) in first.lines().zip(second.lines()) {
        let depth = a.len() - a.trim_start().len();
        context.truncate(depth / 4);
        let name = a.trim().trim_end_matches(['(', '{', '[']).trim_end();
        if a != b {
            let named = a.trim().split_once(": ").map(|(field, _)| field.to_owned());
            let around = context.iter().rev().find(|it| !it.is_empty()).cloned();
            fields.extend(named.or(around));
            if a.ends_with(['(', '{', '[']) != b.ends_with(['(', '{', '[']) {
                // The texts no longer run side by side.
                break;
            }
        }
        context.resize(depth / 4, String::new());
        context.push(name.to_owned());
    }
    fields
}
