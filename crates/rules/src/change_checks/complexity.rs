//! Functions that grow too long or too deep.

use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;

use super::{ChangedFile, CheckMatch, FileCheck};
use crate::language;
use crate::rule_text::RuleText;
use crate::syntax::{LineSet, Syntax};

/// The maximum number of lines of a function.
const MAX_LINES: u32 = 150;

/// The maximum nesting of branches and loops.
const MAX_DEPTH: usize = 6;

pub(super) const TOO_LONG: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "shape/long-function",
        grade: "MINOR",
        category: "maintainability",
        title: "Function grew too long",
        message: "A function of this length is hard to understand, so the next change is likely to \
                  break it.",
        advice: "Extract a part with its own purpose into a function.",
    },
    find: long_functions,
};

pub(super) const TOO_DEEP: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "shape/deep-nesting",
        grade: "MINOR",
        category: "maintainability",
        title: "Code nested too deep",
        message: "The conditions under which this code runs are hard to see.",
        advice: "Return early, or extract the inner part into a function.",
    },
    find: deep_nesting,
};

fn long_functions(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    if language::is_test(view.file.path()) {
        return Vec::new();
    }
    let Some(tree_facts) = view.tree_facts else { return Vec::new() };
    let long: Vec<&Symbol> =
        tree_facts.functions.iter().filter(|f| length(f) > MAX_LINES).collect();
    if long.is_empty() {
        return Vec::new();
    }
    let before = view.before().and_then(|text| Syntax::of(view.file.path(), text));
    let everything = LineSet::all();
    let before =
        before.map(|syntax| syntax.collect_facts(&everything, |_| false, |_| {}).functions);
    let before = before.unwrap_or_default();
    let was_long =
        |name: &str| before.iter().any(|old| old.name == name && length(old) > MAX_LINES);
    let grown = long.into_iter().filter(|function| !was_long(&function.name));
    grown.filter_map(|function| long_function(view, function)).collect()
}

fn length(function: &Symbol) -> u32 {
    function.lines.end() - function.lines.start() + 1
}

fn long_function(view: &ChangedFile<'_>, function: &Symbol) -> Option<CheckMatch> {
    Some(CheckMatch {
        file: view.file.new_path.clone(),
        lines: Some(LineRange::at(view.first_added(function.lines)?)?),
        note: format!("`{}` has {} lines.", function.name, length(function)),
        subject: function.name.clone(),
    })
}

fn deep_nesting(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let tree_facts = view.tree_facts.filter(|_| !language::is_test(view.file.path()));
    let branches = tree_facts.map_or(&[][..], |tree_facts| &tree_facts.branches);
    // Each place is reported once, at the level that exceeds the limit.
    let deep = branches.iter().filter(|branch| branch.depth == MAX_DEPTH + 1);
    let seen = deep.filter_map(|branch| {
        Some(CheckMatch {
            file: view.file.new_path.clone(),
            lines: Some(LineRange::at(view.first_added(branch.lines)?)?),
            note: format!("This stands in {MAX_DEPTH} branches and loops."),
            subject: branch.head.clone(),
        })
    });
    seen.collect()
}
