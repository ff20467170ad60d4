//! The output formats of analysers: [`Form`], one file for each.
//!
//! A format has its own types, is parsed entry by entry, and creates a draft of a finding from
//! each. An invalid entry is rejected and counted; the others are used.

mod bandit;
mod checkstyle;
mod clippy;
mod document;
mod eslint;
mod golangci;
mod rdjson;
mod ruff;
mod sarif;
mod semgrep;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use assay_findings::path::RepoPath;
use assay_findings::read;
use assay_findings::report::Report;

use super::checkout::Checkout;
use super::draft::one_line;
use super::sheet::Sheet;

/// An output format of analysers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// SARIF 2.1.0.
    Sarif,
    /// Reviewdog's diagnostics, as one document.
    Rdjson,
    /// Reviewdog's diagnostics, one on each line.
    Rdjsonl,
    /// The XML of Checkstyle, which many other tools print as well.
    Checkstyle,
    /// The output of `cargo clippy --message-format json`.
    Clippy,
    /// The output of `ruff check --output-format json`.
    Ruff,
    /// The output of `eslint --format json`.
    Eslint,
    /// The output of `semgrep scan --json`.
    Semgrep,
    /// The output of `bandit --format json`.
    Bandit,
    /// The JSON output of golangci-lint.
    GolangciLint,
}

/// The error for a word that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no form of output; expected one of {}", Form::words().join(", "))]
pub struct UnknownForm {
    word: String,
}

/// The result of parsing an output.
pub(crate) struct Reading {
    pub(crate) report: Report,
    /// Files that the analyser reports as not analysed.
    pub(crate) uncovered: BTreeSet<RepoPath>,
    /// True if the analyser itself reports that it failed.
    pub(crate) says_it_failed: bool,
}

impl Form {
    /// All formats.
    pub const ALL: [Form; 10] = [
        Form::Sarif,
        Form::Rdjson,
        Form::Rdjsonl,
        Form::Checkstyle,
        Form::Clippy,
        Form::Ruff,
        Form::Eslint,
        Form::Semgrep,
        Form::Bandit,
        Form::GolangciLint,
    ];

    /// Returns the name of the format in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Sarif => "sarif",
            Form::Rdjson => "rdjson",
            Form::Rdjsonl => "rdjsonl",
            Form::Checkstyle => "checkstyle",
            Form::Clippy => "clippy",
            Form::Ruff => "ruff",
            Form::Eslint => "eslint",
            Form::Semgrep => "semgrep",
            Form::Bandit => "bandit",
            Form::GolangciLint => "golangci-lint",
        }
    }

    fn words() -> Vec<&'static str> {
        Form::ALL.iter().map(|form| form.as_str()).collect()
    }

    /// Returns the name of the format for a sentence.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Form::Sarif => "SARIF",
            Form::Rdjson => "rdjson",
            Form::Rdjsonl => "rdjsonl",
            Form::Checkstyle => "checkstyle XML",
            Form::Clippy => "clippy JSON",
            Form::Ruff => "ruff JSON",
            Form::Eslint => "eslint JSON",
            Form::Semgrep => "semgrep JSON",
            Form::Bandit => "bandit JSON",
            Form::GolangciLint => "golangci-lint JSON",
        }
    }

    /// Parses the output of an analyser. Output in another format results in an unusable report
    /// that quotes its first line.
    pub fn read(self, output: &[u8], reviewer: &str, checkout: &Checkout<'_>) -> Report {
        self.read_output(output, reviewer, checkout).report
    }

    pub(crate) fn read_output(
        self,
        output: &[u8],
        reviewer: &str,
        checkout: &Checkout<'_>,
    ) -> Reading {
        let (text, repair) = read::decode(output);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut sheet = Sheet::new(reviewer, checkout);
        if let Some(repair) = repair {
            sheet.note(format!("the output is not UTF-8 at byte {}", repair.at));
        }
        let unusable = self.fill(text, &mut sheet).err();
        let (mut report, uncovered) = sheet.finish();
        let says_it_failed = matches!(unusable, Some(Unusable::Failed(_)));
        report.unusable = unusable.map(|why| why.explain(self, text));
        Reading { report, uncovered, says_it_failed }
    }

    fn fill(self, text: &str, sheet: &mut Sheet<'_>) -> Result<(), Unusable> {
        match self {
            Form::Sarif => sarif::read(text, sheet),
            Form::Rdjson => rdjson::read(text, sheet),
            Form::Rdjsonl => rdjson::read_lines(text, sheet),
            Form::Checkstyle => checkstyle::read(text, sheet),
            Form::Clippy => clippy::read(text, sheet),
            Form::Ruff => ruff::read(text, sheet),
            Form::Eslint => eslint::read(text, sheet),
            Form::Semgrep => semgrep::read(text, sheet),
            Form::Bandit => bandit::read(text, sheet),
            Form::GolangciLint => golangci::read(text, sheet),
        }
    }
}

impl FromStr for Form {
    type Err = UnknownForm;

    fn from_str(word: &str) -> Result<Form, UnknownForm> {
        let known = Form::ALL.into_iter().find(|form| form.as_str() == word);
        known.ok_or_else(|| UnknownForm { word: word.to_owned() })
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The reason why an output is unusable.
enum Unusable {
    /// The output is in another format, or in none.
    NotThisForm,
    /// The analyser itself reports that it failed.
    Failed(String),
}

impl Unusable {
    fn explain(&self, form: Form, text: &str) -> String {
        match self {
            Unusable::Failed(why) => format!("did not work: {}", one_line(why, 300)),
            Unusable::NotThisForm => match text.lines().find(|line| !line.trim().is_empty()) {
                Some(line) => {
                    let line = one_line(line, 120);
                    format!("printed something that is not {}: `{line}`", form.in_words())
                }
                None => format!("printed nothing, which is not {}", form.in_words()),
            },
        }
    }
}
