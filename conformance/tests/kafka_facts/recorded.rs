//! The recorded tables in docs/FINDINGS-kafka-4.4.md: one section a cluster, one line a request.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

const COLUMNS: &str =
    "| area | state before | request | semantics.md says | Kafka 4.4.0 says | state after | |";
const RULE: &str = "|---|---|---|---|---|---|---|";

/// Two tests may record at once.
static PAGE: Mutex<()> = Mutex::new(());

fn page() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/FINDINGS-kafka-4.4.md"
    ))
}

/// Compares the lines with the section's, or writes them there under `FENCEPOST_RECORD=1`.
pub fn compare(section: &str, lines: &[String]) {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(page()).expect("docs/FINDINGS-kafka-4.4.md");
    if std::env::var_os("FENCEPOST_RECORD").is_some_and(|value| value == "1") {
        fs::write(page(), with_section(&text, section, lines)).expect("write the page");
        return;
    }
    let recorded = section_lines(&text, section);
    let mut differences = Vec::new();
    for index in 0..recorded.len().max(lines.len()) {
        let was = recorded.get(index).map_or("(no line)", String::as_str);
        let is = lines.get(index).map_or("(no line)", String::as_str);
        if was != is {
            differences.push(format!("recorded {was}\nnow      {is}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{section}: {} of {} answers differ from the recorded ones:\n{}",
        differences.len(),
        recorded.len(),
        differences[..differences.len().min(20)].join("\n")
    );
}

fn section_lines(text: &str, section: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| *line != format!("## {section}"))
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| ") && *line != COLUMNS)
        .map(str::to_owned)
        .collect()
}

/// The page with the section replaced where it stands, or added at the end.
fn with_section(text: &str, section: &str, lines: &[String]) -> String {
    let heading = format!("## {section}");
    let table = format!("{heading}\n\n{COLUMNS}\n{RULE}\n{}\n", lines.join("\n"));
    let mut parts: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("## ") || parts.is_empty() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    match parts
        .iter_mut()
        .find(|part| part.lines().next() == Some(&heading))
    {
        Some(part) => *part = table,
        None => parts.push(table),
    }
    let trimmed: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    trimmed.join("\n\n") + "\n"
}
