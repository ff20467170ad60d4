//! A person decides by name on issues that no check and no model can decide: each decision is about
//! one issue of one tree, has a reason, and is refused if it has no effect.

use super::{PLAN, QaFixture};

/// The five criteria of a login, in prose, with tests that all pass.
const PROSE: &str = "\
# Login

## Acceptance Criteria

- [ ] User can register with email/password
- [ ] Password must be 8+ characters with special char
- [ ] Account created after email verification
- [ ] Login with valid credentials works
- [ ] Login with invalid credentials shows error

## Verification

**Unit Tests:**
- `sh test.sh` - All pass
";

const CRITERIA: [&str; 5] = [
    "User can register with email/password",
    "Password must be 8+ characters with special char",
    "Account created after email verification",
    "Login with valid credentials works",
    "Login with invalid credentials shows error",
];

const WHY: &str = "tried it by hand on staging";

/// Runs a spec whose checks pass, until a person has to decide.
fn awaiting(spec: &str) -> QaFixture {
    let fixture = QaFixture::with(spec, PLAN, "true\n", "");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("--because \"REASON\""), "{}", ran.stdout);
    fixture.is_handed_over("awaits_decision", "a person must decide");
    fixture
}

fn decide<'a>(what: &'a str, why: &'a str) -> [&'a str; 6] {
    ["--sign-off", "Ada", "--for", what, "--because", why]
}

#[test]
fn prose_criteria_are_approved_once_a_person_decided_each_of_them() {
    let fixture = awaiting(PROSE);
    assert_eq!(fixture.events_of("review_begun").len(), 1, "no round is spent on asking");
    let (last, first) = CRITERIA.split_last().unwrap();
    for criterion in first {
        fixture.ends(4, &decide(criterion, WHY));
    }
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("- Verdict: REJECTED\n"), "{report}");
    assert!(report.contains("| met (decided by a person) | decided by Ada: tried it"), "{report}");
    let ran = fixture.ends(0, &decide(last, WHY));
    assert!(ran.stdout.contains("APPROVED"), "{}", ran.stdout);
    fixture.is_approved();
    assert_eq!(fixture.events_of("review_begun").len(), 1, "nothing had to be run again");
    let report = fixture.artifact("qa_report.md");
    for criterion in CRITERIA {
        let row = format!("| Ada | Cannot tell: {criterion} | {WHY} | yes |");
        assert!(report.contains(&row), "{report}");
    }
    let event = &fixture.events_of("decided")[0];
    assert_eq!((event["by"].as_str(), event["because"].as_str()), (Some("Ada"), Some(WHY)));
    assert_eq!(event["tree"], fixture.events_of("review_begun")[0]["tree"]);
}

#[test]
fn several_criteria_are_decided_at_once_by_number_or_by_the_beginning_of_their_text() {
    let fixture = awaiting(PROSE);
    let names = ["1", "criterion 2", "account created", "Cannot tell: Login with valid", "#5"];
    let mut args = vec!["--sign-off", "Ada", "--because", WHY];
    names.iter().for_each(|name| args.extend(["--for", name]));
    fixture.ends(0, &args);
    fixture.is_approved();
}

#[test]
fn a_decision_is_void_once_the_tree_changed() {
    let fixture = awaiting(PROSE);
    let mut args = vec!["--sign-off", "Ada", "--because", WHY];
    CRITERIA.iter().for_each(|name| args.extend(["--for", name]));
    fixture.ends(0, &args);
    fixture.repository.write("greeting.txt", "hello, goodbye, again\n");
    let ran = fixture.ends(4, &[]);
    assert!(!ran.stdout.contains("APPROVED"), "{}", ran.stdout);
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("| no: the tree changed since |"), "{report}");
    let status = fixture.ends(0, &["--status"]);
    assert!(status.stdout.contains("(void: the tree changed since)"), "{}", status.stdout);
}

#[test]
fn an_invalid_decision_is_refused_with_the_reason() {
    let spec = PROSE.replace(CRITERIA[4], "`greets` passes");
    let fixture = awaiting(&spec);
    let first = CRITERIA[0];
    for (args, because) in [
        (
            &decide("The moon is made of cheese", WHY)[..],
            "unknown issue or criterion `The moon is made",
        ),
        (&decide("The moon is made of cheese", WHY), "a person can decide: `Cannot tell: User"),
        (&decide("log", WHY), "unknown issue or criterion `log`"),
        (&decide("cannot", WHY), "ambiguous name `cannot`"),
        (&decide("`greets` passes", WHY), "already met (`greets` passed in"),
        (&decide("criterion 5", WHY), "already met (`greets` passed in"),
        (&decide(first, ""), "invalid reason ``"),
        (&decide(first, "ok"), "invalid reason `ok`"),
        (&decide(first, "LGTM LGTM LGTM"), "invalid reason `"),
        (&decide(first, "."), "invalid reason `.`"),
        (&decide(first, first), "invalid reason `"),
        (&["--sign-off", "Ada", "--for", first], "--because"),
        (&["--sign-off", "Ada", "--because", WHY], "--for"),
        (&["--for", first, "--because", WHY], "--sign-off"),
        (&["--sign-off", " ", "--for", first, "--because", WHY], "missing name"),
        (&["--sign-off", "Ada"], "has no effect here: the risk is not `critical`"),
    ] {
        let ran = fixture.ends(2, args);
        assert!(ran.stderr.contains(because), "{args:?}: {}", ran.stderr);
    }
    assert!(fixture.events_of("decided").is_empty() && fixture.events_of("signed_off").is_empty());
    fixture.ends(4, &decide(first, WHY));
    let again = fixture.ends(2, &decide(first, WHY));
    assert!(again.stderr.contains("already decided for this tree by Ada"), "{}", again.stderr);
}

#[test]
fn a_tree_that_no_round_reviewed_has_nothing_to_decide() {
    let fixture = QaFixture::with(PROSE, PLAN, "true\n", "");
    let ran = fixture.ends(2, &decide(CRITERIA[0], WHY));
    assert!(ran.stderr.contains("no round has reviewed the current tree"), "{}", ran.stderr);
    let fixture = awaiting(PROSE);
    fixture.repository.write("greeting.txt", "hello, goodbye, again\n");
    let ran = fixture.ends(2, &decide(CRITERIA[0], WHY));
    assert!(ran.stderr.contains("no round has reviewed the current tree"), "{}", ran.stderr);
}

#[test]
fn a_person_does_not_overrule_evidence() {
    let spec = PROSE.replace(CRITERIA[4], "`leaves` passes");
    let fixture = QaFixture::with(&spec, PLAN, "true\n", "");
    fixture.ends(4, &[]);
    for what in ["Test fails: leaves", "leaves", "`leaves` passes", "Not met: `leaves` passes"] {
        let ran = fixture.ends(2, &decide(what, WHY));
        assert!(ran.stderr.contains("only evidence resolves the issue"), "{what}: {}", ran.stderr);
    }
}
