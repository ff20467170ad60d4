//! The description of the API: OpenAPI 3.1, made from the operations and the schemas of their
//! types.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::answer::{ApiError, json as json_answer};
use super::api::{ApiEffect, ApiOperation, BASE, operations};

/// The place of schemas in the description.
const SCHEMAS: &str = "/components/schemas";

/// The statuses of errors, with their meanings. Every operation can return each of them.
const ERRORS: [(&str, &str); 7] = [
    ("400", "A parameter or the body is invalid."),
    ("401", "The token is missing or wrong."),
    ("403", "A page of another origin sent the request."),
    ("404", "The run, the finding, the task or the agent is unknown."),
    ("409", "The state of the task, the finding or the repository does not allow the request."),
    ("413", "The body is too large."),
    ("503", "The queue, the ledger or a file cannot be used now."),
];

/// Answers with the description of the API.
pub(super) async fn answer() -> Response {
    json_answer(StatusCode::OK, &description())
}

/// Returns the description of the API.
pub(super) fn description() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = SCHEMAS.into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let error = generator.subschema_for::<ApiError>().to_value();
    let mut paths = Map::new();
    for operation in operations() {
        let method = match operation.effect {
            ApiEffect::Reads => "get",
            ApiEffect::Changes => "post",
        };
        let described = describe(&operation, &mut generator, &error);
        let path = format!("{BASE}{}", operation.path);
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[method] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "assay",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Reviews, findings, tasks and agents of one repository, as the \
                dashboard shows them. Every request needs the token of the server.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": generator.take_definitions(true),
        },
    })
}

fn describe(operation: &ApiOperation, generator: &mut SchemaGenerator, error: &Value) -> Value {
    let answer = (operation.answer)(generator).to_value();
    let mut described = json!({
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters(operation, generator),
        "responses": responses(&answer, error),
    });
    if let Some(body) = operation.body {
        let schema = body(generator).to_value();
        described["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    described
}

/// Returns the answers of an operation by their statuses.
fn responses(answer: &Value, error: &Value) -> Value {
    let mut responses = json!({
        "200": response("The result.", "application/json", answer),
        "421": response("The host name is not allowed.", "text/plain", &json!({ "type": "string" })),
    });
    for (status, meaning) in ERRORS {
        responses[status] = response(meaning, "application/json", error);
    }
    responses
}

fn response(text: &str, content_type: &str, schema: &Value) -> Value {
    json!({ "description": text, "content": { content_type: { "schema": schema } } })
}

/// Returns the parameters in the path and in the query.
fn parameters(operation: &ApiOperation, generator: &mut SchemaGenerator) -> Vec<Value> {
    let id = json!({
        "name": "id", "in": "path", "required": true, "schema": { "type": "string" },
    });
    let mut parameters: Vec<Value> =
        operation.path.contains("{id}").then_some(id).into_iter().collect();
    let query = (operation.query)(generator).to_value();
    let properties = query.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        parameters.push(query_parameter(name, schema));
    }
    parameters
}

/// Returns the description of a parameter of a query. Parameters are never null: an absent one is
/// left out.
fn query_parameter(name: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let description = schema.as_object_mut().and_then(|schema| {
        schema.remove("default");
        if let Some(Value::Array(types)) = schema.get("type") {
            let own = types.iter().find(|kind| *kind != "null").cloned();
            schema.insert("type".to_owned(), own.unwrap_or_default());
        }
        schema.remove("description")
    });
    json!({ "name": name, "in": "query", "description": description, "schema": schema })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_is_described_once_and_every_reference_has_a_target() {
        let description = description();
        let paths = description["paths"].as_object().unwrap();
        let named = paths.values().flat_map(|methods| methods.as_object().unwrap().values());
        let named: BTreeSet<&str> =
            named.map(|operation| operation["operationId"].as_str().unwrap()).collect();
        assert_eq!(named.len(), operations().len());
        let text = description.to_string();
        let schemas = description["components"]["schemas"].as_object().unwrap();
        for reference in text.split("\"$ref\":\"").skip(1) {
            let target = reference.split('"').next().unwrap();
            let name = target.strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.contains_key(name), "{target}");
        }
        assert!(schemas.contains_key("FindingListView"), "{schemas:?}");
        assert!(!text.contains("$schema"));
    }

    #[test]
    fn every_status_of_an_error_is_described_for_every_operation() {
        use super::super::answer::ApiErrorKind::{
            Conflict, Failed, ForeignOrigin, Invalid, TooLarge, Unauthorized, Unknown,
        };
        let kinds = [Unauthorized, ForeignOrigin, Unknown, Invalid, TooLarge, Conflict, Failed];
        let description = description();
        let paths = description["paths"].as_object().unwrap().values();
        for operation in paths.flat_map(|methods| methods.as_object().unwrap().values()) {
            for kind in kinds {
                let status = ApiError::new(kind, "").status().as_str().to_owned();
                assert!(operation["responses"][&status].is_object(), "{status}: {operation}");
            }
            assert!(operation["responses"]["421"].is_object(), "{operation}");
        }
    }

    #[test]
    fn parameters_of_a_query_have_their_type_and_description() {
        let description = description();
        let parameters = &description["paths"]["/api/v1/findings"]["get"]["parameters"];
        let limit = parameters.as_array().unwrap().iter().find(|it| it["name"] == "limit").unwrap();
        assert_eq!(limit["schema"]["type"], "integer");
        assert_eq!(limit["schema"]["maximum"], 200);
        assert!(limit["description"].as_str().unwrap().starts_with("The maximum number"));
        let run = &description["paths"]["/api/v1/runs/{id}"]["get"]["parameters"];
        assert_eq!(run.as_array().unwrap().len(), 1);
        assert_eq!(run[0]["in"], "path");
    }
}
