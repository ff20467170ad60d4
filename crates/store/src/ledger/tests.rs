use std::cell::Cell;
use std::fmt::Write;
use std::thread;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use rusqlite::{Transaction, TransactionBehavior};
use tempfile::TempDir;

use super::decision::{ActiveDismissal, Decision, DismissalTerms};
use super::query::{FindingEntry, FindingFilter, IdMatch};
use super::record::{
    Absence, CodeOrigin, ExternalDismissal, Observation, RecordOutcome, RunCost, RunRecord,
    VoteRecord,
};
use super::*;

pub(super) const TODAY: &str = "2026-06-15";

pub(super) struct LedgerFixture {
    pub(super) ledger: Ledger,
    pub(super) _folder: TempDir,
}

thread_local! {
    /// True if the ledgers of this test are in PostgreSQL.
    static USES_POSTGRES: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn sandbox() -> LedgerFixture {
    let folder = tempfile::tempdir().unwrap();
    let ledger = match USES_POSTGRES.get() {
        true => Ledger::open_database(&assay_testenv::postgres::schema()).unwrap(),
        false => Ledger::open(&folder.path().join("ledger.db")).unwrap(),
    };
    LedgerFixture { ledger, _folder: folder }
}

/// Runs a test with ledgers in PostgreSQL.
pub(super) fn use_postgres(test: fn()) {
    USES_POSTGRES.set(true);
    test();
}

/// Defines tests that run those of the same names with ledgers in PostgreSQL.
macro_rules! also_on_postgres {
    ($($test:ident,)*) => {
        mod on_postgres {
            $(
                #[test]
                fn $test() {
                    $crate::ledger::tests::use_postgres(super::$test);
                }
            )*
        }
    };
}
pub(super) use also_on_postgres;

also_on_postgres! {
    a_finding_is_open_until_a_run_reports_it_absent,
    a_finding_that_reappears_is_open_again_and_keeps_its_first_time,
    an_older_run_that_is_recorded_late_does_not_override_newer_runs,
    the_same_code_in_two_files_is_two_findings_and_code_that_moved_is_one,
    a_held_back_observation_neither_adds_nor_ends_a_finding,
    a_dismissal_lasts_until_its_last_day_or_until_the_finding_is_reopened,
    a_dismissed_finding_is_gone_when_absent_and_dismissed_when_it_reappears,
    a_finding_is_found_by_a_prefix_of_its_id_and_a_current_id_wins_over_an_earlier_one,
    the_filter_selects_by_state_impact_category_reviewer_and_time,
    the_history_of_a_finding_lists_its_looks_and_decisions,
    open_findings_of_a_file_are_listed_with_branch_and_reviewers,
    an_externally_dismissed_finding_stays_dismissed_until_a_run_raises_it,
    a_dismissal_follows_code_that_moves_to_another_file,
    a_run_is_recorded_completely_or_not_at_all,
    two_runs_with_the_same_id_are_both_recorded,
    a_finding_is_headed_by_the_title_of_its_template,
    neither_order_nor_repetition_of_runs_matters,
    the_known_findings_of_a_file_have_their_count_and_state,
    findings_of_excluded_runs_are_not_known,
    the_known_findings_of_a_file_are_limited_to_the_newest,
}

pub(super) fn moment(number: i64) -> Moment {
    Moment(Timestamp::from_second(1_780_000_000 + number * 60).unwrap())
}

pub(super) fn run(number: i64) -> RunRecord {
    RunRecord {
        id: format!("run-{number:03}"),
        at: moment(number),
        change: "staged changes".into(),
        branch: Some("topic".into()),
        head: None,
        verdict: "ready".into(),
        complete: true,
        cost: RunCost::default(),
        reports: Vec::new(),
        models: Vec::new(),
    }
}

pub(super) fn fingerprint(name: &str) -> String {
    blake3::hash(name.as_bytes()).to_hex()[..32].to_owned()
}

/// Parses `name@file`, or `name@old>file` for a moved finding.
pub(super) fn observation(text: &str, outcome: FindingOutcome, run: &RunRecord) -> Observation {
    let (name, place) = text.split_once('@').unwrap();
    let (from, file) = match place.split_once('>') {
        Some((from, file)) => (Some(from.to_owned()), file),
        None => (None, place),
    };
    Observation {
        id: fingerprint(&format!("{name} {file}"))[..12].to_owned(),
        fingerprint: fingerprint(name),
        file: file.to_owned(),
        origin: CodeOrigin::default(),
        moved_from: from,
        line: Some(7),
        title: format!("{name} of {}", run.id),
        severity: "HIGH".into(),
        impact: 1,
        category: "style".into(),
        rule: None,
        outcome,
        why: None,
        before: None,
        finding: "{}".into(),
        votes: vec![VoteRecord {
            reviewer: "rules".into(),
            number: 0,
            severity: "HIGH".into(),
            confidence: None,
            vote: "{}".into(),
        }],
    }
}

pub(super) fn key(ledger: &Ledger, name: &str) -> FindingKey {
    let entries = ledger.list(&FindingFilter::default(), TODAY).unwrap();
    entries.iter().find(|entry| entry.fingerprint == fingerprint(name)).unwrap().key
}

fn absence(finding: FindingKey) -> Absence {
    Absence { finding, evidence: AbsenceEvidence::NotReported }
}

/// Runs a story: `1: saw a@x.rs, held b@x.rs, lost c, fixed d` is a run in the minute of its
/// number; `dismiss a until 2026-06-30` and `reopen a` are decisions of a user in the minutes 500
/// and 600.
pub(super) fn play(ledger: &mut Ledger, story: &str) {
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["dismiss", name, ref rest @ ..] => {
                let until = rest.last().copied();
                let terms = DismissalTerms { by: "ada", reason: "fixture", until };
                let key = key(ledger, name);
                ledger.dismiss(&[key], terms, moment(500)).unwrap();
            }
            ["reopen", name] => {
                let key = key(ledger, name);
                ledger.reopen(&[key], "bob", moment(600)).unwrap();
            }
            _ => {
                let (number, looks) = line.split_once(": ").unwrap();
                add(ledger, number.parse().unwrap(), looks);
            }
        }
    }
}

pub(super) fn add(ledger: &mut Ledger, number: i64, looks: &str) -> RecordOutcome {
    let run = run(number);
    let (mut observations, mut absent) = (Vec::new(), Vec::new());
    for look in looks.split(", ") {
        match look.split_once(' ').unwrap() {
            ("saw", what) => observations.push(observation(what, FindingOutcome::Raised, &run)),
            ("left", what) => observations.push(observation(what, FindingOutcome::LeftAlone, &run)),
            ("held", what) => observations.push(observation(what, FindingOutcome::HeldBack, &run)),
            ("lost", name) => absent.push(absence(key(ledger, name))),
            ("fixed", name) => {
                let evidence = AbsenceEvidence::CodeRemoved;
                absent.push(Absence { finding: key(ledger, name), evidence });
            }
            other => panic!("{other:?}"),
        }
    }
    ledger.record(&run, &observations, &absent).unwrap()
}

fn list_states(ledger: &Ledger) -> String {
    let mut out = String::new();
    let minute = |at: Moment| (at.0.as_second() - 1_780_000_000) / 60;
    for entry in ledger.list(&FindingFilter::default(), TODAY).unwrap() {
        let name = entry.title.split(' ').next().unwrap();
        let (state, file) = (entry.state.as_str(), entry.file.as_deref().unwrap_or("-"));
        let times = [entry.first_seen, entry.last_seen, entry.last_look].map(minute);
        writeln!(out, "{name} {file} {state} {times:?} {}", entry.title).unwrap();
    }
    out
}

fn check(story: &str, expected: Expect) {
    let mut sandbox = sandbox();
    play(&mut sandbox.ledger, story);
    expected.assert_eq(&list_states(&sandbox.ledger));
}

#[test]
fn a_finding_is_open_until_a_run_reports_it_absent() {
    check(
        "1: saw a@x.rs, saw b@x.rs
         2: saw b@x.rs
         3: saw b@x.rs, lost a",
        expect![[r#"
            a x.rs gone [1, 1, 3] a of run-001
            b x.rs open [1, 3, 3] b of run-003
        "#]],
    );
}

#[test]
fn a_finding_that_reappears_is_open_again_and_keeps_its_first_time() {
    check(
        "1: saw a@x.rs
         2: lost a
         3: saw a@x.rs",
        expect![[r#"
            a x.rs open [1, 3, 3] a of run-003
        "#]],
    );
}

#[test]
fn an_older_run_that_is_recorded_late_does_not_override_newer_runs() {
    check(
        "2: saw a@x.rs
         4: lost a
         1: saw a@x.rs
         3: saw a@x.rs",
        expect![[r#"
            a x.rs gone [1, 3, 4] a of run-003
        "#]],
    );
}

#[test]
fn the_same_code_in_two_files_is_two_findings_and_code_that_moved_is_one() {
    check(
        "1: saw a@x.rs, saw a@y.rs
         2: saw a@x.rs>z.rs",
        expect![[r#"
            a y.rs open [1, 1, 1] a of run-001
            a z.rs open [1, 2, 2] a of run-002
        "#]],
    );
}

#[test]
fn a_held_back_observation_neither_adds_nor_ends_a_finding() {
    check(
        "1: saw a@x.rs
         2: held a@x.rs, held b@x.rs",
        expect![[r#"
            a x.rs open [1, 2, 2] a of run-002
        "#]],
    );
}

#[test]
fn a_dismissal_lasts_until_its_last_day_or_until_the_finding_is_reopened() {
    check(
        "1: saw a@x.rs, saw b@x.rs, saw c@x.rs, saw d@x.rs, saw e@x.rs
         dismiss a
         dismiss b until 2026-06-15
         dismiss c until 2026-06-14
         dismiss d
         reopen d
         2: saw a@x.rs, left e@x.rs",
        expect![[r#"
            a x.rs dismissed [1, 2, 2] a of run-002
            b x.rs dismissed [1, 1, 1] b of run-001
            c x.rs open [1, 1, 1] c of run-001
            d x.rs open [1, 1, 1] d of run-001
            e x.rs dismissed [1, 2, 2] e of run-002
        "#]],
    );
}

#[test]
fn a_dismissed_finding_is_gone_when_absent_and_dismissed_when_it_reappears() {
    let story = "1: saw a@x.rs\ndismiss a\n2: lost a";
    check(story, expect!["a x.rs gone [1, 1, 2] a of run-001\n"]);
    let story = format!("{story}\n3: saw a@x.rs");
    check(&story, expect!["a x.rs dismissed [1, 3, 3] a of run-003\n"]);
}

#[test]
fn a_finding_is_found_by_a_prefix_of_its_id_and_a_current_id_wins_over_an_earlier_one() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, "1: saw a@x.rs\n2: saw a@x.rs>y.rs\n3: saw a@x.rs");
    let id = |place: &str| fingerprint(&format!("a {place}"))[..12].to_owned();
    let IdMatch::One(moved) = ledger.find_by_id(&id("y.rs")).unwrap() else { panic!() };
    let IdMatch::One(other) = ledger.find_by_id(&id("x.rs")[..6]).unwrap() else { panic!() };
    assert_ne!(moved, other);
    let files = [moved, other].map(|key| ledger.history(key, TODAY).unwrap().entry.file.unwrap());
    assert_eq!(files, ["y.rs", "x.rs"]);
    for unknown in ["", "zz", "%", "0123456789abcdef"] {
        assert_eq!(ledger.find_by_id(unknown).unwrap(), IdMatch::None, "{unknown}");
    }
    for (place, key) in [("y.rs", moved), ("x.rs", other)] {
        for branch in ["topic", "Topic"] {
            let found = ledger.find_in_branch(&id(place)[..6], branch).unwrap();
            assert_eq!(found, IdMatch::One(key), "{place} on {branch}");
        }
        assert_eq!(ledger.find_in_branch(&id(place), "main").unwrap(), IdMatch::None, "{place}");
    }
    let story: String = (10..40).map(|n| format!("{n}: saw f{n}@x.rs\n")).collect();
    play(&mut ledger, &story);
    let shared = (0..16).map(|digit| ledger.find_by_id(&format!("{digit:x}")).unwrap());
    assert!(shared.into_iter().any(|named| matches!(named, IdMatch::Ambiguous(_))));
}

#[test]
fn a_finding_is_headed_by_the_title_of_its_template() {
    let mut fixture = sandbox();
    let run = run(1);
    let with = |name: &str, finding: &str| Observation {
        title: name.to_owned(),
        finding: finding.to_owned(),
        ..observation(&format!("{name}@x.rs"), FindingOutcome::Raised, &run)
    };
    let observations = [
        with("a", r#"{"title": "a", "template": {"title": "Command's \"injection\""}}"#),
        with("b", r#"{"title": "a \u0000 b", "template": null}"#),
        with("c", "{}"),
    ];
    fixture.ledger.record(&run, &observations, &[]).unwrap();
    let entries = fixture.ledger.list(&FindingFilter::default(), TODAY).unwrap();
    let headings: Vec<&str> = entries.iter().map(FindingEntry::heading).collect();
    assert_eq!(headings, ["Command's \"injection\"", "b", "c"]);
}

#[test]
fn the_filter_selects_by_state_impact_category_reviewer_and_time() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, "1: saw a@x.rs\n5: saw b@x.rs\ndismiss a");
    let count = |filter: FindingFilter| ledger.list(&filter, TODAY).unwrap().len();
    let all = FindingFilter::default;
    assert_eq!(count(all()), 2);
    assert_eq!(count(FindingFilter { state: Some(FindingState::Dismissed), ..all() }), 1);
    assert_eq!(count(FindingFilter { state: Some(FindingState::Gone), ..all() }), 0);
    assert_eq!(count(FindingFilter { impact: Some(0), ..all() }), 0);
    assert_eq!(count(FindingFilter { impact: Some(1), ..all() }), 2);
    assert_eq!(count(FindingFilter { category: Some("Style".into()), ..all() }), 2);
    assert_eq!(count(FindingFilter { category: Some("security".into()), ..all() }), 0);
    assert_eq!(count(FindingFilter { reviewer: Some("rules".into()), ..all() }), 2);
    assert_eq!(count(FindingFilter { reviewer: Some("ada".into()), ..all() }), 0);
    assert_eq!(count(FindingFilter { from: Some(moment(2)), ..all() }), 1);
    assert_eq!(count(FindingFilter { until: Some(moment(2)), ..all() }), 1);
}

#[test]
fn the_history_of_a_finding_lists_its_looks_and_decisions() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(
        &mut ledger,
        "1: saw a@x.rs\n2: saw a@x.rs>y.rs\ndismiss a until 2026-06-30\nreopen a\n3: lost a",
    );
    let history = ledger.history(key(&ledger, "a"), TODAY).unwrap();
    let looks = history.looks.iter().map(|look| {
        let votes: Vec<&str> = look.votes.iter().map(|vote| vote.reviewer.as_str()).collect();
        let file = look.file.as_deref().unwrap_or("-");
        format!("{} {} {file} {votes:?}", look.run, look.outcome.as_str())
    });
    let decisions = history.decisions.iter().map(|decision| {
        let Decision { by, reason, until, ended_by, .. } = decision;
        format!("{by} {reason} {until:?} {ended_by:?}")
    });
    let list_states: Vec<String> = looks.chain(decisions).collect();
    expect![[r#"
        run-001 raised x.rs ["rules"]
        run-002 raised y.rs ["rules"]
        run-003 absent - []
        ada fixture Some("2026-06-30") Some("bob")"#]]
    .assert_eq(&list_states.join("\n"));
    assert_eq!(
        (history.entry.state, history.entry.reviewers),
        (FindingState::Gone, vec!["rules".into()])
    );
}

#[test]
fn open_findings_of_a_file_are_listed_with_branch_and_reviewers() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, "1: saw a@x.rs, saw b@x.rs, saw c@y.rs, saw d@\n2: lost b");
    let seen = ledger.open_findings(["x.rs", ""]).unwrap();
    let list_states: Vec<_> = seen
        .iter()
        .map(|seen| (seen.key, seen.file.as_str(), seen.branch.as_deref(), &seen.reviewers[..]))
        .collect();
    let rules = ["rules".to_owned()];
    let (a, d) = (key(&ledger, "a"), key(&ledger, "d"));
    assert_eq!(
        list_states,
        [(a, "x.rs", Some("topic"), &rules[..]), (d, "", Some("topic"), &rules[..])]
    );
    assert_eq!(ledger.files_with(&fingerprint("c")).unwrap(), ["y.rs"]);
}

#[test]
fn an_externally_dismissed_finding_stays_dismissed_until_a_run_raises_it() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, "1: saw a@x.rs");
    let (fingerprint, file) = (fingerprint("a"), "x.rs".to_owned());
    let left = [ExternalDismissal { fingerprint, file, why: "fixture (accepted by ada)".into() }];
    ledger.dismiss_externally("run-001", &left).unwrap();
    assert_eq!(list_states(&ledger), "a x.rs dismissed [1, 1, 1] a of run-001\n");
    let look = &ledger.history(key(&ledger, "a"), TODAY).unwrap().looks[0];
    assert_eq!(look.why.as_deref(), Some("fixture (accepted by ada)"));
    assert!(ledger.active_dismissals().unwrap().is_empty());
    play(&mut ledger, "2: saw a@x.rs");
    assert_eq!(list_states(&ledger), "a x.rs open [1, 2, 2] a of run-002\n");
}

#[test]
fn a_dismissal_follows_code_that_moves_to_another_file() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(
        &mut ledger,
        "1: saw a@x.rs, saw b@x.rs\ndismiss a\ndismiss a until 2026-12-31\ndismiss b\nreopen b",
    );
    play(&mut ledger, "2: saw a@x.rs>y.rs");
    let expected = ActiveDismissal {
        fingerprint: fingerprint("a"),
        file: "y.rs".into(),
        by: "ada".into(),
        reason: "fixture".into(),
        until: Some("2026-12-31".into()),
    };
    assert_eq!(ledger.active_dismissals().unwrap(), [expected]);
    let b = key(&ledger, "b");
    assert_eq!(ledger.reopen(&[b], "bob", moment(700)).unwrap(), [b]);
}

#[test]
fn a_run_is_recorded_completely_or_not_at_all() {
    let LedgerFixture { mut ledger, _folder } = sandbox();
    play(&mut ledger, "1: saw a@x.rs");
    let (run, unknown) = (run(2), FindingKey(999));
    let seen = [observation("b@x.rs", FindingOutcome::Raised, &run)];
    assert!(ledger.record(&run, &seen, &[absence(unknown)]).is_err());
    assert_eq!(list_states(&ledger), "a x.rs open [1, 1, 1] a of run-001\n");
    assert_eq!(ledger.runs().unwrap(), 1);
}

#[test]
fn concurrent_writers_lose_no_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    thread::scope(|scope| {
        for number in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..5 {
                    let mut ledger = Ledger::open(path).unwrap();
                    add(
                        &mut ledger,
                        number * 5 + round,
                        &format!("saw a@x.rs, saw f{number}@y.rs"),
                    );
                }
            });
        }
    });
    let ledger = Ledger::open(&path).unwrap();
    assert_eq!(ledger.runs().unwrap(), 40);
    assert_eq!(ledger.list(&FindingFilter::default(), TODAY).unwrap().len(), 9);
}

#[test]
fn reading_changes_no_file_in_the_folder() {
    let folder = tempfile::Builder::new().prefix("a b?c#d%41").tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    assert!(Ledger::open_to_read(&path).unwrap().is_none());
    play(&mut Ledger::open(&path).unwrap(), "1: saw a@x.rs");
    let files = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files(), ["ledger.db"]);
    let before = fs::read(&path).unwrap();
    assert_eq!(Ledger::open_to_read(&path).unwrap().unwrap().runs().unwrap(), 1);
    assert_eq!(files(), ["ledger.db"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(Ledger::connect_immutable(&path).unwrap().runs().unwrap(), 1);
    assert_eq!(files(), ["ledger.db"]);
}

#[test]
fn damaged_foreign_and_newer_ledgers_give_different_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let why = || Ledger::open(&path).map(|_| ()).unwrap_err();
    fs::write(&path, "not a database, and longer than the header of one would have to be, surely")
        .unwrap();
    assert!(matches!(why(), LedgerError::Damaged { .. }), "{:?}", why());
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE runs (id)").unwrap();
    assert!(matches!(why(), LedgerError::Foreign { .. }), "{:?}", why());
    fs::remove_file(&path).unwrap();
    Ledger::open(&path).unwrap().connection.file().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(why(), LedgerError::Newer { found: 99, .. }), "{:?}", why());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(why(), LedgerError::Failed { .. }), "{:?}", why());
}

#[test]
fn a_write_to_a_locked_ledger_reports_busy_and_reading_still_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let holder = Ledger::open(&path).unwrap();
    let immediate = TransactionBehavior::Immediate;
    let held = Transaction::new_unchecked(holder.connection.file(), immediate).unwrap();
    let write = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut other = Ledger::connect(&path, write, Duration::ZERO).unwrap();
    let refused = other.record(&run(1), &[], &[]).unwrap_err();
    assert!(matches!(refused, LedgerError::Busy { .. }), "{refused:?}");
    assert_eq!(other.runs().unwrap(), 0);
    drop(held);
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Generates the outcomes of one run for each of three findings.
fn looks() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["saw", "left", "held", "lost", ""]), 3)
}

fn in_words(looks: &[&str]) -> String {
    let looks = looks.iter().zip(NAMES).filter(|(look, _)| !look.is_empty());
    let list_states = looks.map(|(look, name)| match *look {
        "lost" => format!("lost {name}"),
        look => format!("{look} {name}@x.rs"),
    });
    list_states.collect::<Vec<_>>().join(", ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(24)))]

    #[test]
    fn neither_order_nor_repetition_of_runs_matters(
        runs in prop::collection::vec(looks(), 1..5),
        order in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let runs: Vec<String> = runs.iter().map(|looks| in_words(looks)).collect();
        let numbered = || runs.iter().enumerate().filter(|(_, looks)| !looks.is_empty());
        let [mut straight, mut shuffled] = [(); 2].map(|()| sandbox());
        for each in [&mut straight, &mut shuffled] {
            add(&mut each.ledger, 0, "saw a@x.rs, saw b@x.rs, saw c@x.rs");
        }
        for (number, looks) in numbered() {
            add(&mut straight.ledger, number as i64 + 1, looks);
        }
        for at in order.iter().chain(&order) {
            if let Some((number, looks)) = numbered().find(|(number, _)| number == at) {
                add(&mut shuffled.ledger, number as i64 + 1, looks);
            }
        }
        prop_assert_eq!(list_states(&straight.ledger), list_states(&shuffled.ledger));
        let again = add(&mut straight.ledger, 0, "saw a@x.rs, saw b@x.rs, saw c@x.rs");
        prop_assert_eq!(again, RecordOutcome::Existing);
        prop_assert_eq!(list_states(&straight.ledger), list_states(&shuffled.ledger));
    }
}

#[test]
fn two_runs_with_the_same_id_are_both_recorded() {
    let mut sandbox = sandbox();
    let ledger = &mut sandbox.ledger;
    assert_eq!(add(ledger, 1, "saw a@x.rs"), RecordOutcome::Added);
    // The run of another clone in the same millisecond.
    for outcome in [RecordOutcome::Added, RecordOutcome::Existing] {
        assert_eq!(add(ledger, 1, "saw b@x.rs"), outcome);
    }
    let other = RunRecord { head: Some("0123".into()), ..run(1) };
    let seen = [observation("a@x.rs", FindingOutcome::Raised, &other)];
    for outcome in [RecordOutcome::Added, RecordOutcome::Existing] {
        assert_eq!(ledger.record(&other, &seen, &[]).unwrap(), outcome);
    }
    let runs = |name: &str| {
        let looks = ledger.history(key(ledger, name), TODAY).unwrap().looks;
        looks.into_iter().map(|look| look.run).collect::<Vec<_>>()
    };
    assert_eq!(runs("a"), ["run-001", "run-001-3"]);
    assert_eq!(runs("b"), ["run-001-2"]);
    assert_eq!(ledger.runs().unwrap(), 3);
}

/// Runs a story and checks the known findings of `x.rs`; the runs in `but` do not count.
fn check_known(story: &str, but: &[i64], expected: Expect) {
    let mut sandbox = sandbox();
    play(&mut sandbox.ledger, story);
    let but = but.iter().map(|number| run(*number).id).collect();
    let mut out = String::new();
    for known in sandbox.ledger.known_findings(["x.rs"], &but, 3, TODAY).unwrap() {
        let name = known.entry.title.split(' ').next().unwrap();
        let (state, minute) = (known.entry.state, (known.last.0.as_second() - 1_780_000_000) / 60);
        writeln!(out, "{name} {} x{} at {minute} {:?}", state.as_str(), known.runs, known.why)
            .unwrap();
    }
    expected.assert_eq(&out);
}

#[test]
fn the_known_findings_of_a_file_have_their_count_and_state() {
    check_known(
        "1: saw a@x.rs, saw b@x.rs, saw c@y.rs
         2: saw a@x.rs, lost b
         3: saw a@x.rs, held b@x.rs, left d@x.rs
         dismiss a",
        &[],
        expect![[r#"
            a dismissed x3 at 3 Some("fixture")
            d dismissed x1 at 3 None
            b open x1 at 1 None
        "#]],
    );
}

#[test]
fn findings_of_excluded_runs_are_not_known() {
    let story = "1: saw a@x.rs
                 2: saw a@x.rs, saw b@x.rs";
    check_known(
        story,
        &[2],
        expect![[r#"
            a open x1 at 1 None
        "#]],
    );
    check_known(story, &[1, 2], expect![""]);
}

#[test]
fn the_known_findings_of_a_file_are_limited_to_the_newest() {
    check_known(
        "1: saw a@x.rs, saw b@x.rs, saw c@x.rs, saw d@x.rs
         2: saw d@x.rs
         3: saw b@x.rs",
        &[],
        expect![[r#"
            b open x2 at 3 None
            d open x2 at 2 None
            a open x1 at 1 None
        "#]],
    );
}
