//! Derives the issues of a round from its checks, from the findings of its review, and from the
//! criteria of its spec.

mod checks;
mod flaky_checks;
mod page_evidence;
mod test_evidence;
mod test_id;

use std::cell::RefCell;
use std::collections::BTreeSet;

use assay_base::text::first_chars;
use assay_checks::check::CheckOutcome;
use assay_findings::finding::Finding;
use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::{VerdictReason, VerdictRule, VerdictState};
use assay_gates::claim::is_claim;
use assay_gates::plan::{Criterion as PlanCriterion, Milestone, Plan};
use assay_gates::reconcile::{Answer, CriterionJudge, Judgement, Question, reconcile};

pub use self::checks::{from_checks, tests_passed};
pub(crate) use self::flaky_checks::from_flaky_checks;
use crate::criterion::{CriterionAnswer, CriterionLine};
use crate::file_names;
use crate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use crate::markdown::without_comments;
use crate::spec::claim::{plain_criterion, unknown_words};
use crate::spec::page_claim::PageClaim;
use crate::spec::{Criterion, Spec};

/// Maximum number of characters of a quoted text that was not understood.
const MAX_UNREAD: usize = 120;

/// The result of a code review of a tree.
#[derive(Debug)]
pub enum ReviewIssues {
    /// The review is complete.
    Complete {
        /// The issues that block approval.
        issues: Vec<Issue>,
        /// All other findings, which block nothing.
        remarks: Vec<Issue>,
    },
    /// A required reviewer did not review, for these reasons.
    Incomplete(Vec<String>),
}

/// Converts the findings of a review into issues, and those that block nothing into remarks. In a
/// loop, debugging output, swallowed errors, and code that behaves differently under test block at
/// any grade. A finding whose category is in
/// `own_kinds`, the repository's own kinds of issues, gets that kind.
pub fn from_review(synthesis: &Synthesis, own_kinds: &[String]) -> ReviewIssues {
    let because = synthesis.verdict.because.iter();
    match synthesis.verdict.state {
        VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::NotReady => {
            let issues =
                because.clone().flat_map(|reason| from_reason(reason, synthesis, own_kinds));
            let mut issues: Vec<Issue> = issues.collect();
            if synthesis.verdict.state == VerdictState::NotReady && issues.is_empty() {
                // Without the blocking finding, no later round could recognise that it is gone.
                return ReviewIssues::Incomplete(because.map(|it| it.text.clone()).collect());
            }
            let blocking = because.flat_map(|reason| match is_blocking(reason.rule) {
                true => reason.findings.as_slice(),
                false => &[],
            });
            let blocking: BTreeSet<&String> = blocking.collect();
            let others = synthesis.findings.iter().filter(|it| !blocking.contains(&it.id));
            let (stopped, remarks): (Vec<&Finding>, Vec<&Finding>) =
                others.partition(|finding| blocks_at_any_grade(finding));
            issues.extend(stopped.into_iter().map(|finding| from_finding(finding, own_kinds)));
            let remarks = remarks.into_iter().map(|finding| from_finding(finding, own_kinds));
            ReviewIssues::Complete { issues, remarks: remarks.collect() }
        }
        // No reviewer read anything, so nothing can be approved.
        VerdictState::NothingToReview | VerdictState::Incomplete => {
            ReviewIssues::Incomplete(because.map(|reason| reason.text.clone()).collect())
        }
    }
}

fn is_blocking(rule: VerdictRule) -> bool {
    matches!(rule, VerdictRule::Must | VerdictRule::Major | VerdictRule::FailOn)
}

/// Returns true if a rule found something that an implementation must not contain: debugging
/// output, a swallowed error, or code that makes its tests prove nothing.
fn blocks_at_any_grade(finding: &Finding) -> bool {
    let rule = finding.rule.as_deref().unwrap_or_default();
    let name = rule.rsplit('/').next().unwrap_or_default();
    let left_over = ["debug", "debugger", "dbg", "swallowed", "dump"];
    let is_left_over = name.split('-').any(|word| left_over.contains(&word));
    let is_stopped = is_left_over && !name.ends_with("-exposed") || name == "differs-under-test";
    is_stopped && !finding.pre_existing
}

/// Returns the issues of a reason; empty if the reason does not block.
fn from_reason(reason: &VerdictReason, synthesis: &Synthesis, own_kinds: &[String]) -> Vec<Issue> {
    match reason.rule {
        VerdictRule::Must | VerdictRule::Major | VerdictRule::FailOn => {
            let is_meant = |finding: &&Finding| reason.findings.contains(&finding.id);
            let meant = synthesis.findings.iter().filter(is_meant);
            meant.map(|finding| from_finding(finding, own_kinds)).collect()
        }
        VerdictRule::UnmetRequirement => {
            vec![Issue::new(reason.text.clone(), IssueKind::AcceptanceCriteria)]
        }
        VerdictRule::FailedCheck => vec![Issue::new(reason.text.clone(), IssueKind::UnitTest)],
        VerdictRule::NoReport
        | VerdictRule::NothingReviewed
        | VerdictRule::NothingToReview
        | VerdictRule::NotCovered
        | VerdictRule::NoPlace
        | VerdictRule::Unreadable
        | VerdictRule::UnreadableFile
        | VerdictRule::Should
        | VerdictRule::Actionable
        | VerdictRule::ToBeChecked
        | VerdictRule::PutOff
        | VerdictRule::HeldBack
        | VerdictRule::Doubtful
        | VerdictRule::Lead
        | VerdictRule::Clear => Vec::new(),
    }
}

fn from_finding(finding: &Finding, own_kinds: &[String]) -> Issue {
    Issue {
        severity: severity_of(finding.grade.impact().level()),
        file: finding.file.as_ref().map(ToString::to_string),
        line: finding.line,
        description: Some(finding.description.clone()).filter(|text| !text.is_empty()),
        fix: finding.suggested_fix.clone(),
        ..Issue::new(finding.title.clone(), kind_of(&finding.category, own_kinds))
    }
}

fn kind_of(category: &str, own_kinds: &[String]) -> IssueKind {
    match category {
        own if own_kinds.iter().any(|kind| kind == own) => IssueKind::from(own.to_owned()),
        "security" | "supply-chain" | "secrets" => IssueKind::Security,
        "performance" => IssueKind::Performance,
        "error-handling" | "error_handling" | "reliability" => IssueKind::ErrorHandling,
        "testing" | "test" | "tests" => IssueKind::UnitTest,
        _ => IssueKind::CodeQuality,
    }
}

fn severity_of(impact: u8) -> IssueSeverity {
    match impact {
        0 => IssueSeverity::Critical,
        1 => IssueSeverity::High,
        2 | 3 => IssueSeverity::Medium,
        _ => IssueSeverity::Low,
    }
}

/// Judges the criteria of a spec, each with its evidence: by tests and commands that the criterion
/// names, by pages and code, or else by a judge whose quotes are verified. A criterion with a word
/// that is not understood is left to the judge. Fails if the judge does not answer.
pub fn judge_criteria(
    spec: &Spec,
    checks: &[CheckOutcome],
    tree: &(dyn Tree + Sync),
    judge: Option<&dyn CriterionJudge>,
) -> Result<Vec<CriterionLine>, String> {
    let shown = |text: &str| {
        test_evidence::judge(text, checks)
            .or_else(|| page_evidence::judge(text, &TreeWithoutSpec { tree, spec }))
    };
    let tested: Vec<Option<Answer>> = spec.criteria.iter().map(|it| shown(&it.text)).collect();
    let open = spec.criteria.iter().zip(&tested).filter(|(_, tested)| tested.is_none());
    let open = open.map(|(criterion, _)| PlanCriterion {
        text: plain_criterion(&criterion.text),
        line: criterion.line.unwrap_or(0),
    });
    let milestone = Milestone {
        id: spec.name.clone(),
        title: spec.name.clone(),
        criteria: open.collect(),
        ..Milestone::default()
    };
    let plan = Plan { milestones: vec![milestone], ..Plan::default() };
    // Statements of a spec or of the loop about themselves are no evidence.
    let tree = &TreeWithoutSpec { tree, spec };
    let at = spec.folder.join(file_names::SPEC).display().to_string();
    let heard = judge.map(FailFastJudge::new);
    let judge = heard.as_ref().map(|heard| heard as &dyn CriterionJudge);
    let reconciled = reconcile(&plan, &at, tree, judge);
    if let Some(error) = heard.and_then(FailFastJudge::error) {
        return Err(error);
    }
    let looked = reconciled.milestones.into_iter().flat_map(|milestone| milestone.criteria);
    let mut looked = looked.map(|result| result.answer);
    let unknown = || Answer::CannotTell { why: "the criterion was not judged".to_owned() };
    let answers = tested.into_iter().map(|tested| match tested {
        Some(answer) => answer,
        None => looked.next().unwrap_or_else(unknown),
    });
    let numbered = spec.criteria.iter().zip(answers).zip(1..);
    let lines = numbered.map(|((it, answer), number)| {
        let mut line = line_of(&it.text, &answer);
        if line.answer == CriterionAnswer::CannotTell {
            line.evidence = undecided_reason(&it.text, &line.evidence, number);
        }
        line
    });
    Ok(lines.collect())
}

/// Returns the reason why a criterion is undecided, with the words that were not understood and the
/// ways to decide it.
fn undecided_reason(criterion: &str, why: &str, number: usize) -> String {
    let unknown: Vec<String> =
        unknown_words(criterion).iter().map(|phrase| format!("\"{phrase}\"")).collect();
    let words = match unknown.is_empty() {
        true => String::new(),
        false => format!("; not understood: {}", unknown.join(", ")),
    };
    format!(
        "{why}{words}; name a test for the criterion in back-ticks, configure a model as judge, \
         or decide it with `--sign-off NAME --for {number} --because TEXT`"
    )
}

/// A tree without the files of a spec and the loop, and with comments removed from pages, since no
/// reader sees them.
struct TreeWithoutSpec<'a> {
    tree: &'a (dyn Tree + Sync),
    spec: &'a Spec,
}

impl Tree for TreeWithoutSpec<'_> {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        if self.spec.owns(path.as_str()) {
            return Ok(None);
        }
        let text = self.tree.read(path)?;
        Ok(match page_evidence::is_markdown(path.as_str()) {
            true => text.map(|text| without_comments(&text)),
            false => text,
        })
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        if self.spec.owns(path.as_str()) { Ok(false) } else { self.tree.exists(path) }
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        if self.spec.owns(path.as_str()) { Ok(None) } else { self.tree.symbol_at(path, line) }
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        let mut paths = self.tree.paths()?;
        paths.retain(|path| !self.spec.owns(path.as_str()));
        Ok(paths)
    }
}

/// A judge with the error of its first failed answer.
struct FailFastJudge<'a> {
    judge: &'a dyn CriterionJudge,
    error: RefCell<Option<String>>,
}

impl<'a> FailFastJudge<'a> {
    fn new(judge: &'a dyn CriterionJudge) -> FailFastJudge<'a> {
        FailFastJudge { judge, error: RefCell::default() }
    }

    fn error(self) -> Option<String> {
        self.error.into_inner()
    }
}

impl CriterionJudge for FailFastJudge<'_> {
    fn judge(&self, question: &Question<'_>) -> Result<Judgement, String> {
        // A judge that failed once is not called again: each call could take as long.
        if let Some(error) = &*self.error.borrow() {
            return Err(error.clone());
        }
        let judged = self.judge.judge(question);
        if let Err(why) = &judged {
            self.error.replace(Some(format!("the criteria were not judged: {why}")));
        }
        judged
    }
}

fn line_of(text: &str, answer: &Answer) -> CriterionLine {
    let (answer, evidence) = match answer {
        Answer::Met { at: Some(at), seen } => {
            (CriterionAnswer::Met, format!("{}:{}: {seen}", at.file, at.line))
        }
        Answer::Met { at: None, seen } => (CriterionAnswer::Met, seen.clone()),
        Answer::NotMet { why } => (CriterionAnswer::NotMet, why.clone()),
        Answer::CannotTell { why } => (CriterionAnswer::CannotTell, why.clone()),
    };
    CriterionLine { text: text.to_owned(), answer, evidence }
}

/// Returns issues for the criteria that are not met or cannot be judged. A spec without criteria is
/// an issue, since there are no requirements to pass. Without a judge, only a person can decide a
/// criterion that names nothing that a check or code could show.
pub fn from_criteria(criteria: &[CriterionLine], has_judge: bool) -> Vec<Issue> {
    if criteria.is_empty() {
        let why = "neither `spec.md` nor the plan has acceptance criteria: add `- [ ]` items \
                   below a heading `Acceptance Criteria`";
        let issue = from_criterion("The spec has no acceptance criteria".to_owned(), why, "none");
        return vec![issue.with_remedy(Remedy::SpecEdit)];
    }
    let of_each = criteria.iter().filter_map(|line| {
        let (title, remedy) = match line.answer {
            CriterionAnswer::Met | CriterionAnswer::Decided => return None,
            CriterionAnswer::NotMet => (format!("Not met: {}", line.text), Remedy::Fix),
            CriterionAnswer::CannotTell => {
                let remedy = match has_judge || is_decidable(&line.text) {
                    true => Remedy::FixOrDecision,
                    false => Remedy::Decision,
                };
                (format!("Cannot tell: {}", line.text), remedy)
            }
        };
        Some(Issue { remedy, ..from_criterion(title, &line.evidence, &line.text) })
    });
    of_each.collect()
}

/// Returns true if checks, pages or code can decide a criterion, independent of their current
/// result.
fn is_decidable(criterion: &str) -> bool {
    test_evidence::is_about_tests(criterion)
        || PageClaim::read(criterion).is_some()
        || is_claim(criterion)
}

/// Returns an issue for each text in a criteria section that was not understood.
pub fn from_unread(unread: &[Criterion]) -> Vec<Issue> {
    let of_each = unread.iter().map(|criterion| {
        let text = first_chars(&criterion.text, MAX_UNREAD);
        let place = match criterion.line {
            Some(line) => format!("line {line} of `spec.md`"),
            None => "the plan".to_owned(),
        };
        let why = format!(
            "{place} is in a section of criteria, and cannot be parsed as a criterion: write a \
             list item or a sentence, or ask a person to decide"
        );
        Issue {
            remedy: Remedy::Decision,
            key: Some(format!("unread:{}", criterion.text)),
            ..from_criterion(format!("Not understood: {text}"), &why, "")
        }
    });
    of_each.collect()
}

fn from_criterion(title: String, why: &str, key: &str) -> Issue {
    Issue::new(title, IssueKind::AcceptanceCriteria)
        .with_key(format!("criterion:{key}"))
        .with_description(why)
}
