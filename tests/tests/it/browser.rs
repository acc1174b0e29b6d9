//! The Explorer in a headless Chromium: `tests/browser/`, run by Node.js.
//!
//! Without Node.js, Chromium or the test's packages it prints a line and passes; with
//! `FENCEPOST_REQUIRE_ALL=1` it fails.

use crate::support::{program, root};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Chromium may be; `CHROMIUM` names another place.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let mut files = env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Node.js and Chromium, or what is missing.
fn needs(tests: &Path) -> Result<(PathBuf, PathBuf), String> {
    let node = on_path("node").ok_or("there is no Node.js (node)")?;
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let chromium = named.or_else(|| BROWSERS.into_iter().find_map(on_path));
    let chromium = chromium.ok_or_else(|| format!("there is none of {}", BROWSERS.join(", ")))?;
    if !tests.join("node_modules/playwright-core").is_dir() {
        return Err("`npm ci` was not run in tests/browser".to_owned());
    }
    Ok((node, chromium))
}

#[test]
fn the_explorer_works_in_a_browser() {
    let tests = root().join("tests/browser");
    let (node, chromium) = match needs(&tests) {
        Ok(found) => found,
        Err(missing) => {
            let required = env::var_os("FENCEPOST_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(
                !required,
                "the Explorer must be tested in a browser, and {missing}"
            );
            println!("The Explorer is not tested in a browser: {missing}.");
            return;
        }
    };
    let output = Command::new(node)
        .args(["--test", "explorer.test.js"])
        .env("FENCEPOST", program())
        .env("CHROMIUM", chromium)
        .current_dir(tests)
        .output()
        .expect("Node.js runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let passed = said.lines().find_map(|line| line.strip_prefix("# pass "));
    let passed: usize = passed.and_then(|n| n.parse().ok()).unwrap_or(0);
    assert!(passed >= 10, "only {passed} tests ran: {said}");
}
