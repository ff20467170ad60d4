use std::fmt::Write;

use assay_store::ledger::decision::DismissalTerms;
use assay_store::ledger::query::FindingFilter;
use assay_store::ledger::record::{
    Absence, CodeOrigin, ModelCost, Observation, ReportCost, RunCost, RunRecord, VoteRecord,
};
use assay_store::ledger::{AbsenceEvidence, FindingOutcome, Ledger};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const TODAY: &str = "2026-05-11";

/// A finding of a story, as a line describes it.
struct Line<'a> {
    number: usize,
    impact: u8,
    file: &'a str,
    first: Moment,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Line<'a> {
    /// Parses `IMPACT FILE TIME KEY=VALUE…`; the file `-` is the change as a whole.
    fn parse((number, line): (usize, &'a str)) -> Line<'a> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [impact, file, first, options @ ..] = &words[..] else { panic!("{line}") };
        let options = options.iter().map(|option| option.split_once('=').unwrap());
        Line {
            number,
            impact: impact.parse().unwrap(),
            file: if *file == "-" { "" } else { file },
            first: first.parse().unwrap(),
            options: options.collect(),
        }
    }

    fn option(&self, key: &str) -> Option<&'a str> {
        self.options.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn fingerprint(&self) -> String {
        format!("fingerprint-{}", self.number)
    }

    fn run(&self, at: Moment) -> RunRecord {
        let cost = |usd: &str, calls| RunCost {
            calls,
            tokens: 500 * calls,
            usd: usd.parse().ok(),
            ..RunCost::default()
        };
        let (reviewer, model) = ("general".to_owned(), "a/b".to_owned());
        let costs = self.option("costs").and_then(|costs| costs.split_once('+'));
        let (run, reports, models) = match costs.filter(|_| at == self.first) {
            None => (RunCost::default(), vec![], vec![]),
            Some((report, all)) => {
                let (report, all) = (cost(report, 2), cost(all, 3));
                let report = ReportCost { reviewer, model: Some(model.clone()), cost: report };
                (all, vec![report], vec![ModelCost { model, cost: all }])
            }
        };
        RunRecord {
            id: format!("run-{}-{at}", self.number),
            at,
            change: "staged changes".into(),
            branch: None,
            head: None,
            verdict: "ready".into(),
            complete: self.option("complete") != Some("no"),
            cost: run,
            reports,
            models,
        }
    }

    fn observation(&self) -> Observation {
        let vote = |reviewer: &str| VoteRecord {
            reviewer: reviewer.to_owned(),
            number: 0,
            severity: "HIGH".into(),
            confidence: None,
            vote: "{}".into(),
        };
        Observation {
            id: format!("{:012}", self.number),
            fingerprint: self.fingerprint(),
            file: self.file.to_owned(),
            origin: CodeOrigin::default(),
            moved_from: None,
            line: None,
            title: "fixture".into(),
            severity: "HIGH".into(),
            impact: self.impact,
            category: self.option("category").unwrap_or("style").to_owned(),
            rule: self.option("rule").map(str::to_owned),
            outcome: FindingOutcome::Raised,
            why: None,
            before: None,
            finding: "{}".into(),
            votes: self.option("by").unwrap_or("rules").split(',').map(vote).collect(),
        }
    }

    fn key(&self, ledger: &Ledger) -> FindingKey {
        let all = ledger.list(&FindingFilter::default(), TODAY).unwrap();
        all.iter().find(|entry| entry.fingerprint == self.fingerprint()).unwrap().key
    }

    /// Records the first run of the finding.
    fn report(&self, ledger: &mut Ledger) {
        ledger.record(&self.run(self.first), &[self.observation()], &[]).unwrap();
    }

    /// Records the absence or the dismissal of the finding.
    fn settle(&self, ledger: &mut Ledger) {
        let finding = self.key(ledger);
        let evidence =
            [("fixed", AbsenceEvidence::CodeRemoved), ("lost", AbsenceEvidence::NotReported)];
        for (word, evidence) in evidence {
            if let Some(at) = self.option(word) {
                let run = self.run(at.parse().unwrap());
                ledger.record(&run, &[], &[Absence { finding, evidence }]).unwrap();
            }
        }
        if let Some(at) = self.option("dismissed") {
            let terms = DismissalTerms { by: "ada", reason: "fixture", until: None };
            ledger.dismiss(&[finding], terms, at.parse().unwrap()).unwrap();
        }
        if let Some(at) = self.option("seen") {
            ledger.record(&self.run(at.parse().unwrap()), &[self.observation()], &[]).unwrap();
        }
    }
}

/// Returns the facts of a ledger in which the lines are recorded in an order.
fn facts_in_order(story: &str, order: impl Fn(usize) -> usize) -> LedgerFacts {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let lines = story.lines().filter(|line| !line.trim().is_empty());
    let mut lines: Vec<Line<'_>> = lines.enumerate().map(Line::parse).collect();
    lines.sort_by_key(|line| order(line.number));
    lines.iter().for_each(|line| line.report(&mut ledger));
    lines.sort_by_key(|line| order(line.number + 1));
    lines.iter().for_each(|line| line.settle(&mut ledger));
    ledger.facts(None, TODAY).unwrap()
}

fn facts(story: &str) -> LedgerFacts {
    facts_in_order(story, |number| number)
}

pub(super) fn findings(story: &str) -> Vec<FindingFacts> {
    facts(story).findings
}

fn calculation(facts: &LedgerFacts) -> Calculation<'_> {
    let now = format!("{TODAY}T00:00:00Z").parse().unwrap();
    Calculation { facts, teams: None, since: None, now }
}

fn settings(caps: Caps) -> OverviewSettings {
    let reviewers = ConfiguredReviewers {
        rules: Rulebook::builtin(),
        personas: Personas::with_repository_personas([]).unwrap(),
        persona_files: Vec::new(),
        analysers: Vec::new(),
    };
    OverviewSettings { reviewers, caps: (Caps::default(), caps) }
}

const STORY: &str = "
    0 src/a.rs 2026-05-01T00:00:00Z fixed=2026-05-01T10:00:00Z by=rules rule=r/x category=security
    0 src/a.rs 2026-05-01T00:00:00Z fixed=2026-05-02T00:00:00Z by=rules,general rule=r/x category=security costs=0.3+0.5
    0 src/b.rs 2026-05-02T00:00:00Z by=general category=correctness
    0 top.rs   2026-05-03T00:00:00Z dismissed=2026-05-04T00:00:00Z by=general category=correctness costs=0.3+0.5
    1 src/a.rs 2026-05-03T00:00:00Z lost=2026-05-05T00:00:00Z by=rules rule=r/y
    4 -        2026-05-06T00:00:00Z dismissed=2026-05-07T00:00:00Z by=rules rule=r/y complete=no";

/// Formats a group as `name: findings = open + resolved + dismissed, accepted/decided, times, cost`.
fn describe(group: &GroupStatistics) -> String {
    let GroupStatistics { findings, open, resolved, dismissed, accepted, decided, .. } = group;
    let name = group.name.as_deref().unwrap_or("-");
    let mut line = format!("{name}: {findings} = {open} + {resolved} + {dismissed}");
    write!(line, ", {accepted}/{decided}").unwrap();
    if let Some((share, (low, high))) =
        group.precision.zip(group.precision_low.zip(group.precision_high))
    {
        write!(line, " {share} ({low}-{high})").unwrap();
    }
    if let Some((median, p90)) = group.median_seconds.zip(group.p90_seconds) {
        write!(line, ", {median} s, {p90} s").unwrap();
    }
    if let Some(cost) = &group.cost {
        write!(line, ", ${} {:?}", cost.usd, cost.usd_per_accepted).unwrap();
    }
    line
}

fn check(groups: &[GroupStatistics], expected: Expect) {
    let lines: Vec<String> = groups.iter().map(describe).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn the_total_has_the_numbers_that_were_computed_by_hand() {
    let facts = facts(STORY);
    let statistics = calculation(&facts).overview(&settings(Caps::default()));
    assert_eq!(statistics.runs, RunCounts { total: 9, complete: 8, incomplete: 1 });
    check(
        std::slice::from_ref(&statistics.total),
        expect!["-: 6 = 1 + 3 + 2, 2/4 0.5 (0.15-0.85), 86400 s, 172800 s, $1 Some(0.5)"],
    );
    assert_eq!((statistics.total.share_resolved, statistics.total.unchecked), (Some(0.5), 1));
}

#[test]
fn each_severity_has_its_share_and_its_times() {
    let facts = facts(STORY);
    check(
        &calculation(&facts).groups(FindingGrouping::Severity),
        expect![[r#"
            CRITICAL: 4 = 1 + 2 + 1, 2/3 0.6667 (0.2077-0.9385), 61200 s, 86400 s
            HIGH: 1 = 0 + 1 + 0, 0/0, 172800 s, 172800 s
            LOW: 1 = 0 + 0 + 1, 0/1 0 (0-0.7935)"#]],
    );
}

#[test]
fn a_finding_counts_for_each_of_its_reviewers_and_models() {
    let facts = facts(STORY);
    let statistics = calculation(&facts).overview(&settings(Caps::default()));
    let overview = statistics.overview.unwrap();
    check(
        &overview.reviewers,
        expect![[r#"
            rules: 4 = 0 + 3 + 1, 2/3 0.6667 (0.2077-0.9385), 86400 s, 172800 s
            general: 3 = 1 + 1 + 1, 1/2 0.5 (0.0945-0.9055), 86400 s, 86400 s, $0.6 Some(0.6)"#]],
    );
    check(
        &overview.models,
        expect!["a/b: 2 = 0 + 1 + 1, 1/2 0.5 (0.0945-0.9055), 86400 s, 86400 s, $1 Some(1.0)"],
    );
}

#[test]
fn files_folders_categories_and_rules_are_sorted_by_size() {
    let facts = facts(STORY);
    let names = |by| {
        let groups = calculation(&facts).groups(by);
        let shown = groups
            .iter()
            .map(|group| format!("{}={}", group.name.as_deref().unwrap_or("-"), group.findings));
        shown.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(FindingGrouping::File), "src/a.rs=3 src/b.rs=1 -=1 top.rs=1");
    assert_eq!(names(FindingGrouping::Folder), "src=4 -=1 .=1");
    assert_eq!(names(FindingGrouping::Category), "correctness=2 security=2 style=2");
    assert_eq!(names(FindingGrouping::Rule), "-=2 r/x=2 r/y=2");
}

#[test]
fn the_overview_has_the_use_of_the_budget() {
    let facts = facts(STORY);
    let caps = Caps { micro_usd: Some(2_000_000), ..Caps::default() };
    let overview = calculation(&facts).overview(&settings(caps)).overview.unwrap();
    let [budget] = &overview.budgets[..] else { panic!("{:?}", overview.budgets) };
    assert_eq!((budget.scope, budget.highest, budget.share), (BudgetScope::Day, 0.5, Some(0.25)));
    assert_eq!(budget.highest_at.as_deref(), Some("2026-05-01"));
}

#[test]
fn an_empty_ledger_has_no_share_and_no_precision() {
    let facts = LedgerFacts::default();
    let statistics = calculation(&facts).overview(&settings(Caps::default()));
    let total = &statistics.total;
    assert_eq!((total.findings, total.share_resolved, total.precision), (0, None, None));
    assert_eq!(total.cost.as_ref().and_then(|cost| cost.usd_per_accepted), None);
    assert_eq!(statistics.overview.unwrap().timeline, None);
}

#[test]
fn csv_has_a_header_and_cells_that_run_no_formula() {
    let story = "0 =cmd.rs 2026-05-01T00:00:00Z fixed=2026-05-01T00:01:00Z\n\
                 1 a,b.rs 2026-05-01T00:00:00Z";
    let facts = facts(story);
    expect![[r#"
        by,name,findings,open,unchecked,resolved,dismissed,share_resolved,accepted,decided,precision,precision_low,precision_high,median_seconds,p90_seconds,calls,tokens,usd,usd_per_accepted
        file,"a,b.rs",1,1,1,0,0,0,0,0,,,,,,,,,
        file,'=cmd.rs,1,0,0,1,0,1,1,1,1,0.2065,1,60,60,,,,
    "#]]
    .assert_eq(&calculation(&facts).by(FindingGrouping::File).to_csv().replace("\r\n", "\n"));
    let overview = calculation(&facts).overview(&settings(Caps::default())).to_csv();
    let first: Vec<&str> = overview.lines().filter_map(|line| line.split(',').next()).collect();
    let kinds = "by total severity severity category file file folder reviewer";
    assert_eq!(first.join(" "), kinds);
}

/// Generates a story of findings with random properties and fates.
fn story() -> impl Strategy<Value = String> {
    let line = (0..7u8, 0..4u8, 0..3u8, 0..3u8, 0..5u8, 0..20u8).prop_map(
        |(impact, file, category, by, fate, day)| {
            let file = ["a/x.rs", "a/y.rs", "b/x.rs", "-"][usize::from(file)];
            let by = ["rules", "general", "rules,general"][usize::from(by)];
            let rule = if by == "general" { String::new() } else { format!("rule=r/{category}") };
            let fates = ["", "fixed=2026-05-05", "lost=2026-05-06", "dismissed=2026-05-07"];
            let fate = match fates.get(usize::from(fate)) {
                Some(fate) if !fate.is_empty() => format!("{fate}T00:00:00Z"),
                Some(_) => String::new(),
                None => "fixed=2026-05-05T00:00:00Z seen=2026-05-08T00:00:00Z".to_owned(),
            };
            let first = format!("2026-04-{:02}T{day:02}:00:00Z", day + 1);
            format!(
                "{impact} {file} {first} category=c{category} by={by} {rule} {fate} costs=0.1+0.2"
            )
        },
    );
    prop::collection::vec(line, 1..8).prop_map(|lines| lines.join("\n"))
}

const PARTITIONS: [FindingGrouping; 5] = [
    FindingGrouping::Category,
    FindingGrouping::File,
    FindingGrouping::Folder,
    FindingGrouping::Severity,
    FindingGrouping::Rule,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(12)))]

    #[test]
    fn groups_add_up_to_the_total_and_the_order_of_runs_does_not_matter(
        story in story(),
        seed in 0..97usize,
    ) {
        let facts = facts(&story);
        let total = calculation(&facts).base().total;
        let sums = |groups: &[GroupStatistics]| {
            let sum = |part: fn(&GroupStatistics) -> u64| groups.iter().map(part).sum::<u64>();
            [
                sum(|group| group.findings),
                sum(|group| group.open),
                sum(|group| group.unchecked),
                sum(|group| group.resolved),
                sum(|group| group.dismissed),
                sum(|group| group.accepted),
                sum(|group| group.decided),
            ]
        };
        let expected = sums(std::slice::from_ref(&total));
        prop_assert_eq!(total.findings, total.open + total.resolved + total.dismissed);
        for by in PARTITIONS {
            prop_assert_eq!(sums(&calculation(&facts).groups(by)), expected, "{:?}", by);
        }
        for group in calculation(&facts).groups(FindingGrouping::Reviewer) {
            prop_assert!(group.findings <= total.findings && group.decided <= total.decided);
        }
        let shuffled = facts_in_order(&story, |number| (number * 31 + seed) % 97);
        let settings = settings(Caps { tokens: Some(1000), ..Caps::default() });
        let [one, other] = [&facts, &shuffled].map(|facts| calculation(facts).overview(&settings));
        prop_assert_eq!(one, other);
    }
}
