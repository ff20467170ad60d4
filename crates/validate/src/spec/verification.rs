//! Parses the verification section of a spec: commands, coverage, steps for a person.

use std::collections::HashSet;

use assay_checks::verification::{Group, NamedCommand, Verification};

use super::claim::{TestClaim, is_command, told_command};
use super::item::{Item, label};

/// A group of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestGroup {
    Unit,
    Integration,
    E2e,
}

impl TestGroup {
    /// Returns the group that a title in lower case names; `None` if there is none.
    pub(super) fn named(title: &str) -> Option<TestGroup> {
        let words = |c: char| !c.is_alphanumeric();
        if title.contains("end-to-end") || title.contains("end to end") {
            return Some(TestGroup::E2e);
        }
        title.split(words).find_map(|word| match word {
            "unit" | "unittest" | "unittests" => Some(TestGroup::Unit),
            "integration" => Some(TestGroup::Integration),
            "e2e" => Some(TestGroup::E2e),
            _ => None,
        })
    }

    /// Returns the group in a verification.
    pub(super) fn of(self, all: &mut Verification) -> &mut Group {
        match self {
            TestGroup::Unit => &mut all.unit,
            TestGroup::Integration => &mut all.integration,
            TestGroup::E2e => &mut all.e2e,
        }
    }
}

/// Raises the minimum coverage to a value; the highest value counts.
pub(super) fn ask_for(coverage: f64, all: &mut Verification) {
    let highest = all.minimum_coverage.map_or(coverage, |before| before.max(coverage));
    all.minimum_coverage = Some(highest);
}

/// Adds a command to a group, unless it is empty.
pub(super) fn run(command: &str, expect: &str, group: &mut Group) {
    if command.is_empty() {
        return;
    }
    let expect = (!expect.is_empty()).then(|| expect.to_owned());
    group.commands.push(NamedCommand { command: command.to_owned(), expect });
}

/// Adds the checks that decide a criterion: the commands that it names, or all tests of a kind.
pub(super) fn ask_for_claim(criterion: &str, all: &mut Verification) {
    let Some(claim) = TestClaim::read(criterion) else { return };
    ask_for_commands(claim.commands().map(str::to_owned), all);
    if let TestClaim::All { kind, .. } = claim {
        all.criterion_kinds.push(kind);
    }
}

/// Adds commands that criteria depend on.
pub(super) fn ask_for_commands(commands: impl IntoIterator<Item = String>, all: &mut Verification) {
    let named = commands.into_iter().map(|command| NamedCommand { command, expect: None });
    all.criterion_commands.extend(named);
}

/// Removes duplicates.
pub(super) fn each_once(all: &mut Verification) {
    let mut seen = HashSet::new();
    all.criterion_commands.retain(|said| seen.insert(said.command.clone()));
    all.criterion_kinds.sort();
    all.criterion_kinds.dedup();
    for group in [&mut all.unit, &mut all.integration, &mut all.e2e] {
        let mut seen = HashSet::new();
        group.commands.retain(|said| seen.insert(said.command.clone()));
        seen.clear();
        group.flows.retain(|flow| seen.insert(flow.clone()));
    }
}

/// Parses the items of the groups. Fails with the text of a coverage that is no percentage.
pub(super) fn read(said: &[(TestGroup, Item)]) -> Result<Verification, String> {
    let mut all = Verification::default();
    // The item with `Manual:` and fewer than two steps: the items below it are further steps.
    let mut manual: Option<(TestGroup, usize)> = None;
    for (which, item) in said {
        if let Some((which, depth)) = manual
            && item.depth > depth
        {
            let steps = which.of(&mut all).by_hand.last_mut();
            steps.into_iter().for_each(|steps| steps.extend(in_steps(&item.text)));
            continue;
        }
        manual = None;
        if let Some(steps) = manual_steps(&item.text) {
            if steps.len() < 2 {
                manual = Some((*which, item.depth));
            }
            which.of(&mut all).by_hand.push(steps);
        } else if let Some(percent) = coverage(&item.text) {
            ask_for(percentage(percent)?, &mut all);
        } else if allows_network(&item.text) {
            all.network = true;
        } else {
            let labelled = plain_label(&item.text);
            let group = labelled.and_then(|(label, _)| TestGroup::named(&label.to_lowercase()));
            let (commands, expect) = commands(labelled.map_or(&item.text, |(_, rest)| rest));
            for command in commands.into_iter().filter(|it| !item.is_loose || is_command(it)) {
                run(command, expect, group.unwrap_or(*which).of(&mut all));
            }
        }
    }
    for group in [&mut all.unit, &mut all.integration, &mut all.e2e] {
        group.by_hand.retain(|steps| !steps.is_empty());
    }
    Ok(all)
}

/// Returns true if an item is about verification: a command, a coverage, steps or the network.
pub(super) fn says_something(item: &Item) -> bool {
    let labelled = plain_label(&item.text);
    let (commands, _) = commands(labelled.map_or(&item.text, |(_, rest)| rest));
    manual_steps(&item.text).is_some()
        || coverage(&item.text).is_some()
        || said_of(&NETWORK, &item.text).is_some()
        || label(&item.text).is_some_and(|(_, rest)| rest.is_empty())
        || commands.into_iter().any(|it| !item.is_loose || is_command(it))
}

/// Returns true if a line begins with a label for steps of a person.
pub(super) fn is_label(line: &str) -> bool {
    said_of(&MANUAL, line).is_some()
}

/// Labels of steps for a person, in lower case.
const MANUAL: [&str; 6] =
    ["manual", "manually", "manual test", "manual tests", "manual testing", "manual steps"];

/// Labels that allow network access to commands, in lower case.
const NETWORK: [&str; 2] = ["network", "network access"];

/// Parses a percentage: 0, or from 1 to 100. A fraction below 1 is most likely a mistake, and would
/// let everything pass.
pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse().ok();
    let number = number.filter(|number: &f64| *number == 0.0 || (1.0..=100.0).contains(number));
    number.ok_or_else(|| text.trim().to_owned())
}

/// Returns the steps of `Manual: A → B`; `None` for other texts.
fn manual_steps(text: &str) -> Option<Vec<String>> {
    said_of(&MANUAL, text).map(in_steps)
}

/// Returns true if an item is `Network: allowed`. Further words may be a condition, which would not
/// be enforced.
fn allows_network(text: &str) -> bool {
    let said = said_of(&NETWORK, text).unwrap_or_default();
    let word = said.trim_matches([' ', '.', '`']).to_lowercase();
    matches!(word.as_str(), "allowed" | "yes" | "on" | "true")
}

/// Returns the text after one of the labels and its colon, in bold or not; `None` for other labels.
fn said_of<'a>(names: &[&str], text: &'a str) -> Option<&'a str> {
    let (name, said) = text.split_once(':')?;
    let name = name.trim_matches(['*', '_', ' ']).to_lowercase();
    names.contains(&name.as_str()).then(|| said.trim_start_matches(['*', '_']))
}

fn in_steps(text: &str) -> Vec<String> {
    let steps = text.split('→').flat_map(|step| step.split("->"));
    steps.map(|step| step.trim().to_owned()).filter(|step| !step.is_empty()).collect()
}

/// Returns the number after `Coverage: >=`; `None` for other texts.
fn coverage(text: &str) -> Option<&str> {
    let plain = text.trim_start_matches(['*', '_']);
    let head = plain.find(|c: char| c.is_ascii_digit())?;
    let (head, rest) = plain.split_at(head);
    let mut words = head.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_name = |word: &str| {
        let names = [
            "coverage", "test", "code", "line", "minimum", "min", "at", "least", "of", "must",
            "be", "should", "is", "the", "total", "overall", "stays", "above", "over", "reaches",
        ];
        names.iter().any(|name| word.eq_ignore_ascii_case(name))
    };
    let is_coverage = head.to_lowercase().contains("coverage") && words.all(is_name);
    let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    is_coverage.then(|| rest[..length].trim_end_matches('.'))
}

/// Maximum number of words of a label that is not bold.
const MAX_LABEL_WORDS: usize = 4;

/// Returns the label of a line such as ``Unit tests: `make check` ``, and the text after it; `None`
/// for other lines.
fn plain_label(text: &str) -> Option<(&str, &str)> {
    let (label, rest) = text.split_once(':')?;
    let rest = rest.trim_start();
    let (command, _) = code(rest)?;
    let is_label = !label.contains(['`', '*', '_'])
        && label.split_whitespace().count() <= MAX_LABEL_WORDS
        && (TestGroup::named(&label.to_lowercase()).is_some() || is_command(command));
    is_label.then_some((label, rest))
}

/// Returns the commands of an item, and the words about their expected outcome. The commands are
/// those at the beginning of the item, or, in a sentence, the calls of known programs.
fn commands(text: &str) -> (Vec<&str>, &str) {
    let mut rest = label(text).map_or(text, |(_, rest)| rest).trim_start();
    for lead in ["Run:", "run:", "Run", "run", "Command:", "command:", "Then", "then"] {
        if let Some(after) = rest.strip_prefix(lead).map(str::trim_start)
            && after.starts_with('`')
        {
            rest = after;
            break;
        }
    }
    if let Some((command, expect)) = told_command(rest) {
        return (vec![command], expect);
    }
    if !rest.starts_with('`') {
        return called_in(rest);
    }
    let mut commands = Vec::new();
    while let Some((command, after)) = code(rest) {
        commands.push(command);
        rest = after;
        let next = after.trim_start_matches([' ', ',', ';', '&', '+']);
        let next = next.strip_prefix("and ").or_else(|| next.strip_prefix("then ")).unwrap_or(next);
        if next.trim_start().starts_with('`') {
            rest = next.trim_start();
        }
    }
    (commands, rest.trim_start_matches([' ', '-', '–', '—', ':', '→', '=', '>']).trim_end())
}

/// Words that ask a reader to run a command, in lower case.
const RUN_WORDS: [&str; 9] =
    ["run", "runs", "execute", "start", "call", "use", "using", "with", "by"];

/// Returns the commands that a sentence asks to run.
fn called_in(text: &str) -> (Vec<&str>, &str) {
    let mut words = text.split('`').step_by(2).flat_map(|part| part.split_whitespace());
    let is_said = words.any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        RUN_WORDS.contains(&word.as_str())
            || ["passes", "exits", "succeeds", "exit"].contains(&word.as_str())
    });
    let called = text.split('`').skip(1).step_by(2).map(str::trim);
    let called = called.filter(|name| is_said && is_command(name));
    (called.collect(), "")
}

/// Returns the code at the beginning of a text, and the text after it; `None` if there is none.
fn code(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches('`');
    let mark = &text[..text.len() - inner.len()];
    if mark.is_empty() {
        return None;
    }
    let (code, rest) = inner.split_once(mark)?;
    Some((code.trim(), rest))
}
