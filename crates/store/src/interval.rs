//! Durations that users write, such as `30d`: [`Interval`].

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use assay_base::text::first_chars;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The units of an interval, with their length in seconds.
const UNITS: [(&str, u64); 5] =
    [("w", 7 * 24 * 3_600), ("d", 24 * 3_600), ("h", 3_600), ("m", 60), ("s", 1)];

/// The longest interval, in seconds: a hundred years.
const MAX_SECONDS: u64 = 100 * 366 * 24 * 3_600;

/// A duration of 1 second to 100 years, written as a number and a unit: `90s`, `15m`, `6h`, `30d`,
/// `2w`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval(u64);

/// The text is not an interval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid interval {text:?}: expected one such as \"15m\", \"6h\", \"30d\" or \"2w\"")]
pub struct IntervalError {
    /// The first 40 characters of the text.
    text: String,
}

impl Interval {
    /// Returns the interval as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for Interval {
    type Err = IntervalError;

    fn from_str(text: &str) -> Result<Interval, IntervalError> {
        let read = || {
            let (_, seconds) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
            let number: u64 = text[..text.len() - 1].parse().ok()?;
            let seconds = number.checked_mul(*seconds)?;
            (1..=MAX_SECONDS).contains(&seconds).then_some(Interval(seconds))
        };
        read().ok_or_else(|| IntervalError { text: first_chars(text, 40).to_owned() })
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, seconds)| self.0.is_multiple_of(*seconds));
        let (unit, seconds) = whole.unwrap_or(&("s", 1));
        write!(f, "{}{unit}", self.0 / seconds)
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Interval, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_read_and_written_in_its_largest_unit() {
        for (text, written) in [("60s", "1m"), ("90m", "90m"), ("24h", "1d"), ("14d", "2w")] {
            assert_eq!(text.parse::<Interval>().unwrap().to_string(), written);
        }
        for wrong in ["", "d", "0s", "-1d", "1y", "1.5h", "99999999999999999999w", "٣d", "€"] {
            assert!(wrong.parse::<Interval>().is_err(), "{wrong}");
        }
    }
}
