//! The checks of phase `impl-code`: the written code.

use assay_change::diff::FileDiff;
use assay_findings::path::RepoPath;

use super::binary_files::ChangedFileKind;
use super::changed_file::{self, ChangedFileText};
use super::code::{ADD_TESTS, RESOLVE, REWRITE, TRIM, told};
use super::{Check, Fix, Target, binary_files, impl_plan, markers, whitespace};
use crate::facts::path_patterns;
use crate::facts::rule_results::UNTESTED_RULE;
use crate::facts::squeezed_lines::{holds_added, squeezed};
use crate::file_kinds;
use crate::item::{Scope, Severity};
use crate::plan::{Fence, fences};
use crate::quote::{self, quoted, shown};
use crate::result::{CheckResult, listed};
use crate::subject::Subject;

/// The message for planned files that the change does not touch.
const UNTOUCHED: &str = "the change does not touch it";

pub(super) static CHECKS: [Check; 13] = [
    Check {
        key: "impl-code/conflict-markers",
        severity: Severity::Must,
        targets: |subject| changed_file::targets(subject, "Check for merge conflict markers in"),
        run: conflict_markers,
        fix: RESOLVE,
    },
    Check {
        key: "impl-code/rules-must",
        severity: Severity::Must,
        targets: |subject| {
            ruled_files(subject, "Check for defects and vulnerabilities that rules find in")
        },
        run: |subject, scope| rules(subject, scope, Severity::Must),
        fix: REWRITE,
    },
    Check {
        key: "impl-code/planned-files",
        severity: Severity::Must,
        targets: milestones_with_files,
        run: planned_files,
        fix: Fix::of("Change the files that the milestone names as planned, or correct the plan."),
    },
    Check {
        key: "impl-code/planned-diffs",
        severity: Severity::Must,
        targets: impl_plan::diffed_files,
        run: impl_plan::diffs,
        fix: Fix::of(
            "Add the lines of the plan's diffs to {name}, or ask a person to accept the \
             difference.",
        ),
    },
    Check {
        key: "impl-code/criteria",
        severity: Severity::Must,
        targets: impl_plan::milestones_with_criteria,
        run: impl_plan::criteria,
        fix: Fix::of("Meet the named criteria."),
    },
    Check {
        key: "impl-code/planned-tests",
        severity: Severity::Should,
        targets: impl_plan::milestones_with_tests,
        run: impl_plan::tests,
        fix: Fix::of("Write the tests that milestone {name} names, each with an assertion."),
    },
    Check {
        key: "impl-code/read",
        severity: Severity::Must,
        targets: |subject| everything(subject, "Check that every hunk of the change could be read"),
        run: all_read,
        fix: Fix::of("Ask a person to review the named files, or make them readable."),
    },
    Check {
        key: "impl-code/whole-must",
        severity: Severity::Must,
        targets: |subject| everything(subject, "Check the commit messages"),
        run: whole,
        fix: Fix::of("Reword the messages of the named commits."),
    },
    Check {
        key: "impl-code/rules-should",
        severity: Severity::Should,
        targets: |subject| {
            ruled_files(subject, "Check size, nesting, copies and error handling of")
        },
        run: |subject, scope| rules(subject, scope, Severity::Should),
        fix: REWRITE,
    },
    Check {
        key: "impl-code/inside-plan",
        severity: Severity::Should,
        targets: |subject| match plan_names_files(subject) {
            true => everything(subject, "Check that nothing changed outside the files of the plan"),
            false => Vec::new(),
        },
        run: inside_plan,
        fix: Fix::of("Revert the changes to the named files, or add the files to the plan."),
    },
    Check {
        key: "impl-code/tests",
        severity: Severity::Should,
        targets: |subject| everything(subject, "Check that behaviour changed with tests"),
        run: tests,
        fix: ADD_TESTS,
    },
    Check {
        key: "impl-code/rules-may",
        severity: Severity::May,
        targets: |subject| ruled_files(subject, "Check for lint warnings in"),
        run: |subject, scope| rules(subject, scope, Severity::May),
        fix: REWRITE,
    },
    Check {
        key: "impl-code/whitespace",
        severity: Severity::May,
        targets: |subject| changed_file::targets(subject, "Check the whitespace in added lines of"),
        run: blanks,
        fix: TRIM,
    },
];

fn everything(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let target = Target::whole(check);
    match subject.change {
        Some(change) if !change.files.is_empty() => vec![target],
        _ => Vec::new(),
    }
}

/// Returns the files that the rules must read.
fn ruled_files(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let Some(ruled) = subject.ruled() else { return Vec::new() };
    let read = ruled.files.iter().filter(|(_, file)| file.left_out.is_none());
    read.map(|(path, _)| Target::file(path, check)).collect()
}

fn plan_names_files(subject: &Subject<'_>) -> bool {
    subject.all_milestones().any(|milestone| !milestone.files.is_empty())
}

fn milestones_with_files(subject: &Subject<'_>) -> Vec<Target> {
    let change = subject.change.into_iter();
    let milestones = change.flat_map(|_| subject.all_milestones());
    let with_files = milestones.filter(|milestone| !milestone.files.is_empty());
    Target::milestones(with_files, |id| {
        format!("Check that the files that milestone {id} names were changed as planned")
    })
}

fn conflict_markers(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    changed_file::look(subject, scope, |written: &ChangedFileText<'_>| {
        // A fence on a page is an example.
        let fences =
            if file_kinds::is_page(written.path) { fences(&written.text) } else { Vec::new() };
        let added = written.added().into_iter();
        let added = added.filter(|(number, _)| !Fence::any_closed(&fences, *number));
        markers::look(written.path, added.map(|(number, line)| (format!("line {number}"), line)))
    })
}

fn blanks(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    changed_file::look(subject, scope, |written: &ChangedFileText<'_>| {
        // In a code block, blanks belong to the text: each empty line of context in a diff has one.
        let fences = match file_kinds::is_markdown(written.path) {
            true => fences(&written.text),
            false => Vec::new(),
        };
        let added = written.added().into_iter();
        let added = added.filter(|(number, _)| !Fence::any_closed(&fences, *number));
        let told = added.filter_map(|(number, line)| {
            Some(format!("line {number} has {}", whitespace::fault(written.path, line)?))
        });
        CheckResult::of(told.collect())
    })
}

fn rules(subject: &Subject<'_>, scope: &Scope, severity: Severity) -> CheckResult {
    let (Some(ruled), Scope::File { path, .. }) = (subject.ruled(), scope) else {
        return changed_file::no_change(scope);
    };
    let Some(file) = ruled.files.get(path) else { return changed_file::no_change(scope) };
    if let Some(why) = &file.unread {
        return CheckResult::NotChecked(format!("the rules could not read the file: {why}"));
    }
    CheckResult::of(told(&file.found, severity, |line| format!("line {line}")))
}

fn all_read(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(change), Some(ruled)) = (subject.change, subject.ruled()) else {
        return changed_file::no_change(scope);
    };
    let (mut astray, mut unread) = (Vec::new(), Vec::new());
    for file in &change.files {
        let path = shown(file.path());
        let why = ruled.files.get(file.path()).and_then(|file| file.unread.as_deref());
        match binary_files::classify(change, file) {
            ChangedFileKind::Text => unread.extend(why.map(|why| format!("`{path}` ({why})"))),
            ChangedFileKind::LeadsInside => {}
            ChangedFileKind::Hidden(what) => {
                unread.push(format!("`{path}` ({})", why.unwrap_or(what)))
            }
            ChangedFileKind::LeadsOut(target) => astray.push(format!(
                "`{path}` is a link to {}, which leads out of the repository",
                quoted(&target)
            )),
        }
    }
    match (astray.is_empty(), unread.is_empty()) {
        (false, _) => CheckResult::of(astray),
        (true, true) => CheckResult::Pass,
        (true, false) => CheckResult::NotChecked(format!("could not read {}", listed(&unread))),
    }
}

fn whole(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(ruled) = subject.ruled() else { return changed_file::no_change(scope) };
    CheckResult::of(told(&ruled.whole, Severity::Must, |line| format!("line {line}")))
}

fn tests(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(ruled) = subject.ruled() else { return changed_file::no_change(scope) };
    let untested = ruled.whole.iter().filter(|found| found.rule == UNTESTED_RULE);
    let mut told: Vec<String> = untested.map(|found| found.said.clone()).collect();
    if told.is_empty() {
        told.extend(impl_plan::untested(subject));
    }
    CheckResult::of(told)
}

/// Returns the question for a reader, since no code can decide whether a change does what a plan
/// asks for. Returns `None` if there is no plan, or the change touches no code.
pub(super) fn for_a_reader(subject: &Subject<'_>) -> Option<&'static str> {
    let has_plan = subject.all_milestones().next().is_some();
    (has_plan && impl_plan::changes_code(subject)).then_some(
        "Read the change and judge whether the code does what the plan asks for, at its edges as well",
    )
}

fn planned_files(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(_), Scope::Milestone(id)) = (subject.change, scope) else {
        return changed_file::no_change(scope);
    };
    let milestones = subject.milestones(id);
    if milestones.is_empty() {
        return CheckResult::NotChecked(format!("the plan has no milestone {}", quote::named(id)));
    }
    let files = milestones.iter().flat_map(|milestone| &milestone.files);
    // Documents are written later, and have a list of their own.
    let files = files.filter(|file| !file_kinds::is_document(path_patterns::plain(file)));
    let told = files.filter_map(|file| {
        let why = not_as_planned(subject, file)?;
        Some(format!("milestone {id} names `{}`, and {why}", shown(path_patterns::plain(file))))
    });
    CheckResult::of(told.collect())
}

/// Returns the reason why a file that a milestone names is not as planned; `None` if it is.
fn not_as_planned(subject: &Subject<'_>, file: &str) -> Option<String> {
    if subject.touched().has(file) {
        return None;
    }
    if !path_patterns::is_one_file(file) {
        return Some("the change touches no matching file".to_owned());
    }
    let path = RepoPath::parse(path_patterns::plain(file), None);
    let Ok(path) = path else { return Some("the path is not in the repository".to_owned()) };
    let text = match subject.tree.read(&path) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    let Some(planned) = subject.planned() else { return Some(UNTOUCHED.to_owned()) };
    let parts = planned.of_path(path.as_str());
    let Some(text) = text else {
        let is_deleted = parts.last().is_some_and(|(_, part)| part.new.is_none());
        return (!is_deleted).then(|| "there is no such file".to_owned());
    };
    let hunks: Vec<_> = parts.iter().flat_map(|(_, part)| &part.hunks).collect();
    let lines = squeezed(&text);
    let missing = hunks.iter().find(|hunk| !holds_added(&lines, hunk));
    match (hunks.is_empty(), missing) {
        (true, _) => Some(UNTOUCHED.to_owned()),
        (false, None) => None,
        (false, Some(hunk)) => {
            let place = planned.plan.place(hunk.line);
            Some(format!("{UNTOUCHED} and the file lacks lines that are added at {place}"))
        }
    }
}

fn inside_plan(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(change) = subject.change else { return changed_file::no_change(scope) };
    let named = subject.named();
    let is_the_plan = |path: &str| subject.plan.is_some_and(|(_, at)| at == path);
    let planned = subject.planned();
    let is_planned = |path: &str| planned.is_some_and(|planned| planned.touches(path));
    let strange = |file: &&FileDiff| {
        let mut paths = [&file.old_path, &file.new_path].into_iter().flatten();
        let is_beside = file.left_out.is_some()
            || assay_rules::is_test(file.path())
            || file_kinds::is_document(file.path())
            || file_kinds::is_lock_file(file.path());
        !is_beside && !paths.any(|path| named.has(path) || is_planned(path) || is_the_plan(path))
    };
    let strange = change.files.iter().filter(strange);
    CheckResult::of(
        strange.map(|file| format!("`{}` is in no list of the plan", shown(file.path()))).collect(),
    )
}
