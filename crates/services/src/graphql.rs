//! GraphQL requests, whose errors arrive with a success status: [`execute`].

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::{Api, Call, RequestEffect, ServiceError};

/// A GraphQL query or mutation.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The name of the operation, as in its text.
    pub name: &'static str,
    /// The text of the operation.
    pub text: &'static str,
    /// The effect of the operation: reading or writing.
    pub effect: RequestEffect,
}

/// Sends an operation to a path and returns the data of the answer.
pub fn execute<T: DeserializeOwned>(
    api: &Api,
    path: &str,
    operation: &Operation,
    variables: &Value,
) -> Result<T, ServiceError> {
    let Operation { name, text, effect } = operation;
    let body = json!({ "operationName": name, "query": text, "variables": variables });
    let call = Call::post(path, body).with_name(name);
    let call = match effect {
        RequestEffect::Read => call.read_only(),
        RequestEffect::Write => call,
    };
    let mut answer: Value = api.json(&call)?;
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    if !errors.is_empty() {
        let said = errors.iter().filter_map(|error| error["message"].as_str());
        let said = said.collect::<Vec<_>>().join("; ");
        return Err(api.refused_error(&call, status_of_errors(&errors), &said));
    }
    api.parse_value(&call, answer["data"].take())
}

/// Returns the HTTP status that corresponds to GraphQL errors. An error of unknown type counts as a
/// server failure, after which it is not known whether a write took effect.
fn status_of_errors(errors: &[Value]) -> u16 {
    let kind = |error: &Value| match error["type"].as_str() {
        Some("NOT_FOUND") => 404,
        Some("FORBIDDEN" | "INSUFFICIENT_SCOPES") => 403,
        Some("UNPROCESSABLE") => 422,
        _ if error["extensions"]["type"] == "graphql_validation_failed" => 400,
        _ => 502,
    };
    errors.iter().map(kind).min().unwrap_or(502)
}
