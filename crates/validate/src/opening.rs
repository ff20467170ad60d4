//! Decides how a run takes up a loop: [`opening`] returns whether the run continues it, begins a
//! new epoch, or waits.

use std::path::Path;

use assay_store::disk::{self, DiskError, Sure};

use crate::ending::Ending;
use crate::event::{Begun, Disposition, TakenItem};
use crate::feedback::{self, FeedbackItem};
use crate::file_names::FIX_REQUEST;
use crate::issue::{Issue, IssueKind};
use crate::paper::digest;
use crate::run::{Begin, Taken};
use crate::spec::{self, Spec, SpecError};
use crate::standing::Standing;
use crate::state::State;
use crate::tree_hash::TreeHash;

/// The first step of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// Continue from the current state.
    GoOn,
    /// Begin a new epoch.
    Begin(Begin),
    /// Stop: the tree is approved, and there is no new feedback.
    Approved,
    /// Wait for a person.
    Waits(Ending),
}

/// The reason why a run cannot take up a loop.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The path of a file in the spec's folder is refused.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// The inputs of the decision.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The root of the repository.
    pub root: &'a Path,
    /// The spec of the loop.
    pub spec: &'a Spec,
    /// The state of the loop.
    pub standing: &'a Standing,
    /// The current tree.
    pub tree: &'a TreeHash,
    /// True if this machine wrote the whole journal.
    pub is_own: bool,
    /// True if the user asks to resume the loop.
    pub resumes: bool,
}

/// Returns how a run takes up a loop.
pub fn opening(found: Found<'_>) -> Result<Opening, OpeningError> {
    Ok(match (opening_here(found)?, found.is_own) {
        // Events on another machine approve nothing here. A loop that waits for a person there
        // waits here too.
        (Opening::GoOn | Opening::Approved, false) => Opening::Begin(Begun::Elsewhere.into()),
        (Opening::Begin(Begin { taken, .. }), false) => {
            Opening::Begin(Begin { why: Begun::Elsewhere, taken })
        }
        (opening, _) => opening,
    })
}

fn opening_here(found: Found<'_>) -> Result<Opening, OpeningError> {
    let Found { root, spec, standing, tree, resumes, .. } = found;
    let path = spec::file(root, &spec.folder, FIX_REQUEST)?;
    let request = disk::read(&path)?;
    let has_request = request.is_some();
    if let Some(taken) = request.and_then(|bytes| feedback(&bytes, standing)) {
        return Ok(Opening::Begin(Begin { why: Begun::Feedback, taken: Some(taken) }));
    }
    Ok(match &standing.state {
        State::Approved(approved) if approved == tree && standing.has_ended => Opening::Approved,
        State::Approved(approved) if approved == tree => Opening::GoOn,
        State::Approved(_) => Opening::Begin(Begun::Changed.into()),
        // The run that was about to write the documents did not finish.
        State::HandedOver(_) if !standing.has_ended => Opening::GoOn,
        State::HandedOver(_) if resumes => Opening::Begin(Begun::Resumed.into()),
        // No issue that waits for a person is lost: the next round reviews everything again.
        State::HandedOver(_) if standing.was_changed_while_waiting(tree) => {
            Opening::Begin(Begun::TreeChanged.into())
        }
        State::HandedOver(_) if !has_request && standing.left.request.is_some() => {
            Opening::Begin(Begun::RequestDeleted.into())
        }
        State::HandedOver(ending) => Opening::Waits(ending.clone()),
        State::Pending | State::InReview | State::Rejected | State::FixesApplied => Opening::GoOn,
    })
}

/// Returns the feedback of a person in the fix request; `None` if the loop wrote the file, or the
/// file has no open item.
fn feedback(bytes: &[u8], standing: &Standing) -> Option<Taken> {
    let digest = digest(bytes);
    if standing.knows_paper(&digest) {
        return None;
    }
    let items: Vec<TakenItem> =
        feedback::read(&String::from_utf8_lossy(bytes)).into_iter().map(item).collect();
    // If all items are ticked off, the person asks for nothing.
    let is_wanted = items.iter().any(|it| it.disposition == Disposition::HandedToTheFixer);
    let archived = format!("QA_FEEDBACK_{}.md", &digest[..8]);
    is_wanted.then_some(Taken { items, digest, archived })
}

fn item(item: FeedbackItem) -> TakenItem {
    let FeedbackItem { text, about, is_ticked, .. } = item;
    TakenItem {
        issue: Issue { description: about, ..Issue::new(text, IssueKind::AcceptanceCriteria) },
        disposition: match is_ticked {
            true => Disposition::TickedOff,
            false => Disposition::HandedToTheFixer,
        },
    }
}

/// Renames the feedback file of a person, once its content is in the journal.
pub(crate) fn archive(root: &Path, spec: &Spec, standing: &Standing) -> Result<(), OpeningError> {
    let Some(feedback) = &standing.feedback else { return Ok(()) };
    let path = spec::file(root, &spec.folder, FIX_REQUEST)?;
    let Some(bytes) = disk::read(&path)? else { return Ok(()) };
    if digest(&bytes) != feedback.digest {
        return Ok(());
    }
    let kept = spec::file(root, &spec.folder, &feedback.archived)?;
    disk::write(&kept, &bytes, Sure::OnDisk)?;
    disk::remove(&path)?;
    Ok(())
}
