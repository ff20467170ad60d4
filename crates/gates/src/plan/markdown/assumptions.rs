//! Recognises the assumptions below a heading such as `Constraints and assumptions`:
//! [`is_assumption`].

use super::folding::folded;

/// Other topics in such a heading.
const OTHER_TOPICS: [&str; 20] = [
    "constraint", "constraints", "risk", "risks", "dependency", "dependencies", "scope",
    "question", "questions", "requirement", "requirements", "limitation", "limitations", "context",
    "goal", "goals", "non", "note", "notes", "prerequisites",
];

/// Words that express a requirement rather than an assumption.
const BINDING: [&str; 24] = [
    "must", "shall", "cannot", "limit", "limits", "limited", "maximum", "minimum", "require",
    "requires", "required", "requirement", "mandatory", "budget", "deadline", "constraint",
    "constrained", "restricted", "forbidden", "prohibited", "allowed", "risk", "mitigation",
    "mitigate",
];

/// Words that express a possibility.
const POSSIBLE: [&str; 3] = ["may", "might", "could"];

/// The first words of an instruction.
const ORDERS: [&str; 11] =
    ["no", "never", "do", "don", "avoid", "keep", "use", "support", "stay", "preserve", "only"];

/// Phrases that express a limit.
const BOUNDS: [&str; 5] = ["at most", "at least", "no more than", "up to", "out of scope"];

/// Returns true if a heading announces other topics that may be mixed with assumptions.
pub(super) fn allows_other_topics(heading: &str) -> bool {
    folded(heading).split(' ').any(|word| OTHER_TOPICS.contains(&word))
}

/// Returns true if an entry below such a heading is an assumption: it says so, or it looks like
/// nothing else.
pub(super) fn is_assumption(text: &str, has_risks: bool) -> bool {
    if says_so(text) {
        return true;
    }
    let said = folded(text);
    let has = |words: &[&str]| said.split(' ').any(|word| words.contains(&word));
    let first = said.split(' ').next().unwrap_or_default();
    let is_bound = BOUNDS.iter().any(|bound| said.contains(bound));
    !said.is_empty()
        && !text.trim_end().ends_with(['?', ':'])
        && !OTHER_TOPICS.contains(&first)
        && !ORDERS.contains(&first)
        && !has(&BINDING)
        && !is_bound
        && !(has_risks && has(&POSSIBLE))
}

/// Returns true if a text begins like an assumption: `Assuming`, `We assume`, `It is assumed`.
pub(super) fn says_so(text: &str) -> bool {
    let said = folded(text);
    let mut words =
        said.split(' ').take(4).skip_while(|word| ["we", "it", "is", "i"].contains(word));
    words.next().is_some_and(|word| word.starts_with("assum"))
}
