//! Conditions that refuse fewer values, or accept more values, than before the change.
//!
//! A condition before the change and a condition after it stand in one hunk, and the parts of the
//! second are parts of the first. Fewer alternatives refuse less, fewer requirements accept more. So
//! does a comparison that stops one value earlier, or at a higher limit.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assay_change::diff::Hunk;
use assay_findings::grounding::squeeze;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::guard_forms::{
    JOINT, PRESENCE, has_escape, is_condition, is_exit, is_inverted, regex, shown,
    start_of_consequence,
};
use super::{ChangedFile, CheckMatch, FileCheck};
use crate::rule_text::RuleText;
use crate::syntax::{Syntax, SyntaxNode};

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "change/condition-loosened",
        grade: "LOW",
        category: "security",
        title: "Condition refuses fewer values than before",
        message: "Values that were refused, or handled apart, now pass.",
        advice: "Keep the part of the condition, or say in the description of the change why every value is safe.",
    },
    find,
};

/// The operators that join the alternatives of a condition.
static ALTERNATIVE: LazyLock<Regex> = LazyLock::new(|| regex(r"\bor\b|\|\|"));

/// A comparison of two values.
static COMPARISON: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?P<left>[^<>=!]+)(?P<operator><=|>=|===?|!==?|<|>)(?P<right>[^<>=!]+)$")
});

/// A condition of a file.
struct Condition {
    lines: LineRange,
    /// The parts that the operators `and` and `or` join, by their text without blanks.
    parts: BTreeMap<String, String>,
    has_alternatives: bool,
    has_requirements: bool,
    outcome: Outcome,
}

/// The code that runs for a value that fulfils a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// An exit from the function, the loop or the branch.
    Refused,
    /// Code that makes the value safe.
    MadeSafe,
    /// Code that uses the value.
    Accepted,
}

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let Some(after) = view.edited_code() else { return Vec::new() };
    let hunks =
        || view.file.hunks.iter().filter(|own| !own.removed.is_empty() && !own.added.is_empty());
    if hunks().next().is_none() {
        return Vec::new();
    }
    let both = view.before_syntax().zip(view.after_syntax);
    let Some((old, new)) = both else { return Vec::new() };
    let (old, new) = (conditions(old), conditions(new));
    let text = squeeze(after);
    let found = hunks().filter_map(|hunk| {
        let (lost, line) = loosened_in(hunk, &old, &new, &text)?;
        Some(CheckMatch {
            file: view.file.new_path.clone(),
            lines: LineRange::at(line),
            note: format!("The condition had the part `{}` before the change.", shown(&lost)),
            subject: lost,
        })
    });
    found.collect()
}

/// Returns the part that a condition of a hunk lost, and the line of the condition.
fn loosened_in(
    hunk: &Hunk,
    old: &[Condition],
    new: &[Condition],
    after: &str,
) -> Option<(String, u32)> {
    let within = |ranges: &[LineRange], lines: &LineRange| {
        ranges.iter().any(|own| own.start() <= lines.end() && lines.start() <= own.end())
    };
    let mut removed = old.iter().filter(|own| within(&hunk.removed, &own.lines));
    removed.find_map(|was| {
        let mut added = new.iter().filter(|own| within(&hunk.added, &own.lines));
        added.find_map(|now| Some((was.lost_in(now, after)?, now.lines.start())))
    })
}

/// Returns the conditions of a file.
fn conditions(syntax: &Syntax) -> Vec<Condition> {
    let mut found = Vec::new();
    for node in syntax.root().dfs() {
        if !is_condition(&node) {
            continue;
        }
        let Some(condition) = node.field("condition") else { continue };
        let text = condition.text().to_string();
        let line = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
        let lines =
            LineRange::range(line(condition.start_pos().line()), line(condition.end_pos().line()));
        let Some(lines) = lines else { continue };
        let trim = |part: &str| part.trim_matches(['(', ')', '{', '}', ':', ' ', '\n']).to_owned();
        let part = |part: &str| (squeeze(&trim(part)), trim(part));
        let alternatives = ALTERNATIVE.find_iter(&text).count();
        found.push(Condition {
            lines,
            parts: JOINT.split(&text).map(part).collect(),
            has_alternatives: alternatives > 0,
            has_requirements: JOINT.find_iter(&text).count() > alternatives,
            outcome: outcome_of(&node),
        });
    }
    found
}

/// Returns the outcome of a condition for a value that fulfils it.
fn outcome_of(node: &SyntaxNode<'_>) -> Outcome {
    let consequence = start_of_consequence(node);
    let outcome = match has_escape(&consequence) {
        true => Outcome::MadeSafe,
        false if is_exit(&consequence) => Outcome::Refused,
        false => Outcome::Accepted,
    };
    match (is_inverted(node), outcome) {
        (false, outcome) => outcome,
        (true, Outcome::Accepted) => Outcome::Refused,
        (true, Outcome::Refused | Outcome::MadeSafe) => Outcome::Accepted,
    }
}

impl Condition {
    /// Returns the part of the condition that another condition in its place does not have.
    fn lost_in(&self, now: &Condition, after: &str) -> Option<String> {
        if self.outcome != now.outcome {
            return None;
        }
        let gone = self.parts_beyond(now);
        let come = now.parts_beyond(self);
        if let ([(was, text)], [(is, _)]) = (gone.as_slice(), come.as_slice()) {
            let is_looser = self.outcome == Outcome::Refused && is_relaxed(was, is);
            return is_looser.then(|| (*text).clone());
        }
        let is_part = come.is_empty() && !now.parts.is_empty();
        let loosens = match self.outcome {
            Outcome::Refused => self.has_alternatives && !self.has_requirements,
            Outcome::MadeSafe => self.has_alternatives,
            Outcome::Accepted => self.has_requirements && !self.has_alternatives,
        };
        let mut losses = gone
            .iter()
            .filter(|(part, text)| !PRESENCE.is_match(text) && !after.contains(part.as_str()));
        losses.next().filter(|_| is_part && loosens).map(|(_, text)| (*text).clone())
    }

    /// Returns the parts that another condition does not have.
    fn parts_beyond(&self, other: &Condition) -> Vec<(&String, &String)> {
        self.parts.iter().filter(|(part, _)| !other.parts.contains_key(*part)).collect()
    }
}

/// Returns true if a comparison holds for fewer values than another one of the same values.
fn is_relaxed(was: &str, is: &str) -> bool {
    let Some((was, is)) = COMPARISON.captures(was).zip(COMPARISON.captures(is)) else {
        return false;
    };
    if was["left"] != is["left"] {
        return false;
    }
    let (old, new) = (&was["operator"], &is["operator"]);
    let number = |text: &str| text.replace('_', "").parse::<f64>().ok();
    match (number(&was["right"]), number(&is["right"])) {
        (Some(was), Some(is)) if was != is => {
            old == new && (old.starts_with('>') && was < is || old.starts_with('<') && was > is)
        }
        _ if was["right"] != is["right"] => false,
        _ => matches!((old, new), (">=", ">") | ("<=", "<") | ("<=" | ">=", "==" | "===")),
    }
}
