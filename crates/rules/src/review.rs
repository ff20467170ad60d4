//! The rules as a reviewer: [`Rulebook::review`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use assay_base::nearest::{did_you_mean, nearest};
use assay_base::text::first_chars;
use assay_change::diff::{Content, FileDiff, Origin, Unread};
use assay_change::{Change, Exclusion};
use assay_findings::coverage::HunkOutcome;
use assay_findings::identity::Suppression;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::vote::Vote;

use crate::change_checks::{ChangeFacts, ChangedFile, FileFacts, TEXT_CHECKS};
use crate::embedded_code;
use crate::foreign_code;
use crate::language::{self, CodeContainer, Language};
use crate::rulebook::Rulebook;
use crate::source_files::SourceFiles;
use crate::suppression;
use crate::syntax::{LineSet, Syntax};
use crate::text::{self, AddedLines, injection};
use crate::tree_rules::{TreeFile, apply_tree_rules};

/// The name under which the rules report.
pub const REVIEWER: &str = "rules";

/// The reason for a file that is not read although its language is supported.
const DOES_NOT_PARSE: &str = "does not parse";

/// The maximum length of a rule's id that is quoted from a comment.
const MAX_ID: usize = 80;

/// The result of the rules on a change.
#[derive(Debug)]
pub struct RulesResult {
    /// The report with the votes.
    pub report: Report,
    /// The outcome of each hunk, in the order of the change.
    pub looks: Vec<HunkOutcome>,
    /// The suppressions that comments request.
    pub suppressions: Vec<Suppression>,
}

/// The result of the rules on one file.
struct FileResult {
    votes: Vec<Vote>,
    looks: Vec<HunkOutcome>,
    suppressions: Vec<Suppression>,
    /// The facts for the checks of the change; `None` if the file is not reviewed.
    facts: Option<FileFacts>,
    /// The functions whose data was not followed to the end.
    not_covered: Vec<String>,
}

/// Returns true if a rule works on text alone, so that it misses nothing in a file without a syntax
/// tree.
pub fn reads_text_only(rule: &str) -> bool {
    text::RULES.iter().map(|of| of.rule_text.id).chain(TEXT_CHECKS).any(|id| id == rule)
}

impl Rulebook {
    /// Reviews a change with every rule, several files at a time.
    pub fn review(&self, change: &Change) -> RulesResult {
        let mut report = Report::new(Reviewer::new(REVIEWER, ReviewerKind::Rules));
        let mut looks = Vec::new();
        let mut suppressions = Vec::new();
        let mut facts = Vec::new();
        for (file, reviewed) in change.files.iter().zip(self.review_files(change)) {
            report.remarks.not_covered.extend(reviewed.looks.iter().find_map(|look| match look {
                HunkOutcome::LeftOut(why) | HunkOutcome::Unread(why) | HunkOutcome::Failed(why) => {
                    Some(format!("{} ({why})", file.path()))
                }
                HunkOutcome::Reviewed | HunkOutcome::TextOnly | HunkOutcome::NotConcerned => None,
            }));
            report.remarks.not_covered.extend(reviewed.not_covered);
            report.votes.extend(reviewed.votes);
            looks.extend(reviewed.looks);
            suppressions.extend(reviewed.suppressions);
            facts.push(reviewed.facts);
        }
        report.votes.extend(ChangeFacts { change, facts }.votes());
        self.apply_selection(&mut report.votes);
        report.rules_not_applied = self.not_applied(change.files.iter().map(FileDiff::path)).len();
        RulesResult { report, looks, suppressions }
    }

    /// Removes the votes of rules that are not applied, and sets the severities of the selection.
    fn apply_selection(&self, votes: &mut Vec<Vote>) {
        let selection = self.selection();
        votes.retain_mut(|vote| {
            let Some(rule) = vote.rule.as_deref() else { return true };
            if let Some(grade) = selection.severity(rule) {
                vote.grade = grade.clone();
            }
            selection.applies(rule, vote.file.as_ref().map(RepoPath::as_str))
        });
    }

    /// Returns a note on a rule that a comment ignores and that does not exist; `None` for the rule
    /// of an analyser, which is unknown here.
    fn doubt_on_rule(&self, rule: &str) -> Option<String> {
        let ids = || self.ids().iter().map(String::as_str);
        if ids().any(|id| id == rule) {
            return None;
        }
        let group = |id: &str| id.split('/').next().map(str::to_owned);
        let names = nearest(rule, ids());
        let is_meant = !names.is_empty() || ids().any(|id| group(id) == group(rule));
        let question = if names.is_empty() { ".".to_owned() } else { did_you_mean(&names) };
        is_meant.then(|| format!("There is no rule `{}`{question}", first_chars(rule, MAX_ID)))
    }

    fn review_files(&self, change: &Change) -> Vec<FileResult> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let workers = workers.min(change.files.len());
        let next = AtomicUsize::new(0);
        let sources = SourceFiles::new(change);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = change.files.get(at) else { return done };
                done.push((at, self.review_file(change, file, &sources)));
            }
        };
        let mut all: Vec<(usize, FileResult)> = thread::scope(|scope| {
            // Rules are compiled in parallel with the first files: languages do not wait for each
            // other.
            for language in languages(change) {
                scope.spawn(move || self.rules(language));
            }
            let helpers: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for helper in helpers {
                all.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        });
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, reviewed)| reviewed).collect()
    }

    fn review_file(
        &self,
        change: &Change,
        file: &FileDiff,
        sources: &SourceFiles<'_>,
    ) -> FileResult {
        tracing::debug!(path = file.path(), "checking the file");
        let mut reviewed = self.review_content(change, file, sources);
        // A name is shown to reviewers even if the content of the file is not reviewed.
        let new_name = file.new_path.as_deref().filter(|_| file.new_path != file.old_path);
        reviewed.votes.extend(new_name.and_then(injection::in_path));
        reviewed
    }

    fn review_content(
        &self,
        change: &Change,
        file: &FileDiff,
        sources: &SourceFiles<'_>,
    ) -> FileResult {
        let same = |look: HunkOutcome| FileResult {
            votes: Vec::new(),
            looks: vec![look; hunks(file)],
            suppressions: Vec::new(),
            facts: None,
            not_covered: Vec::new(),
        };
        if let Some(look) = skipped_outcome(file) {
            return same(look);
        }
        let Some(path) = &file.new_path else {
            // A deleted file has no lines to review, but tests may have been deleted with it.
            let known = language::by_name(file.path()).is_some();
            let view = ChangedFile::new(change, file);
            let facts = Some(FileFacts::of(&view));
            let look = match view.before_error() {
                Some(error) => HunkOutcome::Failed(error.to_string()),
                None if known => HunkOutcome::Reviewed,
                None => HunkOutcome::TextOnly,
            };
            return FileResult { facts, ..same(look) };
        };
        let Ok(path) = RepoPath::exact(path) else {
            return same(HunkOutcome::Failed("could not be read".to_owned()));
        };
        match change.tree().read(&path) {
            Ok(Some(text)) => self.review_text(change, file, &path, &text, sources),
            // The diff of a renamed file does not show whether the file is text.
            Ok(None) => same(match file.without_content() {
                Some(what) => HunkOutcome::LeftOut(what.to_owned()),
                None => HunkOutcome::Failed("could not be read".to_owned()),
            }),
            Err(error) => same(HunkOutcome::Failed(error.to_string())),
        }
    }

    fn review_text(
        &self,
        change: &Change,
        file: &FileDiff,
        path: &RepoPath,
        text: &str,
        sources: &SourceFiles<'_>,
    ) -> FileResult {
        let added = AddedLines::new(path.as_str(), text, file.added());
        let mut votes: Vec<Vote> = Vec::new();
        let applies = |id: &str| self.selection().applies(id, Some(path.as_str()));
        for rule in text::RULES.iter().filter(|rule| applies(rule.rule_text.id)) {
            let about = rule.rule_text.info();
            votes.extend((rule.find)(&added).into_iter().map(|hit| hit.vote(&about, path)));
        }
        let syntax = Syntax::of(path.as_str(), text);
        let touched = LineSet::new(file.added());
        let foreign = foreign_code::reason(path.as_str(), text, || adds_mark(change, file));
        let mut tree = syntax.as_ref().map(|syntax| {
            let file = TreeFile { change, file, path, text, syntax, touched: &touched };
            let is_applied = |id: &str| foreign.is_none() && applies(id);
            apply_tree_rules(&file, self.rules(syntax.language()), &is_applied, sources)
        });
        votes.extend(tree.iter_mut().flat_map(|tree| std::mem::take(&mut tree.votes)));
        let tree_facts = tree.as_ref().map(|tree| &tree.tree_facts);
        let view = ChangedFile::new(change, file).with_after(text, syntax.as_ref(), tree_facts);
        if foreign.is_none() {
            votes.extend(view.votes());
        }
        let read = tree.as_ref().filter(|tree| tree.is_concerned).map(|tree| &tree.tree_facts);
        let grammar = syntax
            .as_ref()
            .filter(|syntax| language::has_whole_grammar(syntax.language(), path.as_str(), text));
        let is_broken = grammar.is_some_and(|syntax| view.is_broken_by_change(syntax));
        let is_container = CodeContainer::of(path.as_str()).is_some();
        let code = embedded_code::code_of(path.as_str(), text).filter(|_| is_container);
        let own_look = |touched: &LineSet| match read {
            // What is no code of the language was read by rules on text alone.
            Some(_) if code.as_deref().is_some_and(|code| !is_code(code, text, touched)) => {
                HunkOutcome::TextOnly
            }
            Some(_) if is_broken => HunkOutcome::Failed(DOES_NOT_PARSE.to_owned()),
            Some(tree_facts) if tree_facts.represents(touched) => HunkOutcome::Reviewed,
            Some(tree_facts) if grammar.is_some() && tree_facts.has_error_in(touched) => {
                HunkOutcome::Failed(DOES_NOT_PARSE.to_owned())
            }
            Some(_) | None => HunkOutcome::TextOnly,
        };
        let look = |touched: &LineSet| match foreign {
            Some(why) => HunkOutcome::Unread(why.to_owned()),
            None => own_look(touched),
        };
        let looks: Vec<HunkOutcome> =
            file.hunks.iter().map(|hunk| look(&LineSet::new(hunk.added.iter().copied()))).collect();
        let looks = match (looks.is_empty(), file.without_content()) {
            (true, Some(what)) => vec![HunkOutcome::LeftOut(what.to_owned())],
            (true, None) => vec![look(&LineSet::new([]))],
            (false, _) => looks,
        };
        let doubt_on = |rule: &str| self.doubt_on_rule(rule);
        let syntax = syntax.as_ref().filter(|_| !is_container);
        let asked = suppression::read(path, text, syntax, &doubt_on);
        for (rule_text, hits) in [
            (suppression::WITHOUT_REASON, asked.unclear),
            (suppression::UNKNOWN_RULE, asked.unknown),
        ] {
            let about = rule_text.info();
            let new = hits.into_iter().filter(|hit| touched.overlaps(hit.lines));
            votes.extend(new.map(|hit| hit.vote(&about, path)));
        }
        let facts = Some(FileFacts::of(&view));
        let before_error = view.before_error().map(ToString::to_string);
        let before_error = before_error.or(tree.as_mut().and_then(|tree| tree.before_error.take()));
        let looks = match before_error {
            Some(error) => vec![HunkOutcome::Failed(error); looks.len()],
            None => looks,
        };
        let not_covered = tree.map(|tree| tree.not_covered).unwrap_or_default();
        FileResult { votes, looks, suppressions: asked.suppressions, facts, not_covered }
    }
}

/// Returns true if all lines with content among the touched ones hold code, which is the rest of a
/// file after everything else was blanked out.
fn is_code(code: &str, text: &str, touched: &LineSet) -> bool {
    let has_code = |line: Option<&&str>| line.is_some_and(|line| !line.trim().is_empty());
    let (code, text): (Vec<&str>, Vec<&str>) = (code.lines().collect(), text.lines().collect());
    let numbers = touched.numbers().take_while(|number| *number as usize <= text.len());
    let mut lines = numbers.map(|number| number as usize - 1);
    lines.all(|at| !has_code(text.get(at)) || has_code(code.get(at)))
}

/// Returns true if an existing file was not marked as generated before the change, or if the text
/// before the change cannot be read.
fn adds_mark(change: &Change, file: &FileDiff) -> bool {
    let earlier = ChangedFile::new(change, file);
    let had_no_mark =
        earlier.before().is_some_and(|text| !foreign_code::is_marked(file.path(), text));
    had_no_mark || earlier.before_error().is_some()
}

/// Returns the languages of a change, by the names of its files.
fn languages(change: &Change) -> Vec<Language> {
    let read = change.files.iter().filter(|file| file.left_out.is_none());
    let mut languages: Vec<Language> = Vec::new();
    for language in read.filter_map(|file| language::by_name(file.path())) {
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    languages
}

/// Returns the number of hunks of a file. A file without hunks, such as a renamed or emptied one,
/// counts as one.
fn hunks(file: &FileDiff) -> usize {
    file.hunks.len().max(1)
}

/// Returns the outcome for a file that is not reviewed; `None` if it is reviewed.
fn skipped_outcome(file: &FileDiff) -> Option<HunkOutcome> {
    if let Some(Exclusion { rule, readable }) = file.left_out.clone() {
        return Some(if readable { HunkOutcome::Unread(rule) } else { HunkOutcome::LeftOut(rule) });
    }
    let left_out = |rule: &str| Some(HunkOutcome::LeftOut(rule.to_owned()));
    let failed = |why: &str| Some(HunkOutcome::Failed(why.to_owned()));
    match file.content {
        Content::Binary if language::is_source(file.path()) => failed("source that is not text"),
        // A moved test may be a removed test, so the checks of the change see the file.
        Content::Text if file.origin == Origin::Renamed => None,
        Content::Text | Content::Binary | Content::Submodule => {
            file.without_content().and_then(left_out)
        }
        // The target of a link is content, and no rule sees it.
        Content::Link => Some(HunkOutcome::Unread("symbolic link".to_owned())),
        Content::Unread(Unread::Merge) => failed("compared with several files"),
        Content::Unread(Unread::Broken) => failed("its diff could not be read"),
        Content::Unread(Unread::TooMany) => failed("changed in too many places"),
        Content::Unread(Unread::Unreadable) => failed("could not be read"),
    }
}
