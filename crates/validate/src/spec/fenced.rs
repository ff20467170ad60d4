//! Code blocks in a spec: [`Fenced`], which distinguishes examples from criteria that are written
//! as code.

use super::form::begins_scenario;
use super::sentences::without_mark;

/// A block of code, without its fence.
pub(super) struct Fenced {
    /// The language that the fence names, in lower case; empty if there is none.
    pub(super) language: String,
    /// The lines within the fence.
    pub(super) text: String,
    /// The number of lines before the first line within: 1 for a fence, otherwise 0.
    pub(super) first_line: u32,
}

/// Names of languages for features with scenarios.
const FEATURES: [&str; 3] = ["gherkin", "feature", "cucumber"];

/// Languages of text for people, which may contain criteria.
const TEXTS: [&str; 12] = [
    "", "text", "txt", "plain", "plaintext", "md", "markdown", "gherkin", "feature", "cucumber",
    "org", "rst",
];

/// Languages of data.
const DATA: [&str; 5] = ["json", "jsonc", "yaml", "yml", "toml"];

/// Characters that occur in code rather than in a sentence.
const CODE_MARKS: [char; 12] = ['{', '}', '=', ';', '<', '>', '$', '|', '[', ']', '\\', '/'];

impl Fenced {
    /// Parses a code block, fenced or indented.
    pub(super) fn of(block: &str) -> Fenced {
        let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
        let first = block.lines().next().unwrap_or_default().trim();
        let language = match is_fence(first) {
            true => first.trim_start_matches(['`', '~']).trim(),
            false => "",
        };
        let language = language.split([' ', '{', ',']).next().unwrap_or_default().to_lowercase();
        let lines = block.lines().filter(|line| !is_fence(line.trim()));
        let first_line = u32::from(is_fence(first));
        Fenced { language, text: lines.collect::<Vec<_>>().join("\n"), first_line }
    }

    /// Returns true if the code is a feature with scenarios, by its language or its first line.
    pub(super) fn is_feature(&self) -> bool {
        let language = self.language.as_str();
        let first = self.text.lines().map(str::trim).find(|line| !line.is_empty());
        let is_titled =
            |line: &str| begins_scenario(line) || line.to_lowercase().starts_with("feature:");
        FEATURES.contains(&language) || (TEXTS.contains(&language) && first.is_some_and(is_titled))
    }

    /// Returns true if the code is an example for the words before it; `is_announced` is true if
    /// these end with a colon. A list, a scenario, a sentence, or data with a key for criteria is
    /// no example.
    pub(super) fn is_example(&self, is_announced: bool) -> bool {
        let lines = || self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let language = self.language.as_str();
        if lines().any(is_list_like) && !is_program(language) {
            return false;
        }
        if DATA.contains(&language) || self.text.trim_start().starts_with('{') {
            return is_announced && !lines().any(names_criteria_key);
        }
        match TEXTS.contains(&language) {
            true => is_announced && !lines().any(is_sentence),
            false => true,
        }
    }
}

/// Returns true if a language is a programming language, in which a dash or a number begins no list
/// item.
fn is_program(language: &str) -> bool {
    !TEXTS.contains(&language) && !DATA.contains(&language)
}

/// Returns true if a line of code looks like a list item, or a step of a scenario.
fn is_list_like(line: &str) -> bool {
    let steps = ["given ", "when ", "then ", "scenario", "feature:", "rule:"];
    let lower = line.to_lowercase();
    without_mark(line).len() < line.len() || steps.iter().any(|step| lower.starts_with(step))
}

/// Returns true if a line of data has a key for criteria.
fn names_criteria_key(line: &str) -> bool {
    let letters: String = line.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = letters.to_lowercase();
    ["criteria", "criterion", "requirement", "donewhen", "definitionofdone"]
        .iter()
        .any(|key| letters.contains(key))
}

/// Returns true if a line looks like a sentence for people: it begins with a capital letter or a
/// back-tick, has at least three words, and no marks of code.
fn is_sentence(line: &str) -> bool {
    let plain: String = line.split('`').step_by(2).collect();
    let words = line.split_whitespace().count();
    let is_capital = line.starts_with(char::is_uppercase) || line.starts_with('`');
    is_capital && words >= 3 && !plain.contains(CODE_MARKS)
}
