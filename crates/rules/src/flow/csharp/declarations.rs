//! Lowering of the types and functions of C#.

use std::rc::Rc;

use super::expressions::{lower_expr, simple_type};
use super::{child_of_kind, declarators, lower_body, lower_step};
use crate::flow::form::{FlowClass, FlowField, FlowFunction, FlowParameter};
use crate::flow::lowering::{MAX_LOWERING_DEPTH, calls_in, line_of, named_children, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// The annotation of a parameter whose value the framework reads from the request.
const BOUND_PARAMETER: &str = "BoundParameter";

/// The methods of ASP.NET Core that connect an address with a closure.
const ENDPOINTS: [&str; 6] = ["MapGet", "MapPost", "MapPut", "MapDelete", "MapPatch", "MapMethods"];

/// The interfaces whose values a framework reads from a request.
const BOUND_INTERFACES: [&str; 9] = [
    "IEnumerable", "IList", "ICollection", "IReadOnlyList", "IReadOnlyCollection", "IDictionary",
    "IFormFile", "IFormCollection", "IFormFileCollection",
];

/// Lowers the types of a file, its top-level statements, and its endpoints that are closures.
pub(in crate::flow) fn lower(syntax: &Syntax) -> Vec<FlowClass> {
    let mut classes = Vec::new();
    let root = syntax.root();
    lower_members(&root, &mut classes, imports_web(&root), 0);
    let mut program = FlowClass::default();
    program.functions.extend(top_level_function(&root).map(Rc::new));
    program.functions.extend(local_functions(&root, "").into_iter().map(Rc::new));
    program.functions.extend(endpoints(&root).into_iter().map(Rc::new));
    if !program.functions.is_empty() {
        classes.push(program);
    }
    classes
}

fn lower_members(
    parent: &SyntaxNode<'_>,
    classes: &mut Vec<FlowClass>,
    has_web: bool,
    level: usize,
) {
    if level > MAX_LOWERING_DEPTH {
        return;
    }
    for child in named_children(parent) {
        match &*child.kind() {
            "class_declaration"
            | "struct_declaration"
            | "record_declaration"
            | "interface_declaration" => lower_class(&child, classes, has_web, level + 1),
            "namespace_declaration" | "declaration_list" => {
                lower_members(&child, classes, has_web, level + 1);
            }
            // Code under a condition of the preprocessor.
            kind if kind.starts_with("preproc_if") => {
                lower_members(&child, classes, has_web, level + 1)
            }
            _ => {}
        }
    }
}

fn lower_class(class: &SyntaxNode<'_>, classes: &mut Vec<FlowClass>, has_web: bool, level: usize) {
    let Some(name) = class.field("name") else { return };
    let supertypes = child_of_kind(class, "base_list").map(|list| {
        named_children(&list).iter().map(|own| simple_type(&own.text())).collect::<Vec<_>>()
    });
    let mut lowered = FlowClass {
        name: text_of(&name),
        supertypes: supertypes.unwrap_or_default(),
        ..FlowClass::default()
    };
    // The parameters of a record or a primary constructor are its fields.
    if let Some(list) = child_of_kind(class, "parameter_list") {
        let fields = lower_parameters(&list).into_iter();
        lowered.fields.extend(fields.map(|own| FlowField {
            name: own.name,
            type_name: own.type_name,
            value: None,
        }));
    }
    let controller = controller_kind(class, &lowered, has_web);
    let Some(body) = class.field("body") else {
        classes.push(lowered);
        return;
    };
    for member in members(&body) {
        match &*member.kind() {
            "method_declaration" | "constructor_declaration" | "operator_declaration" => {
                let mut function = lower_function(&member, &lowered.name);
                if is_action(&member, controller) {
                    bind_parameters(&mut function.parameters);
                }
                lowered.functions.push(Rc::new(function));
                lowered
                    .functions
                    .extend(local_functions(&member, &lowered.name).into_iter().map(Rc::new));
            }
            "field_declaration" => lowered.fields.extend(lower_fields(&member)),
            "property_declaration" => lower_property(&member, &mut lowered),
            _ => {}
        }
    }
    lower_members(&body, classes, has_web, level + 1);
    classes.push(lowered);
}

/// Returns true if a file imports a namespace of ASP.NET.
fn imports_web(root: &SyntaxNode<'_>) -> bool {
    let mut imports = root.children().filter(|child| &*child.kind() == "using_directive");
    imports
        .any(|own| ["Microsoft.AspNetCore", "System.Web"].iter().any(|it| own.text().contains(it)))
}

/// Returns the members of a type, with those under a condition of the preprocessor.
fn members<'t>(body: &SyntaxNode<'t>) -> Vec<SyntaxNode<'t>> {
    let all = named_children(body).into_iter().flat_map(|member| {
        match member.kind().starts_with("preproc_if") {
            true => named_children(&member),
            false => vec![member],
        }
    });
    all.collect()
}

/// The classes whose public methods may answer requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ControllerKind {
    /// A class of ASP.NET.
    Certain,
    /// A class whose base has the name of a controller, which may be one of another framework.
    ByName,
    None,
}

/// Returns whether the public methods of a class answer requests.
fn controller_kind(class: &SyntaxNode<'_>, lowered: &FlowClass, has_web: bool) -> ControllerKind {
    let bases = ["Controller", "ControllerBase", "ApiController", "PageModel"];
    let is_base = |own: &String| bases.contains(&own.as_str());
    let is_named = |own: &String| own.ends_with("Controller") || own.ends_with("ControllerBase");
    let supertypes = &lowered.supertypes;
    if attributes(class).iter().any(|name| name == "ApiController")
        || (has_web && supertypes.iter().any(is_base))
    {
        return ControllerKind::Certain;
    }
    match supertypes.iter().any(is_named) {
        true => ControllerKind::ByName,
        false => ControllerKind::None,
    }
}

/// Returns true if a method of a controller answers requests. In a controller that is known by its
/// name alone, the method has to show that it does.
fn is_action(method: &SyntaxNode<'_>, kind: ControllerKind) -> bool {
    let modifiers: Vec<String> = method
        .children()
        .filter(|child| &*child.kind() == "modifier")
        .map(|child| text_of(&child))
        .collect();
    let has = |word: &str| modifiers.iter().any(|own| own == word);
    let attributes = attributes(method);
    let is_routed = || {
        let is_route = |own: &String| {
            own.starts_with("Http") || matches!(own.as_str(), "Route" | "AcceptVerbs")
        };
        let returned = method.field("returns").map(|own| text_of(&own)).unwrap_or_default();
        let results = ["ActionResult", "HttpResponseMessage", "JsonResult", "ContentResult"];
        attributes.iter().any(is_route) || results.iter().any(|own| returned.contains(own))
    };
    &*method.kind() == "method_declaration"
        && has("public")
        && !has("static")
        && !has("override")
        && !attributes.iter().any(|name| name == "NonAction")
        && match kind {
            ControllerKind::Certain => true,
            ControllerKind::ByName => is_routed(),
            ControllerKind::None => false,
        }
}

/// Marks the parameters that the framework reads from the request.
fn bind_parameters(parameters: &mut [FlowParameter]) {
    for parameter in parameters {
        let name = parameter.type_name.as_deref().unwrap_or_default();
        let is_interface = name.starts_with('I')
            && name[1..].starts_with(|c: char| c.is_ascii_uppercase())
            && !BOUND_INTERFACES.contains(&name);
        let is_service = is_interface
            || matches!(
                name,
                "CancellationToken"
                    | "HttpContext"
                    | "HttpRequest"
                    | "HttpResponse"
                    | "ClaimsPrincipal"
                    | "DbContext"
                    | "ILogger"
            )
            || ["Context", "Service", "Repository", "Factory", "Manager", "Client"]
                .iter()
                .any(|end| name.ends_with(end))
            || parameter
                .annotations
                .iter()
                .any(|own| own.starts_with("From") && own.ends_with("Services"));
        if !is_service {
            parameter.annotations.push(BOUND_PARAMETER.to_owned());
        }
    }
}

fn lower_fields(field: &SyntaxNode<'_>) -> Vec<FlowField> {
    let is_fixed = field.children().any(|child| {
        &*child.kind() == "modifier" && matches!(&*child.text(), "const" | "readonly")
    });
    let Some(declaration) = child_of_kind(field, "variable_declaration") else { return Vec::new() };
    let type_name = declaration.field("type").map(|node| simple_type(&node.text()));
    declarators(&declaration)
        .into_iter()
        .map(|(name, value)| FlowField {
            name,
            type_name: type_name.clone(),
            value: value.filter(|_| is_fixed).map(|value| lower_expr(&value, 0)),
        })
        .collect()
}

/// Lowers a property: a computed one is a function, too.
fn lower_property(property: &SyntaxNode<'_>, class: &mut FlowClass) {
    let Some(name) = property.field("name") else { return };
    let type_name = property.field("type").map(|node| simple_type(&node.text()));
    class.fields.push(FlowField { name: text_of(&name), type_name, value: None });
    let bodies = property.field("accessors").map(|list| named_children(&list)).unwrap_or_default();
    for body in bodies.iter().filter_map(|accessor| accessor.field("body")) {
        let lines = lines_of(&body);
        class.functions.push(Rc::new(FlowFunction {
            name: format!("get_{}", text_of(&name)),
            class: class.name.clone(),
            parameters: Vec::new(),
            decorators: Vec::new(),
            is_constructor: false,
            is_exported: false,
            has_defaults: false,
            calls: calls(&body),
            body: lower_body(&body, 0),
            lines: (lines.start(), lines.end()),
        }));
    }
}

fn lower_function(function: &SyntaxNode<'_>, class: &str) -> FlowFunction {
    let name = function.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let list = function.field("parameters");
    let has_defaults = list.as_ref().is_some_and(|list| {
        list.children().any(|child| child.children().any(|part| &*part.text() == "="))
    });
    let body = function.field("body");
    let lines = lines_of(function);
    FlowFunction {
        name,
        class: class.to_owned(),
        parameters: list.map(|list| lower_parameters(&list)).unwrap_or_default(),
        decorators: attributes(function),
        is_constructor: &*function.kind() == "constructor_declaration",
        is_exported: is_public(function),
        has_defaults,
        calls: body.as_ref().map(calls).unwrap_or_default(),
        body: body.map(|body| lower_body(&body, 0)).unwrap_or_default(),
        lines: (lines.start(), lines.end()),
    }
}

/// Returns true if code of other projects can call a function.
fn is_public(function: &SyntaxNode<'_>) -> bool {
    let modifiers = function.children().filter(|child| &*child.kind() == "modifier");
    modifiers.into_iter().any(|modifier| &*modifier.text() == "public")
}

fn calls(body: &SyntaxNode<'_>) -> Vec<String> {
    let mut names = calls_in(body, "invocation_expression", "function");
    // `Find<User>` calls `Find`.
    names.iter_mut().for_each(|name| *name = simple_type(name));
    names.extend(calls_in(body, "object_creation_expression", "type"));
    names
}

/// Returns the functions inside of a function.
fn local_functions(function: &SyntaxNode<'_>, class: &str) -> Vec<FlowFunction> {
    let inner = function.dfs().filter(|inner| {
        let is_own = |above: &SyntaxNode<'_>| {
            class.is_empty()
                && above.kind().ends_with("_declaration")
                && above.field("body").is_some()
        };
        &*inner.kind() == "local_function_statement"
            && !inner.ancestors().any(|above| is_own(&above))
    });
    inner.map(|inner| lower_function(&inner, class)).collect()
}

fn lower_parameters(list: &SyntaxNode<'_>) -> Vec<FlowParameter> {
    let parameters = named_children(list);
    let parameters = parameters.iter().filter(|child| &*child.kind() == "parameter");
    parameters
        .filter_map(|parameter| {
            Some(FlowParameter {
                name: text_of(&parameter.field("name")?),
                type_name: parameter.field("type").map(|node| simple_type(&node.text())),
                annotations: attributes(parameter),
                line: line_of(parameter),
                span: parameter.range(),
            })
        })
        .collect()
}

/// Returns the simple names of the attributes of a declaration.
fn attributes(declaration: &SyntaxNode<'_>) -> Vec<String> {
    let lists = declaration.children().filter(|child| &*child.kind() == "attribute_list");
    let all = lists.flat_map(|list| named_children(&list));
    all.filter_map(|attribute| {
        let name = simple_type(&attribute.field("name")?.text());
        Some(name.strip_suffix("Attribute").unwrap_or(&name).to_owned())
    })
    .collect()
}

/// Returns the statements outside of types, as one function.
fn top_level_function(root: &SyntaxNode<'_>) -> Option<FlowFunction> {
    let statements: Vec<SyntaxNode<'_>> =
        root.children().filter(|child| &*child.kind() == "global_statement").collect();
    let (first, last) = (lines_of(statements.first()?), lines_of(statements.last()?));
    let body = statements.iter().flat_map(named_children).collect::<Vec<_>>();
    Some(FlowFunction {
        name: "<program>".to_owned(),
        class: String::new(),
        parameters: Vec::new(),
        decorators: Vec::new(),
        is_constructor: false,
        is_exported: false,
        has_defaults: false,
        calls: statements.iter().flat_map(calls).collect(),
        body: body.iter().flat_map(|step| lower_step(step, 0)).collect(),
        lines: (first.start(), last.end()),
    })
}

/// Returns the closures that answer requests, as functions whose parameters come from the request.
fn endpoints(root: &SyntaxNode<'_>) -> Vec<FlowFunction> {
    let is_endpoint = |call: &SyntaxNode<'_>| {
        let name = call.field("function").and_then(|function| function.field("name"));
        &*call.kind() == "invocation_expression"
            && name.is_some_and(|name| ENDPOINTS.contains(&&*name.text()))
    };
    let closures = root.dfs().filter(is_endpoint).flat_map(|call| {
        let arguments = call.field("arguments").map(|list| named_children(&list));
        let values = arguments.unwrap_or_default().into_iter();
        values.flat_map(|argument| named_children(&argument))
    });
    let closures = closures.filter(|value| &*value.kind() == "lambda_expression");
    closures
        .filter_map(|closure| {
            let mut parameters = lower_parameters(&closure.field("parameters")?);
            bind_parameters(&mut parameters);
            let body = closure.field("body")?;
            let lines = lines_of(&closure);
            Some(FlowFunction {
                name: format!("<endpoint on line {}>", lines.start()),
                class: String::new(),
                parameters,
                decorators: Vec::new(),
                is_constructor: false,
                is_exported: false,
                has_defaults: false,
                calls: calls(&body),
                body: lower_body(&body, 0),
                lines: (lines.start(), lines.end()),
            })
        })
        .collect()
}
