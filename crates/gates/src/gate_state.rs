//! The state of a gate: [`GateState`], its list and its sidecar.
//!
//! The functions here are pure: nothing is read or written. The verified content is given as a
//! digest, and a PASS counts only for exactly the content that it was given for.

use assay_findings::reason::is_reason_for;

use crate::attempt::{Attempt, AttemptResult, AttemptState};
use crate::checks;
use crate::digest::Digest;
use crate::item::{Item, ItemId, ItemResult, Severity};
use crate::list::List;
use crate::plan_requirements::PlanRequirements;
use crate::record::{self, Alteration};
use crate::sidecar::{
    Acceptance, ItemRecord, JournalDecision, JournalEntry, LastResult, LastVerification, Sidecar,
    VerifiedBy,
};

/// The list of a gate and its sidecar.
#[derive(Debug, Clone, PartialEq)]
pub struct GateState {
    /// The list of the gate.
    pub list: List,
    /// The sidecar of the list.
    pub sidecar: Sidecar,
    /// The differences between the list and its record, which were restored.
    pub altered: Vec<Alteration>,
}

/// The digests of the current content.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    /// The digest of the whole content.
    pub whole: &'a Digest,
    /// The digest that distinguishes this attempt from others.
    pub attempt: &'a Digest,
    /// Returns the digest of the part that an item is about; `None` if the item is about the whole.
    pub part: &'a dyn Fn(&Item) -> Option<Digest>,
    /// The parts of the content that were not understood, so that no item covers them.
    pub unread: &'a [String],
}

impl Content<'_> {
    /// Returns the digest of the content that a verifier of a single item sees.
    fn of(&self, item: &Item) -> Digest {
        (self.part)(item).unwrap_or_else(|| self.whole.clone())
    }

    /// Returns true if a result applies to the current content.
    fn is(&self, item: &Item, seen: &LastResult) -> bool {
        seen.content == *self.whole || (self.part)(item).as_ref() == Some(&seen.content)
    }
}

/// The scope of the content that a verifier saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifiedScope {
    /// The whole content.
    Everything,
    /// The part that the item is about.
    ItemOnly,
}

/// The reason why an item cannot be updated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// No item has the id.
    #[error("unknown item `{0}`; `assay gate status` shows the items of the list")]
    Unknown(ItemId),
    /// The item has passed.
    #[error(
        "cannot update `{0}`: the item has passed for the current content, and stays passed until \
         the content changes"
    )]
    Passed(ItemId),
    /// A built-in check or a command verifies the item.
    #[error(
        "cannot update `{0}`: a built-in check or a command verifies the item; run `assay gate \
         verify` to verify it again"
    )]
    SeenHere(ItemId),
    /// A result cannot be withdrawn.
    #[error(
        "cannot set `{0}` to TODO: an item becomes TODO when its content changes; set PASS or \
         FAIL with `assay gate update-item {0} --phase PHASE --status STATUS`"
    )]
    ToTodo(ItemId),
    /// The finding of a FAIL is missing.
    #[error("a FAIL needs a finding that describes the defect: add `--finding TEXT`")]
    NoFinding,
    /// The reason of an acceptance is missing.
    #[error(
        "reason required: explain why `{0}` is accepted; words such as `because` or `n/a` alone \
         are no reason"
    )]
    NoReason(ItemId),
    /// The name of the accepting person is missing.
    #[error("name required: name the person who accepts `{0}` with `--by NAME`")]
    NoName(ItemId),
    /// The party that accepts an item wrote the work.
    #[error(
        "`{by}` is recorded as an author of this gate's items or of a fix, and cannot accept \
         `{id}`; another person must accept it: `assay gate accept {id} --phase PHASE --by NAME \
         --reason TEXT`"
    )]
    OwnWork {
        /// The id of the item.
        id: ItemId,
        /// The name of the author.
        by: String,
    },
    /// The item has not failed, so that there is nothing to accept.
    #[error(
        "cannot accept `{0}`: the item has not failed; run `assay gate verify` to verify all \
         items, and `assay gate status` to list them"
    )]
    NothingToAccept(ItemId),
}

/// Sets the severity of a built-in check's record to that of the check.
fn graded_by_code(note: ItemRecord) -> ItemRecord {
    let severity = match &note.by {
        Some(VerifiedBy::Code(key)) => checks::named(key).map(|check| check.severity),
        Some(VerifiedBy::Command(_)) | None => None,
    };
    ItemRecord { severity: severity.unwrap_or(note.severity), ..note }
}

impl GateState {
    /// Combines a list with its sidecar: each item counts as it was recorded.
    pub fn new(mut list: List, sidecar: Sidecar) -> GateState {
        let altered = record::restore(&mut list, &sidecar);
        GateState { list, sidecar, altered }
    }

    /// Combines a list that was about to be overwritten with its sidecar: the recorded items
    /// replace the list.
    pub(crate) fn of_unfinished(mut list: List, sidecar: Sidecar) -> GateState {
        record::finish(&mut list, &sidecar);
        GateState { list, sidecar, altered: Vec::new() }
    }

    /// Records the list in the sidecar.
    pub(crate) fn write_down(&mut self) {
        let before = self.clone();
        record::write_down(&self.list, &mut self.sidecar, |id| before.note(id));
    }

    /// Returns the waiver of an item's current finding; `None` if there is none.
    pub fn acceptance(&self, item: &Item, content: Content<'_>) -> Option<Acceptance> {
        let ItemResult::Fail(finding) = &item.result else { return None };
        // A waiver covers the finding that the person saw, and no later one.
        let note = self.note(&item.id);
        let accepted = note.accepted?;
        // A removed requirement of a plan stays accepted, even if the content changes.
        let is_requirement = note.by.is_some_and(|by| by.is_requirement());
        let is_same = is_requirement || accepted.content == content.of(item);
        let is_shown = accepted.finding == *finding && is_same;
        is_shown.then_some(accepted)
    }

    /// Returns the record of an item, or else one with the values of the list file. Without a
    /// severity, the item has `Must`.
    pub fn note(&self, id: &ItemId) -> ItemRecord {
        let kept = self.sidecar.items.get(id).cloned().map(graded_by_code);
        kept.unwrap_or_else(|| {
            let severity = self.list.severity_of(id).unwrap_or(Severity::Must);
            ItemRecord { parent: self.list.parent_of(id), ..ItemRecord::new(severity) }
        })
    }

    /// Returns the next free number for an id. An id that was ever used is not used again.
    pub fn next_number(&self) -> usize {
        let phase = self.list.phase;
        let used = self.list.items().map(|item| &item.id).chain(self.sidecar.items.keys());
        let last = used.filter_map(|id| id.number_in(phase)).max().unwrap_or(0);
        last.saturating_add(1)
    }

    /// Returns the result of an item that applies to the current content.
    pub fn result(&self, item: &Item, content: Content<'_>) -> ItemResult {
        let seen = self.note(&item.id).seen;
        let held = seen.is_some_and(|seen| seen.held && content.is(item, &seen));
        match &item.result {
            ItemResult::Pass if !held => ItemResult::Todo,
            result => result.clone(),
        }
    }

    /// Returns true if an item was verified on the current content.
    pub fn is_seen(&self, item: &Item, content: Content<'_>) -> bool {
        let seen = self.note(&item.id).seen;
        item.result != ItemResult::Todo && seen.is_some_and(|seen| content.is(item, &seen))
    }

    /// Begins the verification of some content. A new attempt begins only if a complete one failed
    /// and this content was not tried before, so that repeated verification does not relax the
    /// blocking policy. After a pass, other content is new work.
    ///
    /// Content on which the gate was passed before counts as passed when it comes back:
    /// requirements of the plans in between no longer apply.
    pub fn begin(&mut self, attempt: &Digest) {
        if self.sidecar.passed.contains(attempt) {
            let (content, reviewed) = (attempt.clone(), AttemptResult::Pass);
            self.sidecar.last = Some(LastVerification { content, reviewed });
            self.sidecar.bar = PlanRequirements::default();
            return;
        }
        let Some(last) = self.sidecar.last.clone() else { return };
        if last.content == *attempt {
            return;
        }
        match last.reviewed {
            AttemptResult::Pass => self.sidecar.reset(),
            AttemptResult::NeedsChanges if self.sidecar.failed.contains(attempt) => {}
            AttemptResult::NeedsChanges => {
                let before =
                    Attempt { state: AttemptState::Retry, iteration: self.sidecar.iteration };
                self.sidecar.iteration = before.after(last.reviewed).iteration;
                self.sidecar.last = None;
            }
        }
    }

    /// Records the result of a complete verification of some content.
    pub fn end(&mut self, attempt: &Digest, reviewed: AttemptResult) {
        match reviewed {
            AttemptResult::NeedsChanges => {
                self.sidecar.failed.insert(attempt.clone());
                self.sidecar.passed.remove(attempt);
            }
            AttemptResult::Pass => drop(self.sidecar.passed.insert(attempt.clone())),
        }
        self.sidecar.last = Some(LastVerification { content: attempt.clone(), reviewed });
    }

    /// Records the result of an outside verifier. Fails if the update is not allowed.
    pub fn update(
        &mut self,
        id: &ItemId,
        result: ItemResult,
        content: Content<'_>,
    ) -> Result<(), UpdateError> {
        let item = self.list.get(id).ok_or_else(|| UpdateError::Unknown(id.clone()))?;
        match (&self.result(item, content), &result) {
            (_, ItemResult::Todo) => return Err(UpdateError::ToTodo(id.clone())),
            (ItemResult::Pass, ItemResult::Pass) => return Ok(()),
            (ItemResult::Pass, ItemResult::Fail(_)) => return Err(UpdateError::Passed(id.clone())),
            (_, ItemResult::Fail(finding)) if finding.trim().is_empty() => {
                return Err(UpdateError::NoFinding);
            }
            (ItemResult::Todo | ItemResult::Fail(_), ItemResult::Pass | ItemResult::Fail(_)) => {}
        }
        self.settle(id, result, content, VerifiedScope::ItemOnly);
        Ok(())
    }

    /// Records the result of an item.
    pub fn settle(
        &mut self,
        id: &ItemId,
        result: ItemResult,
        content: Content<'_>,
        looked: VerifiedScope,
    ) {
        let Some(item) = self.list.get(id) else { return };
        let mut note = self.note(id);
        let held = result == ItemResult::Pass;
        let covered = match looked {
            VerifiedScope::Everything => content.whole.clone(),
            VerifiedScope::ItemOnly => content.of(item),
        };
        if held && note.by.is_none() {
            note.held_on.insert(covered.clone());
        }
        note.seen = Some(LastResult { content: covered, held });
        note.version = note.version.saturating_add(1);
        // Another failure on the same content is not counted again, now or later.
        if matches!(result, ItemResult::Fail(_)) {
            note.failed_on.insert(content.attempt.clone());
        }
        self.sidecar.items.insert(id.clone(), note);
        self.list.settle(id, result);
    }

    /// Restores the PASS of items that a reader saw pass on the current content, and that were
    /// verified on other content since.
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
            self.settle(&id, ItemResult::Pass, content, VerifiedScope::ItemOnly);
        }
    }

    /// Resets an item to TODO unless it was verified on the current content.
    pub fn reopen(&mut self, id: &ItemId, content: Content<'_>) {
        if self.list.get(id).is_some_and(|item| !self.is_seen(item, content)) {
            self.list.settle(id, ItemResult::Todo);
        }
    }

    /// Records that a person accepts a failed item.
    pub fn accept(
        &mut self,
        id: &ItemId,
        reason: &str,
        by: &str,
        content: Content<'_>,
    ) -> Result<(), UpdateError> {
        let item = self.list.get(id).ok_or_else(|| UpdateError::Unknown(id.clone()))?;
        let shown = match &item.result {
            ItemResult::Fail(finding) => format!("{} {finding}", item.check),
            ItemResult::Todo | ItemResult::Pass => item.check.clone(),
        };
        if !is_reason_for(&shown, reason) {
            return Err(UpdateError::NoReason(id.clone()));
        }
        if !by.chars().any(char::is_alphabetic) {
            return Err(UpdateError::NoName(id.clone()));
        }
        let is_by = |author: &String| author.trim().to_lowercase() == by.trim().to_lowercase();
        if self.sidecar.authors.iter().any(is_by) {
            return Err(UpdateError::OwnWork { id: id.clone(), by: by.trim().to_owned() });
        }
        let ItemResult::Fail(finding) = self.result(item, content) else {
            return Err(UpdateError::NothingToAccept(id.clone()));
        };
        let entry = JournalEntry {
            item: id.to_string(),
            finding: Some(finding.clone()),
            decision: JournalDecision::Accepted,
            by: by.trim().to_owned(),
            reason: reason.trim().to_owned(),
        };
        if !self.sidecar.journal.contains(&entry) {
            self.sidecar.journal.push(entry);
        }
        let mut note = self.note(id);
        let (reason, by) = (reason.trim().to_owned(), by.trim().to_owned());
        let content = content.of(item);
        note.accepted = Some(Acceptance { reason, by, finding, content });
        note.version = note.version.saturating_add(1);
        self.sidecar.items.insert(id.clone(), note);
        Ok(())
    }
}
