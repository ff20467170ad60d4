//! Messages to other services, stored until they are delivered: [`Outbox`].
//!
//! A [`Letter`] is on disk before anything depends on it, and is removed only when the dispatcher
//! confirms its delivery. The messages to one recipient are delivered in the order in which they
//! were added, by one process at a time ([`Held`]); a failed message may be delayed until its next
//! attempt. After a crash a message is delivered again. Callers decide on the content of a message,
//! the retry limit and idempotence.

use std::path::{Path, PathBuf};

use assay_base::clock::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::{self, DiskError, Lock, Sure};
use crate::task::{Moment, TaskId};

/// The folder of messages that could not be delivered, for people.
const UNDELIVERED: &str = "undelivered";

/// A message to a recipient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Letter {
    /// The name of the message. A new message with the same name and recipient replaces it.
    pub name: TaskId,
    /// The position among the messages to the same recipient.
    number: u64,
    /// The content of the message.
    pub body: Value,
    /// The time at which the message was added.
    pub put_at: Moment,
    /// The number of failed delivery attempts.
    #[serde(default)]
    pub tries: u32,
    /// The error of the last attempt; `None` before the first failure.
    #[serde(default)]
    pub last_error: Option<String>,
    /// The earliest time of the next attempt; `None` for at once.
    #[serde(default)]
    pub not_before: Option<Moment>,
}

impl Letter {
    /// Returns true if the next attempt is not due yet.
    pub fn rests(&self, now: Moment) -> bool {
        self.not_before.is_some_and(|then| now < then)
    }
}

/// The messages to all recipients, in one folder.
#[derive(Debug, Clone)]
pub struct Outbox {
    folder: PathBuf,
    clock: Clock,
}

impl Outbox {
    /// Returns the outbox in a folder, which is created with the first message.
    pub fn in_folder(folder: PathBuf, clock: &Clock) -> Outbox {
        Outbox { folder, clock: clock.clone() }
    }

    /// Adds a message and returns it as it is stored. The message survives a crash once this
    /// returns.
    pub fn put(&self, to: &TaskId, name: &TaskId, body: Value) -> Result<Letter, DiskError> {
        let folder = self.folder.join(to.as_str());
        disk::make_folder(&folder)?;
        let _desk = self.desk()?;
        let last = letters(&folder)?.last().map_or(0, |last| last.number);
        let (number, put_at) = (last + 1, Moment::now(&self.clock));
        let letter = Letter {
            name: name.clone(),
            number,
            body,
            put_at,
            tries: 0,
            last_error: None,
            not_before: None,
        };
        write(&folder, &letter)?;
        Ok(letter)
    }

    /// Returns the recipients that have messages, sorted.
    pub fn addressees(&self) -> Result<Vec<TaskId>, DiskError> {
        let mut addressees = Vec::new();
        for name in disk::names(&self.folder)?.iter().filter(|name| *name != UNDELIVERED) {
            let Ok(to) = name.parse::<TaskId>() else { continue };
            if !letters(&self.folder.join(name))?.is_empty() {
                addressees.push(to);
            }
        }
        addressees.sort();
        Ok(addressees)
    }

    /// Acquires the lock of a recipient; waits while another process delivers to the recipient.
    pub fn hold(&self, to: &TaskId) -> Result<Held<'_>, DiskError> {
        let lock = disk::lock(&self.lock_path(to)?)?;
        Ok(Held { outbox: self, to: to.clone(), _lock: lock })
    }

    /// Acquires the lock of a recipient. Returns `None` if another process delivers to the
    /// recipient.
    pub fn try_hold(&self, to: &TaskId) -> Result<Option<Held<'_>>, DiskError> {
        let lock = disk::try_lock(&self.lock_path(to)?)?;
        Ok(lock.map(|lock| Held { outbox: self, to: to.clone(), _lock: lock }))
    }

    fn lock_path(&self, to: &TaskId) -> Result<PathBuf, DiskError> {
        let locks = self.folder.join("locks");
        disk::make_folder(&locks)?;
        Ok(locks.join(to.as_str()))
    }

    /// Acquires the short lock under which messages are added, changed and removed.
    fn desk(&self) -> Result<Lock, DiskError> {
        disk::make_folder(&self.folder)?;
        disk::lock(&self.folder.join(".lock"))
    }
}

/// The messages to a recipient, while this process alone may deliver them.
#[derive(Debug)]
pub struct Held<'a> {
    outbox: &'a Outbox,
    to: TaskId,
    _lock: Lock,
}

impl Held<'_> {
    /// Returns the messages, the oldest first.
    pub fn letters(&self) -> Result<Vec<Letter>, DiskError> {
        letters(&self.folder())
    }

    /// Removes a delivered message. A message that has replaced it meanwhile stays.
    pub fn arrived(&self, letter: &Letter) -> Result<(), DiskError> {
        let _desk = self.outbox.desk()?;
        match self.is_there(letter)? {
            true => disk::remove_surely(&path(&self.folder(), &letter.name)),
            false => Ok(()),
        }
    }

    /// Records a failed attempt and delays the message until `not_before`.
    pub fn failed(
        &self,
        mut letter: Letter,
        why: &str,
        not_before: Moment,
    ) -> Result<(), DiskError> {
        let _desk = self.outbox.desk()?;
        if !self.is_there(&letter)? {
            return Ok(());
        }
        letter.tries = letter.tries.saturating_add(1);
        letter.last_error = Some(why.to_owned());
        letter.not_before = Some(not_before);
        write(&self.folder(), &letter)
    }

    /// Moves a message that cannot be delivered to the folder for people, and returns its new path.
    pub fn give_up(&self, mut letter: Letter, why: &str) -> Result<PathBuf, DiskError> {
        letter.tries = letter.tries.saturating_add(1);
        letter.last_error = Some(why.to_owned());
        let aside = self.outbox.folder.join(UNDELIVERED);
        disk::make_folder(&aside)?;
        let place = aside.join(format!("{}-{}.json", self.to, letter.name));
        disk::write(&place, &json(&letter), Sure::OnDisk)?;
        self.arrived(&letter)?;
        Ok(place)
    }

    /// Returns the stored data about the recipient; `None` if there is none, or it is not JSON.
    pub fn memory(&self) -> Result<Option<Value>, DiskError> {
        let bytes = disk::read(&self.memory_path())?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Replaces the stored data about the recipient.
    pub fn remember(&self, memory: &Value) -> Result<(), DiskError> {
        let path = self.memory_path();
        disk::make_folder(path.parent().unwrap_or(Path::new(".")))?;
        disk::write(&path, memory.to_string().as_bytes(), Sure::OnDisk)
    }

    fn memory_path(&self) -> PathBuf {
        self.outbox.folder.join("memory").join(format!("{}.json", self.to))
    }

    fn folder(&self) -> PathBuf {
        self.outbox.folder.join(self.to.as_str())
    }

    /// Returns true if the message is stored and was not replaced.
    fn is_there(&self, letter: &Letter) -> Result<bool, DiskError> {
        let there = disk::read(&path(&self.folder(), &letter.name))?;
        let there = there.and_then(|bytes| serde_json::from_slice::<Letter>(&bytes).ok());
        Ok(there.is_some_and(|there| there.number == letter.number))
    }
}

/// Reads the messages in a folder, the oldest first. Files that are not messages are skipped.
fn letters(folder: &Path) -> Result<Vec<Letter>, DiskError> {
    let mut letters = Vec::new();
    for name in disk::names(folder)?.iter().filter(|name| name.ends_with(".json")) {
        let bytes = disk::read(&folder.join(name))?.unwrap_or_default();
        letters.extend(serde_json::from_slice::<Letter>(&bytes).ok());
    }
    letters.sort_by_key(|letter| letter.number);
    Ok(letters)
}

fn path(folder: &Path, name: &TaskId) -> PathBuf {
    folder.join(format!("{name}.json"))
}

fn json(letter: &Letter) -> Vec<u8> {
    serde_json::to_vec_pretty(letter).expect("a letter is JSON")
}

fn write(folder: &Path, letter: &Letter) -> Result<(), DiskError> {
    disk::write(&path(folder, &letter.name), &json(letter), Sure::OnDisk)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    fn outbox() -> (TempDir, Outbox) {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::in_folder(folder.path().join("outbox"), &Clock::system());
        (folder, outbox)
    }

    fn id(text: &str) -> TaskId {
        text.parse().unwrap()
    }

    fn moment(time: &str) -> Moment {
        format!("2026-02-03T{time}Z").parse().unwrap()
    }

    fn first(held: &Held<'_>) -> Letter {
        held.letters().unwrap().remove(0)
    }

    fn bodies(outbox: &Outbox, to: &str) -> Vec<Value> {
        let mut bodies = Vec::new();
        let held = outbox.hold(&id(to)).unwrap();
        for letter in held.letters().unwrap() {
            bodies.push(letter.body.clone());
            held.arrived(&letter).unwrap();
        }
        bodies
    }

    #[test]
    fn letters_arrive_in_order_and_once() {
        let (_folder, outbox) = outbox();
        assert_eq!(outbox.addressees().unwrap(), []);
        for number in 1..=12 {
            outbox.put(&id("ann"), &id(&format!("l{number}")), json!(number)).unwrap();
        }
        outbox.put(&id("bob"), &id("l1"), json!("hello")).unwrap();
        assert_eq!(outbox.addressees().unwrap(), [id("ann"), id("bob")]);
        let all: Vec<Value> = (1..=12).map(|number| json!(number)).collect();
        assert_eq!(bodies(&outbox, "ann"), all);
        assert_eq!(bodies(&outbox, "ann"), Vec::<Value>::new());
        assert_eq!(outbox.addressees().unwrap(), [id("bob")]);
    }

    #[test]
    fn a_letter_of_the_same_name_takes_the_place_of_the_last_even_while_that_is_delivered() {
        let (_folder, outbox) = outbox();
        outbox.put(&id("ann"), &id("news"), json!("old")).unwrap();
        let held = outbox.hold(&id("ann")).unwrap();
        let old = first(&held);
        outbox.put(&id("ann"), &id("news"), json!("new")).unwrap();
        held.arrived(&old).unwrap();
        assert_eq!(first(&held).body, json!("new"));
    }

    #[test]
    fn a_letter_that_did_not_arrive_stays_until_it_is_given_up() {
        let (_folder, outbox) = outbox();
        outbox.put(&id("ann"), &id("news"), json!(1)).unwrap();
        let held = outbox.hold(&id("ann")).unwrap();
        let (before, then) = (moment("09:59:59.999"), moment("10:00:00.000"));
        assert!(!first(&held).rests(before));
        held.failed(first(&held), "nobody is there", then).unwrap();
        let letter = first(&held);
        assert_eq!((letter.tries, letter.last_error.as_deref()), (1, Some("nobody is there")));
        assert!(letter.rests(before) && !letter.rests(then));
        let place = held.give_up(letter, "nobody lives there").unwrap();
        assert!(std::fs::read_to_string(place).unwrap().contains("nobody lives there"));
        assert_eq!(held.letters().unwrap(), []);
    }

    #[test]
    fn whoever_does_not_want_to_wait_is_told_that_somebody_else_delivers() {
        let (_folder, outbox) = outbox();
        let held = outbox.hold(&id("ann")).unwrap();
        assert!(outbox.try_hold(&id("ann")).unwrap().is_none());
        assert!(outbox.try_hold(&id("bob")).unwrap().is_some());
        drop(held);
        assert!(outbox.try_hold(&id("ann")).unwrap().is_some());
    }

    #[test]
    fn what_is_remembered_is_kept() {
        let (_folder, outbox) = outbox();
        let held = outbox.hold(&id("ann")).unwrap();
        assert_eq!(held.memory().unwrap(), None);
        held.remember(&json!(["a"])).unwrap();
        assert_eq!(held.memory().unwrap(), Some(json!(["a"])));
    }
}
