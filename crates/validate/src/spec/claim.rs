//! Parses criteria that tests or commands decide: [`TestClaim`], parsed from a whole sentence.
//!
//! A sentence is a claim only if every word of it is understood. A sentence with any other word of
//! content (`… and the log is empty`), a negation, or another outcome than success (`fails`, `is
//! skipped`) is no claim, so that no part of it can decide the whole.

use assay_base::text::single_spaced;
use assay_checks::check::CheckKind;

use super::id::split_id;
use super::sentences::{sentences, without_mark};

/// A criterion that results of tests and commands decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TestClaim {
    /// All named tests, suites and commands must succeed.
    Named {
        /// The names of tests, suites and commands, as they are written.
        names: Vec<String>,
        /// Names in the words before the evidence, which must pass if they are tests.
        beside: Vec<String>,
        /// True if the sentence states that they pass; otherwise they are named as evidence.
        says_pass: bool,
    },
    /// All tests of a kind must pass.
    All {
        /// The kind of the tests.
        kind: CheckKind,
        /// The number of tests that the criterion states; 0 if it states none.
        at_least: usize,
    },
}

/// Words without meaning next to the name of a test or a command.
const AROUND_NAMES: [&str; 18] = [
    "the", "a", "test", "tests", "both", "unit", "integration", "case", "function", "method",
    "command", "running", "class", "suite", "existing", "new", "script", "it",
];

/// Prepositions between tests and their location.
const PLACES: [&str; 3] = ["in", "of", "from"];

/// Words that do not change the meaning of a verb.
const FILLERS: [&str; 17] = [
    "still", "now", "all", "always", "must", "should", "shall", "will", "to", "continue",
    "continues", "both", "again", "successfully", "cleanly", "keep", "keeps",
];

/// Phrases for success, without fillers.
const PASSES: [&str; 32] = [
    "remain green", "remains green", "remain passing", "pass", "passes", "passed", "passing",
    "succeed", "succeeds", "is green", "are green", "be green", "is passing", "are passing",
    "stay green", "stays green", "exits 0", "exit 0", "exits with 0", "exits with code 0",
    "exits with status 0", "exits with exit code 0", "exits with status code 0", "returns 0",
    "runs without errors", "runs without error", "runs without failures",
    "finishes without errors", "completes without errors", "run", "runs", "completes",
];

/// The success phrases that need a word such as *successfully* after them.
const NEEDS_ADVERB: [&str; 3] = ["run", "runs", "completes"];

/// Phrases that announce evidence, before a colon, a dash or a name.
const EVIDENCE: [&str; 17] = [
    "as shown by", "shown by", "is shown by", "verified by", "is verified by", "covered by",
    "is covered by", "tested by", "is tested by", "checked by", "is checked by", "proven by",
    "see", "see also", "validated by", "as tested by", "evidence",
];

/// Words that may describe a test that does not pass, does not run or is unwanted.
const DOUBTFUL: [&str; 37] = [
    "hardly", "partly", "partially", "barely", "rarely", "mostly", "insufficiently", "remove",
    "removed", "removes", "delete", "deleted", "deletes", "gone", "drop", "dropped", "longer",
    "fail", "fails", "failed", "failing", "failure", "failures", "skip", "skips", "skipped",
    "broken", "breaks", "ignored", "disabled", "xfail", "todo", "pending", "optional",
    "optionally", "flaky", "later",
];

/// Words that negate a sentence. Before a colon they belong to the behaviour that a test shows:
/// ``Guests cannot log in: `test_guest` ``.
const NEGATIONS: [&str; 12] = [
    "not", "no", "never", "nothing", "nobody", "none", "without", "cannot", "nor", "unless",
    "except", "until",
];

/// A way to split a sentence into prose and the evidence that is named for it.
struct Split<'a> {
    prose: &'a [Part],
    evidence: &'a [Part],
    /// True if the prose describes a behaviour, so that it may be negated.
    is_behaviour: bool,
}

/// Words at the beginning of the subject of a sentence.
const ARTICLES: [&str; 5] = ["the", "a", "an", "each", "every"];

/// Maximum number of words of a subject that the title of a test may follow.
const MAX_SUBJECT_WORDS: usize = 4;

/// Words that refer to all tests.
const ALL: [&str; 12] = [
    "all", "every", "the", "whole", "full", "entire", "existing", "other", "current", "previous",
    "complete", "our",
];

/// Maximum size, in bytes, of a criterion that is parsed as a claim: longer texts are no sentences,
/// and each way to split a sentence takes time in proportion to its length.
const MAX_CLAIM_BYTES: usize = 4096;

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Code(String),
    Word(String),
    Comma,
    /// Any other punctuation mark.
    Mark(char),
}

impl TestClaim {
    /// Parses a criterion; returns `None` if a word of the sentence is not understood.
    pub(crate) fn read(criterion: &str) -> Option<TestClaim> {
        if criterion.len() > MAX_CLAIM_BYTES {
            return None;
        }
        let text = plain_criterion(criterion);
        let text = text.trim_end_matches(['.', '!', '✅', '✓', '✔', ' ']);
        if !text.matches('`').count().is_multiple_of(2) || sentences(text).len() != 1 {
            return None;
        }
        if !text.contains('`')
            && let Some(command) = bare_claim(text)
        {
            let names = vec![command];
            return Some(TestClaim::Named { names, beside: Vec::new(), says_pass: true });
        }
        let parts = parts(text);
        let of_split = |split: Split<'_>| {
            let beside = split.prose.iter().filter_map(|part| match part {
                Part::Code(code) => Some(code.clone()),
                Part::Word(_) | Part::Comma | Part::Mark(_) => None,
            });
            if is_plain(&split) { evidence(split.evidence, beside.collect()) } else { None }
        };
        evidence(&parts, Vec::new()).or_else(|| splits(&parts).into_iter().find_map(of_split))
    }

    /// Returns the commands among the names of a claim, which must run to decide it.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            TestClaim::Named { names, .. } => names.as_slice(),
            TestClaim::All { .. } => &[],
        };
        names.iter().map(String::as_str).filter(|name| is_command(name))
    }
}

/// Returns a criterion on one line, without list mark, id and emphasis around its words.
pub(crate) fn plain_criterion(criterion: &str) -> String {
    let text = single_spaced(criterion);
    let pieces = text.split('`').enumerate();
    let bare = pieces.map(|(nth, piece)| match nth % 2 {
        0 => piece.replace("**", ""),
        _ => piece.to_owned(),
    });
    let text = bare.collect::<Vec<_>>().join("`");
    let text = without_mark(text.trim());
    let behind = split_id(text)
        .map(|(_, behind)| behind.trim_start_matches([':', '.', ')', ']', '–', '—', '-', ' ']));
    behind.filter(|behind| !behind.is_empty()).unwrap_or(text).trim().to_owned()
}

/// Returns true if a criterion has the same words as an earlier one and only names more tests as
/// evidence.
pub(crate) fn adds_only_evidence(before: &str, now: &str) -> bool {
    if now.len() > MAX_CLAIM_BYTES || before.len() > MAX_CLAIM_BYTES {
        return false;
    }
    let read = |text: &str| parts(plain_criterion(text).trim_end_matches(['.', '!', ' ']));
    let (before, now) = (read(before), read(now));
    let is_same = |(prose, names): &(&[Part], Vec<String>)| {
        let mut earlier = described(&before).into_iter();
        **prose == before[..]
            || earlier.any(|(it, known)| it == *prose && known.iter().all(|it| names.contains(it)))
    };
    described(&now).iter().any(is_same)
}

/// Returns the ways to split a sentence into a behaviour and the names of the tests that show it.
fn described(parts: &[Part]) -> Vec<(&[Part], Vec<String>)> {
    let of_split = |split: Split<'_>| match evidence(split.evidence, Vec::new())? {
        TestClaim::Named { names, .. } if is_plain(&split) => Some(names),
        TestClaim::Named { .. } | TestClaim::All { .. } => None,
    };
    let split = splits(parts).into_iter();
    let named = split.filter_map(|split| Some((without_comma(split.prose), of_split(split)?)));
    named.collect()
}

fn without_comma(parts: &[Part]) -> &[Part] {
    match parts {
        [before @ .., Part::Comma] => before,
        parts => parts,
    }
}

/// Maximum number of phrases that are reported as not understood.
const MAX_UNKNOWN: usize = 4;

/// Returns the words of a criterion that are not understood, as phrases of adjacent words. Returns
/// an empty list if every word is known, but not their order.
pub(crate) fn unknown_words(criterion: &str) -> Vec<String> {
    let lists: [&[&str]; 6] =
        [&AROUND_NAMES, &PLACES, &FILLERS, &ALL, &ARTICLES, &["and", "as", "shows", "show"]];
    let phrases = || PASSES.iter().chain(&EVIDENCE).flat_map(|phrase| phrase.split(' '));
    let is_known = |word: &str| {
        lists.iter().any(|list| list.contains(&word)) || phrases().any(|it| it == word)
    };
    let mut unknown: Vec<String> = Vec::new();
    let mut goes_on = false;
    for part in parts(&plain_criterion(criterion)) {
        let Part::Word(word) = part else {
            goes_on = false;
            continue;
        };
        let is_unknown = !is_known(&word);
        match unknown.last_mut().filter(|_| goes_on && is_unknown) {
            Some(phrase) => {
                phrase.push(' ');
                phrase.push_str(&word);
            }
            None if is_unknown => unknown.push(word),
            None => {}
        }
        goes_on = is_unknown;
    }
    unknown.truncate(MAX_UNKNOWN);
    unknown
}

/// Words that ask to run the command after them.
const TOLD: [&str; 4] = ["run", "running", "execute", "executing"];

/// Words that occur in sentences and not in commands.
const PROSE: [&str; 37] = [
    "and", "or", "to", "before", "after", "then", "with", "in", "from", "on", "for", "so", "until",
    "that", "which", "the", "a", "an", "it", "is", "are", "be", "sure", "certain", "all", "both",
    "when", "while", "should", "must", "passes", "pass", "succeeds", "exits", "locally", "again",
    "each",
];

/// Programs whose names are usual words, so that only *run* before them makes a command.
const AMBIGUOUS: [&str; 20] = [
    "just", "task", "stack", "node", "black", "mix", "swift", "dart", "rake", "hatch", "helm",
    "biome", "bun", "poetry", "composer", "cabal", "bundle", "make", "flutter", "sh",
];

/// Returns the command without back-ticks that a text asks to run, and the words after it; `None`
/// if there is none.
pub(super) fn told_command(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.trim().split_once(' ')?;
    let first = first.trim_end_matches(':').to_lowercase();
    TOLD.contains(&first.as_str()).then(|| command_words(rest.trim_start()))?
}

/// Splits a text into the command that it begins with, and the words after the command; returns
/// `None` if it begins with none.
fn command_words(text: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    for word in text.split_inclusive(' ') {
        let bare = word.trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@-+".contains(c);
        if PROSE.contains(&bare) || bare.is_empty() || !bare.chars().all(is_plain) {
            break;
        }
        end += word.len();
    }
    let command = text[..end].trim_end().trim_end_matches('.');
    is_command(command).then(|| (command, text[command.len()..].trim_start_matches(['.', ' '])))
}

/// Returns the command without back-ticks of a sentence that only states that the command succeeds;
/// `None` for other sentences.
fn bare_claim(text: &str) -> Option<String> {
    let told = told_command(text);
    let (command, rest) = told.or_else(|| command_words(text))?;
    let program = command.split(' ').next().unwrap_or_default();
    let is_clear = told.is_some() || (!AMBIGUOUS.contains(&program) && !rest.is_empty());
    let succeeds = (rest.is_empty() && told.is_some()) || says_pass(&parts(rest));
    (is_clear && succeeds).then(|| command.to_owned())
}

/// Splits a sentence into names in back-ticks, words in lower case, and marks.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for (nth, piece) in text.split('`').enumerate() {
        if nth % 2 == 1 {
            parts.push(Part::Code(piece.trim().to_owned()));
            continue;
        }
        for word in piece.split_whitespace() {
            words(word, &mut parts);
        }
    }
    parts
}

/// Splits the marks off both ends of a word.
fn words(word: &str, parts: &mut Vec<Part>) {
    let mark = |c: char| if c == ',' { Part::Comma } else { Part::Mark(c) };
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '%' | '_');
    let inner = word.trim_start_matches(is_mark);
    parts.extend(word[..word.len() - inner.len()].chars().map(mark));
    let bare = inner.trim_end_matches(is_mark);
    if !bare.is_empty() {
        parts.push(Part::Word(bare.to_lowercase()));
    }
    parts.extend(inner[bare.len()..].chars().map(mark));
}

/// Returns the ways to split a sentence into prose and the evidence that is named for it: after the
/// last colon or dash, in brackets at the end, or after words such as *covered by*.
fn splits(parts: &[Part]) -> Vec<Split<'_>> {
    let is_split = |part: &Part| matches!(part, Part::Mark(':' | '–' | '—' | '-' | '→'));
    let mut splits = Vec::new();
    let behaviour = |prose, evidence| Split { prose, evidence, is_behaviour: true };
    let other = |prose, evidence| Split { prose, evidence, is_behaviour: false };
    if let Some(at) = parts.iter().rposition(is_split) {
        splits.push(behaviour(&parts[..at], &parts[at + 1..]));
    }
    for (opening, closing) in [('(', ')'), ('[', ']')] {
        if let [before @ .., Part::Mark(mark)] = parts
            && *mark == closing
            && let Some(at) = before.iter().rposition(|part| *part == Part::Mark(opening))
        {
            splits.push(behaviour(&before[..at], &before[at + 1..]));
        }
    }
    let Some(first) = parts.iter().position(|part| matches!(part, Part::Code(_))) else {
        return splits;
    };
    // Example: Subtraction works, as `test_sub` shows.
    if let [before @ .., Part::Word(lead)] = &parts[..first]
        && lead == "as"
        && let [named @ .., Part::Word(verb)] = &parts[first..]
        && matches!(verb.as_str(), "shows" | "show" | "proves" | "prove")
    {
        splits.push(other(before, named));
    }
    // Example: The cart `adds two prices`. The title of a test follows the subject of the title.
    if let [subject @ .., Part::Code(title)] = parts
        && matches!(subject, [Part::Word(article), ..] if ARTICLES.contains(&article.as_str()))
        && subject.len() <= MAX_SUBJECT_WORDS
        && subject.iter().all(|part| matches!(part, Part::Word(_)))
        && title.contains(' ')
        && !is_command(title)
    {
        splits.push(other(subject, &parts[subject.len()..]));
    }
    // After a comma or a dash, *covered by* refers to all words before it.
    splits.extend((0..parts.len()).rev().filter_map(|at| {
        let evidence = without_lead(&parts[at..]).filter(|_| at > 0)?;
        match &parts[..at] {
            [prose @ .., Part::Comma | Part::Mark('–' | '—' | '-')] => {
                Some(behaviour(prose, evidence))
            }
            prose => Some(other(prose, evidence)),
        }
    }));
    splits
}

/// Removes words such as *covered by* from the beginning; returns `None` if there are none.
fn without_lead(parts: &[Part]) -> Option<&[Part]> {
    let behind = |lead: &&str| {
        let lead: Vec<Part> = lead.split(' ').map(|word| Part::Word(word.to_owned())).collect();
        parts.strip_prefix(lead.as_slice())
    };
    let rest = EVIDENCE.iter().filter_map(behind).min_by_key(|rest| rest.len())?;
    Some(without_label(rest))
}

/// Removes a label such as `Test:` from the beginning.
fn without_label(parts: &[Part]) -> &[Part] {
    match parts {
        [Part::Mark(':'), rest @ ..] => rest,
        [Part::Word(word), Part::Mark(':'), rest @ ..]
            if matches!(word.as_str(), "test" | "tests" | "verification" | "command") =>
        {
            rest
        }
        parts => parts,
    }
}

/// Returns true if the words before the evidence make one statement, without doubt.
fn is_plain(split: &Split<'_>) -> bool {
    let is_negated = |word: &str| NEGATIONS.contains(&word) || word.ends_with("n't");
    let is_doubtful =
        |word: &str| DOUBTFUL.contains(&word) || (!split.is_behaviour && is_negated(word));
    let is_clear = |part: &Part| match part {
        Part::Word(word) => !is_doubtful(word),
        Part::Mark(mark) => !matches!(mark, ';' | '~' | '?' | '≠' | '¬'),
        Part::Code(_) | Part::Comma => true,
    };
    !split.prose.is_empty() && split.prose.iter().all(is_clear)
}

/// Parses names without any statement but success, or a statement about all tests.
fn evidence(parts: &[Part], beside: Vec<String>) -> Option<TestClaim> {
    if let Some((kind, at_least)) = all_tests(parts) {
        return beside.is_empty().then_some(TestClaim::All { kind, at_least });
    }
    let parts = without_lead(parts).unwrap_or_else(|| without_label(parts));
    let last = parts.iter().rposition(|part| matches!(part, Part::Code(_)))?;
    let (group, verb) = parts.split_at(last + 1);
    let names = names(group)?;
    let verb = without_nouns(verb);
    let says_pass = says_pass(verb);
    (says_pass || verb.is_empty()).then_some(TestClaim::Named { names, beside, says_pass })
}

/// Parses names that are joined by commas and *and*.
fn names(group: &[Part]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut said_tests = false;
    for part in group {
        match part {
            Part::Code(code) if !code.is_empty() => names.push(code.clone()),
            Part::Code(_) | Part::Mark(_) => return None,
            Part::Comma if !names.is_empty() => {}
            Part::Comma => return None,
            Part::Word(word) => {
                let is_joint = word == "and" && !names.is_empty();
                let is_all = names.is_empty() && matches!(word.as_str(), "all" | "every");
                let is_place = said_tests && PLACES.contains(&word.as_str());
                said_tests |= matches!(word.as_str(), "test" | "tests");
                let is_around = AROUND_NAMES.contains(&word.as_str());
                if !(is_joint || is_all || is_place || is_around) {
                    return None;
                }
            }
        }
    }
    Some(names)
}

/// Removes a noun that may follow names: `the `test_a` test`.
fn without_nouns(parts: &[Part]) -> &[Part] {
    match parts {
        [Part::Word(word), rest @ ..] if AROUND_NAMES.contains(&word.as_str()) => rest,
        parts => parts,
    }
}

/// Returns true if the words only state that something succeeds.
fn says_pass(parts: &[Part]) -> bool {
    let mut said = Vec::new();
    let mut has_adverb = false;
    for part in parts {
        let Part::Word(word) = part else { return false };
        has_adverb |= matches!(word.as_str(), "successfully" | "cleanly");
        if !FILLERS.contains(&word.as_str()) {
            said.push(word.as_str());
        }
    }
    let said = said.join(" ");
    PASSES.contains(&said.as_str()) && (has_adverb || !NEEDS_ADVERB.contains(&said.as_str()))
}

/// Number words, by their value.
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

fn number(word: &str) -> Option<usize> {
    word.parse().ok().or_else(|| NUMBERS.iter().position(|number| *number == word))
}

/// Returns true if the words state that no test breaks that passed before.
fn says_no_breakage(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = match words.as_slice() {
        ["there", "are" | "is", rest @ ..] | ["introduces" | "causes", rest @ ..] => rest,
        words => words,
    };
    let ["no", rest @ ..] = words else { return false };
    let rest: Vec<&str> = rest.iter().copied().skip_while(|word| ALL.contains(word)).collect();
    matches!(
        rest.as_slice(),
        ["regressions" | "regression"]
            | ["regressions" | "regression", "is" | "are", "introduced"]
            | ["test" | "tests", "breaks" | "break" | "fails" | "fail" | "regresses" | "regress"]
            | ["test" | "tests", "is" | "are", "broken"]
    )
}

/// Parses `All existing tests still pass`, `All 5 tests pass`, `No regressions` and similar
/// sentences.
fn all_tests(parts: &[Part]) -> Option<(CheckKind, usize)> {
    let word = |part: &Part| match part {
        Part::Word(word) => Some(word.clone()),
        Part::Code(_) | Part::Comma | Part::Mark(_) => None,
    };
    let words: Vec<String> = parts.iter().map(word).collect::<Option<_>>()?;
    if says_no_breakage(&words) {
        return Some((CheckKind::FullSuite, 0));
    }
    let mut rest = words.as_slice();
    let (mut at_least, mut says_all) = (0, false);
    while let [first, more @ ..] = rest {
        if ALL.contains(&first.as_str()) {
            says_all = true;
        } else if let Some(number) = number(first).filter(|_| says_all && at_least == 0) {
            at_least = number;
        } else {
            break;
        }
        rest = more;
    }
    let (kind, rest) = match rest {
        [first, more @ ..] if first == "unit" => (CheckKind::Unit, more),
        [first, more @ ..] if first == "integration" => (CheckKind::Integration, more),
        [first, more @ ..] if matches!(first.as_str(), "e2e" | "end-to-end") => {
            (CheckKind::E2e, more)
        }
        rest => (CheckKind::FullSuite, rest),
    };
    let verb = match rest {
        [test, suite, verb @ ..]
            if test == "test" && matches!(suite.as_str(), "suite" | "cases") =>
        {
            verb
        }
        [tests, verb @ ..] if matches!(tests.as_str(), "tests" | "suite") => verb,
        _ => return None,
    };
    let verb: Vec<Part> = verb.iter().cloned().map(Part::Word).collect();
    says_pass(&verb).then_some((kind, at_least))
}

/// Programs whose calls are commands, in lower case.
const PROGRAMS: [&str; 66] = [
    "cargo", "pytest", "python", "python3", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno",
    "go", "make", "just", "task", "tox", "nox", "ruff", "mypy", "pyright", "black", "flake8",
    "pylint", "isort", "eslint", "tsc", "prettier", "jest", "vitest", "mocha", "bundle", "rspec",
    "rake", "rubocop", "php", "phpunit", "phpstan", "composer", "dotnet", "mvn", "gradle", "sh",
    "bash", "ctest", "cmake", "bazel", "swift", "flutter", "dart", "mix", "sbt", "stack", "cabal",
    "zig", "uv", "poetry", "pipenv", "pdm", "hatch", "golangci-lint", "shellcheck", "bats",
    "pre-commit", "terraform", "helm", "biome",
];

/// Programs that are called without arguments.
const ALONE: [&str; 19] = [
    "pytest", "make", "tox", "nox", "just", "rspec", "rake", "rubocop", "phpunit", "jest",
    "vitest", "mocha", "mypy", "pyright", "tsc", "ctest", "eslint", "flake8", "golangci-lint",
];

/// The subcommands of `go`, whose name is also a usual word.
const GO: [&str; 8] = ["test", "vet", "build", "run", "fmt", "generate", "mod", "tool"];

/// Returns true if a name is the call of a known program or of a script.
pub(crate) fn is_command(name: &str) -> bool {
    let mut words = name.split_whitespace();
    let program = words.next().unwrap_or_default();
    let argument = words.next();
    if let Some(script) = program.strip_prefix("./") {
        return argument.is_some() || script.ends_with(".sh") || !script.contains('.');
    }
    let is_known = PROGRAMS.contains(&program);
    match argument {
        Some(argument) if program == "go" => GO.contains(&argument),
        Some(_) => is_known,
        None => ALONE.contains(&program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match TestClaim::read(text) {
            None => "undecided".to_owned(),
            Some(TestClaim::All { kind, at_least: 0 }) => format!("all {}", kind.name()),
            Some(TestClaim::All { kind, at_least }) => format!("all {at_least} {}", kind.name()),
            Some(TestClaim::Named { names, beside, says_pass }) => {
                let beside = if beside.is_empty() { String::new() } else { format!(" {beside:?}") };
                format!("{}{}{beside}", if says_pass { "pass " } else { "" }, names.join(" + "))
            }
        }
    }

    #[test]
    fn a_sentence_is_a_claim_only_if_all_of_it_is_understood() {
        for (text, expected) in [
            ("`test_a` passes", "pass test_a"),
            ("`test_a` passes.", "pass test_a"),
            ("It `adds two numbers`", "adds two numbers"),
            ("`test_a` passes ✅", "pass test_a"),
            ("The test `test_a` still passes", "pass test_a"),
            ("`test_a`, `test_b` and `test_c` pass", "pass test_a + test_b + test_c"),
            ("Both `test_a` and `test_b` must pass", "pass test_a + test_b"),
            ("Subtraction works: `test_sub`", "test_sub"),
            ("Subtraction works (`test_sub`)", "test_sub"),
            ("Subtraction works, as `test_sub` shows", "test_sub"),
            ("Subtraction is covered by `test_sub`", "test_sub"),
            ("Subtraction – `test_sub`", "test_sub"),
            ("AC-1: Subtraction works (`test_sub`)", "test_sub"),
            ("Guests cannot log in: `test_guest`", "test_guest"),
            ("Users shouldn't see others' orders (`test_orders`)", "test_orders"),
            ("Returns `None` if nothing is given: `test_a`", "test_a [\"None\"]"),
            ("The cart `adds two prices`", "adds two prices"),
            ("Not the cart `adds two prices`", "undecided"),
            ("The old cart never `adds two prices`", "undecided"),
            ("The cart `adds`", "undecided"),
            ("Known failures: `test_a`", "undecided"),
            ("Either way (fails): `test_sub`", "undecided"),
            ("`sub(2, 3)` is now `1`: `test_sub` passes", "pass test_sub [\"sub(2, 3)\", \"1\"]"),
            ("`cargo test` passes", "pass cargo test"),
            ("`pytest -q` exits 0", "pass pytest -q"),
            ("`make lint` exits with code 0", "pass make lint"),
            ("`make lint` runs without errors", "pass make lint"),
            ("All tests in `tests/x.py` pass", "pass tests/x.py"),
            ("All tests pass", "all full_suite"),
            ("All existing tests still pass", "all full_suite"),
            ("The whole test suite continues to pass", "all full_suite"),
            ("All unit tests are green", "all unit"),
            ("`test_a` fails", "undecided"),
            ("`test_a` is skipped", "undecided"),
            ("`test_a` does not pass", "undecided"),
            ("`test_a` doesn't pass", "undecided"),
            ("`test_a` never passes", "undecided"),
            ("`test_a` passes; and more", "undecided"),
            ("`test_a` passes and the log is empty", "undecided"),
            ("`test_a` passes, and the log is empty", "undecided"),
            ("`test_a` passes within 5 seconds", "undecided"),
            ("`test_a` passes on Windows", "undecided"),
            ("`test_a` or `test_b` passes", "undecided"),
            ("`test_a` passes: the log is empty", "undecided"),
            ("`test_a` passes. The log is empty.", "undecided"),
            ("Expected to fail: `test_a`", "undecided"),
            ("Skipped: `test_a`", "undecided"),
            ("This is not covered by `test_a`", "undecided"),
            ("Either `test_a` passes", "undecided"),
            ("`test_a` passes?", "undecided"),
            ("No tests pass", "undecided"),
            ("All tests pass and coverage rises", "undecided"),
            ("Not all tests pass", "undecided"),
            ("All tests fail", "undecided"),
            ("`test_a` runs", "undecided"),
            ("Most tests pass", "undecided"),
            ("`test_a` passes` ", "undecided"),
            ("Subtraction works (covered by `test_sub`)", "test_sub"),
            ("`sub` works (covered by `test_sub`)", "test_sub [\"sub\"]"),
            ("Subtraction works (test: `test_sub`)", "test_sub"),
            ("Subtraction works [`test_sub`]", "test_sub"),
            ("Subtraction works, verified by `test_sub`", "test_sub"),
            ("`sub` is tested by `test_sub`", "test_sub [\"sub\"]"),
            ("Guests cannot log in, see `test_guest`", "test_guest"),
            ("Subtraction works → `test_sub`", "test_sub"),
            ("**AC-2** Subtraction works: `test_sub`", "test_sub"),
            ("**AC-2:** `test_sub` passes", "pass test_sub"),
            ("[AC-2] `test_sub` passes", "pass test_sub"),
            ("✅ `test_sub` passes", "pass test_sub"),
            ("All 5 tests pass", "all 5 full_suite"),
            ("All five unit tests pass", "all 5 unit"),
            ("No regressions", "all full_suite"),
            ("No existing test breaks", "all full_suite"),
            ("Run pytest -q tests", "pass pytest -q tests"),
            ("cargo test --workspace passes", "pass cargo test --workspace"),
            ("No test", "undecided"),
            ("No tests exist", "undecided"),
            ("No regressions in the parser", "undecided"),
            ("5 tests pass", "undecided"),
            ("All 5 tests fail", "undecided"),
            ("Run pytest and look at the log", "undecided"),
            ("make sure it passes", "undecided"),
            ("cargo test", "undecided"),
            ("Subtraction is hardly tested by `test_sub`", "undecided"),
            ("Subtraction works (not covered by `test_sub`)", "undecided"),
            ("Guests cannot be tested by `test_guest`", "undecided"),
            ("Subtraction works [`test_sub`](docs.md)", "undecided"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_criterion_stays_the_same_if_only_test_evidence_is_added() {
        for (before, now) in [
            ("Logins are limited", "Logins are limited (`test_limit`)"),
            ("Logins are limited.", "Logins are limited, covered by `test_limit`"),
            ("Logins are limited: `test_a`", "Logins are limited: `test_a`, `test_b`"),
            ("Logins are limited: `test_a`", "Logins are limited (`test_a`)"),
        ] {
            assert!(adds_only_evidence(before, now), "{before} | {now}");
        }
        for (before, now) in [
            ("Logins are limited", "Logins are limited, mostly"),
            ("Logins are limited", "Some logins are limited (`test_limit`)"),
            ("Logins are limited (`test_limit`)", "Logins are limited"),
            ("Logins are limited: `test_a`", "Logins are limited: `test_b`"),
            ("Logins are limited", "Logins are limited: all tests pass"),
        ] {
            assert!(!adds_only_evidence(before, now), "{before} | {now}");
        }
    }

    #[test]
    fn words_that_make_a_criterion_undecidable_are_named() {
        for (text, expected) in [
            ("`test_a` passes within a second", "within|second"),
            ("The readme is short and clear", "readme|short|clear"),
            ("`test_a` or `test_b` passes", "or"),
            ("The tests `test_a`", ""),
        ] {
            assert_eq!(unknown_words(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn a_command_is_the_call_of_a_known_program() {
        for name in ["cargo test", "pytest", "pytest -q", "make lint", "./run.sh", "./gradlew test"]
        {
            assert!(is_command(name), "{name}");
        }
        for name in ["test_a", "go home", "calc adds", "src/a.py", "cargo", "T.test_a", "go"] {
            assert!(!is_command(name), "{name}");
        }
    }
}
