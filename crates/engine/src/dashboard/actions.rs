//! Actions of users on tasks, agents and findings, each recorded in the audit log.

use assay_findings::identity::Day;
use assay_store::queue::PauseTarget;
use assay_store::task::{AgentId, Moment, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::audit_log::{ActionOrigin, AuditEntry};
use super::{Dashboard, DashboardError};
use crate::finding_ledger::{DismissRequest, FindingLedger};

/// The name that means all agents.
pub const ALL_AGENTS: &str = "all";

/// The reason of a dismissal, and its last day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DismissalInput {
    /// The reason, which later readers of the finding see. Required.
    pub reason: String,
    /// The last day of the dismissal, such as `2026-12-31`; absent for no end.
    pub until: Option<String>,
}

/// An action on a task, an agent or a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DashboardAction {
    /// Makes a failed or cancelled task pending again.
    RetryTask(String),
    /// Cancels a pending or running task.
    CancelTask(String),
    /// Stops an agent, or all, from claiming tasks.
    PauseAgent(String),
    /// Lets an agent, or all, claim tasks again.
    ResumeAgent(String),
    /// Dismisses a finding, so that later reviews do not report it.
    DismissFinding(String, DismissalInput),
    /// Revokes the dismissal of a finding.
    ReopenFinding(String),
}

impl DashboardAction {
    /// Returns the name of the action in the audit log.
    pub fn name(&self) -> &'static str {
        match self {
            DashboardAction::RetryTask(_) => "task.retry",
            DashboardAction::CancelTask(_) => "task.cancel",
            DashboardAction::PauseAgent(_) => "agent.pause",
            DashboardAction::ResumeAgent(_) => "agent.resume",
            DashboardAction::DismissFinding(..) => "finding.dismiss",
            DashboardAction::ReopenFinding(_) => "finding.reopen",
        }
    }

    /// Returns the id of the task, the agent or the finding.
    pub fn target(&self) -> &str {
        match self {
            DashboardAction::RetryTask(id)
            | DashboardAction::CancelTask(id)
            | DashboardAction::PauseAgent(id)
            | DashboardAction::ResumeAgent(id)
            | DashboardAction::DismissFinding(id, _)
            | DashboardAction::ReopenFinding(id) => id,
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            DashboardAction::DismissFinding(_, input) => Some(&input.reason),
            DashboardAction::RetryTask(_)
            | DashboardAction::CancelTask(_)
            | DashboardAction::PauseAgent(_)
            | DashboardAction::ResumeAgent(_)
            | DashboardAction::ReopenFinding(_) => None,
        }
    }
}

/// A completed action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionView {
    /// The name of the action, such as `task.cancel`.
    pub action: String,
    /// The id of the task, the agent or the finding.
    pub target: String,
}

/// The newest actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditListView {
    /// The entries, the newest first.
    pub entries: Vec<AuditEntry>,
}

impl Dashboard {
    /// Carries out an action, and records it with its result. An action that cannot be recorded
    /// is reported as failed.
    pub fn act(
        &self,
        action: &DashboardAction,
        via: ActionOrigin,
    ) -> Result<ActionView, DashboardError> {
        let done = self.carry_out(action);
        let result = match &done {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        };
        let entry = AuditEntry {
            at: Moment::now(self.environment.clock()).to_string(),
            by: self.user.clone(),
            via,
            action: action.name().to_owned(),
            target: action.target().to_owned(),
            reason: action.reason().map(str::to_owned),
            result,
        };
        let recorded = self.audit.add(&entry);
        done?;
        recorded
            .map_err(|error| error.context("the action was done, and could not be recorded"))?;
        Ok(ActionView { action: entry.action, target: entry.target })
    }

    /// Returns the newest actions.
    pub fn audit(&self, limit: usize) -> Result<AuditListView, DashboardError> {
        Ok(AuditListView { entries: self.audit.newest(limit)? })
    }

    fn carry_out(&self, action: &DashboardAction) -> Result<(), DashboardError> {
        match action {
            DashboardAction::RetryTask(id) => Ok(self.queue.retry(&task_id(id)?)?),
            DashboardAction::CancelTask(id) => Ok(self.queue.cancel(&task_id(id)?, &self.user)?),
            DashboardAction::PauseAgent(id) => Ok(self.queue.pause(&self.pause_target(id)?)?),
            DashboardAction::ResumeAgent(id) => Ok(self.queue.resume(&self.pause_target(id)?)?),
            DashboardAction::DismissFinding(id, input) => self.dismiss(id, input),
            DashboardAction::ReopenFinding(id) => self.reopen(id),
        }
    }

    /// Returns an agent that is known to the queue, or all agents.
    fn pause_target(&self, id: &str) -> Result<PauseTarget, DashboardError> {
        if id == ALL_AGENTS {
            return Ok(PauseTarget::All);
        }
        let unknown = || DashboardError::Unknown(format!("unknown agent {id:?}"));
        let agent: AgentId = id.parse().map_err(|_| unknown())?;
        let is_known = self.queue.agents()?.iter().any(|seen| seen.heartbeat.agent == agent);
        is_known.then_some(PauseTarget::Agent(agent)).ok_or_else(unknown)
    }

    fn dismiss(&self, id: &str, input: &DismissalInput) -> Result<(), DashboardError> {
        let invalid = |error: anyhow::Error| DashboardError::Invalid(error.to_string());
        if !assay_findings::reason::is_reason(&input.reason) {
            let text = "invalid `reason`: expected a text that states why the finding is dismissed";
            return Err(DashboardError::Invalid(text.to_owned()));
        }
        let until = input.until.clone().filter(|day| !day.is_empty()).map(Day::try_from);
        let until = until.transpose().map_err(|_| {
            DashboardError::Invalid("invalid `until`: expected a day such as 2026-12-31".to_owned())
        })?;
        let request = DismissRequest::new(&self.environment, &input.reason, until.as_ref());
        let request = request.map_err(invalid)?;
        // The id of the page is resolved first, so that an unknown id is not an error of the ledger.
        let id = self.finding(id)?.finding.id;
        let mut ledger = FindingLedger::open(&self.environment, &self.root)?;
        ledger.dismiss(&[id], &self.user, &request)?;
        Ok(())
    }

    fn reopen(&self, id: &str) -> Result<(), DashboardError> {
        let finding = self.finding(id)?;
        if finding.decisions.first().is_none_or(|decision| decision.ended.is_some()) {
            return Err(DashboardError::Conflict(format!(
                "finding `{}` is {}, and no decision in the ledger dismisses it",
                finding.finding.id, finding.finding.state
            )));
        }
        let mut ledger = FindingLedger::open(&self.environment, &self.root)?;
        ledger.reopen(&[finding.finding.id], &self.user)?;
        Ok(())
    }
}

fn task_id(id: &str) -> Result<TaskId, DashboardError> {
    id.parse().map_err(|_| DashboardError::Unknown(format!("unknown task {id:?}")))
}
