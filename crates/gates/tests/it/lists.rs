//! What the checks of a phase say of a subject, as text.

use assay_change::{Change, Scope, Selection};
use assay_fakes::Repository;
use assay_gates::checks::{self, Seen};
use assay_gates::item::Severity;
use assay_gates::phase::Phase;
use assay_gates::plan::{Milestone, PlannedDiff};
use assay_gates::subject::Subject;

/// Shows what one check says of all that it looks at: a line for each.
pub(crate) fn said(subject: &Subject<'_>, key: &str) -> String {
    let (phase, _) = key.split_once('/').unwrap();
    let phase: Phase = phase.parse().unwrap();
    let check = checks::of(phase).into_iter().find(|check| check.key == key).unwrap();
    let severity = match check.severity {
        Severity::Must => "MUST",
        Severity::Should => "SHOULD",
        Severity::May => "MAY",
    };
    let lines = (check.targets)(subject).into_iter().map(|target| {
        let seen = match (check.look)(subject, &target.scope) {
            Seen::Holds => "holds".to_owned(),
            Seen::Fails(why) => format!("FAILS: {why}"),
            Seen::Unseen(why) => format!("unseen: {why}"),
        };
        format!("{severity} {} | {} | {seen}\n", target.scope, target.check)
    });
    lines.collect()
}

/// A milestone that names files and holds diffs, the first at line 11, the next at line 111.
pub(crate) fn milestone(id: &str, files: &[&str], diffs: &[&str]) -> Milestone {
    let lines = (0u32..).map(|nth| 11 + 100 * nth);
    let diffs = diffs.iter().zip(lines);
    Milestone {
        id: id.to_owned(),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        diffs: diffs.map(|(text, line)| PlannedDiff { text: (*text).to_owned(), line }).collect(),
        ..Milestone::default()
    }
}

/// A change of a repository, from some files to others.
pub(crate) fn change(before: &[(&str, &str)], after: &[(&str, &str)]) -> (Repository, Change) {
    let repository = Repository::new();
    for (path, text) in before {
        repository.write(path, text);
    }
    repository.commit("before");
    for (path, _) in before.iter().filter(|(path, _)| !after.iter().any(|(p, _)| p == path)) {
        repository.remove(path);
    }
    for (path, text) in after {
        repository.write(path, text);
    }
    repository.commit("after");
    let scope = Scope::Commits("HEAD".to_owned());
    let change = assay_change::open(repository.path(), &scope, &Selection::default()).unwrap();
    (repository, change)
}
