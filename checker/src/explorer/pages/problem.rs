//! A request that has no page to show for it.

use super::page;
use crate::exit::{Exit, Failure};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use std::fmt::Display;

/// Why not.
pub struct Problem {
    status: StatusCode,
    says: String,
}

impl Problem {
    /// With this status and sentence.
    pub fn new(status: StatusCode, says: impl Into<String>) -> Self {
        Self {
            status,
            says: says.into(),
        }
    }

    /// There is no such thing.
    pub fn nothing(says: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, says)
    }

    /// What should not happen.
    pub fn internal(why: impl Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string())
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let status = match failure.exit() {
            Exit::Usage => StatusCode::NOT_FOUND,
            Exit::AsExpected | Exit::Finding | Exit::Unreachable | Exit::Internal => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        Self::new(status, failure.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Problem");
        let body = html! {
            body.problem {
                main {
                    h1 { (title) }
                    p { (self.says) }
                    p { a href="/" { "To the start" } }
                }
            }
        };
        (self.status, page(title, &[], &body)).into_response()
    }
}
