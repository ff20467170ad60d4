//! The choice between findings that a review shows and findings that are folded: [`ShownLimit`].
//!
//! All blocking findings are shown, and all findings of rules and analysers. Findings that a second
//! look confirmed follow, the worst first, as far as the size of the change leaves room. The others
//! follow by their worth, each with a higher minimum; a finding that can wait and was not confirmed
//! is folded. Folded findings are counted, and are in every output format.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::finding::{Consequence, Finding, ValidationState};

/// The minimum worth of the first finding, and the rise of this minimum up to the last finding.
const FIRST_MIN_WORTH: f64 = 0.10;
const MIN_WORTH_RISE: f64 = 0.75;

/// The number of changed lines for each shown finding; findings that can wait are shown only up to
/// this ratio. A reader of a small change wants few comments.
const LINES_PER_FINDING: u64 = 50;

/// The maximum number of findings that are shown, blocking ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShownLimit {
    /// All findings are shown.
    All,
    /// At most this number is shown; blocking findings are shown even beyond it.
    AtMost(u32),
}

impl Default for ShownLimit {
    fn default() -> ShownLimit {
        ShownLimit::AtMost(5)
    }
}

impl ShownLimit {
    /// Folds the findings beyond the limit. `changed_lines` is the size of the change, if it is
    /// known; `must_show` returns true for findings that are always shown.
    pub(crate) fn fold(
        self,
        findings: &mut [Finding],
        changed_lines: Option<u64>,
        must_show: impl Fn(&Finding) -> bool,
    ) {
        let ShownLimit::AtMost(most) = self else { return };
        let room = changed_lines.map_or(u64::MAX, |lines| lines / LINES_PER_FINDING);
        let mut shown = 0;
        let mut confirmed = Vec::new();
        let mut by_worth = Vec::new();
        for finding in findings {
            match finding.second_look() {
                _ if must_show(finding) || is_always_shown(finding) => shown += 1,
                (Some(ValidationState::Confirmed), Some(Consequence::Later)) => {
                    confirmed.push(finding)
                }
                _ if finding.is_put_off() => finding.shown = false,
                _ => by_worth.push(finding),
            }
        }
        confirmed.sort_by(|a, b| a.cmp_by_weight(b));
        for finding in confirmed {
            finding.shown = shown < u64::from(most).min(room);
            shown += u64::from(finding.shown);
        }
        by_worth.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.cmp_by_weight(b)));
        let mut is_open = true;
        for finding in by_worth {
            let min_worth =
                FIRST_MIN_WORTH + MIN_WORTH_RISE * (shown + 1) as f64 / f64::from(most.max(1));
            is_open &= shown < u64::from(most) && worth(finding) >= min_worth;
            finding.shown = is_open;
            shown += u64::from(is_open);
        }
    }
}

/// Returns true for a finding that is shown whatever its worth: a rule or an analyser found it, a
/// person must check it or decided about it, or a second look would stop the change for it.
fn is_always_shown(finding: &Finding) -> bool {
    finding.is_to_be_checked()
        || finding.settled_conflict.is_some()
        || finding.worth.is_none_or(|worth| worth >= 1.0)
        || finding.second_look() == (Some(ValidationState::Confirmed), Some(Consequence::Block))
}

fn worth(finding: &Finding) -> f64 {
    finding.worth.unwrap_or(1.0)
}

impl Serialize for ShownLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ShownLimit::All => serializer.serialize_str("all"),
            ShownLimit::AtMost(most) => serializer.serialize_u32(*most),
        }
    }
}

impl<'de> Deserialize<'de> for ShownLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ShownLimit, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ShownLimit;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number of findings, 0 or more, or `all`")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ShownLimit, E> {
                let most = u32::try_from(number);
                most.map(ShownLimit::AtMost)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ShownLimit, E> {
                let most = u64::try_from(number);
                let invalid = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                most.map_err(invalid).and_then(|number| Visitor.visit_u64(number))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<ShownLimit, E> {
                match word {
                    "all" => Ok(ShownLimit::All),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for ShownLimit {
    fn schema_name() -> Cow<'static, str> {
        "ShownLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "oneOf": [{ "type": "integer", "minimum": 0 }, { "const": "all" }] })
    }
}
