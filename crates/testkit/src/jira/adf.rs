//! Validation of documents in Atlassian's format: [`check`], for the nodes of comments and
//! descriptions.

use serde_json::Value;

/// Validates a document. The error is the reason.
pub(super) fn check(document: &Value) -> Result<(), String> {
    let fields = only(document, &["type", "version", "content"])?;
    if fields["type"] != "doc" || fields["version"] != 1 {
        return Err("it is no document of version 1".to_owned());
    }
    all(document, block)
}

fn block(node: &Value) -> Result<(), String> {
    match node["type"].as_str().unwrap_or_default() {
        "paragraph" => {
            only(node, &["type", "content"])?;
            all(node, inline)
        }
        "heading" => {
            only(node, &["type", "attrs", "content"])?;
            match node["attrs"]["level"].as_u64() {
                Some(1..=6) => all(node, inline),
                _ => Err("a heading has a level from 1 to 6".to_owned()),
            }
        }
        "bulletList" | "orderedList" => {
            only(node, &["type", "content"])?;
            not_empty(node)?;
            all(node, |item| {
                if item["type"] != "listItem" {
                    return Err("a list has items".to_owned());
                }
                only(item, &["type", "content"])?;
                not_empty(item)?;
                all(item, block)
            })
        }
        "codeBlock" => {
            only(node, &["type", "attrs", "content"])?;
            if let Some(attributes) = node.get("attrs") {
                only(attributes, &["language"])?;
            }
            all(node, |text| {
                only(text, &["type", "text"])?;
                inline(text)
            })
        }
        other => Err(format!("`{other}` is no block")),
    }
}

fn inline(node: &Value) -> Result<(), String> {
    match node["type"].as_str().unwrap_or_default() {
        "hardBreak" => only(node, &["type"]).map(|_| ()),
        "text" => {
            only(node, &["type", "text", "marks"])?;
            if node["text"].as_str().is_none_or(str::is_empty) {
                return Err("a text is empty".to_owned());
            }
            let marks = node["marks"].as_array().cloned().unwrap_or_default();
            marks.iter().try_for_each(mark)
        }
        other => Err(format!("`{other}` stands in no line")),
    }
}

fn mark(mark: &Value) -> Result<(), String> {
    match mark["type"].as_str().unwrap_or_default() {
        "strong" | "code" | "em" => only(mark, &["type"]).map(|_| ()),
        "link" => {
            only(mark, &["type", "attrs"])?;
            let href = mark["attrs"]["href"].as_str().unwrap_or_default();
            match href.starts_with("http") {
                true => Ok(()),
                false => Err("a link leads nowhere".to_owned()),
            }
        }
        other => Err(format!("`{other}` is no mark")),
    }
}

fn all(node: &Value, each: impl Fn(&Value) -> Result<(), String>) -> Result<(), String> {
    let content = node["content"].as_array().ok_or("there is no content")?;
    content.iter().try_for_each(each)
}

fn not_empty(node: &Value) -> Result<(), String> {
    let is_empty = node["content"].as_array().is_none_or(Vec::is_empty);
    if is_empty { Err(format!("{} is empty", node["type"])) } else { Ok(()) }
}

/// Returns the fields of a node. Fails if it has an unknown field.
fn only<'a>(node: &'a Value, known: &[&str]) -> Result<&'a serde_json::Map<String, Value>, String> {
    let fields = node.as_object().ok_or("it is no object")?;
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(other) => Err(format!("`{other}` does not belong there")),
        None => Ok(fields),
    }
}
