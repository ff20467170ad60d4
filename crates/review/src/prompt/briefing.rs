//! A change as prompts show it: [`Briefing`], built once for all personas.

use std::collections::BTreeSet;

use assay_change::Change;
use assay_change::diff::FileDiff;
use assay_findings::path::RepoPath;
use assay_rules::{SymbolTree, find_injections_in_file, redact_text};

use super::callers::{self, Caller};
use super::definitions::{self, Definition};
use super::excerpt::{self, Excerpt, Sides};
use super::guidelines;
use super::purpose::Purpose;
use crate::sanitize::{SafeTree, UnreadReason, safe_text, unsafe_name_reason, withheld_reason};

/// Reasons why a hunk was not shown completely.
const LONG_LINES: &str = "a line is too long to be shown";
const REDACTED: &str = "most of what it adds looks like credentials";
const TOO_MUCH: &str = "the change is larger than models are given";
const UNREADABLE: &str = "it could not be shown";

/// The maximum number of bytes of a change in all parts together.
const MAX_CHANGE_BYTES: usize = 4 << 20;

/// The content of prompts about a change. It contains no secret and no text that addresses a model.
#[derive(Debug)]
pub(crate) struct Briefing {
    pub(crate) title: String,
    pub(crate) purpose: Purpose,
    pub(crate) guidelines: Vec<(RepoPath, String)>,
    pub(crate) excerpts: Vec<Excerpt>,
    pub(crate) callers: Vec<Caller>,
    /// The definitions of names that the change uses and does not define.
    pub(crate) definitions: Vec<Definition>,
    /// Files that are touched and not shown, each with the reason.
    pub(crate) not_shown: Vec<String>,
    /// Files that models should have read and did not, or not completely, each with the reason.
    pub(crate) withheld: Vec<String>,
    /// The reason why a hunk does not count as read, by its number; `None` if it does.
    pub(crate) not_read: Vec<Option<UnreadReason>>,
    /// The number of bytes of all excerpts.
    bytes: usize,
    /// The files outside of the change that were read for it.
    pub(crate) others: BTreeSet<RepoPath>,
}

impl Briefing {
    /// Reads a change for prompts.
    pub(crate) fn new(change: &Change) -> Briefing {
        let before = SafeTree::of(change.base());
        let safe = SafeTree::of(change.tree());
        let after = SymbolTree::new(&safe);
        let mut briefing = Briefing {
            title: safe_text(&change.title),
            purpose: Purpose::of(change, &before),
            guidelines: guidelines::read(change),
            excerpts: Vec::new(),
            callers: Vec::new(),
            definitions: Vec::new(),
            not_shown: Vec::new(),
            withheld: Vec::new(),
            not_read: Vec::new(),
            bytes: 0,
            others: BTreeSet::new(),
        };
        let sides = Sides { before: &before, after: &after };
        for file in &change.files {
            briefing.add_file(change, file, &sides);
        }
        briefing.callers = callers::find(change, &briefing.excerpts, &safe);
        briefing.definitions = definitions::find(change, &briefing.excerpts, &after);
        briefing.others = briefing.callers.iter().map(|caller| caller.path.clone()).collect();
        let documents = briefing.guidelines.iter().chain(&briefing.purpose.documents);
        briefing.others.extend(documents.map(|(path, _)| path.clone()));
        let defining = briefing.definitions.iter().map(|definition| definition.path.clone());
        briefing.others.extend(defining);
        briefing
    }

    /// Adds a file, or the reason why it is left out.
    fn add_file(&mut self, change: &Change, file: &FileDiff, sides: &Sides<'_>) {
        let first = self.not_read.len();
        let names = [file.new_path.as_deref(), file.old_path.as_deref()];
        let not_named = || names.into_iter().flatten().find_map(unsafe_name_reason);
        let too_much =
            || (self.bytes > MAX_CHANGE_BYTES).then_some(UnreadReason::NotShown(TOO_MUCH));
        if let Some(why) = withheld_reason(file).or_else(not_named).or_else(too_much) {
            return self.leave_out(file, why);
        }
        let Some(mut excerpt) = Excerpt::of(file, first, sides) else {
            return self.leave_out(file, UnreadReason::NotShown(UNREADABLE));
        };
        let shown: BTreeSet<usize> = excerpt.units.iter().flat_map(|unit| unit.hunks()).collect();
        let unread_reasons = unread_reasons(change, file);
        let touched = excerpt.withhold();
        for at in 0..hunks(file) {
            let is_touched = touched.contains(&(first + at)).then_some(UnreadReason::Addresses);
            let missing =
                (!shown.contains(&(first + at))).then_some(UnreadReason::NotShown(UNREADABLE));
            let why = unread_reasons.get(at).cloned().flatten();
            self.not_read.push(why.or(is_touched).or(missing));
        }
        let reason = self.not_read[first..].iter().flatten().next();
        self.withheld.extend(reason.map(|why| format!("{} ({why})", file.path())));
        self.bytes += excerpt.bytes();
        self.excerpts.push(excerpt);
    }

    /// Leaves out a file, for a reason.
    fn leave_out(&mut self, file: &FileDiff, why: UnreadReason) {
        // A name with instructions to a model is not passed on either.
        let is_withheld = unsafe_name_reason(file.path()).is_some();
        let name = if is_withheld { "(a name withheld)" } else { file.path() };
        self.not_shown.push(format!("{name} ({why})"));
        if !matches!(why, UnreadReason::LeftOut(_)) {
            self.withheld.push(format!("{} ({why})", file.path()));
        }
        self.not_read.extend(vec![Some(why); hunks(file)]);
    }
}

/// Returns the number of hunks of a file. A file that was only renamed or emptied counts as one.
fn hunks(file: &FileDiff) -> usize {
    file.hunks.len().max(1)
}

/// Returns the reason why each hunk of a file does not count as read by models; empty if all count.
fn unread_reasons(change: &Change, file: &FileDiff) -> Vec<Option<UnreadReason>> {
    let path = file.new_path.as_deref().and_then(|path| RepoPath::exact(path).ok());
    let Some(path) = path else { return Vec::new() };
    let text = match change.tree().read(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return Vec::new(),
        Err(_) => return vec![Some(UnreadReason::NotShown(UNREADABLE)); hunks(file)],
    };
    let orders = find_injections_in_file(path.as_str(), &text);
    let shown = redact_text(&text);
    if orders.is_empty() && !excerpt::has_truncated_lines(&text) && shown == text {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let shown: Vec<&str> = shown.lines().collect();
    let reason = |hunk: &assay_change::diff::Hunk| {
        let around = hunk.new.start..=hunk.new.start + hunk.new.count;
        if orders
            .iter()
            .any(|order| around.clone().any(|n| order.lines.start() <= n && n <= order.lines.end()))
        {
            return Some(UnreadReason::Addresses);
        }
        let mut added = hunk.added.iter().flat_map(|span| span.start()..=span.end());
        let is_long = |n: u32| {
            lines.get(n as usize - 1).is_some_and(|line| excerpt::has_truncated_lines(line))
        };
        if is_redacted(added.clone().filter_map(|n| shown.get(n as usize - 1).copied())) {
            return Some(UnreadReason::NotShown(REDACTED));
        }
        added.any(is_long).then_some(UnreadReason::NotShown(LONG_LINES))
    };
    match file.hunks.is_empty() {
        true => vec![(!orders.is_empty()).then_some(UnreadReason::Addresses)],
        false => file.hunks.iter().map(reason).collect(),
    }
}

/// Returns true if most of some lines have no content other than the mark of a redaction.
fn is_redacted<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let is_word = |text: &str| text.contains(char::is_alphanumeric);
    let told: Vec<&str> = lines.filter(|line| is_word(line)).collect();
    let is_empty = |line: &&&str| !is_word(&line.replace("[redacted]", ""));
    told.iter().filter(is_empty).count() * 2 > told.len()
}
