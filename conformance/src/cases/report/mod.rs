//! The report in the forms that people and machines read.

mod csv;
mod html;
mod json;
mod junit;
mod text;

use std::fmt;

use super::result::Report;

/// Version of the JSON fields.
pub const SCHEMA_VERSION: u32 = 1;

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// One line a case, then the failures in full.
    Text,
    /// JUnit XML: a suite an area, a test a case.
    Junit,
    /// Every field.
    Json,
    /// `id,verdict,...`, one line a case.
    Csv,
    /// A page.
    Html,
}

/// A word that is no form of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat(
    /// The word.
    pub String,
);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no report format {:?}: text, junit, json, csv or html",
            self.0
        )
    }
}

impl std::error::Error for UnknownFormat {}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        match word {
            "text" => Ok(Self::Text),
            "junit" => Ok(Self::Junit),
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "html" => Ok(Self::Html),
            other => Err(UnknownFormat(other.to_owned())),
        }
    }
}

impl Report {
    /// The report in a form.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => text::render(self),
            Format::Junit => junit::render(self),
            Format::Json => json::render(self),
            Format::Csv => csv::render(self),
            Format::Html => html::render(self),
        }
    }
}

/// Text for an XML or HTML element or attribute; characters that XML does not allow become `?`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() => escaped.push('?'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
