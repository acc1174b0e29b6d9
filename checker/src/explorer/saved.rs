//! The saved traces under a folder.

use crate::exit::Failure;
use crate::traces;
use fencepost_spec::trace::TraceFile;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// No folder is looked at below this depth.
const DEEPEST: usize = 6;
/// No more entries than this are looked at, and no more traces listed.
const MOST_ENTRIES: usize = 20_000;
const MOST_TRACES: usize = 2_000;

/// A folder with traces, at any depth.
#[derive(Clone, Debug)]
pub struct Saved {
    folder: PathBuf,
}

/// A trace of the folder.
pub struct Listed {
    /// Its path below the folder, with `/`.
    pub name: String,
    /// What it is, or why it cannot be read.
    pub file: Result<TraceFile, Failure>,
}

impl Saved {
    /// The traces under `folder`.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Every trace, by name. Hidden folders, links and what a build made are passed over.
    pub fn list(&self) -> Vec<Listed> {
        let mut names = self.names();
        names.sort();
        names.truncate(MOST_TRACES);
        let listed = names.into_iter().map(|name| Listed {
            file: traces::read(&self.folder.join(&name)),
            name,
        });
        listed.collect()
    }

    /// The file of a name in the list; `None` for a name that leads out of the folder or to no
    /// trace.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let named = Path::new(name);
        let plain = |part| matches!(part, Component::Normal(_));
        if !named.components().all(plain) || named.extension()? != "trace" {
            return None;
        }
        let folder = self.folder.canonicalize().ok()?;
        let path = folder.join(named).canonicalize().ok()?;
        (path.starts_with(&folder) && path.is_file()).then_some(path)
    }

    fn names(&self) -> Vec<String> {
        let mut folders = vec![(self.folder.clone(), String::new(), 0)];
        let (mut names, mut seen) = (Vec::new(), 0);
        while let Some((folder, prefix, depth)) = folders.pop() {
            // A folder that cannot be read has no traces for this user.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_ENTRIES {
                    return names;
                }
                let (Ok(kind), Ok(own)) = (entry.file_type(), entry.file_name().into_string())
                else {
                    continue;
                };
                let name = format!("{prefix}{own}");
                if kind.is_file() && own.ends_with(".trace") {
                    names.push(name);
                } else if kind.is_dir() && depth < DEEPEST && worth_a_look(&own) {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
                }
            }
        }
        names
    }
}

fn worth_a_look(folder: &str) -> bool {
    !folder.starts_with('.') && !matches!(folder, "target" | "node_modules")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_found_below_the_folder_and_nowhere_else() {
        let saved = Saved::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests"));
        let list = saved.list();
        assert!(list.len() > 100 && list.iter().all(|trace| trace.file.is_ok()));
        let first = &list[0].name;
        assert!(first.starts_with("traces/counterexample/"), "{first}");
        assert!(saved.path(first).is_some());
        for outside in [
            "../README.md",
            "/etc/passwd",
            "Cargo.toml",
            "no.trace",
            "traces/../traces/x.trace",
            "",
        ] {
            assert_eq!(saved.path(outside), None, "{outside}");
        }
    }
}
