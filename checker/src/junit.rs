//! A JUnit report: one case a run.

use std::fmt::Write;

/// A case of the report.
pub struct Case {
    /// Its name.
    pub name: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// The report as XML.
pub fn report(suite: &str, cases: &[Case]) -> String {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" time=\"{seconds:.3}\">",
        escape(suite),
        cases.len()
    );
    for case in cases {
        let _ = write!(
            text,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escape(suite),
            escape(&case.name),
            case.seconds
        );
        let _ = match &case.failure {
            None => writeln!(text, "/>"),
            Some(why) => writeln!(
                text,
                ">\n    <failure message=\"{}\"/>\n  </testcase>",
                escape(why)
            ),
        };
    }
    text.push_str("</testsuite>\n");
    text
}

/// Text for an XML attribute or element.
pub fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_counted_and_escaped() {
        let case = |failure: Option<&str>| Case {
            name: "a<b".to_owned(),
            seconds: 0.5,
            failure: failure.map(str::to_owned),
        };
        let xml = report("check", &[case(None), case(Some("S1 & S2"))]);
        assert!(
            xml.contains("tests=\"2\" failures=\"1\" time=\"1.000\""),
            "{xml}"
        );
        assert!(xml.contains("name=\"a&lt;b\" time=\"0.500\"/>"), "{xml}");
        assert!(xml.contains("<failure message=\"S1 &amp; S2\"/>"), "{xml}");
    }
}
