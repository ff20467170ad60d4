//! Decides how a run takes up a loop: [`decide_resume`] returns whether the run continues it,
//! begins a new epoch, or waits.

use std::path::Path;

use assay_store::durable_fs::{self, DiskError, Durability};

use crate::artifacts::digest;
use crate::ending::Ending;
use crate::event::{EpochReason, FeedbackDisposition, FeedbackItem};
use crate::feedback::{self, ParsedFeedbackItem};
use crate::file_names::FIX_REQUEST;
use crate::issue::{Issue, IssueKind};
use crate::loop_state::LoopState;
use crate::loop_status::LoopStatus;
use crate::run::{EpochStart, NewFeedback};
use crate::spec::{self, Spec, SpecError};
use crate::tree_hash::TreeHash;

/// The first step of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum ResumeAction {
    /// Continue from the current state.
    Continue,
    /// Begin a new epoch.
    BeginEpoch(EpochStart),
    /// Stop: the tree is approved, and there is no new feedback.
    Approved,
    /// Wait for a person.
    Wait(Ending),
}

/// The reason why a run cannot take up a loop.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The path of a file in the spec's folder is refused.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// The inputs of the decision.
#[derive(Debug, Clone, Copy)]
pub struct ResumeInput<'a> {
    /// The root of the repository.
    pub root: &'a Path,
    /// The spec of the loop.
    pub spec: &'a Spec,
    /// The state of the loop.
    pub loop_state: &'a LoopState,
    /// The current tree.
    pub tree: &'a TreeHash,
    /// True if this machine wrote the whole journal.
    pub is_own: bool,
    /// True if the user asks to resume the loop.
    pub resumes: bool,
}

/// Returns how a run takes up a loop.
pub fn decide_resume(input: ResumeInput<'_>) -> Result<ResumeAction, ResumeError> {
    Ok(match (decide_locally(input)?, input.is_own) {
        // Events on another machine approve nothing here. A loop that waits for a person there
        // waits here too.
        (ResumeAction::Continue | ResumeAction::Approved, false) => {
            ResumeAction::BeginEpoch(EpochReason::Elsewhere.into())
        }
        (ResumeAction::BeginEpoch(EpochStart { feedback, .. }), false) => {
            ResumeAction::BeginEpoch(EpochStart { why: EpochReason::Elsewhere, feedback })
        }
        (action, _) => action,
    })
}

fn decide_locally(input: ResumeInput<'_>) -> Result<ResumeAction, ResumeError> {
    let ResumeInput { root, spec, loop_state, tree, resumes, .. } = input;
    let path = spec::file(root, &spec.folder, FIX_REQUEST)?;
    let request = durable_fs::read(&path)?;
    let has_request = request.is_some();
    if let Some(feedback) = request.and_then(|bytes| read_feedback(&bytes, loop_state)) {
        return Ok(ResumeAction::BeginEpoch(EpochStart {
            why: EpochReason::Feedback,
            feedback: Some(feedback),
        }));
    }
    Ok(match &loop_state.state {
        LoopStatus::Approved(approved) if approved == tree && loop_state.has_ended => {
            ResumeAction::Approved
        }
        LoopStatus::Approved(approved) if approved == tree => ResumeAction::Continue,
        LoopStatus::Approved(_) => ResumeAction::BeginEpoch(EpochReason::Changed.into()),
        // The run that was about to write the documents did not finish.
        LoopStatus::HandedOver(_) if !loop_state.has_ended => ResumeAction::Continue,
        LoopStatus::HandedOver(_) if resumes => {
            ResumeAction::BeginEpoch(EpochReason::Resumed.into())
        }
        // No issue that waits for a person is lost: the next round reviews everything again.
        LoopStatus::HandedOver(_) if loop_state.was_changed_while_waiting(tree) => {
            ResumeAction::BeginEpoch(EpochReason::TreeChanged.into())
        }
        LoopStatus::HandedOver(_) if !has_request && loop_state.artifacts.request.is_some() => {
            ResumeAction::BeginEpoch(EpochReason::RequestDeleted.into())
        }
        LoopStatus::HandedOver(ending) => ResumeAction::Wait(ending.clone()),
        LoopStatus::Pending
        | LoopStatus::InReview
        | LoopStatus::Rejected
        | LoopStatus::FixesApplied => ResumeAction::Continue,
    })
}

/// Returns the feedback of a person in the fix request; `None` if the loop wrote the file, or the
/// file has no open item.
fn read_feedback(bytes: &[u8], loop_state: &LoopState) -> Option<NewFeedback> {
    let digest = digest(bytes);
    if loop_state.knows_artifact(&digest) {
        return None;
    }
    let items: Vec<FeedbackItem> =
        feedback::read(&String::from_utf8_lossy(bytes)).into_iter().map(feedback_item).collect();
    // If all items are ticked off, the person asks for nothing.
    let is_wanted = items.iter().any(|it| it.disposition == FeedbackDisposition::HandedToTheFixer);
    let archived = format!("QA_FEEDBACK_{}.md", &digest[..8]);
    is_wanted.then_some(NewFeedback { items, digest, archived })
}

fn feedback_item(item: ParsedFeedbackItem) -> FeedbackItem {
    let ParsedFeedbackItem { text, about, is_ticked, .. } = item;
    FeedbackItem {
        issue: Issue { description: about, ..Issue::new(text, IssueKind::AcceptanceCriteria) },
        disposition: match is_ticked {
            true => FeedbackDisposition::TickedOff,
            false => FeedbackDisposition::HandedToTheFixer,
        },
    }
}

/// Renames the feedback file of a person, once its content is in the journal.
pub(crate) fn archive_feedback(
    root: &Path,
    spec: &Spec,
    loop_state: &LoopState,
) -> Result<(), ResumeError> {
    let Some(feedback) = &loop_state.feedback else { return Ok(()) };
    let path = spec::file(root, &spec.folder, FIX_REQUEST)?;
    let Some(bytes) = durable_fs::read(&path)? else { return Ok(()) };
    if digest(&bytes) != feedback.digest {
        return Ok(());
    }
    let kept = spec::file(root, &spec.folder, &feedback.archived)?;
    durable_fs::write(&kept, &bytes, Durability::Fsync)?;
    durable_fs::remove(&path)?;
    Ok(())
}
