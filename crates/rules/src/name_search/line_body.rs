//! Dead code and tests without assertions, by the words on lines: [`is_dead`], [`TestBody::of`].
//!
//! For files with a grammar, the syntax tree is more precise; the words are for all other files.

use crate::code_lines::{CodeLines, LineSyntax};
use crate::test_functions::TestEffect;

/// Conditions that never hold, as they follow `if` or `while`, without blanks and brackets.
const FALSE_CONDITIONS: [&str; 9] =
    ["False", "false", "0", "None", "nil", "null", "notTrue", "!true", "TYPE_CHECKING"];

/// Conditions that always hold.
const TRUE_CONDITIONS: [&str; 5] = ["True", "true", "1", "notFalse", "!false"];

/// Words of assertions.
const ASSERTIONS: [&str; 17] = [
    "assert", "expect", "should", "require.", ".raises", "t.error", "t.fatal", "t.fail", "fail(",
    "panic", "verify", "check", "ensure", "must", "throws", "refute", "mock.",
];

/// Assertions that always hold, without blanks.
const EMPTY_ASSERTIONS: [&str; 11] = [
    "asserttrue", "assert1", "assert(true)", "assert(1)", "assert!(true)", "assert1==1",
    "assert(1==1)", "self.asserttrue(true)", "expect(true).tobe(true)", "assert.ok(true)",
    "asserttrue(true)",
];

/// Lines of a body without effect, without blanks.
const EMPTY_LINES: [&str; 13] =
    ["", "pass", "...", "return", "return;", "{", "}", "{}", "});", "})", ")", "end", ");"];

/// The content of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestBody {
    /// The test has an assertion.
    Asserts,
    /// The test has statements, and it is unknown whether they assert anything.
    Calls,
    /// The test has no effect, or asserts what always holds.
    Empty,
}

impl TestBody {
    /// Returns the effect of a test with this content: whether it can fail.
    pub(super) fn effect(self) -> TestEffect {
        match self {
            TestBody::Asserts => TestEffect::CanFail,
            TestBody::Calls => TestEffect::Unclear("has no assertion that code can see".to_owned()),
            TestBody::Empty => TestEffect::Inert("asserts nothing".to_owned()),
        }
    }

    /// Analyses the test that begins on a line, from 0.
    pub(super) fn of(lines: &CodeLines, at: usize) -> TestBody {
        let body = body(lines.syntax, &lines.code, at);
        let lines: Vec<String> = body.iter().map(|line| without_blanks(line)).collect();
        let does = |line: &&String| {
            // A string alone is a comment.
            let line = line.trim_end_matches(';').trim_matches(['"', '\'', '`']);
            !EMPTY_LINES.contains(&line) && !EMPTY_ASSERTIONS.contains(&line)
        };
        let mut doing = lines.iter().filter(does).peekable();
        if doing.peek().is_none() {
            return TestBody::Empty;
        }
        match doing.any(|line| asserts(line)) {
            true => TestBody::Asserts,
            false => TestBody::Calls,
        }
    }
}

/// Returns true if a line of code, without the content of strings, asserts something.
pub fn asserts_on(code: &str) -> bool {
    let line = without_blanks(code);
    asserts(&line) && !EMPTY_ASSERTIONS.contains(&line.trim_end_matches(';'))
}

fn asserts(line: &str) -> bool {
    ASSERTIONS.iter().any(|word| line.contains(word))
}

fn without_blanks(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Returns the code of a function after the line that begins it, and the rest of that line.
fn body(syntax: LineSyntax, code: &[String], at: usize) -> Vec<String> {
    let Some(first) = code.get(at) else { return Vec::new() };
    let below = code.get(at + 1..).unwrap_or_default();
    if matches!(syntax, LineSyntax::Python | LineSyntax::Hash | LineSyntax::Dash) {
        let depth = indent(first);
        let head = below.iter().take_while(|_| syntax == LineSyntax::Python);
        let open = brackets(first);
        // The parameters of a function may take several lines.
        let skipped = match open > 0 {
            true => head
                .scan(open, |open, line| {
                    let before = *open;
                    *open += brackets(line);
                    (before > 0).then_some(())
                })
                .count(),
            false => 0,
        };
        let inside = below[skipped..]
            .iter()
            .take_while(|line| line.trim().is_empty() || indent(line) > depth);
        let rest = first.rsplit_once(':').map_or("", |(_, rest)| rest).to_owned();
        return std::iter::once(rest).chain(inside.cloned()).collect();
    }
    let mut lines = Vec::new();
    let (mut depth, mut has_begun) = (0i64, false);
    for (nth, line) in code[at..].iter().enumerate() {
        let mut inside = String::new();
        for c in line.chars() {
            match c {
                '{' => {
                    depth += 1;
                    has_begun = true;
                }
                '}' => depth -= 1,
                _ => {}
            }
            if has_begun && depth > 0 && !(depth == 1 && c == '{') {
                inside.push(c);
            }
        }
        // `=> expect(…)` has no braces.
        if nth == 0 && !has_begun {
            inside.extend(line.split_once("=>").map(|(_, value)| value));
        }
        lines.push(inside);
        if (has_begun && depth <= 0) || (!has_begun && nth > 8) {
            break;
        }
    }
    lines
}

/// Returns the number of opening minus closing brackets on a line.
fn brackets(line: &str) -> i64 {
    line.chars().fold(0, |open, c| match c {
        '(' | '[' => open + 1,
        ')' | ']' => open - 1,
        _ => open,
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns true if the code on a line, from 0, never runs: it is below a condition that never
/// holds.
pub(super) fn is_dead(lines: &[&str], read: &CodeLines, at: usize) -> bool {
    match read.syntax {
        LineSyntax::Rust | LineSyntax::Go | LineSyntax::Script | LineSyntax::Java => {
            is_dead_by_braces(&read.code, at) || is_switched_off(lines, at)
        }
        LineSyntax::Python => is_dead_by_indent(&read.code, at),
        LineSyntax::Hash | LineSyntax::Dash => false,
    }
}

fn is_dead_by_indent(code: &[String], at: usize) -> bool {
    let Some(line) = code.get(at) else { return false };
    let mut depth = indent(line);
    let mut is_behind_else = false;
    for line in code[..at].iter().rev().filter(|line| !line.trim().is_empty()) {
        let (text, own) = (line.trim(), indent(line));
        if own == depth && is_behind_else && text.starts_with("if ") {
            if is_condition(text, &TRUE_CONDITIONS) {
                return true;
            }
            is_behind_else = false;
        }
        if own < depth {
            depth = own;
            is_behind_else = text.starts_with("else");
            if is_condition(text, &FALSE_CONDITIONS) {
                return true;
            }
        }
    }
    false
}

fn is_dead_by_braces(code: &[String], at: usize) -> bool {
    let mut open: Vec<bool> = Vec::new();
    let (mut statement, mut closed) = (String::new(), String::new());
    let mut statements: Vec<String> = Vec::new();
    for line in code.iter().take(at) {
        for c in line.chars() {
            match c {
                '{' => {
                    let text = std::mem::take(&mut statement);
                    let is_else = text.trim() == "else" && is_condition(&closed, &TRUE_CONDITIONS);
                    open.push(is_else || is_condition(text.trim(), &FALSE_CONDITIONS));
                    statements.push(text.trim().to_owned());
                }
                '}' => {
                    open.pop();
                    closed = statements.pop().unwrap_or_default();
                    statement.clear();
                }
                ';' => statement.clear(),
                c => statement.push(c),
            }
        }
        statement.push(' ');
    }
    let own = code.get(at).map(|line| line.trim()).unwrap_or_default();
    let before = own.split('{').next().unwrap_or_default();
    open.contains(&true) || is_condition(before.trim(), &FALSE_CONDITIONS)
}

/// Returns true if a statement is an `if` or `while` with one of some conditions.
fn is_condition(statement: &str, conditions: &[&str]) -> bool {
    let rest = ["if", "while", "elif"].iter().find_map(|word| {
        let rest = statement.strip_prefix(word)?;
        rest.starts_with([' ', '(']).then_some(rest)
    });
    let Some(rest) = rest else { return false };
    let condition: String = rest.chars().filter(|c| !" ():\t".contains(*c)).collect();
    let condition = condition.trim_end_matches("then");
    conditions.contains(&condition)
        || conditions.contains(&condition.rsplit('.').next().unwrap_or(""))
}

/// Returns true if a line is in `#if 0`, or is excluded by an attribute above it.
fn is_switched_off(lines: &[&str], at: usize) -> bool {
    let mut open: Vec<bool> = Vec::new();
    for line in lines.iter().take(at).map(|line| line.trim()) {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["#if", condition] => open.push(["0", "false"].contains(condition)),
            ["#if" | "#ifdef" | "#ifndef", ..] => open.push(false),
            ["#else" | "#elif", ..] => {
                open.pop();
                open.push(false);
            }
            ["#endif", ..] => drop(open.pop()),
            _ => {}
        }
    }
    let above = lines[..at.min(lines.len())].iter().rev().map(|line| line.trim());
    let mut attributes = above.take_while(|line| line.starts_with("#["));
    open.contains(&true)
        || attributes.any(|line| ["#[cfg(any())]", "#[cfg(false)]"].contains(&line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if the line with `frob` is dead.
    fn dead(syntax: LineSyntax, text: &str) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.contains("frob")).unwrap();
        is_dead(&lines, &CodeLines::read(syntax, &lines, false), at)
    }

    #[test]
    fn code_below_a_condition_that_never_holds_is_dead() {
        for (language, text) in [
            (LineSyntax::Script, "if (false) {\nfunction frob() {}\n}\n"),
            (LineSyntax::Script, "if (false) { function frob() {} }\n"),
            (LineSyntax::Script, "if (true) {\n} else {\n  function frob() {}\n}\n"),
            (LineSyntax::Java, "#if 0\nint frob(int a) {\n}\n#endif\n"),
            (LineSyntax::Rust, "#[cfg(any())]\nfn frob() {}\n"),
            (LineSyntax::Rust, "fn a() { if false {\n fn frob() {}\n} }\n"),
        ] {
            assert!(dead(language, text), "{text}");
        }
        for (language, text) in [
            (LineSyntax::Script, "if (false) { a(); }\nfunction frob() {}\n"),
            (LineSyntax::Java, "#if 0\n#else\nint frob(int a) {\n}\n#endif\n"),
            (LineSyntax::Rust, "#[cfg(test)]\nfn frob() {}\n"),
        ] {
            assert!(!dead(language, text), "{text}");
        }
    }

    #[test]
    fn a_test_that_asserts_nothing_is_empty() {
        let body = |syntax, text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            TestBody::of(&CodeLines::read(syntax, &lines, false), 0)
        };
        for (language, text, expected) in [
            (LineSyntax::Python, "def test_a():\n    pass\n", TestBody::Empty),
            (LineSyntax::Python, "def test_a(): pass\n", TestBody::Empty),
            (
                LineSyntax::Python,
                "def test_a():\n    \"\"\"assert a\"\"\"\n    # assert\n",
                TestBody::Empty,
            ),
            (LineSyntax::Python, "def test_a():\n    assert True\n", TestBody::Empty),
            (LineSyntax::Python, "def test_a():\n    assert a() == 1\n", TestBody::Asserts),
            (LineSyntax::Python, "def test_a(\n    b,\n):\n    assert b\n", TestBody::Asserts),
            (LineSyntax::Python, "def test_a():\n    run(1, 2)\n", TestBody::Calls),
            (
                LineSyntax::Script,
                "it('a', () => {\n  expect(a()).toBe(1);\n});\n",
                TestBody::Asserts,
            ),
            (LineSyntax::Script, "it('a', () => expect(a()).toBe(1));\n", TestBody::Asserts),
            (LineSyntax::Script, "it('a', () => {\n  // expect\n});\n", TestBody::Empty),
            (LineSyntax::Script, "it('a', () => {});\n", TestBody::Empty),
            (LineSyntax::Rust, "fn a() {\n    assert_eq!(b(), 1);\n}\n", TestBody::Asserts),
            (LineSyntax::Rust, "fn a() {\n}\nfn b() { assert!(c()); }\n", TestBody::Empty),
            (LineSyntax::Go, "func TestA(t *testing.T) {\n\tt.Fatal(1)\n}\n", TestBody::Asserts),
        ] {
            assert_eq!(body(language, text), expected, "{text}");
        }
    }
}
