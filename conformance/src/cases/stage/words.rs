//! Requests, answers and allowed sets in a person's words.

use fencepost_spec::error_code::ErrorCode as ModelError;
use fencepost_spec::types::{Identity, ProducerId};

use super::{Exchange, Real, Stage};
use crate::cases::oracle::{Allowed, ModelAnswer};
use crate::wire::{ErrorCode, Producer};

impl Stage {
    /// Keeps an exchange for the report.
    pub(super) fn note(
        &mut self,
        request: &str,
        real: &Real,
        allowed: &[Allowed],
        seen: &impl Fn(ModelError) -> ModelError,
    ) {
        let mut answers: Vec<String> = allowed
            .iter()
            .map(|it| answer_text(&it.answer, seen))
            .collect();
        answers.sort();
        answers.dedup();
        let mut cells: Vec<String> = allowed
            .iter()
            .filter_map(|it| it.cell.map(|cell| cell.to_string()))
            .collect();
        cells.sort();
        cells.dedup();
        let exchange = Exchange {
            request: request.to_owned(),
            answer: self.shown(real),
            allowed: answers,
            rule: cells.join("; "),
        };
        self.exchanges.push(exchange);
    }

    /// An answer of the broker, with producer ids by their letters.
    pub(super) fn shown(&self, real: &Real) -> String {
        let mut text = real.error.to_string();
        if real.error == ErrorCode::NONE && real.producer != Producer::NONE {
            text.push(' ');
            text.push_str(&self.producer_text(real.producer));
        }
        if real.error == ErrorCode::NONE && real.offset >= 0 {
            text.push_str(&format!(" at {}", real.offset));
        }
        text
    }

    /// A pair on the wire: (P,1), or the number where no letter stands for it yet.
    pub(super) fn producer_text(&self, producer: Producer) -> String {
        match self.oracle.named(producer.id) {
            Some(id) => format!("({},{})", letter(id), producer.epoch),
            None => format!("({},{})", producer.id, producer.epoch),
        }
    }
}

/// P, Q, R for producer ids in the order in which they are given.
pub(super) fn letter(id: ProducerId) -> String {
    const LETTERS: [&str; 6] = ["P", "Q", "R", "S", "T", "U"];
    match LETTERS.get(usize::from(id.0).wrapping_sub(1)) {
        Some(letter) => (*letter).to_owned(),
        None => "X".to_owned(),
    }
}

/// An identity: (P,1).
pub(super) fn pair(identity: Identity) -> String {
    format!(
        "({},{})",
        letter(identity.producer_id),
        identity.producer_epoch.0
    )
}

fn answer_text(answer: &ModelAnswer, seen: &impl Fn(ModelError) -> ModelError) -> String {
    let mut text = seen(answer.error).name().to_owned();
    if let Some(identity) = answer.identity {
        text.push(' ');
        text.push_str(&pair(identity));
    }
    if let Some(offset) = answer.offset {
        text.push_str(&format!(" at {offset}"));
    }
    text
}
