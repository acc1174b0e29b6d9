//! stateright's Explorer on the model, behind a front of its own.

mod front;
mod shown;

pub use front::serve;
pub use shown::Shown;
