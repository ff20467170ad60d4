//! Compares the list of a gate with its record in the sidecar: [`restore`].
//!
//! People and agents may write to the list, and only assay to the record. An item counts as it was
//! recorded: an item that is missing, reworded, or better than recorded is restored. A change for
//! the worse counts as it is written, and so does an item that is added.

use std::collections::BTreeSet;
use std::fmt;

use crate::item::{Item, ItemId, ItemResult};
use crate::list::List;
use crate::sidecar::{ItemRecord, Sidecar};

/// A difference between the list and the record, which was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alteration {
    /// The id of the item.
    pub id: ItemId,
    /// The kind of difference.
    pub kind: AlterationKind,
    /// The recorded result of the item.
    pub was: &'static str,
}

/// The kind of a difference from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlterationKind {
    /// The item is not on the list.
    Missing,
    /// The check or the scope differs.
    Reworded,
    /// The status or the finding is better than recorded.
    Status,
    /// The severity is lower than recorded.
    Severity,
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Alteration { id, kind, was } = self;
        match kind {
            AlterationKind::Missing => write!(f, "{id} is missing from the list")?,
            AlterationKind::Reworded => write!(f, "{id} has another check or scope than recorded")?,
            AlterationKind::Status => {
                write!(f, "{id} has another status or finding than recorded")?
            }
            AlterationKind::Severity => write!(f, "{id} has a lower severity than recorded")?,
        }
        write!(f, "; the recorded result counts ({was})")
    }
}

/// Restores a list to its record, and returns the differences.
pub(crate) fn restore(list: &mut List, sidecar: &Sidecar) -> Vec<Alteration> {
    let altered: Vec<Alteration> =
        sidecar.listed().filter_map(|(id, note)| restore_item(list, id, note)).collect();
    sort(list, sidecar);
    altered
}

fn restore_item(list: &mut List, id: &ItemId, note: &ItemRecord) -> Option<Alteration> {
    let was = note.result.word();
    let altered = |kind| Some(Alteration { id: id.clone(), kind, was });
    let recorded = recorded(id, note);
    let Some(item) = list.get(id) else {
        list.put(recorded);
        return altered(AlterationKind::Missing);
    };
    let is_same = item.scope == recorded.scope && item.check == recorded.check;
    let is_graded_lower = list.severity_of(id).is_some_and(|severity| severity < note.severity);
    match worse(&item.result, &note.result) {
        Some(result) if is_same => {
            list.put(Item { result, ..recorded });
            if is_graded_lower { altered(AlterationKind::Severity) } else { None }
        }
        result => {
            let kind = if is_same { AlterationKind::Status } else { AlterationKind::Reworded };
            list.put(Item { result: result.unwrap_or(note.result.clone()), ..recorded });
            altered(kind)
        }
    }
}

/// Returns the result that counts: the one on the list, if it is no better than the recorded one.
/// Returns `None` if it is better.
fn worse(written: &ItemResult, recorded: &ItemResult) -> Option<ItemResult> {
    let is_no_better = match (written, recorded) {
        (ItemResult::Fail(written), ItemResult::Fail(recorded)) => written == recorded,
        (ItemResult::Fail(_), ItemResult::Todo | ItemResult::Pass) => true,
        (ItemResult::Todo, recorded) => !matches!(recorded, ItemResult::Fail(_)),
        (ItemResult::Pass, recorded) => *recorded == ItemResult::Pass,
    };
    is_no_better.then(|| written.clone())
}

/// Replaces the list with its record, regardless of its content.
pub(crate) fn finish(list: &mut List, sidecar: &Sidecar) {
    let listed: BTreeSet<&ItemId> = sidecar.listed().map(|(id, _)| id).collect();
    let gone = list.items().map(|item| item.id.clone()).filter(|id| !listed.contains(id)).collect();
    list.remove(&gone);
    for (id, note) in sidecar.listed() {
        list.put(recorded(id, note));
    }
    sort(list, sidecar);
}

fn recorded(id: &ItemId, note: &ItemRecord) -> Item {
    let (check, result) = (note.check.clone(), note.result.clone());
    Item { id: id.clone(), scope: note.scope.as_str().into(), check, result }
}

/// Sorts the items in the recorded order, with others after them.
fn sort(list: &mut List, sidecar: &Sidecar) {
    list.sort_by_key(|id| sidecar.items.get(id).and_then(|note| note.place).unwrap_or(usize::MAX));
}

/// Records the items of a list. An item that is no longer on it stays in the record, without a
/// position.
pub(crate) fn write_down(list: &List, sidecar: &mut Sidecar, note: impl Fn(&ItemId) -> ItemRecord) {
    for note in sidecar.items.values_mut() {
        note.place = None;
    }
    for (place, item) in list.items().enumerate() {
        let mut note = note(&item.id);
        note.place = Some(place);
        note.scope = item.scope.to_string();
        note.check.clone_from(&item.check);
        note.result = item.result.clone();
        sidecar.items.insert(item.id.clone(), note);
    }
}
