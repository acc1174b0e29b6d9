//! For machines.

use crate::cases::result::Report;

/// Every field. Rendering cannot fail: the report has only strings, numbers and lists.
pub(super) fn render(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default()
}
