use std::fmt::Write;

use expect_test::{Expect, expect};
use rusqlite::{Connection, named_params};

use super::super::record::{ModelCost, ReportCost, RunCost};
use super::super::schema;
use super::super::tests::{
    LedgerFixture, TODAY, also_on_postgres, fingerprint, key, moment, observation, play, run,
    sandbox,
};
use super::super::{FindingOutcome, Ledger};
use super::*;

also_on_postgres! {
    only_a_finding_whose_code_changed_is_accepted,
    a_finding_that_came_back_is_resolved_at_its_last_absence,
    a_dismissed_finding_is_rejected_even_if_its_code_changes_later,
    a_dismissal_after_the_fix_rejects_nothing,
    the_facts_begin_at_the_requested_time,
    costs_are_summed_by_reviewer_and_by_model,
}

/// Returns the facts of each finding as `name state reception`, with the minutes of the first run
/// and of the resolution.
fn describe(ledger: &Ledger, from: Option<Moment>) -> String {
    let minute = |at: Moment| (at.0.as_second() - moment(0).0.as_second()) / 60;
    let mut out = String::new();
    let facts = ledger.facts(from, TODAY).unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        let matches = |finding: &&FindingFacts| {
            ledger.history(finding.key, TODAY).unwrap().entry.fingerprint == fingerprint(name)
        };
        let Some(finding) = facts.findings.iter().find(matches) else { continue };
        let FindingFacts { state, reception, first_seen, resolved, .. } = finding;
        let (first, resolved) = (minute(*first_seen), resolved.map(minute));
        writeln!(out, "{name} {} {reception:?} {first} {resolved:?}", state.as_str()).unwrap();
    }
    out
}

fn check(story: &str, expected: Expect) {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, story);
    expected.assert_eq(&describe(&ledger, None));
}

#[test]
fn only_a_finding_whose_code_changed_is_accepted() {
    check(
        "1: saw a@x.rs, saw b@x.rs, saw c@x.rs
         3: fixed a, lost b",
        expect![[r#"
            a gone Accepted 1 Some(3)
            b gone Undecided 1 Some(3)
            c open Undecided 1 None
        "#]],
    );
}

#[test]
fn a_finding_that_came_back_is_resolved_at_its_last_absence() {
    check(
        "1: saw a@x.rs, saw b@x.rs
         2: fixed a, fixed b
         3: saw a@x.rs, saw b@x.rs
         5: fixed a
         7: fixed a",
        expect![[r#"
            a gone Accepted 1 Some(5)
            b open Undecided 1 None
        "#]],
    );
}

#[test]
fn a_dismissed_finding_is_rejected_even_if_its_code_changes_later() {
    check(
        "1: saw a@x.rs, saw b@x.rs, saw c@x.rs, left d@x.rs, saw e@x.rs
         dismiss a
         dismiss b
         reopen b
         dismiss c until 2026-05-01
         700: fixed a, fixed b, fixed c, fixed d
         dismiss e",
        expect![[r#"
            a gone Rejected 1 Some(700)
            b gone Accepted 1 Some(700)
            c gone Accepted 1 Some(700)
            d gone Rejected 1 Some(700)
            e dismissed Rejected 1 None
        "#]],
    );
}

#[test]
fn a_dismissal_after_the_fix_rejects_nothing() {
    check(
        "1: saw a@x.rs
         2: fixed a
         dismiss a",
        expect![[r#"
            a gone Accepted 1 Some(2)
        "#]],
    );
}

#[test]
fn the_facts_begin_at_the_requested_time() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, "1: saw a@x.rs\n4: saw a@x.rs, saw b@x.rs\n5: fixed a");
    assert_eq!(describe(&ledger, Some(moment(2))), "b open Undecided 4 None\n");
    let facts = ledger.facts(Some(moment(2)), TODAY).unwrap();
    assert_eq!(facts.runs.iter().map(|run| run.at).collect::<Vec<_>>(), [moment(4), moment(5)]);
}

fn cost(calls: u64, usd: Option<f64>) -> RunCost {
    RunCost { calls, kept_answers: 1, tokens: 100 * calls, usd, at_most: usd.is_none() }
}

#[test]
fn costs_are_summed_by_reviewer_and_by_model() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    for (number, usd) in [(2, None), (1, Some(0.1)), (3, Some(0.2))] {
        let mut run = run(number);
        let (reviewer, model) = ("general".to_owned(), "a/b".to_owned());
        run.reports = vec![ReportCost { reviewer, model: Some(model.clone()), cost: cost(2, usd) }];
        run.models = vec![ModelCost { model, cost: cost(3, usd) }];
        run.cost = cost(3, usd);
        let mut seen = observation("a@x.rs", FindingOutcome::Raised, &run);
        seen.votes[0].reviewer = "general".to_owned();
        ledger.record(&run, &[seen], &[]).unwrap();
    }
    let facts = ledger.facts(None, TODAY).unwrap();
    let expected = CostSum {
        runs: 3,
        calls: 6,
        kept_answers: 3,
        tokens: 600,
        micro_usd: 300_000,
        unpriced_runs: 1,
        at_most: true,
    };
    assert_eq!(facts.reviewer_costs["general"], expected);
    assert_eq!(facts.model_costs["a/b"], CostSum { calls: 9, tokens: 900, ..expected });
    let a = key(&ledger, "a");
    assert_eq!((&facts.votes["general"][..], &facts.model_votes["a/b"][..]), (&[a][..], &[a][..]));
    let later = ledger.facts(Some(moment(3)), TODAY).unwrap();
    assert_eq!(later.model_costs["a/b"].micro_usd, 200_000);
}

#[test]
fn a_run_without_models_has_a_known_cost_of_zero() {
    let mut sum = CostSum::default();
    sum.add(&RunCost::default());
    assert_eq!(sum, CostSum { runs: 1, ..CostSum::default() });
}

/// Returns the plan of a query, without the plans of its subqueries.
fn plan(ledger: &Ledger, sql: &str, params: &[(&str, &dyn rusqlite::ToSql)]) -> String {
    let mut statement =
        ledger.connection.file().prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let rows = statement.query_map(params, |row| row.get::<_, String>("detail")).unwrap();
    rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_query_of_the_facts_reads_the_json_of_findings() {
    let LedgerFixture { ledger, _folder } = sandbox();
    let from = named_params! { ":from": 0 };
    let findings =
        format!("SELECT key, impact, category, rule, file, last_look, outcome {FINDINGS}");
    expect!["SEARCH findings USING COVERING INDEX findings_by_time (first_seen>?)"]
        .assert_eq(&plan(&ledger, &findings, from));
    expect![[r#"
        SEARCH findings USING COVERING INDEX findings_by_time (first_seen>?)
        SEARCH looks USING PRIMARY KEY (finding=?)
        SEARCH runs USING INDEX sqlite_autoindex_runs_1 (id=?)
        SEARCH seen USING PRIMARY KEY (finding=? AND run=?)"#]]
    .assert_eq(&plan(&ledger, ABSENCES, from));
    expect!["SCAN votes USING COVERING INDEX votes_by_reviewer"].assert_eq(&plan(
        &ledger,
        VOTES,
        &[],
    ));
    expect![[r#"
        SCAN votes USING COVERING INDEX votes_by_reviewer
        SEARCH report_costs USING PRIMARY KEY (run=? AND reviewer=?)
        USE TEMP B-TREE FOR DISTINCT"#]]
    .assert_eq(&plan(&ledger, MODEL_VOTES, &[]));
}

#[test]
fn a_ledger_of_the_first_version_is_migrated_with_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "application_id", schema::APPLICATION).unwrap();
    connection.execute_batch(include_str!("../schema/1.sql")).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection.execute_batch(include_str!("first_version.sql")).unwrap();
    drop(connection);
    let ledger = Ledger::open_to_read(&path).unwrap().unwrap();
    let facts = ledger.facts(None, TODAY).unwrap();
    let receptions: Vec<_> = facts
        .findings
        .iter()
        .map(|finding| (finding.file.as_deref(), finding.state, finding.reception))
        .collect();
    // The first version did not record why a finding is absent.
    let gone = (Some("x.rs"), FindingState::Gone, Reception::Undecided);
    let dismissed = (Some("y.rs"), FindingState::Dismissed, Reception::Rejected);
    assert_eq!(receptions, [gone, dismissed]);
    assert_eq!(facts.votes["rules"].len(), 2);
    assert_eq!(facts.runs.iter().map(|run| run.cost.calls).sum::<u64>(), 4);
    assert!(facts.reviewer_costs.is_empty() && facts.model_costs.is_empty());
    assert_eq!(facts.unattributed_runs, 1);
    drop(ledger);
    let mut ledger = Ledger::open(&path).unwrap();
    play(&mut ledger, "9: saw c@z.rs");
    assert_eq!(ledger.facts(None, TODAY).unwrap().findings.len(), 3);
}
