//! A trace as a chart, or in another tool's format.

mod chart;
mod dot;
mod itf;
mod json;
mod mermaid;
mod svg;

pub use chart::Chart;
pub use dot::dot;
pub use itf::itf;
pub use json::json;
pub use mermaid::mermaid;
pub use svg::svg;
