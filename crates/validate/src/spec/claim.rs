//! Criteria that tests or commands decide: [`TestClaim`], read from a whole sentence.
//!
//! A sentence is a claim only if every word of it was understood. A sentence with any other word of
//! content (`… and the log is empty`), a negation, or another outcome than success (`fails`, `is
//! skipped`) is no claim, so that no part of it can stand for the whole.

use assay_checks::check::CheckKind;

use super::criteria::sentences;
use crate::markdown::folded;

/// A criterion that results of tests and commands decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TestClaim {
    /// All that is named has to succeed.
    Named {
        /// The tests, suites and commands, as they are written.
        names: Vec<String>,
        /// Names in the words before the evidence, which have to pass if they are tests.
        beside: Vec<String>,
        /// Whether the sentence says that they pass; otherwise they are named as evidence.
        says_pass: bool,
    },
    /// Every test of a kind has to pass.
    All(CheckKind),
}

/// Words that say nothing beside the name of a test or a command.
const AROUND_NAMES: [&str; 18] = [
    "the", "a", "test", "tests", "both", "unit", "integration", "case", "function", "method",
    "command", "running", "class", "suite", "existing", "new", "script", "it",
];

/// Words that may stand between tests and the place where they are.
const PLACES: [&str; 3] = ["in", "of", "from"];

/// Words that do not change what a verb says.
const FILLERS: [&str; 17] = [
    "still", "now", "all", "always", "must", "should", "shall", "will", "to", "continue",
    "continues", "both", "again", "successfully", "cleanly", "keep", "keeps",
];

/// Words that say of something that it succeeds, without fillers.
const PASSES: [&str; 29] = [
    "pass", "passes", "passed", "passing", "succeed", "succeeds", "is green", "are green",
    "be green", "is passing", "are passing", "stay green", "stays green", "exits 0", "exit 0",
    "exits with 0", "exits with code 0", "exits with status 0", "exits with exit code 0",
    "exits with status code 0", "returns 0", "runs without errors", "runs without error",
    "runs without failures", "finishes without errors", "completes without errors", "run", "runs",
    "completes",
];

/// Those of them that need a word such as *successfully* behind them.
const NEEDS_ADVERB: [&str; 3] = ["run", "runs", "completes"];

/// Words before a colon, a dash or a name by which evidence is announced.
const EVIDENCE: [&str; 13] = [
    "as shown by", "shown by", "is shown by", "verified by", "is verified by", "covered by",
    "is covered by", "tested by", "is tested by", "checked by", "is checked by", "proven by",
    "see",
];

/// Words by which a sentence may speak of a test that does not pass, does not run or is not wanted.
const DOUBTFUL: [&str; 30] = [
    "remove", "removed", "removes", "delete", "deleted", "deletes", "gone", "drop", "dropped",
    "longer", "fail", "fails", "failed", "failing", "failure", "failures", "skip", "skips",
    "skipped", "broken", "breaks", "ignored", "disabled", "xfail", "todo", "pending", "optional",
    "optionally", "flaky", "later",
];

/// Words that turn a sentence around. Before a colon they belong to the behaviour that a test shows:
/// ``Guests cannot log in: `test_guest` ``.
const NEGATIONS: [&str; 12] = [
    "not", "no", "never", "nothing", "nobody", "none", "without", "cannot", "nor", "unless",
    "except", "until",
];

/// A way to split a sentence into words and the evidence that is named for them.
struct Split<'a> {
    prose: &'a [Part],
    evidence: &'a [Part],
    /// True if the words describe a behaviour, so that they may be negated.
    is_behaviour: bool,
}

/// Words that the subject of a sentence begins with.
const ARTICLES: [&str; 5] = ["the", "a", "an", "each", "every"];

/// The most words of a subject that a title of a test may stand behind.
const MAX_SUBJECT_WORDS: usize = 4;

/// Words that name all tests.
const ALL: [&str; 12] = [
    "all", "every", "the", "whole", "full", "entire", "existing", "other", "current", "previous",
    "complete", "our",
];

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Code(String),
    Word(String),
    /// A comma.
    Comma,
    /// Any other mark.
    Mark(char),
}

impl TestClaim {
    /// Reads a criterion; `None` where a word of the sentence is not understood.
    pub(crate) fn read(criterion: &str) -> Option<TestClaim> {
        let text = folded(criterion);
        let text = text.trim_end_matches(['.', '!', '✅', '✓', '✔', ' ']);
        if !text.matches('`').count().is_multiple_of(2) || sentences(text).len() != 1 {
            return None;
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

    /// Returns the commands among the names of a claim, which have to be run for it.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            TestClaim::Named { names, .. } => names.as_slice(),
            TestClaim::All(_) => &[],
        };
        names.iter().map(String::as_str).filter(|name| is_command(name))
    }
}

/// Splits a sentence into names in back-ticks, words in small letters, and marks.
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

/// Takes the marks off both ends of a word.
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

/// Returns the ways to split a sentence into words and the evidence that is named for them: behind the
/// last colon or dash, in brackets at its end, or behind words such as *covered by*.
fn splits(parts: &[Part]) -> Vec<Split<'_>> {
    let is_split = |part: &Part| matches!(part, Part::Mark(':' | '–' | '—' | '-' | '→'));
    let mut splits = Vec::new();
    let behaviour = |prose, evidence| Split { prose, evidence, is_behaviour: true };
    let other = |prose, evidence| Split { prose, evidence, is_behaviour: false };
    if let Some(at) = parts.iter().rposition(is_split) {
        splits.push(behaviour(&parts[..at], &parts[at + 1..]));
    }
    if let [before @ .., Part::Mark(')')] = parts
        && let Some(at) = before.iter().rposition(|part| *part == Part::Mark('('))
    {
        splits.push(behaviour(&before[..at], &before[at + 1..]));
    }
    let Some(first) = parts.iter().position(|part| matches!(part, Part::Code(_))) else {
        return splits;
    };
    // Subtraction works, as `test_sub` shows.
    if let [before @ .., Part::Word(lead)] = &parts[..first]
        && lead == "as"
        && let [named @ .., Part::Word(verb)] = &parts[first..]
        && matches!(verb.as_str(), "shows" | "show" | "proves" | "prove")
    {
        splits.push(other(before, named));
    }
    // The cart `adds two prices`: a title of a test, behind the thing that the title speaks of.
    if let [subject @ .., Part::Code(title)] = parts
        && matches!(subject, [Part::Word(article), ..] if ARTICLES.contains(&article.as_str()))
        && subject.len() <= MAX_SUBJECT_WORDS
        && subject.iter().all(|part| matches!(part, Part::Word(_)))
        && title.contains(' ')
        && !is_command(title)
    {
        splits.push(other(subject, &parts[subject.len()..]));
    }
    splits.extend(EVIDENCE.iter().filter_map(|lead| {
        let lead: Vec<Part> = lead.split(' ').map(|word| Part::Word(word.to_owned())).collect();
        let prose = parts[..first].strip_suffix(lead.as_slice())?;
        Some(other(prose, &parts[first..]))
    }));
    splits
}

/// Returns true if words before the evidence say one thing, and say it without doubt.
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

/// Reads names with nothing but a success said of them, or all tests.
fn evidence(parts: &[Part], beside: Vec<String>) -> Option<TestClaim> {
    if let Some(kind) = all_tests(parts) {
        return beside.is_empty().then_some(TestClaim::All(kind));
    }
    let last = parts.iter().rposition(|part| matches!(part, Part::Code(_)))?;
    let (group, verb) = parts.split_at(last + 1);
    let names = names(group)?;
    let verb = without_nouns(verb);
    let says_pass = says_pass(verb);
    (says_pass || verb.is_empty()).then_some(TestClaim::Named { names, beside, says_pass })
}

/// Reads names that are joined by commas and *and*.
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

/// Takes the nouns off that may stand behind names: `the `test_a` test`.
fn without_nouns(parts: &[Part]) -> &[Part] {
    match parts {
        [Part::Word(word), rest @ ..] if AROUND_NAMES.contains(&word.as_str()) => rest,
        parts => parts,
    }
}

/// Returns true if words say that something succeeds, and nothing else.
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

/// Reads `All existing tests still pass` and its like.
fn all_tests(parts: &[Part]) -> Option<CheckKind> {
    let word = |part: &Part| match part {
        Part::Word(word) => Some(word.clone()),
        Part::Code(_) | Part::Comma | Part::Mark(_) => None,
    };
    let words: Vec<String> = parts.iter().map(word).collect::<Option<_>>()?;
    let mut rest = words.as_slice();
    while let [first, more @ ..] = rest
        && ALL.contains(&first.as_str())
    {
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
    says_pass(&verb).then_some(kind)
}

/// Programs whose calls are commands, in small letters.
const PROGRAMS: [&str; 66] = [
    "cargo", "pytest", "python", "python3", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno",
    "go", "make", "just", "task", "tox", "nox", "ruff", "mypy", "pyright", "black", "flake8",
    "pylint", "isort", "eslint", "tsc", "prettier", "jest", "vitest", "mocha", "bundle", "rspec",
    "rake", "rubocop", "php", "phpunit", "phpstan", "composer", "dotnet", "mvn", "gradle", "sh",
    "bash", "ctest", "cmake", "bazel", "swift", "flutter", "dart", "mix", "sbt", "stack", "cabal",
    "zig", "uv", "poetry", "pipenv", "pdm", "hatch", "golangci-lint", "shellcheck", "bats",
    "pre-commit", "terraform", "helm", "biome",
];

/// Programs that are called by their name alone.
const ALONE: [&str; 19] = [
    "pytest", "make", "tox", "nox", "just", "rspec", "rake", "rubocop", "phpunit", "jest",
    "vitest", "mocha", "mypy", "pyright", "tsc", "ctest", "eslint", "flake8", "golangci-lint",
];

/// Subcommands of programs whose names are also usual words.
const GO: [&str; 8] = ["test", "vet", "build", "run", "fmt", "generate", "mod", "tool"];

/// Returns true if a name is the call of a program, by the program's name.
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
            Some(TestClaim::All(kind)) => format!("all {}", kind.name()),
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
        ] {
            assert_eq!(shown(text), expected, "{text}");
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
