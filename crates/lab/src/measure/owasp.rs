//! `cargo xtask measure owasp --data DIR`: the rules that follow data, on labelled servlets.
//!
//! The data is a folder with `expected.csv` (test, category, real, CWE) and the sources below it, or
//! with an archive `*.tar.xz` of such a folder. Sources that are no test are committed first, as the
//! repository around the change; the change adds all tests. A test counts as flagged if a rule for
//! its category fires in its file. Every third test, by its number, is held out: its figures are
//! printed apart, and its errors are not listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use assay_change::{Scope, Selection};
use assay_findings::tier::EvidenceTier;
use assay_findings::vote::Vote;
use assay_rules::Rulebook;
use assay_testenv::workspace::target_folder;
use serde_json::json;

use crate::repository::Repository;
use crate::workspace::write_json;

/// The rules for each category.
const CATEGORIES: [(&str, &[&str]); 11] = [
    ("cmdi", &["java/command-from-request", "java/command-injection"]),
    ("crypto", &["java/weak-cipher-value", "java/weak-cipher"]),
    ("hash", &["java/weak-hash", "java/weak-password-hash"]),
    ("ldapi", &["java/ldap-from-request"]),
    ("pathtraver", &["java/path-from-request", "java/upload-path"]),
    ("securecookie", &["java/insecure-cookie"]),
    ("sqli", &["java/sql-from-request", "java/sql-injection"]),
    ("trustbound", &["java/session-from-request"]),
    ("weakrand", &["java/predictable-token", "java/predictable-secret"]),
    ("xpathi", &["java/xpath-from-request"]),
    ("xss", &["java/html-from-request"]),
];

/// The minimum of Youden's index, and the maximum rate of false positives.
const MIN_YOUDEN: f64 = 0.60;
const MAX_FALSE_RATE: f64 = 0.12;

/// A test with its label.
struct LabelledTest {
    name: String,
    category: String,
    is_real: bool,
}

/// The outcomes of some tests.
#[derive(Debug, Default, Clone, Copy)]
struct Outcomes {
    real: usize,
    found: usize,
    clean: usize,
    flagged: usize,
}

impl LabelledTest {
    fn is_held_out(&self) -> bool {
        let digits: String = self.name.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u32>().is_ok_and(|number| number % 3 == 0)
    }
}

impl Outcomes {
    fn add(&mut self, is_real: bool, is_flagged: bool) {
        self.real += usize::from(is_real);
        self.found += usize::from(is_real && is_flagged);
        self.clean += usize::from(!is_real);
        self.flagged += usize::from(!is_real && is_flagged);
    }

    fn true_rate(self) -> f64 {
        self.found as f64 / self.real.max(1) as f64
    }

    fn false_rate(self) -> f64 {
        self.flagged as f64 / self.clean.max(1) as f64
    }

    fn youden(self) -> f64 {
        self.true_rate() - self.false_rate()
    }

    fn print(self, name: &str) {
        println!(
            "{name:<13} found {:>4} of {:>4} ({:>5.1} %)  false {:>4} of {:>4} ({:>5.1} %)  \
             Youden {:+.2}",
            self.found,
            self.real,
            self.true_rate() * 100.0,
            self.flagged,
            self.clean,
            self.false_rate() * 100.0,
            self.youden(),
        );
    }
}

/// Reviews all tests and prints the tables. Returns true if the held-out tests meet the limits.
pub(super) fn run(data: &Path) -> anyhow::Result<bool> {
    let folder = unpacked(data)?;
    let tests = tests(&folder)?;
    let fired = review(&folder, &tests)?;
    let is_flagged = |test: &LabelledTest| {
        let rules = CATEGORIES.iter().find(|(name, _)| *name == test.category);
        let fired = fired.get(&test.name);
        rules.zip(fired).is_some_and(|((_, rules), fired)| rules.iter().any(|r| fired.contains(*r)))
    };
    let mut wrong = Vec::new();
    let mut totals = Vec::new();
    for (title, held_out) in [("tuned with", false), ("held out", true)] {
        println!("{title}:");
        let mut by_category: BTreeMap<&str, Outcomes> = BTreeMap::new();
        let mut total = Outcomes::default();
        for test in tests.iter().filter(|test| test.is_held_out() == held_out) {
            let flagged = is_flagged(test);
            by_category.entry(&test.category).or_default().add(test.is_real, flagged);
            total.add(test.is_real, flagged);
            if flagged != test.is_real && !held_out {
                wrong.push(json!([test.name, test.category, test.is_real]));
            }
        }
        by_category.iter().for_each(|(name, outcomes)| outcomes.print(name));
        total.print("all");
        totals.push(total);
    }
    write_json("measure", "owasp.json", &json!({ "wrong": wrong }))?;
    Ok(totals
        .iter()
        .all(|total| total.youden() >= MIN_YOUDEN && total.false_rate() <= MAX_FALSE_RATE))
}

/// Returns the folder with the labels: the data itself, or its unpacked archive.
fn unpacked(data: &Path) -> anyhow::Result<PathBuf> {
    if data.join("expected.csv").exists() {
        return Ok(data.to_owned());
    }
    let entries =
        fs::read_dir(data).with_context(|| format!("cannot read `{}`", data.display()))?;
    let archive = entries.flatten().map(|entry| entry.path()).find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".tar.xz"))
    });
    let archive = archive.context("the data has neither `expected.csv` nor an archive")?;
    let folder = target_folder("measure")?.join("owasp-data");
    fs::create_dir_all(&folder)?;
    let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(&folder).status()?;
    ensure!(status.success(), "`tar` could not unpack `{}`", archive.display());
    Ok(folder)
}

fn tests(folder: &Path) -> anyhow::Result<Vec<LabelledTest>> {
    let text = fs::read_to_string(folder.join("expected.csv"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let tests = lines.map(|line| {
        let mut columns = line.split(',').map(str::trim);
        let mut next = || columns.next().with_context(|| format!("a column is missing: `{line}`"));
        let (name, category) = (next()?.to_owned(), next()?.to_owned());
        Ok(LabelledTest { name, category, is_real: next()? == "true" })
    });
    tests.collect()
}

/// Returns the rules that fire in the file of each test.
fn review(
    folder: &Path,
    tests: &[LabelledTest],
) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let names: BTreeSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    let repository = Repository::new(target_folder("measure")?.join("owasp"))?;
    let (own, others): (Vec<PathBuf>, Vec<PathBuf>) =
        sources(folder)?.into_iter().partition(|path| names.contains(stem(path).as_str()));
    for (paths, message) in [(others, "the repository"), (own, "the tests")] {
        for path in paths {
            let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
            repository.write(&format!("src/{name}"), &fs::read(&path)?)?;
        }
        repository.commit(message)?;
    }
    let scope = Scope::Commits("HEAD".to_owned());
    let change = assay_change::open(repository.folder(), &scope, &Selection::default())?;
    let result = Rulebook::builtin().review(&change);
    for line in &result.report.remarks.not_covered {
        println!("not covered: {line}");
    }
    let mut fired: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // A lead is no finding.
    let is_finding = |vote: &Vote| vote.tier != Some(EvidenceTier::Lead);
    for vote in result.report.votes.into_iter().filter(is_finding) {
        if let (Some(file), Some(rule)) = (vote.file, vote.rule) {
            fired.entry(stem(Path::new(file.as_str()))).or_default().insert(rule);
        }
    }
    Ok(fired)
}

fn sources(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "java") {
            found.push(path);
        }
    }
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
