//! The checks of phase `plan-code`: the diffs in a plan.

use std::collections::HashSet;

use assay_change::unified::{DiffFault, FilePatch, LineOrigin, Mark};
use assay_findings::path::RepoPath;

use super::code::{ADD_TESTS, RESOLVE, REWRITE, TRIM, told};
use super::{Check, Fix, Target, markers, plan_helpers, whitespace};
use crate::facts::path_patterns;
use crate::facts::plan_diffs::PlanDiffs;
use crate::facts::rule_results::UNTESTED_RULE;
use crate::file_kinds;
use crate::item::{Scope, Severity};
use crate::plan::patch::{PlacedPatch, fault_text};
use crate::plan::{Fence, Milestone, fences};
use crate::quote::shown;
use crate::result::CheckResult;
use crate::subject::Subject;

pub(super) static CHECKS: [Check; 12] = [
    Check {
        key: "plan-code/shown",
        severity: Severity::Must,
        targets: without_diffs,
        run: shown_at_all,
        fix: Fix::of(
            "Add the planned code to the plan as unified diffs, each in a `diff` fence below its \
             milestone. To continue without diffs, a person accepts this item by name with `assay \
             gate accept ID --phase plan-code --by NAME --reason TEXT`.",
        ),
    },
    Check {
        key: "plan-code/named",
        severity: Severity::Must,
        targets: |subject| {
            everything(subject, "Check that every diff names files of the repository")
        },
        run: named_at_all,
        fix: Fix {
            what: "Write each diff in the unified format.",
            include: &[
                "`--- a/PATH` and `+++ b/PATH` above the hunks, `/dev/null` for no file",
                "Paths from the root of the repository that stay inside it",
                "Text only",
            ],
        },
    },
    Check {
        key: "plan-code/syntax",
        severity: Severity::Must,
        targets: |subject| files(subject, "Validate diff syntax of"),
        run: |subject, scope| look(subject, scope, syntax),
        fix: Fix {
            what: "Correct the syntax of the diff at the named lines.",
            include: &[
                "`@@ -LINE,COUNT +LINE,COUNT @@` with counts that the hunk adds up to",
                "A space, `+` or `-` before every line of a hunk",
            ],
        },
    },
    Check {
        key: "plan-code/applies",
        severity: Severity::Must,
        targets: |subject| files(subject, "Apply the diffs in the order of the plan to"),
        run: |subject, scope| look(subject, scope, applies),
        fix: Fix {
            what: "Write the diff against the current file, with the earlier diffs of the plan \
                   applied.",
            include: &["Context lines exactly as in the file"],
        },
    },
    Check {
        key: "plan-code/conflict-markers",
        severity: Severity::Must,
        targets: |subject| files(subject, "Check for merge conflict markers in the diffs of"),
        run: |subject, scope| look(subject, scope, conflict_markers),
        fix: RESOLVE,
    },
    Check {
        key: "plan-code/own-files",
        severity: Severity::Must,
        targets: files_with_owners,
        run: |subject, scope| look(subject, scope, own_files),
        fix: Fix::of(
            "Add the file to the files of the milestone, or remove the diff from the milestone.",
        ),
    },
    Check {
        key: "plan-code/rules-must",
        severity: Severity::Must,
        targets: |subject| {
            ruled_files(subject, "Check for defects and vulnerabilities that rules find in")
        },
        run: |subject, scope| rules(subject, scope, Severity::Must),
        fix: REWRITE,
    },
    Check {
        key: "plan-code/rules-should",
        severity: Severity::Should,
        targets: |subject| {
            ruled_files(subject, "Check size, nesting, copies and error handling of")
        },
        run: |subject, scope| rules(subject, scope, Severity::Should),
        fix: REWRITE,
    },
    Check {
        key: "plan-code/tests",
        severity: Severity::Should,
        targets: |subject| everything(subject, "Check that behaviour changes with tests"),
        run: tests,
        fix: ADD_TESTS,
    },
    Check {
        key: "plan-code/all-files",
        severity: Severity::Should,
        targets: milestones_with_diffs,
        run: all_files,
        fix: Fix::of(
            "Add a diff of each code file that the milestone names, or name only the files that \
             it changes.",
        ),
    },
    Check {
        key: "plan-code/rules-may",
        severity: Severity::May,
        targets: |subject| ruled_files(subject, "Check for lint warnings in"),
        run: |subject, scope| rules(subject, scope, Severity::May),
        fix: REWRITE,
    },
    Check {
        key: "plan-code/whitespace",
        severity: Severity::May,
        targets: |subject| files(subject, "Check the whitespace in added lines of"),
        run: |subject, scope| look(subject, scope, blanks),
        fix: TRIM,
    },
];

/// A part of a diff, with the diff that contains it.
type Part<'a, 'p> = (&'a PlacedPatch<'p>, &'a FilePatch<'p>);

fn everything(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let has_diffs = subject.planned().is_some_and(|planned| !planned.patches.is_empty());
    let target = Target::whole(check);
    if has_diffs { vec![target] } else { Vec::new() }
}

/// Returns the plan as a target if it has no diffs.
fn without_diffs(subject: &Subject<'_>) -> Vec<Target> {
    let planned = subject.planned().filter(|planned| planned.patches.is_empty());
    let target = |_| Target::whole("Check that the plan contains diffs of its code");
    planned.map(target).into_iter().collect()
}

/// Checks that a plan shows its code. A plan passes without diffs if each of its milestones names
/// files, and all of them are documents.
fn shown_at_all(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(planned) = subject.planned() else { return no_diff(scope) };
    plan_helpers::on_milestones(subject, |plan| {
        let writes_code = |milestone: &Milestone| {
            let mut files =
                milestone.named_files().iter().map(|file| path_patterns::plain(file)).peekable();
            files.peek().is_none() || files.any(|file| !file_kinds::is_document(file))
        };
        let is_shown = !planned.patches.is_empty();
        match is_shown || !plan.milestones.iter().any(writes_code) {
            true => CheckResult::Pass,
            false => CheckResult::Fail(
                "The plan contains no diff, so its code cannot be reviewed before it is written."
                    .to_owned(),
            ),
        }
    })
}

fn files(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let Some(planned) = subject.planned() else { return Vec::new() };
    planned.paths().map(|path| Target::file(path, check)).collect()
}

/// Returns the files that the rules must read.
fn ruled_files(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let Some(planned) = subject.planned() else { return Vec::new() };
    let is_left_out =
        |path: &&str| planned.ruled().files.get(*path).is_some_and(|file| file.left_out.is_some());
    planned
        .paths()
        .filter(|path| !is_left_out(path))
        .map(|path| Target::file(path, check))
        .collect()
}

/// Returns the files whose diffs are under a milestone that names files.
fn files_with_owners(subject: &Subject<'_>) -> Vec<Target> {
    let Some(planned) = subject.planned() else { return Vec::new() };
    let has_owner = |path: &&str| {
        let mut owners =
            planned.of_path(path).into_iter().filter_map(|(placed, _)| placed.milestone);
        owners.any(|milestone| !milestone.named_files().is_empty())
    };
    let owned = planned.paths().filter(has_owner);
    owned.map(|path| Target::file(path, "Check that its milestone names")).collect()
}

fn milestones_with_diffs(subject: &Subject<'_>) -> Vec<Target> {
    let milestones = subject.plan.map_or(&[][..], |(plan, _)| &plan.milestones);
    let with_both = milestones
        .iter()
        .filter(|milestone| !milestone.diffs.is_empty() && !milestone.files.is_empty());
    Target::milestones(with_both, |id| {
        format!("Check that every file of code that milestone {id} names has a diff")
    })
}

/// Checks the diffs of the file that a scope names.
fn look(
    subject: &Subject<'_>,
    scope: &Scope,
    see: fn(&PlanDiffs<'_>, &str, &[Part<'_, '_>]) -> CheckResult,
) -> CheckResult {
    let (Some(planned), Scope::File { path, .. }) = (subject.planned(), scope) else {
        return no_diff(scope);
    };
    match &planned.of_path(path)[..] {
        [] => no_diff(scope),
        parts => see(planned, path, parts),
    }
}

fn no_diff(scope: &Scope) -> CheckResult {
    CheckResult::NotChecked(format!("the plan has no diff for `{}`", shown(&scope.to_string())))
}

fn named_at_all(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(planned) = subject.planned() else { return no_diff(scope) };
    plan_helpers::on_milestones(subject, |_| {
        told_faults(planned, planned.patches.iter().flat_map(|placed| &placed.patch.faults))
    })
}

fn syntax(planned: &PlanDiffs<'_>, _: &str, parts: &[Part<'_, '_>]) -> CheckResult {
    told_faults(planned, parts.iter().flat_map(|(_, file)| &file.faults))
}

fn told_faults<'f>(
    planned: &PlanDiffs<'_>,
    faults: impl Iterator<Item = &'f DiffFault<'f>>,
) -> CheckResult {
    let told = |fault: &DiffFault<'_>| {
        format!("{}: {}", planned.plan.place(fault.line), fault_text(&fault.kind))
    };
    CheckResult::of(faults.map(told).collect())
}

fn applies(planned: &PlanDiffs<'_>, path: &str, _: &[Part<'_, '_>]) -> CheckResult {
    let plan = planned.plan;
    let misfits = planned.patched().misfits(path).iter();
    let told = misfits.map(|misfit| {
        let (place, why) = (plan.place(misfit.line), plan.misfit_text(&misfit.kind));
        format!("the diff at {place} does not apply: {why}")
    });
    let mut told: Vec<String> = told.collect();
    if !told.is_empty() {
        let moved = planned.patched().moved_hunks(path).iter().map(|moved| {
            let (line, stated, fits) = (plan.place(moved.line), moved.stated, moved.fits);
            format!("the diff at {line} applies at line {fits} of the file, not at line {stated}")
        });
        told.extend(moved);
    }
    CheckResult::of(told)
}

fn conflict_markers(planned: &PlanDiffs<'_>, path: &str, parts: &[Part<'_, '_>]) -> CheckResult {
    let examples =
        if file_kinds::is_page(path) { examples(planned, path, parts) } else { HashSet::new() };
    let shown = parts.iter().flat_map(|(_, file)| file.pieces()).flat_map(|piece| piece.lines);
    let comes = shown.filter(|line| line.mark != Mark::Context && !examples.contains(&line.at));
    markers::look(path, comes.map(|line| (planned.plan.place(line.at), line.text)))
}

/// Returns the lines of the plan that are within closed fences of a page. The page is the one after
/// the plan, or, if not all of its diffs apply, each piece that they show.
fn examples(planned: &PlanDiffs<'_>, path: &str, parts: &[Part<'_, '_>]) -> HashSet<u32> {
    let after = RepoPath::exact(path).ok().filter(|_| planned.patched().misfits(path).is_empty());
    let text = after.as_ref().and_then(|path| planned.patched().text(path));
    if let (Some(path), Some(text)) = (&after, text) {
        let lines = fences(&text).into_iter().filter(|fence| fence.is_closed);
        let came = lines.flat_map(|fence| fence.first..=fence.last);
        let came = came.filter_map(|line| match planned.patched().origin(path, line)? {
            LineOrigin::Diff(line) => Some(line),
            LineOrigin::Before(_) => None,
        });
        return came.collect();
    }
    let mut examples = HashSet::new();
    for piece in parts.iter().flat_map(|(_, file)| file.pieces()) {
        let text = piece.lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
        let fences = fences(&text);
        let inside = piece.lines.iter().zip(1..);
        let inside = inside.filter(|(_, number)| Fence::any_closed(&fences, *number));
        examples.extend(inside.map(|(line, _)| line.at));
    }
    examples
}

fn own_files(planned: &PlanDiffs<'_>, _: &str, parts: &[Part<'_, '_>]) -> CheckResult {
    let told = parts.iter().filter_map(|(placed, file)| {
        let milestone = placed.milestone.filter(|milestone| !milestone.named_files().is_empty())?;
        let paths = [&file.old, &file.new].into_iter().flatten().map(RepoPath::as_str);
        let named = planned.named_by(placed)?;
        let strange = paths.into_iter().find(|path| !named.has(path))?;
        Some(format!(
            "the diff at {} touches `{}`, which milestone {} does not name",
            planned.plan.place(file.line),
            shown(strange),
            milestone.id
        ))
    });
    CheckResult::of(told.collect())
}

fn rules(subject: &Subject<'_>, scope: &Scope, severity: Severity) -> CheckResult {
    let (Some(planned), Scope::File { path, .. }) = (subject.planned(), scope) else {
        return no_diff(scope);
    };
    if planned.of_path(path).is_empty() {
        return no_diff(scope);
    }
    if !planned.patched().misfits(path).is_empty() {
        return CheckResult::NotChecked(
            "not all diffs of the file apply, so the rules cannot check it".to_owned(),
        );
    }
    let Some(ruled) = planned.ruled().files.get(path) else {
        // The plan itself creates and deletes the file.
        return CheckResult::Pass;
    };
    if let Some(why) = &ruled.unread {
        return CheckResult::NotChecked(format!("the rules could not read the file: {why}"));
    }
    let after = RepoPath::exact(path).ok();
    let came = |line: u32| planned.patched().origin(after.as_ref()?, line);
    CheckResult::of(told(&ruled.found, severity, |line| match came(line) {
        Some(LineOrigin::Diff(line)) => planned.plan.place(line),
        Some(LineOrigin::Before(_)) | None => format!("line {line} of the file"),
    }))
}

fn tests(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(planned) = subject.planned() else { return no_diff(scope) };
    plan_helpers::on_milestones(subject, |_| {
        let mut foreseen = planned.patches.iter().filter_map(|placed| placed.milestone);
        if foreseen.any(|milestone| !milestone.tests.is_empty()) {
            return CheckResult::Pass;
        }
        if let Some(error) = planned.tests_error() {
            return CheckResult::NotChecked(error.to_string());
        }
        let untested = planned.ruled().whole.iter().filter(|found| found.rule == UNTESTED_RULE);
        CheckResult::of(untested.map(|found| found.said.clone()).collect())
    })
}

fn all_files(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(planned), Scope::Milestone(id)) = (subject.planned(), scope) else {
        return no_diff(scope);
    };
    let mut told = Vec::new();
    for milestone in subject.milestones(id) {
        let files = milestone.files.iter().map(|file| path_patterns::plain(file));
        let code =
            files.filter(|file| path_patterns::is_one_file(file) && file_kinds::is_code(file));
        let missing = code.filter(|file| !planned.touches(file));
        told.extend(
            missing.map(|file| {
                format!("milestone {id} names `{}` and has no diff of it", shown(file))
            }),
        );
    }
    CheckResult::of(told)
}

fn blanks(planned: &PlanDiffs<'_>, path: &str, parts: &[Part<'_, '_>]) -> CheckResult {
    let added = parts.iter().flat_map(|(_, file)| &file.hunks).flat_map(|hunk| hunk.added());
    let told = added.filter_map(|line| {
        let fault = whitespace::fault(path, line.text)?;
        Some(format!("{} has {fault}", planned.plan.place(line.at)))
    });
    CheckResult::of(told.collect())
}
