//! A builder of the report of an analyser: [`ReportBuilder`].

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use assay_base::text::first_chars;
use assay_findings::path::RepoPath;
use assay_findings::read::RejectedText;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::vote::{AutofixClass, LineRange, Vote};
use serde::Deserialize;
use serde_json::Value;

use super::checkout::Checkout;
use super::draft::{Draft, Fix, one_line};
use super::edit::{self, FileText};

/// The maximum number of findings in one output.
const MAX_VOTES: usize = 20_000;

/// The maximum number of rejected entries that are stored; all are counted.
pub(super) const MAX_REJECTED: usize = 200;

/// The maximum number of characters of a rejected entry that are stored.
const MAX_RAW_CHARS: usize = 2_000;

/// The maximum number of notes, and of files that were not covered.
const MAX_NOTES: usize = 200;

/// The maximum number of fixes that are computed.
const MAX_FIXES: usize = 2_000;

/// The maximum number of characters of a line that is quoted.
const MAX_QUOTE_CHARS: usize = 400;

/// The key of a repeated finding: file, lines, rule and description.
type FindingKey = (Option<RepoPath>, Option<LineRange>, Option<String>, String);

/// A builder of a report, with the checkout that paths and lines refer to.
pub(crate) struct ReportBuilder<'a> {
    pub(crate) checkout: &'a Checkout<'a>,
    report: Report,
    /// Files that the analyser reports as not analysed.
    uncovered: BTreeSet<RepoPath>,
    files: HashMap<RepoPath, Option<Rc<FileText>>>,
    seen: HashSet<FindingKey>,
    fixes: usize,
}

impl<'a> ReportBuilder<'a> {
    pub(crate) fn new(reviewer: &str, checkout: &'a Checkout<'a>) -> ReportBuilder<'a> {
        ReportBuilder {
            checkout,
            report: Report::new(Reviewer::new(reviewer, ReviewerKind::Command)),
            uncovered: BTreeSet::new(),
            files: HashMap::new(),
            seen: HashSet::new(),
            fixes: 0,
        }
    }

    /// Returns the report and the files that were not covered.
    pub(crate) fn finish(self) -> (Report, BTreeSet<RepoPath>) {
        (self.report, self.uncovered)
    }

    /// Returns the name of the reviewer.
    pub(crate) fn reviewer(&self) -> &str {
        &self.report.reviewer.name
    }

    /// Parses one entry of a list; an invalid entry is rejected and does not affect the others.
    pub(crate) fn entry<T, F>(&mut self, raw: &Value, read: F)
    where
        T: for<'v> Deserialize<'v>,
        F: FnOnce(&mut Self, T) -> Result<(), String>,
    {
        let entry = T::deserialize(raw).map_err(|error| error.to_string());
        if let Err(reason) = entry.and_then(|entry| read(self, entry)) {
            self.reject(reason, &raw.to_string());
        }
    }

    /// Rejects an entry that may be a finding and could not be parsed.
    pub(crate) fn reject(&mut self, reason: impl Into<String>, raw: &str) {
        self.report.lost += 1;
        if self.report.rejected.len() < MAX_REJECTED {
            let raw = first_chars(raw, MAX_RAW_CHARS).to_owned();
            self.report.rejected.push(RejectedText { reason: reason.into(), raw });
        }
    }

    /// Adds a note about the output.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        push_capped(&mut self.report.remarks.notes, note.into());
    }

    /// Records a file that the analyser could not read, and the reason.
    pub(crate) fn not_covered(&mut self, path: Option<&str>, why: &str) {
        self.partly_covered(path, why);
        self.uncovered.extend(path.and_then(|path| self.checkout.path(path).ok()));
    }

    /// Records a file that the analyser read in part, or excluded, and the reason.
    pub(crate) fn partly_covered(&mut self, path: Option<&str>, why: &str) {
        let why = one_line(why, 300);
        let text = match path.map(|path| (path, self.checkout.path(path))) {
            Some((_, Ok(file))) => format!("{file}: {why}"),
            Some((path, Err(_))) => format!("{}: {why}", one_line(path, 300)),
            None => why,
        };
        push_capped(&mut self.report.remarks.not_covered, text);
    }

    /// Returns the text of a file; `None` if the tree lacks it.
    pub(crate) fn text(&mut self, path: &RepoPath) -> Option<Rc<FileText>> {
        if let Some(known) = self.files.get(path) {
            return known.clone();
        }
        let text = self.checkout.read(path).map(|text| Rc::new(FileText::new(text)));
        self.files.insert(path.clone(), text.clone());
        text
    }

    /// Adds a vote from a draft, unless the same finding was added before.
    pub(crate) fn take(&mut self, mut draft: Draft) {
        let text = draft.file.clone().and_then(|file| self.text(&file));
        let is_secret = draft.is_about_a_secret();
        if is_secret {
            draft.redact();
        }
        let mut vote = Vote::new(draft.title(), draft.grade.clone());
        vote.description = draft.description();
        vote.rule = draft.code.as_ref().map(|code| {
            format!("{}/{code}", draft.tool.as_deref().unwrap_or(&self.report.reviewer.name))
        });
        let key = (draft.file.clone(), draft.lines, vote.rule.clone(), vote.description.clone());
        if !self.seen.insert(key) {
            return;
        }
        if self.report.votes.len() >= MAX_VOTES {
            return self.reject(format!("there are more than {MAX_VOTES} findings"), &vote.title);
        }
        if !is_secret {
            vote.evidence =
                text.as_deref().and_then(|text| quote(text, draft.lines?)).into_iter().collect();
        }
        if let Some(fix) = draft.fix.take() {
            self.fixes += 1;
            add_fix(&mut vote, fix, text.as_deref().filter(|_| self.fixes <= MAX_FIXES));
        }
        vote.file = draft.file;
        vote.lines = draft.lines;
        vote.category = Some(draft.category);
        vote.confidence = draft.confidence;
        vote.fires_on_base = draft.fires_on_base;
        vote.faults = draft.faults;
        self.report.votes.push(vote);
    }
}

/// Adds the fix of an analyser to a vote. Such a fix is never applied without verification, since
/// no reviewer has judged it.
fn add_fix(vote: &mut Vote, fix: Fix, text: Option<&FileText>) {
    let made = text.and_then(|text| edit::replacement(text, &fix.edits));
    if let Some(made) = made.filter(|_| fix.trusted) {
        vote.autofix_class = Some(AutofixClass::GatedAuto);
        vote.requires_verification = true;
        vote.replacement = Some(made);
    }
    vote.suggested_fix = fix.words.filter(|words| !words.trim().is_empty());
}

/// Quotes the first of some lines.
fn quote(text: &FileText, lines: LineRange) -> Option<String> {
    let line = text.line(lines.start())?.trim();
    let is_long = line.chars().nth(MAX_QUOTE_CHARS).is_some();
    match line {
        "" => None,
        _ if is_long => None,
        _ if line.contains('`') => Some(format!("```\n{line}\n```")),
        _ => Some(format!("`{line}`")),
    }
}

fn push_capped(list: &mut Vec<String>, text: String) {
    match list.len() {
        MAX_NOTES => list.push("and more".to_owned()),
        n if n < MAX_NOTES && !list.contains(&text) => list.push(text),
        _ => {}
    }
}
