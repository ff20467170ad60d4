//! `finish_review`: the verdict, or first a second look at the findings.

use std::sync::Arc;

use assay_base::text::truncate;
use assay_engine::delegated_review::{DelegatedReviews, FinishResult, ReviewConclusion};
use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::{VerdictReason, VerdictRule};
use assay_review::delegation::BriefReader;
use assay_review::delegation::close::TreeState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer_budget::AnswerBudget;
use super::finding_summary::{FindingSummary, format_line, is_zero};
use super::tasks::ReviewTasks;
use super::to_refusal;
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of listed paths that a review was limited to.
const MAX_PATHS: usize = 20;

/// The maximum number of characters of a reason, of a risk and of a note.
const MAX_LINE: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// List the findings that are folded, the residual risks and the testing gaps too.
    #[serde(default)]
    all: bool,
}

/// The end of a review, or the second look before it.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReviewEnd {
    /// The state: `second_looks` if findings need a second look first, or else `finished`.
    state: &'static str,
    /// The required second look: one task for all findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReviewTasks")]
    second_looks: Option<ReviewTasks>,
    /// The outcome of the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Outcome")]
    outcome: Option<Outcome>,
    /// The next step.
    #[serde(skip_serializing_if = "String::is_empty")]
    next: String,
}

impl ReviewEnd {
    pub(super) fn next(&self) -> &str {
        &self.next
    }

    /// Removes the next step, for an answer that has its own.
    pub(super) fn without_next(self) -> ReviewEnd {
        ReviewEnd { next: String::new(), ..self }
    }
}

/// The outcome of a review.
#[derive(Serialize, JsonSchema)]
struct Outcome {
    /// The id of the review: `assay replay`, `assay diff` and `assay fix` take it too.
    review: String,
    /// The verdict: `ready`, `ready with fixes`, `not ready`, `nothing to review` or `incomplete`.
    verdict: String,
    /// The title of the change, and the paths that the review was limited to.
    change: String,
    /// The reasons for the verdict.
    because: Vec<String>,
    /// The number of further reasons.
    #[serde(skip_serializing_if = "is_zero")]
    more_because: usize,
    /// True if a required reviewer did not answer.
    incomplete: bool,
    /// The part of the change that was read, and by which reviewers.
    coverage: String,
    /// The open findings that are not folded, worst first.
    findings: Vec<FindingSummary>,
    /// The number of further open findings that are not folded.
    #[serde(skip_serializing_if = "is_zero")]
    more_findings: usize,
    /// The numbers of findings and remarks that are folded; `all` lists them.
    folded: FoldedCounts,
    /// The findings and remarks that are folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FoldedEntries")]
    all: Option<FoldedEntries>,
    /// Notes on the review.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// The numbers of findings and remarks that are folded.
#[derive(Serialize, JsonSchema)]
struct FoldedCounts {
    /// Open findings that can wait, according to a second look.
    put_off: usize,
    /// Open findings that are less likely or matter less than those that are listed.
    not_shown: usize,
    /// Findings that are not certain enough, or were refuted.
    held_back: usize,
    /// Open findings that a person has to check, whether they are listed or not.
    to_be_checked: usize,
    /// Findings that existed before the change.
    pre_existing: usize,
    /// Findings that were dismissed.
    dismissed: usize,
    /// Risks that no reviewer could prove.
    residual_risks: usize,
    /// Tests that are missing.
    testing_gaps: usize,
}

/// The findings and remarks that are folded, each in a line.
#[derive(Serialize, JsonSchema)]
struct FoldedEntries {
    /// Open findings that can wait, according to a second look.
    put_off: Vec<String>,
    /// Open findings that are less likely or matter less than those that are listed.
    not_shown: Vec<String>,
    /// Findings that are not certain enough, or were refuted.
    held_back: Vec<String>,
    /// Open findings that a person has to check.
    to_be_checked: Vec<String>,
    /// Findings that existed before the change.
    pre_existing: Vec<String>,
    /// Findings that were dismissed.
    dismissed: Vec<String>,
    /// Risks that no reviewer could prove.
    residual_risks: Vec<String>,
    /// Tests that are missing.
    testing_gaps: Vec<String>,
    /// The number of entries that are left out because of their size; the run has them.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

pub(super) fn tool(reviews: &Arc<dyn DelegatedReviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "finish_review",
        "Ends a review: puts all reports together and returns the verdict. Where findings are to \
         be looked at again first, it returns that task instead; hand in its report and call \
         finish_review again. A persona that has not reported by then has not read the change. For \
         a finished review it returns the outcome again.",
        Effect::Changes,
        move |input: Input| finish(&*reviews, &input.review, input.all, &mut AnswerBudget::new()),
    )
}

/// Ends a review, with an answer that fits into `budget`.
pub(super) fn finish(
    reviews: &dyn DelegatedReviews,
    id: &str,
    all: bool,
    budget: &mut AnswerBudget,
) -> Result<ReviewEnd, Refusal> {
    Ok(match reviews.finish(id).map_err(to_refusal)? {
        FinishResult::SecondLooks { briefs, read_by } => {
            let tasks = ReviewTasks::new(briefs, read_by, budget);
            ReviewEnd {
                state: "second_looks",
                next: next_look(id, &tasks, read_by),
                second_looks: Some(tasks),
                outcome: None,
            }
        }
        FinishResult::Done(ended) => ReviewEnd {
            state: "finished",
            second_looks: None,
            next: next(id, &ended),
            outcome: Some(Outcome::new(id, *ended, all, budget)),
        },
    })
}

impl Outcome {
    fn new(id: &str, ended: ReviewConclusion, all: bool, budget: &mut AnswerBudget) -> Outcome {
        let change = truncate(&reviewed(&ended), MAX_LINE);
        let ReviewConclusion { synthesis, notes, .. } = ended;
        let coverage = synthesis.coverage.as_ref().map(ToString::to_string).unwrap_or_default();
        let coverage = truncate(&coverage, MAX_LINE);
        budget.take(&(&change, &coverage));
        let notes = notes.iter().map(|note| truncate(note, MAX_LINE)).collect();
        let (notes, _) = budget.list(notes);
        let (because, more_because) =
            budget.list(synthesis.verdict.because.iter().map(reason).collect());
        let shown = synthesis.findings.iter().filter(|finding| !is_folded(finding));
        let (findings, more_findings) = budget.list(shown.map(FindingSummary::from).collect());
        Outcome {
            review: id.to_owned(),
            verdict: synthesis.verdict.state.in_words().to_owned(),
            change,
            because,
            more_because,
            incomplete: synthesis.verdict.incomplete,
            coverage,
            findings,
            more_findings,
            folded: FoldedCounts::of(&synthesis),
            all: all.then(|| FoldedEntries::of(&synthesis, budget)),
            notes,
        }
    }
}

/// Returns true if an open finding is counted and not listed.
fn is_folded(finding: &Finding) -> bool {
    !finding.shown || finding.is_put_off()
}

/// Returns true if an open finding is folded for another reason than a second look.
fn is_folded_for_other_reason(finding: &Finding) -> bool {
    !finding.shown && !finding.is_put_off()
}

impl FoldedCounts {
    fn of(synthesis: &Synthesis) -> FoldedCounts {
        let open = || synthesis.findings.iter();
        FoldedCounts {
            put_off: open().filter(|finding| finding.is_put_off()).count(),
            not_shown: open().filter(|finding| is_folded_for_other_reason(finding)).count(),
            held_back: synthesis.held_back.len(),
            to_be_checked: open().filter(|finding| finding.is_to_be_checked()).count(),
            pre_existing: synthesis.pre_existing.len(),
            dismissed: synthesis.dismissed.len(),
            residual_risks: synthesis.residual_risks.len(),
            testing_gaps: synthesis.testing_gaps.len(),
        }
    }
}

impl FoldedEntries {
    fn of(synthesis: &Synthesis, budget: &mut AnswerBudget) -> FoldedEntries {
        let open = || synthesis.findings.iter();
        let texts = |texts: &[String]| texts.iter().map(|text| truncate(text, MAX_LINE)).collect();
        let lists: [Vec<String>; 8] = [
            open().filter(|finding| finding.is_put_off()).map(format_line).collect(),
            open().filter(|finding| is_folded_for_other_reason(finding)).map(format_line).collect(),
            synthesis.held_back.iter().map(format_line).collect(),
            open().filter(|finding| finding.is_to_be_checked()).map(format_line).collect(),
            synthesis.pre_existing.iter().map(format_line).collect(),
            synthesis.dismissed.iter().map(format_line).collect(),
            texts(&synthesis.residual_risks),
            texts(&synthesis.testing_gaps),
        ];
        let mut more = 0;
        let lists = lists.map(|list| {
            let (listed, left) = budget.list(list);
            more += left;
            listed
        });
        let [
            put_off,
            not_shown,
            held_back,
            to_be_checked,
            pre_existing,
            dismissed,
            residual_risks,
            testing_gaps,
        ] = lists;
        FoldedEntries {
            put_off,
            not_shown,
            held_back,
            to_be_checked,
            pre_existing,
            dismissed,
            residual_risks,
            testing_gaps,
            more,
        }
    }
}

/// Formats a reason on the severity scale of the protocol.
fn reason(reason: &VerdictReason) -> String {
    let text = match reason.rule {
        VerdictRule::Major => reason.text.replace("MAJOR, P1 or worse", "P1 or worse"),
        _ => reason.text.clone(),
    };
    truncate(&text, MAX_LINE)
}

/// Formats the title of the change, with the paths that the review was limited to.
fn reviewed(ended: &ReviewConclusion) -> String {
    match ended.limited_to.is_empty() {
        true => ended.title.clone(),
        false => {
            let mut paths =
                ended.limited_to.iter().take(MAX_PATHS).cloned().collect::<Vec<String>>();
            let more = ended.limited_to.len() - paths.len();
            paths.extend((more > 0).then(|| format!("{more} more")));
            format!("{}, limited to {}", ended.title, paths.join(", "))
        }
    }
}

fn next_look(id: &str, tasks: &ReviewTasks, read_by: BriefReader) -> String {
    let (look, missing) = match read_by {
        BriefReader::Myself => (
            "Look at all findings afresh, as the task says. The change is in the answer of \
             start_review where it is not repeated here; read_brief returns both.",
            tasks.missing_texts(),
        ),
        BriefReader::SubAgents => (
            "Start a sub-agent that has not seen the review. It calls read_brief with the review, \
             persona and part of the task, which returns all that it needs, and gives you the JSON \
             report.",
            String::new(),
        ),
    };
    format!(
        "{look}{missing} Hand in the report with report_findings (`finish` true) for {id}. A second \
         look that is not handed in before finish_review is called again is left out."
    )
}

fn next(id: &str, ended: &ReviewConclusion) -> String {
    match (ended.tree, ended.synthesis.findings.is_empty()) {
        (Some(TreeState::Changed), _) => "The files changed while the review was open. Call \
                                          start_review for them as they are now."
            .to_owned(),
        (_, false) => format!(
            "Tell the user the verdict and its reasons. To fix findings, call next_fix for {id}."
        ),
        (_, true) => "Tell the user the verdict and its reasons.".to_owned(),
    }
}
