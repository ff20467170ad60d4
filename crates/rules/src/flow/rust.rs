//! Lowering of Rust into the common form: types, functions and imports.
//!
//! - `statements`: blocks and statements. `expressions`: expressions. `patterns`: the variables that
//!   patterns bind. `macros`: the arguments of macros, which the grammar leaves as tokens.
//!
//! `Some(…)`, `Ok(…)`, `?`, `.await`, references and methods such as `unwrap` are the value inside.

mod expressions;
mod macros;
mod patterns;
mod statements;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use self::macros::{MacroArguments, MacroTexts};
use super::form::{FlowClass, FlowField, FlowFunction, FlowParameter, Step};
use super::lowering::{MAX_LOWERING_DEPTH, line_of, named_children, node, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The annotation of a parameter that a route of Rocket names.
const ROUTE_PARAMETER: &str = "RouteParameter";

/// The types that hold one value and pass it on.
const WRAPPERS: [&str; 20] = [
    "Option", "Box", "Arc", "Rc", "Cow", "Vec", "Result", "Mutex", "RwLock", "RefCell", "Cell",
    "State", "Data", "Extension", "Query", "Path", "Json", "Form", "TypedHeader", "Pin",
];

/// The lowering of one type or module of a file.
struct RustLowering<'a, 't> {
    /// The type of `Self`; empty outside of a type.
    class: String,
    arguments: &'a MacroArguments<'t>,
}

/// Lowers a file: its types and functions, and the dotted names of the functions that it imports.
pub(super) fn lower(syntax: &Syntax, text: &str) -> (Vec<FlowClass>, HashMap<String, String>) {
    let root = syntax.root();
    let texts = MacroTexts::new(syntax, text);
    let arguments = MacroArguments::new(&texts);
    let mut file = LoweredFile { module: FlowClass::default(), classes: Vec::new() };
    lower_items(&root, &arguments, &mut file, 0);
    let mut classes = file.classes;
    if !file.module.functions.is_empty() || !file.module.fields.is_empty() {
        classes.push(file.module);
    }
    (classes, imports(&root))
}

/// The functions outside of types, and the types.
struct LoweredFile {
    module: FlowClass,
    classes: Vec<FlowClass>,
}

fn lower_items(
    parent: &SyntaxNode<'_>,
    arguments: &MacroArguments<'_>,
    file: &mut LoweredFile,
    level: usize,
) {
    if level > MAX_LOWERING_DEPTH {
        return;
    }
    let mut attributes: Vec<String> = Vec::new();
    for item in named_children(parent) {
        match &*item.kind() {
            "attribute_item" => {
                attributes.push(item.text().into_owned());
                continue;
            }
            _ if is_test(&attributes) => {}
            "function_item" => {
                let lowering = RustLowering { class: String::new(), arguments };
                file.module.functions.push(Rc::new(lowering.function(&item, &attributes)));
            }
            "struct_item" => file.classes.extend(lower_struct(&item)),
            "impl_item" | "trait_item" => lower_impl(&item, arguments, file),
            "mod_item" => {
                if let Some(body) = item.field("body") {
                    lower_items(&body, arguments, file, level + 1);
                }
            }
            "const_item" | "static_item" => {
                let lowering = RustLowering { class: String::new(), arguments };
                file.module.fields.extend(lowering.constant(&item));
            }
            _ => {}
        }
        attributes.clear();
    }
}

/// Returns true for the attributes of code that only tests run.
fn is_test(attributes: &[String]) -> bool {
    attributes.iter().any(|own| {
        let own: String = own.chars().filter(|c| !c.is_whitespace()).collect();
        own == "#[cfg(test)]" || own.ends_with("test]") || own.ends_with("::test]")
    })
}

fn lower_struct(item: &SyntaxNode<'_>) -> Option<FlowClass> {
    let mut class = FlowClass { name: text_of(&item.field("name")?), ..FlowClass::default() };
    for field in item.field("body").map(|body| named_children(&body)).unwrap_or_default() {
        let Some(name) = field.field("name") else { continue };
        let type_name = field.field("type").map(|own| simple_type(&own.text()));
        class.fields.push(FlowField { name: text_of(&name), type_name, value: None });
    }
    Some(class)
}

/// Lowers the functions of an implementation into the class of its type.
fn lower_impl(item: &SyntaxNode<'_>, arguments: &MacroArguments<'_>, file: &mut LoweredFile) {
    let Some(own) = item.field("type").or_else(|| item.field("name")) else { return };
    let name = simple_type(&own.text());
    let lowering = RustLowering { class: name.clone(), arguments };
    let mut attributes: Vec<String> = Vec::new();
    let mut functions = Vec::new();
    let mut fields = Vec::new();
    for member in item.field("body").map(|body| named_children(&body)).unwrap_or_default() {
        match &*member.kind() {
            "attribute_item" => {
                attributes.push(member.text().into_owned());
                continue;
            }
            "function_item" => functions.push(Rc::new(lowering.function(&member, &attributes))),
            "const_item" => fields.extend(lowering.constant(&member)),
            _ => {}
        }
        attributes.clear();
    }
    match file.classes.iter_mut().find(|class| class.name == name) {
        Some(class) => {
            class.functions.extend(functions);
            class.fields.extend(fields);
        }
        None => {
            file.classes.push(FlowClass { name, functions, fields, ..FlowClass::default() });
        }
    }
}

impl RustLowering<'_, '_> {
    fn constant(&self, item: &SyntaxNode<'_>) -> Option<FlowField> {
        Some(FlowField {
            name: text_of(&item.field("name")?),
            type_name: item.field("type").map(|own| simple_type(&own.text())),
            value: item.field("value").map(|value| self.expr(&value, 0)),
        })
    }

    fn function(&self, function: &SyntaxNode<'_>, attributes: &[String]) -> FlowFunction {
        let routed = routed_names(attributes);
        let list = function.field("parameters");
        let all = list.map(|list| named_children(&list)).unwrap_or_default();
        let mut parameters = Vec::new();
        let mut body: Vec<Step> = Vec::new();
        for own in all.iter().filter(|child| &*child.kind() == "parameter") {
            let (parameter, steps) = self.parameter(own, &routed);
            parameters.push(parameter);
            body.extend(steps);
        }
        let block = function.field("body");
        body.extend(block.as_ref().map(|block| self.returning(block, 0)).unwrap_or_default());
        let lines = lines_of(function);
        FlowFunction {
            name: function.field("name").map(|name| text_of(&name)).unwrap_or_default(),
            class: self.class.clone(),
            parameters,
            decorators: Vec::new(),
            is_constructor: false,
            is_exported: function.children().any(|child| &*child.text() == "pub"),
            has_defaults: false,
            calls: block.as_ref().map(calls).unwrap_or_default(),
            body,
            lines: (lines.start(), lines.end()),
        }
    }

    /// Lowers a parameter, with the steps that bind the variables of its pattern.
    fn parameter(
        &self,
        parameter: &SyntaxNode<'_>,
        routed: &HashSet<String>,
    ) -> (FlowParameter, Vec<Step>) {
        let type_text = parameter.field("type").map(|own| text_of(&own)).unwrap_or_default();
        let pattern = parameter.field("pattern");
        let is_name = pattern.as_ref().is_some_and(|own| &*own.kind() == "identifier");
        let name = match &pattern {
            Some(own) if is_name => text_of(own),
            _ => format!("<parameter at {}>", parameter.range().start),
        };
        let mut annotations: Vec<String> = extractor(&type_text).into_iter().collect();
        if routed.contains(&name) && !type_text.contains("PathBuf") {
            annotations.push(ROUTE_PARAMETER.to_owned());
        }
        let steps = match &pattern {
            Some(own) if !is_name => {
                let value = node(own, super::form::Expr::Name(name.clone()));
                self.bind(own, value, Some(&inner_type(&type_text)), 0)
            }
            _ => Vec::new(),
        };
        let lowered = FlowParameter {
            name,
            type_name: Some(simple_type(&type_text)),
            annotations,
            line: line_of(parameter),
            span: parameter.range(),
        };
        (lowered, steps)
    }
}

/// Returns the names of the parameters that a route of Rocket takes from the request.
fn routed_names(attributes: &[String]) -> HashSet<String> {
    const ROUTES: [&str; 8] = ["get", "post", "put", "delete", "patch", "head", "options", "route"];
    let is_route = |own: &&String| {
        let name = own.trim_start_matches(['#', '[']).split('(').next().unwrap_or_default();
        ROUTES.contains(&name.rsplit("::").next().unwrap_or(name).trim())
    };
    let parts = attributes.iter().filter(is_route).flat_map(|own| own.split('<').skip(1));
    parts
        .filter_map(|part| part.split_once('>'))
        .map(|(name, _)| name.trim_end_matches('.').to_owned())
        .collect()
}

/// Returns the extractor of a parameter: the type with which a framework reads a request. A type
/// such as `Path` reads one only if it has the type of its value.
fn extractor(text: &str) -> Option<String> {
    const GENERIC: [&str; 7] =
        ["Query", "Path", "Json", "Form", "TypedHeader", "Qs", "ValidatedJson"];
    const PLAIN: [&str; 7] =
        ["HeaderMap", "RawQuery", "OriginalUri", "Multipart", "CookieJar", "RawForm", "Bytes"];
    let text = text.trim_start_matches('&');
    let name = text.split('<').next().unwrap_or(text).rsplit("::").next().unwrap_or(text);
    let is_extractor =
        if text.contains('<') { GENERIC.contains(&name) } else { PLAIN.contains(&name) };
    is_extractor.then(|| name.to_owned())
}

/// Returns a type without references and the wrappers around it.
fn inner_type(text: &str) -> String {
    let mut text: &str = &text.replace('\'', "& ");
    loop {
        let before = text;
        text = text.trim_start_matches(['&', ' ', '*']).trim_start_matches("mut ").trim();
        text = text.trim_start_matches("dyn ").trim_start_matches("impl ");
        // A lifetime stands before the type.
        if let Some((first, rest)) = text.split_once(' ')
            && first.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            text = rest;
        }
        if let Some((name, rest)) = text.split_once('<') {
            let last = name.rsplit("::").next().unwrap_or(name).trim();
            if WRAPPERS.contains(&last) {
                let inside = rest.strip_suffix('>').unwrap_or(rest);
                text = first_argument(inside);
            }
        }
        if text == before {
            return text.to_owned();
        }
    }
}

/// Returns the first type of a list of type arguments that is no lifetime.
fn first_argument(text: &str) -> &str {
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                let part = text[start..at].trim();
                if !part.starts_with('&') || part.contains(char::is_uppercase) {
                    return part;
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    text[start..].trim()
}

/// Returns the simple name of a type, without references, wrappers, paths and type arguments.
fn simple_type(text: &str) -> String {
    let inner = inner_type(text);
    let base = inner.split('<').next().unwrap_or(&inner).trim();
    match base.rsplit("::").next().unwrap_or(base).trim() {
        "str" => "String".to_owned(),
        "usize" | "isize" => "u64".to_owned(),
        other => other.trim_matches(['[', ']']).to_owned(),
    }
}

/// Returns the names of the functions that a piece of code calls.
fn calls(body: &SyntaxNode<'_>) -> Vec<String> {
    let all = body.dfs().filter(|inner| &*inner.kind() == "call_expression");
    let mut names: Vec<String> = all
        .filter_map(|call| {
            let function = text_of(&call.field("function")?);
            let name = function.split("::<").next().unwrap_or(&function);
            Some(name.rsplit([':', '.']).next().unwrap_or(name).to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the functions that a file imports by their names, each with its module.
fn imports(root: &SyntaxNode<'_>) -> HashMap<String, String> {
    let called: HashSet<String> = root
        .dfs()
        .filter(|inner| &*inner.kind() == "call_expression")
        .filter_map(|call| call.field("function"))
        .filter(|function| &*function.kind() == "identifier")
        .map(|function| text_of(&function))
        .collect();
    let mut found = HashMap::new();
    let declarations = root.dfs().filter(|inner| &*inner.kind() == "use_declaration");
    for argument in declarations.filter_map(|declaration| declaration.field("argument")) {
        collect_imports(&argument, "", &called, &mut found, 0);
    }
    found
}

fn collect_imports(
    place: &SyntaxNode<'_>,
    module: &str,
    called: &HashSet<String>,
    into: &mut HashMap<String, String>,
    level: usize,
) {
    if level > MAX_LOWERING_DEPTH {
        return;
    }
    let last = |text: &str| text.rsplit("::").next().unwrap_or(text).to_owned();
    let mut add = |alias: String, path: &str| {
        let (module, name) = match path.rsplit_once("::") {
            Some((module, name)) => (last(module), name.to_owned()),
            None => (last(module), path.to_owned()),
        };
        let is_own = matches!(module.as_str(), "" | "crate" | "self" | "super");
        if called.contains(&alias) && !is_own {
            into.insert(alias, format!("{module}.{name}"));
        }
    };
    match &*place.kind() {
        "scoped_identifier" | "identifier" => {
            let path = text_of(place);
            add(last(&path), &path);
        }
        "use_as_clause" => {
            if let (Some(path), Some(alias)) = (place.field("path"), place.field("alias")) {
                add(text_of(&alias), &text_of(&path));
            }
        }
        "scoped_use_list" => {
            let path = place.field("path").map(|path| text_of(&path)).unwrap_or_default();
            if let Some(list) = place.field("list") {
                collect_imports(&list, &path, called, into, level + 1);
            }
        }
        "use_list" => {
            for own in named_children(place) {
                collect_imports(&own, module, called, into, level + 1);
            }
        }
        _ => {}
    }
}
