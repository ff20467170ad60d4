//! Lowering of the functions, classes and exports of JavaScript.

use std::collections::HashSet;
use std::rc::Rc;

use super::expressions::lower_expr;
use super::{lower_body, lower_parameters};
use crate::flow::form::{FlowClass, FlowField, FlowFunction};
use crate::flow::lowering::{calls_in, named_children, text_of};
use crate::syntax::{SyntaxNode, lines_of};

/// The exports of a module.
pub(super) struct Exports {
    names: HashSet<String>,
    /// The lines of the export statements.
    lines: Vec<(u32, u32)>,
}

impl Exports {
    pub(super) fn of(root: &SyntaxNode<'_>) -> Exports {
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
    pub(super) fn contains(&self, function: &FlowFunction) -> bool {
        let (start, end) = function.lines;
        self.lines.is_empty()
            || self.names.contains(&function.name)
            || self.names.contains(&function.class)
            || self.lines.iter().any(|lines| lines.0 <= start && end <= lines.1)
    }
}

/// The definitions of a file.
pub(super) struct LoweredFile {
    pub(super) module: FlowClass,
    pub(super) classes: Vec<FlowClass>,
}

impl LoweredFile {
    /// Adds a function or a class. Returns false for other statements.
    pub(super) fn add_definition(&mut self, statement: &SyntaxNode<'_>) -> bool {
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
