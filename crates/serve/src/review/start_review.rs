//! `start_review`: a change, and a task for each reading of it.

use std::sync::Arc;

use assay_base::text::truncate;
use assay_change::{Scope, Selection};
use assay_engine::delegated_review::{DelegatedReviews, StartRequest, StartedReview};
use assay_review::delegation::{BriefReader, MAX_REPORT_BYTES, ReadingParty, ReviewerInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer_budget::{AnswerBudget, MAX_ANSWER};
use super::finding_summary::is_zero;
use super::report_findings::MAX_REPORTS;
use super::tasks::ReviewTasks;
use super::to_refusal;
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of characters of a note, of a title, and of the reason that a reviewer reads.
const MAX_LINE: usize = 300;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Compare the branch and the working tree with the point where they left this branch or
    /// commit. Without any of base, staged, commit and pull_request, it is the default branch, or
    /// the last commit if there is nothing else.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    base: Option<String>,
    /// Review the staged changes.
    #[serde(default)]
    staged: bool,
    /// Review a commit, or a range such as main..topic.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    commit: Option<String>,
    /// Review a pull request, such as owner/repo#7.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    pull_request: Option<String>,
    /// Include new files that git does not track yet.
    #[serde(default)]
    untracked: bool,
    /// Review these paths only.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 500)))]
    paths: Vec<String>,
    /// The purpose of the change: what was asked for, in the words of the user, the ticket or the
    /// pull request. Documents of the repository that it names are read too. The first 6 KB are
    /// shown to readers.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 20_000))]
    purpose: Option<String>,
    /// Have these personas read the change too, in addition to those that it activates.
    #[serde(default)]
    #[schemars(length(max = 40), inner(length(min = 1, max = 60)))]
    personas: Vec<String>,
    /// Have each persona read the change separately, instead of a few readings for all concerns.
    #[serde(default)]
    each_persona: bool,
    /// The readers: you (`myself`: the answer has the change once and a task for each reading), or
    /// `sub-agents` (the answer has the sizes of the tasks; each sub-agent calls read_brief).
    #[serde(default)]
    readers: Readers,
    /// List the reviewers that do not read this change, with the reason.
    #[serde(default)]
    list_asleep: bool,
    /// The name of your model, such as claude-sonnet-4-5; models of a family make the same errors.
    #[serde(default)]
    #[schemars(length(max = 60))]
    model: String,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Readers {
    #[default]
    Myself,
    SubAgents,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The id of the review: for all other tools, and for `assay replay`, `assay diff` and
    /// `assay fix` once the review is finished.
    review: String,
    /// The title of the change.
    change_title: String,
    /// The reviewers that read the change.
    readers: Vec<ReviewerLine>,
    /// The number of further reviewers that read the change.
    #[serde(skip_serializing_if = "is_zero")]
    more_readers: usize,
    /// The number of reviewers that do not read this change; list_asleep lists them.
    asleep: usize,
    /// The reviewers that do not read this change, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asleep_readers: Vec<String>,
    #[serde(flatten)]
    tasks: ReviewTasks,
    /// The limits of the protocol.
    limits: ProtocolLimits,
    /// Notes on the configuration that decides on the change.
    notes: Vec<String>,
    /// The number of further notes.
    #[serde(skip_serializing_if = "is_zero")]
    more_notes: usize,
    /// The next step.
    next: String,
}

/// The limits of the protocol.
#[derive(Serialize, JsonSchema)]
struct ProtocolLimits {
    /// The maximum number of characters of an answer.
    answer_characters: usize,
    /// The maximum size of a report in bytes.
    report_bytes: usize,
    /// The maximum number of reports in one call.
    reports_per_call: usize,
}

const LIMITS: ProtocolLimits = ProtocolLimits {
    answer_characters: MAX_ANSWER,
    report_bytes: MAX_REPORT_BYTES,
    reports_per_call: MAX_REPORTS,
};

/// A reviewer that reads the change.
#[derive(Serialize, JsonSchema)]
struct ReviewerLine {
    /// The name of the reviewer.
    name: String,
    /// The reader: `you` if you do the reading, `assay` if it is done.
    by: &'static str,
    /// True if the change cannot be ready without a report of this reviewer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    /// The reason that the reviewer reads the change.
    why: String,
}

impl From<&ReviewerInfo> for ReviewerLine {
    fn from(reader: &ReviewerInfo) -> ReviewerLine {
        let by = match reader.by {
            ReadingParty::You => "you",
            ReadingParty::Assay => "assay",
        };
        let why = truncate(&reader.why, MAX_LINE);
        ReviewerLine { name: reader.name.clone(), by, required: reader.required, why }
    }
}

pub(super) fn tool(reviews: &Arc<dyn DelegatedReviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "start_review",
        "Begins a review of a change in this repository. Rules and analysers read it at once; the \
         answer has a task for each reading that is left, with the change, or with sizes only \
         where sub-agents read.",
        Effect::Adds,
        move |input| start(&*reviews, input),
    )
}

fn start(reviews: &dyn DelegatedReviews, input: Input) -> Result<Output, Refusal> {
    let scope = scope(&input)?;
    let Input { untracked, paths, purpose, personas, each_persona, readers, model, .. } = input;
    if untracked
        && matches!(
            scope,
            Scope::Staged | Scope::Commits(_) | Scope::Pull { .. } | Scope::MergeRequest { .. }
        )
    {
        return Err(Refusal::new("`untracked` is allowed for the working tree only"));
    }
    if purpose.as_ref().is_some_and(|purpose| purpose.trim().is_empty()) {
        return Err(Refusal::new("`purpose` is empty; give a text, or leave it out"));
    }
    let read_by = match readers {
        Readers::Myself => BriefReader::Myself,
        Readers::SubAgents => BriefReader::SubAgents,
    };
    let selection = Selection { paths, untracked };
    let begin = StartRequest { scope, selection, purpose, personas, each_persona, read_by, model };
    Ok(answer(reviews.start(begin).map_err(to_refusal)?, read_by, input.list_asleep))
}

fn answer(begun: StartedReview, read_by: BriefReader, list_asleep: bool) -> Output {
    let StartedReview { review, notes } = begun;
    let mut budget = AnswerBudget::new();
    let id = review.id().to_string();
    let (awake, asleep): (Vec<ReviewerInfo>, Vec<ReviewerInfo>) =
        review.readers().into_iter().partition(|reader| reader.reads);
    let (readers, more_readers) = budget.list(awake.iter().map(ReviewerLine::from).collect());
    let notes = notes.iter().map(|note| truncate(note, MAX_LINE)).collect();
    let (notes, more_notes) = budget.list(notes);
    let line =
        |reader: &ReviewerInfo| format!("{}: {}", reader.name, truncate(&reader.why, MAX_LINE));
    let listed = asleep.iter().filter(|_| list_asleep).map(line).collect();
    let (asleep_readers, _) = budget.list(listed);
    let tasks = ReviewTasks::new(review.briefs(), read_by, &mut budget);
    Output {
        next: next(&id, &tasks, read_by),
        review: id,
        change_title: truncate(&review.change().title, MAX_LINE),
        readers,
        more_readers,
        asleep: asleep.len(),
        asleep_readers,
        tasks,
        limits: LIMITS,
        notes,
        more_notes,
    }
}

fn next(id: &str, tasks: &ReviewTasks, read_by: BriefReader) -> String {
    if tasks.is_empty() {
        return format!("No reading is left. Call finish_review for {id}.");
    }
    let missing = match read_by {
        BriefReader::Myself => tasks.missing_texts(),
        BriefReader::SubAgents => String::new(),
    };
    let read = match read_by {
        BriefReader::Myself => {
            "Read the change once for each task, as the task says, and write its \
                           report."
        }
        BriefReader::SubAgents => {
            "Start a sub-agent for each task. It calls read_brief with the \
                              review, persona and part, which returns all that it needs, and \
                              gives you the JSON report."
        }
    };
    format!(
        "{read}{missing} Hand in all reports with one call of report_findings (`reports`, and \
         `finish` true to end the review {id} with it). Do not change files meanwhile."
    )
}

/// Returns the scope that the arguments select. Refuses more than one.
fn scope(input: &Input) -> Result<Scope, Refusal> {
    let pull = input.pull_request.as_deref().map(pull_request).transpose()?;
    let asked = [
        input.base.clone().map(Scope::Against),
        input.staged.then_some(Scope::Staged),
        input.commit.clone().map(Scope::Commits),
        pull,
    ];
    let mut asked = asked.into_iter().flatten();
    match (asked.next(), asked.next()) {
        (None, _) => Ok(Scope::Automatic),
        (Some(scope), None) => Ok(scope),
        (Some(_), Some(_)) => Err(Refusal::new(
            "only one of `base`, `staged`, `commit` and `pull_request` can be reviewed at a time",
        )),
    }
}

fn pull_request(text: &str) -> Result<Scope, Refusal> {
    let none = || Refusal::new("invalid `pull_request`: expected one such as owner/repo#7");
    Scope::pull_request(text).ok_or_else(none)
}
