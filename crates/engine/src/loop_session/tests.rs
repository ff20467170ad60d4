//! Tests of the requirements on an implementation, and of its base commit.

use assay_base::clock::Clock;
use assay_checks::check_plan::Risk;
use assay_testkit::Repository;
use serde_json::json;

use super::*;

const SPEC: &str = "# Greeting\n\n## Acceptance Criteria\n\n- [ ] `greets` passes\n";

/// Returns a complete plan with a risk.
fn plan(risk: &str) -> String {
    let subtask = json!({"id": "1.1", "title": "Say hello", "status": "completed"});
    let plan = json!({
        "feature": "Greeting",
        "verification_strategy": {"risk_level": risk},
        "phases": [{"name": "one", "subtasks": [subtask]}],
    });
    plan.to_string()
}

pub(crate) struct LoopFixture {
    pub(crate) repository: Repository,
    pub(crate) environment: Environment,
}

impl LoopFixture {
    /// Returns a repository whose last commit has a spec of high risk.
    pub(crate) fn new() -> LoopFixture {
        let repository = Repository::new();
        let home = repository.state_home().display().to_string();
        let environment =
            Environment::new([("XDG_STATE_HOME".to_owned(), home)], &Clock::system(), Vec::new);
        let fixture = LoopFixture { repository, environment };
        fixture.write_spec("001-greeting", "high");
        fixture.repository.commit("a spec");
        fixture
    }

    fn write_spec(&self, name: &str, risk: &str) {
        self.repository.write(format!("specs/{name}/spec.md"), SPEC);
        self.repository.write(format!("specs/{name}/implementation_plan.json"), plan(risk));
    }

    pub(crate) fn place(&self, name: &str) -> SpecLocation {
        SpecLocation::of(&self.environment, self.repository.path(), name).unwrap()
    }

    /// Returns the risk of the highest requirements of the spec, and the risk that the spec states.
    fn risks(&self, name: &str) -> (Option<Risk>, Option<Risk>) {
        let place = self.place(name);
        let change = place.change(Some("HEAD")).unwrap();
        let highest = place.highest_requirements(&change, &LoopState::default()).unwrap();
        (highest.risk, place.requirements().risk)
    }
}

#[test]
fn the_required_risk_stays_if_the_change_lowers_the_risk() {
    let fixture = LoopFixture::new();
    fixture.write_spec("001-greeting", "trivial");
    assert_eq!(fixture.risks("001"), (Some(Risk::High), Some(Risk::Trivial)));
}

#[test]
fn the_stored_required_risk_applies_after_a_lower_risk_is_committed() {
    let fixture = LoopFixture::new();
    let place = fixture.place("001");
    let change = place.change(Some("HEAD")).unwrap();
    place.store_requirements(&place.requirements(), &change, false).unwrap();
    fixture.write_spec("001-greeting", "low");
    fixture.repository.commit("less is asked");
    assert_eq!(fixture.risks("001"), (Some(Risk::High), Some(Risk::Low)));
}

#[test]
fn a_renamed_spec_folder_keeps_its_required_risk() {
    let fixture = LoopFixture::new();
    for file in ["spec.md", "implementation_plan.json"] {
        fixture.repository.remove(format!("specs/001-greeting/{file}"));
    }
    fixture.write_spec("001-hello", "low");
    assert_eq!(fixture.risks("001-hello"), (Some(Risk::High), Some(Risk::Low)));
}

/// Records a loop of one rejected round on the current tree, whose first criterion a person decided.
pub(crate) fn record_rounds(place: &SpecLocation) {
    let tree = place.tree().unwrap();
    let mut journal = Journal::open(&place.folder(), &place.seal().unwrap()).unwrap();
    let line = |text: &str| json!({"text": text, "answer": "cannot_tell", "evidence": "no check names it"});
    let issue = |text: &str| {
        json!({"title": format!("Criterion cannot be judged: {text}"), "type": "acceptance_criteria",
               "severity": "high", "key": format!("criterion:{text}"), "remedy": "decision"})
    };
    let events = [
        json!({"kind": "epoch_begun", "why": "first"}),
        json!({"kind": "review_begun", "round": 1, "tree": tree}),
        json!({"kind": "checked", "outcome": {
            "name": "e2e: Say hello", "kind": "e2e", "command": "Say hello", "folder": "",
            "state": "failed", "why": "the button is missing", "duration_ms": 1500,
            "output_digest": "", "output_bytes": 0, "tail": "console of the page",
            "notes": ["screenshot: .assay/qa/001-greeting/e2e/round-1/001-start.png"]}}),
        json!({"kind": "reviewed", "issues": [issue("it is polite"), issue("it is short")],
               "tests_passed": {"unit": false, "integration": false, "e2e": false},
               "criteria": [line("it is polite"), line("it is short")], "needs_sign_off": false}),
        json!({"kind": "decided", "by": "Ann", "tree": tree, "issue": "criterion:it is polite",
               "title": "Criterion cannot be judged: it is polite", "because": "read it aloud"}),
        json!({"kind": "end_begun", "ending": {"ending": "awaits_decision"}, "papers": {}, "tree": tree}),
        json!({"kind": "ended"}),
    ];
    for event in events {
        journal.add("2026-05-01T08:00:00Z", serde_json::from_value(event).unwrap()).unwrap();
    }
}

/// Returns the state of a loop that began on top of a commit.
fn started_on(base: &str) -> LoopState {
    let mut loop_state = LoopState::default();
    loop_state.base = Some(base.to_owned());
    loop_state
}

#[test]
fn on_the_main_branch_the_base_of_the_first_loop_stays() {
    let fixture = LoopFixture::new();
    let base = fixture.repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    fixture.repository.write("greeting.txt", "hello\n");
    fixture.repository.commit("implemented");
    let head = fixture.repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let place = fixture.place("001");
    let started = started_on(&base);
    assert_eq!(place.base_after(&started, None).unwrap(), Some(base));
    // The base is found again if one is requested, or if the old one no longer exists.
    assert_eq!(place.base_after(&started, Some("HEAD")).unwrap(), Some(head));
    let with_unknown_base = started_on(&"0".repeat(40));
    assert_ne!(place.base_after(&with_unknown_base, None).unwrap(), Some("0".repeat(40)));
}

#[test]
fn a_spec_without_an_implementation_is_refused() {
    let fixture = LoopFixture::new();
    fixture.repository.write("specs/001-greeting/spec.md", format!("{SPEC}\nMore.\n"));
    let place = fixture.place("001");
    let refused = check_implemented(&place.change(Some("HEAD")).unwrap(), Some("HEAD"));
    assert!(refused.unwrap_err().to_string().starts_with("only the spec was changed"));
    fixture.repository.write("greeting.txt", "hello\n");
    check_implemented(&place.change(Some("HEAD")).unwrap(), Some("HEAD")).unwrap();
}

/// Records a loop of critical risk whose only round found no issue, so that a person must sign off
/// the current tree.
fn record_round_that_awaits_sign_off(fixture: &LoopFixture) -> SpecLocation {
    fixture.write_spec("001-greeting", "critical");
    fixture.repository.commit("a critical spec");
    let base = fixture.repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    fixture.repository.write("greeting.txt", "hello\n");
    let place = fixture.place("001");
    let tree = place.tree().unwrap();
    let mut journal = Journal::open(&place.folder(), &place.seal().unwrap()).unwrap();
    let events = [
        json!({"kind": "epoch_begun", "why": "first", "base": base}),
        json!({"kind": "review_begun", "round": 1, "tree": tree}),
        json!({"kind": "reviewed", "issues": [], "criteria": [], "needs_sign_off": true,
               "tests_passed": {"unit": true, "integration": true, "e2e": true}}),
        json!({"kind": "end_begun", "ending": {"ending": "awaits_sign_off"}, "papers": {}, "tree": tree}),
        json!({"kind": "ended"}),
    ];
    for event in events {
        journal.add("2026-05-01T08:00:00Z", serde_json::from_value(event).unwrap()).unwrap();
    }
    place
}

/// Records the sign-off of the whole tree, and returns the status of the loop or the refusal.
fn sign_off(place: &SpecLocation) -> Result<LoopStatus, String> {
    let word = SignOff { by: "Ann", about: &[], because: "", seen_tree: None };
    let recorded = record_sign_off(place, word, &|_| ());
    recorded.map(|loop_state| loop_state.state).map_err(|error| format!("{error:#}"))
}

#[test]
fn a_sign_off_does_not_approve_over_unread_feedback() {
    let fixture = LoopFixture::new();
    let place = record_round_that_awaits_sign_off(&fixture);
    let request = "specs/001-greeting/QA_FIX_REQUEST.md";
    fixture.repository.write(request, "- [ ] the greeting has a typo\n");
    let refusal = "`QA_FIX_REQUEST.md` has open items; run `assay qa` first";
    assert_eq!(sign_off(&place), Err(refusal.to_owned()));
    let (_, loop_state, _) = place.journal().unwrap();
    assert_eq!(loop_state.sign_offs, []);
    fixture.repository.write(request, "- [x] the greeting has a typo\n");
    assert_eq!(sign_off(&place), Ok(LoopStatus::Approved(place.tree().unwrap())));
}
