//! Formats gates as text, for tests.

use assay_gates::blocking_policy::{BlockingPolicy, ChecklistPolicy};
use assay_gates::digest::{Digest, Digester};
use assay_gates::gate_state::{Content, GateState, VerifiedScope};
use assay_gates::gate_status::{GateStatus, ItemEffect, evaluate};
use assay_gates::item::{Item, ItemResult, Severity};
use assay_gates::list::List;
use assay_gates::phase::Phase;
use assay_gates::sidecar::{ChecklistSource, GateInputs, ItemRecord, Sidecar};

/// Returns the inputs of a list without the built-in checklist.
pub(crate) fn handed_in() -> GateInputs {
    GateInputs { checklist: ChecklistSource::HandedIn, ..GateInputs::default() }
}

/// A policy under which a list without the built-in checklist can pass.
pub(crate) const LENIENT: BlockingPolicy =
    BlockingPolicy { built_in: ChecklistPolicy::Optional, ..BlockingPolicy::DEFAULT };

pub(crate) fn digest(text: &str) -> Digest {
    Digester::default().part(text).finish()
}

/// Runs a function with content that every item covers as a whole.
pub(crate) fn with<T>(content: &str, work: impl FnOnce(Content<'_>) -> T) -> T {
    let whole = digest(content);
    work(Content { whole: &whole, attempt: &whole, part: &|_| None, unread: &[] })
}

/// Parses a gate, one item a line: `id scope severity status [finding]`, all verified on content
/// `c`.
pub(crate) fn state(iteration: u32, text: &str) -> GateState {
    let mut list = List::new(Phase::PlanStructure);
    let mut sidecar = Sidecar::new(Phase::PlanStructure, GateInputs::default());
    sidecar.iteration = iteration;
    let mut settled = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(5, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (id, scope, severity, status) = (word(), word(), word(), word());
        let result = match status {
            "TODO" => ItemResult::Todo,
            "PASS" => ItemResult::Pass,
            "FAIL" => ItemResult::Fail(word().to_owned()),
            other => panic!("`{other}`"),
        };
        let id = id.parse().unwrap();
        let severity = match severity {
            "MUST" => Severity::Must,
            "SHOULD" => Severity::Should,
            "MAY" => Severity::May,
            other => panic!("`{other}`"),
        };
        sidecar.items.insert(id, ItemRecord::new(severity));
        let id: assay_gates::item::ItemId = line.split(' ').next().unwrap().parse().unwrap();
        let check = format!("check {id}");
        list.add(Item { id: id.clone(), scope: scope.into(), check, result: ItemResult::Todo })
            .unwrap();
        settled.push((id, result));
    }
    let mut state = GateState { list, sidecar, altered: Vec::new() };
    for (id, result) in settled {
        if result != ItemResult::Todo {
            with("c", |content| state.settle(&id, result, content, VerifiedScope::Everything));
        }
    }
    state
}

/// Computes the status of a gate on content `c`.
pub(crate) fn judged(state: &GateState, bar: &BlockingPolicy) -> GateStatus {
    let bar = BlockingPolicy { built_in: ChecklistPolicy::Optional, ..*bar };
    with("c", |content| evaluate(state, &bar, content))
}

/// Formats the status of a gate: the outcome, and the effect of each item.
pub(crate) fn shown(status: &GateStatus) -> String {
    let mut out =
        format!("{:?} {:?} {}\n", status.outcome, status.attempt.state, status.attempt.iteration);
    for line in &status.lines {
        let stands = match &line.effect {
            ItemEffect::Holds => "holds".to_owned(),
            ItemEffect::Open => "open".to_owned(),
            ItemEffect::Blocks => "blocks".to_owned(),
            ItemEffect::Waived => "waived".to_owned(),
            ItemEffect::Accepted { reason, by } => format!("accepted by {by}: {reason}"),
        };
        out += &format!("{} {stands}\n", line.item.id);
    }
    out
}
