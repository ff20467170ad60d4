//! The keys of a JSON Schema: [`SchemaReader`].

use serde_json::Value;

/// The pattern by which the schema accepts a variable in place of a value.
const VARIABLE_PATTERN: &str = r"\$\{[^}]+\}";

/// A key of the configuration.
pub(super) struct SchemaKey<'a> {
    /// The path of the key, such as `review.commands[].name` or `models.use.NAME.api`.
    pub(super) path: String,
    /// The schema of the key, with its description and its default.
    pub(super) node: &'a Value,
    pub(super) is_required: bool,
}

/// A reader of a schema with definitions.
pub(super) struct SchemaReader<'a> {
    pub(super) root: &'a Value,
}

impl<'a> SchemaReader<'a> {
    /// Returns all keys below a section, without the section.
    pub(super) fn keys(&self, section: &str) -> Vec<SchemaKey<'a>> {
        let mut keys = Vec::new();
        self.add_keys(&self.root["properties"][section], section, &mut keys);
        keys
    }

    fn add_keys(&self, node: &'a Value, path: &str, keys: &mut Vec<SchemaKey<'a>>) {
        for alternative in self.alternatives(node) {
            let required = alternative["required"].as_array();
            for (name, child) in alternative["properties"].as_object().into_iter().flatten() {
                let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
                let path = format!("{path}.{name}");
                keys.push(SchemaKey { path: path.clone(), node: child, is_required });
                self.add_keys(child, &path, keys);
            }
            if alternative["items"].is_object() {
                self.add_keys(&alternative["items"], &format!("{path}[]"), keys);
            }
            if alternative["additionalProperties"].is_object() {
                self.add_keys(&alternative["additionalProperties"], &format!("{path}.NAME"), keys);
            }
        }
    }

    /// Returns the alternatives of a schema, without null and without variables.
    pub(super) fn alternatives(&self, node: &'a Value) -> Vec<&'a Value> {
        let node = self.resolve(node);
        let several = node["anyOf"].as_array().or(node["oneOf"].as_array());
        match several {
            Some(several) => several.iter().flat_map(|node| self.alternatives(node)).collect(),
            None if node["type"] == "null" => Vec::new(),
            None if node["type"] == "string" && node["pattern"] == VARIABLE_PATTERN => Vec::new(),
            None => vec![node],
        }
    }

    /// Follows a reference to a definition.
    pub(super) fn resolve(&self, node: &'a Value) -> &'a Value {
        match node["$ref"].as_str() {
            Some(reference) => self.root.pointer(reference.trim_start_matches('#')).unwrap(),
            None => node,
        }
    }
}

/// Returns the types of a schema, without null, and without the text that a variable is.
pub(super) fn types(node: &Value) -> Vec<&str> {
    let types = match &node["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        single => Vec::from_iter(single.as_str()),
    };
    let is_variable = |name: &str| name == "string" && node["pattern"] == VARIABLE_PATTERN;
    types.into_iter().filter(|name| *name != "null" && !is_variable(name)).collect()
}

/// Returns the paragraphs of the description of a key that state its meaning.
pub(super) fn meaning(node: &Value) -> String {
    let paragraphs = paragraphs(node);
    let meaning = paragraphs.filter(|paragraph| {
        !paragraph.starts_with("Default: ") && !paragraph.starts_with("Bounds: ")
    });
    meaning.collect::<Vec<_>>().join(" ")
}

/// Returns the default of a key, as its description states it.
pub(super) fn default_words(node: &Value) -> Option<&str> {
    let stated = paragraphs(node).find_map(|paragraph| paragraph.strip_prefix("Default: "));
    stated.map(|text| text.trim_end_matches('.'))
}

fn paragraphs(node: &Value) -> impl Iterator<Item = &str> {
    node["description"].as_str().unwrap_or_default().split("\n\n")
}
