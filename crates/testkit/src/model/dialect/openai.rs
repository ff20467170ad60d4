//! Common parts of OpenAI's dialects: errors, and the rules of a strict schema.

use serde_json::{Value, json};

use super::ApiRefusal;

pub(super) fn error(refused: &ApiRefusal) -> Value {
    let kind = match (refused.code, refused.status) {
        (Some("insufficient_quota"), _) => "insufficient_quota",
        (_, 429) => "requests",
        (_, 500..) => "server_error",
        _ => "invalid_request_error",
    };
    json!({
        "error": {
            "message": refused.message,
            "type": kind,
            "param": refused.param,
            "code": refused.code,
        },
    })
}

pub(super) fn error_for(status: u16) -> ApiRefusal {
    let (message, code) = match status {
        401 => ("Incorrect API key provided.", Some("invalid_api_key")),
        403 => ("You are not allowed to sample from this model", Some("forbidden")),
        404 => (
            "The model `fake-model` does not exist or you do not have access to it.",
            Some("model_not_found"),
        ),
        413 => ("Request too large", Some("request_too_large")),
        429 => (
            "Rate limit reached for fake-model in organization org-fake on requests per min (RPM): \
             Limit 3, Used 3, Requested 1. Please try again in 20s.",
            Some("rate_limit_exceeded"),
        ),
        503 | 529 => ("The engine is currently overloaded, please try again later", None),
        500.. => ("The server had an error while processing your request. Sorry about that!", None),
        _ => ("The request is not in order.", None),
    };
    ApiRefusal { code, ..ApiRefusal::new(status, message) }
}

pub(super) fn check_model(body: &Value) -> Result<(), ApiRefusal> {
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return Err(ApiRefusal::invalid("you must provide a model parameter"));
    }
    Ok(())
}

/// Returns true for a reasoning model, which accepts no temperature.
pub(super) fn is_reasoning(model: &str) -> bool {
    ["o1", "o3", "o4", "gpt-5"].iter().any(|prefix| model.starts_with(prefix))
}

/// Validates a format of kind `json_schema`, whose fields are in `format`.
pub(super) fn check_format(format: &Value, at: &str) -> Result<(), ApiRefusal> {
    let name = format["name"].as_str().unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_name) {
        let at = format!("{at}.name");
        return Err(ApiRefusal::invalid(format!("Missing required parameter: '{at}'."))
            .at(&at)
            .code("missing_required_parameter"));
    }
    if !format["schema"].is_object() {
        let at = format!("{at}.schema");
        return Err(ApiRefusal::invalid(format!("Missing required parameter: '{at}'."))
            .at(&at)
            .code("missing_required_parameter"));
    }
    if format["strict"] != true {
        return Ok(());
    }
    let invalid = |why: String| {
        ApiRefusal::invalid(format!("Invalid schema for response_format '{name}': {why}"))
            .at(at)
            .code("invalid_json_schema")
    };
    if format["schema"]["type"] != "object" {
        return Err(invalid("schema must be a JSON Schema of 'type: \"object\"'".to_owned()));
    }
    check_strict(&format["schema"], &mut Vec::new()).map_err(invalid)
}

/// Fails unless every object of a strict schema requires all its fields and allows no others.
fn check_strict(schema: &Value, path: &mut Vec<String>) -> Result<(), String> {
    let context = |path: &[String]| format!("In context=({})", path.join(", "));
    match schema {
        Value::Array(schemas) => schemas.iter().try_for_each(|schema| check_strict(schema, path)),
        Value::Object(fields) => {
            if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
                if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
                    return Err(format!(
                        "{}, 'additionalProperties' is required to be supplied and to be false.",
                        context(path)
                    ));
                }
                let is_required = |name: &str| {
                    let required = fields.get("required").and_then(Value::as_array);
                    required.is_some_and(|required| required.iter().any(|it| it == name))
                };
                if let Some(name) = properties.keys().find(|name| !is_required(name)) {
                    return Err(format!(
                        "{}, 'required' is required to be supplied and to be an array including \
                         every key in properties. Missing '{name}'.",
                        context(path)
                    ));
                }
            }
            fields.iter().filter(|(_, inner)| inner.is_object() || inner.is_array()).try_for_each(
                |(name, inner)| {
                    path.push(format!("'{name}'"));
                    check_strict(inner, path)?;
                    path.pop();
                    Ok(())
                },
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}
