//! Decisions that a person makes about single issues: [`IssueDecision`], and [`decide`], which
//! finds the issue by its name.
//!
//! A person decides what evidence cannot: a criterion that no check and no model can judge, a test
//! that was weakened on purpose, a requirement that was lowered. Each decision is about one issue
//! of one tree, and is void on any other tree. A person cannot overrule a check or a finding, so
//! such a decision is refused.

use assay_findings::reason::is_reason_for;

use crate::criterion::{CriterionAnswer, CriterionLine};
use crate::event::IssueDecision;
use crate::event::ReviewResult;
use crate::issue::Issue;
use crate::loop_state::LoopState;
use crate::markdown::compared;
use crate::tree_hash::TreeHash;

/// Maximum number of names that an error lists.
const MAX_LISTED: usize = 20;

/// Minimum number of letters of a prefix that identifies an issue.
const MIN_PREFIX_LETTERS: usize = 4;

/// The reason for refusing a decision, which would have no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// No round has reviewed the tree to the end.
    #[error(
        "cannot record a decision: no round has reviewed the current tree; run `assay qa` without \
         `--sign-off` first"
    )]
    NotReviewed,
    /// No issue and no criterion has the name.
    #[error("unknown issue or criterion `{wanted}`; {}", nameable(open))]
    Unknown {
        /// The name that the person gave.
        wanted: String,
        /// The titles of the issues that can be decided.
        open: Vec<String>,
    },
    /// The name is a prefix of several issues.
    #[error("ambiguous name `{wanted}`: it matches {}; write the full name", listed(found))]
    Several {
        /// The name that the person gave.
        wanted: String,
        /// The titles of the issues with that prefix.
        found: Vec<String>,
    },
    /// The criterion is met already.
    #[error("cannot decide `{criterion}`: the criterion is already met ({evidence})")]
    Met {
        /// The text of the criterion.
        criterion: String,
        /// The evidence for the criterion.
        evidence: String,
    },
    /// A check or a finding decides the issue.
    #[error(
        "cannot decide `{title}`: only evidence resolves the issue; fix the issue{}",
        why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default()
    )]
    Evidence {
        /// The title of the issue.
        title: String,
        /// The result that the evidence shows; `None` if the issue has no description.
        why: Option<String>,
    },
    /// A person decided the issue of this tree already.
    #[error("`{title}` was already decided for this tree by {by}")]
    Decided {
        /// The title of the issue.
        title: String,
        /// The name of the person who decided.
        by: String,
    },
    /// The reason has no content.
    #[error(
        "invalid reason `{because}`: explain in a few words how you verified it, for the readers \
         of the report"
    )]
    Reason {
        /// The text that the person gave as the reason.
        because: String,
    },
}

fn nameable(open: &[String]) -> String {
    match open {
        [] => "no issue needs a decision by a person".to_owned(),
        open => format!("a person can decide: {}", listed(open)),
    }
}

fn listed(titles: &[String]) -> String {
    let mut shown: Vec<String> =
        titles.iter().take(MAX_LISTED).map(|title| format!("`{title}`")).collect();
    if titles.len() > MAX_LISTED {
        shown.push(format!("and {} more", titles.len() - MAX_LISTED));
    }
    shown.join(", ")
}

/// Returns a decision about the issue or criterion with the given name, from the issues of the last
/// round on the tree. Fails if the decision would have no effect.
pub fn decide(
    loop_state: &LoopState,
    tree: &TreeHash,
    by: &str,
    wanted: &str,
    because: &str,
) -> Result<IssueDecision, DecisionError> {
    let round = loop_state.history.last().filter(|round| round.tree == *tree);
    let review = round.and_then(|round| round.review()).ok_or(DecisionError::NotReviewed)?;
    let because = because.trim();
    if !is_reason_for(&format!("{wanted} {by}"), because) {
        return Err(DecisionError::Reason { because: because.to_owned() });
    }
    let issue = find(review, wanted, loop_state, tree)?;
    if !issue.remedy.can_be_decided() {
        let (title, why) = (issue.title.clone(), issue.description.clone());
        return Err(DecisionError::Evidence { title, why });
    }
    if let Some(before) = loop_state.decision(issue, tree) {
        let (title, by) = (issue.title.clone(), before.by.clone());
        return Err(DecisionError::Decided { title, by });
    }
    Ok(IssueDecision {
        by: by.trim().to_owned(),
        tree: tree.clone(),
        issue: issue.id().to_owned(),
        title: issue.title.clone(),
        because: because.to_owned(),
    })
}

fn find<'a>(
    review: &'a ReviewResult,
    wanted: &str,
    loop_state: &LoopState,
    tree: &TreeHash,
) -> Result<&'a Issue, DecisionError> {
    let name = plain(wanted);
    let named: Vec<(&Issue, Vec<String>)> =
        review.issues.iter().map(|issue| (issue, names(issue, &review.criteria))).collect();
    let exact = named.iter().find(|(_, names)| names.contains(&name));
    if let Some((issue, _)) = exact {
        return Ok(issue);
    }
    if let Some(line) = met(&review.criteria, &name) {
        let (criterion, evidence) = (line.text.clone(), line.evidence.clone());
        return Err(DecisionError::Met { criterion, evidence });
    }
    let is_prefix = |names: &[String]| names.iter().any(|full| full.starts_with(&name));
    let long_enough = name.chars().count() >= MIN_PREFIX_LETTERS;
    let alike: Vec<&Issue> = named
        .iter()
        .filter(|(_, names)| long_enough && is_prefix(names))
        .map(|(issue, _)| *issue)
        .collect();
    let titles = |issues: &[&Issue]| issues.iter().map(|issue| issue.title.clone()).collect();
    let wanted = wanted.trim().to_owned();
    match alike.as_slice() {
        [issue] => Ok(issue),
        [] => {
            let open = review.issues.iter().filter(|issue| issue.remedy.can_be_decided());
            let open = open.filter(|issue| loop_state.decision(issue, tree).is_none());
            Err(DecisionError::Unknown { wanted, open: open.map(|it| it.title.clone()).collect() })
        }
        several => Err(DecisionError::Several { wanted, found: titles(several) }),
    }
}

/// Returns the names of an issue: its title, the title without the words before its first colon,
/// its id with and without the kind, and for a criterion its number in the report.
fn names(issue: &Issue, criteria: &[CriterionLine]) -> Vec<String> {
    let mut names = vec![plain(&issue.title), plain(issue.id())];
    names.extend(issue.title.split_once(": ").map(|(_, rest)| plain(rest)));
    let below = issue.id().split_once(':').map(|(_, rest)| rest);
    names.extend(below.map(plain));
    let is_it = |line: &CriterionLine| issue.id().strip_prefix("criterion:") == Some(&line.text);
    if let Some(at) = criteria.iter().position(is_it) {
        let number = at + 1;
        names.extend([format!("{number}"), format!("#{number}"), format!("criterion {number}")]);
    }
    names
}

fn met<'a>(criteria: &'a [CriterionLine], name: &str) -> Option<&'a CriterionLine> {
    let named = |(number, line): (usize, &'a CriterionLine)| {
        let is_it = plain(&line.text) == name
            || [format!("{number}"), format!("#{number}"), format!("criterion {number}")]
                .iter()
                .any(|it| it == name);
        (is_it && line.answer == CriterionAnswer::Met).then_some(line)
    };
    (1..).zip(criteria).find_map(named)
}

/// Normalises a name for comparison: on one line, without case, back-ticks and a full stop.
fn plain(name: &str) -> String {
    compared(&name.replace('`', "")).trim_end_matches(['.', ' ']).to_owned()
}

impl LoopState {
    /// Returns the decision of a person about an issue of a tree; `None` if there is none, or the
    /// issue cannot be decided by a person.
    pub fn decision(&self, issue: &Issue, tree: &TreeHash) -> Option<&IssueDecision> {
        let is_it = |it: &&IssueDecision| it.tree == *tree && it.issue == issue.id();
        self.decisions.iter().filter(|_| issue.remedy.can_be_decided()).find(is_it)
    }

    /// Returns the review result of a tree after the decisions of persons: decided issues are left
    /// out, and the evidence of a decided criterion names the person and the reason.
    pub fn with_decisions(&self, review: &ReviewResult, tree: &TreeHash) -> ReviewResult {
        let mut review = review.clone();
        for issue in &review.issues {
            let Some(decision) = self.decision(issue, tree) else { continue };
            let text = issue.id().strip_prefix("criterion:");
            for line in review.criteria.iter_mut().filter(|line| text == Some(&line.text)) {
                line.answer = CriterionAnswer::Decided;
                line.evidence = format!("decided by {}: {}", decision.by, decision.because);
            }
        }
        review.issues.retain(|issue| self.decision(issue, tree).is_none());
        review
    }
}
