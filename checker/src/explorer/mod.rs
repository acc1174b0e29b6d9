//! The Explorer: our own pages on a loopback address, and behind them stateright's Explorer, in a
//! process for each model that is open.

mod assets;
mod front;
mod guard;
mod model_name;
pub mod model_server;
mod models;
mod pages;
mod saved;
mod shown;
mod walk;

pub use front::{Settings, listen, serve};
pub use model_name::{DEFAULT_ADDRESS, ModelName, explorer_url};
pub use shown::Shown;
pub use walk::{Walk, model_of};
