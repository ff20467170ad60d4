//! `start_review`: a change, and a task for each persona that reads it.

use std::sync::Arc;

use assay_change::{Scope, Selection};
use assay_review::delegation::{By, Reader};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::told::Tasks;
use super::{Begin, Begun, Reviews};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Compare the branch and the working tree with where they left this branch or commit. With
    /// none of base, staged, commit and pull_request, it is the default branch, or the last commit
    /// where there is nothing else.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    base: Option<String>,
    /// Review what is staged.
    #[serde(default)]
    staged: bool,
    /// Review a commit, or a range of them such as main..topic.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    commit: Option<String>,
    /// Review a pull request, such as owner/repo#7.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    pull_request: Option<String>,
    /// Take in new files that git does not track yet.
    #[serde(default)]
    untracked: bool,
    /// Review these paths only.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 500)))]
    paths: Vec<String>,
    /// Have these personas read the change too, beside those that it wakes.
    #[serde(default)]
    #[schemars(length(max = 40), inner(length(min = 1, max = 60)))]
    personas: Vec<String>,
    /// The model that you are, such as claude-sonnet-4-5; models of a family err alike.
    #[serde(default)]
    #[schemars(length(max = 60))]
    model: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The name of the review, for all other tools.
    review: String,
    /// The change in words.
    change_title: String,
    /// Who reads the change, and who does not.
    readers: Vec<Line>,
    #[serde(flatten)]
    tasks: Tasks,
    /// What is to be told about what decides on the change.
    notes: Vec<String>,
    /// What to do next.
    next: String,
}

/// Who reads the change or not, and why.
#[derive(Serialize, JsonSchema)]
struct Line {
    /// Its name.
    name: String,
    /// `you` where you do the reading, `assay` where it is done.
    by: &'static str,
    /// Whether it reads this change.
    reads: bool,
    /// Why, or why not.
    why: String,
    /// Whether the change cannot be ready without its report.
    required: bool,
}

impl From<Reader> for Line {
    fn from(reader: Reader) -> Line {
        let by = match reader.by {
            By::You => "you",
            By::Assay => "assay",
        };
        let Reader { name, reads, why, required, .. } = reader;
        Line { name, by, reads, why, required }
    }
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "start_review",
        "Begins a review of a change in this repository. Rules and analysers read it at once; you \
         get the change and a task for each persona that is to read it.",
        Effect::Adds,
        move |input| start(&*reviews, input),
    )
}

fn start(reviews: &dyn Reviews, input: Input) -> Result<Output, Refusal> {
    let scope = scope(&input)?;
    let Input { untracked, paths, personas, model, .. } = input;
    if untracked && matches!(scope, Scope::Staged | Scope::Commits(_) | Scope::Pull { .. }) {
        return Err(Refusal::new("`untracked` goes with the working tree only"));
    }
    let selection = Selection { paths, untracked };
    let Begun { review, notes } = reviews.start(Begin { scope, selection, personas, model })?;
    let tasks = Tasks::new(review.briefs());
    Ok(Output {
        review: review.id().to_string(),
        change_title: review.change().title.clone(),
        readers: review.readers().into_iter().map(Line::from).collect(),
        next: next(&tasks),
        notes,
        tasks,
    })
}

fn next(tasks: &Tasks) -> String {
    let rest = match tasks.are_cut() {
        true => " Where a text is missing, call read_brief for it.",
        false => "",
    };
    format!(
        "For each task: read its part of the change as that persona, with nobody else's findings \
         in mind (a sub-agent for each is best, which calls read_brief itself), and hand in its \
         report with report_findings.{rest} Then call finish_review. Do not change files \
         meanwhile."
    )
}

/// Says which change is meant.
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
    let none = || Refusal::new("`pull_request` has to be one such as owner/repo#7");
    Scope::pull_request(text).ok_or_else(none)
}
