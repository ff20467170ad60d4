//! The facts of one walk over the touched part of a tree: [`TreeFacts`].

use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;

use crate::node_kinds::NodeKinds;
use crate::syntax::{Depth, LineSet, Syntax, SyntaxNode, lines_of, name_of};

/// The facts of a walk over the touched part of a tree.
#[derive(Debug, Default)]
pub(crate) struct TreeFacts {
    /// The lines of errors in the tree.
    errors: Vec<LineRange>,
    /// The lines of errors inside macros, whose tokens have their own grammar.
    macro_errors: Vec<LineRange>,
    /// True if a part is nested too deeply to be visited.
    is_cut: bool,
    /// The comments, each with its text.
    pub(crate) comments: Vec<(LineRange, String)>,
    /// The named definitions, outer ones before inner ones.
    pub(crate) symbols: Vec<Symbol>,
    /// The functions among the symbols, by their unqualified names.
    pub(crate) functions: Vec<Symbol>,
    /// The branches and loops that are nested deeply enough to be recorded.
    pub(crate) branches: Vec<Branch>,
}

/// A branch or a loop.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) lines: LineRange,
    /// The number of nested branches and loops up to the next function, including this one.
    pub(crate) depth: usize,
    pub(crate) head: String,
}

/// The minimum nesting of a branch that is recorded.
const MIN_DEPTH: usize = 7;

impl Syntax {
    /// Walks over the nodes that touch some lines. Calls `visit` with the nodes of the kinds that
    /// `wanted` accepts.
    pub(crate) fn collect_facts<'s>(
        &'s self,
        touched: &LineSet,
        wanted: impl Fn(u16) -> bool,
        mut visit: impl FnMut(&SyntaxNode<'s>),
    ) -> TreeFacts {
        let kinds = NodeKinds::of(self.language());
        let mut survey = TreeFacts::default();
        let mut levels = NestingLevels::default();
        let mut around: Vec<(u32, String)> = Vec::new();
        let is_wanted = |kind| kinds.has_meaning(kind) || wanted(kind);
        let depth = self.visit(touched, is_wanted, |node, level| {
            let kind = node.kind_id();
            if node.is_error() || node.is_missing() {
                match node.ancestors().any(|around| is_macro(&around)) {
                    true => survey.macro_errors.push(lines_of(node)),
                    false => survey.errors.push(lines_of(node)),
                }
            }
            if kinds.is_comment(kind) {
                survey.comments.push((lines_of(node), node.text().into_owned()));
            }
            if kinds.is_named(kind) {
                survey.name(node, &mut around, kinds.is_function(kind));
            }
            if kinds.is_scope(kind) || kinds.is_branch(kind) {
                survey.branch(node, level, &mut levels, kinds);
            }
            if wanted(kind) {
                visit(node);
            }
        });
        survey.is_cut = depth == Depth::Cut;
        survey
    }
}

/// Returns true if a node is a macro of Rust or the tokens of its arguments.
fn is_macro(node: &SyntaxNode<'_>) -> bool {
    matches!(&*node.kind(), "macro_definition" | "macro_invocation" | "token_tree")
}

impl TreeFacts {
    /// Returns true if the tree represents some lines correctly: no error touches them.
    pub(crate) fn represents(&self, lines: &LineSet) -> bool {
        let in_macro = self.macro_errors.iter().any(|error| lines.overlaps(*error));
        !self.is_cut && !in_macro && !self.has_error_in(lines)
    }

    /// Returns true if an error outside of macros touches or surrounds some lines.
    pub(crate) fn has_error_in(&self, lines: &LineSet) -> bool {
        self.errors.iter().any(|error| lines.overlaps(*error))
    }

    fn name(&mut self, node: &SyntaxNode<'_>, around: &mut Vec<(u32, String)>, function: bool) {
        let Some(own) = name_of(node) else { return };
        let lines = lines_of(node);
        while around.last().is_some_and(|(end, _)| *end < lines.start()) {
            around.pop();
        }
        let name = match around.last() {
            Some((_, outer)) => format!("{outer}.{own}"),
            None => own.clone(),
        };
        around.push((lines.end(), name.clone()));
        self.symbols.push(Symbol { name, lines });
        if function {
            self.functions.push(Symbol { name: own, lines });
        }
    }

    fn branch(
        &mut self,
        node: &SyntaxNode<'_>,
        level: usize,
        levels: &mut NestingLevels,
        kinds: &NodeKinds,
    ) {
        levels.leave(level);
        if kinds.is_scope(node.kind_id()) {
            levels.enter(level, 0);
            return;
        }
        // An `else if` does not count as a level.
        if node.parent().is_some_and(|parent| parent.kind().contains("else")) {
            return;
        }
        let depth = levels.depth() + 1;
        levels.enter(level, depth);
        if depth >= MIN_DEPTH {
            let head = node.text().lines().next().unwrap_or_default().split_whitespace().collect();
            self.branches.push(Branch { lines: lines_of(node), depth, head });
        }
    }
}

/// The nesting of branches during the walk, each with the level of the tree at which it was
/// entered.
#[derive(Default)]
struct NestingLevels(Vec<(usize, usize)>);

impl NestingLevels {
    /// Removes the branches that the walk has left when it reaches a level.
    fn leave(&mut self, level: usize) {
        while self.0.last().is_some_and(|(entered, _)| *entered >= level) {
            self.0.pop();
        }
    }

    fn enter(&mut self, level: usize, depth: usize) {
        self.0.push((level, depth));
    }

    fn depth(&self) -> usize {
        self.0.last().map_or(0, |(_, depth)| *depth)
    }
}
