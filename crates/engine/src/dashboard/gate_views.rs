//! Quality gates as the dashboard shows them.

use assay_gates::gate_status::{Counts, GateStatus, ItemEffect, ItemStatus};
use assay_gates::phase::Phase;
use assay_gates::sidecar::{ChecklistSource, GateInputs, JournalEntry};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Dashboard, DashboardError, redacted};
use crate::gate_outcome::{describe_outcome, next_command};
use crate::gate_session::{GateLocation, GateOptions, ModelChoice, OpenGate};

/// A quality gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateView {
    /// The phase, which is the id of the gate.
    pub phase: String,
    /// The outcome on the current content: pass, fail, open, empty, incomplete, handed_over, or
    /// unknown.
    pub outcome: String,
    /// The outcome in words.
    pub summary: String,
    /// The number of the attempt, from 1; 0 if it is unknown.
    pub iteration: u32,
    /// The path of the plan; null if there is none.
    pub plan: Option<String>,
    /// The base revision of the change; null if there is none.
    pub base: Option<String>,
    /// The numbers of items.
    pub items: GateCountsView,
}

/// The numbers of items of a gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateCountsView {
    /// The number of all items.
    pub total: usize,
    /// The number of items that passed.
    pub pass: usize,
    /// The number of items that failed.
    pub fail: usize,
    /// The number of items that were not verified on the current content.
    pub todo: usize,
    /// The number of failed items that do not block in this iteration.
    pub waived: usize,
    /// The number of failed items that a person or the policy accepted.
    pub accepted: usize,
}

/// The gates of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateListView {
    /// The gates that have a list of items, in the order of the work.
    pub gates: Vec<GateView>,
}

/// A gate with its items and the decisions of persons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateDetailView {
    /// The gate.
    #[serde(flatten)]
    pub gate: GateView,
    /// The items, in order.
    pub requirements: Vec<GateItemView>,
    /// Decisions of persons about items, including those that have no effect any more.
    pub decisions: Vec<GateDecisionView>,
    /// The remarks on the list: items that a person released, differences between the list and its
    /// record, a checklist that was left out.
    pub remarks: Vec<String>,
    /// The parties that wrote items or a fix, and so cannot accept items.
    pub authors: Vec<String>,
    /// The next command; null if the gate is passed.
    pub next: Option<String>,
}

/// An item of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateItemView {
    /// The id of the item.
    pub id: String,
    /// The severity: MUST, SHOULD or MAY.
    pub severity: String,
    /// The result on the current content: TODO, PASS or FAIL.
    pub status: String,
    /// The part of the content that the item is about; `*` for the whole.
    pub scope: String,
    /// The text of the check.
    pub check: String,
    /// The finding of a failed item; null for other items.
    pub finding: Option<String>,
    /// The effect on the gate: holds, open, blocks, waived or accepted.
    pub effect: String,
    /// The name of the person who accepted the failed item, or `assay`; null if it is not accepted.
    pub accepted_by: Option<String>,
    /// The reason for accepting it; null if it is not accepted.
    pub accepted_because: Option<String>,
    /// The number of contents on which the item failed.
    pub fails: u32,
}

/// A decision of a person about an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateDecisionView {
    /// The id of the item.
    pub item: String,
    /// The decision: accepted or released.
    pub decision: String,
    /// The name of the person.
    pub by: String,
    /// The reason.
    pub reason: String,
}

impl GateItemView {
    /// Returns true if a person can accept the item: it failed, and is not accepted yet.
    pub fn can_be_accepted(&self) -> bool {
        matches!(self.effect.as_str(), "blocks" | "waived")
    }
}

impl From<Counts> for GateCountsView {
    fn from(counts: Counts) -> GateCountsView {
        let Counts { total, pass, fail, todo, waived, accepted } = counts;
        GateCountsView { total, pass, fail, todo, waived, accepted }
    }
}

impl From<&ItemStatus> for GateItemView {
    fn from(line: &ItemStatus) -> GateItemView {
        let accepted = match &line.effect {
            ItemEffect::Holds | ItemEffect::Open | ItemEffect::Blocks | ItemEffect::Waived => None,
            ItemEffect::Accepted { reason, by } => Some((by, reason)),
        };
        GateItemView {
            id: line.item.id.to_string(),
            severity: line.severity.word().to_owned(),
            status: line.item.result.word().to_owned(),
            scope: redacted(&line.item.scope.to_string()),
            check: redacted(&line.item.check),
            finding: line.item.result.finding().as_deref().map(redacted),
            effect: line.effect.word().to_owned(),
            accepted_by: accepted.map(|(by, _)| redacted(by)),
            accepted_because: accepted.map(|(_, reason)| redacted(reason)),
            fails: line.fails,
        }
    }
}

impl From<&JournalEntry> for GateDecisionView {
    fn from(entry: &JournalEntry) -> GateDecisionView {
        GateDecisionView {
            item: entry.item.clone(),
            decision: entry.decision.word().to_owned(),
            by: redacted(&entry.by),
            reason: redacted(&entry.reason),
        }
    }
}

impl GateView {
    fn of(phase: Phase, inputs: &GateInputs, status: &GateStatus) -> GateView {
        GateView {
            phase: phase.to_string(),
            outcome: status.outcome.word().to_owned(),
            summary: redacted(&describe_outcome(&status.outcome)),
            iteration: status.attempt.iteration,
            plan: inputs.plan.clone(),
            base: inputs.base.clone(),
            items: status.counts().into(),
        }
    }

    /// Returns the view of a gate whose state cannot be read.
    fn unknown(phase: Phase, error: &anyhow::Error) -> GateView {
        GateView {
            phase: phase.to_string(),
            outcome: "unknown".to_owned(),
            summary: redacted(&format!("{error:#}")),
            ..GateView::default()
        }
    }
}

fn remarks(status: &GateStatus) -> Vec<String> {
    let altered = status.altered.iter().map(|altered| format!("the list was altered: {altered}"));
    let released = status
        .released
        .iter()
        .map(|item| format!("`{}` was released by {}: {}", item.id, item.by, item.reason));
    let left_out = (status.checklist == ChecklistSource::HandedIn)
        .then(|| "the built-in checklist was left out".to_owned());
    let unjudged = status.is_unjudged.then(|| "no reader judges the change".to_owned());
    let all = altered.chain(released).chain(left_out).chain(unjudged);
    all.map(|remark| redacted(&remark)).collect()
}

impl Dashboard {
    /// Returns the gates that have a list of items. A gate whose state cannot be read is listed
    /// with the reason.
    pub fn gates(&self) -> Result<GateListView, DashboardError> {
        let mut gates = Vec::new();
        for phase in Phase::ALL {
            let view = match self.has_gate(phase) {
                Ok(false) => continue,
                Ok(true) => self.gate_of(phase).map(|detail| detail.gate),
                Err(error) => Err(error),
            };
            gates.push(view.unwrap_or_else(|error| GateView::unknown(phase, &error)));
        }
        Ok(GateListView { gates })
    }

    /// Returns the gate of a phase, with its items.
    pub fn gate(&self, phase: &str) -> Result<GateDetailView, DashboardError> {
        Ok(self.gate_of(self.existing_gate(phase)?)?)
    }

    /// Returns the phase of a gate that has a list.
    pub(super) fn existing_gate(&self, phase: &str) -> Result<Phase, DashboardError> {
        let unknown = || DashboardError::Unknown(format!("unknown gate {phase:?}"));
        let phase: Phase = phase.parse().map_err(|_| unknown())?;
        self.has_gate(phase)?.then_some(phase).ok_or_else(unknown)
    }

    /// Opens the gate of a phase. No model is asked.
    pub(super) fn open_gate(&self, phase: Phase) -> anyhow::Result<OpenGate> {
        OpenGate::with_list(GateOptions {
            environment: &self.environment,
            folder: &self.root,
            phase,
            state_dir: None,
            plan: None,
            base: None,
            models: ModelChoice::No,
        })
    }

    fn has_gate(&self, phase: Phase) -> anyhow::Result<bool> {
        Ok(GateLocation::of(&self.environment, &self.root, phase, None)?.keep.was_made())
    }

    fn gate_of(&self, phase: Phase) -> anyhow::Result<GateDetailView> {
        let opened = self.open_gate(phase)?;
        let (state, status) = opened.with_gate(|gate| gate.status())?;
        Ok(GateDetailView {
            gate: GateView::of(phase, &opened.made_from, &status),
            requirements: status.lines.iter().map(GateItemView::from).collect(),
            decisions: status.journal.iter().map(GateDecisionView::from).collect(),
            remarks: remarks(&status),
            authors: state.sidecar.authors.iter().map(|author| redacted(author)).collect(),
            next: next_command(phase, &status.outcome),
        })
    }
}
