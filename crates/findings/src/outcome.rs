//! Whether a single review text approves: [`judge`] gives its [`Outcome`].
//!
//! The findings decide first. Only where they leave it open is the reviewer's own word read, from
//! its conclusion and never from code, quotes or the diff; and where nothing was said, nothing was
//! approved. The [`Audit`] says which words were seen and which rule decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::{Grade, Impact};
use crate::read::{Reading, severity_tag};

/// What a review text comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The reviewer approved, and nothing it found speaks against that.
    pub approved: bool,
    /// Something critical was found.
    pub has_critical_issues: bool,
    /// Tests failed.
    pub has_test_failures: bool,
    /// Changes were asked for.
    pub has_change_requests: bool,
    /// Something of high or major weight was found.
    pub has_major_issues: bool,
    /// The change has to be fixed first.
    pub needs_fix: bool,
    /// Neither approved nor refused, which is never an approval.
    pub ambiguous: bool,
}

/// What the reviewer's own words amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It approves.
    Approve,
    /// It asks for changes.
    RequestChanges,
}

/// The rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// A finding of MAJOR or above.
    Findings,
    /// A severity named in the prose.
    NamedSeverity,
    /// A line that begins with a severity and says no more.
    DefaultDeny,
    /// Tests that failed.
    TestFailures,
    /// The reviewer's word.
    Conclusion,
    /// Nothing did.
    Nothing,
}

/// What a matched word was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// An approval.
    Approve,
    /// A request for changes.
    RequestChanges,
    /// A critical severity.
    Critical,
    /// A high or major severity.
    Major,
    /// A failed test.
    TestFailure,
    /// Nothing: it is negated, conditional, told of the past, or one of two choices.
    Ignored,
}

/// One place where a deciding word was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// The words around it.
    pub text: String,
    /// The line it stands in, counted from 1; 0 for a word that stood in the JSON.
    pub line: usize,
    /// What it was taken for.
    pub meaning: Meaning,
}

/// How an outcome came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The reviewer's word, if it gave one.
    pub word: Option<Word>,
    /// The rule that decided.
    pub decided_by: DecidedBy,
    /// Whether the reviewer approved and was overruled by what it found.
    pub overruled: bool,
    /// Every deciding word that was seen.
    pub matches: Vec<Match>,
}

/// The most matches that are told.
const MAX_MATCHES: usize = 100;

/// Judges a review text by what was read from it.
pub fn judge(text: &str, reading: &Reading) -> (Outcome, Audit) {
    let votes = reading.votes.as_deref().unwrap_or_default();
    let worst = votes.iter().map(|vote| vote.grade.impact()).min();
    let mut prose = Prose::default();
    prose.read(text, &reading.json_spans);
    if let Some(word) = &reading.envelope.verdict {
        prose.structured_word(word);
    }
    let word = prose.word();
    let default_deny = word.is_none() && prose.bare_tag;
    let found_critical = votes.iter().any(|vote| vote.grade.impact().level() == 0);
    let found_major = votes.iter().any(|vote| matches!(vote.grade.impact().level(), 1 | 2));
    let named = prose.critical || prose.major;
    let decided_by = if worst.is_some_and(|worst| worst <= Impact::MAJOR) {
        DecidedBy::Findings
    } else if named {
        DecidedBy::NamedSeverity
    } else if prose.test_failure {
        DecidedBy::TestFailures
    } else if word.is_some() {
        DecidedBy::Conclusion
    } else if default_deny {
        DecidedBy::DefaultDeny
    } else {
        DecidedBy::Nothing
    };
    let needs_fix = match decided_by {
        DecidedBy::Findings
        | DecidedBy::NamedSeverity
        | DecidedBy::TestFailures
        | DecidedBy::DefaultDeny => true,
        DecidedBy::Conclusion => word == Some(Word::RequestChanges),
        DecidedBy::Nothing => false,
    };
    let approved = word == Some(Word::Approve) && !needs_fix;
    let outcome = Outcome {
        approved,
        has_critical_issues: found_critical || prose.critical,
        has_test_failures: prose.test_failure,
        has_change_requests: word == Some(Word::RequestChanges),
        has_major_issues: found_major || prose.major || default_deny,
        needs_fix,
        ambiguous: !approved && !needs_fix,
    };
    let overruled = word == Some(Word::Approve) && needs_fix;
    (outcome, Audit { word, decided_by, overruled, matches: prose.matches })
}

/// What the prose of a review says.
#[derive(Default)]
struct Prose {
    critical: bool,
    major: bool,
    test_failure: bool,
    bare_tag: bool,
    labelled: Option<Word>,
    last: Option<Word>,
    matches: Vec<Match>,
}

impl Prose {
    fn word(&self) -> Option<Word> {
        self.labelled.or(self.last)
    }

    fn read(&mut self, text: &str, json_spans: &[(usize, usize)]) {
        for (number, line) in speaking_lines(text, json_spans) {
            self.line(number, line);
        }
    }

    fn line(&mut self, number: usize, line: &str) {
        let (label, body) = split_label(line);
        let shown = if label { body.replace('`', " ") } else { without_quotes(body) };
        if let Some(tag) = severity_tag(line) {
            let heavy = tag.grade.impact() <= Impact::MAJOR;
            self.bare_tag |= heavy && !tag.set_off && tag.at_margin;
        }
        for clause in clauses(&shown) {
            self.severities(number, clause, &shown);
            self.tests(number, clause);
            self.verdict(number, clause, label);
        }
    }

    fn note(&mut self, line: usize, clause: &str, meaning: Meaning) {
        if self.matches.len() < MAX_MATCHES {
            let text = clause.trim().chars().take(120).collect();
            self.matches.push(Match { text, line, meaning });
        }
    }

    /// Looks for severities that the prose names: `CRITICAL …:` in capitals, or a number of
    /// critical issues.
    fn severities(&mut self, line: usize, clause: &str, whole: &str) {
        let words = Words::of(clause);
        for (at, word) in words.iter().enumerate() {
            let meaning = match word.to_ascii_uppercase().as_str() {
                "CRITICAL" => Meaning::Critical,
                "HIGH" | "MAJOR" => Meaning::Major,
                _ => continue,
            };
            let counted = words.counts_issues(at);
            let shouted = !word.bytes().any(|b| b.is_ascii_lowercase());
            let colon_after = whole.find(word).is_some_and(|from| whole[from..].contains(':'));
            let meant = counted || (shouted && colon_after);
            if !meant {
                continue;
            }
            if words.negated_before(at) {
                self.note(line, clause, Meaning::Ignored);
                continue;
            }
            self.critical |= meaning == Meaning::Critical;
            self.major |= meaning == Meaning::Major;
            self.note(line, clause, meaning);
        }
    }

    fn tests(&mut self, line: usize, clause: &str) {
        let words = Words::of(clause);
        let Some(at) = words.failed_tests() else { return };
        if words.hypothetical() || words.negated_before(at) || words.told_of_the_past() {
            self.note(line, clause, Meaning::Ignored);
            return;
        }
        self.test_failure = true;
        self.note(line, clause, Meaning::TestFailure);
    }

    fn verdict(&mut self, line: usize, clause: &str, label: bool) {
        let words = Words::of(clause);
        let (approval, changes) = (words.approval(label), words.changes(label));
        let meaning = match (approval, changes) {
            (None, None) => return,
            // "APPROVE or REQUEST_CHANGES" names the choice and makes none.
            (Some(_), Some(_)) => Meaning::Ignored,
            (Some(at), None) if words.negated_before(at) => Meaning::RequestChanges,
            (None, Some(at)) if words.negated_before(at) => Meaning::Ignored,
            _ if words.told_of_the_past() || (words.hypothetical() && !label) => Meaning::Ignored,
            (Some(at), None) if !words.approves(at, label) => Meaning::Ignored,
            (Some(_), None) => Meaning::Approve,
            (None, Some(_)) => Meaning::RequestChanges,
        };
        self.note(line, clause, meaning);
        let word = match meaning {
            Meaning::Approve => Word::Approve,
            Meaning::RequestChanges => Word::RequestChanges,
            _ => return,
        };
        self.last = Some(word);
        if label {
            self.labelled = Some(word);
        }
    }

    /// Reads the verdict that stood in the JSON, as if it were labelled.
    fn structured_word(&mut self, word: &str) {
        if self.labelled.is_none() {
            self.verdict(0, word, true);
        }
    }
}

/// Gives the lines in which the reviewer speaks for itself, with their numbers: not those in
/// fences, quotes, diffs or JSON.
fn speaking_lines<'t>(
    text: &'t str,
    json_spans: &'t [(usize, usize)],
) -> impl Iterator<Item = (usize, &'t str)> {
    let base = text.as_ptr() as usize;
    let mut spans = json_spans.iter().peekable();
    let unfenced = crate::read::unfenced(text);
    let mut number = 0;
    let mut last = 0;
    unfenced.filter_map(move |line| {
        let start = line.as_ptr() as usize - base;
        number += text[last..start].matches('\n').count();
        last = start;
        while spans.next_if(|(_, end)| *end <= start).is_some() {}
        let in_json = spans.peek().is_some_and(|(from, _)| *from <= start);
        let line = match spans.peek() {
            Some((from, _)) if !in_json && *from < start + line.len() => &line[..from - start],
            _ => line,
        };
        let marked = line.trim_start();
        let quoted = marked.starts_with('>')
            || marked.starts_with("+++")
            || line.starts_with('+')
            || line.starts_with("@@")
            || (line.starts_with('-') && !line.starts_with("- ") && !line.starts_with("---"));
        (!in_json && !quoted && !marked.is_empty()).then_some((number + 1, line))
    })
}

/// Takes `Verdict:` and the like off a line.
fn split_label(line: &str) -> (bool, &str) {
    const LABELS: [&str; 10] = [
        "verdict", "overall", "decision", "conclusion", "recommendation", "status", "result",
        "assessment", "outcome", "final",
    ];
    let Some((before, after)) = line.split_once([':', '=']) else { return (false, line) };
    let before = before.trim_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = before.split_whitespace().collect();
    let named = words
        .last()
        .is_some_and(|word| LABELS.iter().any(|label| label.eq_ignore_ascii_case(word)));
    if named && words.len() <= 3 { (true, after) } else { (false, line) }
}

/// Blanks what stands in quotation marks or back-ticks.
fn without_quotes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut closing: Option<char> = None;
    for c in line.chars() {
        match (closing, c) {
            (Some(close), c) if c == close => closing = None,
            (Some(_), _) => {}
            (None, '"' | '`') => closing = Some(c),
            (None, '“') => closing = Some('”'),
            (None, c) => {
                out.push(c);
                continue;
            }
        }
        out.push(' ');
    }
    // A mark that nothing closes quotes nothing.
    if closing.is_some() { line.replace(['"', '`', '“'], " ") } else { out }
}

/// Splits a line where one thought ends, so that a negation reaches no further.
fn clauses(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = line.as_bytes();
    for (at, byte) in line.bytes().enumerate() {
        let followed_by_space = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        let ends = match byte {
            b';' | b'!' | b'?' => true,
            b'.' => followed_by_space,
            b',' => followed_by_space && !goes_on(&line[at + 1..]),
            _ => false,
        };
        if ends {
            found.push(&line[start..at]);
            start = at + 1;
        }
    }
    found.push(&line[start..]);
    found.into_iter().flat_map(|clause| clause.split(" but ")).collect()
}

/// Says whether a comma only separates the members of one list: `no CRITICAL, HIGH or MAJOR`.
fn goes_on(rest: &str) -> bool {
    let next = rest.split_whitespace().next().unwrap_or("");
    let next = next.trim_matches(|c: char| !c.is_alphanumeric());
    matches!(next, "or" | "and" | "nor") || !Grade::from_word(next).is_unmapped()
}

/// The words of one clause.
struct Words<'c> {
    words: Vec<&'c str>,
    lower: Vec<String>,
}

impl<'c> Words<'c> {
    fn of(clause: &'c str) -> Words<'c> {
        let words: Vec<&str> = clause
            .split(|c: char| {
                c.is_whitespace() || matches!(c, ':' | '*' | '(' | ')' | '[' | ']' | '/' | '|')
            })
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'))
            .filter(|word| !word.is_empty())
            .collect();
        let lower = words.iter().map(|word| word.to_lowercase().replace('’', "'")).collect();
        Words { words, lower }
    }

    fn iter(&self) -> impl Iterator<Item = &'c str> {
        self.words.iter().copied()
    }

    fn any(&self, of: &[&str]) -> bool {
        self.lower.iter().any(|word| of.contains(&word.as_str()))
    }

    fn negated_before(&self, at: usize) -> bool {
        const NEGATIONS: [&str; 12] = [
            "no", "not", "none", "never", "without", "zero", "0", "cannot", "neither", "nor",
            "unable", "refuse",
        ];
        self.lower[..at]
            .iter()
            .any(|word| NEGATIONS.contains(&word.as_str()) || word.ends_with("n't"))
    }

    fn hypothetical(&self) -> bool {
        self.any(&[
            "if", "when", "once", "after", "unless", "until", "would", "could", "might", "will",
            "before", "should", "whether", "i'll", "i'd", "can",
        ])
    }

    fn told_of_the_past(&self) -> bool {
        self.any(&["previous", "previously", "prior", "earlier", "formerly", "originally", "said"])
    }

    /// Says whether the severity at `at` is counted: `3 critical issues`.
    fn counts_issues(&self, at: usize) -> bool {
        let counted = at > 0 && self.lower[at - 1].parse::<u64>().is_ok();
        let noun = self.lower[at + 1..].iter().take(3).any(|word| {
            ["issue", "finding", "bug", "problem", "defect", "vulnerabilit"]
                .iter()
                .any(|noun| word.starts_with(noun))
        });
        counted && noun
    }

    /// Finds the word by which tests are said to fail.
    fn failed_tests(&self) -> Option<usize> {
        let fails = |word: &String| {
            matches!(
                word.as_str(),
                "fail" | "fails" | "failed" | "failing" | "failure" | "failures"
            )
        };
        let at = self.lower.iter().position(fails)?;
        let tests = self.lower.iter().any(|word| {
            matches!(word.as_str(), "test" | "tests" | "test_suite" | "suite" | "passed")
        });
        let counted = at > 0 && self.lower[at - 1].parse::<u64>().is_ok_and(|count| count > 0);
        let zero = at > 0 && matches!(self.lower[at - 1].as_str(), "0" | "zero" | "no");
        ((tests || counted) && !zero && !self.any(&["pass", "passes"])).then_some(at)
    }

    fn approval(&self, label: bool) -> Option<usize> {
        self.lower.iter().position(|word| {
            matches!(word.as_str(), "approve" | "approved" | "approves" | "approving" | "lgtm")
                || label && matches!(word.as_str(), "pass" | "passed")
        })
    }

    fn changes(&self, label: bool) -> Option<usize> {
        let pair = |at: usize, a: &str, b: &str| {
            self.lower[at].starts_with(a)
                && self.lower.get(at + 1).is_some_and(|w| w.starts_with(b))
        };
        (0..self.lower.len()).find(|at| {
            let word = self.lower[*at].as_str();
            matches!(word, "request_changes" | "changes_requested" | "needs_changes" | "needs_fix")
                || pair(*at, "request", "change")
                || pair(*at, "changes", "requested")
                || label
                    && matches!(
                        word,
                        "reject" | "rejected" | "fail" | "failed" | "block" | "blocked"
                    )
        })
    }

    /// Says whether the approval at `at` is one: in capitals, labelled, or what the clause says
    /// first. "We should approve faster" is not.
    fn approves(&self, at: usize, label: bool) -> bool {
        let shouted = !self.words[at].bytes().any(|b| b.is_ascii_lowercase());
        let first = at == 0 || (at == 1 && self.lower[0] == "i");
        label || shouted || first || self.lower[at] == "lgtm"
    }
}
