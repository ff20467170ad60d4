//! Answers for programs: the same as in the text, as JSON.

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use crate::attempt::LoopState;
use crate::beside::{Checklist, JournalEntry, ReleasedItem};
use crate::guide::Instruction;
use crate::item::{Item, Severity, Verified};
use crate::phase::Phase;
use crate::standing::{Line, Outcome, Standing, Stands};
use crate::state::State;
use crate::verify::VerifiedGate;

/// The list of a gate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListAnswer {
    phase: Phase,
    /// How many items there are.
    created: usize,
    /// Whether the list was there before.
    was_there: bool,
    items: Vec<ListedItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListedItem {
    #[serde(flatten)]
    item: WrittenItem,
    severity: Severity,
}

/// An item with its five fields.
#[derive(Debug, Serialize, JsonSchema)]
struct WrittenItem {
    id: String,
    scope: String,
    check: String,
    status: StatusWord,
    finding: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum StatusWord {
    Todo,
    Pass,
    Fail,
}

/// Where a gate stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateAnswer {
    phase: Phase,
    status: PassOrFail,
    outcome: OutcomeWord,
    /// The reasons why a person decides, or why the list is incomplete.
    reasons: Vec<String>,
    iteration: u32,
    loop_state: LoopState,
    counts: Counts,
    items: Vec<StandingItem>,
    /// The items that were added because there is more to look at than there was.
    added: Vec<String>,
    /// The items that were taken off because what they looked at is written no more.
    retired: Vec<String>,
    /// The items that nobody saw this time.
    unseen: Vec<UnseenItem>,
    /// Which items the list began with.
    checklist: Checklist,
    /// Items of earlier lists that a person let go of.
    released: Vec<ReleasedAnswer>,
    /// Where the list was not as it had been recorded, in words.
    altered: Vec<String>,
    /// Decisions of people about items, also those whose effect ended.
    journal: Vec<JournalEntry>,
    /// Whether no reader judges the change, since the configuration asks for none.
    is_unjudged: bool,
}

/// An item of an earlier list that a person let go of.
#[derive(Debug, Serialize, JsonSchema)]
struct ReleasedAnswer {
    id: String,
    check: String,
    finding: Option<String>,
    reason: String,
    by: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum PassOrFail {
    Pass,
    Fail,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeWord {
    Pass,
    Fail,
    Open,
    Empty,
    Incomplete,
    HandedOver,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Counts {
    total: usize,
    pass: usize,
    fail: usize,
    todo: usize,
    waived: usize,
    accepted: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StandingItem {
    #[serde(flatten)]
    item: WrittenItem,
    severity: Severity,
    stands: StandsWord,
    /// In how many attempts it failed.
    fails: u32,
    /// The reason for which the item is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Who accepted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted_by: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StandsWord {
    Holds,
    Open,
    Blocks,
    Waived,
    Accepted,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnseenItem {
    id: String,
    why: String,
}

/// Instructions for the items that keep a gate shut.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GuideAnswer {
    phase: Phase,
    items: Vec<GuidedItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GuidedItem {
    id: String,
    check: String,
    /// The fault in a few words.
    title: String,
    scope: String,
    fix: String,
    include: Vec<String>,
}

impl ListAnswer {
    /// Tells which items a list has.
    pub fn of(state: &State, was_there: bool) -> ListAnswer {
        let listed = |item: &Item| ListedItem {
            item: WrittenItem::of(item),
            severity: state.note(&item.id).severity,
        };
        let items: Vec<ListedItem> = state.list.items().map(listed).collect();
        ListAnswer { phase: state.list.phase, created: items.len(), was_there, items }
    }
}

impl WrittenItem {
    fn of(item: &Item) -> WrittenItem {
        let (status, finding) = match &item.result {
            Verified::Todo => (StatusWord::Todo, None),
            Verified::Pass => (StatusWord::Pass, None),
            Verified::Fail(finding) => (StatusWord::Fail, Some(finding.clone())),
        };
        let (id, scope) = (item.id.to_string(), item.scope.to_string());
        WrittenItem { id, scope, check: item.check.clone(), status, finding }
    }
}

impl GateAnswer {
    /// Tells where a gate stands.
    pub fn of(phase: Phase, standing: &Standing) -> GateAnswer {
        let is = |result: fn(&Verified) -> bool| standing.count(|line| result(&line.item.result));
        let (outcome, reasons) = match &standing.outcome {
            Outcome::Pass => (OutcomeWord::Pass, Vec::new()),
            Outcome::Fail => (OutcomeWord::Fail, Vec::new()),
            Outcome::Open => (OutcomeWord::Open, Vec::new()),
            Outcome::Empty => (OutcomeWord::Empty, Vec::new()),
            Outcome::Incomplete(reasons) => (OutcomeWord::Incomplete, reasons.clone()),
            Outcome::HandedOver(reasons) => (OutcomeWord::HandedOver, reasons.clone()),
        };
        GateAnswer {
            phase,
            status: if standing.is_passed() { PassOrFail::Pass } else { PassOrFail::Fail },
            outcome,
            reasons,
            iteration: standing.attempt.iteration,
            loop_state: standing.attempt.state,
            counts: Counts {
                total: standing.lines.len(),
                pass: is(|result| *result == Verified::Pass),
                fail: is(|result| matches!(result, Verified::Fail(_))),
                todo: is(|result| *result == Verified::Todo),
                waived: standing.count(|line| line.stands == Stands::Waived),
                accepted: standing.count(|line| matches!(line.stands, Stands::Accepted { .. })),
            },
            items: standing.lines.iter().map(StandingItem::of).collect(),
            added: Vec::new(),
            retired: Vec::new(),
            unseen: Vec::new(),
            checklist: standing.checklist,
            released: standing.released.iter().map(ReleasedAnswer::of).collect(),
            altered: standing.altered.clone(),
            journal: standing.journal.clone(),
            is_unjudged: standing.is_unjudged,
        }
    }

    /// Tells what verifying came to.
    pub fn of_verified(phase: Phase, gate: &VerifiedGate) -> GateAnswer {
        let unseen = gate.unseen.iter();
        let unseen = unseen.map(|(id, why)| UnseenItem { id: id.to_string(), why: why.clone() });
        GateAnswer {
            added: gate.added.iter().map(ToString::to_string).collect(),
            retired: gate.retired.iter().map(ToString::to_string).collect(),
            unseen: unseen.collect(),
            ..GateAnswer::of(phase, &gate.standing)
        }
    }
}

impl ReleasedAnswer {
    fn of(item: &ReleasedItem) -> ReleasedAnswer {
        let ReleasedItem { id, check, finding, reason, by } = item.clone();
        ReleasedAnswer { id: id.to_string(), check, finding, reason, by }
    }
}

impl StandingItem {
    fn of(line: &Line) -> StandingItem {
        let (stands, accepted) = match &line.stands {
            Stands::Holds => (StandsWord::Holds, None),
            Stands::Open => (StandsWord::Open, None),
            Stands::Blocks => (StandsWord::Blocks, None),
            Stands::Waived => (StandsWord::Waived, None),
            Stands::Accepted { reason, by } => {
                (StandsWord::Accepted, Some((reason.clone(), by.clone())))
            }
        };
        let (reason, accepted_by) = accepted.unzip();
        let (severity, fails) = (line.severity, line.fails);
        StandingItem {
            item: WrittenItem::of(&line.item),
            severity,
            stands,
            fails,
            reason,
            accepted_by,
        }
    }
}

impl GuideAnswer {
    /// Tells what is to be done.
    pub fn of(phase: Phase, instructions: &[Instruction]) -> GuideAnswer {
        let item = |instruction: &Instruction| GuidedItem {
            id: instruction.id.to_string(),
            check: instruction.check.clone(),
            title: instruction.title.clone(),
            scope: instruction.scope.to_string(),
            fix: instruction.fix.clone(),
            include: instruction.include.iter().map(ToString::to_string).collect(),
        };
        GuideAnswer { phase, items: instructions.iter().map(item).collect() }
    }
}

/// The names of the schemas.
pub const SCHEMAS: [&str; 3] = ["gate", "gate-list", "gate-guide"];

/// Returns a schema by its name.
pub fn schema(name: &str) -> Option<Value> {
    Some(match name {
        "gate" => schema_for!(GateAnswer).to_value(),
        "gate-list" => schema_for!(ListAnswer).to_value(),
        "gate-guide" => schema_for!(GuideAnswer).to_value(),
        _ => return None,
    })
}
