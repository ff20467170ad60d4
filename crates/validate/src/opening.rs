//! How a run takes up a loop: [`opening`] says whether it goes on, begins anew or waits.

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

/// What a run does first.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// It goes on from where the loop stands.
    GoOn,
    /// A new epoch begins.
    Begin(Begin),
    /// The tree is approved, and nobody wants anything else.
    Approved,
    /// It waits for a person.
    Waits(Ending),
}

/// Why a run cannot take up a loop.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// A file cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is not where it should be.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// What a run finds.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The repository's root.
    pub root: &'a Path,
    /// The spec.
    pub spec: &'a Spec,
    /// Where the loop stands.
    pub standing: &'a Standing,
    /// The tree as it is.
    pub tree: &'a TreeHash,
    /// Whether all that happened did so on this machine.
    pub is_own: bool,
    /// Whether somebody says to resume.
    pub resumes: bool,
}

/// Says how a run takes up a loop.
pub fn opening(found: Found<'_>) -> Result<Opening, OpeningError> {
    Ok(match (opening_here(found)?, found.is_own) {
        // What happened elsewhere approves nothing here, and whoever waits there waits here too.
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
        // Whoever was about to write its papers did not come to the end.
        State::HandedOver(_) if !standing.has_ended => Opening::GoOn,
        State::HandedOver(_) if resumes => Opening::Begin(Begun::Resumed.into()),
        // Nothing that a person was asked for is lost: the next round looks at all of it again.
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

/// Gives what a person wrote into the request; nothing where the loop knows it, or it says nothing.
fn feedback(bytes: &[u8], standing: &Standing) -> Option<Taken> {
    let digest = digest(bytes);
    if standing.knows_paper(&digest) {
        return None;
    }
    let items: Vec<TakenItem> =
        feedback::read(&String::from_utf8_lossy(bytes)).into_iter().map(item).collect();
    // All that is ticked off is done, and nothing is wanted.
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

/// Keeps what a person wrote under another name, once it is in the journal.
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
