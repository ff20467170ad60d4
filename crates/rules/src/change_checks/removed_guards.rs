//! Checks and escapes that a function loses while it still uses the value.
//!
//! A check is a condition that ends in an error, such as `if ".." in path: raise ValueError`, or a
//! call that is named as a check, such as `self.check_alias(alias)`. A condition that ends in another
//! exit counts if the change removes it and adds nothing. An escape is a call such as
//! `shlex.quote(command)`, or a call of a function with a check or an escape that the change removes
//! from the file. A check that is rewritten, moved within the file, or replaced by another condition
//! on the value is no loss. Questions for the presence of a value are no checks.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_findings::grounding::{Symbol, squeeze};
use assay_findings::vote::LineRange;
use regex::Regex;

use super::guard_forms::{
    JOINT, PRESENCE, REJECTION, has_escape, is_condition, is_escape, is_exit, regex, shown,
    start_of_consequence,
};
use super::{ChangedFile, CheckMatch, FileCheck};
use crate::rule_text::RuleText;
use crate::syntax::{Syntax, SyntaxNode};

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "change/check-removed",
        grade: "LOW",
        category: "security",
        title: "Check or escape of a value removed",
        message: "The function still uses the value, which nothing rejects or escapes any more.",
        advice: "Keep the check, or say in the description of the change why every value is safe.",
    },
    find,
};

/// The kinds of calls.
const CALLS: [&str; 8] = [
    "call", "call_expression", "method_invocation", "function_call_expression",
    "member_call_expression", "scoped_call_expression", "invocation_expression",
    "macro_invocation",
];

/// A part of a path or a key of an object that is dangerous in a value, as a literal.
static DANGEROUS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"["'`](?:\.\.[/\\]?|__proto__|constructor|prototype)["'`]|\.__proto__\b"#)
});

/// A condition on a value that is refused by any exit: a path outside of a folder, or the answer of a
/// function that is named as a check.
static REFUSAL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)
        \.indexOf\(\s*[A-Za-z_][\w.]*\s*\)\s*(?:!==?|<|>)\s*0
        | (?:!|\bnot\s)\s*[\w.]+\.starts_?[wW]ith\(\s*[A-Za-z_]
        | (?:!|\bnot\s)\s*[\w.$>:-]*(?i:valid|safe|allowed|permitted|authori[sz]ed|trusted|verif|clean_path|has_perm)\w*\(
        | \b[\w.$>:-]*(?i:invalid|unsafe|forbidden|disallowed|outside)\w*\(
        ",
    )
});

/// A condition on the rights of a user.
static RIGHTS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)[.>_]_?(?:is_?)?(?:admin|staff|owner|superuser|authenticated|authori[sz]ed|moderator|member)(?:_?ids?)?\b|\b(?:has|check)_?(?:perm|role|access|scope|capabilit)\w*|[.>](?:permissions?|roles?|scopes?|tenant(?:_?id)?|author(?:_?id)?|user_?id)\b",
    )
});

/// The name of a function that answers whether a value is accepted.
static ANSWERING_NAME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)verif|valid|check|auth|allow|permit|is_?safe|trusted"));

/// An exit that refuses a value, in a function that answers whether the value is accepted.
static REFUSING_EXIT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\breturn\s+(?:false|False|FALSE|-1|nil|None|null)\b"));

/// An exit with no result but a constant.
static PLAIN_EXIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?m)\breturn\b\s*\(?\s*(?:;|\}|$|(?:NULL|nil|None|null|undefined|[Ff]alse|FALSE|-?\d+|[A-Z][A-Z0-9_]+)\b)|\b(?:goto|break|continue|next)\b",
    )
});

/// The name of a function that checks its arguments.
static CHECKING_NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[.:>])_*(?:check|validate|verify|ensure|reject|forbid|disallow|authori[sz]e)\w*!?$",
    )
});

/// A word that may be a variable.
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_$][\w$]*(?:(?:\.|->)\w+)*"));

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let both = view.edited_code().zip(view.before());
    let Some((after, before)) = both else { return Vec::new() };
    let both = view.before_syntax().zip(view.after_syntax);
    let Some((old_syntax, new_syntax)) = both else { return Vec::new() };
    let (before_text, after_text) = (squeeze(before), squeeze(after));
    let (outline, new_outline) = (old_syntax.outline(), new_syntax.outline());
    let is_gone = |own: &&Symbol| new_outline.iter().all(|new| new.name != own.name);
    let guards =
        outline.iter().filter(is_gone).filter(|own| is_guard(&lines_of(before, own.lines)));
    let guards: BTreeSet<&str> = guards.map(|own| last_part(&own.name)).collect();
    let mut found = Vec::new();
    let mut reported: BTreeSet<(String, u32)> = BTreeSet::new();
    for check in checks(old_syntax, &guards) {
        // Text that the file has as often as before was moved, and most text is unchanged.
        let text = squeeze(&check.text);
        if after_text.matches(&text).count() >= before_text.matches(&text).count() {
            continue;
        }
        let Some(old) = innermost(&outline, check.line) else { continue };
        let Some(new) = counterpart(old, &outline, &new_outline) else { continue };
        let is_answer = check.kind == CheckKind::Answer && ANSWERING_NAME.is_match(&old.name);
        let is_plain_exit = matches!(check.kind, CheckKind::Answer | CheckKind::Exit) && !is_answer;
        if is_plain_exit && !is_removed_alone(view, check.line) {
            continue;
        }
        let (old_code, new_code) = (lines_of(before, old.lines), lines_of(after, new.lines));
        let count = |code: &[&str]| squeeze(&code.concat()).matches(&text).count();
        if count(&new_code) >= count(&old_code) {
            continue;
        }
        let function = (old.name.clone(), old.lines.start());
        if !is_lost(&check, &old_code, &new_code) || !reported.insert(function) {
            continue;
        }
        let line = place_of(view, check.line, new.lines);
        found.push(CheckMatch {
            file: view.file.new_path.clone(),
            lines: LineRange::at(line),
            note: format!("`{}` had `{}` before the change.", old.name, shown(&check.text)),
            subject: old.name.clone(),
        });
    }
    found
}

/// Returns the symbol after the change that is a symbol before the change. Classes of one file may
/// have methods of one name, which keep their order.
fn counterpart<'o>(old: &Symbol, before: &[Symbol], after: &'o [Symbol]) -> Option<&'o Symbol> {
    let position = before.iter().filter(|own| own.name == old.name).position(|own| own == old)?;
    let mut same = after.iter().filter(|own| own.name == old.name);
    same.clone().nth(position).or_else(|| same.next())
}

/// Returns true if the code of a function rejects or escapes a value.
fn is_guard(code: &[&str]) -> bool {
    code.iter().skip(1).any(|line| REJECTION.is_match(line) || has_escape(line))
}

/// Returns true if the hunk that removes a line adds nothing.
fn is_removed_alone(view: &ChangedFile<'_>, removed: u32) -> bool {
    view.hunk_without(removed).is_some_and(|hunk| hunk.added.is_empty())
}

/// Returns the last part of a dotted name.
fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':', '>', '#']).next().unwrap_or(name)
}

/// Returns the line of a function at which a line before the change was removed.
fn place_of(view: &ChangedFile<'_>, removed: u32, within: LineRange) -> u32 {
    let line = view.hunk_without(removed).map(|hunk| hunk.place_of_removed(removed));
    let line = line.or_else(|| view.first_added(within)).unwrap_or(within.start());
    line.clamp(within.start(), within.end())
}

/// The kind of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckKind {
    /// A condition that ends in an error.
    Condition,
    /// A condition that ends in the answer that the value is not accepted.
    Answer,
    /// A condition that ends in another exit.
    Exit,
    /// A call that is named as a check.
    Call,
    /// A call that makes a value safe.
    Escape,
}

/// A check or an escape in the text before the change.
struct RemovableCheck {
    kind: CheckKind,
    /// The code of the condition or of the call.
    text: String,
    line: u32,
}

/// Returns the checks and escapes of a file. Calls of guards count as escapes.
fn checks(syntax: &Syntax, guards: &BTreeSet<&str>) -> Vec<RemovableCheck> {
    let mut found = Vec::new();
    for node in syntax.root().dfs() {
        let kind = node.kind();
        let kind = kind.as_ref();
        let line = u32::try_from(node.start_pos().line() + 1).unwrap_or(u32::MAX);
        if is_condition(&node) {
            found.extend(condition_of(&node).map(|(kind, text)| RemovableCheck {
                kind,
                text,
                line,
            }));
        } else if CALLS.contains(&kind) {
            let text = node.text().to_string();
            let name = text.split(['(', ' ']).next().unwrap_or_default();
            let kind = if is_escape(name) || guards.contains(last_part(name)) {
                CheckKind::Escape
            } else if CHECKING_NAME.is_match(name) && is_statement(&node) {
                CheckKind::Call
            } else {
                continue;
            };
            found.push(RemovableCheck { kind, text, line });
        }
    }
    found
}

/// Returns the condition of a node whose consequence rejects a value, with its kind.
fn condition_of(node: &SyntaxNode<'_>) -> Option<(CheckKind, String)> {
    let condition = node.field("condition")?.text().to_string();
    let start = start_of_consequence(node);
    let is_refused = [&DANGEROUS, &REFUSAL, &RIGHTS].iter().any(|own| own.is_match(&condition));
    let rejects = REJECTION.is_match(&start) || is_refused && is_exit(&start);
    let kind = match rejects {
        true => CheckKind::Condition,
        false if REFUSING_EXIT.is_match(&start) => CheckKind::Answer,
        false if PLAIN_EXIT.is_match(&start) => CheckKind::Exit,
        false => return None,
    };
    let is_presence = JOINT.split(&condition).all(|part| PRESENCE.is_match(part));
    (is_refused || !is_presence).then_some((kind, condition))
}

/// Returns true if a call is a statement of its own.
fn is_statement(node: &SyntaxNode<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        matches!(parent.kind().as_ref(), "expression_statement" | "body_statement" | "block")
    })
}

fn innermost(outline: &[Symbol], line: u32) -> Option<&Symbol> {
    let around = |symbol: &&Symbol| symbol.lines.start() <= line && line <= symbol.lines.end();
    outline.iter().filter(around).min_by_key(|own| own.lines.end() - own.lines.start())
}

fn lines_of(text: &str, lines: LineRange) -> Vec<&str> {
    let count = (lines.end() - lines.start() + 1) as usize;
    text.lines().skip(lines.start() as usize - 1).take(count).collect()
}

/// Returns true if a function lost a check whose value it still uses, and nothing replaces it.
fn is_lost(check: &RemovableCheck, old: &[&str], new: &[&str]) -> bool {
    let arguments = match check.kind {
        CheckKind::Condition | CheckKind::Answer | CheckKind::Exit => check.text.as_str(),
        CheckKind::Call | CheckKind::Escape => {
            check.text.split_once('(').map_or("", |(_, arguments)| arguments)
        }
    };
    let mut values: Vec<&str> = values_in(arguments);
    // A user or an object is still used without the field that the condition compared.
    if RIGHTS.is_match(arguments) {
        values.extend(values_in(arguments).iter().filter_map(|value| root_of(value)));
    }
    let mentions = |line: &&str| values.iter().any(|value| has_word(line, value));
    if !new.iter().any(&mentions) {
        return false;
    }
    let old: BTreeSet<&str> = old.iter().map(|line| line.trim()).collect();
    let added: Vec<&str> =
        new.iter().map(|line| line.trim()).filter(|line| !old.contains(line)).collect();
    let is_check = |line: &&str| {
        let starts = ["if ", "if(", "elif ", "} else if", "unless ", "assert", "guard ", "while "];
        starts.iter().any(|start| line.starts_with(start))
            || line.contains(" if ")
            || line.contains(" unless ")
            || REJECTION.is_match(line)
            || line
                .split(['(', ' ', '=', ','])
                .any(|word| CHECKING_NAME.is_match(word) || is_escape(word))
    };
    let is_replaced = added.iter().any(|line| mentions(line) && is_check(line))
        || added.iter().any(|line| REJECTION.is_match(line));
    // An escape is lost only where its value is written again.
    let is_written = check.kind != CheckKind::Escape || added.iter().any(mentions);
    is_written && !is_replaced
}

/// Returns the variables and fields in a piece of code, and the receivers of its method calls.
fn values_in(code: &str) -> Vec<&str> {
    let value = |word: regex::Match<'_>| {
        let text = code.get(word.range())?;
        match code[word.end()..].starts_with('(') {
            true => {
                text.rsplit_once(['.', '>']).map(|(owner, _)| match owner.split_once(['.', '-']) {
                    Some((root, _)) if is_variable(root) => root,
                    _ => owner.trim_end_matches('-'),
                })
            }
            false => Some(text),
        }
    };
    WORD.find_iter(code).filter_map(value).filter(|value| is_variable(value)).collect()
}

/// Returns the variable of a field, such as `request` of `request.user`.
fn root_of(value: &str) -> Option<&str> {
    let root = value.split(['.', '-']).next().filter(|root| root.len() < value.len())?;
    is_variable(root).then_some(root)
}

/// Returns true for a word that may be a variable, and is no keyword, constant or common name.
fn is_variable(word: &str) -> bool {
    const OTHERS: [&str; 24] = [
        "if", "not", "in", "and", "or", "is", "self", "this", "None", "True", "False", "true",
        "false", "null", "nil", "new", "str", "int", "any", "all", "for", "bytes", "lambda",
        "const",
    ];
    !OTHERS.contains(&word) && !word.bytes().all(|byte| !byte.is_ascii_lowercase())
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |byte: Option<u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$')
    };
    line.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at).copied());
        let after = line.as_bytes().get(at + word.len()).copied();
        !is_part(before) && !is_part(after)
    })
}
