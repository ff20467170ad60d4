//! Actions of users on tasks, agents, findings, loops and gates, each recorded in the audit log.

use assay_findings::identity::Day;
use assay_gates::gate::GateError;
use assay_gates::gate_state::UpdateError;
use assay_gates::item::ItemId;
use assay_store::queue::PauseTarget;
use assay_store::task::{AgentId, Moment, TaskId};
use assay_validate::decision::DecisionError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::audit_log::{ActionOrigin, AuditEntry};
use super::{Dashboard, DashboardError};
use crate::finding_ledger::{DismissRequest, FindingLedger};
use crate::loop_session::{SignOff, SignOffRefusal, record_sign_off};

/// The name that means all agents.
pub const ALL_AGENTS: &str = "all";

/// The reason of a dismissal, and its last day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DismissalInput {
    /// The reason, which later readers of the finding see. A text that states nothing, such as
    /// `because`, is refused.
    #[schemars(length(min = 1))]
    pub reason: String,
    /// The last day of the dismissal, such as `2026-12-31`, today or later; absent for no end.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    pub until: Option<String>,
}

/// The decision of a person on a loop: on the whole tree, or on one issue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("allOf" = [requires("because", "for"), requires("for", "because")]))]
pub struct LoopSignOffInput {
    /// The name of the person; absent for the user of the server.
    pub by: Option<String>,
    /// The title of the issue or the text of the criterion; absent to sign off the whole tree.
    #[serde(rename = "for")]
    #[schemars(length(min = 1), regex(pattern = r"\S"))]
    pub about: Option<String>,
    /// The reason of a decision on one issue, which readers of the report see. Required with `for`.
    pub because: Option<String>,
    /// The `tree` of the loop that the person saw. If the tree has changed since, the decision is
    /// refused; absent to decide on the current tree.
    pub tree: Option<String>,
}

/// Returns the schema of an object in which the first text is given only with the second.
fn requires(first: &str, second: &str) -> serde_json::Value {
    let given = |name: &str| serde_json::json!({ "required": [name], "properties": { name: { "type": "string" } } });
    serde_json::json!({ "if": given(first), "then": given(second) })
}

impl LoopSignOffInput {
    /// Fails if an issue without a name, or a reason without an issue, would sign off the whole tree,
    /// and if a decision on an issue has no reason.
    fn check(&self) -> Result<(), &'static str> {
        match (&self.about, &self.because) {
            (Some(about), _) if about.trim().is_empty() => Err(
                "invalid `for`: expected the title of an issue or the text of a criterion; leave \
                 out `for` to sign off the whole tree",
            ),
            (None, Some(_)) => {
                Err("invalid `because`: a reason belongs to a decision on one issue; add `for`")
            }
            (Some(_), None) => Err(
                "missing `because`: a decision on one issue needs a reason, for the readers of the \
                 report",
            ),
            (Some(_), Some(_)) | (None, None) => Ok(()),
        }
    }
}

/// The acceptance of a failed item of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateAcceptInput {
    /// The id of the item. Required.
    pub item: String,
    /// The reason, which later readers of the gate see. Required.
    pub reason: String,
    /// The name of the person, who wrote neither the items nor a fix; absent for the user of the
    /// server.
    pub by: Option<String>,
}

/// An action on a task, an agent, a finding, a loop or a gate.
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
    /// Signs off the tree of a loop, or decides one of its issues.
    SignOffLoop(String, LoopSignOffInput),
    /// Accepts a failed item of a gate.
    AcceptGateItem(String, GateAcceptInput),
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
            DashboardAction::SignOffLoop(..) => "loop.sign-off",
            DashboardAction::AcceptGateItem(..) => "gate.accept",
        }
    }

    /// Returns the id of the task, the agent, the finding, the loop or the gate.
    pub fn target(&self) -> &str {
        match self {
            DashboardAction::RetryTask(id)
            | DashboardAction::CancelTask(id)
            | DashboardAction::PauseAgent(id)
            | DashboardAction::ResumeAgent(id)
            | DashboardAction::DismissFinding(id, _)
            | DashboardAction::ReopenFinding(id)
            | DashboardAction::SignOffLoop(id, _)
            | DashboardAction::AcceptGateItem(id, _) => id,
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            DashboardAction::DismissFinding(_, input) => Some(&input.reason),
            DashboardAction::AcceptGateItem(_, input) => Some(&input.reason),
            DashboardAction::SignOffLoop(_, input) => input.because.as_deref(),
            DashboardAction::RetryTask(_)
            | DashboardAction::CancelTask(_)
            | DashboardAction::PauseAgent(_)
            | DashboardAction::ResumeAgent(_)
            | DashboardAction::ReopenFinding(_) => None,
        }
    }

    /// Returns the issue or the item that a person decides, and the name of the person; `None` for
    /// other actions.
    fn decision(&self) -> (Option<&str>, Option<&str>) {
        match self {
            DashboardAction::SignOffLoop(_, input) => (input.about.as_deref(), input.by.as_deref()),
            DashboardAction::AcceptGateItem(_, input) => (Some(&input.item), input.by.as_deref()),
            DashboardAction::RetryTask(_)
            | DashboardAction::CancelTask(_)
            | DashboardAction::PauseAgent(_)
            | DashboardAction::ResumeAgent(_)
            | DashboardAction::DismissFinding(..)
            | DashboardAction::ReopenFinding(_) => (None, None),
        }
    }
}

/// A completed action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionView {
    /// The name of the action, such as `task.cancel`.
    pub action: String,
    /// The id of the task, the agent, the finding, the loop or the gate.
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
        let (about, signer) = action.decision();
        let entry = AuditEntry {
            at: Moment::now(self.environment.clock()).to_string(),
            by: self.user.clone(),
            via,
            action: action.name().to_owned(),
            target: action.target().to_owned(),
            about: about.map(str::to_owned),
            signer: signer.map(str::to_owned),
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
            DashboardAction::SignOffLoop(id, input) => self.sign_off(id, input),
            DashboardAction::AcceptGateItem(id, input) => self.accept(id, input),
        }
    }

    /// Returns the name under which a person decides: the given one, or the user of the server.
    fn signer<'a>(&'a self, given: Option<&'a str>) -> &'a str {
        given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(&self.user)
    }

    /// Records the sign-off of a tree or the decision on an issue, as `assay qa --sign-off` does.
    fn sign_off(&self, id: &str, input: &LoopSignOffInput) -> Result<(), DashboardError> {
        input.check().map_err(|text| DashboardError::Invalid(text.to_owned()))?;
        let word = SignOff {
            by: self.signer(input.by.as_deref()),
            about: input.about.as_slice(),
            because: input.because.as_deref().unwrap_or_default(),
            seen_tree: input.tree.as_deref(),
        };
        let place = self.spec_of_loop(id)?;
        record_sign_off(&place, word, &|_| ()).map(drop).map_err(sign_off_error)
    }

    /// Accepts a failed item of a gate, as `assay gate accept` does.
    fn accept(&self, phase: &str, input: &GateAcceptInput) -> Result<(), DashboardError> {
        let phase = self.existing_gate(phase)?;
        let invalid = |error| DashboardError::Invalid(format!("invalid `item`: {error}"));
        let item: ItemId = input.item.parse().map_err(invalid)?;
        let by = self.signer(input.by.as_deref());
        let opened = self.open_gate(phase)?;
        opened.with_gate(|gate| gate.accept(&item, &input.reason, by)).map_err(accept_error)
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

/// Returns the error of a decision that was not recorded.
fn sign_off_error(error: anyhow::Error) -> DashboardError {
    let text = error.to_string();
    match error.downcast_ref() {
        Some(DecisionError::Reason { .. }) => DashboardError::Invalid(text),
        Some(DecisionError::Unknown { .. } | DecisionError::Several { .. }) => {
            DashboardError::Invalid(text)
        }
        Some(
            DecisionError::NotReviewed
            | DecisionError::Met { .. }
            | DecisionError::Evidence { .. }
            | DecisionError::Decided { .. },
        ) => DashboardError::Conflict(text),
        None if error.is::<SignOffRefusal>() => DashboardError::Conflict(text),
        None => DashboardError::Failed(error),
    }
}

/// Returns the error of an item that was not accepted.
fn accept_error(error: GateError) -> DashboardError {
    let text = error.to_string();
    match error {
        GateError::Update(UpdateError::Unknown(_)) => DashboardError::Unknown(text),
        GateError::Update(UpdateError::NoReason(_) | UpdateError::NoName(_)) => {
            DashboardError::Invalid(text)
        }
        GateError::Update(_) => DashboardError::Conflict(text),
        GateError::Store(_) | GateError::Items(_) => DashboardError::Failed(error.into()),
    }
}

fn task_id(id: &str) -> Result<TaskId, DashboardError> {
    id.parse().map_err(|_| DashboardError::Unknown(format!("unknown task {id:?}")))
}
