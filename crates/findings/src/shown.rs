//! Which findings a review shows, and which are folded: [`ShownLimit`].
//!
//! All that blocks is shown, and all that a rule or an analyser found. The others follow by their
//! worth, each of them against a higher bar; a finding that can wait by a second look is folded. Folded
//! findings are counted, and stand in every form.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::finding::Finding;

/// The bar below the first finding, and how far it rises up to the last.
const FIRST_BAR: f64 = 0.10;
const RISE: f64 = 0.75;

/// The most findings that are shown, those that block included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShownLimit {
    /// Nothing is folded.
    All,
    /// At most so many; what blocks is shown even beyond.
    AtMost(u32),
}

impl Default for ShownLimit {
    fn default() -> ShownLimit {
        ShownLimit::AtMost(5)
    }
}

impl ShownLimit {
    /// Folds the findings that are beyond the limit. `must_show` says which are shown always.
    pub(crate) fn fold(self, findings: &mut [Finding], must_show: impl Fn(&Finding) -> bool) {
        let ShownLimit::AtMost(most) = self else { return };
        let is_fixed = |finding: &Finding| {
            must_show(finding)
                || finding.is_to_be_checked()
                || finding.settled_conflict.is_some()
                || finding.worth.is_none_or(|worth| worth >= 1.0)
        };
        let (fixed, mut rest): (Vec<&mut Finding>, Vec<&mut Finding>) =
            findings.iter_mut().partition(|finding| is_fixed(finding));
        rest.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.by_weight(b)));
        let mut shown = fixed.len();
        let mut is_open = true;
        let (put_off, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|f| f.is_put_off());
        for finding in put_off {
            finding.shown = false;
        }
        for finding in rest {
            let bar = FIRST_BAR + RISE * (shown + 1) as f64 / f64::from(most.max(1));
            is_open &= shown < most as usize && worth(finding) >= bar;
            finding.shown = is_open;
            shown += usize::from(is_open);
        }
    }
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
                f.write_str("a number of findings from 0 on, or `all`")
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
