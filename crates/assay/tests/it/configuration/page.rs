//! The tables of `docs/configuration.md`, which are generated from the schema.

use std::collections::BTreeSet;

use expect_test::expect_file;
use serde_json::Value;

use super::schema_node::{SchemaKey, SchemaReader, default_words, meaning, types};

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";
const PAGE: &str = include_str!("../../../../../docs/configuration.md");

/// Returns the page with its tables made anew. A table is between `<!-- generated: SECTION, … -->`
/// and `<!-- end -->`.
fn generate(page: &str, reader: &SchemaReader<'_>) -> String {
    let mut made = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        made += &format!("{line}\n");
        if let Some(sections) = sections_of(line) {
            made += &format!("\n{}\n{END}\n", table(&sections, reader));
            assert!(lines.any(|line| line == END), "`{line}` has no `{END}`");
        }
    }
    made
}

fn sections_of(line: &str) -> Option<Vec<&str>> {
    let sections = line.strip_prefix(BEGIN)?.strip_suffix(" -->")?;
    Some(sections.split(", ").collect())
}

fn table(sections: &[&str], reader: &SchemaReader<'_>) -> String {
    let keys = sections.iter().flat_map(|section| reader.keys(section));
    let rows = keys.map(|key| row(&key, reader));
    format!("| key | type | default | meaning |\n|---|---|---|---|\n{}", rows.collect::<String>())
}

fn row(key: &SchemaKey<'_>, reader: &SchemaReader<'_>) -> String {
    let kind = type_words(key.node, reader);
    let default = match default_words(key.node) {
        Some(words) => words,
        None if key.is_required => "required",
        None if kind == "map" => "–",
        None => "none",
    };
    let meaning = meaning(key.node).replace('|', "\\|");
    format!("| `{}` | {kind} | {default} | {meaning} |\n", key.path)
}

/// Returns the type of a value in words.
fn type_words(node: &Value, reader: &SchemaReader<'_>) -> String {
    let resolved = reader.resolve(node);
    if let Some(title) = resolved["title"].as_str() {
        return title.to_owned();
    }
    let alternatives = reader.alternatives(node);
    let mut words: Vec<String> =
        alternatives.into_iter().flat_map(|node| simple_type(node, reader)).collect();
    let is_nullable =
        resolved["type"].as_array().is_some_and(|types| types.contains(&"null".into()));
    if is_nullable && node["default"].is_string() {
        words.push("null".to_owned());
    }
    let last = words.pop().unwrap_or_default();
    match words.is_empty() {
        true => last,
        false => format!("{} or {last}", words.join(", ")),
    }
}

/// Returns the words for a schema without alternatives: its values, or its type.
fn simple_type(node: &Value, reader: &SchemaReader<'_>) -> Vec<String> {
    if let Some(word) = node["const"].as_str() {
        return vec![format!("`{word}`")];
    }
    if let Some(words) = node["enum"].as_array() {
        // A word that YAML reads as true or false is listed as a text and as that value.
        let words = words.iter().filter_map(Value::as_str);
        return words.map(|word| format!("`{word}`")).collect();
    }
    vec![match types(node)[..] {
        ["array"] => match type_words(&node["items"], reader).as_str() {
            item @ ("text" | "map") => format!("list of {item}s"),
            items => format!("list of {items}"),
        },
        ["object"] if node["additionalProperties"].is_object() => {
            let values = type_words(&node["additionalProperties"], reader);
            match values.strip_prefix("list of ") {
                Some(items) => format!("map of lists of {items}"),
                None => format!("map of {values}s"),
            }
        }
        ["object"] => "map".to_owned(),
        ["boolean"] => "true or false".to_owned(),
        [number @ ("integer" | "number")] => number.to_owned() + &bounds(node),
        _ => "text".to_owned(),
    }]
}

fn bounds(node: &Value) -> String {
    let bound =
        |key: &str| Some(&node[key]).filter(|bound| bound.as_f64().is_some_and(|it| it > 0.0));
    let min = bound("minimum").map(|min| format!(" from {min}"));
    let max = bound("maximum").map(|max| format!(" to {max}"));
    min.unwrap_or_default() + &max.unwrap_or_default()
}

#[test]
fn the_tables_of_the_page_are_those_of_the_schema() {
    let schema = super::schema();
    let made = generate(PAGE, &SchemaReader { root: &schema });
    if made != PAGE {
        println!(
            "docs/configuration.md differs from the schema. Make its tables anew:\n\
             UPDATE_EXPECT=1 cargo nextest run --workspace -E 'test(the_tables_of_the_page)'"
        );
    }
    expect_file!["../../../../../docs/configuration.md"].assert_eq(&made);
}

#[test]
fn every_section_has_its_table_once() {
    let schema = super::schema();
    let listed: Vec<&str> = PAGE.lines().filter_map(sections_of).flatten().collect();
    let sections: BTreeSet<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(BTreeSet::from_iter(listed.iter().copied()), sections);
    assert_eq!(listed.len(), sections.len(), "{listed:?}");
}
