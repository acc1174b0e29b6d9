//! A user's file of failures that are known: `ID  # reason`, one a line.

use std::collections::BTreeMap;
use std::fmt;

/// Case ids with their reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFailures {
    reasons: BTreeMap<String, String>,
}

/// A line that is no `ID  # reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableLine {
    /// From 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

impl fmt::Display for UnreadableLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: no case id: {:?}", self.line, self.text)
    }
}

impl std::error::Error for UnreadableLine {}

impl KnownFailures {
    /// Reads the file's text. Empty lines and lines that begin with `#` are comments.
    ///
    /// # Errors
    /// [`UnreadableLine`] where the first word is not the id of a case.
    pub fn parse(text: &str) -> Result<Self, UnreadableLine> {
        let mut reasons = BTreeMap::new();
        let cases = super::all();
        for (index, line) in text.lines().enumerate() {
            let (id, reason) = line.split_once('#').unwrap_or((line, ""));
            let id = id.trim();
            if id.is_empty() {
                continue;
            }
            let walk = super::walk::named(id).is_some();
            if !walk && !cases.iter().any(|case| case.id == id) {
                return Err(UnreadableLine {
                    line: index + 1,
                    text: line.to_owned(),
                });
            }
            reasons.insert(id.to_owned(), reason.trim().to_owned());
        }
        Ok(Self { reasons })
    }

    /// Why this case is known to fail, if it is.
    #[must_use]
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.reasons.get(id).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_reasons() {
        let known =
            KnownFailures::parse("# ours\nend/21  # KAFKA-20785\n\ninit/01\n").expect("reads");
        assert_eq!(known.reason("end/21"), Some("KAFKA-20785"));
        assert_eq!(known.reason("init/01"), Some(""));
        assert_eq!(known.reason("init/02"), None);
    }

    #[test]
    fn an_unknown_id_is_named_with_its_line() {
        let error = KnownFailures::parse("init/01\nend/99 # gone\n").expect_err("no such case");
        assert_eq!(error.line, 2);
    }
}
