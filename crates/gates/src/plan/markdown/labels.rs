//! Recognises the topic that a heading, a bold word or the beginning of a line announces:
//! [`topic`], [`label`].

use super::assumptions;
use super::blocks::Line;
use super::folding::folded;

/// The topic of the text below a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Criteria,
    Files {
        are_new: bool,
    },
    Tests,
    Needs,
    Decisions,
    Assumptions,
    /// Assumptions mixed with other topics.
    Mixed {
        has_risks: bool,
    },
    /// A topic from which nothing is read.
    Other,
}

/// Labels of acceptance criteria.
const CRITERIA: [&str; 10] = [
    "acceptance criteria", "acceptance criterion", "success criteria", "exit criteria",
    "completion criteria", "done criteria", "definition of done", "conditions of satisfaction",
    "done when", "acceptance",
];

/// Words before `criteria` that announce another kind of criteria.
const OTHER_CRITERIA: [&str; 5] = ["decision", "selection", "evaluation", "ranking", "judging"];

/// Labels that announce criteria only inside of a milestone.
const CRITERIA_OF_A_MILESTONE: [&str; 16] = [
    "must have", "must haves", "musts", "should have", "should haves", "requirements",
    "functional requirements", "non functional requirements", "security requirements",
    "expected result", "expected results", "expected outcome", "expected outcomes",
    "expected behaviour", "expected behavior", "complete when",
];

/// Labels of tests.
const TESTS: [&str; 16] = [
    "tests", "test", "testing", "test plan", "test cases", "test strategy", "tests to add",
    "new tests", "unit tests", "integration tests", "test files", "verification",
    "verification steps", "how to verify", "validation steps", "test coverage",
];

/// Labels of dependencies.
const NEEDS: [&str; 8] = [
    "depends on", "dependencies", "dependency", "depends", "blocked by", "prerequisites", "needs",
    "requires",
];

/// Labels of files, in addition to any short one that ends in `files`.
const FILES: [&str; 6] =
    ["file", "file changes", "files modified", "files changed", "files touched", "files affected"];

/// Labels in a milestone below which lists are no criteria.
const OTHERS: [&str; 32] = [
    "notes", "note", "risks", "risk", "out of scope", "scope", "non goals", "goals", "goal",
    "implementation", "implementation notes", "implementation details", "approach", "steps",
    "tasks", "description", "context", "background", "overview", "summary", "why", "rationale",
    "changes", "code changes", "estimate", "effort", "status", "owner", "open questions",
    "references", "alternatives", "deliverables",
];

/// Words for decisions and other things that were not made here.
const NOT_YET: [&str; 9] = [
    "rejected", "alternatives", "open", "pending", "linked", "related", "needed", "required",
    "future",
];

/// Labels of the only decision in a record.
const DECISION: [&str; 4] = ["decision", "the decision", "our decision", "decision outcome"];

/// Words that do not count for the length of a label.
const JOINING: [&str; 6] = ["and", "or", "the", "of", "key", "our"];

/// Returns the topic that a label announces; `None` if it is unknown.
pub(super) fn topic(name: &str) -> Option<Topic> {
    let words = folded(name);
    let count = words.split(' ').count();
    if words.is_empty() || count > MAX_WORDS {
        return None;
    }
    let has = |word: &str| words.split(' ').any(|w| w == word);
    let is_last = |known: &&str| {
        words.strip_suffix(*known).is_some_and(|before| before.is_empty() || before.ends_with(' '))
    };
    let are_criteria = has("criteria") || has("criterion");
    let are_others = OTHER_CRITERIA.iter().any(|word| has(word));
    if CRITERIA.iter().any(is_last)
        || CRITERIA[..6].iter().any(|known| words.starts_with(known))
        || (are_criteria && !are_others && count <= 4)
    {
        Some(Topic::Criteria)
    } else if NOT_YET.iter().any(|word| has(word)) {
        Some(Topic::Other)
    } else if (has("decisions") || words == "decision log" || words == "adrs") && count <= 5 {
        Some(Topic::Decisions)
    } else if has("assumptions") && significant(&words) <= 5 {
        Some(of_assumptions(&words))
    } else if TESTS.contains(&words.as_str()) {
        Some(Topic::Tests)
    } else if NEEDS.contains(&words.as_str()) {
        Some(Topic::Needs)
    } else if FILES.contains(&words.as_str())
        || words.starts_with("files to ")
        || (count <= 3 && words.ends_with("files"))
    {
        let makes = has("new") || has("create") || has("created") || has("add");
        let are_new = makes && !has("modify") && !has("change") && !has("edit");
        Some(Topic::Files { are_new })
    } else if OTHERS.contains(&words.as_str()) {
        Some(Topic::Other)
    } else {
        None
    }
}

fn significant(words: &str) -> usize {
    words.split(' ').filter(|word| !JOINING.contains(word)).count()
}

fn of_assumptions(words: &str) -> Topic {
    let has_risks = words.split(' ').any(|word| matches!(word, "risk" | "risks"));
    if assumptions::allows_other_topics(words) {
        Topic::Mixed { has_risks }
    } else {
        Topic::Assumptions
    }
}

/// Returns the topic that a heading announces: that of a label, acceptance criteria anywhere in the
/// heading, or a single assumption. Returns `None` if it is unknown.
pub(super) fn topic_of_heading(text: &str) -> Option<Topic> {
    let words = folded(text);
    let is_assumption =
        || words.split(' ').any(|word| word == "assumption") && significant(&words) <= 3;
    // A heading may be as long as a sentence.
    let are_criteria = || words.contains("acceptance criteri").then_some(Topic::Criteria);
    topic(text).or_else(are_criteria).or_else(|| is_assumption().then(|| of_assumptions(&words)))
}

/// Returns true if a heading announces criteria inside of a milestone, regardless of its meaning
/// elsewhere.
pub(super) fn announces_criteria_of_a_milestone(text: &str) -> bool {
    CRITERIA_OF_A_MILESTONE.contains(&folded(text).as_str())
}

/// Returns true if a front matter has a key for criteria.
pub(super) fn announces_criteria(metadata: &str) -> bool {
    let keys = metadata.lines().filter_map(|line| line.split_once(':'));
    keys.into_iter().any(|(key, _)| topic(key) == Some(Topic::Criteria))
}

/// Returns true if a heading announces the only decision of a record.
pub(super) fn is_of_a_decision(text: &str) -> bool {
    DECISION.contains(&folded(text).as_str())
}

/// Maximum number of words of a label; a longer text is a sentence.
const MAX_WORDS: usize = 10;

/// A line that announces a topic, with the text after it on the same line.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) topic: Option<Topic>,
    pub(super) rest: String,
}

/// Parses a line as a label. A bold label may have any name; another one must be known.
pub(super) fn label(line: &Line) -> Option<Label> {
    let text = line.text.as_str();
    if line.lead > 0 && text.is_char_boundary(line.lead) {
        let (name, rest) = text.split_at(line.lead);
        let rest = rest.trim_start();
        let is_marked = name.trim_end().ends_with(':') || rest.starts_with(':');
        let is_alone = rest.is_empty() && !name.trim_end().ends_with(['.', '!', '?']);
        let topic = topic(name);
        return (is_marked
            || is_alone
            || (topic.is_some() && rest.starts_with(['(', '–', '—', '-'])))
        .then(|| Label { topic, rest: after_mark(rest) });
    }
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) => (name, rest),
        None => return unmarked(text),
    };
    let topic = topic(name).filter(|_| name.len() <= MAX_NAME && !name.contains(['.', '`']))?;
    Some(Label { topic: Some(topic), rest: after_mark(rest) })
}

/// Maximum length of a label, in bytes.
const MAX_NAME: usize = 120;

/// Parses a line without a colon: a label alone, or `Depends on M1`.
fn unmarked(text: &str) -> Option<Label> {
    let words = folded(text);
    if let Some(start) = text.get(..11)
        && start.eq_ignore_ascii_case("depends on ")
    {
        return Some(Label { topic: Some(Topic::Needs), rest: text[11..].to_owned() });
    }
    let is_short = words.split(' ').count() <= 6 && text.len() <= MAX_NAME && !text.contains('`');
    let is_name = is_short && !text.trim_end().ends_with(['.', '!', '?', ',', ';']);
    let topic = topic(text).filter(|topic| is_name && *topic == Topic::Criteria)?;
    Some(Label { topic: Some(topic), rest: String::new() })
}

fn after_mark(rest: &str) -> String {
    rest.trim_start_matches([':', '–', '—', ' ', '*', '_']).trim().to_owned()
}
