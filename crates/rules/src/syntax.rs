//! A file's syntax tree: [`Syntax`], and what can be read off it besides matches.

use assay_findings::ground::Symbol;
use assay_findings::vote::Lines;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Node};

use crate::language::{self, Language};

/// A node of a syntax tree.
pub(crate) type SyntaxNode<'t> = Node<'t, StrDoc<Language>>;

/// Code nested deeper than this is not read: nobody wrote it, and matching would not end.
const MAX_DEPTH: usize = 500;

/// A parsed file.
pub(crate) struct Syntax {
    root: AstGrep<StrDoc<Language>>,
}

impl Syntax {
    /// Parses a file in the language that it is in. A header of C may be one of C++.
    pub(crate) fn of(path: &str, text: &str) -> Option<Syntax> {
        let language = language::of(path, text)?;
        let syntax = Syntax::parse(language, text)?;
        if language != Language::C || !path.ends_with(".h") || syntax.errors() == 0 {
            return Some(syntax);
        }
        let other = Syntax::parse(Language::Cpp, text)?;
        Some(if other.errors() < syntax.errors() { other } else { syntax })
    }

    pub(crate) fn language(&self) -> Language {
        *self.root.lang()
    }

    /// Parses a text, as far as it goes.
    pub(crate) fn parse(language: Language, text: &str) -> Option<Syntax> {
        AstGrep::try_new(text, language).ok().map(|root| Syntax { root })
    }

    pub(crate) fn root(&self) -> SyntaxNode<'_> {
        self.root.root()
    }

    /// Gives every node that touches some lines, parents first. Says at the end whether it could
    /// go all the way down.
    pub(crate) fn visit<'s>(
        &'s self,
        touched: &Touched,
        mut see: impl FnMut(&SyntaxNode<'s>),
    ) -> Depth {
        let mut depth = Depth::Whole;
        let mut waiting = vec![(self.root(), 0)];
        while let Some((node, level)) = waiting.pop() {
            see(&node);
            if level == MAX_DEPTH {
                depth = Depth::Cut;
                continue;
            }
            let first = waiting.len();
            waiting.extend(
                node.children()
                    .filter(|child| touched.meets(lines_of(child)))
                    .map(|c| (c, level + 1)),
            );
            waiting[first..].reverse();
        }
        depth
    }

    /// Says whether the tree makes sense of some lines: no error stands in them.
    pub(crate) fn understands(&self, lines: &Touched) -> bool {
        let mut understood = true;
        let depth = self.visit(lines, |node| understood &= !node.is_error() && !node.is_missing());
        understood && depth == Depth::Whole
    }

    /// Counts the errors in the tree.
    pub(crate) fn errors(&self) -> usize {
        let mut errors = 0;
        self.visit(&Touched::everything(), |node| {
            errors += usize::from(node.is_error() || node.is_missing());
        });
        errors
    }

    /// Gives the named things of the file, outer ones before those in them.
    pub(crate) fn outline(&self) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = Vec::new();
        let mut around: Vec<(u32, String)> = Vec::new();
        self.visit(&Touched::everything(), |node| {
            let Some(name) = name_of(node) else { return };
            let lines = lines_of(node);
            while around.last().is_some_and(|(end, _)| *end < lines.start()) {
                around.pop();
            }
            let name = match around.last() {
                Some((_, outer)) => format!("{outer}.{name}"),
                None => name,
            };
            around.push((lines.end(), name.clone()));
            symbols.push(Symbol { name, lines });
        });
        symbols
    }

    /// Gives the functions and methods of the file.
    pub(crate) fn functions(&self) -> Vec<Symbol> {
        let mut functions = Vec::new();
        self.visit(&Touched::everything(), |node| {
            let kind = node.kind();
            let is_function =
                ["function", "method", "constructor"].iter().any(|k| kind.contains(k));
            if is_function && let Some(name) = name_of(node) {
                functions.push(Symbol { name, lines: lines_of(node) });
            }
        });
        functions
    }

    /// Gives the comments that touch some lines, each with its text.
    pub(crate) fn comments(&self, touched: &Touched) -> Vec<(Lines, String)> {
        let mut comments = Vec::new();
        self.visit(touched, |node| {
            if node.kind().contains("comment") {
                comments.push((lines_of(node), node.text().into_owned()));
            }
        });
        comments
    }
}

/// Says whether a file parses no worse after an edit than before it. A file in no language that
/// rules know cannot get worse.
pub fn parses_as_well(path: &str, before: &str, after: &str) -> bool {
    let errors = |text: &str| Some(Syntax::of(path, text)?.errors());
    if language::of(path, before).is_none() {
        return true;
    }
    errors(after).is_some_and(|after| after <= errors(before).unwrap_or(0))
}

/// Whether all of a tree was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Whole,
    /// Some of it is nested too deep.
    Cut,
}

/// Lines that matter, in order.
pub(crate) struct Touched(Vec<Lines>);

impl Touched {
    pub(crate) fn new(lines: impl IntoIterator<Item = Lines>) -> Touched {
        Touched(lines.into_iter().collect())
    }

    pub(crate) fn everything() -> Touched {
        Touched(Lines::range(1, u32::MAX).into_iter().collect())
    }

    /// Says whether some lines have any of these in them.
    pub(crate) fn meets(&self, lines: Lines) -> bool {
        let first = self.0.partition_point(|touched| touched.end() < lines.start());
        self.0.get(first).is_some_and(|touched| touched.start() <= lines.end())
    }

    /// Gives the numbers of the lines.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|lines| lines.start()..=lines.end())
    }
}

/// Gives the lines that a node stands on.
pub(crate) fn lines_of(node: &SyntaxNode<'_>) -> Lines {
    let start = node.start_pos().line() as u32 + 1;
    let end = node.end_pos();
    // A node that ends at a line's very start does not stand on it.
    let end = end.line() as u32 + u32::from(end.byte_point().1 > 0);
    Lines::range(start, end.max(start)).expect("lines are counted from 1")
}

/// Gives the name of a function, a type, or whatever else things are in.
fn name_of(node: &SyntaxNode<'_>) -> Option<String> {
    let field = match &*node.kind() {
        // Rust
        "function_item"
        | "struct_item"
        | "enum_item"
        | "union_item"
        | "trait_item"
        | "mod_item"
        | "macro_definition"
        | "function_signature_item" => "name",
        "impl_item" => "type",
        // Python, JavaScript, TypeScript, Go, Java, PHP, shell
        "function_definition"
        | "class_definition"
        | "function_declaration"
        | "generator_function_declaration"
        | "class_declaration"
        | "abstract_class_declaration"
        | "method_definition"
        | "interface_declaration"
        | "enum_declaration"
        | "internal_module"
        | "type_alias_declaration"
        | "method_declaration"
        | "type_spec"
        | "constructor_declaration"
        | "record_declaration"
        | "trait_declaration" => "name",
        // C, C++
        "struct_specifier" | "class_specifier" | "namespace_definition" | "enum_specifier" => {
            "name"
        }
        // Ruby
        "method" | "singleton_method" | "class" | "module" => "name",
        "variable_declarator" if holds_function(node) => "name",
        _ => return None,
    };
    let name = node.field(field).or_else(|| node.field("declarator").and_then(declared_name))?;
    Some(name.text().split_whitespace().collect())
}

/// Says whether a variable is a function by another name.
fn holds_function(node: &SyntaxNode<'_>) -> bool {
    node.field("value").is_some_and(|value| {
        matches!(&*value.kind(), "arrow_function" | "function_expression" | "class")
    })
}

/// Goes down to the name in what C declares, such as `*make(void)`.
fn declared_name(mut node: SyntaxNode<'_>) -> Option<SyntaxNode<'_>> {
    for _ in 0..10 {
        match node.field("declarator") {
            Some(inner) => node = inner,
            None => return Some(node),
        }
    }
    None
}
