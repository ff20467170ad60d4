//! The syntax tree of a file: [`Syntax`], and queries on it other than matches.

use std::ops::Range;

use assay_findings::grounding::Symbol;
use assay_findings::path::RepoPath;
use assay_findings::post::SyntaxChecker;
use assay_findings::vote::LineRange;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Node};

use crate::embedded_code;
use crate::language::{self, Language};

/// A node of a syntax tree.
pub(crate) type SyntaxNode<'t> = Node<'t, StrDoc<Language>>;

/// The maximum nesting of code that is visited: a person writes no deeper code, and matching would
/// not end.
const MAX_DEPTH: usize = 500;

/// A parsed file.
pub(crate) struct Syntax {
    root: AstGrep<StrDoc<Language>>,
}

impl Syntax {
    /// Parses a file in its language. A header of C may be one of C++.
    pub(crate) fn of(path: &str, text: &str) -> Option<Syntax> {
        let language = language::of(path, text)?;
        let syntax = Syntax::parse(language, &embedded_code::code_of(path, text)?)?;
        if language != Language::C || !path.ends_with(".h") || syntax.errors() == 0 {
            return Some(syntax);
        }
        let other = Syntax::parse(Language::Cpp, text)?;
        Some(if other.errors() < syntax.errors() { other } else { syntax })
    }

    pub(crate) fn root(&self) -> SyntaxNode<'_> {
        self.root.root()
    }

    pub(crate) fn language(&self) -> Language {
        *self.root.lang()
    }

    /// Parses a text, as far as the grammar can.
    pub(crate) fn parse(language: Language, text: &str) -> Option<Syntax> {
        AstGrep::try_new(text, language).ok().map(|root| Syntax { root })
    }

    /// Walks over the nodes that touch some lines, parents first. Calls `see` with the nodes of
    /// wanted kinds and with all errors, each with its level. Returns whether the walk reached the
    /// full depth.
    pub(crate) fn visit<'s>(
        &'s self,
        touched: &LineSet,
        is_wanted: impl Fn(u16) -> bool,
        mut see: impl FnMut(&SyntaxNode<'s>, usize),
    ) -> Depth {
        let mut depth = Depth::ChangeFacts;
        let mut level = 0;
        let mut cursor = self.root.root().get_inner_node().walk();
        loop {
            let node = cursor.node();
            let (start, end) = (node.start_position(), node.end_position());
            let mut enters = touched.overlaps(lines_between(start.row, end.row, end.column));
            if enters && (is_wanted(node.kind_id()) || node.is_error() || node.is_missing()) {
                see(&self.root.adopt(node), level);
            }
            if enters && level == MAX_DEPTH {
                depth = Depth::Cut;
                enters = false;
            }
            if enters && cursor.goto_first_child() {
                level += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return depth;
                }
                level -= 1;
            }
        }
    }

    /// Returns true if the whole file parses without an error.
    pub(crate) fn is_whole(&self) -> bool {
        !self.root.root().get_inner_node().has_error()
    }

    /// Counts the errors in the tree.
    pub(crate) fn errors(&self) -> usize {
        let mut errors = 0;
        self.visit(&LineSet::all(), |_| false, |_, _| errors += 1);
        errors
    }

    /// Returns the named definitions of the file, outer ones before inner ones.
    pub(crate) fn outline(&self) -> Vec<Symbol> {
        self.collect_facts(&LineSet::all(), |_| false, |_| {}).symbols
    }

    /// Returns the comments that touch some lines, each with its text.
    pub(crate) fn comments(&self, touched: &LineSet) -> Vec<(LineRange, String)> {
        self.collect_facts(touched, |_| false, |_| {}).comments
    }

    /// Returns the places of the texts that document a definition of Python: a text that is the first
    /// statement of its block.
    pub(crate) fn docstrings(&self) -> Vec<Range<usize>> {
        let is_docstring = |node: &SyntaxNode<'_>| {
            let statement = node.parent().filter(|own| own.kind() == "expression_statement");
            node.kind() == "string"
                && statement.is_some_and(|own| own.prev_all().all(|one| one.kind() == "comment"))
        };
        self.root().dfs().filter(is_docstring).map(|node| node.range()).collect()
    }
}

/// Returns true if a file has no more syntax errors after an edit than before. Always true for a
/// language that rules do not support.
pub fn parses_as_well(path: &str, before: &str, after: &str) -> bool {
    let errors = |text: &str| Some(Syntax::of(path, text)?.errors());
    if language::of(path, before).is_none() {
        return true;
    }
    errors(after).is_some_and(|after| after <= errors(before).unwrap_or(0))
}

/// The syntax check of texts in the languages that rules support.
#[derive(Debug, Clone, Copy, Default)]
pub struct GrammarCheck;

impl SyntaxChecker for GrammarCheck {
    fn parses(&self, path: &RepoPath, text: &str) -> Option<bool> {
        let syntax = Syntax::of(path.as_str(), text)?;
        Some(syntax.is_whole())
    }
}

/// The extent of a walk over a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    ChangeFacts,
    /// A part of the tree is nested too deeply.
    Cut,
}

/// The lines that a walk is limited to, in order.
pub(crate) struct LineSet(Vec<LineRange>);

impl LineSet {
    pub(crate) fn new(lines: impl IntoIterator<Item = LineRange>) -> LineSet {
        LineSet(lines.into_iter().collect())
    }

    pub(crate) fn all() -> LineSet {
        LineSet(LineRange::range(1, u32::MAX).into_iter().collect())
    }

    /// Returns true if some lines overlap with these.
    pub(crate) fn overlaps(&self, lines: LineRange) -> bool {
        let first = self.0.partition_point(|touched| touched.end() < lines.start());
        self.0.get(first).is_some_and(|touched| touched.start() <= lines.end())
    }

    /// Returns the numbers of the lines.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|lines| lines.start()..=lines.end())
    }
}

/// Returns the lines of a node.
pub(crate) fn lines_of(node: &SyntaxNode<'_>) -> LineRange {
    let end = node.end_pos();
    lines_between(node.start_pos().line(), end.line(), end.byte_point().1)
}

fn lines_between(start_row: usize, end_row: usize, end_column: usize) -> LineRange {
    let start = start_row as u32 + 1;
    // A node that ends at the start of a line is not on that line.
    let end = end_row as u32 + u32::from(end_column > 0);
    LineRange::range(start, end.max(start)).expect("lines are counted from 1")
}

/// Returns the name of a named definition.
pub(crate) fn name_of(node: &SyntaxNode<'_>) -> Option<String> {
    let field = match &*node.kind() {
        "impl_item" => "type",
        "variable_declarator" if !holds_function(node) => return None,
        _ => "name",
    };
    let name = node
        .field(field)
        .or_else(|| node.field("declarator").and_then(declared_name))
        .or_else(|| unmarked_name(node))?;
    Some(name.text().split_whitespace().collect())
}

/// Returns true if a variable holds a function or a class.
fn holds_function(node: &SyntaxNode<'_>) -> bool {
    node.field("value").is_some_and(|value| {
        matches!(&*value.kind(), "arrow_function" | "function_expression" | "class")
    })
}

/// Returns the name of a declaration of Kotlin, which has no field for it.
pub(crate) fn unmarked_name<'t>(node: &SyntaxNode<'t>) -> Option<SyntaxNode<'t>> {
    if *node.lang() != Language::Kotlin {
        return None;
    }
    let variable = node.children().find(|child| &*child.kind() == "variable_declaration");
    let declaration = variable.unwrap_or_else(|| node.clone());
    let is_name =
        |child: &SyntaxNode<'_>| matches!(&*child.kind(), "simple_identifier" | "type_identifier");
    declaration.children().find(is_name)
}

/// Descends to the name in a declaration of C, such as `*make(void)`.
fn declared_name(mut node: SyntaxNode<'_>) -> Option<SyntaxNode<'_>> {
    for _ in 0..10 {
        match node.field("declarator") {
            Some(inner) => node = inner,
            None => return Some(node),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: Option<bool>) {
        let path = RepoPath::exact(path).unwrap();
        assert_eq!(GrammarCheck.parses(&path, text), expected, "{text}");
    }

    #[test]
    fn text_with_a_syntax_error_does_not_parse() {
        check("a.rs", "fn main() {}\n", Some(true));
        check("a.rs", "fn main() {\n", Some(false));
        check("a.py", "def f(:\n", Some(false));
        check("a.h", "class A { public: int b; };\n", Some(true));
        check("a.txt", "fn main() {\n", None);
    }
}
