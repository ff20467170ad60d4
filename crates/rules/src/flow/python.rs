//! Lowering of Python into the common form.
//!
//! The functions of a module belong to a class without a name, and the statements of the module are
//! its function `<module>`. A parameter without an annotation has its own name as its type, so that
//! patterns can name conventional parameters such as `request`.

use std::collections::HashMap;
use std::rc::Rc;

use super::form::{
    Argument, BinaryOperator, Case, ClosureParameter, Constant, Expr, FlowClass, FlowField,
    FlowFunction, FlowParameter, LoopForm, Node, Step,
};
use super::lowering::{
    ANY_NAME, MAX_LOWERING_DEPTH, brace_format_parts, calls_in, formatted_text, line_of,
    lower_prefix_operator, named_children, node, text_of,
};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The name of the function that holds the statements of a module.
const MODULE: &str = "<module>";

/// Lowers the functions and classes of a file. Returns them with the dotted names of its imports.
pub(super) fn lower(syntax: &Syntax) -> (Vec<FlowClass>, HashMap<String, String>) {
    let root = syntax.root();
    let mut imports = HashMap::new();
    for inner in root.dfs() {
        match &*inner.kind() {
            "import_statement" => add_imports(&inner, &mut imports),
            "import_from_statement" => add_names(&inner, &mut imports),
            _ => {}
        }
    }
    let mut module = FlowClass::default();
    let mut classes = Vec::new();
    let mut steps = Vec::new();
    for child in named_children(&root) {
        if !lower_definition(&child, &mut module, &mut classes, 0) {
            module.fields.extend(constant_field(&child));
            steps.extend(lower_step(&child, 0));
        }
    }
    let lines = lines_of(&root);
    module.functions.push(Rc::new(FlowFunction {
        name: MODULE.to_owned(),
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
    classes.push(module);
    (classes, imports)
}

fn add_imports(statement: &SyntaxNode<'_>, imports: &mut HashMap<String, String>) {
    for import in named_children(statement) {
        match (import.field("name"), import.field("alias")) {
            (Some(name), Some(alias)) => {
                imports.insert(text_of(&alias), text_of(&name));
            }
            _ => {
                let dotted = text_of(&import);
                let first = dotted.split('.').next().unwrap_or(&dotted).to_owned();
                imports.insert(first.clone(), first);
            }
        }
    }
}

fn add_names(statement: &SyntaxNode<'_>, imports: &mut HashMap<String, String>) {
    let Some(module) = statement.field("module_name") else { return };
    let module = text_of(&module).trim_start_matches('.').to_owned();
    for import in statement.field_children("name").collect::<Vec<_>>() {
        let (name, own) = match (import.field("name"), import.field("alias")) {
            (Some(name), Some(alias)) => (text_of(&name), text_of(&alias)),
            _ => (text_of(&import), text_of(&import)),
        };
        let dotted = if module.is_empty() { name } else { format!("{module}.{name}") };
        imports.insert(own, dotted);
    }
}

/// Lowers a function or a class. Returns false for other statements.
fn lower_definition(
    statement: &SyntaxNode<'_>,
    owner: &mut FlowClass,
    classes: &mut Vec<FlowClass>,
    level: usize,
) -> bool {
    if level > MAX_LOWERING_DEPTH {
        return false;
    }
    let decorators = decorators(statement);
    let numbers = numbers_of_routes(statement);
    let definition =
        statement.field("definition").filter(|_| &*statement.kind() == "decorated_definition");
    let definition = definition.unwrap_or_else(|| statement.clone());
    match &*definition.kind() {
        "function_definition" => {
            let mut function = lower_function(&definition, &owner.name, decorators);
            let parameters = function.parameters.iter_mut();
            parameters
                .filter(|parameter| numbers.contains(&parameter.name))
                .for_each(|parameter| parameter.type_name = Some("int".to_owned()));
            owner.functions.push(Rc::new(function));
            true
        }
        "class_definition" => {
            lower_class(&definition, classes, level);
            true
        }
        _ => false,
    }
}

fn lower_class(definition: &SyntaxNode<'_>, classes: &mut Vec<FlowClass>, level: usize) {
    let Some(name) = definition.field("name") else { return };
    let supertypes = definition.field("superclasses").map(|list| {
        let names = named_children(&list);
        names.iter().map(|own| last_name(&text_of(own)).to_owned()).collect()
    });
    let mut class = FlowClass {
        name: text_of(&name),
        supertypes: supertypes.unwrap_or_default(),
        ..FlowClass::default()
    };
    for member in definition.field("body").map(|body| named_children(&body)).unwrap_or_default() {
        if !lower_definition(&member, &mut class, classes, level + 1) {
            class.fields.extend(constant_field(&member));
        }
    }
    classes.push(class);
}

fn last_name(dotted: &str) -> &str {
    dotted.rsplit('.').next().unwrap_or(dotted)
}

/// Returns the decorators of a definition by their dotted names.
fn decorators(statement: &SyntaxNode<'_>) -> Vec<String> {
    let children = named_children(statement);
    let decorators = children.iter().filter(|child| &*child.kind() == "decorator");
    decorators
        .map(|decorator| {
            let text = text_of(decorator);
            let text = text.trim_start_matches('@');
            text.split('(').next().unwrap_or(text).to_owned()
        })
        .collect()
}

/// Returns the parameters that a route converts to numbers or UUIDs, such as `/books/<int:id>`.
fn numbers_of_routes(statement: &SyntaxNode<'_>) -> Vec<String> {
    let children = named_children(statement);
    let decorators = children.iter().filter(|child| &*child.kind() == "decorator").map(text_of);
    let converted = |part: &str| {
        let (converter, name) = part.split_once('>')?.0.split_once(':')?;
        matches!(converter, "int" | "float" | "uuid").then(|| name.to_owned())
    };
    decorators
        .flat_map(|text| text.split('<').skip(1).filter_map(converted).collect::<Vec<_>>())
        .collect()
}

/// Returns the constant that a statement defines, by the convention of capital letters.
fn constant_field(statement: &SyntaxNode<'_>) -> Option<FlowField> {
    let children = named_children(statement);
    let assignment = children.first().filter(|child| &*child.kind() == "assignment")?;
    let name = assignment.field("left").filter(|left| &*left.kind() == "identifier")?;
    let name = text_of(&name);
    let is_constant =
        name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let value = assignment.field("right").filter(|_| is_constant)?;
    Some(FlowField { name, type_name: None, value: Some(lower_expr(&value, 0)) })
}

fn lower_function(
    definition: &SyntaxNode<'_>,
    class: &str,
    decorators: Vec<String>,
) -> FlowFunction {
    let parameters = definition.field("parameters").map(|list| named_children(&list));
    let mut parameters: Vec<FlowParameter> =
        parameters.unwrap_or_default().iter().filter_map(lower_parameter).collect();
    let is_static = decorators.iter().any(|name| name == "staticmethod");
    if !class.is_empty() && !is_static && !parameters.is_empty() {
        parameters.remove(0);
    }
    let name = definition.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let body = definition.field("body");
    let lines = lines_of(definition);
    FlowFunction {
        is_constructor: name == "__init__",
        is_exported: !name.starts_with('_') && !class.starts_with('_'),
        has_defaults: true,
        name,
        class: class.to_owned(),
        parameters,
        decorators,
        calls: body.as_ref().map(|body| calls_in(body, "call", "function")).unwrap_or_default(),
        body: body.map(|body| lower_block(&body, 0)).unwrap_or_default(),
        lines: (lines.start(), lines.end()),
    }
}

fn lower_parameter(parameter: &SyntaxNode<'_>) -> Option<FlowParameter> {
    let name = match &*parameter.kind() {
        "identifier" => text_of(parameter),
        "typed_parameter" => text_of(named_children(parameter).first()?),
        "default_parameter" | "typed_default_parameter" => text_of(&parameter.field("name")?),
        _ => return None,
    };
    let written = parameter.field("type").map(|written| last_name(&text_of(&written)).to_owned());
    let default = parameter.field("value").filter(|value| &*value.kind() == "call");
    let default = default.and_then(|call| Some(text_of(&call.field("function")?)));
    Some(FlowParameter {
        type_name: written.or_else(|| Some(name.clone())),
        name,
        annotations: default.iter().map(|name| last_name(name).to_owned()).collect(),
        line: line_of(parameter),
        span: parameter.range(),
    })
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
    let block = |field: &str| {
        step.field(field).map(|inner| lower_block(&inner, level + 1)).unwrap_or_default()
    };
    match &*step.kind() {
        "expression_statement" => {
            children.iter().map(|inner| Step::Evaluate(lower_expr(inner, level + 1))).collect()
        }
        "return_statement" => vec![Step::Return(first())],
        "raise_statement" => vec![Step::Throw(first())],
        "break_statement" => vec![Step::Break],
        "continue_statement" => vec![Step::Continue],
        "if_statement" => lower_if(step, level),
        "for_statement" => {
            let (Some(left), Some(right)) = (step.field("left"), step.field("right")) else {
                return Vec::new();
            };
            let element = (lower_expr(&left, level + 1), None, lower_expr(&right, level + 1));
            vec![Step::Loop(Box::new(loop_form(Some(element), None, block("body"))))]
        }
        "while_statement" => {
            let condition = step.field("condition").map(|inner| lower_expr(&inner, level + 1));
            vec![Step::Loop(Box::new(loop_form(None, condition, block("body"))))]
        }
        "try_statement" => lower_try(step, level),
        "with_statement" => lower_with(step, level),
        "match_statement" => lower_match(step, level),
        // A nested function may run at any time.
        "function_definition" => vec![Step::Block(vec![Step::Evaluate(node(
            step,
            Expr::Lambda(Vec::new(), block("body")),
        ))])],
        "import_statement"
        | "import_from_statement"
        | "pass_statement"
        | "global_statement"
        | "nonlocal_statement"
        | "class_definition"
        | "decorated_definition"
        | "assert_statement"
        | "future_import_statement" => Vec::new(),
        _ => vec![Step::Evaluate(lower_expr(step, level + 1))],
    }
}

fn loop_form(
    element: Option<(Node, Option<String>, Node)>,
    condition: Option<Node>,
    body: Vec<Step>,
) -> LoopForm {
    let (start, update) = (Vec::new(), Vec::new());
    LoopForm { start, element, condition, update, body, runs_first: false }
}

fn lower_if(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let mut otherwise = Vec::new();
    for clause in step.field_children("alternative").collect::<Vec<_>>().iter().rev() {
        otherwise = match &*clause.kind() {
            "elif_clause" => branch(clause, otherwise, level),
            _ => clause.field("body").map(|b| lower_block(&b, level + 1)).unwrap_or_default(),
        };
    }
    branch(step, otherwise, level)
}

fn branch(clause: &SyntaxNode<'_>, otherwise: Vec<Step>, level: usize) -> Vec<Step> {
    let Some(condition) = clause.field("condition") else { return otherwise };
    let then = clause.field("consequence").map(|inner| lower_block(&inner, level + 1));
    let condition = lower_expr(&condition, level + 1);
    vec![Step::Branch { condition, then: then.unwrap_or_default(), otherwise }]
}

fn lower_try(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let mut body = step.field("body").map(|b| lower_block(&b, level + 1)).unwrap_or_default();
    let (mut handlers, mut finally) = (Vec::new(), Vec::new());
    for clause in named_children(step) {
        let inner = named_children(&clause);
        let block = inner.iter().rev().find(|child| &*child.kind() == "block");
        let steps = block.map(|block| lower_block(block, level + 1)).unwrap_or_default();
        match &*clause.kind() {
            "except_clause" | "except_group_clause" => handlers.push(steps),
            "else_clause" => body.extend(steps),
            "finally_clause" => finally.extend(steps),
            _ => {}
        }
    }
    vec![Step::Try { body, handlers, finally }]
}

fn lower_with(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let items = step.dfs().filter(|inner| &*inner.kind() == "with_item");
    let body = step.field("body");
    let before = body.as_ref().map_or(usize::MAX, |body| body.range().start);
    for item in items.filter(|item| item.range().start < before).collect::<Vec<_>>() {
        let Some(value) = item.field("value") else { continue };
        let target = named_children(&value);
        match (&*value.kind(), target.as_slice()) {
            ("as_pattern", [value, target]) => {
                let names = named_children(target);
                let target = names.first().unwrap_or(target);
                let assign = Expr::Assign(
                    Box::new(lower_expr(target, level + 1)),
                    Box::new(lower_expr(value, level + 1)),
                );
                steps.push(Step::Evaluate(node(value, assign)));
            }
            _ => steps.push(Step::Evaluate(lower_expr(&value, level + 1))),
        }
    }
    steps.extend(body.map(|body| lower_block(&body, level + 1)).unwrap_or_default());
    steps
}

fn lower_match(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let Some(subject) = step.field("subject") else { return Vec::new() };
    let body = step.field("body").map(|body| named_children(&body)).unwrap_or_default();
    let cases = body.iter().filter(|child| &*child.kind() == "case_clause").map(|clause| {
        let children = named_children(clause);
        let is_guarded = children.iter().any(|child| &*child.kind() == "if_clause");
        let patterns = children.iter().filter(|child| &*child.kind() == "case_pattern");
        let patterns = patterns.filter(|pattern| is_guarded || &*pattern.text() != "_");
        let labels = patterns.flat_map(|pattern| case_labels(pattern, is_guarded, level + 1));
        let labels = labels.collect();
        let body = clause.field("consequence").map(|inner| lower_block(&inner, level + 1));
        Case { labels, body: body.unwrap_or_default() }
    });
    let cases = cases.collect();
    let subject = lower_expr(&subject, level + 1);
    vec![Step::Switch { subject, cases, falls_through: false }]
}

/// Lowers the labels of a case. A name, a structure, or a pattern with a condition may match or not.
fn case_labels(pattern: &SyntaxNode<'_>, is_guarded: bool, level: usize) -> Vec<Node> {
    let children = named_children(pattern);
    let inner = children.first().filter(|_| children.len() == 1);
    match (&*pattern.kind(), inner) {
        _ if level > MAX_LOWERING_DEPTH => vec![node(pattern, Expr::Unread)],
        ("case_pattern", Some(inner)) => case_labels(inner, is_guarded, level + 1),
        ("union_pattern", _) => {
            children.iter().flat_map(|own| case_labels(own, is_guarded, level + 1)).collect()
        }
        ("string" | "integer" | "true" | "false" | "none", _) if !is_guarded => {
            vec![lower_expr(pattern, level)]
        }
        _ => vec![node(pattern, Expr::Opaque(Vec::new()))],
    }
}

/// Lowers an expression.
fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let children = named_children(expr);
    let inner =
        |field: &str| expr.field(field).map(|inner| Box::new(lower_expr(&inner, level + 1)));
    let all = |children: &[SyntaxNode<'_>]| -> Vec<Node> {
        children.iter().map(|child| lower_expr(child, level + 1)).collect()
    };
    let kind = expr.kind();
    let lowered = match &*kind {
        "identifier" if &*expr.text() == "self" => Some(Expr::This),
        "identifier" => Some(Expr::Name(text_of(expr))),
        "true" => Some(Expr::Constant(Constant::Boolean(true))),
        "false" => Some(Expr::Constant(Constant::Boolean(false))),
        "none" => Some(Expr::Constant(Constant::Null)),
        "integer" => Some(match expr.text().replace('_', "").parse() {
            Ok(value) => Expr::Constant(Constant::Integer(value)),
            Err(_) => Expr::Opaque(Vec::new()),
        }),
        "float" | "ellipsis" => Some(Expr::Opaque(Vec::new())),
        "string" => Some(lower_string(expr, level)),
        "concatenated_string" => Some(join_constants(all(&children))),
        "parenthesized_expression" | "await" | "case_pattern" | "expression_statement" => {
            return match children.first() {
                Some(child) => lower_expr(child, level + 1),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        "attribute" => inner("object")
            .zip(expr.field("attribute"))
            .map(|(object, name)| Expr::Field(object, text_of(&name))),
        "subscript" => inner("value").zip(inner("subscript")).map(|(a, i)| Expr::Index(a, i)),
        "call" => lower_call(expr, level),
        "binary_operator" => {
            let sign = expr.field("operator").map(|own| own.text().into_owned());
            let sides = inner("left").zip(inner("right"));
            match sign.as_deref() {
                Some("%") => sides.map(|(format, values)| lower_remainder(*format, *values)),
                sign => {
                    let operator = sign.map_or(BinaryOperator::Other, BinaryOperator::of_sign);
                    sides.map(|(a, b)| Expr::Binary(operator, a, b))
                }
            }
        }
        "boolean_operator" => {
            let is_and = expr.field("operator").is_some_and(|own| &*own.text() == "and");
            let operator = if is_and { BinaryOperator::And } else { BinaryOperator::Or };
            inner("left").zip(inner("right")).map(|(a, b)| Expr::Binary(operator, a, b))
        }
        "not_operator" => inner("argument").map(Expr::Not),
        "unary_operator" => {
            let sides = expr.field("operator").zip(inner("argument"));
            sides.map(|(sign, operand)| lower_prefix_operator(&sign.text(), *operand))
        }
        "comparison_operator" => lower_comparison(expr, &children, level),
        "conditional_expression" => match children.as_slice() {
            [then, condition, otherwise] => Some(Expr::Ternary(
                Box::new(lower_expr(condition, level + 1)),
                Box::new(lower_expr(then, level + 1)),
                Box::new(lower_expr(otherwise, level + 1)),
            )),
            _ => None,
        },
        "assignment" => match (inner("left"), inner("right")) {
            (Some(left), Some(right)) => Some(Expr::Assign(left, right)),
            _ => Some(Expr::Opaque(Vec::new())),
        },
        "named_expression" => inner("name").zip(inner("value")).map(|(a, b)| Expr::Assign(a, b)),
        "augmented_assignment" => {
            inner("left").zip(inner("right")).map(|(a, b)| Expr::Extend(a, b))
        }
        "list" | "tuple" | "set" | "expression_list" | "pattern_list" | "tuple_pattern"
        | "list_pattern" => Some(Expr::List(all(&children))),
        "dictionary" => lower_dictionary(&children, level),
        "lambda" => {
            let names = expr.field("parameters").map(|list| named_children(&list));
            let names = names.unwrap_or_default();
            let parameters = names.iter().map(|own| ClosureParameter::untyped(text_of(own)));
            let parameters = parameters.collect();
            let body = inner("body").map(|body| Step::Return(Some(*body)));
            Some(Expr::Lambda(parameters, body.into_iter().collect()))
        }
        "list_comprehension" | "set_comprehension" | "generator_expression" => {
            Some(lower_comprehension(expr, &children, level))
        }
        _ => None,
    };
    let lowered = lowered.unwrap_or_else(|| Expr::Mixed(all(&children)));
    node(expr, lowered)
}

fn lower_string(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let mut parts = Vec::new();
    for child in named_children(expr) {
        match &*child.kind() {
            "string_content" => {
                let text = child.text().into_owned();
                parts.push(node(&child, Expr::Constant(Constant::Text(text))));
            }
            "interpolation" => {
                let value =
                    child.field("expression").or_else(|| named_children(&child).first().cloned());
                parts.extend(value.map(|value| lower_expr(&value, level + 1)));
            }
            _ => {}
        }
    }
    join_constants(parts)
}

/// Returns the text of parts: a constant if all parts are constant texts.
fn join_constants(parts: Vec<Node>) -> Expr {
    let text = parts.iter().map(|part| match &part.expr {
        Expr::Constant(Constant::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    match text.collect::<Option<String>>() {
        Some(text) => Expr::Constant(Constant::Text(text)),
        None => Expr::Text(parts),
    }
}

fn lower_comparison(
    expr: &SyntaxNode<'_>,
    children: &[SyntaxNode<'_>],
    level: usize,
) -> Option<Expr> {
    let [left, right] = children else { return None };
    let operator = expr.text();
    let between = operator.get(left.text().len()..operator.len() - right.text().len())?;
    let words: Vec<&str> = between.split_whitespace().collect();
    let (operator, is_negated) = match words.as_slice() {
        ["is"] => (BinaryOperator::Equal, false),
        ["is", "not"] => (BinaryOperator::NotEqual, false),
        ["in"] => (BinaryOperator::In, false),
        ["not", "in"] => (BinaryOperator::In, true),
        [sign @ ("==" | "!=" | "<" | "<=" | ">" | ">=")] => (BinaryOperator::of_sign(sign), false),
        _ => return None,
    };
    let compared = Expr::Binary(
        operator,
        Box::new(lower_expr(left, level + 1)),
        Box::new(lower_expr(right, level + 1)),
    );
    Some(if is_negated { Expr::Not(Box::new(node(expr, compared))) } else { compared })
}

/// Lowers `%`, which formats text.
fn lower_remainder(format: Node, values: Node) -> Expr {
    let is_list = matches!(values.expr, Expr::List(_));
    let arguments = match values.expr {
        Expr::List(values) => values,
        expr => vec![Node { expr, ..values }],
    };
    let arguments = std::iter::once(format).chain(arguments).collect();
    formatted_text(arguments, true).unwrap_or_else(|mut arguments| {
        let mut values = arguments.split_off(1);
        let format = Box::new(arguments.remove(0));
        let value = match is_list {
            true => Node { line: format.line, span: format.span.clone(), expr: Expr::List(values) },
            false => values.remove(0),
        };
        Expr::Binary(BinaryOperator::Other, format, Box::new(value))
    })
}

/// Lowers `"…".format(…)` to the parts of the text. Returns the arguments if a placeholder is more
/// than a name or a position.
fn lower_format(
    call: &SyntaxNode<'_>,
    receiver: &Node,
    name: &str,
    arguments: Vec<Argument>,
) -> Result<Expr, Vec<Argument>> {
    let has_splat = arguments.iter().any(|own| own.name.as_deref() == Some(ANY_NAME));
    match &receiver.expr {
        Expr::Constant(Constant::Text(format))
            if name == "format" && !has_splat && has_plain_placeholders(format) =>
        {
            let values = arguments.into_iter().map(|own| (own.name, own.value));
            Ok(Expr::Text(brace_format_parts(call, format, values.collect())))
        }
        _ => Err(arguments),
    }
}

/// Returns true if all placeholders of a format are names or positions, without attributes.
fn has_plain_placeholders(format: &str) -> bool {
    let placeholders = format.replace("{{", "").replace("}}", "");
    placeholders.split('{').skip(1).all(|rest| {
        let name = rest.split(['}', ':']).next().unwrap_or_default();
        name.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let function = expr.field("function")?;
    let list = expr.field("arguments")?;
    let arguments: Vec<Argument> = match &*list.kind() {
        "argument_list" => {
            named_children(&list).iter().map(|argument| lower_argument(argument, level)).collect()
        }
        _ => vec![Argument { name: None, value: lower_expr(&list, level + 1) }],
    };
    match &*function.kind() {
        "identifier" => Some(Expr::Call { receiver: None, name: text_of(&function), arguments }),
        "attribute" => {
            let receiver = lower_expr(&function.field("object")?, level + 1);
            let name = text_of(&function.field("attribute")?);
            let lowered = lower_format(expr, &receiver, &name, arguments);
            Some(lowered.unwrap_or_else(|arguments| Expr::Call {
                receiver: Some(Box::new(receiver)),
                name,
                arguments,
            }))
        }
        _ => None,
    }
}

fn lower_argument(argument: &SyntaxNode<'_>, level: usize) -> Argument {
    match (argument.field("name"), argument.field("value")) {
        (Some(name), Some(value)) if &*argument.kind() == "keyword_argument" => {
            Argument { name: Some(text_of(&name)), value: lower_expr(&value, level + 1) }
        }
        // Any names may be in these arguments.
        _ if &*argument.kind() == "dictionary_splat" => {
            Argument { name: Some(ANY_NAME.to_owned()), value: lower_expr(argument, level + 1) }
        }
        _ => Argument { name: None, value: lower_expr(argument, level + 1) },
    }
}

fn lower_dictionary(children: &[SyntaxNode<'_>], level: usize) -> Option<Expr> {
    let pairs = children.iter().map(|pair| {
        let (key, value) = (pair.field("key")?, pair.field("value")?);
        Some((lower_expr(&key, level + 1), lower_expr(&value, level + 1)))
    });
    pairs.collect::<Option<Vec<_>>>().map(Expr::Map)
}

/// Lowers a comprehension to a closure with one loop, whose elements are mixed.
fn lower_comprehension(expr: &SyntaxNode<'_>, children: &[SyntaxNode<'_>], level: usize) -> Expr {
    let mut parts = Vec::new();
    for clause in children.iter().filter(|child| &*child.kind() == "for_in_clause") {
        if let (Some(left), Some(right)) = (clause.field("left"), clause.field("right")) {
            let assign = Expr::Assign(
                Box::new(lower_expr(&left, level + 1)),
                Box::new(node(&right, Expr::Mixed(vec![lower_expr(&right, level + 1)]))),
            );
            parts.push(node(clause, Expr::Opaque(vec![node(clause, assign)])));
        }
    }
    parts.extend(expr.field("body").map(|body| lower_expr(&body, level + 1)));
    Expr::Mixed(parts)
}
