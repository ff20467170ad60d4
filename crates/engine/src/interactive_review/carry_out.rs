//! The effects of the decisions of an interactive review: [`carry_out`].

use std::path::Path;

use anyhow::Context;
use assay_base::hash::short_hash;
use assay_change::{Change, StagedFiles};
use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_findings::write::{self, FindingsDocument, ListStyle};
use assay_review::fix::FixPlan;
use assay_review::runs::{self, StoredFix};
use assay_review::staged_fix::StagedFixPlan;
use assay_store::queue::{QueueError, QueuedTask};
use assay_store::task::{Moment, Task};
use serde_json::{Map, json};

use super::DecisionList;
use crate::config::agents::AgentSettings;
use crate::environment::Environment;
use crate::queues;
use crate::review_session::ReviewSession;

/// The place that fixes are applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixTarget {
    /// The work tree.
    WorkTree,
    /// The index and the work tree.
    Index,
    /// The change is in neither, so that no fix can be applied.
    None,
}

impl FixTarget {
    /// Returns the place that has the files of a change.
    pub fn of(change: &Change, is_staged: bool) -> FixTarget {
        match (is_staged, change.is_in_work_tree()) {
            (true, _) => FixTarget::Index,
            (false, true) => FixTarget::WorkTree,
            (false, false) => FixTarget::None,
        }
    }

    /// Returns the fixes of a review that can be applied here.
    pub fn fixes(self, change: &Change, synthesis: &Synthesis) -> Vec<StoredFix> {
        match self {
            FixTarget::None => Vec::new(),
            FixTarget::WorkTree | FixTarget::Index => runs::fixes_of(change, synthesis),
        }
    }
}

/// The effects of the decisions of a user.
#[derive(Debug, Default)]
pub struct CarriedOut {
    /// The fixes that were applied and refused; `None` if none was chosen.
    pub plan: Option<FixPlan>,
    /// The number of findings that were accepted into the baseline.
    pub accepted: usize,
    /// The task for an agent; `None` if none was created.
    pub task: Option<QueuedTask>,
    /// The reason why the task could not be queued. All other decisions are carried out.
    pub queue_error: Option<anyhow::Error>,
}

impl CarriedOut {
    /// Returns true if a file was changed by a fix.
    pub fn has_fixed(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| !plan.files.is_empty())
    }
}

/// Carries out the decisions: applies all fixes in one step, accepts findings into the baseline, and
/// queues one task for an agent.
pub fn carry_out(
    environment: &Environment,
    session: &mut ReviewSession,
    synthesis: &Synthesis,
    decisions: &DecisionList<'_>,
    target: FixTarget,
    user: &str,
) -> anyhow::Result<CarriedOut> {
    let mut done = CarriedOut::default();
    let accepted = decisions.to_accept();
    if !accepted.is_empty() {
        for (finding, reason) in &accepted {
            session.baseline.accept([*finding], user, reason);
        }
        session.baseline.save(&session.change.root)?;
        session.apply_baseline();
        done.accepted = accepted.len();
    }
    let queued = decisions.to_queue();
    if !queued.is_empty() {
        match queue_task(environment, session, synthesis, &queued, user) {
            Ok(task) => done.task = Some(task),
            Err(error) => done.queue_error = Some(error),
        }
    }
    let apply = decisions.to_apply();
    if !apply.is_empty() {
        let mut fixes = target.fixes(&session.change, synthesis);
        fixes.retain(|fix| apply.iter().any(|finding| finding.id == fix.finding));
        done.plan = Some(apply_fixes(&session.change, fixes, target)?);
    }
    Ok(done)
}

fn apply_fixes(
    change: &Change,
    fixes: Vec<StoredFix>,
    target: FixTarget,
) -> anyhow::Result<FixPlan> {
    let root = &change.root;
    if target == FixTarget::Index {
        let plan = StagedFixPlan::new(change, StagedFiles::open(root, None)?, fixes)?;
        plan.apply(root)?;
        return Ok(plan.index);
    }
    let plan = FixPlan::new(root, fixes);
    plan.apply(root)?;
    Ok(plan)
}

/// Queues a task for the agent that fixes, which works on the last commit of the branch. A task for
/// the same findings of the same commit is queued once.
fn queue_task(
    environment: &Environment,
    session: &ReviewSession,
    synthesis: &Synthesis,
    findings: &[&Finding],
    user: &str,
) -> anyhow::Result<QueuedTask> {
    let change = &session.change;
    let lineage = change.lineage()?;
    let branch = lineage.branch.filter(|_| change.pull_head().is_none());
    let branch = branch.context("an agent works on a branch, and the change is on none")?;
    let findings: Vec<Finding> = findings.iter().map(|finding| (*finding).clone()).collect();
    let mut context = Map::new();
    context.insert("branch_name".to_owned(), json!(branch));
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    let seed = format!("{}:{}", lineage.head.unwrap_or_default(), ids.join(","));
    let review = short_hash(seed, 16);
    let document = FindingsDocument {
        findings: Some(&findings),
        synthesis: Some(synthesis),
        review_id: Some(&review),
        context,
        version: env!("CARGO_PKG_VERSION"),
        ..FindingsDocument::default()
    };
    let fix = write::fix_task(&document, ListStyle::Boxes);
    push_task(environment, &change.root, fix, user)
}

fn push_task(
    environment: &Environment,
    root: &Path,
    fix: write::FixTask,
    user: &str,
) -> anyhow::Result<QueuedTask> {
    let settings = AgentSettings::on_disk(environment, root)?;
    let queue = settings.configuration.workflow.fixer.clone();
    let now = Moment(environment.clock().now());
    let mut task = Task::new(fix.id.parse()?, fix.kind.parse()?, fix.title, now);
    task.description = fix.description;
    task.context = fix.context;
    task.created_by = user.to_owned();
    task.assigned_to = queue.to_string();
    let queued = QueuedTask { queue, task };
    match queues::open(root, &settings)?.push(vec![queued.clone()]) {
        Ok(_) | Err(QueueError::AlreadyExists { .. }) => Ok(queued),
        Err(error) => Err(error.into()),
    }
}
