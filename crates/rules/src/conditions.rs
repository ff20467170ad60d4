//! Conditions that can be decided without running the code: [`Truth`], of expressions and of Rust's
//! `cfg`.

use crate::syntax::SyntaxNode;

/// The value of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    /// The condition holds on every machine.
    Always,
    /// The condition holds on no machine.
    Never,
    /// The condition depends on the platform, the version or the build, and holds on some machine.
    Environment,
    /// The condition cannot be decided.
    Unknown,
}

/// The values of platform names in Python, Node, Rust and Go.
const PLATFORMS: [&str; 36] = [
    "linux", "linux2", "win32", "cygwin", "darwin", "aix", "android", "emscripten", "ios", "wasi",
    "freebsd", "openbsd", "netbsd", "sunos", "sunos5", "haiku", "posix", "nt", "java", "Linux",
    "Windows", "Darwin", "Java", "macos", "windows", "dragonfly", "solaris", "illumos", "fuchsia",
    "redox", "wasm", "plan9", "js", "wasip1", "none", "unknown",
];

/// The expressions that name the platform.
const PLATFORM_NAMES: [&str; 8] = [
    "sys.platform", "os.name", "platform.system()", "process.platform", "os.platform()",
    "runtime.GOOS", "RUBY_PLATFORM", "PHP_OS_FAMILY",
];

impl Truth {
    fn of(holds: bool) -> Truth {
        if holds { Truth::Always } else { Truth::Never }
    }

    fn not(self) -> Truth {
        match self {
            Truth::Always => Truth::Never,
            Truth::Never => Truth::Always,
            other => other,
        }
    }

    fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::Never, _) | (_, Truth::Never) => Truth::Never,
            (Truth::Always, other) | (other, Truth::Always) => other,
            (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
            (Truth::Environment, Truth::Environment) => Truth::Environment,
        }
    }

    fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    /// Returns the value of an expression.
    pub(crate) fn of_expression(node: &SyntaxNode<'_>) -> Truth {
        Truth::evaluate(node, 0)
    }

    fn evaluate(node: &SyntaxNode<'_>, level: usize) -> Truth {
        let inner = |node: &SyntaxNode<'_>| Truth::evaluate(node, level + 1);
        if level > 40 {
            return Truth::Unknown;
        }
        let (kind, text) = (node.kind().into_owned(), node.text());
        let text = text.trim();
        match kind.as_str() {
            "parenthesized_expression"
            | "condition_clause"
            | "parenthesized_statements"
            | "expression_statement" => {
                let mut named = node.children().filter(|child| child.is_named());
                match (named.next(), named.next()) {
                    (Some(only), None) => inner(&only),
                    _ => Truth::Unknown,
                }
            }
            "true" | "false" | "none" | "null" | "nil" | "undefined" | "boolean"
            | "boolean_literal" | "null_literal" => Truth::of(text.eq_ignore_ascii_case("true")),
            "integer"
            | "float"
            | "number"
            | "int_literal"
            | "float_literal"
            | "integer_literal"
            | "number_literal"
            | "decimal_integer_literal" => {
                Truth::of(text.chars().any(|c| ('1'..='9').contains(&c)))
            }
            "string" | "concatenated_string" if is_constant(node) => Truth::of(
                text.trim_matches(['"', '\'', '`']).len() > usize::from(text.contains("f\"")),
            ),
            "tuple" | "list" | "dictionary" => {
                Truth::of(node.children().any(|child| child.is_named()))
            }
            "identifier" | "attribute" if text.rsplit('.').next() == Some("TYPE_CHECKING") => {
                Truth::Never
            }
            "not_operator" | "unary_expression" | "unary" | "unary_op_expression" => {
                let operand = node.children().filter(|child| child.is_named()).last();
                let is_negation = text.starts_with('!') || text.starts_with("not");
                match operand.filter(|_| is_negation) {
                    Some(operand) => inner(&operand).not(),
                    None => Truth::Unknown,
                }
            }
            "boolean_operator" | "binary_expression" | "comparison_operator" | "binary" => {
                let Some((left, operator, right)) = operands(node) else { return Truth::Unknown };
                match operator.as_str() {
                    "and" | "&&" => inner(&left).and(inner(&right)),
                    "or" | "||" => inner(&left).or(inner(&right)),
                    operator => compare(&left.text(), operator, &right.text(), is_pure(node)),
                }
            }
            "call" | "call_expression" => starts_with_platform(text),
            "macro_invocation" => {
                let arguments =
                    text.strip_prefix("cfg!").map(|rest| rest.trim_matches(['(', ')', ' ']));
                arguments.map_or(Truth::Unknown, |_| {
                    let open = text.find('(').map_or(0, |at| at + 1);
                    of_cfg(text.get(open..text.len() - 1).unwrap_or_default())
                })
            }
            _ => Truth::Unknown,
        }
    }
}

/// Returns the two operands of a node and the operator between them.
pub(crate) fn operands<'t>(
    node: &SyntaxNode<'t>,
) -> Option<(SyntaxNode<'t>, String, SyntaxNode<'t>)> {
    let named: Vec<SyntaxNode<'t>> = node.children().filter(|child| child.is_named()).collect();
    let [left, right] = named.as_slice() else { return None };
    let text = node.text();
    let start = left.range().end.checked_sub(node.range().start)?;
    let end = right.range().start.checked_sub(node.range().start)?;
    let operator = assay_base::text::single_spaced(text.get(start..end)?);
    Some((left.clone(), operator, right.clone()))
}

/// Returns the value of a comparison of two texts. Equal texts are equal if no function is called.
pub(crate) fn compare(left: &str, operator: &str, right: &str, is_pure: bool) -> Truth {
    let (left, right) = (left.trim(), right.trim());
    let equals = match operator {
        "==" | "===" | "is" => Some(true),
        "!=" | "!==" | "is not" | "<>" => Some(false),
        _ => None,
    };
    if left == right && is_pure {
        return match operator {
            "<=" | ">=" => Truth::Always,
            "<" | ">" => Truth::Never,
            _ => equals.map_or(Truth::Unknown, Truth::of),
        };
    }
    if let (Ok(left), Ok(right)) = (left.parse::<f64>(), right.parse::<f64>()) {
        return match operator {
            "<" => Truth::of(left < right),
            ">" => Truth::of(left > right),
            "<=" => Truth::of(left <= right),
            ">=" => Truth::of(left >= right),
            _ => equals.map_or(Truth::Unknown, |equals| Truth::of(equals == (left == right))),
        };
    }
    let literal = |text: &str| {
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then(|| inner.to_owned())
    };
    match (literal(left), literal(right), equals) {
        (Some(left), Some(right), Some(equals)) => return Truth::of(equals == (left == right)),
        (None, Some(value), Some(equals)) if PLATFORM_NAMES.contains(&left) => {
            return platform(&value, equals);
        }
        (Some(value), None, Some(equals)) if PLATFORM_NAMES.contains(&right) => {
            return platform(&value, equals);
        }
        (Some(value), None, None) if operator == "in" && PLATFORM_NAMES.contains(&right) => {
            let is_known = PLATFORMS.iter().any(|platform| platform.contains(&value));
            return if is_known { Truth::Environment } else { Truth::Never };
        }
        _ => {}
    }
    match left.starts_with("sys.version_info") {
        true => version(operator, right),
        false => Truth::Unknown,
    }
}

fn platform(value: &str, equals: bool) -> Truth {
    match PLATFORMS.iter().any(|platform| value.starts_with(platform)) {
        true => Truth::Environment,
        false => Truth::of(!equals),
    }
}

/// Returns the value of a comparison of the Python version with a tuple or a number.
fn version(operator: &str, right: &str) -> Truth {
    let digits: String =
        right.trim_start_matches('(').chars().take_while(char::is_ascii_digit).collect();
    let Ok(major) = digits.parse::<u32>() else { return Truth::Unknown };
    match operator {
        ">" | ">=" | "==" if major > 3 => Truth::Never,
        "<" | "<=" | "==" if major < 3 => Truth::Never,
        _ => Truth::Environment,
    }
}

fn starts_with_platform(text: &str) -> Truth {
    let named = PLATFORM_NAMES.iter().find_map(|name| text.strip_prefix(name));
    let value = named.and_then(|rest| {
        let rest =
            rest.strip_prefix(".startswith(").or_else(|| rest.strip_prefix(".startsWith("))?;
        Some(rest.strip_suffix(')')?.trim_matches(['"', '\'']))
    });
    match value {
        Some(value) if PLATFORMS.iter().any(|platform| platform.starts_with(value)) => {
            Truth::Environment
        }
        Some(_) => Truth::Never,
        None => Truth::Unknown,
    }
}

/// Returns true if a string has no computed part.
fn is_constant(node: &SyntaxNode<'_>) -> bool {
    !node.dfs().any(|inner| matches!(&*inner.kind(), "interpolation" | "template_substitution"))
}

/// Returns true if no function is called within a node.
fn is_pure(node: &SyntaxNode<'_>) -> bool {
    !node.dfs().any(|inner| {
        matches!(
            &*inner.kind(),
            "call"
                | "call_expression"
                | "macro_invocation"
                | "method_invocation"
                | "await_expression"
        )
    })
}

/// Returns the value of a predicate of Rust's `cfg`.
pub(crate) fn of_cfg(predicate: &str) -> Truth {
    let text = predicate.trim().trim_end_matches(',').trim();
    let inner = |name: &str| {
        let rest = text.strip_prefix(name)?.trim_start();
        rest.strip_prefix('(')?.strip_suffix(')')
    };
    if let Some(all) = inner("all") {
        return split(all).into_iter().fold(Truth::Always, |truth, one| truth.and(of_cfg(one)));
    }
    if let Some(any) = inner("any") {
        return split(any).into_iter().fold(Truth::Never, |truth, one| truth.or(of_cfg(one)));
    }
    if let Some(not) = inner("not") {
        return of_cfg(not).not();
    }
    let known = ["test", "unix", "windows", "debug_assertions", "miri", "doc", "doctest", "panic"];
    match text.split_once('=').map(|(name, value)| (name.trim(), value.trim().trim_matches('"'))) {
        Some(("target_os", value)) => platform(value, true),
        Some((name, _)) if name == "feature" || name == "panic" || name.starts_with("target_") => {
            Truth::Environment
        }
        Some(_) => Truth::Unknown,
        None if text == "true" => Truth::Always,
        None if text == "false" => Truth::Never,
        None if text == "test" => Truth::Always,
        None if known.contains(&text) || text.starts_with("target_") => Truth::Environment,
        None => Truth::Unknown,
    }
}

/// Splits a list at the commas outside of brackets and strings.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), '\\') if !is_escaped => {
                is_escaped = true;
                continue;
            }
            (Some(open), c) if c == open && !is_escaped => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
        is_escaped = false;
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}
