//! The sidecar of a gate's list, `qr-{phase}.state.json`: [`Beside`].
//!
//! People and agents may write the list; this file is sealed, so it decides. It has each item as it
//! was listed and what came of it, how much depends on it, which content it was seen on and on which
//! contents it failed. Where the list differs, [`crate::record`] takes the worse of the two.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attempt::Reviewed;
use crate::digest::Digest;
use crate::item::{ItemId, Severity, Verified};
use crate::phase::Phase;
use crate::plan_bar::{PlanBar, REQUIREMENT};

/// The form that is read and written.
const SCHEMA_VERSION: &str = "2.0";

/// The sidecar of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    schema_version: String,
    phase: Phase,
    /// The source of the list.
    pub made_from: MadeFrom,
    /// Which attempt it is, from 1.
    pub iteration: u32,
    /// The last verification that was complete.
    pub last: Option<LastVerified>,
    /// The contents on which whole verifications failed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failed: BTreeSet<Digest>,
    /// The contents on which whole verifications passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub passed: BTreeSet<Digest>,
    /// The record of the items, also to those that came off the list.
    pub items: BTreeMap<ItemId, Note>,
    /// Items of earlier lists that a person let go of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<ReleasedItem>,
    /// Decisions of people about items, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<JournalEntry>,
    /// The parties that wrote items or what the gate looks at.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub authors: BTreeSet<String>,
    /// All that the plan asked for in any round since the gate was passed.
    #[serde(default, skip_serializing_if = "PlanBar::is_empty")]
    pub bar: PlanBar,
    /// The list file that was written over last. One that is still there was not written over, since a
    /// process died or the disk failed in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_over: Option<Digest>,
}

/// An item that is on the list no more because a person said so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleasedItem {
    /// Its name.
    pub id: ItemId,
    /// The check, in words.
    pub check: String,
    /// The finding; `None` where the item had not failed.
    #[serde(default)]
    pub finding: Option<String>,
    /// The reason why the list does without the item.
    pub reason: String,
    /// Who says so.
    pub by: String,
}

/// A decision of a person about an item, which stays on record when its effect ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalEntry {
    /// The name of the item.
    pub item: String,
    /// The finding at that time; `None` where the item had not failed.
    pub finding: Option<String>,
    /// The kind of decision.
    pub decision: JournalDecision,
    /// The name of the person.
    pub by: String,
    /// The reason that the person gave.
    pub reason: String,
}

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JournalDecision {
    /// The item is accepted as it is.
    Accepted,
    /// A list does without the item.
    Released,
}

/// The source of a list, so that later steps look at the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeFrom {
    /// The plan, from the root.
    pub plan: Option<String>,
    /// The revision that the change is held against.
    pub base: Option<String>,
    /// Whether what is built in belongs to it.
    pub checklist: Checklist,
}

/// Which items a list begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// The content.
    pub content: Digest,
    /// The result.
    pub reviewed: Reviewed,
}

/// The record of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Where it stands on the list, from 0; `None` where it came off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// The scope, as it is written on the list.
    #[serde(default)]
    pub scope: String,
    /// The check, as it is written on the list.
    #[serde(default)]
    pub check: String,
    /// The result.
    #[serde(default)]
    pub result: Verified,
    /// How much depends on it.
    pub severity: Severity,
    /// Who verifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The item that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// The last result, and the content that it was seen on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenOn>,
    /// The contents on which it failed. Content that comes back is in here once.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failed_on: BTreeSet<Digest>,
    /// The contents on which a reader saw it hold.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub held_on: BTreeSet<Digest>,
    /// Who lives with it as it is, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
    /// How often something became of it.
    pub version: u32,
}

/// On which content an item was seen, and whether it held there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenOn {
    /// The content.
    pub content: Digest,
    /// Whether the item held.
    pub held: bool,
}

impl By {
    /// Returns true if the item is about a requirement that the plan had in an earlier round.
    pub(crate) fn is_requirement(&self) -> bool {
        matches!(self, By::Code(key) if key == REQUIREMENT)
    }
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
    /// The reason.
    pub reason: String,
    /// Who says so.
    pub by: String,
    /// The finding at that time; the acceptance says nothing about another.
    pub finding: String,
    /// The content on which it was found.
    pub content: Digest,
}

impl Note {
    /// Begins a note.
    pub fn new(severity: Severity) -> Note {
        Note {
            place: None,
            scope: String::new(),
            check: String::new(),
            result: Verified::Todo,
            severity,
            by: None,
            parent: None,
            seen: None,
            failed_on: BTreeSet::new(),
            held_on: BTreeSet::new(),
            accepted: None,
            version: 1,
        }
    }

    /// Returns the number of contents on which it failed.
    pub fn fails(&self) -> u32 {
        u32::try_from(self.failed_on.len()).unwrap_or(u32::MAX)
    }
}

impl Beside {
    /// Begins for a list that is made from something.
    pub fn new(phase: Phase, made_from: MadeFrom) -> Beside {
        let schema_version = SCHEMA_VERSION.to_owned();
        let (iteration, last) = (1, None);
        let (failed, items, released) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Beside {
            schema_version,
            phase,
            made_from,
            iteration,
            last,
            failed,
            passed: BTreeSet::new(),
            items,
            released,
            journal: Vec::new(),
            authors: BTreeSet::new(),
            bar: PlanBar::default(),
            written_over: None,
        }
    }

    /// Begins for another list in place of this one. Of the same subject, the attempts stay counted,
    /// so that asking for lists never goes on for ever.
    pub fn for_another_list(&self, made_from: MadeFrom) -> Beside {
        let is_same = self.is_about(&made_from);
        let mut another = Beside { made_from, last: None, ..self.clone() };
        if !is_same {
            let bar = another.bar.clone();
            another.begin_again();
            // Another plan is new work only if the gate was passed on the one before.
            if !self.has_passed() {
                another.bar = bar;
            }
        }
        another
    }

    /// Returns the items that are on the list.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&ItemId, &Note)> {
        self.items.iter().filter(|(_, note)| note.place.is_some())
    }

    /// Returns true if a list that is made from something has the same subject.
    pub fn is_about(&self, made_from: &MadeFrom) -> bool {
        self.made_from.plan == made_from.plan && self.made_from.base == made_from.base
    }

    /// Returns true if the last whole verification passed.
    pub fn has_passed(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.reviewed == Reviewed::Pass)
    }

    /// Returns true if the gate was passed, and some content is another than it was passed on.
    pub(crate) fn is_new_work(&self, attempt: &Digest) -> bool {
        let last = self.last.as_ref().filter(|last| last.reviewed == Reviewed::Pass);
        last.is_some_and(|last| last.content != *attempt)
    }

    /// Returns true if something on the list failed, or is to be verified by somebody else than code,
    /// and the gate was not passed since.
    pub fn is_owing(&self) -> bool {
        let owes = |note: &Note| match (&note.result, &note.by) {
            (Verified::Fail(_), _) => true,
            (Verified::Todo, by) => !matches!(by, Some(By::Code(_))),
            (Verified::Pass, _) => false,
        };
        !self.has_passed() && self.listed().any(|(_, note)| owes(note))
    }

    /// Begins to count anew.
    pub fn begin_again(&mut self) {
        (self.iteration, self.last) = (1, None);
        self.failed.clear();
        self.released.clear();
        self.bar = PlanBar::default();
        for note in self.items.values_mut() {
            note.failed_on.clear();
        }
    }

    /// Reads what is kept beside the list of a phase.
    pub fn read(phase: Phase, text: &str) -> Result<Beside, String> {
        let beside: Beside = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if beside.schema_version != SCHEMA_VERSION {
            return Err(format!(
                "its schema_version is `{}`, and this version of assay reads \"{SCHEMA_VERSION}\"; \
                 remove the gate's two files and begin with `assay gate decompose`",
                beside.schema_version
            ));
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
