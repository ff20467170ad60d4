//! The output formats of analysers: [`AnalyserFormat`], one file for each.
//!
//! A format has its own types, is parsed entry by entry, and creates a draft of a finding from
//! each. An invalid entry is rejected and counted; the others are used.

mod bandit;
mod checkstyle;
mod clippy;
mod document;
mod eslint;
mod golangci;
mod lines;
mod pyright;
mod rdjson;
mod ruff;
mod sarif;
mod semgrep;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use assay_base::nearest::{did_you_mean, nearest};
use assay_findings::path::RepoPath;
use assay_findings::read;
use assay_findings::report::Report;

use super::checkout::Checkout;
use super::draft::one_line;
use super::report_builder::ReportBuilder;

/// An output format of analysers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnalyserFormat {
    /// SARIF 2.1.0.
    Sarif,
    /// Reviewdog's diagnostics, as one document.
    Rdjson,
    /// Reviewdog's diagnostics, one on each line.
    Rdjsonl,
    /// The XML of Checkstyle, which many other tools print as well.
    Checkstyle,
    /// Lines such as `file:line:column: message`, as compilers print them.
    Lines,
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
    /// The output of `pyright --outputjson`.
    Pyright,
}

/// The error for a word that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown output format `{word}`: expected one of {}{}",
    AnalyserFormat::words().join(", "),
    did_you_mean(&nearest(word, AnalyserFormat::words()))
)]
pub struct UnknownFormat {
    word: String,
}

/// The result of parsing an output.
pub(crate) struct ParsedOutput {
    pub(crate) report: Report,
    /// Files that the analyser reports as not analysed.
    pub(crate) uncovered: BTreeSet<RepoPath>,
    /// True if the analyser itself reports that it failed.
    pub(crate) says_it_failed: bool,
}

impl AnalyserFormat {
    /// All formats.
    pub const ALL: [AnalyserFormat; 12] = [
        AnalyserFormat::Sarif,
        AnalyserFormat::Rdjson,
        AnalyserFormat::Rdjsonl,
        AnalyserFormat::Checkstyle,
        AnalyserFormat::Lines,
        AnalyserFormat::Clippy,
        AnalyserFormat::Ruff,
        AnalyserFormat::Eslint,
        AnalyserFormat::Semgrep,
        AnalyserFormat::Bandit,
        AnalyserFormat::GolangciLint,
        AnalyserFormat::Pyright,
    ];

    /// Returns the name of the format in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            AnalyserFormat::Sarif => "sarif",
            AnalyserFormat::Rdjson => "rdjson",
            AnalyserFormat::Rdjsonl => "rdjsonl",
            AnalyserFormat::Checkstyle => "checkstyle",
            AnalyserFormat::Lines => "lines",
            AnalyserFormat::Clippy => "clippy",
            AnalyserFormat::Ruff => "ruff",
            AnalyserFormat::Eslint => "eslint",
            AnalyserFormat::Semgrep => "semgrep",
            AnalyserFormat::Bandit => "bandit",
            AnalyserFormat::GolangciLint => "golangci-lint",
            AnalyserFormat::Pyright => "pyright",
        }
    }

    fn words() -> Vec<&'static str> {
        AnalyserFormat::ALL.iter().map(|format| format.as_str()).collect()
    }

    /// Returns the name of the format for a sentence.
    pub(crate) fn display_name(self) -> &'static str {
        match self {
            AnalyserFormat::Sarif => "SARIF",
            AnalyserFormat::Rdjson => "rdjson",
            AnalyserFormat::Rdjsonl => "rdjsonl",
            AnalyserFormat::Checkstyle => "checkstyle XML",
            AnalyserFormat::Lines => "lines `file:line:column: message`",
            AnalyserFormat::Clippy => "clippy JSON",
            AnalyserFormat::Ruff => "ruff JSON",
            AnalyserFormat::Eslint => "eslint JSON",
            AnalyserFormat::Semgrep => "semgrep JSON",
            AnalyserFormat::Bandit => "bandit JSON",
            AnalyserFormat::GolangciLint => "golangci-lint JSON",
            AnalyserFormat::Pyright => "pyright JSON",
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
    ) -> ParsedOutput {
        let (text, repair) = read::decode(output);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut builder = ReportBuilder::new(reviewer, checkout);
        if let Some(repair) = repair {
            builder.note(format!("the output is not UTF-8 at byte {}", repair.at));
        }
        let unusable = self.parse_into(text, &mut builder).err();
        let (mut report, uncovered) = builder.finish();
        let says_it_failed = matches!(unusable, Some(FormatError::Failed(_)));
        report.unusable = unusable.map(|why| why.explain(self, text));
        ParsedOutput { report, uncovered, says_it_failed }
    }

    fn parse_into(self, text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
        match self {
            AnalyserFormat::Sarif => sarif::read(text, builder),
            AnalyserFormat::Rdjson => rdjson::read(text, builder),
            AnalyserFormat::Rdjsonl => rdjson::read_lines(text, builder),
            AnalyserFormat::Checkstyle => checkstyle::read(text, builder),
            AnalyserFormat::Lines => lines::read(text, builder),
            AnalyserFormat::Clippy => clippy::read(text, builder),
            AnalyserFormat::Ruff => ruff::read(text, builder),
            AnalyserFormat::Eslint => eslint::read(text, builder),
            AnalyserFormat::Semgrep => semgrep::read(text, builder),
            AnalyserFormat::Bandit => bandit::read(text, builder),
            AnalyserFormat::GolangciLint => golangci::read(text, builder),
            AnalyserFormat::Pyright => pyright::read(text, builder),
        }
    }
}

impl FromStr for AnalyserFormat {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<AnalyserFormat, UnknownFormat> {
        let known = AnalyserFormat::ALL.into_iter().find(|format| format.as_str() == word);
        known.ok_or_else(|| UnknownFormat { word: word.to_owned() })
    }
}

impl fmt::Display for AnalyserFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The reason why an output is unusable.
enum FormatError {
    /// The output is in another format, or in none.
    NotThisForm,
    /// The analyser itself reports that it failed.
    Failed(String),
}

impl FormatError {
    fn explain(&self, format: AnalyserFormat, text: &str) -> String {
        match self {
            FormatError::Failed(why) => format!("failed: {}", one_line(why, 300)),
            FormatError::NotThisForm => match text.lines().find(|line| !line.trim().is_empty()) {
                Some(line) => {
                    let line = one_line(line, 120);
                    format!("printed output that is not {}: `{line}`", format.display_name())
                }
                None => format!("printed nothing, which is not {}", format.display_name()),
            },
        }
    }
}
