//! The requirements on an implementation: [`Requirements`], which only rises.
//!
//! Each round writes its requirements into the journal. A loop must meet the highest of all rounds.
//! A requirement that a later spec or plan removes or lowers is an issue until a person decides.
//! Written forms call the requirements the bar: `bar_raised`, `bar:risk`, `bar.json`.

use assay_checks::check_plan::Risk;
use assay_checks::verification::{Group, Verification};
use serde::{Deserialize, Serialize};

use crate::issue::{Issue, IssueKind, Remedy};
use crate::markdown::compared;
use crate::spec::Spec;
use crate::spec::claim::adds_only_evidence;
use crate::spec::evidence::is_decided_by_code;

/// The id of the issue that reports a lowered risk.
pub const RISK_KEY: &str = "bar:risk";

/// The id of the issue that reports a lowered minimum coverage.
pub const COVERAGE_KEY: &str = "bar:coverage";

/// The requirements on an implementation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requirements {
    /// The criteria, each once.
    pub criteria: Vec<String>,
    /// The risk level of the implementation; `None` if neither spec nor plan states it.
    pub risk: Option<Risk>,
    /// The minimum coverage, in percent; `None` if no coverage is required.
    pub minimum_coverage: Option<f64>,
    /// The required commands, flows and manual steps, and the required groups of tests, such as
    /// ``unit: `pytest tests/` ``.
    pub required: Vec<String>,
}

impl Requirements {
    /// Returns the requirements that a spec and the risk level of its plan define.
    pub fn of(spec: &Spec, risk: Option<Risk>) -> Requirements {
        Requirements {
            criteria: spec.criteria.iter().map(|criterion| criterion.text.clone()).collect(),
            risk,
            minimum_coverage: spec.verification.minimum_coverage,
            required: required(&spec.verification),
        }
    }

    /// Raises each part to the value in `other` where that is higher.
    pub fn raise(&mut self, other: &Requirements) {
        if other.is_unset() {
            return;
        }
        if risk_rank(other.risk) > risk_rank(self.risk) || self.is_unset() {
            self.risk = other.risk;
        }
        add(&mut self.criteria, &other.criteria);
        add(&mut self.required, &other.required);
        self.minimum_coverage = highest(self.minimum_coverage, other.minimum_coverage);
    }

    /// Returns true if there is no requirement yet.
    pub fn is_unset(&self) -> bool {
        *self == Requirements::default()
    }

    /// Returns an issue for each part that the requirements `now` lack or lower.
    pub fn lowered_by(&self, now: &Requirements) -> Vec<Issue> {
        if self.is_unset() {
            return Vec::new();
        }
        let criteria = missing(&self.criteria, &now.criteria);
        let criteria = criteria.map(|text| {
            let key = format!("bar:criterion:{text}");
            match successor(text, &now.criteria) {
                Some(later) => issue(format!("Criterion was reworded: {text}"), key)
                    .with_description(format!(
                        "the spec now names tests for the criterion (`{later}`), and a test that \
                         was added to a criterion later is no evidence by itself: restore the old \
                         text, or ask a person to decide"
                    )),
                None => issue(format!("Criterion was removed: {text}"), key),
            }
        });
        let required = missing(&self.required, &now.required).map(|text| {
            issue(format!("Verification was removed: {text}"), format!("bar:required:{text}"))
        });
        let mut issues: Vec<Issue> = criteria.chain(required).collect();
        if risk_rank(self.risk) > risk_rank(now.risk) {
            let title = format!("Risk was lowered from {} to {}", name(self.risk), name(now.risk));
            issues.push(issue(title, RISK_KEY.to_owned()));
        }
        if highest(self.minimum_coverage, now.minimum_coverage) != now.minimum_coverage {
            let percent =
                |it: Option<f64>| it.map_or("none".to_owned(), |percent| format!("{percent}%"));
            let (from, to) = (percent(self.minimum_coverage), percent(now.minimum_coverage));
            let title = format!("Minimum coverage was lowered from {from} to {to}");
            issues.push(issue(title, COVERAGE_KEY.to_owned()));
        }
        issues
    }
}

/// Returns the criterion in `now` that has the words of an earlier one and names more tests for it.
/// Returns `None` for an earlier criterion that code could decide: a test that is named later must
/// not decide it instead.
fn successor<'a>(text: &str, now: &'a [String]) -> Option<&'a String> {
    match is_decided_by_code(text) {
        true => None,
        false => now.iter().find(|later| adds_only_evidence(text, later)),
    }
}

fn issue(title: String, key: String) -> Issue {
    let why = "the requirements of a loop must not be lowered: restore the requirement, or ask a \
               person to decide";
    Issue::new(title, IssueKind::AcceptanceCriteria)
        .with_key(key)
        .with_description(why)
        .with_remedy(Remedy::Decision)
}

/// Returns the rank of a risk, from 0. A risk that is not given ranks below `medium`: it asks for
/// the same checks, but only as far as the project has them.
fn risk_rank(risk: Option<Risk>) -> u8 {
    match risk {
        Some(Risk::Trivial) => 0,
        Some(Risk::Low) => 1,
        None => 2,
        Some(Risk::Medium) => 3,
        Some(Risk::High) => 4,
        Some(Risk::Critical) => 5,
    }
}

fn name(risk: Option<Risk>) -> &'static str {
    match risk {
        None => "none given",
        Some(Risk::Trivial) => "trivial",
        Some(Risk::Low) => "low",
        Some(Risk::Medium) => "medium",
        Some(Risk::High) => "high",
        Some(Risk::Critical) => "critical",
    }
}

fn highest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

fn add(all: &mut Vec<String>, more: &[String]) {
    let new: Vec<String> = missing(more, all).cloned().collect();
    all.extend(new);
}

/// Returns the texts that are not among `others`, compared without case and blanks.
fn missing<'a>(texts: &'a [String], others: &'a [String]) -> impl Iterator<Item = &'a String> {
    let others: Vec<String> = others.iter().map(|text| compared(text)).collect();
    texts.iter().filter(move |text| !others.contains(&compared(text)))
}

fn required(verification: &Verification) -> Vec<String> {
    let groups = [
        ("unit", &verification.unit),
        ("integration", &verification.integration),
        ("e2e", &verification.e2e),
    ];
    groups.into_iter().flat_map(|(name, group)| of_group(name, group)).collect()
}

fn of_group(name: &str, group: &Group) -> Vec<String> {
    let mut all: Vec<String> =
        group.commands.iter().map(|it| format!("{name}: `{}`", it.command)).collect();
    all.extend(group.flows.iter().map(|flow| format!("{name}: the flow or page {flow}")));
    all.extend(group.by_hand.iter().map(|it| format!("{name}: by hand {}", it.join(" → "))));
    all.extend(group.is_required.then(|| format!("{name}: tests are required")));
    all
}
