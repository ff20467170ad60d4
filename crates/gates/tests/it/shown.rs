//! Formats gates as text, for tests.

use assay_gates::bar::{Bar, BuiltIn};
use assay_gates::beside::{Beside, Checklist, MadeFrom, Note};
use assay_gates::digest::{Digest, Digester};
use assay_gates::item::{Item, Severity, Verified};
use assay_gates::list::List;
use assay_gates::phase::Phase;
use assay_gates::standing::{Standing, Stands, judge};
use assay_gates::state::{Content, Looked, State};

/// Returns the inputs of a list without the built-in checklist.
pub(crate) fn handed_in() -> MadeFrom {
    MadeFrom { checklist: Checklist::HandedIn, ..MadeFrom::default() }
}

/// A policy under which a list without the built-in checklist can pass.
pub(crate) const LENIENT: Bar = Bar { built_in: BuiltIn::Optional, ..Bar::SEED };

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
pub(crate) fn state(iteration: u32, text: &str) -> State {
    let mut list = List::new(Phase::PlanStructure);
    let mut beside = Beside::new(Phase::PlanStructure, MadeFrom::default());
    beside.iteration = iteration;
    let mut settled = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(5, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (id, scope, severity, status) = (word(), word(), word(), word());
        let result = match status {
            "TODO" => Verified::Todo,
            "PASS" => Verified::Pass,
            "FAIL" => Verified::Fail(word().to_owned()),
            other => panic!("`{other}`"),
        };
        let id = id.parse().unwrap();
        let severity = match severity {
            "MUST" => Severity::Must,
            "SHOULD" => Severity::Should,
            "MAY" => Severity::May,
            other => panic!("`{other}`"),
        };
        beside.items.insert(id, Note::new(severity));
        let id: assay_gates::item::ItemId = line.split(' ').next().unwrap().parse().unwrap();
        let check = format!("check {id}");
        list.add(Item { id: id.clone(), scope: scope.into(), check, result: Verified::Todo })
            .unwrap();
        settled.push((id, result));
    }
    let mut state = State { list, beside, altered: Vec::new() };
    for (id, result) in settled {
        if result != Verified::Todo {
            with("c", |content| state.settle(&id, result, content, Looked::AtAll));
        }
    }
    state
}

/// Computes the status of a gate on content `c`.
pub(crate) fn judged(state: &State, bar: &Bar) -> Standing {
    let bar = Bar { built_in: BuiltIn::Optional, ..*bar };
    with("c", |content| judge(state, &bar, content))
}

/// Formats the status of a gate: the outcome, and the effect of each item.
pub(crate) fn shown(standing: &Standing) -> String {
    let mut out = format!(
        "{:?} {:?} {}\n",
        standing.outcome, standing.attempt.state, standing.attempt.iteration
    );
    for line in &standing.lines {
        let stands = match &line.stands {
            Stands::Holds => "holds".to_owned(),
            Stands::Open => "open".to_owned(),
            Stands::Blocks => "blocks".to_owned(),
            Stands::Waived => "waived".to_owned(),
            Stands::Accepted { reason, by } => format!("accepted by {by}: {reason}"),
        };
        out += &format!("{} {stands}\n", line.item.id);
    }
    out
}
