//! Formats the results of checks as text, for tests.

use assay_change::{Change, Scope as ChangeScope, Selection};
use assay_gates::checks::{self, Check};
use assay_gates::item::Scope;
use assay_gates::phase::Phase;
use assay_gates::plan::{self, Milestone, Plan, PlannedDiff};
use assay_gates::result::CheckResult;
use assay_gates::subject::Subject;
use assay_testkit::Repository;

use crate::files::Files;

/// Returns the results of one check on all its targets: a line for each.
pub(crate) fn check_results(subject: &Subject<'_>, key: &str) -> String {
    let check = checks::named(key).unwrap();
    let lines = (check.targets)(subject).into_iter().map(|target| {
        let seen = shown((check.run)(subject, &target.scope));
        format!("{} {} | {} | {seen}\n", severity(check), target.scope, target.check)
    });
    lines.collect()
}

fn severity(check: &Check) -> String {
    serde_json::to_value(check.severity).unwrap().as_str().unwrap().to_owned()
}

fn shown(seen: CheckResult) -> String {
    match seen {
        CheckResult::Pass => "holds".to_owned(),
        CheckResult::Fail(why) => format!("FAILS: {why}"),
        CheckResult::NotChecked(why) => format!("unseen: {why}"),
    }
}

/// Returns the failures, a line for each: `MUST milestone:M1 criteria: why`.
pub(crate) fn failures(phase: Phase, name: &str, plan: &str, tree: &str) -> String {
    let plan = plan::read(name, plan.as_bytes()).unwrap();
    let tree = Files::named(tree);
    let subject = Subject::new(Some((&plan, name)), None, &tree);
    let mut out = String::new();
    for check in checks::of(phase) {
        for target in (check.targets)(&subject) {
            if let CheckResult::Fail(why) = (check.run)(&subject, &target.scope) {
                assert!(!why.contains('\n'), "one line: {why}");
                let (_, name) = check.key.split_once('/').unwrap();
                out += &format!("{} {} {name}: {why}\n", severity(check), target.scope);
            }
        }
    }
    out
}

/// Returns the result of one check on one scope, even if it is no target.
pub(crate) fn seen(key: &str, scope: &str, plan: Option<&Plan>) -> String {
    let tree = Files::default();
    let subject = Subject::new(plan.map(|plan| (plan, "plan.md")), None, &tree);
    shown((checks::named(key).unwrap().run)(&subject, &Scope::from(scope)))
}

/// Returns a milestone that names files and has diffs, the first at line 11, the next at line 111.
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

/// Returns a change of a repository, from some files to others.
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
    let scope = ChangeScope::Commits("HEAD".to_owned());
    let change = assay_change::open(repository.path(), &scope, &Selection::default()).unwrap();
    (repository, change)
}

/// Sound plans as people and agents write them, with the files around them.
pub(crate) const SOUND: [(&str, &str, &str); 5] = [
    (
        "plans/service.md",
        include_str!("plans/service.md"),
        "plans/design/limits.md#tokens src/lib.rs src/gateway/router.rs",
    ),
    ("todo.md", include_str!("plans/todo_app.md"), "app/models/todo.py README.md"),
    ("phases.md", include_str!("plans/phases.md"), "Makefile ci/build.sh docs/build.md"),
    (
        "plans/agent.md",
        include_str!("plans/agent.md"),
        "src/report.ts README.md CHANGELOG.md package.json tests/report.test.ts",
    ),
    ("plan.json", include_str!("plans/sound.json"), "go.mod src/server.go"),
];
