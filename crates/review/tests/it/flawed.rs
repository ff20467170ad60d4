//! A tree of flawed files in memory, and reports as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_findings::vote::Vote;
use assay_review::command::Checkout;
use assay_review::command::format::AnalyserFormat;

/// The root of the tree of the fixtures.
pub(crate) const ROOT: &str = "/repo";

/// A tree in memory, stricter than a real one: it has only the given files.
pub(crate) struct MemoryTree(BTreeMap<RepoPath, String>);

impl MemoryTree {
    pub(crate) fn new(files: &[(&str, &str)]) -> MemoryTree {
        let entry = |(path, text): &(&str, &str)| (path_of(path), (*text).to_owned());
        MemoryTree(files.iter().map(entry).collect())
    }

    /// Returns the files of the fixtures.
    pub(crate) fn flawed() -> MemoryTree {
        MemoryTree::new(&[
            ("py/app.py", include_str!("../fixtures/flawed/app.py")),
            ("py/broken.py", include_str!("../fixtures/flawed/broken.py")),
            ("py/with space/ü.py", include_str!("../fixtures/flawed/umlaut.py")),
            ("js/a.js", include_str!("../fixtures/flawed/a.js")),
            ("js/broken.js", include_str!("../fixtures/flawed/broken.js")),
            ("sh/a.sh", include_str!("../fixtures/flawed/a.sh")),
            ("sh/broken.sh", include_str!("../fixtures/flawed/broken.sh")),
            ("rs/src/lib.rs", include_str!("../fixtures/flawed/lib.rs")),
            ("go/main.go", include_str!("../fixtures/flawed/main.go")),
        ])
    }
}

pub(crate) fn path_of(path: &str) -> RepoPath {
    RepoPath::exact(path).unwrap()
}

impl Tree for MemoryTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.0.get(path).cloned())
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.0.contains_key(path))
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Ok(self.0.keys().cloned().collect())
    }
}

/// Parses an output against a tree, and formats the report.
pub(crate) fn read(form: AnalyserFormat, output: &str, tree: &MemoryTree) -> String {
    read_as(form.as_str(), form, output, tree)
}

/// Parses an output of a reviewer with a name, and formats the report.
pub(crate) fn read_as(name: &str, form: AnalyserFormat, output: &str, tree: &MemoryTree) -> String {
    let checkout = Checkout::new(Path::new(ROOT), tree);
    shown(&form.read(output.as_bytes(), name, &checkout))
}

/// Formats a report, one line for each entry.
pub(crate) fn shown(report: &Report) -> String {
    let mut text = String::new();
    for vote in &report.votes {
        show(&mut text, vote);
    }
    for rejected in &report.rejected {
        let raw: String = rejected.raw.split_whitespace().collect::<Vec<_>>().join(" ");
        let raw: String = raw.chars().take(60).collect();
        writeln!(text, "rejected: {} | {raw}", rejected.reason).unwrap();
    }
    for file in &report.remarks.not_covered {
        writeln!(text, "not covered: {file}").unwrap();
    }
    for note in &report.remarks.notes {
        writeln!(text, "note: {note}").unwrap();
    }
    if report.lost > 0 {
        writeln!(text, "lost: {}", report.lost).unwrap();
    }
    if let Some(why) = &report.unusable {
        writeln!(text, "unusable: {why}").unwrap();
    }
    text
}

fn show(text: &mut String, vote: &Vote) {
    let file = vote.file.as_ref().map_or("-", |file| file.as_str());
    let lines = match vote.lines {
        Some(lines) if lines.start() == lines.end() => format!(":{}", lines.start()),
        Some(lines) => format!(":{}-{}", lines.start(), lines.end()),
        None => String::new(),
    };
    let rule = vote.rule.as_deref().unwrap_or("-");
    let category = vote.category.as_deref().unwrap_or("-");
    let word = vote.grade.word();
    writeln!(text, "{rule} {file}{lines} {word} {category} | {}", vote.title).unwrap();
    for evidence in &vote.evidence {
        writeln!(text, "    quotes {evidence}").unwrap();
    }
    if let Some(fix) = &vote.suggested_fix {
        writeln!(text, "    fix: {fix}").unwrap();
    }
    if let Some(made) = &vote.replacement {
        let class = vote.autofix_class.map_or("-", |class| class.as_str());
        let (start, end) = (made.start_line(), made.end_line());
        writeln!(text, "    {class} {start}-{end}: {:?}", made.text()).unwrap();
    }
    if let Some(confidence) = vote.confidence {
        writeln!(text, "    confidence {}", confidence.percent()).unwrap();
    }
    if vote.fires_on_base {
        writeln!(text, "    fires on base").unwrap();
    }
    for fault in &vote.faults {
        writeln!(text, "    fault: {fault}").unwrap();
    }
}
