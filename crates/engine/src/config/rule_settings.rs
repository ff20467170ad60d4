//! The settings of rules in the `review` section: [`RuleSettings`] and [`RulePathConfig`].

use std::collections::BTreeMap;
use std::fmt;

use anyhow::anyhow;
use assay_findings::severity_schema::severity_schema;
use assay_rules::{RuleSelection, RuleSetting};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Unexpected, Visitor};

use super::severity::parse_severity;

/// The word that switches rules off.
const OFF: &str = "off";

/// The settings of rules, by ids and globs.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct RuleSettings(Option<BTreeMap<String, RuleSettingConfig>>);

/// The setting of a rule as written.
#[derive(Debug)]
enum RuleSettingConfig {
    /// The word `off`, which YAML reads as false.
    Off,
    Settings(RuleConfig),
}

/// The settings of a rule that is applied.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RuleConfig {
    /// The severity of the rule's findings.
    #[schemars(schema_with = "severity_schema")]
    severity: String,
}

impl<'de> Deserialize<'de> for RuleSettingConfig {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RuleSettingConfig, D::Error> {
        from.deserialize_any(RuleSettingVisitor)
    }
}

struct RuleSettingVisitor;

impl<'de> Visitor<'de> for RuleSettingVisitor {
    type Value = RuleSettingConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`off` or `severity: SEVERITY`")
    }

    fn visit_bool<E: de::Error>(self, is_on: bool) -> Result<RuleSettingConfig, E> {
        match is_on {
            false => Ok(RuleSettingConfig::Off),
            true => Err(E::invalid_value(Unexpected::Bool(true), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<RuleSettingConfig, E> {
        match word {
            OFF => Ok(RuleSettingConfig::Off),
            other => Err(E::invalid_value(Unexpected::Str(other), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RuleSettingConfig, A::Error> {
        RuleConfig::deserialize(MapAccessDeserializer::new(map)).map(RuleSettingConfig::Settings)
    }
}

/// The settings of rules in some files.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RulePathConfig {
    /// Ids and globs of the rules that are not applied in these files.
    pub(super) ignore: Vec<String>,
}

impl RuleSettings {
    /// Adds the settings to a selection of rules.
    pub(super) fn add_to(&self, selection: &mut RuleSelection) -> anyhow::Result<()> {
        let place = "`review.rules` in the configuration";
        for (pattern, config) in self.0.iter().flatten() {
            let setting = setting(config)
                .map_err(|why| anyhow!("{place}: invalid value of `{pattern}`: {why}"))?;
            selection.set(place, pattern, setting)?;
        }
        Ok(())
    }
}

fn setting(config: &RuleSettingConfig) -> Result<RuleSetting, String> {
    match config {
        RuleSettingConfig::Off => Ok(RuleSetting::Off),
        RuleSettingConfig::Settings(RuleConfig { severity }) => {
            let grade = parse_severity(severity);
            Ok(RuleSetting::Severity(grade.map_err(|why| format!("`{severity}`: {why}"))?))
        }
    }
}

impl JsonSchema for RuleSettings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RuleSettings".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let definition = generator.subschema_for::<RuleConfig>();
        json_schema!({
            "type": "object",
            "additionalProperties": {
                "anyOf": [{ "enum": [OFF, false] }, definition],
            },
        })
    }
}
