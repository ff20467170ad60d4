//! The context of the findings of a run: [`RunContext`] has the code around each finding, its fix
//! as lines, and the votes on it, so that a run can be shown after the tree has changed.
//!
//! Code is redacted as a part of its file, since the lines around it may identify a credential.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use assay_base::text::truncate;
use assay_change::Change;
use assay_change::diff::{FileDiff, Hunk, Span};
use assay_findings::finding::{Finding, VoteRef};
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::{LineRange, Replacement};
use assay_rules::redact_lines;
use serde::{Deserialize, Serialize};

/// The number of lines around the lines of a finding.
const CONTEXT: u32 = 4;

/// The number of lines around a fix.
const FIX_CONTEXT: usize = 2;

/// The maximum number of lines of a finding, and of each side of a fix.
const MAX_LINES: u32 = 60;

/// The maximum number of removed lines at one place.
const MAX_REMOVED: usize = 20;

/// The maximum length of a line, in characters.
const MAX_LINE_CHARS: usize = 400;

/// The context of the findings of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunContext {
    /// The description of the change, such as `staged changes`.
    pub title: String,
    /// The number of changed files.
    pub files: usize,
    /// The commit before the change, if it is known.
    pub base: Option<String>,
    /// The reviewed commit of a pull request; `None` for any other change.
    pub head: Option<String>,
    /// The context of each finding in any list of the synthesis.
    pub findings: Vec<FindingContext>,
}

/// The context of one finding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingContext {
    /// The id of the finding.
    pub finding: String,
    /// The code around the finding; empty if there is none.
    pub lines: Vec<ContextLine>,
    /// The fix of the finding as lines; `None` if the fix is not exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixLines>,
    /// The votes on the finding.
    pub votes: Vec<StoredVote>,
}

/// The part of a line in the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextLineKind {
    /// The line is the same before and after the change.
    Same,
    /// The change adds the line.
    Added,
    /// The change removes the line.
    Removed,
    /// The line stands for removed lines that are not stored.
    Skipped,
}

/// A line of code around a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLine {
    /// The part of the line in the change.
    pub kind: ContextLineKind,
    /// The number of the line: before the change for a removed line, else after the change. For
    /// skipped lines, how many there are.
    pub number: u32,
    /// The text, redacted.
    pub text: String,
}

/// The lines that a fix replaces, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixLines {
    /// The number of the first line that is replaced.
    pub first: u32,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines that are replaced.
    pub removed: Vec<String>,
    /// The new lines; empty if the fix deletes lines.
    pub added: Vec<String>,
    /// The lines after the replaced ones.
    pub after: Vec<String>,
}

/// A vote on a finding, as its reviewer cast it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVote {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The severity, in the reviewer's word.
    pub severity: String,
    /// The confidence in percent; `None` if the reviewer states none.
    pub confidence: Option<u8>,
    /// The defect, in the reviewer's words.
    pub title: String,
}

impl RunContext {
    /// Collects the context of all findings of a review.
    pub fn of(change: &Change, reports: &[Report], synthesis: &Synthesis) -> RunContext {
        let mut files = ChangedFiles { change, read: HashMap::new() };
        let lists = [
            &synthesis.findings, &synthesis.pre_existing, &synthesis.held_back,
            &synthesis.dismissed,
        ];
        let findings = lists.into_iter().flatten().map(|finding| FindingContext {
            finding: finding.id.clone(),
            lines: files.lines_around(finding),
            fix: files.fix_of(finding),
            votes: finding.votes.iter().filter_map(|vote| stored_vote(reports, vote)).collect(),
        });
        RunContext {
            findings: findings.collect(),
            title: change.title.clone(),
            files: change.files.len(),
            base: change.base_revision().map(str::to_owned),
            head: change.pull_head().map(str::to_owned),
        }
    }

    /// Returns the context of a finding; `None` if the run has none.
    pub fn of_finding(&self, id: &str) -> Option<&FindingContext> {
        self.findings.iter().find(|context| context.finding == id)
    }
}

fn stored_vote(reports: &[Report], vote: &VoteRef) -> Option<StoredVote> {
    let report = reports.iter().find(|report| report.reviewer.name == vote.reviewer)?;
    let cast = report.votes.get(vote.vote)?;
    Some(StoredVote {
        reviewer: vote.reviewer.clone(),
        severity: cast.grade.word().to_owned(),
        confidence: cast.confidence.map(|confidence| confidence.percent()),
        title: cast.title.clone(),
    })
}

/// The files of a change that were read so far, redacted.
struct ChangedFiles<'a> {
    change: &'a Change,
    read: HashMap<RepoPath, ChangedFile>,
}

/// A file before and after a change.
#[derive(Default)]
struct ChangedFile {
    /// The lines after the change; `None` if there is no such file, or if it cannot be read.
    after: Option<Vec<String>>,
    /// The lines before the change; `None` unless the change removes lines of the file.
    before: Option<Vec<String>>,
    added: Vec<LineRange>,
    /// The removed lines, by the number of the line after the change that they precede.
    removed: BTreeMap<u32, Vec<u32>>,
}

impl ChangedFiles<'_> {
    fn file(&mut self, path: &RepoPath) -> &ChangedFile {
        let change = self.change;
        self.read.entry(path.clone()).or_insert_with(|| ChangedFile::read(change, path))
    }

    fn lines_around(&mut self, finding: &Finding) -> Vec<ContextLine> {
        let (Some(path), Some(start)) = (&finding.file, finding.line) else { return Vec::new() };
        let end = finding.end_line.unwrap_or(start).clamp(start, start.saturating_add(MAX_LINES));
        self.file(path).lines_around(start, end)
    }

    fn fix_of(&self, finding: &Finding) -> Option<FixLines> {
        let (path, replacement) = (finding.file.as_ref()?, finding.replacement.as_ref()?);
        let text = self.change.tree().read(path).ok()??;
        Some(FixLines::of(&text, replacement))
    }
}

impl ChangedFile {
    fn read(change: &Change, path: &RepoPath) -> ChangedFile {
        let is = |side: &Option<String>| side.as_deref() == Some(path.as_str());
        let diff = change.files.iter().find(|file| is(&file.new_path));
        let diff = diff.or_else(|| change.files.iter().find(|file| is(&file.old_path)));
        let after = read_lines(change.tree(), path);
        let Some(diff) = diff else { return ChangedFile { after, ..ChangedFile::default() } };
        let removes = diff.removed().next().is_some();
        let old = diff.old_path.as_deref().filter(|_| removes);
        let old = old.and_then(|path| RepoPath::exact(path).ok());
        ChangedFile {
            after,
            before: old.and_then(|path| read_lines(change.base(), &path)),
            added: diff.added().collect(),
            removed: removed_lines(diff),
        }
    }

    /// Returns the lines around some lines after the change, and the lines that the change removes
    /// there. In a deleted file the lines are those before the change.
    fn lines_around(&self, start: u32, end: u32) -> Vec<ContextLine> {
        let Some(after) = &self.after else { return self.deleted_lines(start, end) };
        let (shown, last) = (window(start, end, after), count(after));
        let mut lines = Vec::new();
        for number in shown.clone() {
            self.push_removed(&mut lines, number);
            let is_added = is_in(&self.added, number);
            let kind = if is_added { ContextLineKind::Added } else { ContextLineKind::Same };
            lines.extend(line_at(after, number).map(|text| ContextLine { kind, number, text }));
        }
        if !shown.is_empty() && *shown.end() == last {
            self.push_removed(&mut lines, last + 1);
        }
        lines
    }

    fn push_removed(&self, lines: &mut Vec<ContextLine>, before: u32) {
        let Some(numbers) = self.removed.get(&before) else { return };
        let texts = self.before.as_deref().unwrap_or_default();
        let shown = numbers.iter().take(MAX_REMOVED);
        lines.extend(shown.filter_map(|number| removed_line(texts, *number)));
        if let Some(number) = numbers.len().checked_sub(MAX_REMOVED).filter(|more| *more > 0) {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let kind = ContextLineKind::Skipped;
            lines.push(ContextLine { kind, number, text: String::new() });
        }
    }

    fn deleted_lines(&self, start: u32, end: u32) -> Vec<ContextLine> {
        let before = self.before.as_deref().unwrap_or_default();
        window(start, end, before).filter_map(|number| removed_line(before, number)).collect()
    }
}

/// Returns the removed lines of a file, by the number of the line after the change that they
/// precede.
fn removed_lines(file: &FileDiff) -> BTreeMap<u32, Vec<u32>> {
    let mut removed = BTreeMap::new();
    for hunk in &file.hunks {
        add_removed_lines(hunk, &mut removed);
    }
    removed
}

fn add_removed_lines(hunk: &Hunk, removed: &mut BTreeMap<u32, Vec<u32>>) {
    let ((mut old, old_end), (mut new, new_end)) = (bounds(hunk.old), bounds(hunk.new));
    while old < old_end || new < new_end {
        if old < old_end && is_in(&hunk.removed, old) {
            removed.entry(new).or_default().push(old);
            old += 1;
        } else if new < new_end && is_in(&hunk.added, new) {
            new += 1;
        } else {
            (old, new) = (old + 1, new + 1);
        }
    }
}

fn is_in(ranges: &[LineRange], number: u32) -> bool {
    ranges.iter().any(|lines| (lines.start()..=lines.end()).contains(&number))
}

/// Returns the first line of a span, and the line after the last. The start of an empty span is the
/// number of the line before the span, so the first line is one after the start.
fn bounds(span: Span) -> (u32, u32) {
    let start = if span.count == 0 { span.start.saturating_add(1) } else { span.start };
    (start, start.saturating_add(span.count))
}

/// Returns the numbers of the lines that are shown; empty if the file ends before `start`.
fn window(start: u32, end: u32, lines: &[String]) -> RangeInclusive<u32> {
    let last = count(lines);
    match start <= last {
        true => start.saturating_sub(CONTEXT).max(1)..=end.saturating_add(CONTEXT).min(last),
        false => RangeInclusive::new(1, 0),
    }
}

fn removed_line(before: &[String], number: u32) -> Option<ContextLine> {
    let text = line_at(before, number)?;
    Some(ContextLine { kind: ContextLineKind::Removed, number, text })
}

fn read_lines(tree: &(dyn Tree + Sync), path: &RepoPath) -> Option<Vec<String>> {
    tree.read(path).ok().flatten().map(|text| redact_lines(&text))
}

fn line_at(lines: &[String], number: u32) -> Option<String> {
    lines.get((number as usize).checked_sub(1)?).map(|line| truncate(line, MAX_LINE_CHARS))
}

fn count(lines: &[String]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

impl FixLines {
    fn of(text: &str, replacement: &Replacement) -> FixLines {
        let fixed = redact_lines(&with_replacement(text, replacement));
        let lines = redact_lines(text);
        let start = (replacement.start_line() as usize).saturating_sub(1);
        let end = replacement.end_line() as usize;
        let new_end = start + replacement.text().lines().count();
        FixLines {
            first: replacement.start_line(),
            before: slice(&lines, start.saturating_sub(FIX_CONTEXT), start),
            removed: slice(&lines, start, end),
            added: slice(&fixed, start, new_end),
            after: slice(&lines, end, end + FIX_CONTEXT),
        }
    }
}

/// Returns some of the lines, at most [`MAX_LINES`].
fn slice(lines: &[String], from: usize, to: usize) -> Vec<String> {
    let taken = to.saturating_sub(from).min(MAX_LINES as usize);
    lines.iter().skip(from).take(taken).map(|line| truncate(line, MAX_LINE_CHARS)).collect()
}

fn with_replacement(text: &str, replacement: &Replacement) -> String {
    let (first, last) = (replacement.start_line() as usize, replacement.end_line() as usize);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = lines.iter().take(first.saturating_sub(1)).copied();
    head.chain([replacement.text()]).chain(lines.iter().skip(last).copied()).collect()
}
