//! Plans, held against the checks of a phase.

use assay_gates::checks::{self, Check, Seen};
use assay_gates::item::Scope;
use assay_gates::phase::Phase;
use assay_gates::plan::{self, Plan};
use assay_gates::subject::Subject;

use crate::memory_tree::MemoryTree;

/// Gives what fails, a line for each: `MUST milestone:M1 criteria: why`.
pub(crate) fn failures(phase: Phase, name: &str, plan: &str, tree: &str) -> String {
    let plan = plan::read(name, plan.as_bytes()).unwrap();
    let tree = MemoryTree::of(tree);
    let subject = Subject::new(Some((&plan, name)), None, &tree);
    let mut out = String::new();
    for check in checks::of(phase) {
        for target in (check.targets)(&subject) {
            if let Seen::Fails(why) = (check.look)(&subject, &target.scope) {
                assert!(!why.contains('\n'), "one line: {why}");
                out += &line(check, &target.scope, &why);
            }
        }
    }
    out
}

fn line(check: &Check, scope: &Scope, why: &str) -> String {
    let (_, name) = check.key.split_once('/').unwrap();
    format!(
        "{} {scope} {name}: {why}\n",
        serde_json::to_value(check.severity).unwrap().as_str().unwrap()
    )
}

/// Gives what one check says of one scope, whatever the targets are.
pub(crate) fn seen(phase: Phase, key: &str, scope: &str, plan: Option<&Plan>) -> String {
    let tree = MemoryTree::of("");
    let subject = Subject::new(plan.map(|plan| (plan, "plan.md")), None, &tree);
    let check = checks::of(phase).into_iter().find(|check| check.key == key).unwrap();
    match (check.look)(&subject, &Scope::from(scope)) {
        Seen::Holds => "holds".to_owned(),
        Seen::Fails(why) => format!("fails: {why}"),
        Seen::Unseen(why) => format!("unseen: {why}"),
    }
}

/// Plans as people and agents write them, in which nothing is wrong, with the files around them.
pub(crate) const SOUND: [(&str, &str, &str); 5] = [
    (
        "plans/service.md",
        include_str!("plans/service.md"),
        "plans/design/limits.md src/lib.rs src/gateway/router.rs",
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
