//! The parts of a SARIF log that findings are built from.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A run of a tool. Lists are parsed as values if an invalid entry must not affect the others.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    /// The results; `None` if the tool failed before it analysed anything.
    pub(super) results: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) invocations: Vec<Invocation>,
    #[serde(default)]
    pub(super) original_uri_base_ids: BTreeMap<String, ArtifactLocation>,
    #[serde(default)]
    pub(super) artifacts: Vec<Artifact>,
    pub(super) column_kind: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Tool {
    pub(super) driver: Component,
    #[serde(default)]
    pub(super) extensions: Vec<Component>,
}

#[derive(Deserialize)]
pub(super) struct Component {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) rules: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) short_description: Option<Text>,
    pub(super) full_description: Option<Text>,
    pub(super) help: Option<Text>,
    pub(super) help_uri: Option<String>,
    pub(super) message_strings: BTreeMap<String, Text>,
    pub(super) default_configuration: Option<Configuration>,
    pub(super) properties: Properties,
}

#[derive(Deserialize)]
pub(super) struct Configuration {
    pub(super) level: Option<String>,
}

/// Further properties of a rule or a result; their values may have any type.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Properties {
    pub(super) tags: Value,
    pub(super) precision: Value,
    #[serde(rename = "security-severity")]
    pub(super) security_severity: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Text {
    pub(super) text: Option<String>,
    pub(super) markdown: Option<String>,
    pub(super) id: Option<String>,
    pub(super) arguments: Vec<String>,
}

/// A `result` of SARIF.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    pub(super) rule_id: Option<String>,
    pub(super) rule_index: Option<i64>,
    pub(super) rule: Option<RuleReference>,
    pub(super) kind: Option<String>,
    pub(super) level: Option<String>,
    #[serde(default)]
    pub(super) message: Text,
    #[serde(default)]
    pub(super) locations: Vec<Location>,
    pub(super) baseline_state: Option<String>,
    #[serde(default)]
    pub(super) suppressions: Option<Vec<Suppression>>,
    #[serde(default)]
    pub(super) fixes: Vec<Value>,
    #[serde(default)]
    pub(super) properties: Properties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuleReference {
    pub(super) id: Option<String>,
    pub(super) index: Option<i64>,
    pub(super) tool_component: Option<ComponentReference>,
}

#[derive(Deserialize)]
pub(super) struct ComponentReference {
    pub(super) index: Option<i64>,
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Suppression {
    pub(super) status: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: Option<ArtifactLocation>,
    pub(super) region: Option<Region>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: Option<String>,
    pub(super) uri_base_id: Option<String>,
    pub(super) index: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct Artifact {
    pub(super) location: Option<ArtifactLocation>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: Option<u32>,
    pub(super) start_column: Option<u32>,
    pub(super) end_line: Option<u32>,
    pub(super) end_column: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fix {
    pub(super) description: Option<Text>,
    pub(super) artifact_changes: Vec<ArtifactChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: Vec<Replacement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: Option<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    #[serde(default = "default_true")]
    pub(super) execution_successful: bool,
    pub(super) exit_code_description: Option<String>,
    pub(super) process_start_failure_message: Option<String>,
    #[serde(default)]
    pub(super) tool_execution_notifications: Vec<Notification>,
    #[serde(default)]
    pub(super) tool_configuration_notifications: Vec<Notification>,
}

fn default_true() -> bool {
    true
}

#[derive(Deserialize)]
pub(super) struct Notification {
    pub(super) level: Option<String>,
    #[serde(default)]
    pub(super) message: Text,
    #[serde(default)]
    pub(super) locations: Vec<Location>,
}
