//! Tests of the dashboard on a real repository, ledger and queue.

use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::ledger::record::{CodeOrigin, Observation, RunCost, RunRecord, VoteRecord};
use assay_store::ledger::{FindingOutcome, FindingState};
use assay_store::queue::{Policy, QueuedTask};
use assay_store::task::Task;
use assay_testkit::Repository;
use tempfile::TempDir;

use super::actions::{DashboardAction, DismissalInput};
use super::audit_log::ActionOrigin;
use super::finding_views::FindingListQuery;
use super::run_views::RunListQuery;
use super::task_views::TaskListQuery;
use super::*;

mod gates;

struct Fixture {
    dashboard: Dashboard,
    queue: Arc<FileQueue>,
    environment: Environment,
    repository: Repository,
    _home: TempDir,
}

fn fixture() -> Fixture {
    let (repository, home) = (Repository::new(), tempfile::tempdir().unwrap());
    let state = ("XDG_STATE_HOME".to_owned(), home.path().to_str().unwrap().to_owned());
    let environment = Environment::new([state], &Clock::system(), Vec::new);
    let folder = repository.path().join(".agent-communication");
    let policy = Policy { max_queue_size: 1000, ..Policy::default() };
    let queue = Arc::new(FileQueue::open(&folder, policy, &Clock::system()).unwrap());
    let user = "Ann".to_owned();
    let dashboard = Dashboard::new(&environment, repository.path(), queue.clone(), user).unwrap();
    Fixture { dashboard, queue, environment, repository, _home: home }
}

impl Fixture {
    /// Records a run with findings of these impacts.
    fn record(&self, id: &str, impacts: &[u8]) {
        let run = RunRecord {
            id: id.to_owned(),
            at: format!("2026-05-0{}T08:00:00Z", id.len()).parse().unwrap(),
            change: "staged changes".into(),
            branch: None,
            head: None,
            verdict: "not ready".into(),
            complete: true,
            cost: RunCost { calls: 2, usd: Some(0.5), ..RunCost::default() },
            reports: Vec::new(),
            models: Vec::new(),
        };
        let seen = impacts.iter().enumerate().map(|(at, impact)| observation(id, at, *impact));
        let state = self.environment.state_of(self.repository.path());
        let mut ledger = assay_review::ledger::open(&state).unwrap();
        ledger.record(&run, &seen.collect::<Vec<_>>(), &[]).unwrap();
    }

    fn push(&self, id: &str, change: impl FnOnce(&mut Task)) {
        let at = "2026-05-01T08:00:00Z".parse().unwrap();
        let title = format!("Review {id}");
        let mut task = Task::new(id.parse().unwrap(), "review".parse().unwrap(), title, at);
        change(&mut task);
        self.queue.push(vec![QueuedTask { queue: "qa".parse().unwrap(), task }]).unwrap();
    }

    /// Returns the state as a page shows it that waits for all parts.
    fn view(&self) -> DashboardView {
        self.dashboard.view(Deadline::after(Duration::from_secs(600))).unwrap()
    }

    fn open_ids(&self) -> Vec<String> {
        let list = self.dashboard.findings(&FindingListQuery::default()).unwrap();
        list.findings.into_iter().map(|finding| finding.id).collect()
    }

    fn act(&self, action: &DashboardAction) -> Result<(), String> {
        let done = self.dashboard.act(action, ActionOrigin::Api);
        done.map(|_| ()).map_err(|error| error.to_string())
    }
}

fn observation(run: &str, at: usize, impact: u8) -> Observation {
    let hash = assay_base::hash::short_hash(format!("{run} {at}"), 32);
    Observation {
        id: hash[..12].to_owned(),
        fingerprint: hash,
        file: format!("src/{at}.rs"),
        origin: CodeOrigin::default(),
        moved_from: None,
        line: Some(7),
        title: format!("Defect {at} of {run}"),
        severity: "HIGH".into(),
        impact,
        category: "security".into(),
        rule: None,
        outcome: FindingOutcome::Raised,
        why: None,
        before: None,
        finding: r#"{"description":"It breaks.","evidence":["let x = 1;"],
            "trace":[{"role":"sink","file":"src/a.rs","line":7,"code":"run(x)"}]}"#
            .into(),
        votes: vec![VoteRecord {
            reviewer: "rules".into(),
            number: 0,
            severity: "HIGH".into(),
            confidence: Some(75),
            vote: "{}".into(),
        }],
    }
}

#[test]
fn an_empty_repository_has_empty_lists_and_statistics() {
    let fixture = fixture();
    let dashboard = &fixture.dashboard;
    assert_eq!(dashboard.findings(&FindingListQuery::default()).unwrap().findings, []);
    assert_eq!(dashboard.runs(&RunListQuery::default()).unwrap().runs, []);
    assert_eq!(dashboard.tasks(&TaskListQuery::default()).unwrap().tasks, []);
    assert_eq!(dashboard.statistics().unwrap().overview.total.findings, 0);
    assert!(matches!(dashboard.run("none"), Err(DashboardError::Unknown(_))));
    assert!(matches!(dashboard.finding("abc"), Err(DashboardError::Unknown(_))));
    assert!(matches!(dashboard.task("../x"), Err(DashboardError::Unknown(_))));
}

#[test]
fn lists_statistics_and_the_mark_follow_the_ledger_while_the_dashboard_is_open() {
    let fixture = fixture();
    let dashboard = &fixture.dashboard;
    let before = dashboard.mark().unwrap();
    assert_eq!(dashboard.mark().unwrap(), before);
    fixture.record("a", &[3, 0]);
    assert_ne!(dashboard.mark().unwrap(), before);
    let list = dashboard.findings(&FindingListQuery::default()).unwrap();
    let impacts: Vec<u8> = list.findings.iter().map(|finding| finding.impact).collect();
    assert_eq!(impacts, [0, 3]);
    assert_eq!(dashboard.statistics().unwrap().overview.total.open, 2);
    fixture.record("bb", &[1]);
    assert_eq!(dashboard.statistics().unwrap().overview.total.open, 3);
    let runs = dashboard.runs(&RunListQuery::default()).unwrap().runs;
    let runs: Vec<(&str, u64)> = runs.iter().map(|run| (run.id.as_str(), run.findings)).collect();
    assert_eq!(runs, [("bb", 1), ("a", 2)]);
    assert_eq!(dashboard.run("a").unwrap().present.len(), 2);
    let detail = dashboard.finding(&list.findings[0].id).unwrap();
    assert_eq!((detail.description.as_str(), detail.looks.len()), ("It breaks.", 1));
    assert_eq!(detail.looks[0].votes[0].confidence, Some(75));
    let steps: Vec<(&str, u32)> =
        detail.trace.iter().map(|step| (step.role.as_str(), step.line)).collect();
    assert_eq!(steps, [("sink", 7)]);
}

#[test]
fn a_page_that_cannot_wait_says_so_and_never_shows_old_statistics() {
    let fixture = fixture();
    let dashboard = &fixture.dashboard;
    let at_once = || dashboard.view(Deadline::after(Duration::ZERO)).unwrap();
    fixture.record("a", &[3, 0]);
    let query = FindingListQuery::default();
    assert_eq!(dashboard.findings_by(&query, Deadline::after(Duration::ZERO)).unwrap(), None);
    let early = at_once();
    assert!(early.work.is_none() && matches!(early.statistics, Ok(None)));
    let full = fixture.view();
    assert_ne!(full.mark, early.mark);
    assert_eq!(full.mark, dashboard.mark().unwrap());
    assert_eq!(full.statistics.unwrap().unwrap().overview.total.open, 2);
    assert!(dashboard.findings_by(&query, Deadline::after(Duration::ZERO)).unwrap().is_some());
    // Statistics that are computed need no wait; after a change they are missing, and not old.
    assert!(matches!(at_once().statistics, Ok(Some(_))));
    fixture.record("bb", &[1]);
    assert!(matches!(at_once().statistics, Ok(None)));
    assert_eq!(fixture.view().statistics.unwrap().unwrap().overview.total.open, 3);
}

#[test]
fn a_refused_ledger_is_an_error_of_its_parts_and_not_of_the_work() {
    let fixture = fixture();
    fixture.push("t1", |_| ());
    fixture.record("a", &[0]);
    let path = fixture.repository.path().join(".assay/ledger.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.push(0);
    std::fs::write(&path, bytes).unwrap();
    let view = fixture.view();
    assert_eq!(view.work.unwrap().waiting.len(), 1);
    let error = view.statistics.unwrap_err().to_string();
    assert!(error.contains("another program changed the state"), "{error}");
    // The error is known, so that the next page shows the error at once.
    let query = FindingListQuery::default();
    let next = fixture.dashboard.findings_by(&query, Deadline::after(Duration::ZERO));
    assert!(next.unwrap_err().to_string().contains("another program changed the state"));
}

#[test]
fn a_query_with_an_invalid_value_names_the_parameter() {
    let fixture = fixture();
    let text = |value: &str| Some(value.to_owned());
    let queries = [
        FindingListQuery { state: text("closed"), ..Default::default() },
        FindingListQuery { severity: text("terrible"), ..Default::default() },
        FindingListQuery { since: text("soon"), ..Default::default() },
        FindingListQuery { after: text("1"), ..Default::default() },
        FindingListQuery { limit: text("0"), ..Default::default() },
        FindingListQuery { limit: text("201"), ..Default::default() },
    ];
    for (query, name) in
        queries.iter().zip(["state", "severity", "since", "after", "limit", "limit"])
    {
        let error = fixture.dashboard.findings(query).unwrap_err();
        assert!(matches!(error, DashboardError::Invalid(_)), "{error}");
        assert!(error.to_string().starts_with(&format!("invalid `{name}`")), "{error}");
    }
}

#[test]
fn a_finding_is_dismissed_with_a_reason_and_reopened() {
    let fixture = fixture();
    fixture.record("a", &[0, 1]);
    let ids = fixture.open_ids();
    let id = ids[0].clone();
    let dismiss = |reason: &str, until: Option<&str>| {
        let input = DismissalInput { reason: reason.into(), until: until.map(str::to_owned) };
        fixture.act(&DashboardAction::DismissFinding(id.clone(), input))
    };
    assert!(dismiss("", None).unwrap_err().starts_with("invalid `reason`"));
    assert!(dismiss("ok", None).unwrap_err().starts_with("invalid `reason`"));
    assert!(dismiss("a test fixture", Some("soon")).unwrap_err().starts_with("invalid `until`"));
    dismiss("a test fixture", None).unwrap();
    assert_eq!(fixture.open_ids(), ids[1..]);
    let detail = fixture.dashboard.finding(&id).unwrap();
    assert_eq!(detail.finding.state, FindingState::Dismissed.as_str());
    assert_eq!((detail.decisions[0].by.as_str(), detail.decisions.len()), ("Ann", 1));
    fixture.act(&DashboardAction::ReopenFinding(id.clone())).unwrap();
    assert_eq!(fixture.open_ids(), ids);
    let again = fixture.act(&DashboardAction::ReopenFinding(id)).unwrap_err();
    assert!(again.contains("is open, and no decision"), "{again}");
}

#[test]
fn tasks_are_cancelled_and_retried_and_every_action_is_in_the_audit_log() {
    let fixture = fixture();
    fixture.push("t1", |_| ());
    let action = |name: fn(String) -> DashboardAction, id: &str| fixture.act(&name(id.to_owned()));
    action(DashboardAction::CancelTask, "t1").unwrap();
    assert!(action(DashboardAction::CancelTask, "t1").unwrap_err().contains("is cancelled"));
    action(DashboardAction::RetryTask, "t1").unwrap();
    assert_eq!(fixture.dashboard.task("t1").unwrap().task.status, "pending");
    assert!(action(DashboardAction::RetryTask, "t2").unwrap_err().contains("unknown task"));
    assert!(action(DashboardAction::PauseAgent, "qa").unwrap_err().contains("unknown agent"));
    action(DashboardAction::PauseAgent, "all").unwrap();
    assert!(fixture.queue.is_paused(&"qa".parse().unwrap()).unwrap());
    action(DashboardAction::ResumeAgent, "all").unwrap();
    let entries = fixture.dashboard.audit(100).unwrap().entries;
    let lines = entries.iter().rev().map(|entry| {
        let end = if entry.result == "ok" { "ok" } else { "error" };
        format!("{} {} {} {end}", entry.by, entry.action, entry.target)
    });
    let expected = [
        "Ann task.cancel t1 ok", "Ann task.cancel t1 error", "Ann task.retry t1 ok",
        "Ann task.retry t2 error", "Ann agent.pause qa error", "Ann agent.pause all ok",
        "Ann agent.resume all ok",
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    assert_eq!(fixture.dashboard.audit(1).unwrap().entries[0].action, "agent.resume");
}

#[test]
fn credentials_in_tasks_are_redacted_and_blocked_tasks_have_their_reason() {
    let fixture = fixture();
    let key = &format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    fixture.push("t1", |task| task.title = format!("Use {key}"));
    fixture.push("t2", |task| task.depends_on = vec!["t1".parse().unwrap()]);
    fixture.act(&DashboardAction::CancelTask("t1".into())).unwrap();
    let work = fixture.view().work.unwrap();
    assert_eq!((work.total(|queue| queue.blocked), work.blocked.len()), (1, 1));
    assert!(work.blocked[0].reason.as_deref().unwrap().contains("t1"), "{:?}", work.blocked);
    let shown = fixture.dashboard.task("t1").unwrap().task.title;
    assert!(!shown.contains(key) && shown.starts_with("Use "), "{shown}");
}
