//! Tests of quality gates on the dashboard, with a real plan.

use assay_gates::gate::IfExists;
use assay_gates::phase::Phase;
use expect_test::expect;

use super::*;
use crate::dashboard::actions::GateAcceptInput;
use crate::dashboard::gate_views::GateDetailView;
use crate::gate_session::{GateOptions, ModelChoice, OpenGate};

const PLAN: &str = "# Plan\n\n## Milestone M1: Greet\n\nSay hello.\n";

impl Fixture {
    /// Makes and verifies the list of a plan.
    fn verify_plan(&self) {
        self.repository.write("plan.md", PLAN);
        let options = GateOptions {
            environment: &self.environment,
            folder: self.repository.path(),
            phase: Phase::PlanStructure,
            state_dir: None,
            plan: Some(Path::new("plan.md")),
            base: None,
            models: ModelChoice::No,
        };
        let opened =
            OpenGate::for_new_list(options, assay_gates::gate_store::IfDeleted::Refuse).unwrap();
        let inputs = opened.made_from.clone();
        opened.with_gate(|gate| gate.decompose(inputs, Vec::new(), IfExists::Keep)).unwrap();
        opened.with_gate(|gate| gate.verify(opened.verifiers())).unwrap();
    }

    fn accept(&self, item: &str, reason: &str, by: Option<&str>) -> Result<(), String> {
        let by = by.map(str::to_owned);
        let input = GateAcceptInput { item: item.into(), reason: reason.into(), by };
        self.act(&DashboardAction::AcceptGateItem("plan-structure".into(), input))
    }
}

fn render(detail: &GateDetailView) -> String {
    let mut out = format!("{} {}\n", detail.gate.phase, detail.gate.summary);
    for item in &detail.requirements {
        let by = item.accepted_by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
        out += &format!("{} {} {} {}{by}\n", item.id, item.severity, item.status, item.effect);
    }
    out
}

#[test]
fn a_gate_has_its_items_and_a_person_accepts_a_failed_one() {
    let fixture = fixture();
    assert_eq!(fixture.dashboard.gates().unwrap().gates, []);
    assert!(matches!(fixture.dashboard.gate("plan-structure"), Err(DashboardError::Unknown(_))));
    fixture.verify_plan();
    let gate = || fixture.dashboard.gate("plan-structure").unwrap();
    expect![[r#"
        plan-structure not passed
        plan-structure-001 MUST PASS holds
        plan-structure-002 MUST FAIL blocks
        plan-structure-003 MUST PASS holds
        plan-structure-004 MUST PASS holds
        plan-structure-005 MUST PASS holds
        plan-structure-006 MUST PASS holds
        plan-structure-007 MUST PASS holds
        plan-structure-008 SHOULD FAIL blocks
        plan-structure-009 SHOULD PASS holds
        plan-structure-010 SHOULD FAIL blocks
        plan-structure-011 SHOULD PASS holds
        plan-structure-012 SHOULD PASS holds
        plan-structure-013 SHOULD PASS holds
        plan-structure-014 SHOULD PASS holds
        plan-structure-015 MAY PASS holds
        plan-structure-016 MAY PASS holds
        plan-structure-017 MAY PASS holds
    "#]]
    .assert_eq(&render(&gate()));
    let failed = gate().requirements.into_iter().find(|item| item.can_be_accepted()).unwrap();
    let refused = |result: Result<(), String>| result.unwrap_err();
    assert!(refused(fixture.accept("../x", "a spike", None)).starts_with("invalid `item`"));
    assert!(refused(fixture.accept("other-001", "a spike", None)).starts_with("unknown item"));
    assert!(refused(fixture.accept(&failed.id, "ok", None)).starts_with("reason required"));
    let reason = "the milestone is a spike that is thrown away";
    fixture.accept(&failed.id, reason, Some("Bea")).unwrap();
    let accepted = gate().requirements.into_iter().find(|item| item.id == failed.id).unwrap();
    assert_eq!(accepted.accepted_by.as_deref(), Some("Bea"));
    assert_eq!(accepted.accepted_because.as_deref(), Some(reason));
    assert_eq!(gate().decisions[0].by, "Bea");
    let entry = fixture.dashboard.audit(1).unwrap().entries.remove(0);
    assert_eq!((entry.action.as_str(), entry.target.as_str()), ("gate.accept", "plan-structure"));
    assert_eq!((entry.about.as_deref(), entry.signer.as_deref()), (Some(&*failed.id), Some("Bea")));
}
