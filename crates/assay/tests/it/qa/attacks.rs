//! Ways in which a wrong implementation could be approved, each as text in and text out: no
//! criterion is skipped, and no finding of the review is hidden.

use super::{PLAN, QaFixture, RUNNER};

const VERIFIED: &str = "\n## Verification\n\n**Unit Tests:**\n- `sh test.sh` - All pass\n";

/// Runs a spec whose named tests all pass, with a file of its implementation, and without a fixer.
fn run(spec: &str, plan: &str, file: (&str, &str)) -> (QaFixture, crate::AssayRun) {
    let fixture = QaFixture::with(spec, plan, "true\n", "");
    fixture.repository.write("test.sh", RUNNER);
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    let (path, text) = file;
    fixture.repository.write(path, text);
    let ran = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "3")]);
    (fixture, ran)
}

/// Checks that criteria are not approved, and that the issue is named.
fn refused(criteria: &str, wanted: &str) {
    let (fixture, ran) = run(&format!("# Greeting\n\n{criteria}\n{VERIFIED}"), PLAN, NOTHING);
    assert_eq!(ran.code, 4, "{criteria}\n{}{}", ran.stdout, ran.stderr);
    let titles: Vec<String> = fixture.issues().into_iter().map(|(_, title)| title).collect();
    assert!(titles.iter().any(|title| title.contains(wanted)), "{criteria}\n{titles:#?}");
}

const NOTHING: (&str, &str) = ("about.txt", "A greeting.\n");

const HIDDEN: &str = "Every password is hashed";

#[test]
fn no_text_among_the_criteria_is_skipped() {
    for criteria in [
        // Check boxes and items, mixed and nested.
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n- Every password is hashed",
        "## Acceptance Criteria\n\n- Every password is hashed\n- [ ] `greets` passes",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n  - Every password is hashed",
        "## Acceptance Criteria\n\n- [x] `greets` passes\n    1. Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n1. Every password is hashed",
        "## Acceptance Criteria\n\n* [ ] `greets` passes\n\n• Every password is hashed",
        // Sentences before and after.
        "## Acceptance Criteria\n\nEvery password is hashed.\n\n- [ ] `greets` passes",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\nEvery password is hashed.",
        "## Acceptance Criteria\n\n- [ ] `greets` passes. Every password is hashed.",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n  Every password is hashed.",
        "## Acceptance Criteria\n\n`greets` passes. Every password is hashed.",
        "## Acceptance Criteria\n\n**Every password is hashed**\n\n- [ ] `greets` passes",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n> Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n<!-- x --> Every password is hashed",
        // Tables and labels.
        "## Acceptance Criteria\n\n| # | What |\n|---|---|\n| 1 | `greets` passes |\n| 2 | Every password is hashed |",
        "## Acceptance Criteria\n\nAC-1: `greets` passes\nAC-2: Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n### AC-2: Every password is hashed\n\n`leaves` passes.",
        // Headings of every form.
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n## Acceptance Criteria (security)\n\n- [ ] Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n### ACCEPTANCE CRITERIA for admins\n\n- Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n**Acceptance criteria, security:**\n- Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n## Notes\n\n- a note\n**Acceptance Criteria**\n- [ ] Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\nMore acceptance criteria\n------------------------\n\n- [ ] Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n## Stories\n\n- Login\n  - Acceptance criteria:\n    - Every password is hashed",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n## Stories\n\nAcceptance criteria: Every password is hashed.",
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n#### Security\n\n- [ ] Every password is hashed",
        "## Acceptance Criteria\n\n```gherkin\nScenario: login\n  Then Every password is hashed\n```\n\n- [ ] `greets` passes",
    ] {
        refused(criteria, HIDDEN);
    }
}

#[test]
fn text_that_cannot_be_a_criterion_is_reported_as_not_understood() {
    let criteria = "## Acceptance Criteria\n\n- [ ] `greets` passes\n\n```\n- [ ] Every password is hashed\n```";
    refused(criteria, "Not understood: ");
    refused(criteria, HIDDEN);
}

#[test]
fn no_part_of_a_plan_is_skipped() {
    let spec = format!("## Acceptance Criteria\n\n- [ ] `greets` passes\n{VERIFIED}");
    let done = r#""phases": [{"subtasks": [{"id": "1", "status": "completed"}]}]"#;
    for (more, wanted) in [
        (r#""acceptanceCriteria": ["Every password is hashed"]"#, HIDDEN),
        (
            r#""verification_strategy": {"acceptance_criteria": {"AC-1": "Every password is hashed"}}"#,
            HIDDEN,
        ),
        (r#""verification_strategy": {"acceptance_criteria": "Every password is hashed"}"#, HIDDEN),
        (r#""spec": {"Acceptance Criteria": [["Every password is hashed"]]}"#, HIDDEN),
        (
            r#""verification_strategy": {"acceptance_criteria": [7]}"#,
            "Not understood: `acceptance_criteria`",
        ),
        (r#""verification_strategy": ["risk", "high"]"#, "Not understood: `verification_strategy`"),
        (
            r#""verification_strategy": {"unit_tests": "pytest"}"#,
            "Not understood: `verification_strategy.unit_tests`",
        ),
    ] {
        let (fixture, ran) = run(&spec, &format!("{{{done}, {more}}}"), NOTHING);
        assert_eq!(ran.code, 4, "{more}\n{}{}", ran.stdout, ran.stderr);
        let titles: Vec<String> = fixture.issues().into_iter().map(|(_, title)| title).collect();
        assert!(titles.iter().any(|title| title.contains(wanted)), "{more}\n{titles:#?}");
    }
    let one = r#"{"subtasks": [{"id": "1", "status": "completed"}]}"#;
    for (plan, wanted) in [
        (format!(r#"{{"phases": [{one}, {{"name": "Phase 2"}}]}}"#), "`Phase 2` is not understood"),
        (format!(r#"{{"phases": [{one}, {{"id": "P2", "tasks": [{{"id": "2", "status": "pending"}}]}}]}}"#), "`2` is pending"),
        (format!(r#"{{"phases": {{"a": {one}, "b": {{"subtasks": [{{"id": "3"}}]}}}}}}"#), "`3` is pending"),
        (format!(r#"{{"phases": [{one}], "milestones": [{{"title": "Later"}}]}}"#), "is not understood"),
        (r#"{"phases": [{"subtasks": [{"id": "1", "status": "completed", "subtasks": [{"id": "1.1", "status": "todo"}]}]}]}"#.to_owned(), "`1.1` is todo"),
    ] {
        let (_, ran) = run(&spec, &plan, NOTHING);
        assert_eq!(ran.code, 2, "{plan}\n{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(wanted), "{plan}\n{}", ran.stderr);
    }
}

#[test]
fn debugging_output_and_swallowed_errors_are_issues() {
    let spec = format!("## Acceptance Criteria\n\n- [ ] `greets` passes\n{VERIFIED}");
    for (path, text, kind) in [
        (
            "src/app.js",
            "function pay(x) {\n  console.log('debug');\n  return x;\n}\n",
            "code_quality",
        ),
        (
            "src/app.ts",
            "export function pay(x: number) {\n  console.log('debug')\n  return x\n}\n",
            "code_quality",
        ),
        ("src/app.py", "def pay(total):\n    print(\"DEBUG\")\n    return total\n", "code_quality"),
        ("src/app.py", "def pay():\n    print(\"DEBUG\")\n", "code_quality"),
        (
            "src/app.rs",
            "pub fn pay(x: u32) -> u32 {\n    println!(\"DEBUG\");\n    x\n}\n",
            "code_quality",
        ),
        ("src/app.rs", "pub fn pay(x: u32) -> u32 {\n    dbg!(x);\n    x\n}\n", "code_quality"),
        (
            "src/app.go",
            "package app\n\nimport \"fmt\"\n\nfunc Pay(x int) int {\n\tfmt.Println(\"debug\")\n\treturn x\n}\n",
            "code_quality",
        ),
        (
            "src/app.py",
            "def pay(total):\n    try:\n        charge(total)\n    except:\n        pass\n",
            "error_handling",
        ),
    ] {
        // No fixer runs: safe fixes would remove some of the text.
        let (fixture, ran) = run(&spec, PLAN, (path, text));
        let rounds = fixture.events_of("reviewed");
        let first = super::issues(&rounds[0]["issues"]);
        let kinds: Vec<&str> = first.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, [kind], "{text}\n{first:?}\n{}", ran.stdout);
        assert!(!ran.stdout.contains("round 1\n  no issues"), "{}", ran.stdout);
    }
}

#[test]
fn non_blocking_findings_are_reported_to_the_user_and_the_fixer() {
    let fixture = QaFixture::bare();
    let path = fixture.aside("reviewer.sh");
    let finding = r#"{"message": "The name says little", "severity": "INFO", "location": {"path": "greeting.txt", "range": {"start": {"line": 1}}}}"#;
    std::fs::write(&path, format!("cat <<'JSON'\n{finding}\nJSON\n")).unwrap();
    let reviewer = format!(
        "review:\n  commands:\n    - {{ name: critic, run: [sh, '{}'], form: rdjsonl, required: true }}\n",
        path.display()
    );
    let fixer = format!("cat > request.txt; {}\n", super::FIX);
    fixture.implemented(super::SPEC, PLAN, &fixer, &reviewer);
    let ran = fixture.ends(0, &[]);
    assert!(ran.stdout.contains("no blocking issues, 1 finding,"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("no issues"), "{}", ran.stdout);
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("No blocking issue."), "{report}");
    assert!(report.contains("## Also Found\n\n### 1. The name says little"), "{report}");
    let request = std::fs::read_to_string(fixture.repository.file("request.txt")).unwrap();
    assert!(request.contains("## Also Found\n\n### 1. The name says little"), "{request}");
    assert!(request.contains("- Severity: "), "{request}");
}

#[test]
fn fulfilled_criteria_are_approved_in_every_form() {
    for criteria in [
        "## Acceptance Criteria\n\n- [ ] `greets` passes\n- [ ] `leaves` passes",
        "## Acceptance Criteria (all)\n\n- `greets` passes\n  - `leaves` passes",
        "## Acceptance criteria for guests\n\nThe following hold:\n\n1. `greets` passes\n2. `leaves` passes",
        "Acceptance Criteria\n===================\n\n| # | Criterion | Test |\n|---|---|---|\n| 1 | greets guests | `greets` |\n| 2 | leaves | `leaves` |",
        "**Acceptance Criteria:**\n- [x] `greets` passes\n- [ ] `leaves` passes",
        "## Acceptance Criteria\n\n### Manners\n\nThe test `greets` passes. The test `leaves` passes.",
    ] {
        let (fixture, ran) = run(&format!("# Greeting\n\n{criteria}\n{VERIFIED}"), PLAN, NOTHING);
        assert_eq!(ran.code, 0, "{criteria}\n{}{}", ran.stdout, ran.stderr);
        fixture.is_approved();
    }
}
