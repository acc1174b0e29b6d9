//! For a terminal.

use std::fmt::Write;

use crate::cases::result::{CaseResult, Report, Verdict};

impl CaseResult {
    /// One line: verdict, id, name, and why.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("{:<15} {:<10} {}", self.verdict.name(), self.id, self.name);
        if !self.reason.is_empty() {
            line.push_str(": ");
            line.push_str(&self.reason);
        }
        line
    }

    /// The whole story of a case that did not pass: every exchange, the one that decided last.
    #[must_use]
    pub fn story(&self) -> String {
        let mut text = format!(
            "{} {} ({}, {})\n",
            self.id, self.name, self.requirement, self.source
        );
        let _ = writeln!(text, "  {}", self.title);
        let last = self.exchanges.len().saturating_sub(1);
        for (index, exchange) in self.exchanges.iter().enumerate() {
            let _ = writeln!(text, "  > {}", exchange.request);
            let _ = writeln!(text, "  < {}", exchange.answer);
            if index == last {
                let _ = writeln!(text, "    allowed: {}", exchange.allowed.join(" | "));
                let _ = writeln!(text, "    rule: {}", exchange.rule);
            }
        }
        let _ = writeln!(text, "  {}", self.reason);
        let _ = writeln!(text, "  again: {}", self.reproduce);
        text
    }

    /// Whether the case's story belongs to the report.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        match self.verdict {
            Verdict::Fail | Verdict::Inconclusive => true,
            Verdict::Pass | Verdict::Skip | Verdict::Known | Verdict::UnexpectedPass => false,
        }
    }
}

/// One line a case, the stories of the failures, one line of sums.
pub(super) fn render(report: &Report) -> String {
    let mut text = String::new();
    for case in &report.cases {
        let _ = writeln!(text, "{}", case.line());
    }
    for case in report.cases.iter().filter(|case| case.is_told()) {
        let _ = write!(text, "\n{}", case.story());
    }
    let _ = writeln!(text, "\n{}", report.summary());
    text.push_str(&report.leftovers());
    text
}

impl Report {
    /// What the run leaves on the broker, a line each. There is no request that deletes a transactional id.
    #[must_use]
    pub fn leftovers(&self) -> String {
        if self.cases.iter().all(|it| it.verdict == Verdict::Skip) {
            return String::new();
        }
        let prefix = &self.prefix;
        let mut text =
            format!("left behind until they expire: transactional ids that begin with {prefix}\n");
        for what in &self.left {
            let _ = writeln!(text, "left behind: {what}");
        }
        text
    }

    /// The sums in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        format!(
            "{}, transaction.version {}: {} passed, {} failed, {} skipped, {} known, {} \
             inconclusive; {} steps in {:.1} s",
            self.broker,
            self.transaction_version,
            self.passed,
            self.failed,
            self.skipped,
            self.known,
            self.inconclusive,
            self.steps,
            self.seconds
        )
    }
}
