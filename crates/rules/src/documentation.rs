//! Public items without documentation: [`find_undocumented`].

mod go;
mod python;
#[cfg(test)]
mod tests;

use crate::code_lines::{CodeLines, LineSyntax};
use crate::language::is_test;

/// The maximum number of lines of attributes or of a signature that are searched.
const MAX_LINES: usize = 60;

/// Consecutive lines of a source file: a whole file, or a hunk of a diff.
pub struct SourceLines<'t> {
    path: &'t str,
    lines: Vec<&'t str>,
    /// The indices of the added lines, from 0.
    pub added: Vec<usize>,
    /// True if other lines may precede these.
    pub is_cut: bool,
    read: CodeLines,
}

impl<'t> SourceLines<'t> {
    /// Reads lines; returns `None` if the language of the file is unknown.
    pub fn new(
        path: &'t str,
        lines: Vec<&'t str>,
        added: Vec<usize>,
        is_cut: bool,
    ) -> Option<SourceLines<'t>> {
        let read = CodeLines::read(LineSyntax::of(path)?, &lines, is_cut);
        Some(SourceLines { path, lines, added, is_cut, read })
    }

    /// Returns the code on a line, without the content of strings.
    fn code(&self, at: usize) -> &str {
        self.read.code.get(at).map_or("", |code| code.trim())
    }

    /// Returns the comment on a line, with its delimiters.
    pub fn comment(&self, at: usize) -> &str {
        self.read.comments.get(at).map_or("", |comment| comment.trim())
    }

    /// Returns true if a line is a comment and nothing else.
    pub fn is_comment(&self, at: usize) -> bool {
        self.code(at).is_empty() && !self.comment(at).is_empty()
    }

    /// Returns the number of bytes of white space at the start of a line.
    fn indent(&self, at: usize) -> usize {
        let line = self.lines.get(at).copied().unwrap_or_default();
        line.len() - line.trim_start().len()
    }
}

/// Returns true if the public items of a file need documentation and can be found. Items of tests
/// and of files with declarations only need none.
pub fn needs_documentation(path: &str) -> bool {
    let is_known = match LineSyntax::of(path) {
        Some(LineSyntax::Rust | LineSyntax::Python | LineSyntax::Go | LineSyntax::Script) => true,
        Some(LineSyntax::Java) => path.ends_with(".java"),
        Some(LineSyntax::Hash | LineSyntax::Dash) | None => false,
    };
    let is_declaration = path.ends_with(".pyi") || path.ends_with(".d.ts");
    is_known && !is_declaration && !is_test(path)
}

/// Returns the public items that begin on added lines and have no documentation, each with its
/// line, from 0, and its name. Documentation that may be on lines outside of the hunk is assumed to
/// exist.
pub fn find_undocumented(source: &SourceLines<'_>) -> Vec<(usize, String)> {
    if !needs_documentation(source.path) {
        return Vec::new();
    }
    let syntax = source.read.syntax;
    let is_python = syntax == LineSyntax::Python;
    let seen = if is_python { python::public_lines(source) } else { Vec::new() };
    let name_of = |at: usize| match syntax {
        LineSyntax::Rust => rust(source, at),
        LineSyntax::Python => python::undocumented_name(source, &seen, at),
        LineSyntax::Go => go::undocumented_name(source, at),
        LineSyntax::Script => script(source, at),
        LineSyntax::Java => java(source, at),
        LineSyntax::Hash | LineSyntax::Dash => None,
    };
    source.added.iter().filter_map(|at| Some((*at, name_of(*at)?))).collect()
}

/// Returns the word at the start of some code.
fn word(code: &str) -> &str {
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    &code[..end.unwrap_or(code.len())]
}

/// Removes one of some words from the start of some code; returns `None` if there is none of them.
fn without<'c>(code: &'c str, words: &[&str]) -> Option<&'c str> {
    let first = word(code);
    words.contains(&first).then(|| code[first.len()..].trim_start())
}

impl SourceLines<'_> {
    /// Returns the first line above that is not an attribute, decorator or annotation, which begin
    /// with `sign` and may take several lines.
    fn above(&self, at: usize, sign: &str) -> Option<usize> {
        let mut open = 0i32;
        let lowest = at.saturating_sub(MAX_LINES);
        for at in (lowest..at).rev() {
            let code = self.code(at);
            if code.is_empty() {
                return Some(at);
            }
            let count =
                |signs: [char; 2]| code.chars().filter(|c| signs.contains(c)).count() as i32;
            open += count([')', ']']) - count(['(', '[']);
            let is_sign = code.starts_with(sign);
            if !is_sign && open <= 0 {
                return Some(at);
            }
        }
        None
    }

    /// Returns true if the comment that ends on a line begins with one of some delimiters.
    fn is_comment_of(&self, at: usize, marks: &[&str]) -> bool {
        let begins = |at: usize| marks.iter().any(|mark| self.comment(at).starts_with(mark));
        let mut at = at;
        for _ in 0..10 * MAX_LINES {
            if !self.is_comment(at) {
                return false;
            }
            if begins(at) {
                return true;
            }
            let Some(above) = at.checked_sub(1) else { return self.is_cut };
            at = above;
        }
        true
    }

    /// Returns true if a comment with one of some delimiters is above an item and its attributes,
    /// or may be there.
    fn has_doc(&self, at: usize, sign: &str, marks: &[&str]) -> bool {
        match self.above(at, sign) {
            Some(above) => self.is_comment_of(above, marks),
            None => self.is_cut,
        }
    }
}

fn rust(source: &SourceLines<'_>, at: usize) -> Option<String> {
    let mut code = source.code(at).strip_prefix("pub ")?.trim_start();
    while let Some(rest) = without(code, &["async", "unsafe", "default", "extern"]) {
        code = rest.trim_start_matches('"').trim_start();
    }
    if let Some(rest) = without(code, &["const"])
        && word(rest) == "fn"
    {
        code = rest;
    }
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];
    let rest = without(code, &kinds)?;
    // A module in a separate file has its documentation at the top of that file.
    if word(code) == "mod" && rest.ends_with(';') {
        return None;
    }
    let above = source.above(at, "#[");
    let mut attributes = above.map_or(at.saturating_sub(MAX_LINES), |above| above + 1)..at;
    let is_documented = source.has_doc(at, "#[", &["///", "/**"])
        || attributes.any(|at| source.code(at).starts_with("#[doc"));
    (!is_documented).then(|| word(rest).to_owned())
}

fn script(source: &SourceLines<'_>, at: usize) -> Option<String> {
    let mut code = source.code(at).strip_prefix("export ")?.trim_start();
    while let Some(rest) = without(code, &["default", "declare", "async", "abstract"]) {
        code = rest;
    }
    if let Some(rest) = without(code, &["const"])
        && word(rest) == "enum"
    {
        code = rest;
    }
    let kinds =
        ["function", "class", "interface", "type", "enum", "const", "let", "var", "namespace"];
    let rest = without(code, &kinds)?;
    let name = word(rest.trim_start_matches(['*', ' ']));
    // A function with several overloads is documented once.
    let head = |at: usize| source.code(at).split_once('(').map(|(head, _)| head);
    let is_overload =
        at.checked_sub(1).is_some_and(|above| head(at).is_some() && head(above) == head(at));
    let is_documented = is_overload || source.has_doc(at, "@", &["/**"]);
    (!name.is_empty() && !is_documented).then(|| name.to_owned())
}

fn java(source: &SourceLines<'_>, at: usize) -> Option<String> {
    let mut code = without(source.code(at), &["public"])?;
    let modifiers =
        ["static", "final", "abstract", "synchronized", "default", "sealed", "strictfp", "native"];
    while let Some(rest) = without(code, &modifiers) {
        code = rest;
    }
    let kinds = ["class", "interface", "enum", "record"];
    let name = match without(code, &kinds).or_else(|| code.strip_prefix("@interface ")) {
        Some(rest) => word(rest),
        None => {
            let before = code[..code.find('(')?].trim_end();
            if before.contains('=') {
                return None;
            }
            before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?
        }
    };
    let attributes = (at.saturating_sub(MAX_LINES)..at).rev().map(|at| source.code(at));
    let mut annotations = attributes.take_while(|code| code.starts_with('@'));
    if name.is_empty() || name == "main" || annotations.any(|code| code.starts_with("@Override")) {
        return None;
    }
    let is_documented = source.has_doc(at, "@", &["/**"]);
    (!is_documented).then(|| name.to_owned())
}
