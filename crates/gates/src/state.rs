//! A gate as it stands: [`State`], its list with what is kept beside it.
//!
//! Everything here is decided from what is given; nothing is read or written. What an item was
//! verified on arrives as a digest, and a PASS counts only for the very content that it was given
//! for.

use assay_findings::reason::is_reason_for;

use crate::attempt::{Attempt, LoopState, Reviewed};
use crate::beside::{
    Acceptance, Beside, By, JournalDecision, JournalEntry, LastVerified, Note, SeenOn,
};
use crate::checks;
use crate::digest::Digest;
use crate::item::{Item, ItemId, Severity, Verified};
use crate::list::List;
use crate::plan_bar::PlanBar;
use crate::record::{self, Alteration};

/// A gate's list with what is kept beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The list.
    pub list: List,
    /// The sidecar.
    pub beside: Beside,
    /// Where the list was not as it had been recorded, and was put back.
    pub altered: Vec<Alteration>,
}

/// The content as it is now.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    /// All of it.
    pub whole: &'a Digest,
    /// The digest that tells this attempt from others.
    pub attempt: &'a Digest,
    /// The part that an item is about, where it is about one.
    pub part: &'a dyn Fn(&Item) -> Option<Digest>,
    /// The parts of the content that were not understood, so that no item is about them.
    pub unread: &'a [String],
}

impl Content<'_> {
    /// Returns what somebody saw who looked at an item alone.
    fn of(&self, item: &Item) -> Digest {
        (self.part)(item).unwrap_or_else(|| self.whole.clone())
    }

    /// Returns true if what was seen is what is there now.
    fn is(&self, item: &Item, seen: &SeenOn) -> bool {
        seen.content == *self.whole || (self.part)(item).as_ref() == Some(&seen.content)
    }
}

/// How much somebody looked at who says what came of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// At everything.
    AtAll,
    /// At what the item is about.
    AtItsPart,
}

/// The reason why an item is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// There is no such item.
    #[error("there is no item `{0}` on this list; `assay gate status` shows those that there are")]
    Unknown(ItemId),
    /// The item has passed.
    #[error("`{0}` has passed on the content as it is, and stays so until that changes")]
    Passed(ItemId),
    /// A built-in check or a command verifies the item.
    #[error(
        "`{0}` is verified by assay itself, so nobody's word is taken for it; \
         `assay gate verify` looks again"
    )]
    SeenHere(ItemId),
    /// Nobody takes back what was seen.
    #[error(
        "`{0}` cannot be made TODO: it becomes so by itself when its content changes; hand in PASS or FAIL \
         with `assay gate update-item {0} --status STATUS`"
    )]
    ToTodo(ItemId),
    /// The finding of a FAIL is missing.
    #[error("a FAIL needs a finding that says what is wrong: add `--finding TEXT`")]
    NoFinding,
    /// The reason of an acceptance is missing.
    #[error(
        "reason required: say why `{0}` is accepted as it is; words such as `because` or `n/a` alone \
         state none"
    )]
    NoReason(ItemId),
    /// An acceptance has no name.
    #[error("name required: say who accepts `{0}` with `--by NAME`")]
    NoName(ItemId),
    /// The party that accepts an item wrote the work.
    #[error(
        "`{by}` is on record as an author of this gate's items or of a fix, so it cannot accept `{id}`; \
         another person has to: `assay gate accept {id} --by NAME --reason TEXT`"
    )]
    OwnWork {
        /// The item.
        id: ItemId,
        /// The author.
        by: String,
    },
    /// There is nothing to live with.
    #[error(
        "`{0}` has not failed, so there is nothing to accept; `assay gate verify` looks at all items, and \
         `assay gate status` shows them"
    )]
    NothingToAccept(ItemId),
}

/// Takes the severity of a built-in check from the check.
fn graded_by_code(note: Note) -> Note {
    let severity = match &note.by {
        Some(By::Code(key)) => checks::named(key).map(|check| check.severity),
        Some(By::Command(_)) | None => None,
    };
    Note { severity: severity.unwrap_or(note.severity), ..note }
}

impl State {
    /// Puts a list together with what is kept beside it: each item counts as it was recorded.
    pub fn new(mut list: List, beside: Beside) -> State {
        let altered = record::restore(&mut list, &beside);
        State { list, beside, altered }
    }

    /// Puts a list that was about to be written over together with what is kept beside it: the list is
    /// what was about to be written.
    pub(crate) fn of_unfinished(mut list: List, beside: Beside) -> State {
        record::finish(&mut list, &beside);
        State { list, beside, altered: Vec::new() }
    }

    /// Writes the list down in what is kept beside it.
    pub(crate) fn write_down(&mut self) {
        let before = self.clone();
        record::write_down(&self.list, &mut self.beside, |id| before.note(id));
    }

    /// Returns true if somebody lives with what is found of an item now.
    pub fn acceptance(&self, item: &Item, content: Content<'_>) -> Option<Acceptance> {
        let Verified::Fail(finding) = &item.result else { return None };
        // An acceptance covers the finding that the person was shown, and none that came up later.
        let note = self.note(&item.id);
        let accepted = note.accepted?;
        // That a plan does without a requirement stays accepted whatever is written meanwhile.
        let is_requirement = note.by.is_some_and(|by| by.is_requirement());
        let is_same = is_requirement || accepted.content == content.of(item);
        let is_shown = accepted.finding == *finding && is_same;
        is_shown.then_some(accepted)
    }

    /// Returns what belongs to an item; where nothing is kept, what the list says of it itself. What
    /// nobody graded must hold.
    pub fn note(&self, id: &ItemId) -> Note {
        let kept = self.beside.items.get(id).cloned().map(graded_by_code);
        kept.unwrap_or_else(|| {
            let severity = self.list.severity_of(id).unwrap_or(Severity::Must);
            Note { parent: self.list.parent_of(id), ..Note::new(severity) }
        })
    }

    /// Returns the number of the name that comes next. A name that was ever used means what it meant
    /// then.
    pub fn next_number(&self) -> usize {
        let phase = self.list.phase;
        let used = self.list.items().map(|item| &item.id).chain(self.beside.items.keys());
        let last = used.filter_map(|id| id.number_in(phase)).max().unwrap_or(0);
        last.saturating_add(1)
    }

    /// Returns what is known of an item on the content as it is now.
    pub fn result(&self, item: &Item, content: Content<'_>) -> Verified {
        let seen = self.note(&item.id).seen;
        let held = seen.is_some_and(|seen| seen.held && content.is(item, &seen));
        match &item.result {
            Verified::Pass if !held => Verified::Todo,
            result => result.clone(),
        }
    }

    /// Returns true if an item was looked at on the content as it is now.
    pub fn is_seen(&self, item: &Item, content: Content<'_>) -> bool {
        let seen = self.note(&item.id).seen;
        item.result != Verified::Todo && seen.is_some_and(|seen| content.is(item, &seen))
    }

    /// Begins to verify some content. Another attempt begins only where a complete one failed and
    /// this content was not tried before, so that nobody lowers the bar by asking often; where the
    /// gate was passed before, what comes now is new work.
    ///
    /// Content on which the gate was passed counts as passed when it comes back: requirements of the plans in
    /// between ask for nothing more.
    pub fn begin(&mut self, attempt: &Digest) {
        if self.beside.passed.contains(attempt) {
            let (content, reviewed) = (attempt.clone(), Reviewed::Pass);
            self.beside.last = Some(LastVerified { content, reviewed });
            self.beside.bar = PlanBar::default();
            return;
        }
        let Some(last) = self.beside.last.clone() else { return };
        if last.content == *attempt {
            return;
        }
        match last.reviewed {
            Reviewed::Pass => self.beside.begin_again(),
            Reviewed::NeedsChanges if self.beside.failed.contains(attempt) => {}
            Reviewed::NeedsChanges => {
                let before = Attempt { state: LoopState::Retry, iteration: self.beside.iteration };
                self.beside.iteration = before.after(last.reviewed).iteration;
                self.beside.last = None;
            }
        }
    }

    /// Ends verifying some content, once nothing is open.
    pub fn end(&mut self, attempt: &Digest, reviewed: Reviewed) {
        match reviewed {
            Reviewed::NeedsChanges => {
                self.beside.failed.insert(attempt.clone());
                self.beside.passed.remove(attempt);
            }
            Reviewed::Pass => drop(self.beside.passed.insert(attempt.clone())),
        }
        self.beside.last = Some(LastVerified { content: attempt.clone(), reviewed });
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
        self.settle(id, result, content, Looked::AtItsPart);
        Ok(())
    }

    /// Writes down what came of an item.
    pub fn settle(&mut self, id: &ItemId, result: Verified, content: Content<'_>, looked: Looked) {
        let Some(item) = self.list.get(id) else { return };
        let mut note = self.note(id);
        let held = result == Verified::Pass;
        let covered = match looked {
            Looked::AtAll => content.whole.clone(),
            Looked::AtItsPart => content.of(item),
        };
        if held && note.by.is_none() {
            note.held_on.insert(covered.clone());
        }
        note.seen = Some(SeenOn { content: covered, held });
        note.version = note.version.saturating_add(1);
        // Looking at the same content again is no other failure, now or after another one.
        if matches!(result, Verified::Fail(_)) {
            note.failed_on.insert(content.attempt.clone());
        }
        self.beside.items.insert(id.clone(), note);
        self.list.settle(id, result);
    }

    /// Settles items that a reader saw hold on the content as it is now, and that were seen on other content
    /// since.
    pub fn restore_judged(&mut self, content: Content<'_>) {
        let is_judged = |item: &&Item| {
            let note = self.note(&item.id);
            let part = (content.part)(item);
            let held = note.held_on.contains(content.whole)
                || part.is_some_and(|part| note.held_on.contains(&part));
            note.by.is_none() && held && !self.is_seen(item, content)
        };
        let judged: Vec<ItemId> =
            self.list.items().filter(is_judged).map(|item| item.id.clone()).collect();
        for id in judged {
            self.settle(&id, Verified::Pass, content, Looked::AtItsPart);
        }
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
        let shown = match &item.result {
            Verified::Fail(finding) => format!("{} {finding}", item.check),
            Verified::Todo | Verified::Pass => item.check.clone(),
        };
        if !is_reason_for(&shown, reason) {
            return Err(UpdateError::NoReason(id.clone()));
        }
        if !by.chars().any(char::is_alphabetic) {
            return Err(UpdateError::NoName(id.clone()));
        }
        let is_by = |author: &String| author.trim().to_lowercase() == by.trim().to_lowercase();
        if self.beside.authors.iter().any(is_by) {
            return Err(UpdateError::OwnWork { id: id.clone(), by: by.trim().to_owned() });
        }
        let Verified::Fail(finding) = self.result(item, content) else {
            return Err(UpdateError::NothingToAccept(id.clone()));
        };
        let entry = JournalEntry {
            item: id.to_string(),
            finding: Some(finding.clone()),
            decision: JournalDecision::Accepted,
            by: by.trim().to_owned(),
            reason: reason.trim().to_owned(),
        };
        if !self.beside.journal.contains(&entry) {
            self.beside.journal.push(entry);
        }
        let mut note = self.note(id);
        let (reason, by) = (reason.trim().to_owned(), by.trim().to_owned());
        let content = content.of(item);
        note.accepted = Some(Acceptance { reason, by, finding, content });
        note.version = note.version.saturating_add(1);
        self.beside.items.insert(id.clone(), note);
        Ok(())
    }
}
