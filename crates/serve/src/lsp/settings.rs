//! The settings of a client: [`LspSettings`], from `initializationOptions` or the configuration.

use std::time::Duration;

use assay_engine::config::severity::parse_severity;
use assay_engine::editor_session::EditorSettings;
use serde::Deserialize;
use serde_json::Value;

/// The section of a client's configuration.
pub(super) const SECTION: &str = "assay";

/// The default pause in typing after which a text is reviewed.
const DEFAULT_DEBOUNCE: Duration = Duration::from_millis(150);

/// The maximum pause in typing after which a text is reviewed, in milliseconds.
const MAX_DEBOUNCE_MILLIS: u64 = 10_000;

/// The settings of a client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LspSettings {
    /// The settings of reviews.
    pub(super) review: EditorSettings,
    /// The pause in typing after which a text is reviewed.
    pub(super) debounce: Duration,
}

impl Default for LspSettings {
    fn default() -> LspSettings {
        LspSettings { review: EditorSettings::default(), debounce: DEFAULT_DEBOUNCE }
    }
}

/// The settings as a client writes them. A member that is null has its default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSettings {
    base: Option<String>,
    untracked: Option<bool>,
    severity: Option<String>,
    /// The pause in milliseconds.
    debounce: Option<u64>,
}

impl LspSettings {
    /// Reads settings, which may be below the name of the server. Fails with the reason if they are
    /// not understood.
    pub(super) fn read(value: &Value) -> Result<LspSettings, String> {
        let value = value.get(SECTION).unwrap_or(value);
        if value.is_null() {
            return Ok(LspSettings::default());
        }
        let written: WrittenSettings = serde_json::from_value(value.clone())
            .map_err(|error| format!("the settings of the editor are not used: {error}"))?;
        let severity = written.severity.as_deref().filter(|word| !word.is_empty());
        let severity = severity.map(parse_severity).transpose();
        let severity = severity
            .map_err(|why| format!("the settings of the editor are not used: `severity`: {why}"))?;
        let millis = written.debounce.map(|millis| millis.min(MAX_DEBOUNCE_MILLIS));
        Ok(LspSettings {
            review: EditorSettings {
                base: written.base.filter(|base| !base.is_empty()),
                untracked: written.untracked.unwrap_or(false),
                severity,
            },
            debounce: millis.map_or(DEFAULT_DEBOUNCE, Duration::from_millis),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_with_and_without_the_name_of_the_server() {
        let plain = json!({"base": "main", "severity": "HIGH", "debounce": 0, "untracked": true});
        let read = LspSettings::read(&plain).unwrap();
        assert_eq!(read, LspSettings::read(&json!({ "assay": plain })).unwrap());
        assert_eq!(read.review.base.as_deref(), Some("main"));
        assert_eq!((read.debounce, read.review.untracked), (Duration::ZERO, true));
        assert_eq!(read.review.severity.unwrap().word(), "HIGH");
    }

    #[test]
    fn absent_settings_have_their_defaults() {
        let empty = json!({"base": null, "severity": ""});
        for none in [Value::Null, json!({}), json!({ "assay": null }), empty] {
            assert_eq!(LspSettings::read(&none), Ok(LspSettings::default()), "{none}");
        }
    }

    #[test]
    fn settings_that_are_not_understood_are_refused_with_the_reason() {
        let why = |value: Value| LspSettings::read(&value).unwrap_err();
        assert!(why(json!({"bas": "main"})).contains("unknown field `bas`"));
        assert!(why(json!({"severity": "loud"})).contains("`severity`: expected one of CRITICAL"));
        assert!(why(json!([1])).starts_with("the settings of the editor are not used"));
    }
}
