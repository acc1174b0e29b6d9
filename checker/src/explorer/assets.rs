//! The files of our pages, in the program itself.

use axum::http::header;
use axum::response::{IntoResponse, Response};

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The file of this name.
pub fn find(name: &str) -> Option<Response> {
    let (kind, text) = match name {
        "style.css" => (CSS, include_str!("assets/style.css")),
        "start.js" => (SCRIPT, include_str!("assets/start.js")),
        "model.js" => (SCRIPT, include_str!("assets/model.js")),
        _ => return None,
    };
    Some(([(header::CONTENT_TYPE, kind)], text).into_response())
}
