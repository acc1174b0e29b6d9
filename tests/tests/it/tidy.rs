//! What the sources promise of themselves.

use crate::support::root;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("a source is text")
}

#[test]
fn spec_and_impl_never_import_each_other() {
    for path in sources("spec/src") {
        let text = text(&path);
        assert!(!text.contains("use fencepost::"), "{}", path.display());
    }
    for path in sources("impl/src") {
        assert!(
            !text(&path).contains("fencepost_spec"),
            "{}",
            path.display()
        );
    }
    for manifest in ["spec/Cargo.toml", "impl/Cargo.toml"] {
        let text = text(&root().join(manifest));
        let names_other =
            text.contains("\nfencepost.workspace") || text.contains("\nfencepost-spec.workspace");
        assert!(!names_other, "{manifest}");
    }
}

/// A new state or request must break the build: decisions have no wildcard arm.
#[test]
fn the_models_decisions_have_no_wildcard() {
    for folder in ["coordinator", "partition", "group", "client"] {
        for path in sources(&format!("spec/src/{folder}")) {
            for (number, line) in text(&path).lines().enumerate() {
                let wild = line.trim_start().starts_with("_ =>");
                assert!(!wild, "{}:{}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn nothing_is_silenced_or_left_for_later() {
    let words = [
        "todo!(",
        "unimplemented!(",
        "TODO",
        "FIXME",
        "allow(dead_code",
        "allow(unused",
    ];
    for folder in ["spec/src", "impl/src", "checker", "conformance/src"] {
        for path in sources(folder) {
            let text = text(&path);
            for word in words {
                assert!(!text.contains(word), "{} has {word}", path.display());
            }
        }
    }
}

#[test]
fn the_readme_names_commands_that_exist() {
    let readme = text(&root().join("README.md"));
    let help = crate::support::fencepost(&["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let named = readme
        .lines()
        .filter_map(|line| line.strip_prefix("cargo run --release -- "))
        .filter_map(|rest| rest.split_whitespace().next());
    let mut seen = 0;
    for command in named {
        seen += 1;
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(seen >= 6);
}
