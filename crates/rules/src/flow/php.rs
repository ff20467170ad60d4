//! Lowering of PHP into the common form.
//!
//! The functions of a file belong to a class without a name, and its other statements are its
//! function `<file>`. Types have their names without the namespace. A parameter without a type has
//! its own name as its type, so that patterns can name conventional variables such as `pdo`.

mod expressions;

use std::collections::HashMap;
use std::rc::Rc;

use self::expressions::lower_expr;
use super::form::{
    Case, Expr, FlowClass, FlowField, FlowFunction, FlowParameter, LoopForm, Node, Step,
};
use super::lowering::{MAX_LOWERING_DEPTH, line_of, named_children, node, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The name of the function that holds the statements of a file.
const FILE: &str = "<file>";

/// The functions that end the program.
const ENDING_FUNCTIONS: [&str; 6] = ["die", "exit", "abort", "wp_die", "dd", "wp_send_json_error"];

/// Lowers the functions and classes of a file. Returns them with the names of renamed imports.
pub(super) fn lower(syntax: &Syntax) -> (Vec<FlowClass>, HashMap<String, String>) {
    let root = syntax.root();
    let mut file =
        LoweredFile { own: FlowClass::default(), classes: Vec::new(), imports: HashMap::new() };
    let steps = file.lower_statements(&root, 0);
    let lines = lines_of(&root);
    file.own.functions.push(Rc::new(FlowFunction {
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
    file.classes.push(file.own);
    (file.classes, file.imports)
}

/// The definitions of a file.
struct LoweredFile {
    own: FlowClass,
    classes: Vec<FlowClass>,
    imports: HashMap<String, String>,
}

impl LoweredFile {
    /// Lowers the definitions below a node, and returns its other statements.
    fn lower_statements(&mut self, parent: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for child in named_children(parent) {
            match &*child.kind() {
                "function_definition" => {
                    self.own.functions.push(Rc::new(lower_function(&child, "")));
                }
                "class_declaration" | "trait_declaration" | "enum_declaration" => {
                    self.classes.extend(lower_class(&child));
                }
                "namespace_use_declaration" => self.add_imports(&child),
                "namespace_definition" => {
                    let body = child.field("body").filter(|_| level < MAX_LOWERING_DEPTH);
                    let inner = body.map(|body| self.lower_statements(&body, level + 1));
                    steps.extend(inner.unwrap_or_default());
                }
                _ => {
                    // Functions may also be defined in a branch.
                    for inner in child.dfs().filter(|own| &*own.kind() == "function_definition") {
                        self.own.functions.push(Rc::new(lower_function(&inner, "")));
                    }
                    steps.extend(lower_step(&child, 0));
                }
            }
        }
        steps
    }

    fn add_imports(&mut self, declaration: &SyntaxNode<'_>) {
        for clause in declaration.dfs().filter(|own| &*own.kind() == "namespace_use_clause") {
            let name = named_children(&clause).first().map(last_name);
            if let (Some(alias), Some(name)) = (clause.field("alias"), name) {
                self.imports.insert(text_of(&alias), name);
            }
        }
    }
}

/// Returns a name without its namespace.
fn last_name(name: &SyntaxNode<'_>) -> String {
    let text = text_of(name);
    text.rsplit('\\').next().unwrap_or(&text).to_owned()
}

/// Returns the name of a variable without its dollar sign.
fn variable_name(variable: &SyntaxNode<'_>) -> String {
    text_of(variable).trim_start_matches(['$', '&', '.']).to_owned()
}

// ---- definitions

fn lower_class(definition: &SyntaxNode<'_>) -> Option<FlowClass> {
    let name = text_of(&definition.field("name")?);
    let base = named_children(definition).into_iter().find(|own| &*own.kind() == "base_clause");
    let supertypes = base.map(|own| named_children(&own).iter().map(last_name).collect());
    let mut class = FlowClass {
        name: name.clone(),
        supertypes: supertypes.unwrap_or_default(),
        ..FlowClass::default()
    };
    for member in named_children(&definition.field("body")?) {
        match &*member.kind() {
            "method_declaration" => {
                class.fields.extend(promoted_fields(&member));
                class.functions.push(Rc::new(lower_function(&member, &name)));
            }
            "property_declaration" => {
                let type_name = member.field("type").map(|own| type_name(&own));
                let elements = named_children(&member);
                let elements = elements.iter().filter(|own| &*own.kind() == "property_element");
                class.fields.extend(elements.filter_map(|element| {
                    let name = variable_name(&element.field("name")?);
                    Some(FlowField { name, type_name: type_name.clone(), value: None })
                }));
            }
            "const_declaration" => class.fields.extend(constants(&member)),
            // The methods of a trait are methods of the class.
            "use_declaration" => {
                let names = named_children(&member);
                let names = names.iter().filter(|own| own.kind().ends_with("name"));
                class.supertypes.extend(names.map(last_name));
            }
            _ => {}
        }
    }
    Some(class)
}

fn constants(declaration: &SyntaxNode<'_>) -> Vec<FlowField> {
    let elements = named_children(declaration);
    let elements = elements.iter().filter(|own| &*own.kind() == "const_element");
    let field = |element: &SyntaxNode<'_>| match named_children(element).as_slice() {
        [name, value] => Some(FlowField {
            name: text_of(name),
            type_name: None,
            value: Some(lower_expr(value, 0)),
        }),
        _ => None,
    };
    elements.filter_map(field).collect()
}

/// Returns the fields that the parameters of a constructor declare.
fn promoted_fields(method: &SyntaxNode<'_>) -> Vec<FlowField> {
    let list = method.field("parameters").map(|list| named_children(&list)).unwrap_or_default();
    let promoted = list.iter().filter(|own| &*own.kind() == "property_promotion_parameter");
    let field = |own: &SyntaxNode<'_>| {
        Some(FlowField {
            name: variable_name(&own.field("name")?),
            type_name: own.field("type").map(|own| type_name(&own)),
            value: None,
        })
    };
    promoted.filter_map(field).collect()
}

/// Returns the name of a type; of several, the first one.
fn type_name(written: &SyntaxNode<'_>) -> String {
    let text = text_of(written);
    let first = text.trim_start_matches('?').split(['|', '&']).next().unwrap_or_default();
    first.rsplit('\\').next().unwrap_or(first).to_owned()
}

fn lower_function(definition: &SyntaxNode<'_>, class: &str) -> FlowFunction {
    let name = definition.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let body = definition.field("body");
    let mut steps = Vec::new();
    for field in promoted_fields(definition) {
        let place = || body.as_ref().unwrap_or(definition);
        let target = Expr::Field(Box::new(node(place(), Expr::This)), field.name.clone());
        let value = Box::new(node(place(), Expr::Name(field.name)));
        let assign = Expr::Assign(Box::new(node(place(), target)), value);
        steps.push(Step::Evaluate(node(place(), assign)));
    }
    steps.extend(body.as_ref().map(|body| lower_block(body, 0)).unwrap_or_default());
    let lines = lines_of(definition);
    FlowFunction {
        is_constructor: name == "__construct",
        is_exported: !is_hidden(definition),
        name,
        class: class.to_owned(),
        parameters: parameters(definition),
        decorators: annotations(definition),
        has_defaults: true,
        calls: body.map(|body| calls_in(&body)).unwrap_or_default(),
        body: steps,
        lines: (lines.start(), lines.end()),
    }
}

/// Returns true for a private or protected method.
fn is_hidden(definition: &SyntaxNode<'_>) -> bool {
    let modifier = definition.children().find(|own| &*own.kind() == "visibility_modifier");
    modifier.is_some_and(|own| matches!(&*own.text(), "private" | "protected"))
}

fn parameters(definition: &SyntaxNode<'_>) -> Vec<FlowParameter> {
    let list = definition.field("parameters").map(|list| named_children(&list));
    let lower = |parameter: &SyntaxNode<'_>| {
        let name = variable_name(&parameter.field("name")?);
        let written = parameter.field("type").map(|own| type_name(&own));
        Some(FlowParameter {
            type_name: written.or_else(|| Some(name.clone())),
            name,
            annotations: annotations(parameter),
            line: line_of(parameter),
            span: parameter.range(),
        })
    };
    list.unwrap_or_default().iter().filter_map(lower).collect()
}

/// Returns the attributes of a declaration by their names.
fn annotations(declaration: &SyntaxNode<'_>) -> Vec<String> {
    let Some(list) = declaration.field("attributes") else { return Vec::new() };
    let attributes = list.dfs().filter(|own| &*own.kind() == "attribute");
    attributes.filter_map(|own| named_children(&own).first().map(last_name)).collect()
}

/// Returns the names of the functions and methods that code calls.
fn calls_in(code: &SyntaxNode<'_>) -> Vec<String> {
    let mut names: Vec<String> = code
        .dfs()
        .filter_map(|call| match &*call.kind() {
            "function_call_expression" => call.field("function").map(|own| last_name(&own)),
            "member_call_expression" | "scoped_call_expression" => {
                call.field("name").map(|own| text_of(&own))
            }
            _ => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

// ---- statements

fn lower_block(block: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    match &*block.kind() {
        "compound_statement" | "colon_block" => {
            named_children(block).iter().flat_map(|own| lower_step(own, level + 1)).collect()
        }
        _ => lower_step(block, level + 1),
    }
}

fn lower_step(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    let children = named_children(step);
    let expr = |own: &SyntaxNode<'_>| lower_expr(own, level + 1);
    let first = || children.first().map(expr);
    let block =
        |field: &str| step.field(field).map(|own| lower_block(&own, level + 1)).unwrap_or_default();
    let evaluate = |field: &str| step.field(field).map(|own| expr(&own));
    match &*step.kind() {
        "compound_statement" | "colon_block" => lower_block(step, level),
        "expression_statement" => children.iter().map(|own| ended(expr(own))).collect(),
        "echo_statement" => {
            let arguments = children.iter().map(expr).collect();
            vec![Step::Evaluate(expressions::call_of(step, "echo", arguments))]
        }
        "exit_statement" => {
            vec![Step::Throw(first().map(|own| expressions::call_of(step, "exit", vec![own])))]
        }
        "return_statement" => vec![Step::Return(first())],
        "break_statement" => vec![Step::Break],
        "continue_statement" => vec![Step::Continue],
        "if_statement" => lower_if(step, level),
        "while_statement" | "do_statement" | "for_statement" => {
            vec![Step::Loop(Box::new(LoopForm {
                start: evaluate("initialize").into_iter().map(Step::Evaluate).collect(),
                element: None,
                condition: evaluate("condition"),
                update: evaluate("update").into_iter().map(Step::Evaluate).collect(),
                body: block("body"),
                runs_first: &*step.kind() == "do_statement",
            }))]
        }
        "foreach_statement" => lower_foreach(step, &children, level),
        "switch_statement" => lower_switch(step, level),
        "try_statement" => {
            let clauses = |kind: &str| {
                let own = children.iter().filter(|own| &*own.kind() == kind);
                let bodies = own.filter_map(|own| own.field("body"));
                bodies.map(|body| lower_block(&body, level + 1)).collect::<Vec<_>>()
            };
            let finally = clauses("finally_clause").into_iter().flatten().collect();
            vec![Step::Try { body: block("body"), handlers: clauses("catch_clause"), finally }]
        }
        "text"
        | "text_interpolation"
        | "php_tag"
        | "php_end_tag"
        | "global_declaration"
        | "function_definition"
        | "class_declaration"
        | "interface_declaration"
        | "trait_declaration"
        | "enum_declaration"
        | "const_declaration"
        | "empty_statement"
        | "namespace_use_declaration"
        | "declare_statement"
        | "unset_statement" => Vec::new(),
        "function_static_declaration" => Vec::new(),
        _ => vec![Step::Evaluate(expr(step))],
    }
}

/// Returns the step of an expression, which may end the program.
fn ended(value: Node) -> Step {
    let ends = matches!(
        &value.expr,
        Expr::Call { receiver: None, name, .. } if ENDING_FUNCTIONS.contains(&name.as_str())
    );
    if ends { Step::Throw(Some(value)) } else { Step::Evaluate(value) }
}

fn lower_if(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let mut otherwise = Vec::new();
    let clauses: Vec<SyntaxNode<'_>> = step.field_children("alternative").collect();
    for clause in clauses.iter().rev() {
        let body = clause.field("body").map(|own| lower_block(&own, level + 1));
        otherwise = match clause.field("condition") {
            Some(condition) => vec![Step::Branch {
                condition: lower_expr(&condition, level + 1),
                then: body.unwrap_or_default(),
                otherwise,
            }],
            None => body.unwrap_or_default(),
        };
    }
    let Some(condition) = step.field("condition") else { return otherwise };
    let then = step.field("body").map(|own| lower_block(&own, level + 1)).unwrap_or_default();
    vec![Step::Branch { condition: lower_expr(&condition, level + 1), then, otherwise }]
}

fn lower_foreach(step: &SyntaxNode<'_>, children: &[SyntaxNode<'_>], level: usize) -> Vec<Step> {
    let [values, target, ..] = children else { return Vec::new() };
    // The key of a pair is not followed.
    let target = match &*target.kind() {
        "pair" => named_children(target).into_iter().nth(1),
        _ => Some(target.clone()),
    };
    let Some(target) = target else { return Vec::new() };
    let body = step.field("body").map(|own| lower_block(&own, level + 1));
    vec![Step::Loop(Box::new(LoopForm {
        start: Vec::new(),
        element: Some((lower_expr(&target, level + 1), None, lower_expr(values, level + 1))),
        condition: None,
        update: Vec::new(),
        body: body.unwrap_or_default(),
        runs_first: false,
    }))]
}

fn lower_switch(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let Some(subject) = step.field("condition") else { return Vec::new() };
    let clauses = step.field("body").map(|body| named_children(&body)).unwrap_or_default();
    let cases = clauses.iter().map(|clause| {
        let label = clause.field("value").map(|own| lower_expr(&own, level + 1));
        let skipped = usize::from(label.is_some());
        let body = named_children(clause);
        let body = body.iter().skip(skipped).flat_map(|own| lower_step(own, level + 1)).collect();
        Case { labels: label.into_iter().collect(), body }
    });
    let cases = cases.collect();
    let subject = lower_expr(&subject, level + 1);
    vec![Step::Switch { subject, cases, falls_through: true }]
}
