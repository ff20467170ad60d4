//! Lowering of Go into the common form.
//!
//! The functions of a file belong to a class without a name, and methods to the class of their
//! receiver. A type has the dotted path of its package in front, such as `net.http.Request`; a
//! package of another module has its last name alone, such as `gin.Context`.

mod expressions;

use std::collections::HashMap;
use std::rc::Rc;

use self::expressions::{lower_expr, lower_expressions};
use super::form::{
    BinaryOperator, Case, Constant, Expr, FlowClass, FlowField, FlowFunction, FlowParameter,
    LoopForm, Node, Step,
};
use super::lowering::{
    MAX_LOWERING_DEPTH, calls_in, line_of, lower_count_change, named_children, node, text_of,
};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The name of the function that holds the variables of a package.
const PACKAGE: &str = "<package>";

/// The packages of a file by the names that the file uses.
type Imports = HashMap<String, String>;

/// Lowers the functions and types of a file. Returns them with the dotted names of its imports.
pub(super) fn lower(syntax: &Syntax) -> (Vec<FlowClass>, Imports) {
    let root = syntax.root();
    let imports = imports(&root);
    let mut classes = vec![FlowClass::default()];
    let mut steps = Vec::new();
    for child in named_children(&root) {
        match &*child.kind() {
            "function_declaration" | "method_declaration" => {
                let function = lower_function(&child, &imports);
                let class = class_named(&mut classes, &function.class);
                class.functions.push(Rc::new(function));
            }
            "type_declaration" => {
                for spec in named_children(&child) {
                    add_type(&spec, &imports, &mut classes);
                }
            }
            "const_declaration" | "var_declaration" => {
                let is_constant = &*child.kind() == "const_declaration";
                let fields = package_fields(&child, is_constant, &imports);
                class_named(&mut classes, "").fields.extend(fields);
                steps.extend(lower_step(&child, &imports, 0));
            }
            _ => {}
        }
    }
    let lines = lines_of(&root);
    class_named(&mut classes, "").functions.push(Rc::new(FlowFunction {
        name: PACKAGE.to_owned(),
        class: String::new(),
        parameters: Vec::new(),
        decorators: Vec::new(),
        is_constructor: false,
        is_exported: false,
        has_defaults: false,
        body: steps,
        lines: (lines.start(), lines.end()),
        calls: Vec::new(),
    }));
    (classes, imports)
}

fn class_named<'c>(classes: &'c mut Vec<FlowClass>, name: &str) -> &'c mut FlowClass {
    let at = classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
        classes.push(FlowClass { name: name.to_owned(), ..FlowClass::default() });
        classes.len() - 1
    });
    &mut classes[at]
}

// ---- imports and types

fn imports(root: &SyntaxNode<'_>) -> Imports {
    let declarations = named_children(root);
    let declarations = declarations.iter().filter(|child| &*child.kind() == "import_declaration");
    let specs = declarations.flat_map(|own| {
        own.dfs().filter(|inner| &*inner.kind() == "import_spec").collect::<Vec<_>>()
    });
    specs
        .filter_map(|spec| {
            let path = text_of(&spec.field("path")?);
            let (name, dotted) = package_names(path.trim_matches(['"', '`']));
            let name = spec.field("name").map_or(name, |alias| text_of(&alias));
            Some((name, dotted))
        })
        .collect()
}

/// Returns the name of a package in code and its dotted path, which other modules have not.
fn package_names(path: &str) -> (String, String) {
    let is_version = |part: &&str| {
        part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let last = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
    let last = last.split(".v").next().unwrap_or(last);
    let name: String = last.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let is_standard = !path.split('/').next().unwrap_or_default().contains('.');
    let dotted = if is_standard { path.replace('/', ".") } else { name.clone() };
    (name, dotted)
}

/// Returns the name of a type with its package; `None` for a type without a name.
fn type_name(written: &SyntaxNode<'_>, imports: &Imports) -> Option<String> {
    match &*written.kind() {
        "type_identifier" | "identifier" => Some(text_of(written)),
        "qualified_type" => {
            let package = text_of(&written.field("package")?);
            let package = imports.get(&package).unwrap_or(&package);
            Some(format!("{package}.{}", text_of(&written.field("name")?)))
        }
        "generic_type" => type_name(&written.field("type")?, imports),
        "pointer_type" | "parenthesized_type" => {
            type_name(named_children(written).first()?, imports)
        }
        _ => None,
    }
}

fn add_type(spec: &SyntaxNode<'_>, imports: &Imports, classes: &mut Vec<FlowClass>) {
    let (Some(name), Some(own)) = (spec.field("name"), spec.field("type")) else { return };
    let class = class_named(classes, &text_of(&name));
    if &*own.kind() != "struct_type" {
        return;
    }
    let declarations = own.dfs().filter(|inner| &*inner.kind() == "field_declaration");
    for declaration in declarations.collect::<Vec<_>>() {
        let Some(written) = declaration.field("type") else { continue };
        let type_name = type_name(&written, imports);
        let names: Vec<String> =
            declaration.field_children("name").map(|name| text_of(&name)).collect();
        // The methods of an embedded type are methods of the type.
        if names.is_empty() {
            class.supertypes.extend(type_name.clone());
        }
        let field = |name: String| FlowField { name, type_name: type_name.clone(), value: None };
        class.fields.extend(names.into_iter().map(field));
    }
}

/// Returns the constants and variables of a package.
fn package_fields(
    declaration: &SyntaxNode<'_>,
    is_constant: bool,
    imports: &Imports,
) -> Vec<FlowField> {
    let specs =
        declaration.dfs().filter(|inner| matches!(&*inner.kind(), "const_spec" | "var_spec"));
    let mut fields = Vec::new();
    for spec in specs.collect::<Vec<_>>() {
        let type_name = spec.field("type").and_then(|own| type_name(&own, imports));
        let values = spec.field("value").map(|own| named_children(&own)).unwrap_or_default();
        for (at, name) in spec.field_children("name").enumerate() {
            let value = values.get(at).filter(|_| is_constant);
            fields.push(FlowField {
                name: text_of(&name),
                type_name: type_name.clone(),
                value: value.map(|value| lower_expr(value, imports, 0)),
            });
        }
    }
    fields
}

// ---- functions

fn lower_function(function: &SyntaxNode<'_>, imports: &Imports) -> FlowFunction {
    let name = function.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let receiver = function.field("receiver").map(|list| parameters(&list, imports));
    let receiver = receiver.and_then(|list| list.into_iter().next());
    let body = function.field("body");
    let mut steps = Vec::new();
    if let (Some(receiver), Some(body)) = (&receiver, &body) {
        let this = node(body, Expr::This);
        let (name, type_name) = (receiver.name.clone(), None);
        steps.push(Step::Declare { name, type_name, value: Some(this) });
    }
    let calls = body.as_ref().map(|body| calls_in(body, "call_expression", "function"));
    steps.extend(body.map(|body| lower_block(&body, imports, 0)).unwrap_or_default());
    let lines = lines_of(function);
    let is_exported = name.starts_with(char::is_uppercase);
    let list = function.field("parameters");
    FlowFunction {
        name,
        class: receiver.and_then(|own| own.type_name).unwrap_or_default(),
        parameters: list.map(|list| parameters(&list, imports)).unwrap_or_default(),
        decorators: Vec::new(),
        is_constructor: false,
        is_exported,
        has_defaults: false,
        body: steps,
        lines: (lines.start(), lines.end()),
        calls: calls.unwrap_or_default(),
    }
}

/// Returns the parameters of a list; one without a name still has its place.
fn parameters(list: &SyntaxNode<'_>, imports: &Imports) -> Vec<FlowParameter> {
    let mut parameters = Vec::new();
    for declaration in named_children(list) {
        let is_variadic = &*declaration.kind() == "variadic_parameter_declaration";
        let written = declaration.field("type").filter(|_| !is_variadic);
        let type_name = written.and_then(|own| type_name(&own, imports));
        let names: Vec<String> =
            declaration.field_children("name").map(|name| text_of(&name)).collect();
        let names = if names.is_empty() { vec!["_".to_owned()] } else { names };
        parameters.extend(names.into_iter().map(|name| FlowParameter {
            name,
            type_name: type_name.clone(),
            annotations: Vec::new(),
            line: line_of(&declaration),
            span: declaration.range(),
        }));
    }
    parameters
}

// ---- statements

fn lower_block(block: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Vec<Step> {
    named_children(block).iter().flat_map(|own| lower_step(own, imports, level + 1)).collect()
}

fn lower_step(step: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    let children = named_children(step);
    let expr = |own: &SyntaxNode<'_>| lower_expr(own, imports, level + 1);
    let field = |name: &str| step.field(name).map(|own| expr(&own));
    let block = |name: &str| {
        step.field(name).map(|own| lower_step(&own, imports, level + 1)).unwrap_or_default()
    };
    match &*step.kind() {
        "block" | "statement_list" | "labeled_statement" | "var_declaration"
        | "const_declaration" | "var_spec_list" => {
            let inner = children.iter();
            inner.flat_map(|own| lower_step(own, imports, level + 1)).collect()
        }
        "expression_statement" | "go_statement" | "defer_statement" => {
            children.iter().map(|own| Step::Evaluate(expr(own))).collect()
        }
        "short_var_declaration" | "assignment_statement" => lower_assignment(step, imports, level),
        "var_spec" | "const_spec" => lower_variables(step, imports, level),
        "if_statement" => {
            let Some(condition) = field("condition") else { return Vec::new() };
            let (then, otherwise) = (block("consequence"), block("alternative"));
            let mut steps = block("initializer");
            steps.push(Step::Branch { condition, then, otherwise });
            vec![Step::Block(steps)]
        }
        "for_statement" => lower_for(step, imports, level),
        "expression_switch_statement" | "type_switch_statement" => {
            lower_switch(step, imports, level)
        }
        "select_statement" => vec![Step::Switch {
            subject: node(step, Expr::Opaque(Vec::new())),
            cases: children.iter().map(|own| lower_case(own, imports, level)).collect(),
            falls_through: false,
        }],
        "receive_statement" => field("right").into_iter().map(Step::Evaluate).collect(),
        "return_statement" => vec![Step::Return(children.first().map(|list| {
            let mut values = lower_expressions(list, imports, level);
            match values.len() {
                1 => values.remove(0),
                _ => node(list, Expr::List(values)),
            }
        }))],
        "break_statement" => vec![Step::Break],
        "continue_statement" => vec![Step::Continue],
        "comment"
        | "type_declaration"
        | "empty_statement"
        | "fallthrough_statement"
        | "goto_statement" => Vec::new(),
        "inc_statement" | "dec_statement" => named_children(step)
            .first()
            .map(|target| Step::Evaluate(node(step, lower_count_change(step, expr(target)))))
            .into_iter()
            .collect(),
        _ => {
            let value = expr(step);
            // These calls do not return.
            let ends = matches!(&value.expr, Expr::Call { name, .. } if name == "panic");
            vec![if ends { Step::Throw(Some(value)) } else { Step::Evaluate(value) }]
        }
    }
}

/// Lowers an assignment. The second result of a call, which is an error, carries no data.
fn lower_assignment(step: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Vec<Step> {
    let list = |name: &str| step.field(name).map(|own| named_children(&own)).unwrap_or_default();
    let (targets, values) = (list("left"), list("right"));
    let is_new = &*step.kind() == "short_var_declaration";
    let operator = step.field("operator").map(|own| own.text().into_owned());
    let is_extended = operator.is_some_and(|own| own.len() > 1 && own != ":=");
    if let ([target], [value]) = (targets.as_slice(), values.as_slice()) {
        let value = lower_expr(value, imports, level + 1);
        if is_new {
            return vec![Step::Declare {
                name: text_of(target),
                type_name: None,
                value: Some(value),
            }];
        }
        let target = Box::new(lower_target(target, imports, level));
        let value = Box::new(value);
        let expr =
            if is_extended { Expr::Extend(target, value) } else { Expr::Assign(target, value) };
        return vec![Step::Evaluate(node(step, expr))];
    }
    let mut values =
        values.iter().map(|own| lower_expr(own, imports, level + 1)).collect::<Vec<_>>();
    let value = match values.len() {
        1 => values.remove(0),
        _ => node(step, Expr::List(values)),
    };
    let targets = targets.iter().map(|own| lower_target(own, imports, level)).collect();
    let targets = Box::new(node(step, Expr::List(targets)));
    vec![Step::Evaluate(node(step, Expr::Assign(targets, Box::new(value))))]
}

fn lower_target(target: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Node {
    match &*target.text() {
        "_" | "err" | "ok" => node(target, Expr::Opaque(Vec::new())),
        _ => lower_expr(target, imports, level + 1),
    }
}

fn lower_variables(spec: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Vec<Step> {
    let type_name = spec.field("type").and_then(|own| type_name(&own, imports));
    let values = spec.field("value").map(|own| named_children(&own)).unwrap_or_default();
    let names = spec.field_children("name").enumerate();
    names
        .map(|(at, name)| Step::Declare {
            name: text_of(&name),
            type_name: type_name.clone(),
            value: values.get(at).map(|own| lower_expr(own, imports, level + 1)),
        })
        .collect()
}

fn lower_for(step: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Vec<Step> {
    let body = step.field("body").map(|own| lower_block(&own, imports, level + 1));
    let mut form = LoopForm {
        start: Vec::new(),
        element: None,
        condition: None,
        update: Vec::new(),
        body: body.unwrap_or_default(),
        runs_first: false,
    };
    let head = named_children(step).into_iter().find(|child| &*child.kind() != "block");
    let steps = |head: &SyntaxNode<'_>, name: &str| {
        head.field(name).map(|own| lower_step(&own, imports, level + 1)).unwrap_or_default()
    };
    match head.as_ref().map(|head| (head, head.kind().into_owned())) {
        Some((head, kind)) if kind == "range_clause" => {
            let names = head.field("left").map(|own| named_children(&own)).unwrap_or_default();
            // The first name is the position.
            let target = match names.get(1) {
                Some(value) => lower_target(value, imports, level),
                None => node(head, Expr::Opaque(Vec::new())),
            };
            let values = head.field("right").map(|own| lower_expr(&own, imports, level + 1));
            form.element = values.map(|values| (target, None, values));
        }
        Some((head, kind)) if kind == "for_clause" => {
            form.start = steps(head, "initializer");
            form.condition =
                head.field("condition").map(|own| lower_expr(&own, imports, level + 1));
            form.update = steps(head, "update");
        }
        Some((head, _)) => form.condition = Some(lower_expr(head, imports, level + 1)),
        None => {}
    }
    vec![Step::Loop(Box::new(form))]
}

/// Lowers a switch. Without a subject, the first case whose condition holds is run.
fn lower_switch(step: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Vec<Step> {
    let before = step.field("initializer");
    let mut steps = before.map(|own| lower_step(&own, imports, level + 1)).unwrap_or_default();
    let children = named_children(step);
    let clauses = children.iter().filter(|child| child.kind().ends_with("_case"));
    let subject = step.field("value").map(|own| lower_expr(&own, imports, level + 1));
    let Some(subject) = subject else {
        steps.extend(condition_chain(&clauses.collect::<Vec<_>>(), imports, level));
        return vec![Step::Block(steps)];
    };
    let alias = step.field("alias").and_then(|list| named_children(&list).into_iter().next());
    let cases = clauses.map(|clause| lower_case(clause, imports, level)).collect();
    let subject = match alias {
        Some(alias) => {
            let target = Box::new(lower_expr(&alias, imports, level + 1));
            node(step, Expr::Assign(target, Box::new(subject)))
        }
        None => subject,
    };
    steps.push(Step::Switch { subject, cases, falls_through: false });
    vec![Step::Block(steps)]
}

fn condition_chain(clauses: &[&SyntaxNode<'_>], imports: &Imports, level: usize) -> Vec<Step> {
    let mut otherwise = Vec::new();
    let (default, cases): (Vec<&SyntaxNode<'_>>, Vec<&SyntaxNode<'_>>) =
        clauses.iter().copied().partition(|clause| &*clause.kind() == "default_case");
    for clause in default.iter().chain(cases.iter().rev()) {
        let mut case = lower_case(clause, imports, level);
        if case.labels.is_empty() {
            otherwise = case.body;
            continue;
        }
        let first = case.labels.remove(0);
        let condition = case.labels.into_iter().fold(first, |all, label| {
            let both = Expr::Binary(BinaryOperator::Or, Box::new(all), Box::new(label));
            node(clause, both)
        });
        otherwise = vec![Step::Branch { condition, then: case.body, otherwise }];
    }
    otherwise
}

fn lower_case(clause: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Case {
    let labels = clause.field("value").map(|list| lower_expressions(&list, imports, level));
    let is_type = &*clause.kind() == "type_case" || &*clause.kind() == "communication_case";
    let opaque = || vec![node(clause, Expr::Opaque(Vec::new()))];
    let labels = if is_type { opaque() } else { labels.unwrap_or_default() };
    let children = named_children(clause);
    let body = children.iter().filter(|child| {
        matches!(&*child.kind(), "statement_list" | "receive_statement" | "send_statement")
    });
    let body = body.flat_map(|own| lower_step(own, imports, level + 1)).collect();
    Case { labels, body }
}

/// Returns the constant text of a literal without its quotes.
fn literal_text(literal: &SyntaxNode<'_>) -> Constant {
    let text = literal.text();
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    Constant::Text(inner.to_owned())
}
