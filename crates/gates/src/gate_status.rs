//! Decides whether a gate is passed: [`evaluate`] computes a [`GateStatus`] from its state.
//!
//! The result is never stored, so that it cannot contradict the items.

use schemars::JsonSchema;
use serde::Serialize;

use crate::attempt::{Attempt, AttemptResult, AttemptState};
use crate::blocking_policy::{BlockingPolicy, ChecklistPolicy, ReaderPolicy};
use crate::gate_state::{Content, GateState};
use crate::item::{Item, ItemResult, Severity};
use crate::phase::Phase;
use crate::sidecar::{ChecklistSource, JournalEntry, ReleasedItem};

/// The status of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateStatus {
    /// The state of the loop, and the number of the attempt.
    pub attempt: Attempt,
    /// The items, in order.
    pub lines: Vec<ItemStatus>,
    /// The outcome of the gate.
    pub outcome: GateOutcome,
    /// The source of the initial items of the list.
    pub checklist: ChecklistSource,
    /// Items of earlier lists that a person released.
    pub released: Vec<ReleasedItem>,
    /// The differences between the list and its record, in words.
    pub altered: Vec<String>,
    /// Decisions of people about items, including those that have no effect any more.
    pub journal: Vec<JournalEntry>,
    /// True if no reader judges the change, because the configuration requires none.
    pub is_unjudged: bool,
}

/// An item and its effect on the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct ItemStatus {
    /// The item, with the result that applies to the current content.
    #[serde(flatten)]
    pub item: Item,
    /// The severity of the item.
    pub severity: Severity,
    /// The number of contents on which the item failed.
    pub fails: u32,
    /// The effect on the gate.
    #[serde(flatten)]
    pub effect: ItemEffect,
    /// True if the item was verified on the current content.
    #[serde(skip)]
    pub is_seen: bool,
}

/// The numbers of items of a gate, by their results and their effects.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Counts {
    /// The number of all items.
    pub total: usize,
    /// The number of items that passed.
    pub pass: usize,
    /// The number of items that failed.
    pub fail: usize,
    /// The number of items that were not verified.
    pub todo: usize,
    /// The number of failed items that do not block in this iteration.
    pub waived: usize,
    /// The number of failed items that a person or the policy accepted.
    pub accepted: usize,
}

/// The effect of an item on the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "stands", rename_all = "snake_case")]
#[schemars(rename = "Stands")]
pub enum ItemEffect {
    /// The item passed.
    Holds,
    /// The item was not verified on the current content.
    Open,
    /// The item failed and blocks the gate.
    Blocks,
    /// The item failed, but its severity does not block in this iteration.
    Waived,
    /// A person accepted the failed item, or it failed more often than the policy allows.
    Accepted {
        /// The reason for accepting it.
        reason: String,
        /// The name of the person, or `assay`.
        #[serde(rename = "accepted_by")]
        by: String,
    },
}

/// The outcome of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateOutcome {
    /// The gate is passed.
    Pass,
    /// An item has to be fixed.
    Fail,
    /// An item has to be verified.
    Open,
    /// The list is empty, so nothing was verified.
    Empty,
    /// All items on the list passed, but the list is incomplete, for these reasons.
    Incomplete(Vec<String>),
    /// A person has to decide, for these reasons.
    HandedOver(Vec<String>),
}

impl ItemEffect {
    /// Returns the effect in its written form, without the reason and the name.
    pub fn word(&self) -> &'static str {
        match self {
            ItemEffect::Holds => "holds",
            ItemEffect::Open => "open",
            ItemEffect::Blocks => "blocks",
            ItemEffect::Waived => "waived",
            ItemEffect::Accepted { .. } => "accepted",
        }
    }
}

impl GateOutcome {
    /// The written forms of all outcomes.
    pub const WORDS: [&'static str; 6] =
        ["pass", "fail", "open", "empty", "incomplete", "handed_over"];

    /// Returns the outcome in its written form, without its reasons.
    pub fn word(&self) -> &'static str {
        let [pass, fail, open, empty, incomplete, handed_over] = GateOutcome::WORDS;
        match self {
            GateOutcome::Pass => pass,
            GateOutcome::Fail => fail,
            GateOutcome::Open => open,
            GateOutcome::Empty => empty,
            GateOutcome::Incomplete(_) => incomplete,
            GateOutcome::HandedOver(_) => handed_over,
        }
    }

    /// Returns the reasons why a person decides, or why the list is incomplete.
    pub fn reasons(&self) -> &[String] {
        match self {
            GateOutcome::Pass | GateOutcome::Fail | GateOutcome::Open | GateOutcome::Empty => &[],
            GateOutcome::Incomplete(reasons) | GateOutcome::HandedOver(reasons) => reasons,
        }
    }
}

impl GateStatus {
    /// Returns true if the gate is passed.
    pub fn is_passed(&self) -> bool {
        self.outcome == GateOutcome::Pass
    }

    /// Returns the outcome as one of two words: `PASS` or `FAIL`.
    pub fn status(&self) -> &'static str {
        if self.is_passed() { "PASS" } else { "FAIL" }
    }

    /// Returns the numbers of items.
    pub fn counts(&self) -> Counts {
        let count =
            |is_so: &dyn Fn(&ItemStatus) -> bool| self.lines.iter().filter(|l| is_so(l)).count();
        Counts {
            total: self.lines.len(),
            pass: count(&|line| line.item.result == ItemResult::Pass),
            fail: count(&ItemStatus::is_failed),
            todo: count(&|line| line.item.result == ItemResult::Todo),
            waived: count(&|line| line.effect == ItemEffect::Waived),
            accepted: count(&|line| matches!(line.effect, ItemEffect::Accepted { .. })),
        }
    }

    /// Returns the result of the attempt; `None` while any item is not verified.
    pub fn attempt_result(&self) -> Option<AttemptResult> {
        match self.outcome {
            GateOutcome::Pass => Some(AttemptResult::Pass),
            GateOutcome::Empty | GateOutcome::Open | GateOutcome::Incomplete(_) => None,
            GateOutcome::Fail | GateOutcome::HandedOver(_) => {
                let is_whole = self.lines.iter().all(ItemStatus::is_settled);
                is_whole.then_some(AttemptResult::NeedsChanges)
            }
        }
    }
}

impl ItemStatus {
    /// Returns true if the item failed.
    pub fn is_failed(&self) -> bool {
        matches!(self.item.result, ItemResult::Fail(_))
    }

    /// Returns true if the item needs no further verification.
    fn is_settled(&self) -> bool {
        self.is_seen || matches!(self.effect, ItemEffect::Accepted { .. })
    }
}

/// Computes the status of a gate on the current content.
pub fn evaluate(state: &GateState, policy: &BlockingPolicy, content: Content<'_>) -> GateStatus {
    let iteration = state.sidecar.iteration;
    let lines: Vec<ItemStatus> =
        state.list.items().map(|item| line(state, item, policy, content)).collect();
    let outcome = match outcome(&lines, iteration, policy) {
        GateOutcome::Pass => match incomplete(state, policy, content) {
            reasons if reasons.is_empty() => GateOutcome::Pass,
            reasons => GateOutcome::Incomplete(reasons),
        },
        other => other,
    };
    let before = Attempt { state: AttemptState::Initial, iteration };
    let failed =
        state.sidecar.last.as_ref().is_some_and(|l| l.reviewed == AttemptResult::NeedsChanges);
    let attempt = match outcome {
        GateOutcome::Pass => before.after(AttemptResult::Pass),
        GateOutcome::Fail
        | GateOutcome::Open
        | GateOutcome::Empty
        | GateOutcome::Incomplete(_)
        | GateOutcome::HandedOver(_) => {
            let is_again = iteration > 1 || failed;
            let state = if is_again { AttemptState::Retry } else { AttemptState::Initial };
            Attempt { state, iteration }
        }
    };
    let checklist = state.sidecar.inputs.checklist;
    let altered = state.altered.iter().map(ToString::to_string).collect();
    let released = state.sidecar.released.clone();
    let journal = state.sidecar.journal.clone();
    let is_unjudged = policy.reader == ReaderPolicy::Optional
        && state.list.phase == Phase::ImplCode
        && state.sidecar.inputs.plan.is_some();
    GateStatus { attempt, lines, outcome, checklist, released, altered, journal, is_unjudged }
}

/// Returns the reasons why a list whose items all passed is incomplete; empty if it is complete.
fn incomplete(state: &GateState, policy: &BlockingPolicy, content: Content<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    if state.sidecar.inputs.checklist == ChecklistSource::HandedIn
        && policy.built_in == ChecklistPolicy::Required
    {
        reasons.push(LEFT_OUT.to_owned());
    }
    reasons.extend(content.unread.iter().cloned());
    reasons.extend(
        state
            .altered
            .iter()
            .map(|altered| format!("{altered}; `assay gate verify` restores the list")),
    );
    reasons
}

/// The reason for a list without the built-in checklist.
const LEFT_OUT: &str = "the built-in checklist was left out; run `assay gate decompose --again` \
                        to create a list with it, or allow this list with \
                        `gates.allow_only_items: true`";

fn line(
    state: &GateState,
    item: &Item,
    policy: &BlockingPolicy,
    content: Content<'_>,
) -> ItemStatus {
    let result = state.result(item, content);
    let note = state.note(&item.id);
    let severity = note.severity;
    let effect = match (&result, state.acceptance(item, content)) {
        (ItemResult::Pass, _) => ItemEffect::Holds,
        (_, Some(accepted)) => ItemEffect::Accepted { reason: accepted.reason, by: accepted.by },
        (ItemResult::Todo, None) => ItemEffect::Open,
        (ItemResult::Fail(_), None) if !policy.blocks(severity, state.sidecar.iteration) => {
            ItemEffect::Waived
        }
        (ItemResult::Fail(_), None)
            if severity != Severity::Must && note.fails() > policy.fails_per_item =>
        {
            let reason =
                format!("failed {} times, and {} are allowed", note.fails(), policy.fails_per_item);
            ItemEffect::Accepted { reason, by: "assay".to_owned() }
        }
        (ItemResult::Fail(_), None) => ItemEffect::Blocks,
    };
    let is_seen = state.is_seen(item, content);
    ItemStatus {
        item: Item { result, ..item.clone() },
        severity,
        fails: note.fails(),
        effect,
        is_seen,
    }
}

fn outcome(lines: &[ItemStatus], iteration: u32, policy: &BlockingPolicy) -> GateOutcome {
    let blocking: Vec<&ItemStatus> =
        lines.iter().filter(|line| line.effect == ItemEffect::Blocks).collect();
    if lines.is_empty() {
        return GateOutcome::Empty;
    }
    if blocking.is_empty() {
        let is_open = lines.iter().any(|line| line.effect == ItemEffect::Open);
        return if is_open { GateOutcome::Open } else { GateOutcome::Pass };
    }
    let worn_out = blocking.iter().filter(|line| line.fails > policy.fails_per_item);
    let mut reasons: Vec<String> = worn_out
        .map(|line| {
            let (id, fails) = (&line.item.id, line.fails);
            format!("{id} failed {fails} times, and {} are allowed", policy.fails_per_item)
        })
        .collect();
    if iteration >= policy.ceiling {
        reasons.push(format!(
            "iteration {iteration} failed, and at most {} iterations are allowed",
            policy.ceiling
        ));
    }
    if reasons.is_empty() { GateOutcome::Fail } else { GateOutcome::HandedOver(reasons) }
}
