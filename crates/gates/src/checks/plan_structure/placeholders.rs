//! Finds placeholders that were left in a plan: [`look`].

use std::collections::HashSet;

use crate::checks::plan_helpers::{at, is_code, on_plan};
use crate::item::Scope;
use crate::plan::{Milestone, Plan};
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Words that are placeholders anywhere.
const ANYWHERE: [&str; 2] = ["TBD", "TBC"];

/// Words that are placeholders only if they are alone: a program may be about a list of TODOs.
const ALONE: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// The beginnings of brackets that are to be filled in.
const BRACKETS: [&str; 11] = [
    "<fill", "<insert", "<your ", "<todo", "<tbd", "<placeholder", "[fill in", "[insert ", "[todo",
    "[tbd", "[placeholder",
];

/// Words before a placeholder with which a line denies that there is one.
const DENIALS: [&str; 9] = ["no", "any", "zero", "without", "of", "not", "or", "and", "remaining"];

/// Checks that no placeholder is left in milestones, their criteria, and decisions.
pub(super) fn look(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let mut told = Vec::new();
        for milestone in &plan.milestones {
            for (line, text) in texts(plan, milestone) {
                if let Some(found) = find(&text) {
                    told.push(format!("{} in {}{}", quoted(&found), milestone.id, at(plan, line)));
                }
            }
        }
        for decision in &plan.decisions {
            if let Some(found) = find(&decision.decision).or_else(|| find(&decision.reason)) {
                told.push(format!(
                    "{} in {}{}",
                    quoted(&found),
                    decision.id,
                    at(plan, decision.line)
                ));
            }
        }
        CheckResult::under("Placeholders are left", told)
    })
}

/// Returns the lines of text of a milestone, each once.
fn texts(plan: &Plan, milestone: &Milestone) -> Vec<(u32, String)> {
    let criteria =
        milestone.criteria.iter().map(|criterion| (criterion.line, criterion.text.clone()));
    if !plan.is_markdown {
        let title = (0, milestone.title.clone());
        let tests = milestone.tests.iter().map(|test| (0, test.clone()));
        return std::iter::once(title).chain(criteria).chain(tests).collect();
    }
    let mut is_comment = false;
    let numbered = (milestone.line..).zip(milestone.text.lines());
    let own = numbered.filter(|(line, _)| !is_code(plan, *line));
    let mut texts: Vec<(u32, String)> =
        own.map(|(line, text)| (line, without_comments(text, &mut is_comment))).collect();
    let seen: HashSet<u32> = texts.iter().map(|(line, _)| *line).collect();
    texts.extend(criteria.filter(|(line, _)| !seen.contains(line)));
    texts
}

/// Removes comments from a line, which no reader of the rendered plan sees.
fn without_comments(mut line: &str, is_comment: &mut bool) -> String {
    let mut seen = String::new();
    loop {
        let mark = if *is_comment { "-->" } else { "<!--" };
        let Some((before, after)) = line.split_once(mark) else {
            if !*is_comment {
                seen.push_str(line);
            }
            return seen;
        };
        if !*is_comment {
            seen.push_str(before);
        }
        *is_comment = !*is_comment;
        line = after;
    }
}

/// Returns a placeholder in a line, outside of code; `None` if there is none.
fn find(line: &str) -> Option<String> {
    let mut at = 0;
    for (number, part) in line.split('`').enumerate() {
        if number % 2 == 0
            && let Some(found) = find_at(line, at, part)
        {
            return Some(found);
        }
        at += part.len() + 1;
    }
    None
}

/// Returns a placeholder in a part of a line; `None` if there is none.
fn find_at(line: &str, start: usize, part: &str) -> Option<String> {
    let lower = part.to_ascii_lowercase();
    let bracket = BRACKETS.iter().filter_map(|mark| lower.find(mark)).min();
    if let Some(at) = bracket.filter(|at| !is_link(&part[*at..])) {
        let end = part[at..].find(['>', ']']).map_or(part.len(), |end| at + end + 1);
        return Some(part[at..end].to_owned());
    }
    if let Some(named) = part
        .split("{{")
        .skip(1)
        .filter_map(|rest| rest.split_once("}}"))
        .map(|(name, _)| name)
        .find(|name| is_variable(name))
    {
        return Some(format!("{{{{{named}}}}}"));
    }
    if let Some(marks) = part.split_whitespace().find(|word| is_question(word)) {
        return Some(marks.to_owned());
    }
    let is_left = |(at, word): &(usize, &str)| {
        let (before, after) = (&line[..start + at], &line[start + at + word.len()..]);
        is_word(before, after)
            && !is_spoken_of(before, after)
            && (ANYWHERE.contains(word) || is_alone(before, after))
    };
    let found = ANYWHERE.iter().chain(&ALONE).flat_map(|word| part.match_indices(word));
    found.filter(is_left).map(|(_, word)| word.to_owned()).next()
}

fn is_word(before: &str, after: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !before.ends_with(is_part) && !after.starts_with(is_part)
}

/// Returns true if a name in braces is a template variable: `{{PHASE_NAME}}`.
fn is_variable(name: &str) -> bool {
    let name = name.trim();
    name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn is_question(word: &str) -> bool {
    let marks = word.trim_matches(['(', ')', '[', ']', '|', '*', ',', '.', ':']);
    marks.len() >= 3 && marks.chars().all(|c| c == '?')
}

/// Returns true if a text begins with a link, such as `[todo list](docs/todo.md)`.
fn is_link(text: &str) -> bool {
    text.starts_with('[')
        && text.split_once(']').is_some_and(|(_, after)| after.starts_with(['(', '[']))
}

/// Returns true if a line mentions the word itself: in quotes, or to deny that there is one.
fn is_spoken_of(before: &str, after: &str) -> bool {
    let is_quoted =
        before.ends_with(['"', '\'', '“', '‘', '/']) || after.starts_with(['"', '”', '/']);
    let last = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    is_quoted || DENIALS.contains(&last.to_ascii_lowercase().as_str())
}

/// Maximum number of bytes of marks at the beginning of an item.
const MAX_MARKS: usize = 200;

/// Returns true if a word is alone in its place: a whole item or cell, in brackets, or before a
/// colon.
fn is_alone(before: &str, after: &str) -> bool {
    if after.starts_with([':', '(']) {
        return true;
    }
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "-*+>#.)[]x|_".contains(c);
    let opens = (before.len() <= MAX_MARKS && before.trim_start_matches(is_mark).is_empty())
        || before.trim_end_matches(['*', '_', ' ']).ends_with([':', '(', '[', '|', '–', '—', '=']);
    let after = after.trim_start_matches(['*', '_', ' ']);
    // At the end of a list the word is a placeholder; within a list it may be a thing of the
    // program.
    if after.is_empty() && before.trim_end().ends_with(',') {
        return true;
    }
    opens && (after.is_empty() || after.starts_with([')', ']', '|', '.', ',', '–', '—']))
}
