//! What there is: the rows of `conform --list`.

use serde::Serialize;

use super::glob;
use super::tour::UNDRIVEN;

/// One case, for a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseRow {
    /// `area/nn`.
    pub id: String,
    /// A short name.
    pub name: String,
    /// The level's word on the command line.
    pub level: String,
    /// MUST, SHOULD or MAY.
    pub requirement: String,
    /// Requests with versions, and cluster levels, that it takes.
    pub needs: Vec<String>,
    /// Where the rule comes from.
    pub source: String,
    /// The rule.
    pub title: String,
}

/// The whole list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Version of these fields.
    pub schema_version: u32,
    /// Always true: listing finds nothing.
    pub ok: bool,
    /// The cases.
    pub cases: Vec<CaseRow>,
    /// Cells of the decision tables that no case can drive.
    pub undriven: Vec<UndrivenRow>,
}

/// Cells that the tour leaves out for one reason; an empty list stands for all of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndrivenRow {
    /// The requests.
    pub requests: Vec<String>,
    /// The states.
    pub states: Vec<String>,
    /// The answers.
    pub answers: Vec<String>,
    /// Why.
    pub reason: String,
}

/// Every case whose id matches one of `globs`, or every case where there are none.
#[must_use]
pub fn list(globs: &[String]) -> Listing {
    let cases = super::all()
        .into_iter()
        .filter(|case| globs.is_empty() || globs.iter().any(|it| glob::matches(it, case.id)))
        .map(|case| CaseRow {
            id: case.id.to_owned(),
            name: case.name.to_owned(),
            level: case.level.name().to_owned(),
            requirement: case.requirement.name().to_owned(),
            needs: case.needs.iter().map(ToString::to_string).collect(),
            source: case.source.to_owned(),
            title: case.title.to_owned(),
        })
        .collect();
    Listing {
        schema_version: super::report::SCHEMA_VERSION,
        ok: true,
        cases,
        undriven: UNDRIVEN
            .iter()
            .filter(|_| globs.is_empty() || globs.iter().any(|it| glob::matches(it, "tour/*")))
            .map(|it| UndrivenRow {
                requests: it.requests.iter().map(|it| format!("{it:?}")).collect(),
                states: it.states.iter().map(ToString::to_string).collect(),
                answers: it.answers.iter().map(ToString::to_string).collect(),
                reason: it.reason.to_owned(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cases::{Level, all};

    /// The areas that ids may have.
    const AREAS: [&str; 14] = [
        "init", "seq", "parts", "offsets", "end", "markers", "fence", "visible", "lso", "tv2",
        "epoch", "admin", "2pc", "tour",
    ];

    #[test]
    fn ids_are_unique_and_well_formed() {
        let mut ids = BTreeSet::new();
        let mut names = BTreeSet::new();
        for case in all() {
            assert!(ids.insert(case.id), "{} twice", case.id);
            assert!(
                names.insert((case.area(), case.name)),
                "{} twice",
                case.name
            );
            assert!(AREAS.contains(&case.area()), "{}", case.id);
            let number = case.id.split('/').nth(1).unwrap_or_default();
            let numbered = number.len() == 2 && number.parse::<u8>().is_ok();
            let names_a_cell = case.id.split('/').count() == 4;
            assert!(
                if case.area() == "tour" {
                    names_a_cell
                } else {
                    numbered
                },
                "{}",
                case.id
            );
            assert!(case.title.ends_with('.'), "{}: {}", case.id, case.title);
            assert!(
                !case.source.is_empty() && !case.needs.is_empty(),
                "{}",
                case.id
            );
        }
    }

    #[test]
    fn the_core_level_has_at_least_sixty_cases() {
        let core = all()
            .iter()
            .filter(|case| case.level == Level::Core)
            .count();
        assert!(core >= 60, "{core}");
    }

    #[test]
    fn a_glob_narrows_the_list() {
        assert!(
            list(&["init/0?".to_owned()])
                .cases
                .iter()
                .all(|it| it.id.starts_with("init/0"))
        );
        assert_eq!(list(&["no-such-area".to_owned()]).cases.len(), 0);
        assert_eq!(list(&[]).cases.len(), all().len());
    }
}
