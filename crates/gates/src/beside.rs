//! What a gate keeps beside its list, `qr-{phase}.state.json`: [`Beside`].
//!
//! The list says what came of each item; here stands what that is worth: how much depends on it,
//! which content it was seen on, how often it failed. What stands here about an item that is not on
//! the list says nothing, so this is always written before the list.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::attempt::Reviewed;
use crate::digest::Digest;
use crate::item::{ItemId, Severity};
use crate::phase::Phase;

/// The form that is read and written.
const SCHEMA_VERSION: &str = "1.0";

/// What is kept beside a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    schema_version: String,
    phase: Phase,
    /// What the list was made from.
    pub made_from: MadeFrom,
    /// Which attempt it is, from 1.
    pub iteration: u32,
    /// The last verification that was complete.
    pub last: Option<LastVerified>,
    /// The contents on which whole verifications failed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failed: BTreeSet<Digest>,
    /// What belongs to the items.
    pub items: BTreeMap<ItemId, Note>,
}

/// What a list was made from, so that later steps look at the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeFrom {
    /// The plan, from the root.
    pub plan: Option<String>,
    /// What the change is held against.
    pub base: Option<String>,
    /// Whether what is built in belongs to it.
    pub checklist: Checklist,
}

/// Which items a list begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checklist {
    /// Those that are built in for the phase.
    #[default]
    BuiltIn,
    /// None but those that were handed in.
    HandedIn,
}

/// A verification that left nothing open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastVerified {
    /// What it looked at.
    pub content: Digest,
    /// What came of it.
    pub reviewed: Reviewed,
}

/// What belongs to an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// How much depends on it.
    pub severity: Severity,
    /// Who verifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The item that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// What was last seen of it, and on which content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenOn>,
    /// In how many attempts it failed.
    #[serde(default)]
    pub fails: u32,
    /// The content on which the last of them was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_on: Option<Digest>,
    /// Who lives with it as it is, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
    /// How often something became of it.
    pub version: u32,
}

/// What was seen of an item. The list says the same; a process that dies before it wrote the list
/// leaves the two apart, and then neither counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenOn {
    /// The content.
    pub content: Digest,
    /// Whether the item held.
    pub held: bool,
}

/// Who verifies an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// A check that is built in, by its name.
    Code(String),
    /// A command that is configured, by its name.
    Command(String),
}

/// That somebody lives with an item as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// Why.
    pub reason: String,
    /// Who says so.
    pub by: String,
    /// What was found then; where something else is, this says nothing about it.
    pub finding: String,
    /// The content on which it was found.
    pub content: Digest,
}

impl Note {
    /// Begins a note.
    pub fn new(severity: Severity) -> Note {
        Note {
            severity,
            by: None,
            parent: None,
            seen: None,
            fails: 0,
            failed_on: None,
            accepted: None,
            version: 1,
        }
    }
}

impl Beside {
    /// Begins for a list that is made from something.
    pub fn new(phase: Phase, made_from: MadeFrom) -> Beside {
        let schema_version = SCHEMA_VERSION.to_owned();
        let (iteration, last) = (1, None);
        let (failed, items) = (BTreeSet::new(), BTreeMap::new());
        Beside { schema_version, phase, made_from, iteration, last, failed, items }
    }

    /// Begins for another list in place of this one. Of the same, the attempts stay counted, so that
    /// asking for lists never goes on for ever.
    pub fn for_another_list(&self, made_from: MadeFrom) -> Beside {
        let is_same = self.made_from == made_from;
        let mut another = Beside { made_from, last: None, ..self.clone() };
        if !is_same {
            another.begin_again();
        }
        another
    }

    /// Begins to count anew.
    pub fn begin_again(&mut self) {
        (self.iteration, self.last) = (1, None);
        self.failed.clear();
        for note in self.items.values_mut() {
            (note.fails, note.failed_on) = (0, None);
        }
    }

    /// Reads what is kept beside the list of a phase.
    pub fn read(phase: Phase, text: &str) -> Result<Beside, String> {
        let beside: Beside = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if beside.schema_version != SCHEMA_VERSION {
            return Err(format!("its schema_version is `{}`", beside.schema_version));
        }
        if beside.phase != phase {
            return Err(format!("its phase is {}", beside.phase));
        }
        if beside.iteration == 0 {
            return Err("its iteration is 0, and they are counted from 1".to_owned());
        }
        Ok(beside)
    }

    /// Writes it.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("what is kept is JSON");
        text + "\n"
    }
}
