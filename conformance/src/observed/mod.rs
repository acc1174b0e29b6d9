//! The other direction: what clients and a broker said to each other, written down by a [`Proxy`],
//! is judged by the model: "this run is a behaviour of the model", or the first event that is not.
//!
//! Only what passed the proxy is seen. Everything a broker does by itself (append, replicate, write
//! markers, time out, load) may have happened at any moment between two events; clients that went
//! past the proxy are not allowed for. Our own cores write the same events and also what they do by
//! themselves ([`Event::Logged`], [`Event::Appended`]); of what they write down nothing happens
//! unseen.

mod answered;
mod asked;
pub(crate) mod decode;
mod event;
mod log;
mod offsets;
mod proxy;
mod track;
mod validator;

pub use event::{
    Addition, Answered, Asked, Event, Fetched, Inside, Logged, LoggedState, MarkerAsked, OffsetsOf,
    Pair, Place, Sent, Stored, Verdict, Written,
};
pub use proxy::Proxy;
pub use validator::{Refusal, Summary, Validator};
