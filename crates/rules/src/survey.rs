//! Everything that one walk over the touched part of a tree tells: [`Survey`].

use assay_findings::ground::Symbol;
use assay_findings::vote::Lines;

use crate::kinds::Kinds;
use crate::syntax::{Depth, Syntax, SyntaxNode, Touched, lines_of, name_of};

/// What a walk over the touched part of a tree tells.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Where the tree has errors.
    errors: Vec<Lines>,
    /// Where it has errors inside a macro, whose tokens follow a grammar of their own.
    macro_errors: Vec<Lines>,
    /// Whether some of it is nested too deep to be seen.
    is_cut: bool,
    /// The comments, each with its text.
    pub(crate) comments: Vec<(Lines, String)>,
    /// The named things, outer ones before those in them.
    pub(crate) symbols: Vec<Symbol>,
    /// The functions among them, by their own names.
    pub(crate) functions: Vec<Symbol>,
    /// The branches that stand in others: where, in how many, and their first lines.
    pub(crate) branches: Vec<Branch>,
}

/// A branch or a loop.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) lines: Lines,
    /// How many it stands in, itself included, up to the next function.
    pub(crate) depth: usize,
    pub(crate) head: String,
}

/// Branches nested less than this are of no interest to anybody.
const MIN_DEPTH: usize = 7;

impl Syntax {
    /// Walks over the nodes that touch some lines. Nodes of the kinds that `wanted` names are also
    /// handed on.
    pub(crate) fn survey<'s>(
        &'s self,
        touched: &Touched,
        wanted: impl Fn(u16) -> bool,
        mut see: impl FnMut(&SyntaxNode<'s>),
    ) -> Survey {
        let kinds = Kinds::of(self.language());
        let mut survey = Survey::default();
        let mut levels = Levels::default();
        let mut around: Vec<(u32, String)> = Vec::new();
        let is_wanted = |kind| kinds.means_something(kind) || wanted(kind);
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
                see(node);
            }
        });
        survey.is_cut = depth == Depth::Cut;
        survey
    }
}

/// Returns true if a node is a macro of Rust or the tokens that are handed to one.
fn is_macro(node: &SyntaxNode<'_>) -> bool {
    matches!(&*node.kind(), "macro_definition" | "macro_invocation" | "token_tree")
}

impl Survey {
    /// Says whether the tree makes sense of some lines: no error stands in them.
    pub(crate) fn understands(&self, lines: &Touched) -> bool {
        let in_macro = self.macro_errors.iter().any(|error| lines.meets(*error));
        !self.is_cut && !in_macro && !self.has_error_in(lines)
    }

    /// Returns true if an error outside of macros touches or surrounds some lines.
    pub(crate) fn has_error_in(&self, lines: &Touched) -> bool {
        self.errors.iter().any(|error| lines.meets(*error))
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

    fn branch(&mut self, node: &SyntaxNode<'_>, level: usize, levels: &mut Levels, kinds: &Kinds) {
        levels.leave(level);
        if kinds.is_scope(node.kind_id()) {
            levels.enter(level, 0);
            return;
        }
        // An `else if` is no level of its own.
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

/// How deep in branches the walk is, by the levels of the tree at which it got there.
#[derive(Default)]
struct Levels(Vec<(usize, usize)>);

impl Levels {
    /// Forgets what the walk has left by coming to a level.
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
