//! The deliveries that were received before: [`RecentDeliveries`].
//!
//! A redelivery costs no access to the queue, and does not restore a task that a person removed.
//! This is an optimization, not a protection: the id of a delivery is not signed, so a sender with
//! a signed body can send it again under another id. Duplicates of a task are prevented by its own
//! id. For the same reason a delivery is recorded together with its task; otherwise an invented id
//! could suppress another task.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use assay_store::durable_fs::{self, DiskError, Durability};
use assay_store::task::TaskId;

/// The maximum number of deliveries that are retained.
const MAX_DELIVERIES: usize = 10_000;

/// The id that GitHub gives a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DeliveryId(Box<str>);

impl DeliveryId {
    /// Parses an id of 1 to 64 letters, digits and hyphens. Returns `None` for any other text.
    pub(super) fn new(text: &str) -> Option<DeliveryId> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_one = (1..=64).contains(&text.len()) && text.bytes().all(allowed);
        is_one.then(|| DeliveryId(text.into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A delivery and its task.
pub(super) type DeliveryKey = (DeliveryId, TaskId);

/// The latest deliveries that resulted in a task.
#[derive(Debug, Default)]
pub(super) struct RecentDeliveries {
    order: VecDeque<DeliveryKey>,
    known: HashSet<DeliveryKey>,
}

impl RecentDeliveries {
    /// Returns true if the delivery resulted in this task before.
    pub(super) fn contains(&self, key: &DeliveryKey) -> bool {
        self.known.contains(key)
    }

    /// Records a delivery whose task is on the disk.
    pub(super) fn insert(&mut self, key: DeliveryKey) {
        if !self.known.insert(key.clone()) {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MAX_DELIVERIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn lines(&self) -> String {
        self.order.iter().map(format_line).collect()
    }
}

/// The file that stores deliveries across restarts of the server.
#[derive(Debug)]
pub(super) struct DeliveryLog {
    path: PathBuf,
    /// The number of lines in the file.
    lines: usize,
}

impl DeliveryLog {
    /// Opens the file and reads its deliveries. Lines that cannot be parsed are skipped.
    pub(super) fn open(path: &Path) -> Result<(DeliveryLog, RecentDeliveries), DiskError> {
        if let Some(folder) = path.parent() {
            durable_fs::make_folder(folder)?;
        }
        let mut log_file = DeliveryLog { path: path.to_owned(), lines: 0 };
        let mut deliveries = RecentDeliveries::default();
        let bytes = durable_fs::read(path)?.unwrap_or_default();
        for line in String::from_utf8_lossy(&bytes).lines() {
            log_file.lines += 1;
            let pair = line.split_once(' ');
            let pair = pair.and_then(|(id, task)| Some((DeliveryId::new(id)?, task.parse().ok()?)));
            pair.into_iter().for_each(|key| deliveries.insert(key));
        }
        Ok((log_file, deliveries))
    }

    /// Appends new deliveries, or rewrites the file if it has too many old lines.
    pub(super) fn write(
        &mut self,
        new: &[DeliveryKey],
        all: &Mutex<RecentDeliveries>,
    ) -> Result<(), DiskError> {
        if new.is_empty() {
            return Ok(());
        }
        if self.lines + new.len() <= 2 * MAX_DELIVERIES {
            self.lines += new.len();
            let text: String = new.iter().map(format_line).collect();
            return durable_fs::append(&self.path, text.as_bytes());
        }
        // The lock is released before the file is written, so that no request waits for the disk.
        let text = all.lock().unwrap_or_else(PoisonError::into_inner).lines();
        self.lines = text.lines().count();
        durable_fs::write(&self.path, text.as_bytes(), Durability::Fsync)
    }
}

fn format_line((id, task): &DeliveryKey) -> String {
    format!("{} {task}\n", id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> DeliveryKey {
        (DeliveryId::new(&format!("d-{number}")).unwrap(), format!("t{number}").parse().unwrap())
    }

    fn insert_all(
        log_file: &mut DeliveryLog,
        deliveries: &Mutex<RecentDeliveries>,
        numbers: std::ops::Range<usize>,
    ) {
        let new: Vec<DeliveryKey> = numbers.map(key).collect();
        new.iter().for_each(|key| deliveries.lock().unwrap().insert(key.clone()));
        log_file.write(&new, deliveries).unwrap();
    }

    #[test]
    fn deliveries_are_recognized_by_id_and_task_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serve/deliveries");
        let (mut log_file, deliveries) = DeliveryLog::open(&path).unwrap();
        insert_all(&mut log_file, &Mutex::new(deliveries), 1..3);
        // A process that is killed during a write leaves a part of a line.
        durable_fs::append(&path, b"d-3").unwrap();
        let (_, deliveries) = DeliveryLog::open(&path).unwrap();
        assert!(deliveries.contains(&key(1)));
        assert!(!deliveries.contains(&(key(1).0, key(2).1)));
        assert_eq!(deliveries.order.len(), 2);
    }

    #[test]
    fn only_the_newest_deliveries_are_kept_and_the_file_size_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deliveries");
        let (mut log_file, deliveries) = DeliveryLog::open(&path).unwrap();
        let deliveries = Mutex::new(deliveries);
        for from in (0..3 * MAX_DELIVERIES).step_by(500) {
            insert_all(&mut log_file, &deliveries, from..from + 500);
        }
        let (log_file, deliveries) = DeliveryLog::open(&path).unwrap();
        assert_eq!(deliveries.known.len(), MAX_DELIVERIES);
        assert!(
            !deliveries.contains(&key(2 * MAX_DELIVERIES - 1))
                && deliveries.contains(&key(3 * MAX_DELIVERIES - 1))
        );
        assert!(log_file.lines <= 2 * MAX_DELIVERIES, "{}", log_file.lines);
    }

    #[test]
    fn a_malformed_delivery_id_is_rejected() {
        for odd in ["", "a b", "a\n", "ä", "a/b", &"x".repeat(65)] {
            assert!(DeliveryId::new(odd).is_none(), "{odd}");
        }
    }
}
