//! Checks and escapes that a function loses while it still uses the value.
//!
//! A check is a condition that ends in an error, such as `if ".." in path: raise ValueError`, or a
//! call that is named as a check, such as `self.check_alias(alias)`. An escape is a call such as
//! `shlex.quote(command)`. A check that is rewritten, moved within the file, or replaced by another
//! condition on the value is no loss. Questions for the presence of a value are no checks.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::{ChangedFile, CheckMatch, FileCheck};
use crate::language;
use crate::rule_text::RuleText;
use crate::syntax::{LineSet, Syntax, SyntaxNode};

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

/// The maximum number of bytes of a check that a note shows.
const MAX_SHOWN: usize = 80;

/// The kinds of conditions with a consequence.
const CONDITIONS: [&str; 9] = [
    "if_statement", "if_expression", "if", "unless", "if_modifier", "unless_modifier",
    "elif_clause", "elsif", "guard_statement",
];

/// The kinds of calls.
const CALLS: [&str; 8] = [
    "call", "call_expression", "method_invocation", "function_call_expression",
    "member_call_expression", "scoped_call_expression", "invocation_expression",
    "macro_invocation",
];

/// An exit that rejects a value.
static REJECTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:raise|throw|abort|panic!?|die|bail!|ensure!)\b|\breturn\b[^\n]*(?:[Ee]rr(?:or|ors|orf)?\b|Error|Err\(|BadRequest|Forbidden|NotFound|InvalidArgument)",
    )
});

/// A value that no check of a value compares with: dangerous parts of paths and keys.
static DANGEROUS: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"["'`](?:\.\.[/\\]?|__proto__|constructor|prototype)["'`]"#));

/// A part of a condition that asks for the presence, the type or the error of a value, or for a
/// setting.
static PRESENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x)
        ^[(\s]*(?:!|not\s)?\s*[\w.$>\-@?\[\]'"]+[)\s]*$
        | ^[(\s]*[\w.$>\-@?\[\]'"]+\s*(?:is(?:\s+not)?|[=!]=+)\s*(?:None|nil|null|NULL|nullptr|undefined)[)\s]*$
        | \b(?:isinstance|instanceof|typeof|issubclass|hasattr|isset|empty|is_null|is_none|is_some|is_err|is_ok|IsNull\w*|isEmpty|isBlank|is_empty|nil\?|blank\?|present\?|is_a\?|callable|StopIteration|version_info|VERSION|platform)\b
        | (?:[=!]=+)\s*(?:["']{2}|0|-1|true|false|True|False)[)\s]*$
        "#,
    )
});

/// The operators that join the parts of a condition.
static JOINT: LazyLock<Regex> = LazyLock::new(|| regex(r"\band\b|\bor\b|&&|\|\|"));

/// The name of a function that checks its arguments.
static CHECKING_NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[.:>])_*(?:check|validate|verify|ensure|reject|forbid|disallow|authori[sz]e)\w*!?$",
    )
});

/// The name of a function that makes a value safe.
static ESCAPE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[.:>])(?:\w*escape\w*|shlex\.quote|quote|htmlspecialchars|htmlentities|sanitize\w*|quoteattr|encodeForHTML|writeEncoded|escapeshellarg|secure_filename|basename|strip_tags|parameterize)$",
    )
});

/// A word that may be a variable.
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_$][\w$]*(?:(?:\.|->)\w+)*"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let path = view.file.path();
    let is_code = language::is_code(path) && !language::is_test(path);
    let after = view.after.filter(|_| is_code && view.file.old_path.is_some());
    let Some((after, before)) = after.zip(view.before()) else { return Vec::new() };
    let Some(old_syntax) = Syntax::of(path, before) else { return Vec::new() };
    let Some(new_syntax) = Syntax::of(path, after) else { return Vec::new() };
    let after_text = squeeze(after);
    let (outline, new_outline) = (old_syntax.outline(), new_syntax.outline());
    let mut found = Vec::new();
    let mut reported: BTreeSet<String> = BTreeSet::new();
    for check in checks(&old_syntax) {
        // Text that the file still has was moved, and most text is unchanged.
        if after_text.contains(&squeeze(&check.text)) {
            continue;
        }
        let Some(old) = innermost(&outline, check.line) else { continue };
        let Some(new) = new_outline.iter().find(|new| new.name == old.name) else { continue };
        let (old_code, new_code) = (lines_of(before, old.lines), lines_of(after, new.lines));
        if !is_lost(&check, &old_code, &new_code) || !reported.insert(old.name.clone()) {
            continue;
        }
        let line = first_changed(view, new.lines);
        let shown: String = check.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = assay_base::text::first_bytes(&shown, MAX_SHOWN);
        found.push(CheckMatch {
            file: view.file.new_path.clone(),
            lines: LineRange::at(line),
            note: format!("`{}` had `{shown}` before the change.", old.name),
            subject: old.name.clone(),
        });
    }
    found
}

/// Returns the first line of a function at which the change adds or removes lines.
fn first_changed(view: &ChangedFile<'_>, within: LineRange) -> u32 {
    let places = view.file.hunks.iter().filter_map(|hunk| hunk.new.surroundings());
    let within_it = LineSet::new([within]);
    let mut inside = places.filter(|place| within_it.overlaps(*place));
    let removed = inside.next().map_or(within.start(), |place| place.start().max(within.start()));
    view.first_added(within).unwrap_or(removed)
}

/// The kind of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckKind {
    /// A condition that ends in an error.
    Condition,
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

/// Returns the checks and escapes of a file.
fn checks(syntax: &Syntax) -> Vec<RemovableCheck> {
    let mut found = Vec::new();
    for node in syntax.root().dfs() {
        let kind = node.kind();
        let kind = kind.as_ref();
        let line = u32::try_from(node.start_pos().line() + 1).unwrap_or(u32::MAX);
        if CONDITIONS.contains(&kind) {
            found.extend(condition_text(&node).map(|text| RemovableCheck {
                kind: CheckKind::Condition,
                text,
                line,
            }));
        } else if CALLS.contains(&kind) {
            let text = node.text().to_string();
            let name = text.split(['(', ' ']).next().unwrap_or_default();
            let kind = if ESCAPE_NAME.is_match(name) {
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

/// Returns the condition of a node whose consequence rejects a value.
fn condition_text(node: &SyntaxNode<'_>) -> Option<String> {
    let condition = node.field("condition")?.text().to_string();
    let whole = node.text().to_string();
    let consequence = ["consequence", "body"].iter().find_map(|name| node.field(name));
    let consequence = consequence.map_or(whole, |own| own.text().to_string());
    // The first lines decide: an exit deep inside of a long branch belongs to another condition.
    let start: Vec<&str> = consequence.lines().take(6).collect();
    let start = start.join("\n");
    let rejects = REJECTION.is_match(&start)
        || DANGEROUS.is_match(&condition) && regex_exit().is_match(&start);
    let is_presence = JOINT.split(&condition).all(|part| PRESENCE.is_match(part));
    (rejects && !is_presence).then_some(condition)
}

/// Returns the pattern of any exit.
fn regex_exit() -> &'static Regex {
    static EXIT: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:return|break|continue)\b"));
    &EXIT
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

/// Returns a text without blanks.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns true if a function lost a check whose value it still uses, and nothing replaces it.
fn is_lost(check: &RemovableCheck, old: &[&str], new: &[&str]) -> bool {
    let arguments = match check.kind {
        CheckKind::Condition => check.text.as_str(),
        CheckKind::Call | CheckKind::Escape => {
            check.text.split_once('(').map_or("", |(_, arguments)| arguments)
        }
    };
    let values: Vec<&str> = WORD.find_iter(arguments).map(|own| own.as_str()).collect();
    let values: Vec<&str> = values.into_iter().filter(|value| is_variable(value)).collect();
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
                .any(|word| CHECKING_NAME.is_match(word) || ESCAPE_NAME.is_match(word))
    };
    let is_replaced = added.iter().any(|line| mentions(line) && is_check(line))
        || added.iter().any(|line| REJECTION.is_match(line));
    // An escape is lost only where its value is written again.
    let is_written = check.kind != CheckKind::Escape || added.iter().any(mentions);
    is_written && !is_replaced
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
