//! Kafka's classpath, as Maven resolves it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{StartError, kafka_folder};

/// The classpath, from Maven's output folder where an earlier run left it and every file of it is
/// still there.
pub fn resolve() -> Result<String, StartError> {
    run("java", Command::new("java").arg("-version"))?;
    let kept = kafka_folder().join("target").join("classpath");
    if let Some(classpath) = fs::read_to_string(&kept).ok().filter(|it| complete(it)) {
        return Ok(classpath);
    }
    let target = kafka_folder().join("target");
    fs::create_dir_all(&target)?;
    // Two test processes may resolve at once: each writes its own file and renames it.
    let fresh: PathBuf = target.join(format!("classpath.{}", std::process::id()));
    let output = run(
        "mvn",
        Command::new("mvn")
            .args(["-q", "-B", "dependency:build-classpath", "-f"])
            .arg(kafka_folder().join("pom.xml"))
            .arg(format!("-Dmdep.outputFile={}", fresh.display())),
    )?;
    if !output.status.success() {
        return Err(StartError::Failed(format!(
            "mvn dependency:build-classpath: {}",
            String::from_utf8_lossy(&output.stdout)
        )));
    }
    let classpath = fs::read_to_string(&fresh)?;
    fs::rename(&fresh, &kept)?;
    Ok(classpath)
}

fn complete(classpath: &str) -> bool {
    !classpath.is_empty()
        && classpath
            .trim()
            .split(':')
            .all(|entry| Path::new(entry).exists())
}

fn run(program: &str, command: &mut Command) -> Result<Output, StartError> {
    command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StartError::Missing(format!("no {program} on the path")),
        _ => StartError::Failed(format!("{program}: {error}")),
    })
}
