//! The checks of phase `impl-docs`: the written documents, and comments in code.

use std::collections::HashSet;

use assay_findings::path::RepoPath;
use assay_rules::{find_undocumented, has_code_lines, needs_documentation};

use super::changed_file::{self, ChangedFileText};
use super::file_set::FileSet;
use super::links::{Links, beside};
use super::{Check, Fix, Target, comments, markdown, source};
use crate::facts::path_patterns;
use crate::file_kinds;
use crate::item::{Scope, Severity};
use crate::plan::Milestone;
use crate::quote::{self, quoted, shown};
use crate::result::CheckResult;
use crate::subject::Subject;

pub(super) static CHECKS: [Check; 7] = [
    Check {
        key: "impl-docs/decisions",
        severity: Severity::Must,
        targets: files_with_decisions,
        run: decisions,
        fix: Fix {
            what: "Refer to decisions in the plan's decision log, or add the decision to the log.",
            include: &["What was decided", "Why"],
        },
    },
    Check {
        key: "impl-docs/links",
        severity: Severity::Should,
        targets: |subject| pages(subject, "Check for dead links in"),
        run: links,
        fix: Fix::of("Correct or remove the named links."),
    },
    Check {
        key: "impl-docs/paths",
        severity: Severity::Should,
        targets: |subject| pages(subject, "Check the paths of the files that are named in"),
        run: paths,
        fix: Fix::of("Correct the paths of the named files."),
    },
    Check {
        key: "impl-docs/changelog",
        severity: Severity::Should,
        targets: changelogs,
        run: changelog,
        fix: Fix::of("Describe in the changelog what changes for users who upgrade."),
    },
    Check {
        key: "impl-docs/planned-documents",
        severity: Severity::Should,
        targets: milestones_with_documents,
        run: planned_documents,
        fix: Fix::of("Write the documents as planned."),
    },
    Check {
        key: "impl-docs/documented",
        severity: Severity::Should,
        targets: code_files,
        run: documented,
        fix: Fix::of("Add a doc comment to each item that says what the item is for."),
    },
    Check {
        key: "impl-docs/history",
        severity: Severity::May,
        targets: commented_files,
        run: history,
        fix: Fix::of(
            "Describe what the code does and why. Earlier behaviour belongs in the commit history.",
        ),
    },
];

fn of_files(subject: &Subject<'_>, is_wanted: fn(&str) -> bool, check: &str) -> Vec<Target> {
    let files = changed_file::files(subject).filter(|file| is_wanted(file.path()));
    files.map(|file| Target::file(file.path(), check)).collect()
}

fn pages(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    of_files(subject, file_kinds::is_markdown, check)
}

fn code_files(subject: &Subject<'_>) -> Vec<Target> {
    of_files(subject, needs_documentation, "Check that public items are documented in")
}

fn commented_files(subject: &Subject<'_>) -> Vec<Target> {
    of_files(subject, has_code_lines, "Check for comments about earlier versions in")
}

fn files_with_decisions(subject: &Subject<'_>) -> Vec<Target> {
    let can_refer = |path: &str| has_code_lines(path) || file_kinds::is_markdown(path);
    match subject.plan {
        Some((_, at)) => {
            let is_the_plan = |target: &Target| target.scope == Scope::file(at);
            let mut targets = of_files(subject, can_refer, "Check the decisions referred to in");
            targets.retain(|target| !is_the_plan(target));
            targets
        }
        None => Vec::new(),
    }
}

/// Returns the added text of a file that people read: comments in code, or all lines of a page.
fn told_to_people(written: &ChangedFileText<'_>) -> Vec<(u32, String)> {
    let source = source::of_file(written);
    let added = written.added().into_iter();
    let said = added.map(|(number, line)| match &source {
        Some(source) => (number, source.comment(number as usize - 1).to_owned()),
        None => (number, line.to_owned()),
    });
    said.filter(|(_, said)| !said.is_empty()).collect()
}

fn decisions(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some(log) = subject.log() else {
        return CheckResult::NotChecked("there is no plan".to_owned());
    };
    changed_file::look(subject, scope, |written| {
        let mut wrong = Vec::new();
        for (number, said) in told_to_people(written) {
            let missing = log.missing(&said).into_iter();
            wrong.extend(missing.map(|id| {
                format!("line {number} refers to {id}, which is not in the plan's decision log")
            }));
        }
        CheckResult::of(wrong)
    })
}

fn links(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    changed_file::look(subject, scope, |written| {
        let mut links = Links::new(FileSet::now(subject));
        let mut wrong = Vec::new();
        for (number, target) in markdown::links(&written.text) {
            match links.dead(written.path, &target) {
                Ok(Some(why)) => {
                    wrong.push(format!("line {number} links to {}: {why}", quoted(&target)));
                }
                Ok(None) => {}
                Err(error) => return CheckResult::NotChecked(error.to_string()),
            }
        }
        CheckResult::of(wrong)
    })
}

fn paths(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    changed_file::look(subject, scope, |written| {
        let known = FileSet::now(subject);
        let added: HashSet<u32> = written.added().into_iter().map(|(number, _)| number).collect();
        let mut wrong = Vec::new();
        for (number, code) in markdown::code_spans(&written.text) {
            if !added.contains(&number) || !looks_like_path(&code) {
                continue;
            }
            let path = path_patterns::plain(&code);
            let is_beside = match beside(written.path, path).map(|path| known.has(&path)) {
                Some(Ok(is_there)) => is_there,
                Some(Err(error)) => return CheckResult::NotChecked(error.to_string()),
                None => false,
            };
            if !is_beside && !known.has_one_that_ends_in(path) {
                wrong.push(format!(
                    "line {number} names {}, and there is no such file",
                    quoted(path)
                ));
            }
        }
        CheckResult::of(wrong)
    })
}

/// Returns true if code in back-ticks names a file of the repository: folders, a name, and a known
/// ending.
fn looks_like_path(code: &str) -> bool {
    let path = path_patterns::plain(code);
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+');
    let is_example = path.starts_with("path/to/") || path.starts_with("example");
    path.contains('/')
        && !path.starts_with(['/', '~', '@'])
        && !path.contains("//")
        && !path.split('/').any(|part| part == "..")
        && path.chars().all(is_letter)
        && file_kinds::names_a_file(path)
        && !is_example
}

/// Returns the path of the changelog; `None` if there is none.
fn changelog_of<'s>(subject: &'s Subject<'_>) -> Option<&'s RepoPath> {
    subject.index().paths.iter().find(|path| {
        let stem = path.as_str().split('.').next().unwrap_or_default().to_ascii_lowercase();
        ["changelog", "changes", "history"].contains(&stem.as_str())
            && (file_kinds::ending(path.as_str()).is_empty() || file_kinds::is_page(path.as_str()))
    })
}

fn changelogs(subject: &Subject<'_>) -> Vec<Target> {
    let mut files = subject.change.into_iter().flat_map(|change| &change.files);
    let code_changed =
        files.any(|file| file_kinds::is_code(file.path()) && !assay_rules::is_test(file.path()));
    if !code_changed || changelog_of(subject).is_none() {
        return Vec::new();
    }
    vec![Target::whole("Check that the changelog mentions the change")]
}

fn changelog(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(_), Some(changelog)) = (subject.change, changelog_of(subject)) else {
        return changed_file::no_change(scope);
    };
    match subject.file(changelog.as_str()) {
        Some(_) => CheckResult::Pass,
        None => {
            let changelog = shown(changelog.as_str());
            CheckResult::of(vec![format!("code changed, and `{changelog}` does not mention it")])
        }
    }
}

fn documents(milestone: &Milestone) -> impl Iterator<Item = &str> {
    let files = milestone.files.iter().map(|file| path_patterns::plain(file));
    files.filter(|file| file_kinds::is_document(file))
}

fn milestones_with_documents(subject: &Subject<'_>) -> Vec<Target> {
    let Some((plan, _)) = subject.plan.filter(|_| subject.change.is_some()) else {
        return Vec::new();
    };
    let with = plan.milestones.iter().filter(|milestone| documents(milestone).next().is_some());
    Target::milestones(with, |id| {
        format!("Check that the documents that milestone {id} names were written")
    })
}

fn planned_documents(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(_), Scope::Milestone(id)) = (subject.change, scope) else {
        return changed_file::no_change(scope);
    };
    let milestones = subject.milestones(id);
    if milestones.is_empty() {
        return CheckResult::NotChecked(format!("the plan has no milestone {}", quote::named(id)));
    }
    let documents = milestones.into_iter().flat_map(documents);
    let missing = documents.filter(|document| !subject.touched().has_after(document));
    let told = missing.map(|document| {
        let document = shown(document);
        format!("milestone {id} names `{document}`, and the change does not touch it")
    });
    CheckResult::of(told.collect())
}

fn documented(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    changed_file::look(subject, scope, |written| {
        let missing = source::of_file(written).map(|source| find_undocumented(&source));
        let told = missing
            .into_iter()
            .flatten()
            .map(|(at, name)| format!("line {}: {} has no documentation", at + 1, quoted(&name)));
        CheckResult::of(told.collect())
    })
}

fn history(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    changed_file::look(subject, scope, |written| {
        let found = source::of_file(written).map(|source| comments::history(&source));
        let told = found.into_iter().flatten();
        CheckResult::of(
            told.map(|at| format!("the comment on line {} describes an earlier version", at + 1))
                .collect(),
        )
    })
}
