//! The forms in which analysers print their findings: [`Form`], one file for each.
//!
//! A form has its own types, reads entry by entry and drafts a finding of each. An entry that does
//! not fit is put aside and counted; the others are kept.

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

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// SARIF 2.1.0.
    Sarif,
    /// Reviewdog's diagnostics, as one document.
    Rdjson,
    /// Reviewdog's diagnostics, one on each line.
    Rdjsonl,
    /// The XML of Checkstyle, which many others print as well.
    Checkstyle,
    /// What `cargo clippy --message-format json` prints.
    Clippy,
    /// What `ruff check --output-format json` prints.
    Ruff,
    /// What `eslint --format json` prints.
    Eslint,
    /// What `semgrep scan --json` prints.
    Semgrep,
    /// What `bandit --format json` prints.
    Bandit,
    /// What golangci-lint prints as JSON.
    GolangciLint,
}

/// A word that names no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no form of output; expected one of {}", Form::words().join(", "))]
pub struct UnknownForm {
    word: String,
}

/// What was read from an output.
pub(crate) struct Reading {
    pub(crate) report: Report,
    /// Files that the analyser says it could not look at.
    pub(crate) uncovered: BTreeSet<RepoPath>,
    /// Whether the analyser itself says that it did not work.
    pub(crate) says_it_failed: bool,
}

impl Form {
    /// All forms.
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

    /// Gives the form's word.
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

    /// Names the form in a sentence.
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

    /// Reads an analyser's output. One that is not of this form gives an unusable report that
    /// quotes its first line.
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

/// Why an output says nothing.
enum Unusable {
    /// It is of another form, or of none.
    NotThisForm,
    /// The analyser says itself that it did not work.
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
