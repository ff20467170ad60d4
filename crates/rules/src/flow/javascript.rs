//! Lowering of JavaScript and TypeScript into the common form.
//!
//! The functions of a module belong to a class without a name, and the statements of the module are
//! its function `<module>`. A parameter without a type has its own name as its type, so that
//! patterns can name conventional parameters such as `req`. A module of the repository has its path
//! as its name, with a slash in front; characters of other modules that are not part of names become
//! `_`, as in `fs_promises`.

use std::collections::HashMap;
use std::rc::Rc;

mod definitions;
mod expressions;
mod imports;

use self::definitions::{Exports, LoweredFile};
use self::expressions::{lower_closure, lower_expr};
use self::imports::{imports, is_import};
use super::form::{Case, Expr, FlowClass, FlowFunction, FlowParameter, LoopForm, Node, Step};
use super::lowering::{MAX_LOWERING_DEPTH, calls_in, line_of, named_children, node, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The name of the function that holds the statements of a module.
const MODULE: &str = "<module>";

/// Lowers the functions and classes of a file. Returns them with the dotted names of its imports.
pub(super) fn lower(syntax: &Syntax, path: &str) -> (Vec<FlowClass>, HashMap<String, String>) {
    let root = syntax.root();
    let imports = imports(&root, path);
    let mut file = LoweredFile { module: FlowClass::default(), classes: Vec::new() };
    let mut steps = Vec::new();
    for child in named_children(&root) {
        if !file.add_definition(&child) {
            steps.extend(lower_step(&child, 0));
        }
    }
    let lines = lines_of(&root);
    file.module.functions.push(Rc::new(FlowFunction {
        name: MODULE.to_owned(),
        class: String::new(),
        parameters: Vec::new(),
        decorators: Vec::new(),
        is_constructor: false,
        is_exported: false,
        has_defaults: false,
        body: steps,
        lines: (lines.start(), lines.end()),
        calls: calls_in(&root, "call_expression", "function"),
    }));
    file.classes.push(file.module);
    let exports = Exports::of(&root);
    for function in file.classes.iter_mut().flat_map(|class| &mut class.functions) {
        if let Some(function) = Rc::get_mut(function) {
            function.is_exported &= exports.contains(function);
        }
    }
    (file.classes, imports)
}

fn lower_body(body: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    match &*body.kind() {
        "statement_block" => lower_block(body, level),
        _ => vec![Step::Return(Some(lower_expr(body, level + 1)))],
    }
}

fn lower_block(block: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    named_children(block).iter().flat_map(|child| lower_step(child, level + 1)).collect()
}

fn lower_step(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    let children = named_children(step);
    let first = || children.first().map(|inner| lower_expr(inner, level + 1));
    let field = |name: &str| step.field(name).map(|inner| lower_expr(&inner, level + 1));
    let steps = |name: &str| {
        step.field(name).map(|inner| lower_step(&inner, level + 1)).unwrap_or_default()
    };
    match &*step.kind() {
        "statement_block" => vec![Step::Block(lower_block(step, level))],
        "lexical_declaration" | "variable_declaration" => {
            children.iter().flat_map(|own| lower_declarator(own, level)).collect()
        }
        "return_statement" => vec![Step::Return(first())],
        "throw_statement" => vec![Step::Throw(first())],
        "break_statement" => vec![Step::Break],
        "continue_statement" => vec![Step::Continue],
        "if_statement" => {
            let Some(condition) = field("condition") else { return Vec::new() };
            let (then, otherwise) = (steps("consequence"), steps("alternative"));
            vec![Step::Branch { condition, then, otherwise }]
        }
        "else_clause" | "labeled_statement" => {
            children.iter().flat_map(|inner| lower_step(inner, level + 1)).collect()
        }
        "for_statement" | "while_statement" | "do_statement" => {
            vec![Step::Loop(Box::new(LoopForm {
                start: steps("initializer"),
                element: None,
                condition: step.field("condition").and_then(|own| lower_condition(&own, level)),
                update: field("increment").into_iter().map(Step::Evaluate).collect(),
                body: steps("body"),
                runs_first: &*step.kind() == "do_statement",
            }))]
        }
        "for_in_statement" => lower_for_in(step, level),
        "switch_statement" => lower_switch(step, level),
        "try_statement" => {
            let handlers = step.field("handler").and_then(|handler| handler.field("body"));
            let finally = step.field("finalizer").and_then(|clause| clause.field("body"));
            let block = |own: SyntaxNode<'_>| lower_block(&own, level + 1);
            vec![Step::Try {
                body: step.field("body").map(block).unwrap_or_default(),
                handlers: handlers.map(block).into_iter().collect(),
                finally: finally.map(block).unwrap_or_default(),
            }]
        }
        // A nested function may run at any time.
        "function_declaration" | "generator_function_declaration" => {
            vec![Step::Evaluate(node(step, lower_closure(step, level)))]
        }
        "import_statement"
        | "interface_declaration"
        | "type_alias_declaration"
        | "class_declaration"
        | "empty_statement" => Vec::new(),
        _ => children.iter().map(|inner| Step::Evaluate(lower_expr(inner, level + 1))).collect(),
    }
}

/// Lowers the condition of a loop, which some grammars wrap in a statement.
fn lower_condition(condition: &SyntaxNode<'_>, level: usize) -> Option<Node> {
    match &*condition.kind() {
        "expression_statement" => {
            named_children(condition).first().map(|inner| lower_expr(inner, level + 1))
        }
        "empty_statement" => None,
        _ => Some(lower_expr(condition, level + 1)),
    }
}

fn lower_declarator(declarator: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let Some(target) = declarator.field("name") else { return Vec::new() };
    // The names of an import stand for their module.
    if declarator.field("value").is_some_and(|value| is_import(&value)) {
        return Vec::new();
    }
    let value = declarator.field("value").map(|value| lower_expr(&value, level + 1));
    if &*target.kind() == "identifier" {
        let type_name = declarator.field("type").map(|own| type_name(&own));
        return vec![Step::Declare { name: text_of(&target), type_name, value }];
    }
    let name = format!("<{}>", target.range().start);
    let mut steps = vec![Step::Declare { name: name.clone(), type_name: None, value }];
    steps.extend(take_apart(&target, &|| node(&target, Expr::Name(name.clone())), level));
    steps
}

fn lower_for_in(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let (Some(left), Some(right)) = (step.field("left"), step.field("right")) else {
        return Vec::new();
    };
    let (target, mut body) = match &*left.kind() {
        "identifier" => (lower_expr(&left, level + 1), Vec::new()),
        _ => {
            let name = format!("<{}>", left.range().start);
            let value = || node(&left, Expr::Name(name.clone()));
            (value(), take_apart(&left, &value, level))
        }
    };
    body.extend(step.field("body").map(|own| lower_step(&own, level + 1)).unwrap_or_default());
    vec![Step::Loop(Box::new(LoopForm {
        start: Vec::new(),
        element: Some((target, None, lower_expr(&right, level + 1))),
        condition: None,
        update: Vec::new(),
        body,
        runs_first: false,
    }))]
}

fn lower_switch(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let Some(subject) = step.field("value") else { return Vec::new() };
    let clauses = step.field("body").map(|body| named_children(&body)).unwrap_or_default();
    let cases = clauses.iter().map(|clause| {
        let label = clause.field("value").map(|value| lower_expr(&value, level + 1));
        let body = clause.field_children("body").collect::<Vec<_>>();
        let body = body.iter().flat_map(|inner| lower_step(inner, level + 1)).collect();
        Case { labels: label.into_iter().collect(), body }
    });
    let cases = cases.collect();
    let subject = lower_expr(&subject, level + 1);
    vec![Step::Switch { subject, cases, falls_through: true }]
}

/// Returns the parameters of a function, and the steps that take parameters apart.
fn lower_parameters(definition: &SyntaxNode<'_>) -> (Vec<FlowParameter>, Vec<Step>) {
    let written = match (definition.field("parameter"), definition.field("parameters")) {
        (Some(only), _) => vec![only],
        (None, Some(list)) => named_children(&list),
        (None, None) => Vec::new(),
    };
    let mut steps = Vec::new();
    let lower = |parameter: &SyntaxNode<'_>| {
        let pattern = match &*parameter.kind() {
            "required_parameter" | "optional_parameter" => parameter.field("pattern"),
            "assignment_pattern" => parameter.field("left"),
            _ => None,
        };
        let pattern = pattern.unwrap_or_else(|| parameter.clone());
        let name = match &*pattern.kind() {
            "identifier" => text_of(&pattern),
            _ => {
                let name = format!("<{}>", pattern.range().start);
                let value = || node(&pattern, Expr::Name(name.clone()));
                steps.extend(take_apart(&pattern, &value, 0));
                name
            }
        };
        let written = parameter.field("type").map(|own| type_name(&own));
        FlowParameter {
            type_name: written.or_else(|| Some(name.clone())),
            name,
            annotations: Vec::new(),
            line: line_of(parameter),
            span: parameter.range(),
        }
    };
    let parameters = written.iter().map(lower).collect();
    (parameters, steps)
}

/// Returns the simple name of a type annotation.
fn type_name(annotation: &SyntaxNode<'_>) -> String {
    let text = text_of(annotation);
    let text = text.trim_start_matches(':');
    let text = text.split(['<', '[', '|', '&']).next().unwrap_or(text);
    text.rsplit('.').next().unwrap_or(text).to_owned()
}

/// Returns the assignments of a destructuring pattern.
fn take_apart(pattern: &SyntaxNode<'_>, value: &dyn Fn() -> Node, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(pattern, Expr::Unread))];
    }
    let assign = |part: &SyntaxNode<'_>, own: &dyn Fn() -> Node| match &*part.kind() {
        "object_pattern" | "array_pattern" => take_apart(part, own, level + 1),
        "assignment_pattern" | "object_assignment_pattern" => {
            let left = part.field("left").map(|left| text_of(&left)).unwrap_or_default();
            vec![Step::Declare { name: left, type_name: None, value: Some(own()) }]
        }
        _ => vec![Step::Declare { name: text_of(part), type_name: None, value: Some(own()) }],
    };
    let mut steps = Vec::new();
    for part in named_children(pattern) {
        let field = |name: &str| node(&part, Expr::Field(Box::new(value()), name.to_owned()));
        match &*part.kind() {
            "shorthand_property_identifier_pattern" => {
                steps.extend(assign(&part, &|| field(&text_of(&part))));
            }
            "object_assignment_pattern" => {
                let name = part.field("left").map(|left| text_of(&left)).unwrap_or_default();
                steps.extend(assign(&part, &|| field(&name)));
            }
            "pair_pattern" => {
                let (Some(key), Some(target)) = (part.field("key"), part.field("value")) else {
                    continue;
                };
                let key = text_of(&key).trim_matches(['"', '\'']).to_owned();
                steps.extend(assign(&target, &|| field(&key)));
            }
            "rest_pattern" => {
                let name = text_of(&part).trim_start_matches('.').to_owned();
                steps.push(Step::Declare { name, type_name: None, value: Some(value()) });
            }
            _ => {
                let element = || node(&part, Expr::Mixed(vec![value()]));
                steps.extend(assign(&part, &element));
            }
        }
    }
    steps
}
