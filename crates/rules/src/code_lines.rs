//! Code and comments of a file, line by line: [`CodeLines`].
//!
//! No grammar is needed: the delimiters of strings and comments are enough to distinguish them. So
//! files of languages without a grammar can be read, and single hunks of a diff, which may begin
//! anywhere.

/// A language by its delimiters of strings and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineSyntax {
    Rust,
    Python,
    Go,
    Script,
    Java,
    /// A language whose comments begin with `#`.
    Hash,
    /// A language whose comments begin with `--`.
    Dash,
}

/// The lines of a file of code.
#[derive(Debug)]
pub struct CodeLines {
    pub(crate) syntax: LineSyntax,
    /// The code on each line, without comments and without the content of strings.
    pub code: Vec<String>,
    /// The comment on each line, with its delimiters.
    pub comments: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Code,
    LineComment,
    /// In a block comment, with the depth of nesting.
    BlockComment(usize),
    /// In a string that ends with this many quotes, followed by this many hashes.
    Text {
        quote: char,
        quotes: usize,
        hashes: usize,
        is_raw: bool,
        has_lines: bool,
    },
}

impl LineSyntax {
    /// Returns the language of a file by its name, or `None` if it is unknown.
    pub(crate) fn of(path: &str) -> Option<LineSyntax> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
        Some(match ending.to_ascii_lowercase().as_str() {
            "rs" => LineSyntax::Rust,
            "py" | "pyi" => LineSyntax::Python,
            "go" => LineSyntax::Go,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => LineSyntax::Script,
            "java" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs" | "kt" | "swift" | "php" | "scala"
            | "zig" | "proto" | "scss" => LineSyntax::Java,
            "sh" | "bash" | "rb" | "yml" | "yaml" | "toml" | "ex" | "exs" | "tf" | "dockerfile"
            | "makefile" => LineSyntax::Hash,
            "sql" | "lua" | "hs" => LineSyntax::Dash,
            _ => return None,
        })
    }

    /// Returns the delimiter of a comment up to the end of the line.
    fn line_comment(self) -> &'static str {
        match self {
            LineSyntax::Python | LineSyntax::Hash => "#",
            LineSyntax::Dash => "--",
            LineSyntax::Rust | LineSyntax::Go | LineSyntax::Script | LineSyntax::Java => "//",
        }
    }

    /// Returns true if lines that are cut off from those before begin inside a comment.
    fn begins_in_comment(self, lines: &[&str]) -> bool {
        if self.line_comment() != "//" {
            return false;
        }
        let closes_first = |line: &&str| match (line.find("/*"), line.find("*/")) {
            (Some(open), Some(close)) => Some(close < open),
            (None, Some(_)) => Some(true),
            (Some(_), None) => Some(false),
            (None, None) => None,
        };
        lines.iter().find_map(closes_first).unwrap_or_default()
            || lines.first().is_some_and(|line| line.trim_start().starts_with("* "))
    }
}

/// Returns true if the language of a file is known by its name, so that its comments can be found.
pub fn has_code_lines(path: &str) -> bool {
    LineSyntax::of(path).is_some()
}

/// Returns true if a file is a program by its name, and neither data nor configuration.
pub fn is_program(path: &str) -> bool {
    let syntax = LineSyntax::of(path);
    syntax.is_some_and(|syntax| !matches!(syntax, LineSyntax::Hash | LineSyntax::Dash))
}

impl CodeLines {
    /// Reads a file; returns `None` if its language is unknown.
    pub fn of(path: &str, text: &str) -> Option<CodeLines> {
        let lines: Vec<&str> = text.lines().collect();
        LineSyntax::of(path).map(|syntax| CodeLines::read(syntax, &lines, false))
    }

    /// Reads some lines of a file, which may be cut off from those before.
    pub(crate) fn read(syntax: LineSyntax, lines: &[&str], is_cut: bool) -> CodeLines {
        let mut read = CodeLines { syntax, code: Vec::new(), comments: Vec::new() };
        let mut state = match is_cut && syntax.begins_in_comment(lines) {
            true => ScanState::BlockComment(1),
            false => ScanState::Code,
        };
        for line in lines {
            if state == ScanState::LineComment {
                state = ScanState::Code;
            }
            if let ScanState::Text { has_lines: false, .. } = state {
                state = ScanState::Code;
            }
            let (code, comment, after) = read_line(syntax, line, state);
            read.code.push(code);
            read.comments.push(comment);
            state = after;
        }
        read
    }
}

fn read_line(syntax: LineSyntax, line: &str, mut state: ScanState) -> (String, String, ScanState) {
    let (mut code, mut comment) = (String::new(), String::new());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let (taken, next) = match state {
            ScanState::Code => open(syntax, rest, &code),
            ScanState::LineComment => (rest.len(), state),
            ScanState::BlockComment(depth) => in_comment(syntax, rest, depth),
            ScanState::Text { quote, quotes, hashes, is_raw, .. } => {
                match end_of_text(rest, quote, quotes, hashes, is_raw) {
                    End::Here(taken) => (taken, ScanState::Code),
                    End::Later(taken) => (taken, state),
                }
            }
        };
        let taken = taken.clamp(c.len_utf8(), rest.len());
        let is_comment =
            |state| matches!(state, ScanState::LineComment | ScanState::BlockComment(_));
        let part = &rest[..taken];
        if is_comment(state) || is_comment(next) {
            comment.push_str(part);
        } else if state == ScanState::Code && next == ScanState::Code {
            code.push_str(part);
        } else if state == ScanState::Code {
            // The first quote of a string stays in the code.
            code.push('"');
        }
        state = next;
        rest = &rest[taken..];
    }
    (code, comment, state)
}

/// Returns the length of the next token in bytes, and the state that it opens.
fn open(syntax: LineSyntax, rest: &str, before: &str) -> (usize, ScanState) {
    let mark = syntax.line_comment();
    let is_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '$');
    if rest.starts_with(mark) && !(syntax == LineSyntax::Hash && is_word) {
        return (mark.len(), ScanState::LineComment);
    }
    if mark == "//" && rest.starts_with("/*") {
        return (2, ScanState::BlockComment(1));
    }
    let text = |quote, quotes, hashes, is_raw, has_lines| ScanState::Text {
        quote,
        quotes,
        hashes,
        is_raw,
        has_lines,
    };
    let first = rest.chars().next().unwrap_or_default();
    match (syntax, first) {
        (LineSyntax::Rust, 'r') if !before.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
            let hashes = rest[1..].len() - rest[1..].trim_start_matches('#').len();
            match rest[1 + hashes..].starts_with('"') {
                true => (2 + hashes, text('"', 1, hashes, true, true)),
                false => (1, ScanState::Code),
            }
        }
        (LineSyntax::Rust, '"') => (1, text('"', 1, 0, false, true)),
        (LineSyntax::Rust, '\'') => (quoted_letter(rest), ScanState::Code),
        (LineSyntax::Python | LineSyntax::Java, '"') if rest.starts_with("\"\"\"") => {
            (3, text('"', 3, 0, false, true))
        }
        (LineSyntax::Python, '\'') if rest.starts_with("'''") => (3, text('\'', 3, 0, false, true)),
        (LineSyntax::Go | LineSyntax::Script, '`') => {
            (1, text('`', 1, 0, syntax == LineSyntax::Go, true))
        }
        (_, quote @ ('"' | '\'')) => (1, text(quote, 1, 0, false, false)),
        _ => (first.len_utf8(), ScanState::Code),
    }
}

/// Returns the length of a quoted character, or of the quote that begins a lifetime.
fn quoted_letter(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => chars.find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

fn in_comment(syntax: LineSyntax, rest: &str, depth: usize) -> (usize, ScanState) {
    if rest.starts_with("*/") {
        let state = if depth > 1 { ScanState::BlockComment(depth - 1) } else { ScanState::Code };
        return (2, state);
    }
    if syntax == LineSyntax::Rust && rest.starts_with("/*") {
        return (2, ScanState::BlockComment(depth + 1));
    }
    (1, ScanState::BlockComment(depth))
}

/// The end of a string, as the number of bytes up to it.
enum End {
    Here(usize),
    Later(usize),
}

fn end_of_text(rest: &str, quote: char, quotes: usize, hashes: usize, is_raw: bool) -> End {
    if !is_raw && rest.starts_with('\\') {
        return End::Later(1 + rest[1..].chars().next().map_or(0, char::len_utf8));
    }
    let mut chars = rest.chars();
    let ends = chars.by_ref().take(quotes).filter(|c| *c == quote).count() == quotes
        && chars.take(hashes).filter(|c| *c == '#').count() == hashes;
    if ends { End::Here(quotes + hashes) } else { End::Later(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_separated() {
        let check = |path: &str, text: &str, code: &str, comments: &str| {
            let lines = CodeLines::of(path, text).unwrap();
            assert_eq!(
                (lines.code.join("|"), lines.comments.join("|")),
                (code.into(), comments.into())
            );
        };
        check(
            "a.rs",
            "let a = \"// no\"; // yes\n/* b\nc */ d",
            "let a = \"; || d",
            "// yes|/* b|c */",
        );
        check("a.py", "a = '#' # b\n\"\"\"\ndef c\n\"\"\"", "a = \" |\"||", "# b|||");
        check("a.kt", "val a = 1 // b", "val a = 1 ", "// b");
        check("a.sql", "select 1 -- b", "select 1 ", "-- b");
        assert!(CodeLines::of("a.txt", "// b").is_none());
        assert!(is_program("a.go") && !is_program("a.toml") && has_code_lines("a.toml"));
    }
}
