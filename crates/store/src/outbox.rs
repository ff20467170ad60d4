//! Messages to other services, stored until they are delivered: [`Outbox`].
//!
//! A [`OutboxMessage`] is on disk before anything depends on it, and is removed only when the
//! dispatcher confirms its delivery. The messages to one recipient are delivered in the order in
//! which they were added, by one process at a time ([`RecipientLock`]); a failed message may be
//! delayed until its next attempt. After a crash a message is delivered again. Callers decide on
//! the content of a message, the retry limit and idempotence.

use std::path::{Path, PathBuf};

use assay_base::clock::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::durable_fs::{self, DiskError, Durability, Lock};
use crate::task::{Moment, TaskId};

/// The folder of messages that could not be delivered, for people.
const UNDELIVERED: &str = "undelivered";

/// A message to a recipient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutboxMessage {
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

impl OutboxMessage {
    /// Returns true if the next attempt is not due yet.
    pub fn is_delayed(&self, now: Moment) -> bool {
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
    pub fn enqueue(
        &self,
        to: &TaskId,
        name: &TaskId,
        body: Value,
    ) -> Result<OutboxMessage, DiskError> {
        let folder = self.folder.join(to.as_str());
        durable_fs::make_folder(&folder)?;
        let _lock = self.lock_outbox()?;
        let last = messages(&folder)?.last().map_or(0, |last| last.number);
        let (number, put_at) = (last + 1, Moment::now(&self.clock));
        let message = OutboxMessage {
            name: name.clone(),
            number,
            body,
            put_at,
            tries: 0,
            last_error: None,
            not_before: None,
        };
        write(&folder, &message)?;
        Ok(message)
    }

    /// Returns the recipients that have messages, sorted.
    pub fn recipients(&self) -> Result<Vec<TaskId>, DiskError> {
        let mut recipients = Vec::new();
        for name in durable_fs::list_dir(&self.folder)?.iter().filter(|name| *name != UNDELIVERED) {
            let Ok(to) = name.parse::<TaskId>() else { continue };
            if !messages(&self.folder.join(name))?.is_empty() {
                recipients.push(to);
            }
        }
        recipients.sort();
        Ok(recipients)
    }

    /// Acquires the lock of a recipient; waits while another process delivers to the recipient.
    pub fn lock_recipient(&self, to: &TaskId) -> Result<RecipientLock<'_>, DiskError> {
        let lock = durable_fs::lock(&self.lock_path(to)?)?;
        Ok(RecipientLock { outbox: self, to: to.clone(), _lock: lock })
    }

    /// Acquires the lock of a recipient. Returns `None` if another process delivers to the
    /// recipient.
    pub fn try_lock_recipient(&self, to: &TaskId) -> Result<Option<RecipientLock<'_>>, DiskError> {
        let lock = durable_fs::try_lock(&self.lock_path(to)?)?;
        Ok(lock.map(|lock| RecipientLock { outbox: self, to: to.clone(), _lock: lock }))
    }

    fn lock_path(&self, to: &TaskId) -> Result<PathBuf, DiskError> {
        let locks = self.folder.join("locks");
        durable_fs::make_folder(&locks)?;
        Ok(locks.join(to.as_str()))
    }

    /// Acquires the short lock under which messages are added, changed and removed.
    fn lock_outbox(&self) -> Result<Lock, DiskError> {
        durable_fs::make_folder(&self.folder)?;
        durable_fs::lock(&self.folder.join(".lock"))
    }
}

/// The messages to a recipient, while this process alone may deliver them.
#[derive(Debug)]
pub struct RecipientLock<'a> {
    outbox: &'a Outbox,
    to: TaskId,
    _lock: Lock,
}

impl RecipientLock<'_> {
    /// Returns the messages, the oldest first.
    pub fn messages(&self) -> Result<Vec<OutboxMessage>, DiskError> {
        messages(&self.folder())
    }

    /// Removes a delivered message. A message that has replaced it meanwhile stays.
    pub fn remove_delivered(&self, message: &OutboxMessage) -> Result<(), DiskError> {
        let _lock = self.outbox.lock_outbox()?;
        match self.is_current(message)? {
            true => durable_fs::remove_synced(&path(&self.folder(), &message.name)),
            false => Ok(()),
        }
    }

    /// Records a failed attempt and delays the message until `not_before`.
    pub fn record_failure(
        &self,
        mut message: OutboxMessage,
        why: &str,
        not_before: Moment,
    ) -> Result<(), DiskError> {
        let _lock = self.outbox.lock_outbox()?;
        if !self.is_current(&message)? {
            return Ok(());
        }
        message.tries = message.tries.saturating_add(1);
        message.last_error = Some(why.to_owned());
        message.not_before = Some(not_before);
        write(&self.folder(), &message)
    }

    /// Moves a message that cannot be delivered to the folder for people, and returns its new path.
    pub fn move_to_undelivered(
        &self,
        mut message: OutboxMessage,
        why: &str,
    ) -> Result<PathBuf, DiskError> {
        message.tries = message.tries.saturating_add(1);
        message.last_error = Some(why.to_owned());
        let folder = self.outbox.folder.join(UNDELIVERED);
        durable_fs::make_folder(&folder)?;
        let place = folder.join(format!("{}-{}.json", self.to, message.name));
        durable_fs::write(&place, &json(&message), Durability::Fsync)?;
        self.remove_delivered(&message)?;
        Ok(place)
    }

    /// Returns the stored data about the recipient; `None` if there is none, or it is not JSON.
    pub fn recipient_data(&self) -> Result<Option<Value>, DiskError> {
        let bytes = durable_fs::read(&self.recipient_data_path())?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Replaces the stored data about the recipient.
    pub fn set_recipient_data(&self, memory: &Value) -> Result<(), DiskError> {
        let path = self.recipient_data_path();
        durable_fs::make_folder(path.parent().unwrap_or(Path::new(".")))?;
        durable_fs::write(&path, memory.to_string().as_bytes(), Durability::Fsync)
    }

    fn recipient_data_path(&self) -> PathBuf {
        self.outbox.folder.join("memory").join(format!("{}.json", self.to))
    }

    fn folder(&self) -> PathBuf {
        self.outbox.folder.join(self.to.as_str())
    }

    /// Returns true if the message is stored and was not replaced.
    fn is_current(&self, message: &OutboxMessage) -> Result<bool, DiskError> {
        let there = durable_fs::read(&path(&self.folder(), &message.name))?;
        let there = there.and_then(|bytes| serde_json::from_slice::<OutboxMessage>(&bytes).ok());
        Ok(there.is_some_and(|there| there.number == message.number))
    }
}

/// Reads the messages in a folder, the oldest first. Files that are not messages are skipped.
fn messages(folder: &Path) -> Result<Vec<OutboxMessage>, DiskError> {
    let mut messages = Vec::new();
    for name in durable_fs::list_dir(folder)?.iter().filter(|name| name.ends_with(".json")) {
        let bytes = durable_fs::read(&folder.join(name))?.unwrap_or_default();
        messages.extend(serde_json::from_slice::<OutboxMessage>(&bytes).ok());
    }
    messages.sort_by_key(|message| message.number);
    Ok(messages)
}

fn path(folder: &Path, name: &TaskId) -> PathBuf {
    folder.join(format!("{name}.json"))
}

fn json(message: &OutboxMessage) -> Vec<u8> {
    serde_json::to_vec_pretty(message).expect("a letter is JSON")
}

fn write(folder: &Path, message: &OutboxMessage) -> Result<(), DiskError> {
    durable_fs::write(&path(folder, &message.name), &json(message), Durability::Fsync)
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

    fn first(lock: &RecipientLock<'_>) -> OutboxMessage {
        lock.messages().unwrap().remove(0)
    }

    fn bodies(outbox: &Outbox, to: &str) -> Vec<Value> {
        let mut bodies = Vec::new();
        let lock = outbox.lock_recipient(&id(to)).unwrap();
        for message in lock.messages().unwrap() {
            bodies.push(message.body.clone());
            lock.remove_delivered(&message).unwrap();
        }
        bodies
    }

    #[test]
    fn messages_are_delivered_in_order_and_once() {
        let (_folder, outbox) = outbox();
        assert_eq!(outbox.recipients().unwrap(), []);
        for number in 1..=12 {
            outbox.enqueue(&id("ann"), &id(&format!("l{number}")), json!(number)).unwrap();
        }
        outbox.enqueue(&id("bob"), &id("l1"), json!("hello")).unwrap();
        assert_eq!(outbox.recipients().unwrap(), [id("ann"), id("bob")]);
        let all: Vec<Value> = (1..=12).map(|number| json!(number)).collect();
        assert_eq!(bodies(&outbox, "ann"), all);
        assert_eq!(bodies(&outbox, "ann"), Vec::<Value>::new());
        assert_eq!(outbox.recipients().unwrap(), [id("bob")]);
    }

    #[test]
    fn a_message_with_the_same_id_replaces_the_last_one_even_during_its_delivery() {
        let (_folder, outbox) = outbox();
        outbox.enqueue(&id("ann"), &id("news"), json!("old")).unwrap();
        let lock = outbox.lock_recipient(&id("ann")).unwrap();
        let old = first(&lock);
        outbox.enqueue(&id("ann"), &id("news"), json!("new")).unwrap();
        lock.remove_delivered(&old).unwrap();
        assert_eq!(first(&lock).body, json!("new"));
    }

    #[test]
    fn a_failed_message_stays_queued_until_it_is_moved_to_undelivered() {
        let (_folder, outbox) = outbox();
        outbox.enqueue(&id("ann"), &id("news"), json!(1)).unwrap();
        let lock = outbox.lock_recipient(&id("ann")).unwrap();
        let (before, then) = (moment("09:59:59.999"), moment("10:00:00.000"));
        assert!(!first(&lock).is_delayed(before));
        lock.record_failure(first(&lock), "nobody is there", then).unwrap();
        let message = first(&lock);
        assert_eq!((message.tries, message.last_error.as_deref()), (1, Some("nobody is there")));
        assert!(message.is_delayed(before) && !message.is_delayed(then));
        let place = lock.move_to_undelivered(message, "nobody lives there").unwrap();
        assert!(std::fs::read_to_string(place).unwrap().contains("nobody lives there"));
        assert_eq!(lock.messages().unwrap(), []);
    }

    #[test]
    fn trying_to_lock_a_locked_recipient_returns_none() {
        let (_folder, outbox) = outbox();
        let lock = outbox.lock_recipient(&id("ann")).unwrap();
        assert!(outbox.try_lock_recipient(&id("ann")).unwrap().is_none());
        assert!(outbox.try_lock_recipient(&id("bob")).unwrap().is_some());
        drop(lock);
        assert!(outbox.try_lock_recipient(&id("ann")).unwrap().is_some());
    }

    #[test]
    fn recipient_data_is_stored() {
        let (_folder, outbox) = outbox();
        let lock = outbox.lock_recipient(&id("ann")).unwrap();
        assert_eq!(lock.recipient_data().unwrap(), None);
        lock.set_recipient_data(&json!(["a"])).unwrap();
        assert_eq!(lock.recipient_data().unwrap(), Some(json!(["a"])));
    }
}
