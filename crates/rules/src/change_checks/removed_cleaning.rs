//! Steps that clean a value and that a change removes, such as `.trim()` around a part of a line, or
//! `name = name.replace(CONTROL, '')` before a value is used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use assay_findings::grounding::squeeze;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::changed_code::{ChangedCode, ChangedHunk};
use super::guard_forms::{is_escape, regex, shown};
use super::{ChangedFile, CheckMatch, FileCheck};
use crate::rule_text::RuleText;

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "change/cleaning-removed",
        grade: "LOW",
        category: "security",
        title: "Step that cleans a value removed",
        message: "The value is used unchanged.",
        advice: "Keep the step, or say in the description of the change why every value is safe.",
    },
    find,
};

/// The maximum number of forms of one line that are compared.
const MAX_FORMS: usize = 16;

/// The start of a call that cleans a value: a method, or a function with the value.
static STEP: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)
        (?P<method>\.)?\b(?P<name>
            \w*(?i:escape|quote|encode|sanitiz|sanitise|purif|wash|neutrali[sz]e|canonical)\w*
            | (?:str_)?(?:strip|trim)(?:_\w+|[A-Z]\w*)? | Trim\w* | to_?(?:lower|Lower)\w* | strtolower | lower | ToLower
            | normali[sz]e\w* | Clean | clean\w* | replace(?:All)? | preg_replace | str_replace | gsub | re\.sub | ReplaceAll(?:String)?
            | intval | absint | parseInt | Number | floatval | stringify | serialize | (?:real|base)(?:path|name)
            | min | max | clamp | abs | htmlspecialchars | htmlentities | strip_tags
        )\(",
    )
});

/// An assignment of a value that is made of the same value.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:let |var |const )?(?P<name>[$@]?[A-Za-z_][\w.$>\-\[\]'\x22]*)\s*:?=\s*(?P<value>[^=].*)$",
    )
});

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let Some(code) = ChangedCode::of(view) else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let found = code.hunks.iter().filter_map(|hunk| {
        let (step, line) = wrapper_lost_in(hunk).or_else(|| line_lost_in(hunk, &code))?;
        seen.insert(step.to_owned()).then(|| CheckMatch {
            file: view.file.new_path.clone(),
            lines: LineRange::at(line),
            note: format!("The change takes away `{}`.", shown(step)),
            subject: step.to_owned(),
        })
    });
    found.collect()
}

/// Returns the step that a hunk removes around a part of a line that stays as it is, with the line.
fn wrapper_lost_in<'v>(hunk: &ChangedHunk<'v>) -> Option<(&'v str, u32)> {
    let lines: Vec<(String, u32)> =
        hunk.added.iter().map(|(number, line)| (squeeze(line), *number)).collect();
    hunk.removed.iter().find_map(|line| {
        let forms = without_steps(line);
        lines.iter().find_map(|(added, number)| Some((*forms.get(added)?, *number)))
    })
}

/// Returns the steps in a piece of code that clean a value, each with its name. The loss of an escape is
/// a removed check, and the opposite of a step, such as `unescape`, cleans nothing.
fn steps(code: &str) -> impl Iterator<Item = (regex::Captures<'_>, &str)> {
    let named = STEP.captures_iter(code).filter_map(|step| {
        let name = step.name("name")?.as_str();
        Some((step, name))
    });
    named.filter(|(_, name)| !is_escape(name) && !name.starts_with("un"))
}

/// Returns the forms of a line without one or more of its steps, without blanks, each with the name of
/// a removed step.
fn without_steps(line: &str) -> BTreeMap<String, &str> {
    let mut forms = BTreeMap::new();
    let mut open = without_step(line);
    while let Some((form, name)) = open.pop() {
        if forms.len() < MAX_FORMS && !forms.contains_key(&form) {
            open.extend(without_step(&form).into_iter().map(|(inner, _)| (inner, name)));
            forms.insert(form, name);
        }
    }
    forms.into_iter().map(|(form, name)| (squeeze(&form), name)).collect()
}

/// Returns the forms of a line without one of its steps, each with the name of the step.
fn without_step(line: &str) -> Vec<(String, &str)> {
    let form = |(step, name): (regex::Captures<'_>, _)| {
        let whole = step.get(0)?;
        let close = closing(line, whole.end())?;
        let (before, behind) = (&line[..whole.start()], line.get(close + 1..)?);
        let value = match step.name("method") {
            Some(_) => "",
            None => value_among(&line[whole.end()..close]),
        };
        Some((format!("{before}{value}{behind}"), name))
    };
    steps(line).filter_map(form).collect()
}

/// Returns the position of the bracket that closes the bracket before a position.
fn closing(line: &str, from: usize) -> Option<usize> {
    let mut depth = 1_u32;
    for (at, byte) in line.bytes().enumerate().skip(from) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the argument of a step that is the value: the first variable, or the first argument.
fn value_among(arguments: &str) -> &str {
    let mut depth = 0_u32;
    let parts = arguments.split(move |own: char| {
        match own {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        own == ',' && depth == 0
    });
    let parts: Vec<&str> = parts.map(str::trim).collect();
    let is_value =
        |part: &&&str| part.starts_with(|own: char| own.is_alphabetic() || "$@_".contains(own));
    parts.iter().find(is_value).or(parts.first()).copied().unwrap_or_default()
}

/// Returns the step that a hunk removes as a line of its own, such as `name = clean(name)`, while the
/// code below still uses the value.
fn line_lost_in<'v>(hunk: &ChangedHunk<'v>, code: &ChangedCode<'v>) -> Option<(&'v str, u32)> {
    if !hunk.added.is_empty() {
        return None;
    }
    hunk.removed.iter().find_map(|line| {
        let own = ASSIGNMENT.captures(line)?;
        let (name, value) = (own.name("name")?.as_str(), own.name("value")?.as_str());
        let is_same = value.contains(name) && steps(value).next().is_some();
        (is_same && code.uses_below(hunk.place, name)).then_some((*line, hunk.place))
    })
}
