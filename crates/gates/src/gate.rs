//! The steps of a gate: [`Gate::decompose`], [`Gate::verify`], and where it stands in between.

use crate::bar::Bar;
use crate::beside::{Beside, By, Checklist, MadeFrom, Note};
use crate::checks::{self, Seen};
use crate::item::{Item, ItemId, Scope, Severity, Verified};
use crate::keep::{Keep, KeepError};
use crate::list::{List, ListError};
use crate::phase::Phase;
use crate::standing::{Standing, judge};
use crate::state::{Content, State, UpdateError};
use crate::subject::Subject;

/// A gate: one phase of one subject, with where its state lies.
#[derive(Clone, Copy)]
pub struct Gate<'a> {
    /// What it is about.
    pub phase: Phase,
    /// What it looks at.
    pub subject: &'a Subject<'a>,
    /// Where its state lies.
    pub keep: &'a Keep,
    /// How high the bar is.
    pub bar: Bar,
}

/// An item that somebody puts on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// What it is to be called; numbered like the others where nothing is said.
    pub id: Option<ItemId>,
    /// What it looks at.
    pub scope: Scope,
    /// What is to be verified.
    pub check: String,
    /// How much depends on it.
    pub severity: Severity,
    /// The item that it is a part of.
    pub parent: Option<ItemId>,
    /// Who verifies it, where that is settled.
    pub by: Option<By>,
}

/// What becomes of a list that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// It stays.
    Stays,
    /// A new one takes its place.
    Goes,
}

/// A list that was asked for.
#[derive(Debug)]
pub struct Decomposed {
    /// The gate with its list.
    pub state: State,
    /// Whether it was there before.
    pub was_there: bool,
}

/// Why a step of a gate cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The state cannot be had.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// Nothing can become of the item.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// The items make no list.
    #[error("these items make no list: {0}")]
    Items(#[from] ListError),
}

impl Gate<'_> {
    /// Makes the list, unless there is one that is to stay.
    pub fn decompose(
        &self,
        made_from: MadeFrom,
        proposed: Vec<Proposed>,
        earlier: Earlier,
    ) -> Result<Decomposed, GateError> {
        let mut items = match made_from.checklist {
            Checklist::BuiltIn => self.built_in(),
            Checklist::HandedIn => Vec::new(),
        };
        items.extend(proposed);
        let mut was_there = false;
        let state = self.keep.replace(|before| match (earlier, before) {
            (Earlier::Stays, Some(before)) => {
                was_there = true;
                Ok(before.clone())
            }
            (Earlier::Goes | Earlier::Stays, before) => {
                self.listed(before, made_from, items).map_err(GateError::from)
            }
        })?;
        Ok(Decomposed { state, was_there })
    }

    /// Writes down what somebody saw who is not asked by us.
    pub fn update(&self, id: &ItemId, result: Verified) -> Result<(), GateError> {
        self.change(|state, content| {
            if state.list.get(id).is_some_and(|item| self.sees(state, item)) {
                return Err(UpdateError::SeenHere(id.clone()).into());
            }
            Ok(state.update(id, result, content)?)
        })
    }

    /// Says whether an item is looked at here, so that nobody's word has to be taken for it.
    fn sees(&self, state: &State, item: &Item) -> bool {
        match state.note(&item.id).by {
            Some(By::Code(key)) => checks::named(&key).is_some_and(|check| {
                !matches!((check.look)(self.subject, &item.scope), Seen::Unseen(_))
            }),
            Some(By::Command(_)) => true,
            None => false,
        }
    }

    /// Writes down that somebody lives with an item as it is.
    pub fn accept(&self, id: &ItemId, reason: &str, by: &str) -> Result<(), GateError> {
        self.change(|state, content| Ok(state.accept(id, reason, by, content)?))
    }

    /// Says where it stands on the content as it is now.
    pub fn standing(&self) -> Result<(State, Standing), GateError> {
        let state = self.keep.read()?;
        let standing = self.with_content(|content| judge(&state, &self.bar, content));
        Ok((state, standing))
    }

    /// Has the state changed, given the content as it is now.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut State, Content<'_>) -> Result<T, GateError>,
    ) -> Result<T, GateError> {
        self.with_content(|content| self.keep.change(|state| change(state, content)))
    }

    pub(crate) fn with_content<T>(&self, work: impl FnOnce(Content<'_>) -> T) -> T {
        let whole = self.subject.whole(self.phase);
        let of = |item: &Item, by: Option<&By>| self.subject.covered(self.phase, item, by, &whole);
        work(Content { whole: &whole, of: &of })
    }

    /// Gives the items that are built in for what there is to look at.
    pub(crate) fn built_in(&self) -> Vec<Proposed> {
        let checks = checks::of(self.phase).into_iter();
        let items = checks.flat_map(|check| {
            (check.targets)(self.subject).into_iter().map(|target| Proposed {
                id: None,
                scope: target.scope,
                check: target.check,
                severity: check.severity,
                parent: None,
                by: Some(By::Code(check.key.to_owned())),
            })
        });
        items.collect()
    }

    /// Makes a list of items. One that was there before keeps its name and how often it failed; the
    /// attempts that were made stay counted.
    fn listed(
        &self,
        before: Option<&State>,
        made_from: MadeFrom,
        items: Vec<Proposed>,
    ) -> Result<State, ListError> {
        let beside = match before {
            Some(before) => before.beside.begun_again(made_from),
            None => Beside::new(self.phase, made_from),
        };
        let mut state = State { list: List::new(self.phase), beside };
        for proposed in items {
            let known = before.and_then(|before| same(before, &proposed));
            let known = known.filter(|id| state.list.get(id).is_none());
            add(&mut state, proposed, known)?;
        }
        Ok(state)
    }
}

/// Puts an item on a list, under a name that it had before if there is one.
pub(crate) fn add(
    state: &mut State,
    proposed: Proposed,
    known: Option<ItemId>,
) -> Result<ItemId, ListError> {
    let Proposed { id, scope, check, severity, parent, by } = proposed;
    let id = id.or(known).unwrap_or_else(|| state.free_id());
    if let Some(parent) = parent.as_ref().filter(|parent| state.list.get(parent).is_none()) {
        return Err(ListError::Orphan { child: id, parent: parent.to_string() });
    }
    state.list.add(Item { id: id.clone(), scope, check, result: Verified::Todo })?;
    let earlier = state.beside.items.get(&id).cloned().unwrap_or_else(|| Note::new(severity));
    let note = Note { severity, by, parent, seen: None, ..earlier };
    state.beside.items.insert(id.clone(), note);
    Ok(id)
}

/// Finds the item of a list that looks for the same in the same place.
fn same(state: &State, proposed: &Proposed) -> Option<ItemId> {
    let is_same = |item: &&Item| {
        item.scope == proposed.scope
            && item.check == proposed.check
            && state.note(&item.id).by == proposed.by
    };
    state.list.items().find(is_same).map(|item| item.id.clone())
}
