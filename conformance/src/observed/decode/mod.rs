//! From the wire's frames to events.

mod answered;
mod asked;

pub use answered::{answered, stored};
pub use asked::{asked, is_unanswered};

use super::event::Pair;
use crate::wire::BatchView;

fn pair(batch: &BatchView) -> Pair {
    (batch.producer.id, batch.producer.epoch)
}
