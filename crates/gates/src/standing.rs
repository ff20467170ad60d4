//! Decides whether a gate is passed: [`judge`] computes a [`Standing`] from its state.
//!
//! The result is never stored, so that it cannot contradict the items.

use schemars::JsonSchema;
use serde::Serialize;

use crate::attempt::{Attempt, LoopState, Reviewed};
use crate::bar::{Bar, BuiltIn, Reader};
use crate::beside::{Checklist, JournalEntry, ReleasedItem};
use crate::item::{Item, Severity, Verified};
use crate::phase::Phase;
use crate::state::{Content, State};

/// The status of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The state of the loop, and the number of the attempt.
    pub attempt: Attempt,
    /// The items, in order.
    pub lines: Vec<Line>,
    /// The outcome of the gate.
    pub outcome: Outcome,
    /// The source of the initial items of the list.
    pub checklist: Checklist,
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
pub struct Line {
    /// The item, with the result that applies to the current content.
    #[serde(flatten)]
    pub item: Item,
    /// The severity of the item.
    pub severity: Severity,
    /// The number of contents on which the item failed.
    pub fails: u32,
    /// The effect on the gate.
    #[serde(flatten)]
    pub stands: Stands,
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
pub enum Stands {
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
pub enum Outcome {
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

impl Standing {
    /// Returns true if the gate is passed.
    pub fn is_passed(&self) -> bool {
        self.outcome == Outcome::Pass
    }

    /// Returns the outcome as one of two words: `PASS` or `FAIL`.
    pub fn status(&self) -> &'static str {
        if self.is_passed() { "PASS" } else { "FAIL" }
    }

    /// Returns the numbers of items.
    pub fn counts(&self) -> Counts {
        let count = |is_so: &dyn Fn(&Line) -> bool| self.lines.iter().filter(|l| is_so(l)).count();
        Counts {
            total: self.lines.len(),
            pass: count(&|line| line.item.result == Verified::Pass),
            fail: count(&Line::is_failed),
            todo: count(&|line| line.item.result == Verified::Todo),
            waived: count(&|line| line.stands == Stands::Waived),
            accepted: count(&|line| matches!(line.stands, Stands::Accepted { .. })),
        }
    }

    /// Returns the result of the attempt; `None` while any item is not verified.
    pub fn reviewed(&self) -> Option<Reviewed> {
        match self.outcome {
            Outcome::Pass => Some(Reviewed::Pass),
            Outcome::Empty | Outcome::Open | Outcome::Incomplete(_) => None,
            Outcome::Fail | Outcome::HandedOver(_) => {
                let is_whole = self.lines.iter().all(Line::is_settled);
                is_whole.then_some(Reviewed::NeedsChanges)
            }
        }
    }
}

impl Line {
    /// Returns true if the item failed.
    pub fn is_failed(&self) -> bool {
        matches!(self.item.result, Verified::Fail(_))
    }

    /// Returns true if the item needs no further verification.
    fn is_settled(&self) -> bool {
        self.is_seen || matches!(self.stands, Stands::Accepted { .. })
    }
}

/// Computes the status of a gate on the current content.
pub fn judge(state: &State, bar: &Bar, content: Content<'_>) -> Standing {
    let iteration = state.beside.iteration;
    let lines: Vec<Line> = state.list.items().map(|item| line(state, item, bar, content)).collect();
    let outcome = match outcome(&lines, iteration, bar) {
        Outcome::Pass => match incomplete(state, bar, content) {
            reasons if reasons.is_empty() => Outcome::Pass,
            reasons => Outcome::Incomplete(reasons),
        },
        other => other,
    };
    let before = Attempt { state: LoopState::Initial, iteration };
    let failed = state.beside.last.as_ref().is_some_and(|l| l.reviewed == Reviewed::NeedsChanges);
    let attempt = match outcome {
        Outcome::Pass => before.after(Reviewed::Pass),
        Outcome::Fail
        | Outcome::Open
        | Outcome::Empty
        | Outcome::Incomplete(_)
        | Outcome::HandedOver(_) => {
            let is_again = iteration > 1 || failed;
            let state = if is_again { LoopState::Retry } else { LoopState::Initial };
            Attempt { state, iteration }
        }
    };
    let checklist = state.beside.made_from.checklist;
    let altered = state.altered.iter().map(ToString::to_string).collect();
    let released = state.beside.released.clone();
    let journal = state.beside.journal.clone();
    let is_unjudged = bar.reader == Reader::Optional
        && state.list.phase == Phase::ImplCode
        && state.beside.made_from.plan.is_some();
    Standing { attempt, lines, outcome, checklist, released, altered, journal, is_unjudged }
}

/// Returns the reasons why a list whose items all passed is incomplete; empty if it is complete.
fn incomplete(state: &State, bar: &Bar, content: Content<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    if state.beside.made_from.checklist == Checklist::HandedIn && bar.built_in == BuiltIn::Required
    {
        reasons.push(LEFT_OUT.to_owned());
    }
    reasons.extend(content.unread.iter().cloned());
    reasons.extend(
        state
            .altered
            .iter()
            .map(|altered| format!("{altered}; `assay gate verify` puts the list back")),
    );
    reasons
}

/// The reason for a list without the built-in checklist.
const LEFT_OUT: &str = "the built-in checklist was left out; `assay gate decompose --again` makes a list \
                        with it, or a person allows this one with `gates.allow_only_items: true`";

fn line(state: &State, item: &Item, bar: &Bar, content: Content<'_>) -> Line {
    let result = state.result(item, content);
    let note = state.note(&item.id);
    let severity = note.severity;
    let stands = match (&result, state.acceptance(item, content)) {
        (Verified::Pass, _) => Stands::Holds,
        (_, Some(accepted)) => Stands::Accepted { reason: accepted.reason, by: accepted.by },
        (Verified::Todo, None) => Stands::Open,
        (Verified::Fail(_), None) if !bar.blocks(severity, state.beside.iteration) => {
            Stands::Waived
        }
        (Verified::Fail(_), None)
            if severity != Severity::Must && note.fails() > bar.fails_per_item =>
        {
            let reason =
                format!("failed {} times, and {} are allowed", note.fails(), bar.fails_per_item);
            Stands::Accepted { reason, by: "assay".to_owned() }
        }
        (Verified::Fail(_), None) => Stands::Blocks,
    };
    let is_seen = state.is_seen(item, content);
    Line { item: Item { result, ..item.clone() }, severity, fails: note.fails(), stands, is_seen }
}

fn outcome(lines: &[Line], iteration: u32, bar: &Bar) -> Outcome {
    let blocking: Vec<&Line> = lines.iter().filter(|line| line.stands == Stands::Blocks).collect();
    if lines.is_empty() {
        return Outcome::Empty;
    }
    if blocking.is_empty() {
        let is_open = lines.iter().any(|line| line.stands == Stands::Open);
        return if is_open { Outcome::Open } else { Outcome::Pass };
    }
    let worn_out = blocking.iter().filter(|line| line.fails > bar.fails_per_item);
    let mut reasons: Vec<String> = worn_out
        .map(|line| {
            let (id, fails) = (&line.item.id, line.fails);
            format!("{id} failed {fails} times, and {} are allowed", bar.fails_per_item)
        })
        .collect();
    if iteration >= bar.ceiling {
        reasons.push(format!(
            "iteration {iteration} failed, and no more than {} are made",
            bar.ceiling
        ));
    }
    if reasons.is_empty() { Outcome::Fail } else { Outcome::HandedOver(reasons) }
}
