//! Compares the written code with the plan: diffs, criteria and tests.

use std::collections::{BTreeSet, HashSet};

use assay_change::diff::FileDiff;
use assay_change::unified::Mark;
use assay_findings::grounding::squeeze;
use assay_findings::path::RepoPath;
use assay_rules::{CodeLines, TestEffect, TestFunction, asserts_on, is_program, test_functions};

use super::Target;
use super::changed_file;
use crate::facts::path_patterns;
use crate::facts::squeezed_lines::squeezed;
use crate::file_kinds;
use crate::item::Scope;
use crate::plan::{Criterion, Milestone, Plan, code_spans};
use crate::quote::{quoted, shown};
use crate::reconcile::{Answer, MilestoneResult, reconcile};
use crate::result::CheckResult;
use crate::subject::Subject;

/// Returns the files that the diffs of the plan change, without documents.
pub(super) fn diffed_files(subject: &Subject<'_>) -> Vec<Target> {
    let Some(planned) = subject.change.and_then(|_| subject.planned()) else { return Vec::new() };
    // Documents are written later, and have a list of their own.
    let paths = planned.paths().filter(|path| !file_kinds::is_document(path));
    paths.map(|path| Target::file(path, "Check that the diffs of the plan are in")).collect()
}

/// Checks that a file has all lines that the diffs of the plan add to it. A line that a later diff
/// removes again is not required.
pub(super) fn diffs(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(planned), Scope::File { path, .. }) = (subject.planned(), scope) else {
        return changed_file::no_change(scope);
    };
    let parts = planned.of_path(path);
    let is_gone = parts.last().is_some_and(|(_, part)| part.new.is_none());
    let text = match RepoPath::parse(path, None).map(|path| subject.tree.read(&path)) {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return CheckResult::NotChecked(error.to_string()),
        Err(error) => return CheckResult::NotChecked(error.to_string()),
    };
    let shown = shown(path);
    let Some(text) = text else {
        let missing = format!("missing file `{shown}`, which a diff of the plan writes");
        return CheckResult::of(if is_gone { Vec::new() } else { vec![missing] });
    };
    if is_gone {
        return CheckResult::of(vec![format!("`{shown}` still exists, and the plan deletes it")]);
    }
    let lines = squeezed(&text);
    let mut told = Vec::new();
    for (nth, (_, part)) in parts.iter().enumerate() {
        let later = parts[nth + 1..].iter().flat_map(|(_, part)| &part.hunks);
        let removed: HashSet<String> = later
            .flat_map(|hunk| &hunk.lines)
            .filter(|line| line.mark == Mark::Removed)
            .map(|line| squeeze(line.text))
            .collect();
        for hunk in &part.hunks {
            let is_missing = |line: &str| {
                let line = squeeze(line);
                !lines.contains(&line) && !removed.contains(&line)
            };
            if let Some(line) = hunk.added().map(|line| line.text).find(|line| is_missing(line)) {
                let line = quoted(line.trim());
                let place = planned.plan.place(hunk.line);
                told.push(format!("`{shown}` lacks {line}, which the diff adds at {place}"));
            }
        }
    }
    CheckResult::of(told)
}

/// Returns the milestones with criteria.
pub(super) fn milestones_with_criteria(subject: &Subject<'_>) -> Vec<Target> {
    let milestones = subject.change.into_iter().flat_map(|_| subject.all_milestones());
    let with_criteria = milestones.filter(|milestone| !milestone.criteria.is_empty());
    Target::milestones(with_criteria, |id| {
        format!("Check that the code meets the criteria of milestone {id}")
    })
}

/// Checks that the criteria of a milestone are met, as far as code can decide. The rest is for a
/// reader.
pub(super) fn criteria(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(reconciled), Scope::Milestone(id)) = (subject.reconciled(), scope) else {
        return changed_file::no_change(scope);
    };
    let places = subject.places_of(id).iter();
    let found = places.filter_map(|at| reconciled.milestones.get(*at));
    CheckResult::of(not_met(found).collect())
}

fn not_met<'r>(found: impl Iterator<Item = &'r MilestoneResult>) -> impl Iterator<Item = String> {
    let criteria = found.flat_map(|milestone| &milestone.criteria);
    criteria.filter(|criterion| !is_about_documents(&criterion.text)).filter_map(|criterion| {
        match &criterion.answer {
            Answer::NotMet { why } => Some(format!("{}: {}", quoted(&criterion.text), shown(why))),
            Answer::Met { .. } | Answer::CannotTell { .. } => None,
        }
    })
}

fn is_about_documents(text: &str) -> bool {
    code_spans(text).any(|span| file_kinds::is_document(path_patterns::plain(span)))
}

/// Returns the milestones that name tests.
pub(super) fn milestones_with_tests(subject: &Subject<'_>) -> Vec<Target> {
    let milestones = subject.change.into_iter().flat_map(|_| subject.all_milestones());
    let with_tests = milestones.filter(|milestone| {
        let (names, files) = named_tests(milestone);
        !names.is_empty() || !files.is_empty()
    });
    Target::milestones(with_tests, |id| {
        format!("Check that the tests that milestone {id} names exist and assert something")
    })
}

/// Checks that the tests that a milestone names exist, each with an assertion.
pub(super) fn tests(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some((_, at)), Scope::Milestone(id)) = (subject.plan, scope) else {
        return changed_file::no_change(scope);
    };
    let (mut names, mut files) = (BTreeSet::new(), BTreeSet::new());
    for milestone in subject.milestones(id) {
        let (more_names, more_files) = named_tests(milestone);
        names.extend(more_names);
        files.extend(more_files);
    }
    let criterion =
        |name: &String| Criterion { text: format!("there is a test `{name}`"), line: 0 };
    let milestone = Milestone {
        id: id.clone(),
        criteria: names.iter().map(criterion).collect(),
        ..Milestone::default()
    };
    let plan = Plan { milestones: vec![milestone], ..Plan::default() };
    let mut told = Vec::new();
    for result in reconcile(&plan, at, subject.tree, None).milestones {
        told.extend(result.criteria.into_iter().filter_map(|criterion| match criterion.answer {
            Answer::NotMet { why } => Some(why),
            Answer::Met { .. } | Answer::CannotTell { .. } => None,
        }));
    }
    for file in &files {
        match RepoPath::parse(file, None).map(|path| subject.tree.read(&path)) {
            Ok(Ok(Some(text))) if !asserts(file, &text) => {
                told.push(format!("`{}` has no test that asserts anything", shown(file)));
            }
            Ok(Ok(Some(_))) | Err(_) => {}
            Ok(Ok(None)) => told.push(format!("there is no file `{}`", shown(file))),
            Ok(Err(error)) => return CheckResult::NotChecked(error.to_string()),
        }
    }
    CheckResult::of(told)
}

/// Returns the tests that a milestone names: functions by their names, and files by their paths.
fn named_tests(milestone: &Milestone) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut files) = (BTreeSet::new(), BTreeSet::new());
    for text in &milestone.tests {
        let spans: Vec<&str> = code_spans(text).collect();
        let words = text.split([' ', ',', ';']).filter(|_| spans.is_empty());
        for word in spans.iter().copied().chain(words) {
            let (path, name) = word.split_once("::").unwrap_or((word, ""));
            let path = path_patterns::plain(path);
            let is_file = assay_rules::is_test(path) && path_patterns::is_one_file(path);
            if is_file && is_program(path) {
                files.insert(path.to_owned());
            }
            let name = if is_file { name } else { word };
            let name = name.rsplit("::").next().unwrap_or(name).trim_end_matches("()");
            if is_test_name(name) {
                names.insert(name.to_owned());
            }
        }
    }
    (names, files)
}

fn is_test_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let starts = ["test_", "Test"].iter().any(|start| name.starts_with(start));
    starts && name.len() > 5 && name.chars().all(is_letter)
}

/// Returns true if a file has a test that can fail. Returns true for an unknown language, since
/// nothing can be decided.
fn asserts(path: &str, text: &str) -> bool {
    asserts_within(path, text, |_| true)
}

/// Returns true if a test that can fail has a line for which `is_wanted` is true. Line numbers are
/// from 1. In a file whose tests no grammar finds, an asserting line is enough.
fn asserts_within(path: &str, text: &str, is_wanted: impl Fn(usize) -> bool) -> bool {
    let Some(CodeLines { code, .. }) = CodeLines::of(path, text) else { return true };
    let lines = (1..).zip(&code).filter(|(number, _)| is_wanted(*number));
    let mut asserting =
        lines.filter(|(_, line)| asserts_on(line)).map(|(number, _)| number).peekable();
    let tests = test_functions(path, text).unwrap_or_default();
    if tests.is_empty() || asserting.peek().is_none() {
        return asserting.peek().is_some();
    }
    let can_fail = |test: &&TestFunction| !matches!(test.effect, TestEffect::Inert(_));
    let wanted =
        |test: &TestFunction| (test.line as usize..=test.last_line as usize).any(&is_wanted);
    let is_helper = |number: usize| {
        !tests.iter().any(|test| (test.line as usize..=test.last_line as usize).contains(&number))
    };
    // A line outside of all tests asserts for a test that calls its function.
    tests.iter().filter(can_fail).any(wanted)
        || (asserting.any(is_helper) && tests.iter().any(|test| can_fail(&test)))
}

/// Returns true if the change touches code that is no test.
pub(super) fn changes_code(subject: &Subject<'_>) -> bool {
    changed(subject).any(|file| !assay_rules::is_test(file.path()))
}

fn changed<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a FileDiff> {
    let code = |file: &&FileDiff| file_kinds::is_code(file.path());
    changed_file::files(subject).filter(code)
}

/// Returns the reason if a change with a plan touches code without a test: no test file of the
/// change has an added line that asserts something. Returns `None` otherwise.
pub(super) fn untested(subject: &Subject<'_>) -> Option<String> {
    if subject.plan.is_none() || !changes_code(subject) {
        return None;
    }
    let mut tests = changed(subject).filter(|file| assay_rules::is_test(file.path())).peekable();
    if tests.peek().is_none() {
        return Some("the change touches code and no test".to_owned());
    }
    let adds_one = |file: &FileDiff| {
        let look = changed_file::look(subject, &Scope::file(file.path()), |written| {
            let added: HashSet<usize> =
                written.added().into_iter().map(|(number, _)| number as usize).collect();
            match asserts_within(written.path, &written.text, |number| added.contains(&number)) {
                true => CheckResult::Pass,
                false => CheckResult::Fail(String::new()),
            }
        });
        !matches!(look, CheckResult::Fail(_))
    };
    (!tests.any(adds_one))
        .then(|| "no test of the change has a line of code that asserts anything".to_owned())
}
