//! The forms of code that refuses values or makes them safe: conditions, exits and escapes.

use std::sync::LazyLock;

use regex::Regex;

use crate::syntax::SyntaxNode;

/// The maximum number of bytes of code that a note shows.
const MAX_SHOWN: usize = 80;

/// The kinds of conditions with a consequence.
const CONDITIONS: [&str; 6] =
    ["if_statement", "if_expression", "if", "if_modifier", "elif_clause", "elsif"];

/// The kinds of conditions whose consequence applies to the values that do not fulfil them.
const INVERTED_CONDITIONS: [&str; 3] = ["unless", "unless_modifier", "guard_statement"];

/// An exit that rejects a value.
pub(super) static REJECTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:raise|throw|abort|panic!?|(?:wp_)?die|bail!|ensure!|exit|croak|halt|user_error|trigger_error|sendError|send_error|handleError)\b|\b(?:status|sendStatus|writeHead|HttpResponse|make_response)\(\s*4\d\d\b|\breturn\b[^\n]*(?:[Ee]rr(?:or|ors|orf)?\b|Error|Err\(|BadRequest|Forbidden|NotFound|InvalidArgument)",
    )
});

/// An exit from the function, the loop or the branch.
static EXIT: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:return|break|continue|goto|next)\b"));

/// A part of a condition that asks for the presence, the type or the error of a value, or for a
/// setting.
pub(super) static PRESENCE: LazyLock<Regex> = LazyLock::new(|| {
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
pub(super) static JOINT: LazyLock<Regex> = LazyLock::new(|| regex(r"\band\b|\bor\b|&&|\|\|"));

/// The name of a function that makes a value safe.
static ESCAPE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[.:>])(?:\w*escape\w*|shlex\.quote|quote|htmlspecialchars|htmlentities|sanitize\w*|quoteattr|encodeForHTML|writeEncoded|escapeshellarg|secure_filename|basename|strip_tags|parameterize)$",
    )
});

/// Compiles a pattern of this program.
pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// Returns true if a node is a condition with a consequence.
pub(super) fn is_condition(node: &SyntaxNode<'_>) -> bool {
    CONDITIONS.contains(&node.kind().as_ref()) || is_inverted(node)
}

/// Returns true if the consequence of a condition applies to the values that do not fulfil it, as that
/// of `unless` does.
pub(super) fn is_inverted(node: &SyntaxNode<'_>) -> bool {
    INVERTED_CONDITIONS.contains(&node.kind().as_ref())
}

/// Returns the first lines of the consequence of a condition. They decide: an exit deep inside of a
/// long branch belongs to another condition.
pub(super) fn start_of_consequence(node: &SyntaxNode<'_>) -> String {
    let whole = node.text().to_string();
    let consequence = ["consequence", "body"].iter().find_map(|name| node.field(name));
    let consequence = consequence.map_or(whole, |own| own.text().to_string());
    let start: Vec<&str> = consequence.lines().take(6).collect();
    start.join("\n")
}

/// Returns true if a consequence leaves the function, the loop or the branch.
pub(super) fn is_exit(consequence: &str) -> bool {
    REJECTION.is_match(consequence) || EXIT.is_match(consequence)
}

/// Returns true for the name of a function that makes a value safe.
pub(super) fn is_escape(name: &str) -> bool {
    ESCAPE_NAME.is_match(name)
}

/// Returns true if code has the name of a function that makes a value safe.
pub(super) fn has_escape(code: &str) -> bool {
    code.split(['(', ' ', '=', ',', '{']).any(is_escape)
}

/// Returns code as a note shows it: in one line, and not too long.
pub(super) fn shown(code: &str) -> String {
    let line = assay_base::text::single_spaced(code);
    assay_base::text::first_bytes(&line, MAX_SHOWN).to_owned()
}
