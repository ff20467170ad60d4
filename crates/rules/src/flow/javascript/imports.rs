//! Imports of a module of JavaScript, by their dotted names.

use std::collections::HashMap;

use crate::flow::lowering::{named_children, text_of};
use crate::syntax::SyntaxNode;

pub(super) fn imports(root: &SyntaxNode<'_>, path: &str) -> HashMap<String, String> {
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
pub(super) fn is_import(value: &SyntaxNode<'_>) -> bool {
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

/// Returns the package that `require("package")` names; `None` for a module of the repository.
pub(super) fn required_package(call: &SyntaxNode<'_>) -> Option<String> {
    let argument = named_children(&call.field("arguments")?).into_iter().next()?;
    let name = text_of(&argument);
    let is_package = &*argument.kind() == "string" && !name[1..].starts_with('.');
    let is_require = text_of(&call.field("function")?) == "require";
    (is_package && is_require).then(|| module_name(&name, ""))
}
