//! A gate as it stands: [`State`], its list with what is kept beside it.
//!
//! Everything here is decided from what is given; nothing is read or written. What an item was
//! verified on arrives as a digest, and a PASS counts only for the very content that it was given
//! for.

use crate::attempt::{Attempt, LoopState, Reviewed};
use crate::beside::{Acceptance, Beside, By, LastVerified, Note, SeenOn};
use crate::digest::Digest;
use crate::item::{Item, ItemId, Severity, Verified};
use crate::list::List;

/// A gate's list with what is kept beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The list.
    pub list: List,
    /// What is kept beside it.
    pub beside: Beside,
}

/// What content there is: all of it, and what an item covers of it.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    /// All of it.
    pub whole: &'a Digest,
    /// What an item covers that somebody verifies.
    pub of: &'a dyn Fn(&Item, Option<&By>) -> Digest,
}

/// Why nothing becomes of an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// There is no such item.
    #[error("there is no item `{0}` on this list; `assay gate status` shows those that there are")]
    Unknown(ItemId),
    /// It has passed.
    #[error("`{0}` has passed on the content as it is, and stays so until that changes")]
    Passed(ItemId),
    /// It is looked at here.
    #[error(
        "`{0}` is verified by assay itself, so nobody's word is taken for it; \
         `assay gate verify` looks again"
    )]
    SeenHere(ItemId),
    /// Nobody takes back what was seen.
    #[error("`{0}` cannot be made TODO: it becomes so by itself when its content changes")]
    ToTodo(ItemId),
    /// It cannot be said why it fails.
    #[error("a FAIL needs a finding that says what is wrong")]
    NoFinding,
    /// It cannot be said why somebody lives with it.
    #[error("reason required: say why `{0}` is accepted as it is")]
    NoReason(ItemId),
    /// There is nothing to live with.
    #[error("`{0}` has passed, so there is nothing to accept")]
    NothingToAccept(ItemId),
}

impl State {
    /// Gives what belongs to an item; where nothing is kept, what the list says of it itself. What
    /// nobody graded must hold.
    pub fn note(&self, id: &ItemId) -> Note {
        let kept = self.beside.items.get(id).cloned();
        kept.unwrap_or_else(|| {
            let severity = self.list.severity_of(id).unwrap_or(Severity::Must);
            Note { parent: self.list.parent_of(id), ..Note::new(severity) }
        })
    }

    /// Gives the name that comes next. A name that was ever used means what it meant then.
    pub fn free_id(&self) -> ItemId {
        let phase = self.list.phase;
        let used = self.list.items().map(|item| &item.id).chain(self.beside.items.keys());
        let last = used.filter_map(|id| id.number_in(phase)).max().unwrap_or(0);
        ItemId::numbered(phase, last.saturating_add(1))
    }

    /// Gives what is known of an item on the content as it is now.
    pub fn result(&self, item: &Item, content: Content<'_>) -> Verified {
        let note = self.note(&item.id);
        let covered = (content.of)(item, note.by.as_ref());
        match &item.result {
            Verified::Pass if note.seen != Some(SeenOn { content: covered, held: true }) => {
                Verified::Todo
            }
            result => result.clone(),
        }
    }

    /// Says whether an item was looked at on the content as it is now.
    pub fn is_seen(&self, item: &Item, content: Content<'_>) -> bool {
        let note = self.note(&item.id);
        let covered = (content.of)(item, note.by.as_ref());
        item.result != Verified::Todo && note.seen.is_some_and(|seen| seen.content == covered)
    }

    /// Begins to verify some content. Another attempt begins only where a complete one failed on
    /// other content, so that nobody lowers the bar by asking often.
    pub fn begin(&mut self, content: &Digest) {
        let Some(last) = &self.beside.last else { return };
        if last.reviewed == Reviewed::NeedsChanges && last.content != *content {
            let attempt = Attempt { state: LoopState::Retry, iteration: self.beside.iteration };
            self.beside.iteration = attempt.after(last.reviewed).iteration;
            self.beside.last = None;
        }
    }

    /// Ends verifying some content, once nothing is open.
    pub fn end(&mut self, content: &Digest, reviewed: Reviewed) {
        self.beside.last = Some(LastVerified { content: content.clone(), reviewed });
    }

    /// Writes down what somebody saw who is not asked by us, where that is allowed.
    pub fn update(
        &mut self,
        id: &ItemId,
        result: Verified,
        content: Content<'_>,
    ) -> Result<(), UpdateError> {
        let item = self.list.get(id).ok_or_else(|| UpdateError::Unknown(id.clone()))?;
        match (&self.result(item, content), &result) {
            (_, Verified::Todo) => return Err(UpdateError::ToTodo(id.clone())),
            (Verified::Pass, Verified::Pass) => return Ok(()),
            (Verified::Pass, Verified::Fail(_)) => return Err(UpdateError::Passed(id.clone())),
            (_, Verified::Fail(finding)) if finding.trim().is_empty() => {
                return Err(UpdateError::NoFinding);
            }
            (Verified::Todo | Verified::Fail(_), Verified::Pass | Verified::Fail(_)) => {}
        }
        self.settle(id, result, content);
        Ok(())
    }

    /// Writes down what came of an item.
    pub fn settle(&mut self, id: &ItemId, result: Verified, content: Content<'_>) {
        let Some(item) = self.list.get(id) else { return };
        let mut note = self.note(id);
        let held = result == Verified::Pass;
        let covered = (content.of)(item, note.by.as_ref());
        note.seen = Some(SeenOn { content: covered, held });
        note.version = note.version.saturating_add(1);
        // Looking at the same content again is no other failure.
        if matches!(result, Verified::Fail(_)) && note.failed_on.as_ref() != Some(content.whole) {
            note.fails = note.fails.saturating_add(1);
            note.failed_on = Some(content.whole.clone());
        }
        self.beside.items.insert(id.clone(), note);
        self.list.settle(id, result);
    }

    /// Opens an item again that was not looked at on the content as it is now.
    pub fn reopen(&mut self, id: &ItemId, content: Content<'_>) {
        if self.list.get(id).is_some_and(|item| !self.is_seen(item, content)) {
            self.list.settle(id, Verified::Todo);
        }
    }

    /// Writes down that somebody lives with an item as it is.
    pub fn accept(
        &mut self,
        id: &ItemId,
        reason: &str,
        by: &str,
        content: Content<'_>,
    ) -> Result<(), UpdateError> {
        let item = self.list.get(id).ok_or_else(|| UpdateError::Unknown(id.clone()))?;
        if reason.trim().is_empty() {
            return Err(UpdateError::NoReason(id.clone()));
        }
        let finding = match self.result(item, content) {
            Verified::Pass => return Err(UpdateError::NothingToAccept(id.clone())),
            Verified::Fail(finding) => Some(finding),
            Verified::Todo => None,
        };
        let mut note = self.note(id);
        let (reason, by) = (reason.trim().to_owned(), by.to_owned());
        note.accepted = Some(Acceptance { reason, by, finding });
        note.version = note.version.saturating_add(1);
        self.beside.items.insert(id.clone(), note);
        Ok(())
    }
}
