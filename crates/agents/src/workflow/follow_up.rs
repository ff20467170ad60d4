//! Decisions on the follow-up tasks of reviews and fixes, without side effects.

use std::collections::BTreeSet;

use assay_base::hash::short_hash;
use assay_base::text::first_chars;
use assay_findings::finding::Finding;
use assay_findings::grade::Scheme;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::VerdictState;
use assay_findings::write::{self, FindingsDocument, ListStyle, describe_for_person};
use assay_store::pulls::Pull;
use assay_store::queue::QueuedTask;
use assay_store::task::{Moment, Priority, QueueName, Task, TaskId, TaskKind};
use serde_json::{Map, Value, json};

use super::ReviewOutcome;
use super::context_keys::{BASE_KEYS, OWN_BRANCH_KEY};
use super::subject::before;
use crate::change_event::ChangeEvent;
use crate::config::framework::{Route, Workflow};
use crate::config::roster::{Permission, Roster};
use crate::task_handler::{HandlerError, TaskOutcome};

/// The context key for the number of times that a change was sent back.
pub(super) const CYCLE_KEY: &str = "_review_cycle_count";

/// The prefix of a commit message's line with that number.
pub(super) const CYCLE_TRAILER: &str = "Review-Cycle: ";

/// The context key for the first task of a chain.
const ROOT_KEY: &str = "_root_task_id";

/// The context key for the queues that were notified of a change besides the queue of the fix.
const NOTIFIED_KEY: &str = "_also_told";

/// The context key for the implemented spec: a prefix of its folder's name.
const SPEC_KEY: &str = "spec";

/// Context keys that are dropped from follow-up tasks, so that the next review is not biased by
/// this one.
const REVIEW_KEYS: [&str; 5] =
    ["structured_findings", "findings_summary", "verdict", "run", "reviewed_commit"];

/// The inputs of a decision, besides the task.
pub struct FollowUpInput<'a> {
    /// The settings for follow-up tasks.
    pub workflow: &'a Workflow,
    /// The configured agents.
    pub roster: &'a Roster,
    /// The queue from which the task was claimed.
    pub queue: &'a QueueName,
    /// The name of the worker.
    pub worker: &'a str,
    /// The current time.
    pub now: Moment,
    /// The version of the program.
    pub version: &'a str,
}

/// Decides on the follow-up of a review. Only reviews from the reviewer's queue create tasks.
pub fn after_review(
    input: &FollowUpInput<'_>,
    task: &Task,
    reviewed: &ReviewOutcome,
) -> Result<TaskOutcome, HandlerError> {
    let verdict = &reviewed.synthesis.verdict;
    let summary = reasons(&reviewed.synthesis);
    let (word, follow_ups, event) = match verdict.state {
        VerdictState::Incomplete => {
            let error = format!("the review is incomplete, so it has no verdict: {summary}");
            return Err(HandlerError { error, is_transient: reviewed.may_answer_later });
        }
        VerdictState::Ready | VerdictState::ReadyWithFixes => {
            ("approved", Vec::new(), ChangeEvent::Approved { summary: summary.clone() })
        }
        VerdictState::NothingToReview => (
            "nothing_to_review",
            Vec::new(),
            ChangeEvent::NothingToReview { summary: summary.clone() },
        ),
        VerdictState::NotReady if input.queue != &input.workflow.reviewer => {
            ("needs_fix", Vec::new(), ChangeEvent::ChangesRequested { summary: summary.clone() })
        }
        VerdictState::NotReady => {
            let (follow_ups, event) = send_back(input, task, &reviewed.synthesis, &summary);
            ("needs_fix", follow_ups, event)
        }
    };
    let mut context = Map::new();
    context.insert("verdict".to_owned(), json!(word));
    context.extend(reviewed.run.as_ref().map(|run| ("run".to_owned(), json!(run))));
    let summary = format!("{}: {summary}", verdict.state.in_words());
    Ok(TaskOutcome { summary, context, follow_ups, event: Some(event), review: None })
}

/// Decides on the follow-up of committed work: a review. Work on a spec is validated against the
/// spec instead, which includes a review.
pub fn after_commit(
    input: &FollowUpInput<'_>,
    task: &Task,
    branch: &str,
    pull: Option<&Pull>,
    summary: String,
) -> TaskOutcome {
    let spec = spec(task).filter(|_| task.kind.as_str() == "implementation");
    let next = match (spec, pull) {
        (Some(spec), _) => validation(input, task, branch, &spec, &summary),
        (None, Some(pull)) => review_of(input, task, pull, &summary),
        (None, None) => review(input, task, branch, &summary),
    };
    let mut context = Map::new();
    context.insert("branch_name".to_owned(), json!(branch));
    for (key, value) in pull.iter().flat_map(|pull| pull.context()) {
        if ["github_repo", "pr_number", "pr_url"].contains(&key.as_str()) {
            context.insert(key, value);
        }
    }
    let pull = pull.cloned().map(Box::new);
    let event = Some(ChangeEvent::ReadyForReview { branch: branch.to_owned(), pull });
    TaskOutcome { context, follow_ups: vec![next], event, ..TaskOutcome::done(summary) }
}

/// Returns the review task of a pull request: the task that a trigger would create, with more
/// context.
fn review_of(input: &FollowUpInput<'_>, task: &Task, pull: &Pull, summary: &str) -> QueuedTask {
    let mut next = pull.review(&input.workflow.reviewer, input.worker, input.now);
    let known = new_follow_up(input, task, next.task.id.clone(), "review", &next.task.title);
    next.task.priority = known.priority;
    next.task.acceptance_criteria = known.acceptance_criteria;
    next.task.description =
        format!("{}\n\nIt was worked on for task {}:\n\n{summary}", next.task.description, task.id);
    let mut context = known.context;
    context.retain(|key, _| {
        let is_of_before = REVIEW_KEYS.contains(&key.as_str()) || key == OWN_BRANCH_KEY;
        !is_of_before && !BASE_KEYS.contains(&key.as_str()) && key != "commit"
    });
    let mut of_pull = pull.context();
    // The ticket of the task is more reliable than one from the name of a branch.
    if context.contains_key("jira_key") {
        of_pull.retain(|key, _| key != "jira_key" && key != "jira_project");
    }
    context.extend(of_pull);
    next.task.context = context;
    next
}

/// Returns the spec that a task names. A spec that is a number may be a JSON number.
pub(super) fn spec(task: &Task) -> Option<String> {
    let named = task.context.get(SPEC_KEY)?;
    let number = || named.as_u64().map(|number| number.to_string());
    named.as_str().map(str::to_owned).or_else(number).filter(|name| !name.is_empty())
}

/// Returns the review task of a branch.
pub(super) fn review(
    input: &FollowUpInput<'_>,
    task: &Task,
    branch: &str,
    summary: &str,
) -> QueuedTask {
    let (end, again) = match cycle(task) {
        0 => (String::new(), ""),
        cycle => (format!("-c{cycle}"), " again"),
    };
    let id = derive_id("review", &root(task), &end);
    let title = format!("Review {}{again}", about_branch(task, branch));
    let review = new_follow_up(input, task, id, "review", &title);
    on_branch(review, task, branch, summary, &input.workflow.reviewer)
}

/// Returns the validation task of a branch, for the queue that worked on the branch, where failures
/// are fixed.
fn validation(
    input: &FollowUpInput<'_>,
    task: &Task,
    branch: &str,
    spec: &str,
    summary: &str,
) -> QueuedTask {
    let id = derive_id("validation", &root(task), "");
    let title = format!("Validate {} by spec {}", about_branch(task, branch), clean(spec));
    let validation = new_follow_up(input, task, id, "validation", &title);
    on_branch(validation, task, branch, summary, input.queue)
}

/// Makes a task refer to a branch that was worked on for another task.
fn on_branch(
    mut next: Task,
    task: &Task,
    branch: &str,
    summary: &str,
    queue: &QueueName,
) -> QueuedTask {
    next.description = format!("`{branch}` was worked on for task {}:\n\n{summary}", task.id);
    next.context.retain(|key, _| !REVIEW_KEYS.contains(&key.as_str()));
    // From now on the whole branch is reviewed, which contains the commit.
    next.context.remove("head_commit");
    let commit = next.context.remove("commit");
    let commit = commit.as_ref().and_then(Value::as_str);
    if let Some(commit) =
        commit.filter(|_| !BASE_KEYS.iter().any(|key| task.context.contains_key(*key)))
    {
        next.context.insert("base".to_owned(), json!(before(commit)));
    }
    next.context.insert("branch_name".to_owned(), json!(branch));
    next.context.insert(OWN_BRANCH_KEY.to_owned(), json!(branch));
    next.assigned_to = queue.to_string();
    QueuedTask { queue: queue.clone(), task: next }
}

/// Decides on the follow-up of a fix that changed nothing: a person has to decide.
pub fn after_empty_fix(input: &FollowUpInput<'_>, task: &Task, summary: String) -> TaskOutcome {
    let reason = format!("nothing more could be fixed without a person ({summary})");
    let mut escalation = escalation(input, task, "review", &reason);
    escalation.task.description =
        format!("{}\n\n{}", escalation.task.description, describe_for_person(&task.description));
    TaskOutcome {
        follow_ups: vec![escalation],
        event: Some(ChangeEvent::Escalated { reason }),
        ..TaskOutcome::done(summary)
    }
}

/// Sends a change back for a fix; after too many cycles, escalates it to a person.
fn send_back(
    input: &FollowUpInput<'_>,
    task: &Task,
    synthesis: &Synthesis,
    summary: &str,
) -> (Vec<QueuedTask>, ChangeEvent) {
    let cycle = cycle(task) + 1;
    let findings = &synthesis.findings;
    let root = root(task);
    let document = FindingsDocument {
        findings: (!findings.is_empty()).then_some(findings),
        synthesis: Some(synthesis),
        summary: Some(summary),
        review_id: Some(root.as_str()),
        cycle: Some(cycle),
        context: task.context.clone(),
        version: input.version,
        ..FindingsDocument::default()
    };
    let fix = write::fix_task(&document, ListStyle::Boxes);
    let most = input.workflow.max_review_cycles.get();
    if cycle > most {
        let reason = format!("the change was sent back {most} times and is still not ready");
        let mut escalation = escalation(input, task, "review", &reason);
        escalation.task.description =
            format!("{}\n\n{}", escalation.task.description, describe_for_person(&fix.description));
        escalation.task.context = with_root(fix.context, &root);
        return (vec![escalation], ChangeEvent::Escalated { reason });
    }
    let routed = decide_route(input, task, findings);
    let id = derive_id("review-fix", &root, &format!("-c{cycle}"));
    let mut task = new_follow_up(input, task, id, "fix", &fix.title);
    task.description = fix.description;
    task.context = with_root(fix.context, &root);
    task.assigned_to = routed.to.to_string();
    let notified = notify_routes(input, &mut task, &routed.also);
    let mut follow_ups = vec![QueuedTask { queue: routed.to, task }];
    follow_ups.extend(notified);
    (follow_ups, ChangeEvent::ChangesRequested { summary: summary.to_owned() })
}

/// The queues for a change that is sent back.
struct RouteDecision<'a> {
    to: QueueName,
    /// The queues that are notified as well, with the applicable routes.
    also: Vec<(&'a QueueName, &'a Route)>,
}

fn decide_route<'a>(
    input: &FollowUpInput<'a>,
    task: &Task,
    findings: &[Finding],
) -> RouteDecision<'a> {
    let routes = input.workflow.routes.iter().filter(|route| applies(route, findings));
    let (mut to, mut also) = (None, Vec::new());
    for route in routes {
        let known = route.to.as_ref().filter(|queue| input.roster.has_agent_for(queue));
        to = to.or_else(|| known.cloned());
        also.extend(route.also.iter().map(|queue| (queue, route)));
    }
    RouteDecision { to: to.unwrap_or_else(|| author_queue(input, task)), also }
}

/// Returns true if a route applies to the findings.
fn applies(route: &Route, findings: &[Finding]) -> bool {
    let level = route.severity.word_in_scheme(Scheme::Qa7);
    let meant: Vec<&Finding> =
        findings.iter().filter(|found| found.grade.word_in_scheme(Scheme::Qa7) == level).collect();
    let files: BTreeSet<_> = meant.iter().filter_map(|found| found.file.as_ref()).collect();
    let is_class = |found: &&Finding| route.autofix.is_none_or(|it| found.autofix_class == it);
    meant.iter().any(is_class) && files.len() >= route.min_files
}

/// Returns the queue of the agent that made the change, if it may edit; else the queue of the
/// fixer.
fn author_queue(input: &FollowUpInput<'_>, task: &Task) -> QueueName {
    let maker = input.roster.find_by_worker(&task.created_by);
    let maker = maker.filter(|agent| agent.may(Permission::Edit));
    maker.map_or_else(|| input.workflow.fixer.clone(), |agent| agent.queue.clone())
}

/// Returns the tasks for the queues that are notified as well, once for a change.
fn notify_routes(
    input: &FollowUpInput<'_>,
    fix: &mut Task,
    also: &[(&QueueName, &Route)],
) -> Vec<QueuedTask> {
    let notified =
        fix.context.get(NOTIFIED_KEY).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut notified: Vec<String> =
        notified.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let mut tasks = Vec::new();
    for (queue, route) in also {
        if notified.iter().any(|name| name == queue.as_str()) {
            continue;
        }
        notified.push(queue.to_string());
        let level = route.severity.word_in_scheme(Scheme::Qa7);
        let about = about(fix).unwrap_or_else(|| "a change".to_owned());
        let title = format!("{level} findings in the review of {about}");
        let id = derive_id(
            &format!("review-{}", level.to_lowercase()),
            &root(fix),
            &format!("-{queue}"),
        );
        let mut task = new_follow_up(input, fix, id, TaskKind::ESCALATION, &title);
        task.priority = one_step_higher(fix.priority);
        task.description = format!("Task {} fixes them.\n\n{}", fix.id, fix.description);
        task.assigned_to = queue.to_string();
        tasks.push(QueuedTask { queue: (*queue).clone(), task });
    }
    if !notified.is_empty() {
        fix.context.insert(NOTIFIED_KEY.to_owned(), json!(notified));
    }
    tasks
}

/// Returns the task by which a person decides on a review or a validation. A change has one.
pub(super) fn escalation(
    input: &FollowUpInput<'_>,
    task: &Task,
    of: &str,
    reason: &str,
) -> QueuedTask {
    let about = about(task).unwrap_or_else(|| format!("task {}", root(task)));
    let title = format!("Decide on the {of} of {about}");
    let id = derive_id(&format!("{of}-escalation"), &root(task), "");
    let mut escalation = new_follow_up(input, task, id, TaskKind::ESCALATION, &title);
    escalation.priority = one_step_higher(task.priority);
    escalation.description = format!("A person must decide: {reason}.");
    escalation.rest.insert("needs_human_review".to_owned(), Value::Bool(true));
    let queue = input.workflow.escalations.clone();
    escalation.assigned_to = queue.to_string();
    QueuedTask { queue, task: escalation }
}

/// Returns a task that follows from another, about the same change.
fn new_follow_up(
    input: &FollowUpInput<'_>,
    task: &Task,
    id: TaskId,
    kind: &str,
    title: &str,
) -> Task {
    let kind = kind.parse().expect("our kinds are names");
    let title = first_chars(title, 200);
    let mut next = Task::new(id, kind, title, input.now);
    next.priority = task.priority;
    next.created_by = input.worker.to_owned();
    next.acceptance_criteria.clone_from(&task.acceptance_criteria);
    next.context = with_root(task.context.clone(), &root(task));
    next
}

/// Returns the priority one step above, which is never that of an escalated failure.
fn one_step_higher(priority: Priority) -> Priority {
    let number = i64::from(priority.get()).saturating_sub(1).max(1);
    Priority::try_from(number).expect("it is between 1 and 100")
}

/// Returns the first task of the chain.
fn root(task: &Task) -> TaskId {
    let named = task.context.get(ROOT_KEY).and_then(Value::as_str);
    named.and_then(|name| name.parse().ok()).unwrap_or_else(|| task.id.clone())
}

fn with_root(mut context: Map<String, Value>, root: &TaskId) -> Map<String, Value> {
    context.insert(ROOT_KEY.to_owned(), json!(root));
    context
}

/// Returns the number of times that a change was sent back, from its commit messages.
pub(super) fn cycle_in(messages: &[String]) -> u32 {
    let lines = messages.iter().flat_map(|message| message.lines());
    let notified = lines.filter_map(|line| line.strip_prefix(CYCLE_TRAILER)?.trim().parse().ok());
    notified.max().unwrap_or(0).min(u32::MAX - 1)
}

/// Returns the number of times that the change of a task was sent back.
pub(super) fn cycle(task: &Task) -> u32 {
    let count = task.context.get(CYCLE_KEY).and_then(Value::as_u64).unwrap_or(0);
    u32::try_from(count).unwrap_or(u32::MAX - 1)
}

/// Returns a task id that is derived from the root's, which may have the maximum length.
fn derive_id(start: &str, root: &TaskId, end: &str) -> TaskId {
    let whole = format!("{start}-{root}{end}");
    whole.parse().unwrap_or_else(|_| {
        let head = first_chars(&whole, 80);
        format!("{head}-{}", short_hash(&whole, 16)).parse().expect("it is short enough")
    })
}

/// Returns the subject of a task: its ticket, or its pull request.
fn about(task: &Task) -> Option<String> {
    let ticket = task.context.get("jira_key").and_then(Value::as_str);
    let pull = || Some(format!("PR #{}", task.context.get("pr_number")?.as_u64()?));
    ticket.map(clean).filter(|key| !key.is_empty()).or_else(pull)
}

/// Returns the subject of a task, or its branch if there is no other.
fn about_branch(task: &Task, branch: &str) -> String {
    about(task).unwrap_or_else(|| format!("`{branch}`"))
}

/// Removes control characters and truncates to 80 characters.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// Returns the reasons of a verdict.
fn reasons(synthesis: &Synthesis) -> String {
    let reasons = synthesis.verdict.because.iter().map(|reason| reason.text.as_str());
    reasons.collect::<Vec<_>>().join("; ")
}
