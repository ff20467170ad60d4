//! The cases of the recovery measurement: valid reviews, broken, with the expected findings.

use super::breaks::{KINDS, Kind};
use super::draft::{Draft, Expected, Shape};
use crate::random::Random;

/// The number of cases of each kind.
const CASES_PER_KIND: usize = 45;

/// A broken review.
pub(super) struct Case {
    pub(super) kind: &'static str,
    pub(super) text: String,
    pub(super) expected: Vec<Expected>,
}

/// Generates all cases of all kinds.
pub(super) fn generate(seed: u64) -> Vec<Case> {
    let mut random = Random::new(seed);
    let numbered = KINDS.iter().flat_map(|kind| std::iter::repeat_n(kind, CASES_PER_KIND));
    numbered.map(|kind| case(kind, &mut random)).collect()
}

/// Generates one case, from random reviews until one has something that the kind can break.
fn case(kind: &'static Kind, random: &mut Random) -> Case {
    loop {
        let shape = if random.chance(70) { Shape::Object } else { Shape::Array };
        let findings = 1 + random.below(6);
        let mut draft = Draft::random(random, shape, findings);
        if !(kind.apply)(&mut draft, random) {
            continue;
        }
        let text = if kind.whole_text { draft.text() } else { wrapped(&draft, random) };
        return Case { kind: kind.name, text, expected: draft.expected };
    }
}

/// Wraps some of the reviews in prose and fences, as models do.
fn wrapped(draft: &Draft, random: &mut Random) -> String {
    let json = draft.text();
    let (open, close) = match random.below(10) {
        0..4 => ("", ""),
        4..6 => ("```json\n", "\n```\n"),
        6..9 => ("Here is my review:\n\n```json\n", "\n```\n\nLet me know what you think.\n"),
        _ => ("Here is my review:\n\n", "\n"),
    };
    format!("{open}{json}{}", if draft.cut { "" } else { close })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_cases_every_time() {
        let (first, again) = (generate(7), generate(7));
        assert!(first.len() >= 2_000);
        assert!(first.iter().zip(&again).all(|(a, b)| a.text == b.text));
    }

    #[test]
    fn an_unbroken_review_is_valid_json() {
        let mut random = Random::new(3);
        for shape in [Shape::Object, Shape::Array] {
            let draft = Draft::random(&mut random, shape, 4);
            let value: serde_json::Value = serde_json::from_str(&draft.text()).unwrap();
            let list = value.get("findings").unwrap_or(&value);
            assert_eq!(list.as_array().map(Vec::len), Some(4));
        }
    }
}
