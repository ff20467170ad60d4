//! `finish_review`: the verdict, or first some findings to look at again.

use std::sync::Arc;

use assay_findings::synthesis::Synthesis;
use assay_review::delegation::close::TreeSince;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::told::{self, Tasks, Told};
use super::{Ended, Finish, Reviews};
use crate::mcp::{Effect, Tool};

/// So many of the paths that a review was limited to are named.
const PATHS: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of the review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// `second_looks` where some findings are to be looked at again, or else `finished`.
    state: &'static str,
    /// The second looks that are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Tasks")]
    second_looks: Option<Tasks>,
    /// What the review came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Outcome")]
    outcome: Option<Outcome>,
    /// What to do next.
    next: String,
}

/// What a review came to.
#[derive(Serialize, JsonSchema)]
struct Outcome {
    /// Whether the change is ready: `ready`, `ready with fixes`, `not ready` or `incomplete`.
    verdict: String,
    /// What was reviewed, and where it was limited to some paths, to which.
    change: String,
    /// Why.
    because: Vec<String>,
    /// Whether somebody who had to answer did not.
    incomplete: bool,
    /// How much of the change was read, and by whom.
    coverage: String,
    /// What is open, the worst first.
    findings: Vec<Told>,
    /// How many more there are.
    more_findings: usize,
    /// How many were not sure enough, or were refuted.
    held_back: usize,
    /// What is to be told beside it.
    notes: Vec<String>,
    /// The run that it is kept as, for `assay replay` and `assay diff`.
    run: String,
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "finish_review",
        "Ends a review: puts all reports together and gives the verdict. Where findings are to be \
         looked at again first, it gives those tasks instead; hand them in and call it again. \
         Whoever has not reported by then has not read the change.",
        Effect::Changes,
        move |input: Input| reviews.finish(&input.review).map(|finish| told(&input.review, finish)),
    )
}

fn told(review: &str, finish: Finish) -> Output {
    match finish {
        Finish::SecondLooks(briefs) => Output {
            state: "second_looks",
            second_looks: Some(Tasks::new(briefs)),
            outcome: None,
            next: format!(
                "Look at each finding afresh (a sub-agent that has not seen the review is best), \
                 hand in each answer with report_findings under the persona `validator` and the \
                 task's part, then call finish_review for {review} again. What is not handed in by \
                 then is left as it is."
            ),
        },
        Finish::Done(ended) => Output {
            state: "finished",
            second_looks: None,
            next: next(review, &ended.synthesis, ended.tree),
            outcome: Some(outcome(*ended)),
        },
    }
}

fn outcome(ended: Ended) -> Outcome {
    let change = reviewed(&ended);
    let Ended { run, synthesis, notes, .. } = ended;
    let (findings, more_findings) = told::some(&synthesis.findings);
    Outcome {
        verdict: synthesis.verdict.state.in_words().to_owned(),
        change,
        because: synthesis.verdict.because.iter().map(|reason| reason.text.clone()).collect(),
        incomplete: synthesis.verdict.incomplete,
        coverage: synthesis.coverage.as_ref().map(ToString::to_string).unwrap_or_default(),
        held_back: synthesis.held_back.len(),
        findings,
        more_findings,
        notes,
        run,
    }
}

/// Says what was reviewed.
fn reviewed(ended: &Ended) -> String {
    match ended.limited_to.is_empty() {
        true => ended.title.clone(),
        false => {
            let mut paths = ended.limited_to.iter().take(PATHS).cloned().collect::<Vec<String>>();
            let more = ended.limited_to.len() - paths.len();
            paths.extend((more > 0).then(|| format!("{more} more")));
            format!("{}, limited to {}", ended.title, paths.join(", "))
        }
    }
}

fn next(review: &str, synthesis: &Synthesis, tree: Option<TreeSince>) -> String {
    match (tree, synthesis.findings.is_empty()) {
        (Some(TreeSince::Changed), _) => {
            "The files changed while the review was open. Call start_review for them as they are \
             now."
                .to_owned()
        }
        (_, false) => format!("To fix what was found, call next_fix for {review}."),
        (_, true) => "Tell the user the verdict and why.".to_owned(),
    }
}
