//! The steps of a gate: [`Gate::decompose`] makes the list, [`Gate::verify`] verifies it, and
//! `Gate::status` returns the status in between.

use std::collections::HashMap;

use assay_rules::redact_text;

use crate::blocking_policy::{BlockingPolicy, ReaderPolicy};
use crate::checks::{self};
use crate::digest::Digest;
use crate::gate_state::{Content, GateState, UpdateError, VerifiedScope};
use crate::gate_status::{GateStatus, evaluate};
use crate::gate_store::{GateStore, IfDeleted};
use crate::item::{Item, ItemId, ItemResult, Scope, Severity};
use crate::list::{List, ListError};
use crate::phase::Phase;
use crate::plan_requirements::PlanRequirements;
use crate::result::CheckResult;
use crate::sidecar::{
    ChecklistSource, GateInputs, ItemRecord, JournalDecision, JournalEntry, ReleasedItem, Sidecar,
    VerifiedBy,
};
use crate::store_error::StoreError;
use crate::subject::Subject;

/// A gate: one phase of one subject, with its stored state.
#[derive(Clone, Copy)]
pub struct Gate<'a> {
    /// The phase of the work.
    pub phase: Phase,
    /// The plan, change and tree that the gate verifies.
    pub subject: &'a Subject<'a>,
    /// The store of the gate's state.
    pub store: &'a GateStore,
    /// The blocking policy.
    pub policy: BlockingPolicy,
}

/// The digests of the content that a gate is evaluated on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentDigests {
    pub(crate) whole: Digest,
    pub(crate) attempt: Digest,
}

/// An item that is to be put on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// The id; `None` for the next number.
    pub id: Option<ItemId>,
    /// The scope of the item.
    pub scope: Scope,
    /// The text of the check.
    pub check: String,
    /// The severity of the item.
    pub severity: Severity,
    /// The item that this one is a part of; `None` if it is no part.
    pub parent: Option<ItemId>,
    /// The verifier of the item; `None` if it is neither a built-in check nor a command.
    pub by: Option<VerifiedBy>,
}

impl NewItem {
    /// Returns an item without an id of its own and without a parent.
    pub fn new(scope: Scope, check: String, severity: Severity, by: Option<VerifiedBy>) -> NewItem {
        NewItem { id: None, scope, check, severity, parent: None, by }
    }
}

/// The treatment of a list that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists<'a> {
    /// The existing list stays.
    Keep,
    /// A new list replaces it, with the items that the existing list still requires.
    Replace,
    /// A new list replaces it, and a person releases the items that the existing list still
    /// requires.
    Release(&'a Release),
}

/// A person's decision that a list does without items of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The reason that the person gave.
    pub reason: String,
    /// The name of the person.
    pub by: String,
}

/// The result of making a list.
#[derive(Debug)]
pub struct Decomposition {
    /// The state of the gate with its list.
    pub state: GateState,
    /// True if the list existed before.
    pub was_there: bool,
    /// The items of the earlier list that stay on the new one.
    pub carried: Vec<ItemId>,
    /// Other folders with a gate of the same plan that was not passed; this gate must meet their
    /// requirements too.
    pub elsewhere: Vec<String>,
}

/// The error of a step of a gate.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The item cannot be updated.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// The items do not form a valid list.
    #[error("invalid items: {0}")]
    Items(#[from] ListError),
}

impl Gate<'_> {
    /// Makes the list, unless an existing one is to stay.
    pub fn decompose(
        &self,
        inputs: GateInputs,
        proposed: Vec<NewItem>,
        earlier: IfExists<'_>,
    ) -> Result<Decomposition, GateError> {
        let mut items = match inputs.checklist {
            ChecklistSource::BuiltIn => self.built_in(),
            ChecklistSource::HandedIn => Vec::new(),
        };
        items.extend(proposed);
        let (release, lost) = match earlier {
            IfExists::Release(release) => (Some(release), IfDeleted::Release),
            IfExists::Keep | IfExists::Replace => (None, IfDeleted::Refuse),
        };
        let (mut was_there, mut carried) = (false, Vec::new());
        let was_known = self.store.was_made();
        let records = self.recorded()?;
        let mut elsewhere = Vec::new();
        let state = self.store.replace(lost, |before| match (earlier, before) {
            (IfExists::Keep, Some(before)) => {
                was_there = true;
                Ok(before.clone())
            }
            (IfExists::Replace | IfExists::Keep | IfExists::Release(_), before) => {
                let is_lost = before.is_none() && was_known;
                let mut before = before.cloned().or_else(|| self.begun_elsewhere(&records));
                if let Some(before) = &mut before {
                    self.join(before, &records);
                }
                elsewhere = self.folders_elsewhere(&records);
                let mut state = self.listed(before.as_ref(), inputs, items, release)?;
                if let Some(before) = &before {
                    carried = self.carry(before, &mut state, release);
                }
                match release {
                    Some(release) => {
                        if is_lost {
                            state.sidecar.released.push(lost_list(release));
                        }
                        state.sidecar.bar = PlanRequirements::default();
                    }
                    None => {
                        self.join(&mut state, &records);
                    }
                }
                let mut number = state.next_number();
                self.hold_to_requirements(&mut state, &mut number)?;
                Ok::<_, GateError>(state)
            }
        })?;
        Ok(Decomposition { state, was_there, carried, elsewhere })
    }

    /// Records the result of a verifier outside of this process. Fails for an item that is verified
    /// here.
    pub fn update(&self, id: &ItemId, result: ItemResult) -> Result<(), GateError> {
        self.change(&self.content(), |state, content| {
            if state.list.get(id).is_some_and(|item| self.sees(state, item)) {
                return Err(UpdateError::SeenHere(id.clone()).into());
            }
            Ok(state.update(id, redacted(result), content)?)
        })
    }

    /// Returns true if an item is verified here, so that no other verifier's result is needed.
    fn sees(&self, state: &GateState, item: &Item) -> bool {
        match state.note(&item.id).by {
            Some(by) if by.is_requirement() => true,
            Some(VerifiedBy::Code(key)) => {
                !matches!(self.run_check(&key, item), CheckResult::NotChecked(_))
            }
            Some(VerifiedBy::Command(_)) => true,
            None => false,
        }
    }

    /// Runs a built-in check on an item.
    pub(crate) fn run_check(&self, key: &str, item: &Item) -> CheckResult {
        match checks::named(key) {
            Some(check) => match (check.run)(self.subject, &item.scope) {
                // A check that passes may have missed a file that could not be read.
                CheckResult::Pass => match self.subject.tree_error() {
                    Some(error) => CheckResult::NotChecked(error.to_string()),
                    None => CheckResult::Pass,
                },
                seen @ (CheckResult::Fail(_) | CheckResult::NotChecked(_)) => seen,
            },
            None => CheckResult::NotChecked(format!(
                "unknown check `{key}`: this version of assay does not have it"
            )),
        }
    }

    /// Records that a person accepts a failed item.
    pub fn accept(&self, id: &ItemId, reason: &str, by: &str) -> Result<(), GateError> {
        let (reason, by) = (redact_text(reason), redact_text(by));
        self.change(&self.content(), |state, content| Ok(state.accept(id, &reason, &by, content)?))
    }

    /// Records that a party wrote items of the list, or the subject of the gate. This party cannot
    /// accept items.
    pub fn credit(&self, author: &str) -> Result<(), GateError> {
        let author = redact_text(author.trim());
        self.change(&self.content(), |state, _| {
            state.sidecar.authors.insert(author);
            Ok(())
        })
    }

    /// Returns the status of the gate on the current content. Built-in checks run for it, and
    /// nothing is written.
    pub fn status(&self) -> Result<(GateState, GateStatus), GateError> {
        let (mut state, digests) = (self.store.read()?, self.content());
        self.retire(&mut state);
        self.join_before(&mut state, &self.recorded()?, &digests.attempt);
        let mut number = state.next_number();
        self.hold_to_requirements(&mut state, &mut number)?;
        let status = self.with(&digests, |content| {
            state.restore_judged(content);
            for (id, seen) in self.run_builtin_checks(&state) {
                match seen {
                    CheckResult::Pass => {
                        state.settle(&id, ItemResult::Pass, content, VerifiedScope::Everything)
                    }
                    CheckResult::Fail(finding) => {
                        let result = redacted(ItemResult::Fail(finding));
                        state.settle(&id, result, content, VerifiedScope::Everything);
                    }
                    CheckResult::NotChecked(_) => state.reopen(&id, content),
                }
            }
            evaluate(&state, &self.policy, content)
        });
        Ok((state, status))
    }

    /// Returns the digests of the current content.
    pub(crate) fn content(&self) -> ContentDigests {
        let (whole, attempt) = (self.subject.whole(self.phase), self.subject.attempt(self.phase));
        ContentDigests { whole, attempt }
    }

    /// Changes the stored state, for the given content.
    pub(crate) fn change<T>(
        &self,
        digests: &ContentDigests,
        change: impl FnOnce(&mut GateState, Content<'_>) -> Result<T, GateError>,
    ) -> Result<T, GateError> {
        self.with(digests, |content| self.store.change(|state| change(state, content)))
    }

    pub(crate) fn with<T>(
        &self,
        digests: &ContentDigests,
        work: impl FnOnce(Content<'_>) -> T,
    ) -> T {
        let part = |item: &Item| self.subject.part(self.phase, item);
        let ContentDigests { whole, attempt } = digests;
        let unread = self.subject.unread();
        work(Content { whole, attempt, part: &part, unread: &unread })
    }

    /// Returns the built-in items for the subject.
    pub(crate) fn built_in(&self) -> Vec<NewItem> {
        let checks = checks::of(self.phase).into_iter();
        let items = checks.flat_map(|check| {
            (check.targets)(self.subject).into_iter().map(|target| {
                let by = VerifiedBy::Code(check.key.to_owned());
                NewItem::new(target.scope, target.check, check.severity, Some(by))
            })
        });
        items.chain(self.for_a_reader()).collect()
    }

    /// Returns the item that a model or a person has to judge; `None` if the policy requires none.
    fn for_a_reader(&self) -> Option<NewItem> {
        let check = checks::for_a_reader(self.phase, self.subject)?;
        (self.policy.reader == ReaderPolicy::Required)
            .then(|| NewItem::new(Scope::All, check.to_owned(), Severity::Must, None))
    }

    /// Makes a list of items. An item of the earlier list keeps its id, its failure and its number
    /// of failures, and the attempts stay counted.
    fn listed(
        &self,
        before: Option<&GateState>,
        inputs: GateInputs,
        items: Vec<NewItem>,
        release: Option<&Release>,
    ) -> Result<GateState, ListError> {
        let sidecar = match before {
            Some(before) => before.sidecar.for_new_list(inputs),
            None => Sidecar::new(self.phase, inputs),
        };
        let mut state = GateState { list: List::new(self.phase), sidecar, altered: Vec::new() };
        let known = before.map(known).unwrap_or_default();
        let mut number = state.next_number();
        for proposed in items {
            let place = (proposed.scope.clone(), proposed.check.clone());
            let same =
                known.get(&place).filter(|(_, by)| *by == proposed.by).map(|(id, _)| id.clone());
            let same = same.filter(|id| state.list.get(id).is_none());
            let earlier = before.and_then(|before| before.list.get(proposed.id.as_ref()?));
            let is_proposed = |item: &&Item| (&item.scope, &item.check) == (&place.0, &place.1);
            if let Some(earlier) = earlier.filter(|earlier| !is_proposed(earlier)) {
                if release.is_none() {
                    return Err(ListError::AnotherItem(earlier.id.clone()));
                }
                state.sidecar.items.remove(&earlier.id);
            }
            let id = add(&mut state, proposed, same, &mut number)?;
            if let Some(failed) = before.and_then(|before| before.list.get(&id)) {
                let is_failed = matches!(failed.result, ItemResult::Fail(_));
                let is_same = state.list.get(&id).is_some_and(|item| item.check == failed.check);
                if is_failed && is_same {
                    state.list.settle(&id, failed.result.clone());
                }
            }
        }
        Ok(state)
    }

    /// Adds the missing items of an earlier list to a new one, or records that a person releases
    /// them. Returns the ids of the added items.
    fn carry(
        &self,
        before: &GateState,
        state: &mut GateState,
        release: Option<&Release>,
    ) -> Vec<ItemId> {
        let is_new_work =
            before.sidecar.has_passed() && !before.sidecar.is_about(&state.sidecar.inputs);
        let is_owed = |item: &&Item| {
            let is_failed = matches!(item.result, ItemResult::Fail(_));
            match before.note(&item.id).by {
                Some(VerifiedBy::Code(_)) => is_failed && !self.may_retire(&item.scope),
                // The configuration decides which commands run.
                Some(VerifiedBy::Command(_)) => false,
                None => true,
            }
        };
        let is_left = |item: &&Item| state.list.get(&item.id).is_none_or(|now| !is_same(now, item));
        let owed = before.list.items().filter(is_left).filter(is_owed);
        let owed: Vec<Item> = owed.filter(|_| !is_new_work).cloned().collect();
        if let Some(Release { reason, by }) = release {
            state.sidecar.journal.extend(owed.iter().map(|item| JournalEntry {
                item: item.id.to_string(),
                finding: item.result.finding(),
                decision: JournalDecision::Released,
                by: by.clone(),
                reason: reason.clone(),
            }));
            state.sidecar.released.extend(owed.into_iter().map(|item| ReleasedItem {
                id: item.id,
                check: item.check,
                finding: item.result.finding(),
                reason: reason.clone(),
                by: by.clone(),
            }));
            return Vec::new();
        }
        let ids = owed.iter().map(|item| item.id.clone()).collect();
        owed.into_iter().for_each(|item| state.list.put(item));
        ids
    }
}

/// Returns an entry in place of the items of a list whose files were deleted.
fn lost_list(release: &Release) -> ReleasedItem {
    ReleasedItem {
        id: ItemId::lost(),
        check: "All items of the previous list, whose files were deleted".to_owned(),
        finding: None,
        reason: release.reason.clone(),
        by: release.by.clone(),
    }
}

/// Returns true if two items have the same scope and check.
fn is_same(one: &Item, other: &Item) -> bool {
    one.scope == other.scope && one.check == other.check
}

/// Adds an item to a list, under its earlier id if there is one.
pub(crate) fn add(
    state: &mut GateState,
    proposed: NewItem,
    known: Option<ItemId>,
    number: &mut usize,
) -> Result<ItemId, ListError> {
    let NewItem { id, scope, check, severity, parent, by } = proposed;
    let id = id.or(known).unwrap_or_else(|| {
        let id = ItemId::numbered(state.list.phase, *number);
        *number += 1;
        id
    });
    if let Some(parent) = parent.as_ref().filter(|parent| state.list.get(parent).is_none()) {
        return Err(ListError::Orphan { child: id, parent: parent.to_string() });
    }
    state.list.add(Item { id: id.clone(), scope, check, result: ItemResult::Todo })?;
    let earlier =
        state.sidecar.items.get(&id).cloned().unwrap_or_else(|| ItemRecord::new(severity));
    // An item that is listed again gets no lower severity than before.
    let severity = severity.max(earlier.severity);
    let note = ItemRecord { severity, by, parent, seen: None, ..earlier };
    state.sidecar.items.insert(id.clone(), note);
    Ok(id)
}

/// Returns the ids and verifiers of the items of a list, keyed by scope and check.
fn known(state: &GateState) -> HashMap<(Scope, String), (ItemId, Option<VerifiedBy>)> {
    let entry = |item: &Item| {
        let place = (item.scope.clone(), item.check.clone());
        (place, (item.id.clone(), state.note(&item.id).by))
    };
    state.list.items().map(entry).collect()
}

/// Redacts credentials in a finding: the state file is not protected.
pub(crate) fn redacted(result: ItemResult) -> ItemResult {
    match result {
        ItemResult::Fail(finding) => ItemResult::Fail(redact_text(&finding)),
        ItemResult::Pass | ItemResult::Todo => result,
    }
}
