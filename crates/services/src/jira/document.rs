//! The Atlassian Document Format (ADF) of JIRA Cloud: [`write()`] creates a document from blocks,
//! and [`read`] converts a document to plain text.

use serde_json::{Value, json};

pub use super::markup::{Inline, MarkupBlock, parse};

/// Converts blocks to a document.
pub fn write(blocks: &[MarkupBlock]) -> Value {
    let mut content: Vec<Value> = blocks.iter().map(block).collect();
    if content.is_empty() {
        content.push(json!({ "type": "paragraph", "content": [] }));
    }
    json!({ "type": "doc", "version": 1, "content": content })
}

fn block(block: &MarkupBlock) -> Value {
    match block {
        MarkupBlock::Paragraph(lines) => {
            let mut content = Vec::new();
            for (number, line) in lines.iter().enumerate() {
                if number > 0 {
                    content.push(json!({ "type": "hardBreak" }));
                }
                content.extend(line.iter().map(inline));
            }
            json!({ "type": "paragraph", "content": content })
        }
        MarkupBlock::Heading(level, line) => json!({
            "type": "heading", "attrs": { "level": level },
            "content": line.iter().map(inline).collect::<Vec<_>>(),
        }),
        MarkupBlock::Bullets(items) => {
            let item = |item: &Vec<Inline>| {
                let content: Vec<Value> = item.iter().map(inline).collect();
                let paragraph = json!({ "type": "paragraph", "content": content });
                json!({ "type": "listItem", "content": [paragraph] })
            };
            json!({ "type": "bulletList", "content": items.iter().map(item).collect::<Vec<_>>() })
        }
        MarkupBlock::Code { language, text } => {
            let mut block = json!({ "type": "codeBlock", "content": [] });
            if let Some(language) = language {
                block["attrs"] = json!({ "language": language });
            }
            // ADF does not allow empty text nodes.
            if !text.is_empty() {
                block["content"] = json!([{ "type": "text", "text": text }]);
            }
            block
        }
    }
}

fn inline(part: &Inline) -> Value {
    match part {
        Inline::Text(text) => json!({ "type": "text", "text": text }),
        Inline::Strong(text) => with_mark(text, json!({ "type": "strong" })),
        Inline::Code(text) => with_mark(text, json!({ "type": "code" })),
        Inline::Link { text, url } => {
            with_mark(text, json!({ "type": "link", "attrs": { "href": url } }))
        }
    }
}

fn with_mark(text: &str, mark: Value) -> Value {
    json!({ "type": "text", "text": text, "marks": [mark] })
}

/// Returns the plain text of a document, or of a string in its place.
pub fn read(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::String(plain) => text.push_str(plain),
        // The JSON parser limits the depth, so the recursion is bounded.
        Value::Object(_) => push_node(value, "", &mut text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
    text.trim().to_owned()
}

/// Appends the text of a node; lines of nested nodes are indented.
fn push_node(node: &Value, indent: &str, text: &mut String) {
    let attribute = |name: &str| node["attrs"][name].as_str().unwrap_or_default();
    match node["type"].as_str().unwrap_or_default() {
        "text" => push_text(node, text),
        "hardBreak" => text.push_str(&format!("\n{indent}")),
        "mention" | "status" => text.push_str(attribute("text")),
        "emoji" => text.push_str(attribute("shortName")),
        "inlineCard" | "blockCard" | "embedCard" => text.push_str(attribute("url")),
        "media" => text.push_str("[attachment]"),
        "rule" => start_line("---", indent, text),
        "codeBlock" => {
            start_line(&format!("```{}", attribute("language")), indent, text);
            text.push_str(&format!("\n{indent}"));
            push_children(node, indent, text);
            text.push_str(&format!("\n{indent}```"));
        }
        "heading" => {
            let level = node["attrs"]["level"].as_u64().unwrap_or(1).clamp(1, 6);
            start_line(&format!("{} ", "#".repeat(level as usize)), indent, text);
            push_children(node, indent, text);
        }
        "listItem" | "taskItem" | "decisionItem" => {
            start_line("- ", indent, text);
            push_children(node, &format!("{indent}  "), text);
        }
        "paragraph" | "tableRow" => {
            let is_begun = text.ends_with("- ") || text.ends_with("| ");
            if !is_begun {
                start_line("", indent, text);
            }
            push_children(node, indent, text);
        }
        "tableCell" | "tableHeader" => {
            text.push_str("| ");
            push_children(node, indent, text);
            text.push(' ');
        }
        _ => push_children(node, indent, text),
    }
}

fn push_children(of: &Value, indent: &str, text: &mut String) {
    let all = of["content"].as_array().into_iter().flatten();
    all.for_each(|child| push_node(child, indent, text));
}

fn push_text(node: &Value, text: &mut String) {
    let own = node["text"].as_str().unwrap_or_default();
    text.push_str(own);
    let marks = node["marks"].as_array().into_iter().flatten();
    let links = marks.filter_map(|mark| mark["attrs"]["href"].as_str());
    for href in links.filter(|href| *href != own) {
        text.push_str(&format!(" ({href})"));
    }
}

fn start_line(begin: &str, indent: &str, text: &mut String) {
    if !text.is_empty() {
        text.push_str(&format!("\n{indent}"));
    }
    text.push_str(begin);
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_written_document_is_read_back_as_text() {
        let text = "Rejected: 2 issues\nSee [the run](https://ci.example/1), or https://a.example.\n\n- `a.rs:1` **bad**\n- b\n\n```rust\nfn a() {}\n```\n### Next\nDone";
        expect![[r"
            Rejected: 2 issues
            See the run (https://ci.example/1), or https://a.example.
            - a.rs:1 bad
            - b
            ```rust
            fn a() {}
            ```
            ### Next
            Done"]]
        .assert_eq(&read(&write(&parse(text))));
    }

    #[test]
    fn unknown_nodes_of_a_foreign_document_are_skipped_and_the_rest_is_read() {
        let document = json!({ "type": "doc", "content": [
            { "type": "panel", "content": [{ "type": "paragraph", "content": [
                { "type": "mention", "attrs": { "text": "@Ada" } },
                { "type": "text", "text": " see " },
                { "type": "inlineCard", "attrs": { "url": "https://a.example" } },
                { "type": "novelty" }, 7, null,
            ] }] },
            { "type": "bulletList", "content": [{ "type": "listItem", "content": [
                { "type": "paragraph", "content": [{ "type": "text", "text": "a" }] },
                { "type": "bulletList", "content": [{ "type": "listItem", "content": [
                    { "type": "paragraph", "content": [{ "type": "text", "text": "b" }] }] }] },
            ] }] },
            { "type": "table", "content": [{ "type": "tableRow", "content": [
                { "type": "tableCell", "content": [{ "type": "paragraph", "content": [
                    { "type": "text", "text": "c" }] }] }] }] },
        ] });
        expect![[r"
            @Ada see https://a.example
            - a
              - b
            | c"]]
        .assert_eq(&read(&document));
        assert_eq!(read(&json!("plain")), "plain");
        assert_eq!(read(&Value::Null), "");
    }
}
