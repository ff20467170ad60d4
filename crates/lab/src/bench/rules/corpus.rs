//! A million lines of third-party code: [`Corpus`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_testenv::workspace::command;
use serde_json::Value;

use crate::bench::Row;
use crate::peers;
use crate::repository::Repository;
use crate::workspace::{all_files_below, output};

const LINES: usize = 1_000_000;

/// Python packages: name, version, and installed folder.
const PYTHON: [(&str, &str, &str); 4] = [
    ("django", "5.2.19", "django"),
    ("flask", "3.1.3", "flask"),
    ("requests", "2.34.2", "requests"),
    ("sqlalchemy", "2.1.8", "sqlalchemy"),
];

const NPM: [(&str, &str); 4] =
    [("express", "5.3.0"), ("lodash", "4.18.1"), ("react-dom", "19.3.1"), ("rxjs", "7.8.2")];

/// The extensions that assay, ast-grep and semgrep treat as the same language.
const EXTENSIONS: [&str; 19] = [
    "rs", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "go", "java", "c", "h", "cpp", "rb",
    "php", "sh", "yml", "json",
];

/// The maximum size of a file that assay reads, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Files with their texts.
pub(super) struct Corpus {
    pub(super) files: Vec<(String, String)>,
    packages: usize,
    /// The packages that could not be installed.
    missing: Vec<String>,
}

impl Corpus {
    /// Collects the packages, then the sources of locked crates until there are enough lines.
    pub(super) fn gather() -> anyhow::Result<Corpus> {
        let mut corpus = Corpus { files: Vec::new(), packages: 0, missing: Vec::new() };
        for (package, version, folder) in PYTHON {
            let installed = peers::pip(package, version).and_then(|python| site(&python, folder));
            corpus.add_if_available(package, installed)?;
        }
        for (package, version) in NPM {
            let installed = peers::npm(package, package, version);
            corpus.add_if_available(
                package,
                installed.map(|at| at.join("node_modules").join(package)),
            )?;
        }
        for (name, folder) in crates()? {
            if corpus.lines() >= LINES {
                break;
            }
            corpus.add(&name, &folder)?;
        }
        Ok(corpus)
    }

    fn add_if_available(
        &mut self,
        name: &str,
        folder: anyhow::Result<PathBuf>,
    ) -> anyhow::Result<()> {
        match folder {
            Ok(folder) => self.add(name, &folder)?,
            Err(error) => self.missing.push(format!("{name}: {error:#}")),
        }
        Ok(())
    }

    fn add(&mut self, name: &str, folder: &Path) -> anyhow::Result<()> {
        self.packages += 1;
        for path in all_files_below(folder)? {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
            let inner = path.strip_prefix(folder)?.to_string_lossy().into_owned();
            let skipped = !EXTENSIONS.contains(&ending)
                || inner.contains(".min.")
                || inner.ends_with("-lock.json")
                || inner.contains("node_modules")
                || path.metadata()?.len() > MAX_FILE_BYTES;
            if skipped {
                continue;
            }
            // A file that is not text cannot be reviewed.
            if let Ok(text) = String::from_utf8(std::fs::read(&path)?) {
                self.files.push((format!("{name}/{inner}"), text));
            }
        }
        Ok(())
    }

    /// Returns every n-th file.
    pub(super) fn every(&self, share: usize) -> Corpus {
        let files = self.files.iter().step_by(share).cloned().collect();
        Corpus { files, packages: self.packages, missing: Vec::new() }
    }

    pub(super) fn lines(&self) -> usize {
        self.files.iter().map(|(_, text)| count(text)).sum()
    }

    /// Returns `count` files, repeated if necessary, each under its own name.
    pub(super) fn many(&self, count: usize) -> Vec<(String, &str)> {
        let small = self.files.iter().filter(|(_, text)| text.len() < 1 << 14);
        let again = small.cycle().take(count).enumerate();
        again
            .map(|(at, (name, text))| (format!("{}/{at}/{name}", at / 100), text.as_str()))
            .collect()
    }

    /// Commits all files at once into a new repository.
    pub(super) fn commit(&self, folder: PathBuf) -> anyhow::Result<Repository> {
        let repository = Repository::new(folder)?;
        for (name, text) in &self.files {
            repository.write(name, text.as_bytes())?;
        }
        // An empty list replaces semgrep's default exclusions.
        repository.write(".semgrepignore", b"\n")?;
        repository.commit("all")?;
        Ok(repository)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let mut by_ending: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, text) in &self.files {
            *by_ending.entry(name.rsplit('.').next().unwrap_or("")).or_default() += count(text);
        }
        let mut by_ending: Vec<(&str, usize)> = by_ending.into_iter().collect();
        by_ending.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        let listed: Vec<String> =
            by_ending.iter().map(|(ending, lines)| format!("{ending} {lines}")).collect();
        let what = format!("lines in {} files of {} packages", self.files.len(), self.packages);
        println!("lines by kind: {}", listed.join(", "));
        let missing = self.missing.iter().map(|why| Row::missing("  a package", why));
        std::iter::once(Row::count(what, self.lines() as f64, "")).chain(missing).collect()
    }
}

fn count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Returns the folder of a package in the environment of a Python.
fn site(python: &Path, folder: &str) -> anyhow::Result<PathBuf> {
    let mut asked = command(&python.to_string_lossy(), &[]);
    asked.args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    Ok(Path::new(output(asked)?.trim()).join(folder))
}

/// Returns the folders of the locked crates that this machine builds, by name and version.
fn crates() -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let host = output(command("rustc", &["--print", "host-tuple"]))?;
    let metadata = output(command(
        "cargo",
        &["metadata", "--format-version", "1", "--locked", "--filter-platform", host.trim()],
    ))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo named no packages")?;
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let folder = |package: &Value| {
        let name = format!("{}-{}", package["name"].as_str()?, package["version"].as_str()?);
        Some((name, Path::new(package["manifest_path"].as_str()?).parent()?.to_owned()))
    };
    Ok(foreign.filter_map(folder).collect())
}
