//! The file that `assay init` writes: its commented keys, with their defaults.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::schema_node::{SchemaReader, default_words};
use super::{parse, schema, schema_errors, validator, yaml};

const TEMPLATE: &str = include_str!("../../../assets/agent-framework.yaml");

/// Returns the template with every commented key as a key, and without other comments.
fn uncommented() -> String {
    let lines = TEMPLATE.lines().filter_map(|line| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        let text = rest.strip_prefix("# ").unwrap_or(rest);
        let is_yaml = text.trim_start().starts_with("- ") || key_of(text).is_some();
        is_yaml.then(|| format!("{indent}{text}\n"))
    });
    lines.collect()
}

/// Returns the key on a line. Keys have no upper case and no space, unlike sentences.
fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (key, rest) = line.strip_prefix("- ").unwrap_or(line).split_once(':')?;
    let is_key = !key.is_empty() && key.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
    (is_key && (rest.is_empty() || rest.starts_with(' '))).then_some(key)
}

/// Returns the paths of keys whose comment says that they are examples.
fn examples(text: &str) -> BTreeSet<String> {
    let mut parents: Vec<(usize, &str)> = Vec::new();
    let mut examples = BTreeSet::new();
    for line in text.lines() {
        let Some(key) = key_of(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        parents.retain(|(other, _)| *other < indent);
        parents.push((indent, key));
        if line.split_once(" # ").is_some_and(|(_, comment)| comment.trim().starts_with("example"))
        {
            let path: Vec<&str> = parents.iter().map(|(_, key)| *key).collect();
            examples.insert(path.join("."));
        }
    }
    examples
}

/// Returns the values of a YAML map by their paths: those of nested maps, and lists as a whole.
fn values(map: &Value, path: &str, values_by_path: &mut BTreeMap<String, Value>) {
    for (name, value) in map.as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value.is_object() {
            true => values(value, &path, values_by_path),
            false => drop(values_by_path.insert(path, value.clone())),
        }
    }
}

fn is_below(path: &str, parents: &BTreeSet<String>) -> bool {
    parents.iter().any(|parent| {
        path.strip_prefix(parent.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns the problem with a value of the template; `None` if it is the default of the key.
fn problem(node: &Value, value: &Value) -> Option<String> {
    let default = &node["default"];
    let is_same = match (default.as_f64(), value.as_f64()) {
        (Some(default), Some(value)) => default == value,
        _ => default == value,
    };
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words = default_words(node).unwrap_or_default();
    let is_stated = words.split(['`', ';', ',', ' ']).any(|word| word == shown);
    match is_same || (default.is_null() && is_stated) {
        true => None,
        false => Some(format!("{value} is not the default, {default} ({words})")),
    }
}

#[test]
fn the_commented_keys_are_a_valid_configuration_without_duplicate_keys() {
    let text = uncommented();
    let value = yaml(&text).unwrap_or_else(|| panic!("a key stands twice:\n{text}"));
    assert_eq!(schema_errors(&validator(), &value), Vec::<String>::new());
    assert_eq!(parse(&text), Ok(()));
}

#[test]
fn the_commented_values_are_the_defaults_unless_they_are_examples() {
    let (schema, text) = (schema(), uncommented());
    let (reader, examples) = (SchemaReader { root: &schema }, examples(&text));
    let mut shown = BTreeMap::new();
    values(&yaml(&text).unwrap(), "", &mut shown);
    let sections = schema["properties"].as_object().unwrap();
    let keys: BTreeMap<String, &Value> = sections
        .keys()
        .flat_map(|section| reader.keys(section))
        .map(|key| (key.path, key.node))
        .collect();
    let mut compared = 0;
    for (path, value) in shown.iter().filter(|(path, _)| !is_below(path, &examples)) {
        let node = keys.get(path).unwrap_or_else(|| panic!("{path} is no key"));
        assert_eq!(problem(node, value), None, "{path}");
        compared += 1;
    }
    assert!(compared > 50, "{compared} values");
}

#[test]
fn every_key_with_a_fixed_path_is_in_the_template() {
    let (schema, text) = (schema(), uncommented());
    let reader = SchemaReader { root: &schema };
    let template = yaml(&text).unwrap();
    let sections = schema["properties"].as_object().unwrap();
    let keys = sections.keys().flat_map(|section| reader.keys(section));
    // A command in place of a variable is an alternative, of which a comment tells.
    let fixed = keys.filter(|key| {
        !key.path.contains("[]") && !key.path.contains(".NAME") && !key.path.ends_with("_command")
    });
    let pointer = |path: &str| format!("/{}", path.replace('.', "/"));
    let missing: Vec<String> = fixed
        .map(|key| key.path)
        .filter(|path| template.pointer(&pointer(path)).is_none())
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}
