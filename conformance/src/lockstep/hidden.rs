//! In what the production states differ that one model state was met with.

use super::product::Product;
use super::report::HiddenRow;
use super::{Edge, Exclusions};
use crate::actors::Production;
use std::collections::{BTreeMap, BTreeSet};

/// How many model states are looked at.
const LOOKED_AT: usize = 100;

/// The reasons, each with the number of model states that it was found in.
pub(super) fn reasons(product: &Product<'_>) -> Vec<HiddenRow> {
    let mut pairs: Vec<(u32, u32)> = product.hidden().collect();
    pairs.sort_unstable();
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (first, second) in pairs.into_iter().take(LOOKED_AT) {
        let (Some(first), Some(second)) = (replay(product, first), replay(product, second)) else {
            continue;
        };
        for field in differing_fields(&first, &second) {
            *found.entry(field).or_default() += 1;
        }
    }
    let rows = found.into_iter();
    rows.map(|(what, count)| HiddenRow { what, count })
        .collect()
}

/// The production state of a pair.
fn replay(product: &Product<'_>, at: u32) -> Option<Production> {
    let lockstep = product.lockstep;
    let mut exclusions = Exclusions::default();
    let (mut state, mut production) = lockstep.start(&mut exclusions).ok()?;
    for action in product.path(at) {
        let after = lockstep.world.take(&state, &action)?;
        let edge = lockstep.step(&state, &action, &after, &production, &mut exclusions);
        let Ok(Edge::Taken(next)) = edge else {
            return None;
        };
        (state, production) = (after, next);
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
