//! The assertions of a test that can fail: [`TestFacts`].

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::TestEffect;
use super::collection::{DECLARE, Test, root};
use crate::conditions::{Truth, compare, operands, split};
use crate::language::Language;
use crate::reachability::{Flow, Reach};
use crate::syntax::SyntaxNode;

/// Parts of the name of a function that asserts, in lower case.
const ASSERTIONS: [&str; 17] = [
    "assert", "expect", "should", "require.", ".raises", "t.error", "t.fatal", "t.fail", "fail",
    "panic", "verify", "check", "ensure", "must", "throws", "refute", "mock.",
];

/// Names with the same meaning in every program.
const FIXED_NAMES: [&str; 40] = [
    "True", "False", "None", "self", "this", "len", "str", "int", "float", "bool", "list", "dict",
    "tuple", "set", "range", "sorted", "sum", "min", "max", "abs", "isinstance", "type", "repr",
    "Some", "Ok", "Err", "vec", "String", "Number", "Boolean", "Array", "Object", "Math", "JSON",
    "undefined", "nil", "true", "false", "t", "format",
];

/// The assertions, assignments and calls of a file.
#[derive(Default)]
pub(super) struct TestFacts {
    assertions: Vec<Assertion>,
    assignments: Vec<Assignment>,
    functions: Vec<(Range<usize>, String)>,
    calls: Vec<usize>,
    yields: Vec<usize>,
    mentions: HashMap<String, Vec<usize>>,
}

struct Assertion {
    range: Range<usize>,
    reach: Reach,
    swallowed_by: Option<&'static str>,
    /// The names that the outcome depends on; `None` if it does not follow from the arguments.
    depends_on: Option<BTreeSet<String>>,
}

struct Assignment {
    range: Range<usize>,
    name: String,
    depends_on: BTreeSet<String>,
}

/// Returns true if a node is an assertion.
pub(super) fn is_assertion(language: Language, node: &SyntaxNode<'_>) -> bool {
    let kind = node.kind().into_owned();
    match kind.as_str() {
        "assert_statement" | "raise_statement" | "throw_statement" => true,
        "try_expression" => language == Language::Rust,
        kind if is_call(kind) => {
            let callee = callee(node);
            let lower = callee.to_lowercase();
            let is_unwrap = language == Language::Rust && lower.ends_with("unwrap");
            !DECLARE.contains(&root(&callee))
                && (is_unwrap || ASSERTIONS.iter().any(|word| lower.contains(word)))
        }
        _ => false,
    }
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "call"
            | "call_expression"
            | "macro_invocation"
            | "method_invocation"
            | "function_call_expression"
            | "member_call_expression"
            | "scoped_call_expression"
    )
}

/// Returns the text of a call before its arguments.
fn callee(node: &SyntaxNode<'_>) -> String {
    let text = node.text();
    if let Some(name) = node.field("macro") {
        return format!("{}!", name.text());
    }
    let start = node.field("arguments").map(|arguments| arguments.range().start);
    let length = start.and_then(|start| start.checked_sub(node.range().start));
    text.get(..length.unwrap_or(text.len())).unwrap_or(&text).trim().to_owned()
}

impl TestFacts {
    /// Records the facts of a node.
    pub(super) fn record(&mut self, language: Language, node: &SyntaxNode<'_>, flow: &Flow) {
        let kind = node.kind().into_owned();
        let range = node.range();
        match kind.as_str() {
            "assignment"
            | "augmented_assignment"
            | "variable_declarator"
            | "let_declaration"
            | "short_var_declaration"
            | "for_statement"
            | "for_in_clause"
            | "assignment_expression"
            | "for_in_statement"
            | "for_expression" => self.record_assignment(node),
            "yield" if language == Language::Python => self.yields.push(flow.scope_id),
            "function_definition" | "function_item" | "function_declaration" => {
                let name = node.field("name").map(|name| name.text().into_owned());
                self.functions.extend(name.map(|name| (range.clone(), name)));
            }
            _ => {}
        }
        if is_identifier(&kind) {
            self.mentions.entry(node.text().into_owned()).or_default().push(range.start);
        }
        if !flow.is_in_assertion && is_assertion(language, node) {
            self.assertions.push(Assertion {
                range: range.clone(),
                reach: flow.reach.clone(),
                swallowed_by: flow.swallowed_by,
                depends_on: dependencies(node),
            });
        }
        if is_call(&kind) && !matches!(flow.reach, Reach::Never(_)) {
            self.calls.push(range.start);
        }
    }

    fn record_assignment(&mut self, node: &SyntaxNode<'_>) {
        let left = ["left", "name", "pattern"].iter().find_map(|field| node.field(field));
        let right = ["right", "value"].iter().find_map(|field| node.field(field));
        let (Some(left), Some(right)) = (left, right) else { return };
        let is_loop = node.kind().starts_with("for");
        let end = if is_loop { right.range().end } else { node.range().end };
        let range = node.range().start..end;
        let depends_on = names_in(&right);
        for name in names_in(&left) {
            self.assignments.push(Assignment {
                range: range.clone(),
                name,
                depends_on: depends_on.clone(),
            });
        }
    }

    /// Returns the effect of a test of the file: whether it can fail.
    pub(super) fn effect(
        &self,
        language: Language,
        node: &SyntaxNode<'_>,
        test: &Test<'_>,
    ) -> TestEffect {
        let range =
            test.function.as_ref().map_or_else(|| node.range(), |function| function.range());
        let inert = |why: &str| TestEffect::Inert(why.to_owned());
        if language == Language::Python && self.yields.contains(&node.node_id()) {
            return inert("never runs: a test that yields is no test");
        }
        let has_call = self.calls.iter().any(|at| range.contains(at));
        if test.expects_failure() && has_call {
            return TestEffect::CanFail;
        }
        let fixed = self.fixed_names(&range);
        let mut reason: Option<String> = None;
        let mut has_assertion = false;
        for assertion in self.assertions.iter().filter(|it| range.contains(&it.range.start)) {
            has_assertion = true;
            match self.obstacle(assertion, &range, &fixed) {
                None => return TestEffect::CanFail,
                Some(trouble) => reason = reason.or(Some(trouble)),
            }
        }
        match (has_assertion, has_call, reason) {
            (true, _, Some(reason)) => TestEffect::Inert(reason),
            (false, true, _) => {
                TestEffect::Unclear("has no assertion that code can see".to_owned())
            }
            _ => inert("asserts nothing"),
        }
    }

    /// Returns the reason that an assertion cannot fail its test; `None` if it can.
    fn obstacle(
        &self,
        assertion: &Assertion,
        test: &Range<usize>,
        fixed: &BTreeSet<&str>,
    ) -> Option<String> {
        if let Reach::Never(why) = &assertion.reach {
            return Some(format!("asserts nothing: its assertion never runs, {why}"));
        }
        if let Some(by) = assertion.swallowed_by {
            return Some(format!("asserts nothing: {by} keeps a failure from the runner"));
        }
        let is_fixed = assertion
            .depends_on
            .as_ref()
            .is_some_and(|names| names.iter().all(|name| fixed.contains(name.as_str())));
        if is_fixed {
            return Some("asserts nothing: its assertion holds whatever the code does".to_owned());
        }
        let at = assertion.range.start;
        let unused = self.functions.iter().find(|(range, name)| {
            let is_inside = test.start < range.start && test.contains(&range.start);
            let is_around = range.contains(&at);
            let is_used = || {
                let mentions = self.mentions.get(name).map_or(&[][..], Vec::as_slice);
                mentions.iter().any(|at| test.contains(at) && !range.contains(at))
            };
            is_inside && is_around && !is_used()
        });
        unused.map(|(_, name)| format!("asserts nothing: the test never calls `{name}`"))
    }

    /// Returns the local names of a test whose values depend only on literals in the test.
    fn fixed_names(&self, test: &Range<usize>) -> BTreeSet<&str> {
        let inside = |it: &&Assignment| test.contains(&it.range.start);
        let local: Vec<&Assignment> = self.assignments.iter().filter(inside).collect();
        let is_only_compared = |name: &str| {
            let mentions = self.mentions.get(name).map_or(&[][..], Vec::as_slice);
            mentions.iter().filter(|at| test.contains(at)).all(|at| {
                local.iter().any(|it| it.range.contains(at))
                    || self.assertions.iter().any(|it| it.range.contains(at))
            })
        };
        let mut fixed: BTreeSet<&str> = FIXED_NAMES.into_iter().collect();
        // A name may depend on names that are assigned before.
        for _ in 0..4 {
            for name in local.iter().map(|it| it.name.as_str()) {
                let mut own = local.iter().filter(|it| it.name == name);
                let is_fixed =
                    own.all(|it| it.depends_on.iter().all(|on| fixed.contains(on.as_str())));
                if is_fixed && is_only_compared(name) {
                    fixed.insert(name);
                }
            }
        }
        fixed
    }
}

fn is_identifier(kind: &str) -> bool {
    matches!(
        kind,
        "identifier"
            | "this"
            | "shorthand_property_identifier"
            | "constant"
            | "name"
            | "field_identifier"
            | "instance_variable"
            | "scoped_identifier"
    )
}

/// Returns the names in a node.
fn names_in(node: &SyntaxNode<'_>) -> BTreeSet<String> {
    let leaves = node.dfs().filter(|inner| is_identifier(&inner.kind()));
    leaves.map(|leaf| leaf.text().into_owned()).collect()
}

/// Returns the names that an assertion depends on; `None` if they are unknown. Two sides with equal
/// text depend on nothing.
fn dependencies(node: &SyntaxNode<'_>) -> Option<BTreeSet<String>> {
    let kind = node.kind().into_owned();
    if kind == "assert_statement" {
        let condition = node.children().find(|child| child.is_named())?;
        // An assertion that never holds fails each run that reaches it.
        let is_failing = Truth::of_expression(&condition) == Truth::Never;
        return (!is_failing).then(|| of_operand(&condition));
    }
    let callee = callee(node);
    if !is_primitive(&callee) {
        return None;
    }
    if kind == "macro_invocation" {
        return Some(of_macro(node, &callee));
    }
    let arguments = arguments(node);
    // `expect(a).toBe(b)` has one side in its callee.
    let inner = node.dfs().skip(1).find(|it| {
        is_call(&it.kind()) && matches!(root(&self::callee(it)), "expect" | "assertThat")
    });
    let inner =
        inner.filter(|it| it.range().end <= node.field("arguments").map_or(0, |a| a.range().start));
    let sides: Vec<SyntaxNode<'_>> = match &inner {
        Some(inner) => self::arguments(inner).into_iter().chain(arguments).collect(),
        None => arguments,
    };
    if let [left, right, ..] = sides.as_slice()
        && left.text() == right.text()
    {
        return Some(BTreeSet::new());
    }
    Some(sides.iter().flat_map(of_operand).collect())
}

fn arguments<'t>(node: &SyntaxNode<'t>) -> Vec<SyntaxNode<'t>> {
    let arguments = node.field("arguments");
    arguments.map_or_else(Vec::new, |it| it.children().filter(|child| child.is_named()).collect())
}

/// Returns true if a callee belongs to a runner or a language, and asserts by its arguments alone.
fn is_primitive(callee: &str) -> bool {
    let first = root(callee);
    let last = callee.rsplit(['.', '>', ':']).next().unwrap_or(callee);
    let macros = ["assert!", "assert_eq!", "assert_ne!", "debug_assert!", "debug_assert_eq!"];
    let cases = [
        "assertEqual", "assertEquals", "assertTrue", "assertFalse", "assertIs", "assertIsNone",
        "assertIsNotNone", "assertNotEqual", "assertNotEquals", "assertSame", "assertNull",
        "assertNotNull", "assertIn", "assert_equal", "assert_true", "assert_same",
    ];
    macros.contains(&callee)
        || cases.contains(&last)
        || ["assert", "expect", "assertThat"].contains(&first) && !callee.contains("throws")
        || (first == "require" && callee.contains('.'))
}

/// Returns the names that the value of an expression depends on.
fn of_operand(node: &SyntaxNode<'_>) -> BTreeSet<String> {
    let is_decided = matches!(Truth::of_expression(node), Truth::Always | Truth::Never);
    let is_same = operands(node).is_some_and(|(left, operator, right)| {
        let is_equality =
            matches!(operator.as_str(), "==" | "===" | "is" | "!=" | "!==" | ">=" | "<=");
        is_equality && left.text().trim() == right.text().trim()
    });
    match is_decided || is_same {
        true => BTreeSet::new(),
        false => names_in(node),
    }
}

/// Returns the names that an assertion of Rust depends on.
fn of_macro(node: &SyntaxNode<'_>, callee: &str) -> BTreeSet<String> {
    let text = node.text();
    let start = text.find(['(', '[', '{']).map_or(text.len(), |at| at + 1);
    let arguments = split(text.get(start..text.len().saturating_sub(1)).unwrap_or_default());
    let is_same = match (callee.ends_with("_eq!") || callee.ends_with("_ne!"), arguments.as_slice())
    {
        (true, [left, right, ..]) => left.trim() == right.trim(),
        (false, [condition, ..]) => condition
            .split_once("==")
            .is_some_and(|(left, right)| compare(left, "==", right, true) == Truth::Always),
        _ => false,
    };
    match is_same {
        true => BTreeSet::new(),
        false => {
            let tokens = node.children().filter(|child| &*child.kind() == "token_tree");
            tokens.flat_map(|tokens| names_in(&tokens)).collect()
        }
    }
}
