//! The list file of a gate, `qr-{phase}.json`: [`List`].
//!
//! Each item has five fields. Derived values such as counts are not stored. Unknown fields are
//! retained.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use crate::item::{BadId, Item, ItemId, ItemResult, Scope, Severity};
use crate::phase::Phase;

/// The schema version that is read and written.
const SCHEMA_VERSION: &str = "1.0";

/// The items of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// The phase of the gate.
    pub phase: Phase,
    entries: Vec<Entry>,
    /// The index of each item, by id.
    places: HashMap<ItemId, usize>,
    /// Unknown fields of the list.
    also: Map<String, Value>,
}

/// An item with its unknown fields.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    item: Item,
    also: Map<String, Value>,
}

/// The reason why a list is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The text is no JSON, or is truncated.
    #[error("invalid JSON: {0}")]
    Json(String),
    /// The schema version is unknown.
    #[error("schema_version is {0}: expected \"1.0\"")]
    SchemaVersion(String),
    /// The phase is not the expected one.
    #[error("phase is {found}: expected {wanted}")]
    Phase {
        /// The phase in the list.
        found: String,
        /// The expected phase.
        wanted: Phase,
    },
    /// The list has no array of items.
    #[error("missing array `items`")]
    NoItems,
    /// An item cannot be parsed.
    #[error("item {number}: {why}")]
    Item {
        /// The number of the item, from 1.
        number: usize,
        /// The reason of the failure.
        why: String,
    },
    /// Two items have the same id.
    #[error("duplicate id: `{0}`")]
    DuplicateId(ItemId),
    /// The id belongs to another item on the existing list.
    #[error(
        "`{0}` is the id of another item on the existing list; choose another id, or release that \
         item with `--reason TEXT`"
    )]
    AnotherItem(ItemId),
    /// An item is a part of one that does not exist.
    #[error("orphan parent_id: `{child}` is a part of `{parent}`, which is not on the list")]
    Orphan {
        /// The id of the part.
        child: ItemId,
        /// The id of the missing parent.
        parent: String,
    },
}

impl List {
    /// Creates an empty list.
    pub fn new(phase: Phase) -> List {
        List { phase, entries: Vec::new(), places: HashMap::new(), also: Map::new() }
    }

    /// Parses the list of a phase.
    pub fn read(phase: Phase, text: &str) -> Result<List, ListError> {
        let whole: Value =
            serde_json::from_str(text).map_err(|error| ListError::Json(error.to_string()))?;
        let Value::Object(mut also) = whole else { return Err(ListError::NoItems) };
        match also.remove("schema_version") {
            Some(Value::String(version)) if version == SCHEMA_VERSION => {}
            other => return Err(ListError::SchemaVersion(told(other.as_ref()))),
        }
        match also.remove("phase") {
            Some(Value::String(name)) if name == phase.name() => {}
            other => {
                let found = told(other.as_ref());
                return Err(ListError::Phase { found, wanted: phase });
            }
        }
        let Some(Value::Array(items)) = also.remove("items") else {
            return Err(ListError::NoItems);
        };
        let entries: Vec<Entry> = (1..)
            .zip(items)
            .map(|(number, item)| read_item(item).map_err(|why| ListError::Item { number, why }))
            .collect::<Result<_, _>>()?;
        let places = places(&entries)?;
        let list = List { phase, entries, places, also };
        list.check_parents()?;
        Ok(list)
    }

    fn check_parents(&self) -> Result<(), ListError> {
        for Entry { item, also } in &self.entries {
            let Some(parent) = parent_in(also) else { continue };
            if parent.parse().map_or(true, |parent| self.get(&parent).is_none()) {
                let (child, parent) = (item.id.clone(), parent.to_owned());
                return Err(ListError::Orphan { child, parent });
            }
        }
        Ok(())
    }

    /// Returns the items in order.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.entries.iter().map(|entry| &entry.item)
    }

    /// Returns the item with an id; `None` if there is none.
    pub fn get(&self, id: &ItemId) -> Option<&Item> {
        self.entry(id).map(|entry| &entry.item)
    }

    /// Returns the severity of an item that the list file states; `None` if it states none.
    pub fn severity_of(&self, id: &ItemId) -> Option<Severity> {
        let entry = self.entry(id)?;
        serde_json::from_value(entry.also.get("severity")?.clone()).ok()
    }

    /// Returns the parent of an item that the list file states; `None` if it states none.
    pub fn parent_of(&self, id: &ItemId) -> Option<ItemId> {
        parent_in(&self.entry(id)?.also)?.parse().ok()
    }

    fn entry(&self, id: &ItemId) -> Option<&Entry> {
        self.entries.get(*self.places.get(id)?)
    }

    /// Adds an item. Fails if its id is on the list already.
    pub fn add(&mut self, item: Item) -> Result<(), ListError> {
        if self.get(&item.id).is_some() {
            return Err(ListError::DuplicateId(item.id));
        }
        self.places.insert(item.id.clone(), self.entries.len());
        self.entries.push(Entry { item, also: Map::new() });
        Ok(())
    }

    /// Sets the result of an item. Returns true if there is such an item.
    pub fn settle(&mut self, id: &ItemId, result: ItemResult) -> bool {
        let found = self.places.get(id).and_then(|place| self.entries.get_mut(*place));
        found.map(|entry| entry.item.result = result).is_some()
    }

    /// Removes items from the list.
    pub fn remove(&mut self, ids: &BTreeSet<ItemId>) {
        self.entries.retain(|entry| !ids.contains(&entry.item.id));
        self.count_places();
    }

    /// Replaces the item with the same id, or appends the item.
    pub(crate) fn put(&mut self, item: Item) {
        match self.places.get(&item.id).and_then(|place| self.entries.get_mut(*place)) {
            Some(entry) => entry.item = item,
            None => {
                self.places.insert(item.id.clone(), self.entries.len());
                self.entries.push(Entry { item, also: Map::new() });
            }
        }
    }

    /// Sorts the items; those with equal keys keep their order.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&ItemId) -> K) {
        self.entries.sort_by_key(|entry| key(&entry.item.id));
        self.count_places();
    }

    fn count_places(&mut self) {
        let entries = self.entries.iter().enumerate();
        self.places = entries.map(|(place, entry)| (entry.item.id.clone(), place)).collect();
    }

    /// Formats the list as JSON.
    pub fn to_json(&self) -> String {
        let mut whole = Map::new();
        whole.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
        whole.insert("phase".to_owned(), json!(self.phase));
        whole.extend(self.also.clone());
        let items = self.entries.iter().map(write_item).collect();
        whole.insert("items".to_owned(), Value::Array(items));
        let text = serde_json::to_string_pretty(&whole).expect("a map of text is JSON");
        text + "\n"
    }
}

/// Returns the index of each item. Fails if two items have the same id.
fn places(entries: &[Entry]) -> Result<HashMap<ItemId, usize>, ListError> {
    let mut places = HashMap::new();
    for (place, Entry { item, .. }) in entries.iter().enumerate() {
        if places.insert(item.id.clone(), place).is_some() {
            return Err(ListError::DuplicateId(item.id.clone()));
        }
    }
    Ok(places)
}

fn parent_in(also: &Map<String, Value>) -> Option<&str> {
    also.get("parent_id").or_else(|| also.get("parent"))?.as_str()
}

fn told(value: Option<&Value>) -> String {
    value.map_or_else(|| "missing".to_owned(), Value::to_string)
}

fn read_item(item: Value) -> Result<Entry, String> {
    let Value::Object(mut also) = item else { return Err("expected an object".to_owned()) };
    let mut text = |key: &str| match also.shift_remove(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        _ => Err(format!("missing `{key}`")),
    };
    let id = text("id")?.parse().map_err(|error: BadId| error.to_string())?;
    let scope = Scope::from(text("scope")?.as_str());
    let check = text("check")?;
    let status = also.shift_remove("status");
    let finding = also.shift_remove("finding").filter(|finding| !finding.is_null());
    let result = read_result(status.as_ref(), finding.as_ref())?;
    Ok(Entry { item: Item { id, scope, check, result }, also })
}

fn read_result(status: Option<&Value>, finding: Option<&Value>) -> Result<ItemResult, String> {
    // An item without a status has not been verified.
    let status = status.map_or(Some("TODO"), Value::as_str);
    match (status, finding) {
        (Some("TODO"), None) => Ok(ItemResult::Todo),
        (Some("PASS"), None) => Ok(ItemResult::Pass),
        (Some("FAIL"), Some(Value::String(finding))) if !finding.trim().is_empty() => {
            Ok(ItemResult::Fail(finding.clone()))
        }
        (Some("FAIL"), _) => Err("the status is FAIL, and the finding is missing".to_owned()),
        (Some(status @ ("TODO" | "PASS")), Some(_)) => {
            Err(format!("the status is {status}, which must not have a finding"))
        }
        _ => Err("invalid status: expected TODO, PASS or FAIL".to_owned()),
    }
}

fn write_item(Entry { item, also }: &Entry) -> Value {
    let mut fields = json!(item);
    if let Value::Object(fields) = &mut fields {
        fields.extend(also.clone());
    }
    fields
}
