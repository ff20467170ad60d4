//! Lowering of C# into the common form: the statements, with `declarations` and `expressions`.

mod declarations;
mod expressions;

pub(super) use self::declarations::lower;
use self::expressions::{lower_expr, simple_type};
use super::form::{Case, Expr, LoopForm, Node, Step};
use super::lowering::{MAX_LOWERING_DEPTH, named_children, node, text_of};
use crate::syntax::SyntaxNode;

/// Lowers the body of a function or a closure, which may be an expression.
fn lower_body(body: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    match &*body.kind() {
        "block" => lower_block(body, level),
        "arrow_expression_clause" => {
            let values = named_children(body);
            let value = values.first().map(|value| lower_expr(value, level + 1));
            vec![Step::Return(value)]
        }
        _ => vec![Step::Return(Some(lower_expr(body, level + 1)))],
    }
}

fn lower_block(block: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    match &*block.kind() {
        "block" => {
            named_children(block).iter().flat_map(|child| lower_step(child, level + 1)).collect()
        }
        _ => lower_step(block, level + 1),
    }
}

fn lower_step(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    let expr = |field: &str| step.field(field).map(|inner| lower_expr(&inner, level + 1));
    let block = |field: &str| {
        step.field(field).map(|inner| lower_block(&inner, level + 1)).unwrap_or_default()
    };
    let first = || named_children(step).first().map(|inner| lower_expr(inner, level + 1));
    match &*step.kind() {
        "local_declaration_statement" => {
            let declaration = child_of_kind(step, "variable_declaration");
            declaration.map(|own| lower_variables(&own, level)).unwrap_or_default()
        }
        "variable_declaration" => lower_variables(step, level),
        "expression_statement" | "yield_statement" => {
            first().map(Step::Evaluate).into_iter().collect()
        }
        "if_statement" => {
            let Some(condition) = expr("condition") else { return Vec::new() };
            let (then, otherwise) = (block("consequence"), block("alternative"));
            vec![Step::Branch { condition, then, otherwise }]
        }
        "while_statement" | "do_statement" => vec![Step::Loop(Box::new(LoopForm {
            start: Vec::new(),
            element: None,
            condition: expr("condition"),
            update: Vec::new(),
            body: block("body"),
            runs_first: &*step.kind() == "do_statement",
        }))],
        "for_statement" => vec![Step::Loop(Box::new(LoopForm {
            start: steps_of_field(step, "initializer", level),
            element: None,
            condition: expr("condition"),
            update: steps_of_field(step, "update", level),
            body: block("body"),
            runs_first: false,
        }))],
        "foreach_statement" => lower_for_each(step, level),
        "switch_statement" => lower_switch(step, level),
        "try_statement" => lower_try(step, level),
        "using_statement" | "fixed_statement" => {
            let mut steps = match child_of_kind(step, "variable_declaration") {
                Some(declaration) => lower_variables(&declaration, level),
                None => first().map(Step::Evaluate).into_iter().collect(),
            };
            steps.extend(block("body"));
            steps
        }
        "lock_statement" | "checked_statement" | "unsafe_statement" | "labeled_statement" => {
            let inner = named_children(step);
            inner.last().map(|inner| lower_block(inner, level + 1)).unwrap_or_default()
        }
        "return_statement" => vec![Step::Return(first())],
        "throw_statement" => vec![Step::Throw(first())],
        "break_statement" => vec![Step::Break],
        "continue_statement" => vec![Step::Continue],
        "block" => vec![Step::Block(lower_block(step, level + 1))],
        // Functions inside of functions are lowered as functions.
        "local_function_statement" | "empty_statement" | "goto_statement" => Vec::new(),
        kind if kind.starts_with("preproc") => {
            named_children(step).iter().flat_map(|inner| lower_step(inner, level + 1)).collect()
        }
        _ => vec![Step::Evaluate(lower_expr(step, level + 1))],
    }
}

fn steps_of_field(step: &SyntaxNode<'_>, field: &str, level: usize) -> Vec<Step> {
    let children: Vec<SyntaxNode<'_>> = step.field_children(field).collect();
    children.iter().filter(|c| c.is_named()).flat_map(|c| lower_step(c, level + 1)).collect()
}

fn lower_variables(declaration: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let type_name = declaration.field("type").map(|node| simple_type(&node.text()));
    let type_name = type_name.filter(|name| name != "var");
    declarators(declaration)
        .into_iter()
        .map(|(name, value)| Step::Declare {
            name,
            type_name: type_name.clone(),
            value: value.map(|value| match &*value.kind() {
                "implicit_object_creation_expression" => {
                    expressions::lower_new(&value, type_name.clone(), level + 1)
                }
                _ => lower_expr(&value, level + 1),
            }),
        })
        .collect()
}

fn lower_for_each(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let (Some(left), Some(right)) = (step.field("left"), step.field("right")) else {
        return Vec::new();
    };
    let type_name = step.field("type").map(|node| simple_type(&node.text()));
    let target = lower_expr(&left, level + 1);
    let body = step.field("body").map(|body| lower_block(&body, level + 1));
    vec![Step::Loop(Box::new(LoopForm {
        start: Vec::new(),
        element: Some((
            target,
            type_name.filter(|name| name != "var"),
            lower_expr(&right, level + 1),
        )),
        condition: None,
        update: Vec::new(),
        body: body.unwrap_or_default(),
        runs_first: false,
    }))]
}

fn lower_switch(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let (Some(subject), Some(body)) = (step.field("value"), step.field("body")) else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    let mut labels: Vec<Node> = Vec::new();
    for section in named_children(&body) {
        let parts = named_children(&section);
        let (patterns, steps): (Vec<_>, Vec<_>) =
            parts.iter().partition(|part| part.kind().ends_with("_pattern"));
        let is_default = patterns.is_empty();
        labels.extend(patterns.iter().map(|pattern| lower_expr(pattern, level + 1)));
        // A section without statements shares those of the next one.
        if steps.is_empty() && !is_default {
            continue;
        }
        let own = std::mem::take(&mut labels);
        let labels = if is_default { Vec::new() } else { own };
        let body = steps.iter().flat_map(|part| lower_step(part, level + 1)).collect();
        cases.push(Case { labels, body });
    }
    let subject = lower_expr(&subject, level + 1);
    vec![Step::Switch { subject, cases, falls_through: false }]
}

fn lower_try(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let body = step.field("body").map(|b| lower_block(&b, level + 1)).unwrap_or_default();
    let children = named_children(step);
    let of_kind = |kind: &'static str| children.iter().filter(move |child| &*child.kind() == kind);
    let handlers = of_kind("catch_clause")
        .map(|clause| clause.field("body").map(|b| lower_block(&b, level + 1)).unwrap_or_default());
    let finally = of_kind("finally_clause").flat_map(|clause| {
        let inner = named_children(clause);
        inner.iter().flat_map(|inner| lower_block(inner, level + 1)).collect::<Vec<_>>()
    });
    let (handlers, finally) = (handlers.collect(), finally.collect());
    vec![Step::Try { body, handlers, finally }]
}

fn child_of_kind<'t>(node: &SyntaxNode<'t>, kind: &str) -> Option<SyntaxNode<'t>> {
    node.children().find(|child| &*child.kind() == kind)
}

/// Returns the names that a declaration of variables declares, each with its value.
fn declarators<'t>(declaration: &SyntaxNode<'t>) -> Vec<(String, Option<SyntaxNode<'t>>)> {
    let all = named_children(declaration).into_iter();
    let all = all.filter(|child| &*child.kind() == "variable_declarator");
    all.filter_map(|declarator| {
        let name = declarator.field("name")?;
        let values = named_children(&declarator);
        let value = values.into_iter().rfind(|child| {
            child.node_id() != name.node_id() && &*child.kind() != "bracketed_argument_list"
        });
        Some((text_of(&name), value))
    })
    .collect()
}
