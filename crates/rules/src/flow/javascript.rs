//! Lowering of JavaScript and TypeScript into the common form.
//!
//! The functions of a module belong to a class without a name, and the statements of the module are
//! its function `<module>`. A parameter without a type has its own name as its type, so that
//! patterns can name conventional parameters such as `req`. A module of the repository has its path
//! as its name, with a slash in front; characters of other modules that are not part of names become
//! `_`, as in `fs_promises`.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::form::{
    Argument, BinaryOperator, Case, ClosureParameter, Constant, Expr, FlowClass, FlowField,
    FlowFunction, FlowParameter, LoopForm, Node, Step,
};
use super::lowering::{
    CALLED_VALUE, MAX_LOWERING_DEPTH, calls_in, line_of, named_children, node, text_of,
};
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

/// The exports of a module.
struct Exports {
    names: HashSet<String>,
    /// The lines of the export statements.
    lines: Vec<(u32, u32)>,
}

impl Exports {
    fn of(root: &SyntaxNode<'_>) -> Exports {
        let is_export = |own: &SyntaxNode<'_>| {
            let text = own.text();
            &*own.kind() == "export_statement"
                || text.starts_with("module.exports")
                || text.starts_with("exports.")
        };
        let mut exports = Exports { names: HashSet::new(), lines: Vec::new() };
        for statement in named_children(root).iter().filter(|own| is_export(own)) {
            let lines = lines_of(statement);
            exports.lines.push((lines.start(), lines.end()));
            if statement.field("declaration").is_none() {
                let leaves = statement.dfs().filter(|own| own.is_named_leaf());
                exports.names.extend(leaves.map(|own| text_of(&own)));
            }
        }
        exports
    }

    /// Returns true if an export has the function or its class, or if the file is a script, which
    /// exports nothing.
    fn contains(&self, function: &FlowFunction) -> bool {
        let (start, end) = function.lines;
        self.lines.is_empty()
            || self.names.contains(&function.name)
            || self.names.contains(&function.class)
            || self.lines.iter().any(|lines| lines.0 <= start && end <= lines.1)
    }
}

// ---- imports

fn imports(root: &SyntaxNode<'_>, path: &str) -> HashMap<String, String> {
    let mut imports = HashMap::new();
    for inner in root.dfs() {
        match &*inner.kind() {
            "import_statement" => add_import(&inner, path, &mut imports),
            "variable_declarator" => {
                let names = required_names(&inner, path, &imports);
                imports.extend(names.unwrap_or_default());
            }
            _ => {}
        }
    }
    imports
}

fn add_import(statement: &SyntaxNode<'_>, path: &str, imports: &mut HashMap<String, String>) {
    let Some(source) = statement.field("source") else { return };
    let module = module_name(&text_of(&source), path);
    for inner in statement.dfs() {
        match &*inner.kind() {
            "import_specifier" => {
                let Some(name) = inner.field("name") else { continue };
                let own = inner.field("alias").unwrap_or_else(|| name.clone());
                imports.insert(text_of(&own), format!("{module}.{}", text_of(&name)));
            }
            "import_clause" | "namespace_import" => {
                let children = named_children(&inner);
                let names = children.iter().filter(|child| &*child.kind() == "identifier");
                names.for_each(|name| {
                    imports.insert(text_of(name), module.clone());
                });
            }
            _ => {}
        }
    }
}

/// Returns the names of `const fs = require("fs")` and `const run = promisify(exec)`.
fn required_names(
    declarator: &SyntaxNode<'_>,
    path: &str,
    imports: &HashMap<String, String>,
) -> Option<Vec<(String, String)>> {
    let (target, value) = (declarator.field("name")?, declarator.field("value")?);
    let (call, property) = imported_call(value)?;
    let function = text_of(&call.field("function")?);
    let argument = named_children(&call.field("arguments")?).into_iter().next()?;
    if matches!(function.as_str(), "promisify" | "util.promisify") {
        let text = text_of(&argument);
        let (first, rest) = text.split_once('.').unwrap_or((&text, ""));
        let known = imports.get(first)?;
        let dotted = if rest.is_empty() { known.clone() } else { format!("{known}.{rest}") };
        return Some(vec![(text_of(&target), dotted)]);
    }
    if !matches!(function.as_str(), "require" | "import") || &*argument.kind() != "string" {
        return None;
    }
    let module = module_name(&text_of(&argument), path) + &property;
    let names = bound_names(&target).into_iter().map(|(name, property)| {
        let dotted = property.map(|property| format!("{module}.{property}"));
        (name, dotted.unwrap_or_else(|| module.clone()))
    });
    Some(names.collect())
}

/// Returns the call of an import, and the property of its result with a dot in front: `require("fs")`
/// and `.promises` of `require("fs").promises`.
fn imported_call(value: SyntaxNode<'_>) -> Option<(SyntaxNode<'_>, String)> {
    match &*value.kind() {
        "await_expression" => Some((named_children(&value).into_iter().next()?, String::new())),
        "member_expression" => {
            let property = text_of(&value.field("property")?);
            Some((value.field("object")?, format!(".{property}")))
        }
        _ => Some((value, String::new())),
    }
}

/// Returns true for `require("fs")` and `promisify(exec)`.
fn is_import(value: &SyntaxNode<'_>) -> bool {
    let call = imported_call(value.clone()).map(|(call, _)| call);
    let function = call.and_then(|call| call.field("function"));
    let function = function.map(|function| text_of(&function));
    function.is_some_and(|name| matches!(&*name, "require" | "promisify" | "util.promisify"))
}

/// Returns the names that a declaration binds, each with the property of its value.
fn bound_names(target: &SyntaxNode<'_>) -> Vec<(String, Option<String>)> {
    if &*target.kind() == "identifier" {
        return vec![(text_of(target), None)];
    }
    let parts = named_children(target).into_iter().filter_map(|part| match &*part.kind() {
        "shorthand_property_identifier_pattern" => Some((text_of(&part), Some(text_of(&part)))),
        "pair_pattern" => {
            Some((text_of(&part.field("value")?), Some(text_of(&part.field("key")?))))
        }
        _ => None,
    });
    parts.collect()
}

/// Returns the name of a module: the path for a module of the repository.
fn module_name(quoted: &str, path: &str) -> String {
    let name = quoted.trim_matches(['"', '\'', '`']);
    if !name.starts_with('.') {
        let name = name.trim_start_matches("node:").trim_start_matches('@');
        return name.replace(|c: char| !c.is_alphanumeric(), "_");
    }
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                folders.pop();
            }
            part => folders.push(part),
        }
    }
    format!("/{}", folders.join("/"))
}

// ---- definitions

/// The definitions of a file.
struct LoweredFile {
    module: FlowClass,
    classes: Vec<FlowClass>,
}

impl LoweredFile {
    /// Adds a function or a class. Returns false for other statements.
    fn add_definition(&mut self, statement: &SyntaxNode<'_>) -> bool {
        match &*statement.kind() {
            "export_statement" => statement
                .field("declaration")
                .is_some_and(|declaration| self.add_definition(&declaration)),
            "function_declaration" | "generator_function_declaration" => {
                let name = statement.field("name").map(|name| text_of(&name)).unwrap_or_default();
                self.module.functions.push(Rc::new(lower_function(statement, name, "")));
                true
            }
            "class_declaration" | "abstract_class_declaration" => {
                self.classes.push(lower_class(statement));
                true
            }
            "lexical_declaration" | "variable_declaration" => {
                let declarators = named_children(statement);
                let all = declarators.iter().map(function_of_declarator);
                let Some(all) = all.collect::<Option<Vec<_>>>() else {
                    let is_constant = statement.text().starts_with("const");
                    let constants = declarators.iter().filter_map(constant_field);
                    self.module.fields.extend(constants.filter(|_| is_constant));
                    return false;
                };
                self.module.functions.extend(all);
                true
            }
            "expression_statement" => {
                let function = named_children(statement).first().and_then(exported_function);
                self.module.functions.extend(function.clone());
                function.is_some()
            }
            _ => false,
        }
    }
}

fn is_function(value: &SyntaxNode<'_>) -> bool {
    matches!(&*value.kind(), "arrow_function" | "function_expression")
}

/// Returns the function of `const name = (…) => …`.
fn function_of_declarator(declarator: &SyntaxNode<'_>) -> Option<Rc<FlowFunction>> {
    let name = declarator.field("name").filter(|name| &*name.kind() == "identifier")?;
    let value = declarator.field("value").filter(is_function)?;
    Some(Rc::new(lower_function(&value, text_of(&name), "")))
}

/// Returns the field of `const name = "text"`.
fn constant_field(declarator: &SyntaxNode<'_>) -> Option<FlowField> {
    let name = declarator.field("name").filter(|name| &*name.kind() == "identifier")?;
    let is_literal = |value: &SyntaxNode<'_>| matches!(&*value.kind(), "string" | "number");
    let value = declarator.field("value").filter(is_literal)?;
    Some(FlowField { name: text_of(&name), type_name: None, value: Some(lower_expr(&value, 0)) })
}

/// Returns the function of `exports.name = (…) => …`.
fn exported_function(assignment: &SyntaxNode<'_>) -> Option<Rc<FlowFunction>> {
    let left = assignment.field("left").filter(|left| &*left.kind() == "member_expression")?;
    let value = assignment.field("right").filter(is_function)?;
    let name = text_of(&left.field("property")?);
    Some(Rc::new(lower_function(&value, name, "")))
}

fn lower_class(definition: &SyntaxNode<'_>) -> FlowClass {
    let name = definition.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let children = named_children(definition);
    let heritage = children.iter().find(|child| &*child.kind() == "class_heritage");
    let supertypes = heritage.map(|heritage| {
        let names = heritage.dfs().filter(|own| &*own.kind() == "identifier");
        names.map(|own| text_of(&own)).collect()
    });
    let members = definition.field("body").map(|body| named_children(&body)).unwrap_or_default();
    let methods = members.iter().filter_map(|member| {
        let own = match &*member.kind() {
            "method_definition" => member.clone(),
            "field_definition" | "public_field_definition" => {
                member.field("value").filter(is_function)?
            }
            _ => return None,
        };
        let method = member.field("name").or_else(|| member.field("property"))?;
        Some(Rc::new(lower_function(&own, text_of(&method), &name)))
    });
    let functions = methods.collect();
    FlowClass {
        functions,
        name,
        supertypes: supertypes.unwrap_or_default(),
        ..FlowClass::default()
    }
}

fn lower_function(definition: &SyntaxNode<'_>, name: String, class: &str) -> FlowFunction {
    let (parameters, mut body) = lower_parameters(definition);
    let written = definition.field("body");
    let calls = written.as_ref().map(|body| calls_in(body, "call_expression", "function"));
    body.extend(written.map(|body| lower_body(&body, 0)).unwrap_or_default());
    let lines = lines_of(definition);
    FlowFunction {
        is_constructor: name == "constructor",
        is_exported: !is_hidden(definition, &name),
        has_defaults: true,
        name,
        class: class.to_owned(),
        parameters,
        decorators: Vec::new(),
        calls: calls.unwrap_or_default(),
        body,
        lines: (lines.start(), lines.end()),
    }
}

/// Returns true for a private method, and for a name that is private by convention.
fn is_hidden(definition: &SyntaxNode<'_>, name: &str) -> bool {
    let mut children = definition.children();
    let has_modifier = children.any(|own| {
        &*own.kind() == "accessibility_modifier" && matches!(&*own.text(), "private" | "protected")
    });
    has_modifier || name.starts_with(['#', '_'])
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

// ---- statements

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

// ---- expressions

fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let children = named_children(expr);
    let inner =
        |field: &str| expr.field(field).map(|inner| Box::new(lower_expr(&inner, level + 1)));
    let all = || children.iter().map(|child| lower_expr(child, level + 1)).collect::<Vec<Node>>();
    let kind = expr.kind();
    let lowered =
        match &*kind {
            "identifier" => Some(Expr::Name(text_of(expr))),
            "this" => Some(Expr::This),
            "true" => Some(Expr::Constant(Constant::Boolean(true))),
            "false" => Some(Expr::Constant(Constant::Boolean(false))),
            "null" | "undefined" => Some(Expr::Constant(Constant::Null)),
            "number" => {
                let number = text_of(expr).parse().ok();
                Some(number.map_or_else(
                    || Expr::Opaque(Vec::new()),
                    |n| Expr::Constant(Constant::Integer(n)),
                ))
            }
            "string" | "template_string" => Some(lower_text(expr, level)),
            "regex" => Some(Expr::New { type_name: regex_type(expr), arguments: Vec::new() }),
            "member_expression" => {
                let name = expr.field("property").map(|name| text_of(&name));
                inner("object").zip(name).map(|(object, name)| Expr::Field(object, name))
            }
            "subscript_expression" => inner("object")
                .zip(inner("index"))
                .map(|(object, index)| Expr::Index(object, index)),
            "call_expression" => lower_call(expr, level),
            "new_expression" => expr.field("constructor").map(|own| Expr::New {
                type_name: text_of(&own).rsplit('.').next().unwrap_or_default().to_owned(),
                arguments: arguments(expr, level),
            }),
            "binary_expression" => {
                let operator = expr.field("operator").map(|own| binary_operator(&own.text()));
                let sides = inner("left").zip(inner("right"));
                operator.zip(sides).map(|(operator, (a, b))| Expr::Binary(operator, a, b))
            }
            "unary_expression" => match expr.field("operator").map(|own| own.text().into_owned()) {
                Some(operator) if operator == "!" => inner("argument").map(Expr::Not),
                _ => Some(Expr::Opaque(all())),
            },
            "ternary_expression" => inner("condition")
                .zip(inner("consequence").zip(inner("alternative")))
                .map(|(condition, (then, otherwise))| Expr::Ternary(condition, then, otherwise)),
            "assignment_expression" => {
                inner("left").zip(inner("right")).map(|(a, b)| Expr::Assign(a, b))
            }
            "augmented_assignment_expression" => {
                inner("left").zip(inner("right")).map(|(a, b)| Expr::Extend(a, b))
            }
            "array" => Some(Expr::List(all())),
            "object" => Some(lower_object(&children, level)),
            "arrow_function" | "function_expression" => Some(lower_closure(expr, level)),
            "await_expression"
            | "parenthesized_expression"
            | "non_null_expression"
            | "as_expression"
            | "satisfies_expression" => {
                return children.first().map_or_else(
                    || node(expr, Expr::Opaque(Vec::new())),
                    |own| lower_expr(own, level + 1),
                );
            }
            "jsx_attribute" => lower_jsx_attribute(&children, level),
            _ => None,
        };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(all())))
}

fn binary_operator(operator: &str) -> BinaryOperator {
    match operator {
        "+" => BinaryOperator::Add,
        "-" => BinaryOperator::Subtract,
        "*" => BinaryOperator::Multiply,
        "<" => BinaryOperator::Less,
        "<=" => BinaryOperator::LessOrEqual,
        ">" => BinaryOperator::Greater,
        ">=" => BinaryOperator::GreaterOrEqual,
        "==" | "===" => BinaryOperator::Equal,
        "!=" | "!==" => BinaryOperator::NotEqual,
        "&&" => BinaryOperator::And,
        "||" | "??" => BinaryOperator::Or,
        "in" => BinaryOperator::In,
        _ => BinaryOperator::Other,
    }
}

/// Returns the type of a regular expression: one that describes the whole text checks the text.
fn regex_type(expr: &SyntaxNode<'_>) -> String {
    let pattern = expr.field("pattern").map(|pattern| pattern.text().into_owned());
    let is_whole = pattern.is_some_and(|text| text.starts_with('^') && text.ends_with('$'));
    if is_whole { "WholeRegExp" } else { "RegExp" }.to_owned()
}

fn lower_text(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let mut parts = Vec::new();
    for child in named_children(expr) {
        match &*child.kind() {
            "template_substitution" => {
                let inner = named_children(&child);
                parts.extend(inner.iter().map(|value| lower_expr(value, level + 1)));
            }
            _ => {
                let text = child.text().into_owned();
                parts.push(node(&child, Expr::Constant(Constant::Text(text))));
            }
        }
    }
    match parts.len() {
        0 => Expr::Constant(Constant::Text(String::new())),
        _ => Expr::Text(parts),
    }
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let function = expr.field("function")?;
    if let Some(package) = required_package(expr) {
        return Some(Expr::Name(package));
    }
    let mut arguments = arguments(expr, level);
    match &*function.kind() {
        "identifier" | "import" => {
            Some(Expr::Call { receiver: None, name: text_of(&function), arguments })
        }
        "member_expression" => {
            let receiver = Box::new(lower_expr(&function.field("object")?, level + 1));
            let name = text_of(&function.field("property")?);
            // `allowed.includes(x)` and `allowed.has(x)` ask whether `x` is in `allowed`.
            if matches!(name.as_str(), "includes" | "has") && arguments.len() == 1 {
                let element = Box::new(arguments.remove(0).value);
                return Some(Expr::Binary(BinaryOperator::In, element, receiver));
            }
            Some(Expr::Call { receiver: Some(receiver), name, arguments })
        }
        // A function that another call returned.
        _ => {
            let receiver = Some(Box::new(lower_expr(&function, level + 1)));
            Some(Expr::Call { receiver, name: CALLED_VALUE.to_owned(), arguments })
        }
    }
}

/// Returns the package that `require("package")` names; `None` for a module of the repository.
fn required_package(call: &SyntaxNode<'_>) -> Option<String> {
    let argument = named_children(&call.field("arguments")?).into_iter().next()?;
    let name = text_of(&argument);
    let is_package = &*argument.kind() == "string" && !name[1..].starts_with('.');
    let is_require = text_of(&call.field("function")?) == "require";
    (is_package && is_require).then(|| module_name(&name, ""))
}

fn arguments(call: &SyntaxNode<'_>, level: usize) -> Vec<Argument> {
    let Some(list) = call.field("arguments") else { return Vec::new() };
    // A tagged template passes its parts apart from the text, so no text is built.
    if &*list.kind() == "template_string" {
        let parts = named_children(&list);
        let parts = parts.iter().flat_map(named_children);
        return parts
            .map(|part| argument(node(&part, Expr::Opaque(vec![lower_expr(&part, level + 1)]))))
            .collect();
    }
    named_children(&list).iter().map(|own| argument(lower_expr(own, level + 1))).collect()
}

fn argument(value: Node) -> Argument {
    Argument { name: None, value }
}

fn lower_object(children: &[SyntaxNode<'_>], level: usize) -> Expr {
    let mut pairs = Vec::new();
    let mut others = Vec::new();
    for child in children {
        let key = |text: &str| {
            let text = text.trim_matches(['"', '\'']).to_owned();
            node(child, Expr::Constant(Constant::Text(text)))
        };
        match (&*child.kind(), child.field("key"), child.field("value")) {
            ("pair", Some(own), Some(value)) => {
                pairs.push((key(&text_of(&own)), lower_expr(&value, level + 1)));
            }
            ("shorthand_property_identifier", ..) => {
                let name = text_of(child);
                pairs.push((key(&name), node(child, Expr::Name(name.clone()))));
            }
            ("method_definition", ..) => others.push(node(child, lower_closure(child, level))),
            _ => others.push(lower_expr(child, level + 1)),
        }
    }
    if others.is_empty() {
        return Expr::Map(pairs);
    }
    others.extend(pairs.into_iter().map(|(_, value)| value));
    Expr::Mixed(others)
}

fn lower_closure(definition: &SyntaxNode<'_>, level: usize) -> Expr {
    let (parameters, mut body) = lower_parameters(definition);
    let written = definition.field("body");
    body.extend(written.map(|body| lower_body(&body, level + 1)).unwrap_or_default());
    let parameters = parameters
        .into_iter()
        .map(|own| ClosureParameter { name: own.name, type_name: own.type_name })
        .collect();
    Expr::Lambda(parameters, body)
}

/// Lowers the attribute that sets the HTML of an element to a call; its value is the argument.
fn lower_jsx_attribute(children: &[SyntaxNode<'_>], level: usize) -> Option<Expr> {
    let [name, value] = children else { return None };
    let name = text_of(name);
    if name != "dangerouslySetInnerHTML" {
        return None;
    }
    let arguments = vec![argument(lower_expr(value, level + 1))];
    Some(Expr::Call { receiver: None, name, arguments })
}
