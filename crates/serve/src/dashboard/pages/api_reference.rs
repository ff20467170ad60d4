//! The description of the API as a page, which needs no network.

use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_html::section::{folded, prose, section};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::super::openapi;
use super::PageRequest;
use super::frame::PageContent;

pub(super) fn content(_: &Dashboard, _: &PageRequest) -> Result<PageContent, DashboardError> {
    let description = openapi::description();
    let main = html! {
        section.part {
            h1 { "HTTP API" }
            p { (text(&description["info"]["description"])) }
            p { "Send the header " code { "Authorization: Bearer TOKEN" } ". The description for programs is "
                a href="/api/v1/openapi.json" { "/api/v1/openapi.json" } ", OpenAPI "
                (text(&description["openapi"])) "." }
        }
        (section("operations", "Operations", &operations(&description)))
        (section("types", "Types", &types(&description)))
    };
    Ok(PageContent::new("HTTP API", main))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn operations(description: &Value) -> Markup {
    html! {
        @for (path, methods) in object(&description["paths"]) {
            @for (method, operation) in object(methods) {
                article.op id=(text(&operation["operationId"])) {
                    h3 { (method.to_uppercase()) " " (path) }
                    p { (text(&operation["summary"])) }
                    (parameters(operation))
                    p { "Answer: " (type_link(&operation["responses"]["200"]["content"]["application/json"]["schema"]))
                        @if let Some(body) = operation.get("requestBody") {
                            " · Body: " (type_link(&body["content"]["application/json"]["schema"]))
                        }
                    }
                }
            }
        }
    }
}

fn parameters(operation: &Value) -> Markup {
    let Some(parameters) = operation["parameters"].as_array().filter(|list| !list.is_empty())
    else {
        return Markup::default();
    };
    let columns = ["Parameter", "In", "Type", "Meaning"].map(TableColumn::text);
    let rows = parameters.iter().map(|parameter| {
        vec![
            html! { code { (text(&parameter["name"])) } },
            html! { (text(&parameter["in"])) },
            type_link(&parameter["schema"]),
            prose(text(&parameter["description"])),
        ]
    });
    HtmlTable { caption: "Parameters", columns: &columns, rows: rows.collect() }.render()
}

fn types(description: &Value) -> Markup {
    html! {
        @for (name, schema) in object(&description["components"]["schemas"]) {
            div id={ "type-" (name) } {
                (folded(name, object(&schema["properties"]).count(), &fields(schema)))
            }
        }
    }
}

/// Renders the fields as a list, which is much smaller than a table.
fn fields(schema: &Value) -> Markup {
    html! {
        p.dim { (prose(text(&schema["description"]))) }
        ul.plain {
            @for (name, field) in object(&schema["properties"]) {
                li { code { (name) } " " span.dim { (type_link(field)) } " " (prose(text(&field["description"]))) }
            }
        }
    }
}

/// Renders the type of a schema, with a link if it is one of the types of the page.
fn type_link(schema: &Value) -> Markup {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return html! { a href={ "#type-" (name) } { (name) } };
    }
    if let Some(any) = schema["anyOf"].as_array() {
        return html! { @for (at, one) in any.iter().enumerate() { @if at > 0 { " or " } (type_link(one)) } };
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => {
            html! { "list of " (type_link(&schema["items"])) }
        }
        Value::String(word) => html! { (word) },
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            html! { (words.join(" or ")) }
        }
        _ => html! { "any" },
    }
}
