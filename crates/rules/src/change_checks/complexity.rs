//! Functions that grow too long or too deep.

use std::collections::BTreeMap;

use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;

use super::{ChangedFile, CheckMatch, FileCheck};
use crate::language;
use crate::rule_text::RuleText;
use crate::syntax::LineSet;
use crate::tree_facts::Branch;

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
    let before = view.before_syntax();
    let everything = LineSet::all();
    let before =
        before.map(|syntax| syntax.collect_facts(&everything, |_| false, |_| {}).functions);
    let before = before.unwrap_or_default();
    let was_long =
        |name: &str| before.iter().any(|old| old.name == name && length(old) > MAX_LINES);
    // A function that is long because of a long function inside it is not reported as well.
    let own_length = |function: &Symbol| {
        let inner = long.iter().filter(|inner| is_inside(inner.lines, function.lines));
        length(function).saturating_sub(inner.map(|inner| length(inner)).max().unwrap_or(0))
    };
    let is_grown =
        |function: &&&Symbol| !was_long(&function.name) && own_length(function) > MAX_LINES;
    let grown = long.iter().filter(is_grown);
    grown.filter_map(|function| long_function(view, function)).collect()
}

fn is_inside(inner: LineRange, outer: LineRange) -> bool {
    inner != outer && outer.start() <= inner.start() && inner.end() <= outer.end()
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

/// Reports each function once, at its first place that is nested too deep.
fn deep_nesting(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let Some(tree_facts) = view.tree_facts.filter(|_| !language::is_test(view.file.path())) else {
        return Vec::new();
    };
    // A place counts at the level that exceeds the limit, not again at each level below.
    let deep = tree_facts.branches.iter().filter(|branch| branch.depth == MAX_DEPTH + 1);
    let mut places: BTreeMap<Option<&str>, Vec<(u32, &Branch)>> = BTreeMap::new();
    for branch in deep {
        if let Some(line) = view.first_added(branch.lines) {
            let function = enclosing_symbol(&tree_facts.symbols, branch.lines);
            places.entry(function).or_default().push((line, branch));
        }
    }
    places.into_values().filter_map(|places| deep_function(view, &places)).collect()
}

/// Returns the name of the innermost definition around some lines, which may be a variable that
/// holds a function.
fn enclosing_symbol(symbols: &[Symbol], lines: LineRange) -> Option<&str> {
    let around = symbols.iter().filter(|symbol| is_inside(lines, symbol.lines));
    around.min_by_key(|symbol| length(symbol)).map(|symbol| symbol.name.as_str())
}

fn deep_function(view: &ChangedFile<'_>, places: &[(u32, &Branch)]) -> Option<CheckMatch> {
    let (line, branch) = places.first()?;
    let others = match places.len() - 1 {
        0 => String::new(),
        1 => " Another place of the function is as deep.".to_owned(),
        count => format!(" {count} other places of the function are as deep."),
    };
    Some(CheckMatch {
        file: view.file.new_path.clone(),
        lines: Some(LineRange::at(*line)?),
        note: format!("This stands in {MAX_DEPTH} branches and loops.{others}"),
        subject: branch.head.clone(),
    })
}
