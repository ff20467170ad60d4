//! Functions that grow too long or too deep.

use assay_findings::ground::Symbol;
use assay_findings::vote::Lines;

use super::{FileCheck, Sighting, View};
use crate::language;
use crate::syntax::{Syntax, SyntaxNode, Touched, lines_of};
use crate::wording::Wording;

/// Lines beyond which a function is told.
const MAX_LINES: u32 = 150;

/// Branches and loops inside each other beyond which a place is told.
const MAX_DEPTH: usize = 6;

pub(super) const TOO_LONG: FileCheck = FileCheck {
    wording: Wording {
        id: "shape/long-function",
        grade: "MINOR",
        category: "maintainability",
        title: "Function grew too long",
        message: "Nobody holds that much in mind at once, so the next change breaks something in it.",
        advice: "Take a part with a name of its own out into a function.",
    },
    look: long_functions,
};

pub(super) const TOO_DEEP: FileCheck = FileCheck {
    wording: Wording {
        id: "shape/deep-nesting",
        grade: "MINOR",
        category: "maintainability",
        title: "Code nested too deep",
        message: "What has to be true to get there can no longer be seen.",
        advice: "Return early, or take the inner part out into a function.",
    },
    look: deep_nesting,
};

fn long_functions(view: &View<'_>) -> Vec<Sighting> {
    if language::is_test(view.file.path()) {
        return Vec::new();
    }
    let Some(syntax) = view.syntax else { return Vec::new() };
    let functions = syntax.functions();
    let long: Vec<&Symbol> = functions.iter().filter(|f| length(f) > MAX_LINES).collect();
    if long.is_empty() {
        return Vec::new();
    }
    let before = view.before().and_then(|text| Syntax::of(view.file.path(), text));
    let before = before.map(|syntax| syntax.functions()).unwrap_or_default();
    let was_long =
        |name: &str| before.iter().any(|old| old.name == name && length(old) > MAX_LINES);
    let grown = long.into_iter().filter(|function| !was_long(&function.name));
    grown.filter_map(|function| long_function(view, function)).collect()
}

fn length(function: &Symbol) -> u32 {
    function.lines.end() - function.lines.start() + 1
}

fn long_function(view: &View<'_>, function: &Symbol) -> Option<Sighting> {
    Some(Sighting {
        file: view.file.new_path.clone(),
        lines: Some(Lines::at(view.first_added(function.lines)?)?),
        note: format!("`{}` has {} lines.", function.name, length(function)),
        subject: function.name.clone(),
    })
}

fn deep_nesting(view: &View<'_>) -> Vec<Sighting> {
    let mut seen = Vec::new();
    let Some(syntax) = view.syntax.filter(|_| !language::is_test(view.file.path())) else {
        return seen;
    };
    syntax.visit(&Touched::new(view.file.added()), |node| {
        // Each place is told once, where it gets too deep.
        if !is_branch(node) || depth(node) != MAX_DEPTH + 1 {
            return;
        }
        let Some(line) = view.first_added(lines_of(node)).and_then(Lines::at) else { return };
        seen.push(Sighting {
            file: view.file.new_path.clone(),
            lines: Some(line),
            note: format!("This stands in {MAX_DEPTH} branches and loops."),
            subject: node.text().lines().next().unwrap_or_default().split_whitespace().collect(),
        });
    });
    seen
}

fn depth(node: &SyntaxNode<'_>) -> usize {
    let around = node.ancestors().take_while(|outer| !is_function(outer));
    1 + around.filter(is_branch).count()
}

fn is_function(node: &SyntaxNode<'_>) -> bool {
    let kind = node.kind();
    kind.contains("function")
        || kind.contains("method")
        || kind.contains("lambda")
        || kind.contains("closure")
}

/// Says whether a node opens another level. An `else if` is no level of its own.
fn is_branch(node: &SyntaxNode<'_>) -> bool {
    let is_level = matches!(
        &*node.kind(),
        "if_statement"
            | "if_expression"
            | "for_statement"
            | "for_expression"
            | "for_in_statement"
            | "enhanced_for_statement"
            | "foreach_statement"
            | "while_statement"
            | "while_expression"
            | "loop_expression"
            | "do_statement"
            | "switch_statement"
            | "switch_expression"
            | "match_expression"
            | "match_statement"
            | "try_statement"
            | "with_statement"
            | "select_statement"
            | "expression_switch_statement"
            | "if"
            | "unless"
            | "while"
            | "until"
            | "for"
            | "case"
    );
    let follows_else = node.parent().is_some_and(|parent| parent.kind().contains("else"));
    is_level && node.is_named() && !follows_else
}
