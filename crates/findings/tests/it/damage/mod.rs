//! Damage never improves a verdict: every report that blocks, damaged in every way, still blocks or
//! is `incomplete`. `ASSAY_DAMAGE_MUTATIONS` sets the number of damaged copies, `ASSAY_DAMAGE_SEED`
//! the seed of the choice of damage.

mod corpus;
mod mutation;

use std::collections::BTreeMap;

use assay_findings::persona_schema::{self, ReportTier};
use assay_findings::report::Report;
use assay_findings::script_api::{self, SeverityFormat};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use mutation::{CLASSES, Random};

/// The number of damaged copies in a normal test run.
const DEFAULT_MUTATIONS: u64 = 20_000;

fn state(text: &str) -> VerdictState {
    let reports = [Report::from_text(text, "reviewer", None)];
    synthesize(&reports, &SynthesisInputs::default()).verdict.state
}

fn is_approved(text: &str) -> bool {
    script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0.outcome.approved
}

/// Returns true if a text is a report that matches the schema of its form, or consists of prose and
/// of complete lists of findings, with no part of another list and no announcement of one: such a
/// text counts as written, whatever it was before the damage.
fn is_valid_report(text: &str) -> bool {
    is_valid_json_report(text) || has_whole_lists_alone(text)
}

fn has_whole_lists_alone(text: &str) -> bool {
    let mut rest = text;
    let mut lists = 0;
    while let Some(start) = rest.find(['{', '[', '"']) {
        let mut values =
            serde_json::Deserializer::from_str(&rest[start..]).into_iter::<serde_json::Value>();
        let Some(Ok(value)) = values.next() else { return false };
        if !["findings", "issues"].iter().any(|key| value[key].is_array()) {
            return false;
        }
        lists += 1;
        rest = &rest[start + values.byte_offset()..];
    }
    let rest = rest.trim_end();
    let rest = rest.strip_suffix("```").unwrap_or(rest).trim_end();
    lists > 0 && !rest.ends_with([':', '`'])
}

fn is_valid_json_report(text: &str) -> bool {
    let Ok(document) = serde_json::from_str(text) else { return false };
    let qa = script_api::schema("qa").unwrap();
    [ReportTier::Full, ReportTier::Compact]
        .into_iter()
        .any(|tier| persona_schema::validate(&document, tier).is_empty())
        || jsonschema::draft7::new(&qa).unwrap().is_valid(&document)
}

#[allow(clippy::disallowed_methods, reason = "a soak run says how many copies to judge")]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

#[test]
fn the_corpus_has_at_least_forty_blocking_reports() {
    let samples = corpus::samples();
    assert!(samples.len() >= 40);
    for sample in samples {
        assert_eq!(state(&sample.text), VerdictState::NotReady, "{}\n{}", sample.name, sample.text);
        assert!(!is_approved(&sample.text));
    }
}

#[test]
fn damage_never_improves_a_verdict() {
    let seed = setting("ASSAY_DAMAGE_SEED", 1);
    let mutations = setting("ASSAY_DAMAGE_MUTATIONS", DEFAULT_MUTATIONS);
    let samples = corpus::samples();
    let mut random = Random::new(seed);
    let mut counts: BTreeMap<_, [u64; 4]> = BTreeMap::new();
    let mut better: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let mut number = 0;
    while number < mutations {
        let sample = &samples[random.below(samples.len())];
        let class = CLASSES[random.below(CLASSES.len())];
        let Some(damaged) = class.damage(&sample.text, &mut random) else { continue };
        number += 1;
        let state = state(&damaged);
        let improved = !matches!(state, VerdictState::NotReady | VerdictState::Incomplete)
            || is_approved(&damaged);
        let row = counts.entry(class).or_default();
        row[0] += 1;
        match state {
            VerdictState::NotReady => row[1] += 1,
            VerdictState::Incomplete => row[2] += 1,
            _ => {}
        }
        if improved && is_valid_report(&damaged) {
            row[3] += 1;
        } else if improved {
            let details = format!("{class:?}, {}: {}\n{damaged}", sample.name, state.in_words());
            better.entry(class).or_default().push(details);
        }
    }
    println!("{mutations} damaged copies of {} reports, seed {seed}", samples.len());
    for (class, [all, blocked, incomplete, valid]) in &counts {
        println!(
            "  {:20}{all:9} copies: {blocked} not ready, {incomplete} incomplete, {valid} valid reports",
            format!("{class:?}")
        );
    }
    let examples: Vec<&str> =
        better.values().flat_map(|details| details.iter().take(2)).map(String::as_str).collect();
    assert!(
        better.is_empty(),
        "{} of {mutations} copies got a better verdict, such as\n{}",
        better.values().map(Vec::len).sum::<usize>(),
        examples.join("\n----\n")
    );
}
