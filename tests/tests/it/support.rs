//! Running the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests have a parent folder")
        .to_owned()
}

/// The program, built once in the profile of this test run.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args([
            "build",
            "--package",
            "fencepost-checker",
            "--bin",
            "fencepost",
        ]);
        let here = std::env::current_exe().expect("a test has a path");
        let profile = here
            .ancestors()
            .nth(2)
            .expect("a test lies in target/PROFILE/deps");
        if profile.ends_with("release") {
            build.arg("--release");
        }
        let built = build.current_dir(root()).status().expect("cargo runs");
        assert!(built.success(), "the program does not build");
        profile.join("fencepost")
    })
}

/// What the program says to these arguments.
pub fn fencepost(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program runs")
}

/// The program with these arguments, not yet started.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .args(arguments)
        .current_dir(root())
        .env("NO_COLOR", "1");
    command
}

/// The exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal ended it")
}

/// Stdout as JSON.
pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

/// Stderr as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
