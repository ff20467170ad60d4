//! The end of a delegated review.

use std::fs;

use assay_findings::identity::Dismissal;
use assay_review::delegation::receipt::ReportState;
use assay_review::persona::VALIDATOR;
use assay_review::runs;
use expect_test::expect;
use serde_json::Value;

use super::provider::ScriptedReports;
use super::*;

#[test]
fn a_tree_that_changed_meanwhile_leaves_the_review_incomplete() {
    let case = Case::new();
    case.start();
    case.report("correctness", 1, NOTHING).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    case.repository.write("shop.py", format!("{AFTER}\n\ndef more():\n    return 1\n"));
    let synthesis = case.close();
    assert!(synthesis.verdict.incomplete);
    assert!(
        synthesis_text(&synthesis).contains("the files changed while the review was open"),
        "{}",
        synthesis_text(&synthesis)
    );
}

#[test]
fn a_review_changed_by_another_program_is_refused() {
    let case = Case::new();
    case.start();
    case.report("correctness", 1, NOTHING).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let file = case.folder().join(ID).join("recording.json");
    let whole = fs::read_to_string(&file).unwrap();
    let mut recording: Value = serde_json::from_str(&whole).unwrap();
    recording["answers"][0]["report"]["votes"] = json!([]);
    recording["models"]["named"] = json!(["docs-truth"]);
    recording["terms"]["fail_on"] = json!(null);
    fs::write(&file, recording.to_string()).unwrap();
    let error = case.try_open().err().unwrap().to_string();
    let refused = format!("`.assay/delegated/{ID}` is not used: another program changed the state");
    assert!(error.starts_with(&refused), "{error}");
    fs::write(&file, whole).unwrap();
    expect![[r#"
        CRITICAL shop.py:5 SQL query built from a request ["rules"]
        not ready
          1 finding must be fixed: SQL query built from a request (shop.py:5)
    "#]]
    .assert_eq(&synthesis_text(&case.close()));
}

#[test]
fn the_verdict_uses_the_dismissals_at_the_end_of_the_review() {
    let case = Case::new();
    case.start();
    case.report("correctness", 1, NOTHING).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let now = case.change();
    let found = case.through_a_provider(&ScriptedReports::new()).findings.remove(0);
    let dismissal = Dismissal {
        fingerprint: found.fingerprint,
        file: found.file,
        by: "me".to_owned(),
        reason: "names are checked before".to_owned(),
        until: None,
    };
    let terms = RecordedPolicy { dismissals: vec![dismissal], ..terms() };
    let present = CurrentEvidence { terms, ..case.present(&now) };
    let CloseResult::Done(closed) = case.open().close(Some(present)).unwrap() else { panic!() };
    assert_eq!((closed.synthesis.findings.len(), closed.synthesis.dismissed.len()), (0, 1));
}

#[test]
fn a_refutation_holds_back_only_findings_of_personas_alone() {
    let case = Case { second_looks: true, ..Case::new() };
    case.start();
    case.report("correctness", 1, &finding(9)).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let now = case.change();
    let CloseResult::SecondLooks(briefs) = case.open().close(Some(case.present(&now))).unwrap()
    else {
        panic!()
    };
    assert_eq!(briefs.len(), 1);
    assert_eq!(case.open().briefs(), briefs);
    refused(
        case.report("correctness", 1, NOTHING),
        expect!["`correctness` has no open task; open tasks: validator"],
    );
    let refute = |finding: usize, quote: &str| json!({ "finding": finding, "answer": "refute", "why": "no", "quote": quote, "file": "shop.py" });
    let looks = json!({ "looks": [
        refute(1, "    return db.execute(f\"SELECT * FROM users WHERE name = {request.GET['name']}\")"),
        refute(2, "    return sum(prices) / len(prices)"),
    ] });
    let taken = case.report(VALIDATOR, 1, &looks.to_string()).unwrap();
    assert_eq!(taken.state, ReportState::Accepted);
    let again = case.report(VALIDATOR, 1, &looks.to_string()).unwrap_err();
    assert!(matches!(again, DelegationError::Repeated { .. }), "{again}");
    let synthesis = case.close();
    let open: Vec<&str> = synthesis.findings.iter().map(|f| f.title.as_str()).collect();
    assert_eq!(open, ["SQL query built from a request"]);
    assert_eq!(synthesis.held_back.len(), 1);
}

#[test]
fn missing_second_looks_change_no_finding() {
    let case = Case { second_looks: true, ..Case::new() };
    case.start();
    case.report("correctness", 1, &finding(9)).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let now = case.change();
    assert!(matches!(
        case.open().close(Some(case.present(&now))).unwrap(),
        CloseResult::SecondLooks(_)
    ));
    assert_eq!(case.close().findings.len(), 2);
}

#[test]
fn a_run_stored_before_a_crash_is_recognised_as_the_run_of_the_review() {
    let case = Case::new();
    case.start();
    case.report("correctness", 1, NOTHING).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let now = case.change();
    let close = || match case.open().close(Some(case.present(&now))).unwrap() {
        CloseResult::Done(closed) => closed,
        CloseResult::SecondLooks(_) => panic!("second looks are off"),
    };
    let first = close();
    first.record(Some(&now), "0").save(&case.state(), ID).unwrap();
    // The process ends here, before the review is recorded as stored.
    drop(first);
    let second = close();
    assert_eq!(second.id().to_string(), ID);
    assert!(second.is_stored_in(&runs::find(&case.state(), Some(ID)).unwrap()));
    assert!(!second.is_stored_in(case.repository.path()));
}
