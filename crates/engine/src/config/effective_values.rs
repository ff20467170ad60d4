//! The effective values of the configuration with their origins: [`EffectiveValue`], for `assay
//! config`.

use std::collections::BTreeMap;
use std::path::Path;

use assay_rules::Rulebook;
use serde::Serialize;
use serde_json::Value;

use super::configuration_file::{ConfigurationFile, ConfigurationLayers};
use super::located_value::{LocatedContent, LocatedValue};
use super::{Configuration, rules_on_disk, schema};
use crate::environment::Environment;

/// A key of the configuration with its value. A list is one value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveValue {
    /// The key with its sections, such as `review.fail_on`.
    pub key: String,
    /// The value as it is written; a variable is not replaced.
    pub value: Value,
    /// The source of the value.
    pub origin: ValueOrigin,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueOrigin {
    /// No file sets the key.
    Default,
    /// A file sets the key.
    #[serde(untagged)]
    File {
        /// The path of the file.
        file: String,
        /// The line of the key.
        line: u64,
    },
}

/// The files of a valid configuration, and the values that apply.
#[derive(Debug)]
pub struct EffectiveConfiguration {
    /// The files; a later one has precedence.
    pub files: Vec<String>,
    /// The values, by key. Keys without a value and without a default are left out.
    pub values: Vec<EffectiveValue>,
}

impl EffectiveConfiguration {
    /// Reads and checks the configuration of a work tree over that of the user, or only a file that
    /// the user names. Fails if a value or the name of a rule is invalid.
    pub fn on_disk(
        environment: &Environment,
        root: &Path,
        given: Option<&Path>,
    ) -> anyhow::Result<EffectiveConfiguration> {
        let layers = match given {
            Some(path) => {
                ConfigurationLayers { user: None, own: Some(ConfigurationFile::given(path)?) }
            }
            None => {
                let own = ConfigurationFile::on_disk(root)?;
                ConfigurationLayers::above_user(environment, root, own)?
            }
        };
        let selection = Configuration::of(environment, &layers)?.rule_selection()?;
        let rules = Rulebook::with_repository_rules(rules_on_disk(root)?)?;
        rules
            .with_selection(selection)
            .map_err(|error| layers.explain(environment, error.into()))?;
        let mut written = BTreeMap::new();
        for file in layers.files() {
            add_written(file, "", &file.written_values()?, &mut written);
        }
        let values = with_defaults(written);
        Ok(EffectiveConfiguration {
            files: layers.files().map(|file| file.path.clone()).collect(),
            values,
        })
    }
}

/// Adds the values of a file, by key. A map is followed into its members.
fn add_written(
    file: &ConfigurationFile,
    prefix: &str,
    content: &LocatedContent,
    values: &mut BTreeMap<String, EffectiveValue>,
) {
    let LocatedContent::Map(members) = content else { return };
    for (name, LocatedValue { line, content }) in members {
        let key = format!("{prefix}{name}");
        if let LocatedContent::Map(below) = content
            && !below.is_empty()
        {
            add_written(file, &format!("{key}."), content, values);
            continue;
        }
        let value = content.to_json();
        if !value.is_null() {
            let origin = ValueOrigin::File { file: file.path.clone(), line: *line };
            values.insert(key.clone(), EffectiveValue { key, value, origin });
        }
    }
}

/// Adds the defaults of the schema for keys that no file sets.
fn with_defaults(mut values: BTreeMap<String, EffectiveValue>) -> Vec<EffectiveValue> {
    let schema = schema::schema();
    let mut defaults = Vec::new();
    add_defaults(&schema, &schema, "", &mut defaults);
    for (key, value) in defaults {
        let below = format!("{key}.");
        let is_set = values.contains_key(&key) || values.keys().any(|set| set.starts_with(&below));
        if !is_set {
            let origin = ValueOrigin::Default;
            values.insert(key.clone(), EffectiveValue { key, value, origin });
        }
    }
    values.into_values().collect()
}

/// Adds the defaults of all keys below a schema that have one.
fn add_defaults(root: &Value, schema: &Value, prefix: &str, defaults: &mut Vec<(String, Value)>) {
    let Some(properties) = resolve(root, schema).get("properties").and_then(Value::as_object)
    else {
        return;
    };
    for (name, property) in properties {
        let key = format!("{prefix}{name}");
        if resolve(root, property).get("properties").is_some() {
            add_defaults(root, property, &format!("{key}."), defaults);
            continue;
        }
        if let Some(default) = property.get("default").filter(|default| !default.is_null()) {
            defaults.push((key, default.clone()));
        }
    }
}

/// Follows the reference of a schema to its definition.
fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let alternatives = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let reference = std::iter::once(schema).chain(alternatives).find_map(|it| it["$ref"].as_str());
    let target = reference.and_then(|reference| root.pointer(reference.trim_start_matches('#')));
    target.unwrap_or(schema)
}
