//! The trigger of a persona: [`Trigger`], a predicate over [`Signals`] that is evaluated by code.

use std::sync::{Arc, OnceLock};

use assay_base::text::truncate;
use assay_rules::Behaviour;
use regex::RegexSet;
use serde::Deserialize;

use super::Signals;
use crate::depth::Depth;
use crate::globs::Globs;

/// A predicate over the signals of a change.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// Any of these predicates holds.
    Any(Vec<Trigger>),
    /// All of these predicates hold.
    All(Vec<Trigger>),
    /// The predicate does not hold.
    Not(Box<Trigger>),
    /// A single test.
    Test(Test),
}

/// A single test.
#[derive(Debug, Clone)]
pub enum Test {
    /// Holds for every change.
    Always,
    /// Holds for no change.
    Never,
    /// The change is not small, or touches a risk.
    Full,
    /// A changed path names one of these risks.
    Risk(Vec<String>),
    /// A changed path matches.
    Paths(Globs),
    /// An added line matches.
    Added(Patterns),
    /// A removed line matches.
    Removed(Patterns),
    /// A function around an added line has one of these behaviours.
    Does(Vec<Behaviour>),
    /// A changed file is in one of these languages.
    Languages(Vec<String>),
    /// At least this many executable lines are added.
    LinesAtLeast(usize),
    /// At least this many files are touched.
    FilesAtLeast(usize),
    /// The change deletes a file; with `false`, it deletes none.
    DeletesFiles(bool),
    /// The change touches a test; with `false`, it touches none.
    TouchesTests(bool),
    /// The repository has guidelines for its code; with `false`, it has none.
    HasGuidelines(bool),
    /// The change has a stated purpose; with `false`, it has none.
    HasIntent(bool),
    /// An earlier review had findings; with `false`, none had.
    HasPriorFindings(bool),
}

/// Patterns of lines, compiled when they are first needed: most changes need few of them. Clones
/// share the compiled patterns.
#[derive(Debug, Clone)]
pub struct Patterns {
    sources: Vec<String>,
    set: Arc<OnceLock<Result<RegexSet, String>>>,
}

impl Patterns {
    fn new(sources: Vec<String>) -> Patterns {
        Patterns { sources, set: Arc::default() }
    }

    fn set(&self) -> Result<&RegexSet, String> {
        let compile = || RegexSet::new(&self.sources).map_err(|error| error.to_string());
        self.set.get_or_init(compile).as_ref().map_err(Clone::clone)
    }
}

/// A predicate as written in a file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PredicateSource {
    Word(Word),
    Clause(Box<Clause>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    Always,
    Never,
    Full,
}

/// A clause with any of these keys; several must hold together.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Clause {
    any: Option<Vec<PredicateSource>>,
    all: Option<Vec<PredicateSource>>,
    not: Option<PredicateSource>,
    risk: Option<Vec<String>>,
    paths: Option<Vec<String>>,
    added: Option<Vec<String>>,
    removed: Option<Vec<String>>,
    does: Option<Vec<String>>,
    languages: Option<Vec<String>>,
    lines_at_least: Option<usize>,
    files_at_least: Option<usize>,
    deletes_files: Option<bool>,
    touches_tests: Option<bool>,
    has_guidelines: Option<bool>,
    has_intent: Option<bool>,
    has_prior_findings: Option<bool>,
}

impl Trigger {
    /// Creates a trigger from its form in a file.
    pub(super) fn new(stored: PredicateSource) -> Result<Trigger, String> {
        match stored {
            PredicateSource::Word(Word::Always) => Ok(Trigger::Test(Test::Always)),
            PredicateSource::Word(Word::Never) => Ok(Trigger::Test(Test::Never)),
            PredicateSource::Word(Word::Full) => Ok(Trigger::Test(Test::Full)),
            PredicateSource::Clause(clause) => clause.trigger(),
        }
    }

    /// Returns true if the trigger is the word `never`, so that no change wakes the persona.
    pub fn is_never(&self) -> bool {
        matches!(self, Trigger::Test(Test::Never))
    }

    /// Compiles every pattern of the trigger. Fails with the error of the first invalid one.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Trigger::Any(triggers) | Trigger::All(triggers) => {
                triggers.iter().try_for_each(Trigger::check)
            }
            Trigger::Not(trigger) => trigger.check(),
            Trigger::Test(Test::Added(patterns) | Test::Removed(patterns)) => {
                patterns.set().map(|_| ())
            }
            Trigger::Test(_) => Ok(()),
        }
    }

    /// Returns the reason why the signals match the trigger; `None` if they do not.
    pub fn match_reason(&self, signals: &Signals) -> Option<String> {
        match self {
            Trigger::Any(triggers) => {
                triggers.iter().find_map(|trigger| trigger.match_reason(signals))
            }
            Trigger::All(triggers) => {
                let reasons: Option<Vec<String>> =
                    triggers.iter().map(|trigger| trigger.match_reason(signals)).collect();
                reasons.map(|reasons| reasons.join(", "))
            }
            Trigger::Not(trigger) => match trigger.match_reason(signals) {
                Some(_) => None,
                None => Some("no excluding condition applies".to_owned()),
            },
            Trigger::Test(test) => test.match_reason(signals),
        }
    }
}

impl Clause {
    fn trigger(self) -> Result<Trigger, String> {
        let each = |stored: Vec<PredicateSource>| {
            stored.into_iter().map(Trigger::new).collect::<Result<_, _>>()
        };
        let mut parts: Vec<Trigger> = Vec::new();
        if let Some(any) = self.any {
            parts.push(Trigger::Any(each(any)?));
        }
        if let Some(all) = self.all {
            parts.push(Trigger::All(each(all)?));
        }
        if let Some(not) = self.not {
            parts.push(Trigger::Not(Box::new(Trigger::new(not)?)));
        }
        let globs = |globs: Vec<String>| Globs::new(&globs).map_err(|error| error.to_string());
        let tests = [
            self.risk.map(Test::Risk),
            self.paths.map(globs).transpose()?.map(Test::Paths),
            self.added.map(Patterns::new).map(Test::Added),
            self.removed.map(Patterns::new).map(Test::Removed),
            self.does.map(behaviours).transpose()?.map(Test::Does),
            self.languages.map(Test::Languages),
            self.lines_at_least.map(Test::LinesAtLeast),
            self.files_at_least.map(Test::FilesAtLeast),
            self.deletes_files.map(Test::DeletesFiles),
            self.touches_tests.map(Test::TouchesTests),
            self.has_guidelines.map(Test::HasGuidelines),
            self.has_intent.map(Test::HasIntent),
            self.has_prior_findings.map(Test::HasPriorFindings),
        ];
        parts.extend(tests.into_iter().flatten().map(Trigger::Test));
        match parts.len() {
            0 => {
                Err("`trigger` is empty; use `always` to run the persona on every change"
                    .to_owned())
            }
            1 => Ok(parts.remove(0)),
            _ => Ok(Trigger::All(parts)),
        }
    }
}

/// Parses the names of behaviours.
fn behaviours(words: Vec<String>) -> Result<Vec<Behaviour>, String> {
    let read = |word: &String| {
        Behaviour::from_word(word).ok_or_else(|| {
            let known = Behaviour::ALL.map(Behaviour::as_str).join(", ");
            format!("unknown behaviour `{word}` in `does`: expected one of {known}")
        })
    };
    words.iter().map(read).collect()
}

/// The maximum number of characters of a pattern that is quoted as a reason.
const MAX_QUOTED_CHARS: usize = 60;

impl Test {
    fn match_reason(&self, signals: &Signals) -> Option<String> {
        let said = |holds: bool, reason: &str| holds.then(|| reason.to_owned());
        match self {
            Test::Always => Some("reads every change".to_owned()),
            Test::Never => None,
            Test::Full => said(signals.depth == Depth::Full, "not a small change"),
            Test::Risk(risks) => {
                let risk = risks.iter().find(|risk| signals.risks.contains(risk.as_str()))?;
                Some(format!("touches {risk}"))
            }
            // A name is text of the change, and a reason is shown outside of the marks around such
            // text.
            Test::Paths(globs) => {
                let count = signals.paths.iter().filter(|path| globs.matches(path)).count();
                said(
                    count > 0,
                    &match count {
                        1 => "touches a file of the persona's paths".to_owned(),
                        count => format!("touches {count} files of the persona's paths"),
                    },
                )
            }
            Test::Added(patterns) => matching_pattern(patterns, &signals.added, "adds"),
            Test::Removed(patterns) => matching_pattern(patterns, &signals.removed, "removes"),
            Test::Does(behaviours) => {
                let found = behaviours.iter().find(|it| signals.behaviours.contains(it))?;
                Some(format!("does {}", found.as_str()))
            }
            Test::Languages(names) => {
                let name = names.iter().find(|name| signals.languages.contains(*name))?;
                Some(format!("is in {name}"))
            }
            Test::LinesAtLeast(lines) => {
                said(signals.lines >= *lines, &format!("adds {} executable lines", signals.lines))
            }
            Test::FilesAtLeast(files) => {
                let touched = signals.paths.len();
                said(touched >= *files, &format!("touches {touched} files"))
            }
            Test::DeletesFiles(wanted) => {
                describe_match(signals.deletes_files, *wanted, ["deletes files", "deletes no file"])
            }
            Test::TouchesTests(wanted) => {
                describe_match(signals.touches_tests, *wanted, ["touches tests", "touches no test"])
            }
            Test::HasGuidelines(wanted) => describe_match(
                signals.has_guidelines,
                *wanted,
                ["the repository has guidelines", "the repository has no guidelines"],
            ),
            Test::HasIntent(wanted) => describe_match(
                signals.has_intent,
                *wanted,
                ["the commits state its purpose", "no purpose is stated"],
            ),
            Test::HasPriorFindings(wanted) => describe_match(
                signals.has_prior_findings,
                *wanted,
                ["an earlier review has findings", "no earlier review has findings"],
            ),
        }
    }
}

/// Returns the text for a property if it has the wanted value.
fn describe_match(is: bool, wanted: bool, [yes, no]: [&str; 2]) -> Option<String> {
    (is == wanted).then(|| if wanted { yes } else { no }.to_owned())
}

/// Returns the first pattern of a persona that a line matches, as a reason. The line itself is text
/// of the change, which is shown between marks only.
fn matching_pattern(patterns: &Patterns, lines: &[String], verb: &str) -> Option<String> {
    let set = patterns.set().ok()?;
    let at = lines.iter().find_map(|line| set.matches(line).into_iter().next())?;
    let pattern = patterns.sources.get(at)?;
    Some(format!("{verb} a line that matches `{}`", truncate(pattern, MAX_QUOTED_CHARS)))
}
