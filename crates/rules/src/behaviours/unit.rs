//! The code around added lines, as a list of steps: [`Unit`].

use std::ops::Range;

use assay_findings::vote::LineRange;

use crate::syntax::{LineSet, Syntax, SyntaxNode, lines_of};

/// A function around added lines, or added lines outside of functions, as steps in the order of the
/// text.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) calls: Vec<Call>,
    /// The byte ranges of loop bodies.
    pub(super) loops: Vec<Range<usize>>,
    /// The byte ranges of statements that test a condition.
    pub(super) branches: Vec<Range<usize>>,
    /// The arithmetic operations.
    pub(super) arithmetic: Vec<Operation>,
    /// The assigned names, each with the byte range of its value.
    pub(super) assigned: Vec<(String, Range<usize>)>,
    /// The byte ranges of transactions that are blocks.
    pub(super) transactions: Vec<Range<usize>>,
    /// All identifiers.
    pub(super) names: Vec<String>,
    /// The annotations, name and parameters of the function, and the annotations of its class.
    pub(super) header: String,
    /// The byte offset of the unit's end.
    pub(super) end: usize,
}

/// A call of a function or method.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    /// The text before the name: `Order.objects.filter(id=1)` of
    /// `Order.objects.filter(id=1).first()`.
    pub(super) receiver: String,
    pub(super) name: String,
    /// The arguments, and the block if there is one.
    pub(super) arguments: String,
    pub(super) range: Range<usize>,
    /// True if an argument is a function or a block.
    pub(super) takes_function: bool,
    /// True if the receiver is a type, as for records in Ruby and PHP.
    pub(super) on_constant: bool,
}

/// An arithmetic operation.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) text: String,
    pub(super) operator: String,
}

const FUNCTIONS: [&str; 12] = [
    "function_item",
    "function_definition",
    "function_declaration",
    "generator_function_declaration",
    "method_definition",
    "method_declaration",
    "constructor_declaration",
    "arrow_function",
    "function_expression",
    "method",
    "singleton_method",
    "func_literal",
];

const CALLS: [&str; 8] = [
    "call_expression",
    "call",
    "method_invocation",
    "function_call_expression",
    "member_call_expression",
    "nullsafe_member_call_expression",
    "scoped_call_expression",
    "object_creation_expression",
];

const LOOPS: [&str; 12] = [
    "for_statement", "for_expression", "for_in_statement", "enhanced_for_statement",
    "foreach_statement", "while_statement", "while_expression", "loop_expression", "do_statement",
    "for", "while", "until",
];

const BRANCHES: [&str; 14] = [
    "if_statement", "if_expression", "if", "unless", "if_modifier", "unless_modifier",
    "switch_statement", "switch_expression", "match_expression", "match_statement",
    "expression_switch_statement", "ternary_expression", "conditional_expression", "conditional",
];

/// Calls that apply a function to each item of a list.
const ITERATORS: [&str; 10] = [
    "map", "forEach", "for_each", "each", "flatMap", "flat_map", "each_with_index", "filter_map",
    "collect", "array_map",
];

/// Returns the units of a file around added lines.
pub(super) fn units(syntax: &Syntax, added: &[LineRange]) -> Vec<Unit> {
    let touched = LineSet::new(added.iter().copied());
    let mut functions: Vec<SyntaxNode<'_>> = Vec::new();
    syntax.visit(
        &touched,
        |_| true,
        |node, _| {
            let is_inside = functions.last().is_some_and(|f| f.range().end >= node.range().end);
            if FUNCTIONS.contains(&&*node.kind()) && !is_inside {
                functions.push(node.clone());
            }
        },
    );
    let covered: Vec<LineRange> = functions.iter().map(lines_of).collect();
    let is_covered = |line: u32| covered.iter().any(|f| f.start() <= line && line <= f.end());
    let loose = added.iter().flat_map(|lines| lines.start()..=lines.end());
    let loose: Vec<LineRange> =
        loose.filter(|line| !is_covered(*line)).filter_map(LineRange::at).collect();
    let mut units: Vec<Unit> =
        functions.iter().map(|function| Unit::of_function(syntax, function)).collect();
    if !loose.is_empty() {
        units.push(Unit::of_lines(syntax, &LineSet::new(loose)));
    }
    units
}

impl Unit {
    fn of_function(syntax: &Syntax, function: &SyntaxNode<'_>) -> Unit {
        let range = function.range();
        let mut unit = Unit { header: header(function), end: range.end, ..Unit::default() };
        let is_inside = |node: &SyntaxNode<'_>| {
            range.start <= node.range().start && node.range().end <= range.end
        };
        let touched = LineSet::new([lines_of(function)]);
        syntax.visit(
            &touched,
            |_| true,
            |node, _| {
                if is_inside(node) {
                    unit.take(node);
                }
            },
        );
        unit
    }

    fn of_lines(syntax: &Syntax, touched: &LineSet) -> Unit {
        let mut unit = Unit { end: syntax.root().range().end, ..Unit::default() };
        syntax.visit(touched, |_| true, |node, _| unit.take(node));
        unit
    }

    fn take(&mut self, node: &SyntaxNode<'_>) {
        let kind = node.kind().into_owned();
        let kind = kind.as_str();
        if !node.is_named() {
            return;
        }
        if CALLS.contains(&kind) {
            self.take_call(node);
        } else if LOOPS.contains(&kind) {
            let body = node.field("body").unwrap_or_else(|| node.clone());
            self.loops.push(body.range());
        } else if kind == "with_statement" && starts_transaction(&head(node)) {
            self.transactions.push(node.range());
        } else if is_name(kind) {
            self.names.push(node.text().into_owned());
        }
        if BRANCHES.contains(&kind) {
            self.branches.push(node.range());
        }
        self.take_operation(node, kind);
        self.take_assignment(node);
    }

    fn take_call(&mut self, node: &SyntaxNode<'_>) {
        let Some(call) = Call::of(node) else { return };
        if call.takes_function && ITERATORS.contains(&call.name.as_str()) {
            self.loops.push(call.range.end - call.arguments.len()..call.range.end);
        }
        if call.takes_function && starts_transaction(&call.name) {
            self.transactions.push(call.range.clone());
        }
        self.calls.push(call);
    }

    fn take_operation(&mut self, node: &SyntaxNode<'_>, kind: &str) {
        let is_operation = kind.contains("binary")
            || kind.contains("augmented_assignment")
            || kind.contains("compound_assignment")
            || kind == "operator_assignment"
            || matches!(kind, "assignment_statement" | "assignment_expression");
        if !is_operation {
            return;
        }
        let operator = node.field("operator").map(|operator| operator.text().into_owned());
        let operator = operator.or_else(|| {
            node.children().find(|child| !child.is_named()).map(|child| child.text().into_owned())
        });
        let operator = operator.unwrap_or_default();
        let numeric = ["+", "-", "*", "/", "%", "//", "+=", "-=", "*=", "/="];
        let has_text = node.children().any(|child| child.kind().contains("string"));
        if numeric.contains(&operator.as_str()) && !has_text {
            self.arithmetic.push(Operation { text: node.text().into_owned(), operator });
        }
    }

    fn take_assignment(&mut self, node: &SyntaxNode<'_>) {
        let fields = [("left", "right"), ("name", "value"), ("pattern", "value")];
        for (name, value) in fields {
            let Some((name, value)) = node.field(name).zip(node.field(value)) else { continue };
            // Go assigns a list of names: `order, err := …`.
            let text = name.text();
            let first = text.split([',', ':']).next().unwrap_or("").trim();
            self.assigned.push((first.trim_start_matches("mut ").to_owned(), value.range()));
            return;
        }
    }

    /// Returns true if a range is inside one of some ranges.
    pub(super) fn is_in(ranges: &[Range<usize>], at: &Range<usize>) -> bool {
        ranges.iter().any(|range| range.start <= at.start && at.end <= range.end)
    }
}

impl Call {
    fn of(node: &SyntaxNode<'_>) -> Option<Call> {
        let receiver = ["object", "receiver", "scope"].iter().find_map(|field| node.field(field));
        let name = ["method", "name", "function", "type", "constructor"];
        let callee = name.iter().find_map(|field| node.field(field));
        // The constructor of PHP has no fields.
        let callee = callee.or_else(|| node.children().find(|child| child.kind() == "name"))?;
        let text = callee.text().into_owned();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '?' | '!' | '$');
        let start = text.char_indices().rev().take_while(|(_, c)| is_part(*c)).last();
        let name = start.map(|(at, _)| text[at..].to_owned()).unwrap_or_default();
        let before = &text[..text.len() - name.len()];
        let receiver = match receiver {
            Some(receiver) => receiver.text().into_owned(),
            None => before.trim_end_matches(['.', ':', '>', '-', '?']).to_owned(),
        };
        let range = node.range();
        let arguments = node.text()[(callee.range().end - range.start)..].to_owned();
        let is_type = receiver.starts_with(char::is_uppercase);
        Some(Call {
            takes_function: takes_function(node),
            on_constant: is_type && receiver.chars().all(|c| c.is_alphanumeric() || c == ':'),
            receiver,
            name,
            arguments,
            range,
        })
    }

    /// Returns the name at the start of a chain of calls: `Order.objects` of
    /// `Order.objects.filter(id=1).first()`.
    pub(super) fn root(&self) -> &str {
        let receiver = self.receiver.trim_start_matches("await ").trim();
        match receiver.split_once('(') {
            None => receiver,
            Some((chain, _)) => chain
                .rfind(['.', ':', '>'])
                .map_or(chain, |at| chain[..at].trim_end_matches(['.', ':', '-', '>'])),
        }
    }

    /// Returns the first argument as text.
    pub(super) fn first_argument(&self) -> &str {
        let inner = self.arguments.trim().trim_start_matches('(').trim_end_matches(')');
        inner.split(',').next().unwrap_or("").trim().trim_start_matches('&')
    }
}

fn takes_function(node: &SyntaxNode<'_>) -> bool {
    let is_function = |kind: &str| {
        FUNCTIONS.contains(&kind)
            || matches!(
                kind,
                "block"
                    | "do_block"
                    | "lambda"
                    | "lambda_expression"
                    | "closure_expression"
                    | "anonymous_function"
                    | "anonymous_function_creation_expression"
            )
    };
    if node.field("block").is_some() {
        return true;
    }
    let Some(arguments) = node.field("arguments") else { return false };
    arguments.children().any(|argument| {
        is_function(&argument.kind())
            || (&*argument.kind() == "argument"
                && argument.children().any(|inner| is_function(&inner.kind())))
    })
}

/// Returns true if a text opens a transaction, by the words of common libraries.
pub(super) fn starts_transaction(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("transaction") || text.contains("atomic") || text.contains("session.begin")
}

fn is_name(kind: &str) -> bool {
    kind.ends_with("identifier") || matches!(kind, "name" | "variable_name" | "constant" | "retry")
}

/// Returns the text of a statement before its body, without comments.
fn head(node: &SyntaxNode<'_>) -> String {
    let end = node.field("body").map_or(node.range().end, |body| body.range().start);
    let before = node.children().take_while(|child| child.range().start < end);
    let before = before.filter(|child| !child.kind().contains("comment"));
    before.map(|child| child.text().into_owned() + "\n").collect()
}

/// Returns the annotations, the name and the parameters of a function, and the annotations of its
/// class.
fn header(function: &SyntaxNode<'_>) -> String {
    let mut header = head(function);
    for around in function.ancestors() {
        let kind = around.kind().into_owned();
        if kind == "decorated_definition" {
            let decorated = around.text().into_owned();
            header.push_str(
                &decorated[..decorated.len().min(function.range().start - around.range().start)],
            );
        } else if kind == "class_declaration" {
            header.push_str(&head(&around));
        }
    }
    header
}
