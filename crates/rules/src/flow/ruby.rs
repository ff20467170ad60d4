//! Lowering of Ruby into the common form.
//!
//! The methods of a file outside of classes belong to a class without a name, and its other
//! statements are its method `<file>`. A name that is no variable is a call without arguments,
//! such as `params`. The last statement of a method is its result.

mod expressions;

use std::collections::HashMap;
use std::rc::Rc;

use self::expressions::lower_expr;
use super::form::{
    Case, Expr, FlowClass, FlowField, FlowFunction, FlowParameter, LoopForm, Node, Step,
};
use super::lowering::{MAX_LOWERING_DEPTH, line_of, named_children, node, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The name of the method that holds the statements of a file.
const FILE: &str = "<file>";

/// Lowers the methods and classes of a file.
pub(super) fn lower(syntax: &Syntax) -> (Vec<FlowClass>, HashMap<String, String>) {
    let root = syntax.root();
    let mut file = LoweredFile { classes: vec![FlowClass::default()] };
    let steps = file.lower_members(&root, 0, 0);
    let lines = lines_of(&root);
    file.classes[0].functions.push(Rc::new(FlowFunction {
        name: FILE.to_owned(),
        class: String::new(),
        parameters: Vec::new(),
        decorators: Vec::new(),
        is_constructor: false,
        is_exported: false,
        has_defaults: false,
        body: steps,
        lines: (lines.start(), lines.end()),
        calls: calls_in(&root),
    }));
    (file.classes, HashMap::new())
}

/// The definitions of a file; the first class is the file itself.
struct LoweredFile {
    classes: Vec<FlowClass>,
}

impl LoweredFile {
    /// Adds the definitions below a node to a class, and returns the other statements.
    fn lower_members(&mut self, parent: &SyntaxNode<'_>, owner: usize, level: usize) -> Vec<Step> {
        if level > MAX_LOWERING_DEPTH {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for child in named_children(parent) {
            match &*child.kind() {
                "method" | "singleton_method" => {
                    let function = lower_method(&child, &self.classes[owner].name);
                    self.classes[owner].functions.push(Rc::new(function));
                }
                "class" | "module" => steps.extend(self.lower_class(&child, level)),
                "singleton_class" => {
                    if let Some(body) = child.field("body") {
                        steps.extend(self.lower_members(&body, owner, level + 1));
                    }
                }
                // `private def name` defines a method, too.
                "call" if has_method(&child) => {
                    if let Some(list) = child.field("arguments") {
                        steps.extend(self.lower_members(&list, owner, level + 1));
                    }
                }
                _ => {
                    self.classes[owner].fields.extend(constant_field(&child));
                    steps.extend(lower_step(&child, 0));
                }
            }
        }
        steps
    }

    fn lower_class(&mut self, definition: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
        let (Some(name), Some(body)) = (definition.field("name"), definition.field("body")) else {
            return Vec::new();
        };
        let parent = definition.field("superclass");
        let parent = parent.and_then(|own| named_children(&own).into_iter().next());
        self.classes.push(FlowClass {
            name: last_name(&name),
            supertypes: parent.iter().map(last_name).collect(),
            ..FlowClass::default()
        });
        let at = self.classes.len() - 1;
        self.lower_members(&body, at, level + 1)
    }
}

fn has_method(call: &SyntaxNode<'_>) -> bool {
    let list = call.field("arguments").map(|list| named_children(&list));
    list.unwrap_or_default().iter().any(|own| own.kind().ends_with("method"))
}

/// Returns a name without its modules.
fn last_name(name: &SyntaxNode<'_>) -> String {
    let text = text_of(name);
    text.rsplit("::").next().unwrap_or(&text).to_owned()
}

fn constant_field(statement: &SyntaxNode<'_>) -> Option<FlowField> {
    let name = statement.field("left").filter(|own| &*own.kind() == "constant")?;
    let value = statement.field("right").map(|own| lower_expr(&own, 0));
    Some(FlowField { name: text_of(&name), type_name: None, value })
}

// ---- methods

fn lower_method(definition: &SyntaxNode<'_>, class: &str) -> FlowFunction {
    let name = definition.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let body = definition.field("body");
    let lines = lines_of(definition);
    FlowFunction {
        is_constructor: name == "initialize",
        is_exported: !is_hidden(definition),
        name,
        class: class.to_owned(),
        parameters: parameters(definition),
        decorators: Vec::new(),
        has_defaults: true,
        calls: body.as_ref().map(calls_in).unwrap_or_default(),
        body: body.map(|body| lower_result(&body, 0)).unwrap_or_default(),
        lines: (lines.start(), lines.end()),
    }
}

/// Returns true for a method below `private` or `protected`, or behind one of these words.
fn is_hidden(definition: &SyntaxNode<'_>) -> bool {
    let is_word = |text: &str| matches!(text, "private" | "protected" | "private_class_method");
    let behind = definition.parent().and_then(|list| list.parent());
    let behind = behind.and_then(|call| call.field("method"));
    let is_behind = behind.is_some_and(|word| is_word(&word.text()));
    let is_marker = |own: &SyntaxNode<'_>| &*own.kind() == "identifier" && is_word(&own.text());
    is_behind || definition.prev_all().any(|own| is_marker(&own))
}

fn parameters(definition: &SyntaxNode<'_>) -> Vec<FlowParameter> {
    let list = definition.field("parameters").map(|list| named_children(&list));
    let lower = |parameter: &SyntaxNode<'_>| {
        let name = match parameter.field("name") {
            Some(name) => text_of(&name),
            None => text_of(parameter),
        };
        FlowParameter {
            type_name: Some(name.clone()),
            name,
            annotations: Vec::new(),
            line: line_of(parameter),
            span: parameter.range(),
        }
    };
    list.unwrap_or_default().iter().map(lower).collect()
}

/// Returns the names of the methods that code calls; a bare name may be a call.
fn calls_in(code: &SyntaxNode<'_>) -> Vec<String> {
    let mut names: Vec<String> = code
        .dfs()
        .filter_map(|own| match &*own.kind() {
            "call" => own.field("method").map(|name| text_of(&name)),
            "identifier" => Some(text_of(&own)),
            _ => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

// ---- statements

/// Lowers the statements of a method, whose last one is the result.
fn lower_result(body: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let steps = match &*body.kind() {
        "body_statement" | "block_body" | "begin" | "then" | "else" => lower_body(body, level),
        _ => lower_step(body, level),
    };
    returned(steps)
}

/// Turns the last step into the result.
fn returned(mut steps: Vec<Step>) -> Vec<Step> {
    let Some(last) = steps.pop() else { return steps };
    steps.push(match last {
        Step::Evaluate(value) => Step::Return(Some(value)),
        Step::Branch { condition, then, otherwise } => {
            Step::Branch { condition, then: returned(then), otherwise: returned(otherwise) }
        }
        Step::Block(inner) => Step::Block(returned(inner)),
        Step::Try { body, handlers, finally } => {
            let handlers = handlers.into_iter().map(returned).collect();
            Step::Try { body: returned(body), handlers, finally }
        }
        Step::Switch { subject, cases, falls_through } => {
            let own = |case: Case| Case { labels: case.labels, body: returned(case.body) };
            let cases = cases.into_iter().map(own).collect();
            Step::Switch { subject, cases, falls_through }
        }
        other => other,
    });
    steps
}

/// Lowers the statements of a body with its handlers.
fn lower_body(body: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let children = named_children(body);
    let (mut steps, mut handlers, mut finally) = (Vec::new(), Vec::new(), Vec::new());
    for child in &children {
        match &*child.kind() {
            "rescue" => {
                let own = child.field("body").map(|own| lower_body(&own, level + 1));
                handlers.push(own.unwrap_or_default());
            }
            "ensure" => finally.extend(lower_body(child, level + 1)),
            "else" => steps.extend(lower_body(child, level + 1)),
            _ => steps.extend(lower_step(child, level + 1)),
        }
    }
    if handlers.is_empty() && finally.is_empty() {
        return steps;
    }
    vec![Step::Try { body: steps, handlers, finally }]
}

fn lower_step(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    let expr = |own: &SyntaxNode<'_>| lower_expr(own, level + 1);
    let block = |field: &str| {
        step.field(field).map(|own| lower_branch(&own, level + 1)).unwrap_or_default()
    };
    let condition = || step.field("condition").map(|own| expr(&own));
    let negated = || condition().map(|own| node(step, Expr::Not(Box::new(own))));
    let branch = |condition: Option<Node>, then: Vec<Step>, otherwise: Vec<Step>| match condition {
        Some(condition) => vec![Step::Branch { condition, then, otherwise }],
        None => Vec::new(),
    };
    match &*step.kind() {
        "if" | "elsif" => branch(condition(), block("consequence"), block("alternative")),
        "unless" => branch(negated(), block("consequence"), block("alternative")),
        "if_modifier" => branch(condition(), block("body"), Vec::new()),
        "unless_modifier" => branch(negated(), block("body"), Vec::new()),
        "while" | "while_modifier" | "until" | "until_modifier" => {
            let is_until = step.kind().starts_with("until");
            vec![Step::Loop(Box::new(LoopForm {
                start: Vec::new(),
                element: None,
                condition: if is_until { negated() } else { condition() },
                update: Vec::new(),
                body: block("body"),
                runs_first: false,
            }))]
        }
        "for" => {
            let values = step.field("value").and_then(|own| named_children(&own).pop());
            let (Some(target), Some(values)) = (step.field("pattern"), values) else {
                return Vec::new();
            };
            vec![Step::Loop(Box::new(LoopForm {
                start: Vec::new(),
                element: Some((expr(&target), None, expr(&values))),
                condition: None,
                update: Vec::new(),
                body: block("body"),
                runs_first: false,
            }))]
        }
        "case" => lower_case(step, level),
        "begin" => lower_body(step, level),
        "parenthesized_statements" | "do" | "then" | "else" => lower_body(step, level),
        "return" => {
            let list = step.children().find(|own| &*own.kind() == "argument_list");
            let value = list.and_then(|list| named_children(&list).into_iter().next());
            vec![Step::Return(value.map(|own| expr(&own)))]
        }
        "break" => vec![Step::Break],
        "next" => vec![Step::Continue],
        "method" | "singleton_method" | "class" | "module" | "alias" | "undef" => Vec::new(),
        "rescue_modifier" => {
            step.field("body").map(|own| lower_step(&own, level + 1)).unwrap_or_default()
        }
        // Both sides of `or` and `and` may be statements that end the method.
        "binary" if is_control(step) => {
            let (Some(left), Some(right)) = (step.field("left"), step.field("right")) else {
                return Vec::new();
            };
            let left = expr(&left);
            let steps = lower_step(&right, level + 1);
            let is_or =
                step.field("operator").is_some_and(|own| matches!(&*own.text(), "or" | "||"));
            let (then, otherwise) = if is_or { (Vec::new(), steps) } else { (steps, Vec::new()) };
            vec![Step::Branch { condition: left, then, otherwise }]
        }
        _ => {
            let value = expr(step);
            // A call without arguments and parentheses looks like a variable.
            let raises = matches!(
                &value.expr,
                Expr::Call { receiver: None, name, .. } | Expr::Name(name)
                    if matches!(&**name, "raise" | "fail" | "exit" | "abort" | "halt")
            );
            vec![if raises { Step::Throw(Some(value)) } else { Step::Evaluate(value) }]
        }
    }
}

fn is_control(step: &SyntaxNode<'_>) -> bool {
    let right = step.field("right").map(|own| own.kind().into_owned());
    matches!(right.as_deref(), Some("return" | "next" | "break"))
}

/// Lowers a branch, which may be a single statement.
fn lower_branch(branch: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    match &*branch.kind() {
        "then" | "else" | "do" => lower_body(branch, level),
        _ => lower_step(branch, level),
    }
}

fn lower_case(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let subject = match step.field("value") {
        Some(subject) => lower_expr(&subject, level + 1),
        None => node(step, Expr::Opaque(Vec::new())),
    };
    let children = named_children(step);
    let clauses = children.iter().filter(|own| matches!(&*own.kind(), "when" | "else"));
    let cases = clauses.map(|clause| match &*clause.kind() {
        "when" => Case {
            labels: clause
                .field_children("pattern")
                .map(|own| lower_expr(&own, level + 1))
                .collect(),
            body: clause.field("body").map(|own| lower_body(&own, level + 1)).unwrap_or_default(),
        },
        _ => Case { labels: Vec::new(), body: lower_body(clause, level + 1) },
    });
    vec![Step::Switch { subject, cases: cases.collect(), falls_through: false }]
}
