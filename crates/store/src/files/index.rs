//! The index of the file queue: a list of the tasks that are not completed, which makes claims
//! fast.
//!
//! The index is never the source of truth. It is built from the files, can be deleted at any time,
//! and is used under the queue lock alone. It is rebuilt after a restart of the machine, so it is
//! not synced to disk.
//!
//! The index decides no reply, and a failed write to it fails no operation: a broken index is
//! deleted, an index that the disk does not accept is in memory for one operation, and the dirty
//! tasks listed in the lock file make the next operation read the files again.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_base::clock::Uptime;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::durable_fs::{self, DiskError, fault};
use crate::queue::{LeaseKind, QueueError};
use crate::task::{QueueName, TaskId, TaskStatus};

/// The version of the tables, which grows with every change: an index of another version is
/// rebuilt.
const SCHEMA_VERSION: i64 = 4;

/// The maximum size of the page cache, in KiB.
const MAX_CACHE_KIB: i64 = 2_048;

const TABLES: &str = "
    CREATE TABLE boot (id TEXT NOT NULL);
    CREATE TABLE folders (
        queue TEXT PRIMARY KEY,
        changed INTEGER NOT NULL,
        swept INTEGER NOT NULL,
        took INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE tasks (
        id TEXT PRIMARY KEY,
        queue TEXT NOT NULL,
        file TEXT NOT NULL,
        inode INTEGER NOT NULL,
        size INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        status TEXT NOT NULL,
        priority INTEGER NOT NULL,
        created INTEGER NOT NULL,
        open_dependencies INTEGER NOT NULL,
        rests_until INTEGER NOT NULL,
        for_a_person INTEGER NOT NULL,
        ready INTEGER NOT NULL GENERATED ALWAYS AS
            (status = 'pending' AND open_dependencies = 0 AND rests_until = 0) STORED
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX files ON tasks (queue, file);
    CREATE INDEX turn ON tasks (queue, priority, created, id) WHERE ready = 1;
    CREATE INDEX turn_of_agents ON tasks (queue, priority, created, id)
        WHERE ready = 1 AND for_a_person = 0;
    CREATE INDEX resting ON tasks (queue, rests_until) WHERE rests_until > 0;
    CREATE INDEX standing ON tasks (status, queue, priority, created, id);
    CREATE INDEX waiting ON tasks (priority, created, id)
        WHERE status = 'pending' AND open_dependencies > 0;
    CREATE TABLE dependencies (
        needs TEXT NOT NULL,
        task TEXT NOT NULL,
        PRIMARY KEY (needs, task)
    ) WITHOUT ROWID;
    CREATE INDEX needed_by ON dependencies (task);
    CREATE TABLE blocks (
        needs TEXT NOT NULL,
        task TEXT NOT NULL,
        PRIMARY KEY (needs, task)
    ) WITHOUT ROWID;
    CREATE INDEX blocked_by ON blocks (task);
    CREATE TABLE counts (
        queue TEXT NOT NULL,
        status TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (queue, status)
    ) WITHOUT ROWID;
    CREATE TRIGGER one_more AFTER INSERT ON tasks BEGIN
        INSERT INTO counts VALUES (new.queue, new.status, 1)
            ON CONFLICT DO UPDATE SET number = number + 1;
    END;
    CREATE TRIGGER one_less AFTER DELETE ON tasks BEGIN
        UPDATE counts SET number = number - 1 WHERE queue = old.queue AND status = old.status;
    END;
";

/// The version of a file: its inode, size and modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileVersion {
    inode: i64,
    size: i64,
    changed: i64,
}

impl FileVersion {
    pub(super) fn of(file: &fs::Metadata) -> FileVersion {
        let number = |n: u64| i64::from_ne_bytes(n.to_ne_bytes());
        FileVersion { inode: number(file.ino()), size: number(file.size()), changed: changed(file) }
    }
}

/// Returns the modification time of a file or folder, in nanoseconds since the Unix epoch.
pub(super) fn changed(file: &fs::Metadata) -> i64 {
    file.mtime().saturating_mul(1_000_000_000).saturating_add(file.mtime_nsec())
}

/// The indexed properties of a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IndexEntry {
    pub(super) id: TaskId,
    pub(super) queue: QueueName,
    pub(super) file: String,
    pub(super) version: FileVersion,
    pub(super) status: TaskStatus,
    pub(super) priority: u8,
    /// The creation time of the task, in milliseconds since the Unix epoch.
    pub(super) created: i64,
    /// The number of dependencies that are not completed.
    pub(super) open_dependencies: usize,
    /// The end of the task's delay; `None` if the task is not delayed.
    pub(super) delayed_until: Option<Uptime>,
    /// True if the task waits for a person.
    pub(super) describe_for_person: bool,
}

impl IndexEntry {
    /// Returns the key by which tasks are claimed: the least first.
    pub(super) fn turn(&self) -> (u8, i64, TaskId) {
        (self.priority, self.created, self.id.clone())
    }
}

/// A dependency of a pending task that has open dependencies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenNeed {
    pub(super) task: TaskId,
    pub(super) need: TaskId,
    /// The status of the dependency; `None` if the dependency is not in the index.
    pub(super) status: Option<TaskStatus>,
}

/// The state of a queue's folder at its last scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScanRecord {
    /// The modification time of the folder; 0 if the next scan is due in any case.
    pub(super) changed: i64,
    /// The time of the scan.
    pub(super) at: Uptime,
    /// The duration of the scan, in milliseconds.
    pub(super) took: i64,
}

/// The list of tasks that are not completed.
pub(super) struct Index {
    connection: Connection,
    path: PathBuf,
    /// The inode of the file, or `None` for an index in memory, which is used for one operation.
    inode: Option<u64>,
    /// True if a write failed. The files are the source of truth, so the operation continues
    /// without the index, which is then rebuilt.
    is_broken: Cell<bool>,
}

/// The state of an index that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexState {
    Filled,
    Empty,
}

const COLUMNS: &str = "id, queue, file, inode, size, changed, status, priority, created, open_dependencies, rests_until, for_a_person";

impl Index {
    /// Opens the index of this boot, or creates an empty one.
    pub(super) fn open(path: &Path, boot: &str) -> Result<(Index, IndexState), QueueError> {
        match Index::open_existing(path, boot) {
            Ok(Some(index)) => Ok((index, IndexState::Filled)),
            // Any damage is repaired by rebuilding the index from the files.
            Ok(None) | Err(_) => {
                remove_files(path)?;
                let made = Index::create(path, boot);
                Ok((made.map_err(|error| damaged(path, &error))?, IndexState::Empty))
            }
        }
    }

    /// Creates an index in memory: for a disk that has no space for a file.
    pub(super) fn in_memory(path: &Path) -> Result<Index, QueueError> {
        let made = Connection::open_in_memory().and_then(|connection| {
            connection.execute_batch(TABLES)?;
            connection.set_prepared_statement_cache_capacity(32);
            Ok(connection)
        });
        let connection = made.map_err(|error| damaged(path, &error))?;
        let (path, is_broken) = (path.to_owned(), Cell::new(false));
        Ok(Index { connection, path, inode: None, is_broken })
    }

    /// Deletes the files of an index that could not be written.
    pub(super) fn discard(self) {
        let path = self.path.clone();
        drop(self.connection);
        // If the deletion fails, the disk is at fault, and the dirty tasks in the lock file make
        // the next operation re-index them.
        let _ = remove_files(&path);
    }

    fn open_existing(path: &Path, boot: &str) -> rusqlite::Result<Option<Index>> {
        if !path.is_file() {
            return Ok(None);
        }
        let connection = connect(path)?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version != SCHEMA_VERSION {
            return Ok(None);
        }
        let of: Option<String> =
            connection.query_row("SELECT id FROM boot", [], |row| row.get(0)).optional()?;
        Ok((of.as_deref() == Some(boot)).then(|| Index::new(connection, path)))
    }

    fn create(path: &Path, boot: &str) -> rusqlite::Result<Index> {
        let mut connection = connect(path)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        transaction.commit()?;
        let index = Index::new(connection, path);
        index.connection.execute("INSERT INTO boot VALUES (?)", [boot])?;
        Ok(index)
    }

    fn new(connection: Connection, path: &Path) -> Index {
        let inode = Some(fs::metadata(path).map_or(0, |file| file.ino()));
        Index { connection, path: path.to_owned(), inode, is_broken: Cell::new(false) }
    }

    /// Returns true if the file still exists: another process may have deleted it.
    pub(super) fn is_current(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|file| Some(file.ino()) == self.inode)
    }

    /// Begins a transaction.
    pub(super) fn begin_transaction(&self) -> Result<(), QueueError> {
        self.run("BEGIN IMMEDIATE")
    }

    /// Commits the transaction. Returns false on failure.
    pub(super) fn commit_transaction(&self) -> bool {
        !self.is_broken.get()
            && fault::point("index").is_ok()
            && self.connection.execute_batch("COMMIT").is_ok()
    }

    /// Rolls the transaction back. Returns false on failure.
    pub(super) fn roll_back(&self) -> bool {
        !self.is_broken.get() && self.run("ROLLBACK").is_ok()
    }

    fn run(&self, statement: &str) -> Result<(), QueueError> {
        self.connection.execute_batch(statement).map_err(|error| self.to_error(&error))
    }

    fn to_error(&self, error: &rusqlite::Error) -> QueueError {
        damaged(&self.path, error)
    }

    /// Writes to the index. A failed write marks the index as broken, and never fails the
    /// operation.
    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize, QueueError> {
        if self.is_broken.get() {
            return Ok(0);
        }
        let done = self.connection.prepare_cached(sql).and_then(|mut it| it.execute(values));
        Ok(done.unwrap_or_else(|_| {
            self.is_broken.set(true);
            0
        }))
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, QueueError> {
        let rows = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut it| it.query_map(values, read)?.collect::<rusqlite::Result<Vec<T>>>());
        rows.map_err(|error| self.to_error(&error))
    }

    /// Adds a task with its dependencies, or replaces it.
    pub(super) fn put(
        &self,
        entry: &IndexEntry,
        needs: &[TaskId],
        blocks: &[TaskId],
    ) -> Result<(), QueueError> {
        self.remove(&entry.id)?;
        self.remove_blocks(&entry.id)?;
        for blocked in blocks {
            self.execute(
                "INSERT OR IGNORE INTO blocks VALUES (?, ?)",
                params![entry.id.as_str(), blocked.as_str()],
            )?;
        }
        self.execute(
            "INSERT INTO tasks (id, queue, file, inode, size, changed, status, priority, created,
                 open_dependencies, rests_until, for_a_person)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                entry.id.as_str(),
                entry.queue.as_str(),
                entry.file,
                entry.version.inode,
                entry.version.size,
                entry.version.changed,
                entry.status.as_str(),
                entry.priority,
                entry.created,
                i64::try_from(entry.open_dependencies).unwrap_or(i64::MAX),
                entry.delayed_until.map_or(0, |until| until.as_millis().max(1)),
                entry.describe_for_person,
            ],
        )?;
        for need in needs {
            self.execute(
                "INSERT OR IGNORE INTO dependencies VALUES (?, ?)",
                params![need.as_str(), entry.id.as_str()],
            )?;
        }
        Ok(())
    }

    /// Removes a task and its dependencies.
    pub(super) fn remove(&self, id: &TaskId) -> Result<(), QueueError> {
        self.execute("DELETE FROM tasks WHERE id = ?", [id.as_str()])?;
        self.execute("DELETE FROM dependencies WHERE task = ?", [id.as_str()])?;
        Ok(())
    }

    /// Removes the dependencies that a task declared in its `blocks`.
    pub(super) fn remove_blocks(&self, id: &TaskId) -> Result<(), QueueError> {
        self.execute("DELETE FROM blocks WHERE needs = ?", [id.as_str()]).map(|_| ())
    }

    /// Returns a task, or `None` if it is not in the index.
    pub(super) fn get(&self, id: &TaskId) -> Result<Option<IndexEntry>, QueueError> {
        let sql = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?");
        Ok(self.rows(&sql, [id.as_str()], entry)?.pop())
    }

    /// Returns the next task of a queue to claim. Tasks that wait for a person are skipped for
    /// agents, which claim while they are alive.
    pub(super) fn next(
        &self,
        queue: &QueueName,
        lease_kind: LeaseKind,
        now: Uptime,
    ) -> Result<Option<IndexEntry>, QueueError> {
        self.execute(
            "UPDATE tasks SET rests_until = 0
             WHERE queue = ? AND rests_until > 0 AND rests_until <= ?",
            params![queue.as_str(), now.as_millis()],
        )?;
        let open_to = match lease_kind {
            LeaseKind::WhileAlive(_) => "INDEXED BY turn_of_agents WHERE for_a_person = 0 AND",
            LeaseKind::ByTime(_) => "INDEXED BY turn WHERE",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM tasks {open_to} queue = ? AND ready = 1
             ORDER BY priority, created, id LIMIT 1"
        );
        Ok(self.rows(&sql, [queue.as_str()], entry)?.pop())
    }

    /// Returns the time at which the first delayed task of a queue becomes claimable.
    pub(super) fn first_delay_end(&self, queue: &QueueName) -> Result<Option<Uptime>, QueueError> {
        let first = self.rows(
            "SELECT rests_until FROM tasks INDEXED BY resting
             WHERE queue = ? AND rests_until > 0 AND status = 'pending' AND open_dependencies = 0
             ORDER BY rests_until LIMIT 1",
            [queue.as_str()],
            |row| row.get(0),
        )?;
        Ok(first.first().copied().map(Uptime::from_millis))
    }

    /// Returns at most `most` tasks with a status, of a queue or all, in the order in which they
    /// would be claimed.
    pub(super) fn list(
        &self,
        queue: Option<&QueueName>,
        status: TaskStatus,
        most: usize,
    ) -> Result<Vec<IndexEntry>, QueueError> {
        let Some(queue) = queue else { return self.list_all(status, most) };
        let sql = format!(
            "SELECT {COLUMNS} FROM tasks INDEXED BY standing WHERE status = ? AND queue = ?
             ORDER BY priority, created, id LIMIT ?"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(&sql, params![status.as_str(), queue.as_str(), most], entry)
    }

    /// Merges the first tasks of each queue: there are few queues, and the tasks of a queue are
    /// sorted by an index.
    fn list_all(&self, status: TaskStatus, most: usize) -> Result<Vec<IndexEntry>, QueueError> {
        let sql = "SELECT queue FROM counts WHERE status = ? AND number > 0";
        let queues: Vec<QueueName> = self.rows(sql, [status.as_str()], |row| name(row, 0))?;
        let mut listed = Vec::new();
        for queue in &queues {
            listed.extend(self.list(Some(queue), status, most)?);
        }
        listed.sort_by_cached_key(IndexEntry::turn);
        listed.truncate(most);
        Ok(listed)
    }

    /// Returns the indexed files of a queue.
    pub(super) fn files(
        &self,
        queue: &QueueName,
    ) -> Result<HashMap<String, FileVersion>, QueueError> {
        let sql = "SELECT file, inode, size, changed FROM tasks WHERE queue = ?";
        let read = |row: &Row<'_>| {
            let version =
                FileVersion { inode: row.get(1)?, size: row.get(2)?, changed: row.get(3)? };
            Ok((row.get(0)?, version))
        };
        Ok(self.rows(sql, [queue.as_str()], read)?.into_iter().collect())
    }

    /// Returns the task that is indexed for a file.
    pub(super) fn find_by_file(
        &self,
        queue: &QueueName,
        file: &str,
    ) -> Result<Option<IndexEntry>, QueueError> {
        let sql = format!("SELECT {COLUMNS} FROM tasks WHERE queue = ? AND file = ?");
        Ok(self.rows(&sql, params![queue.as_str(), file], entry)?.pop())
    }

    /// Returns the tasks that depend on a task.
    pub(super) fn dependents(&self, id: &TaskId) -> Result<Vec<TaskId>, QueueError> {
        let sql = "SELECT task FROM dependencies WHERE needs = ?1
             UNION SELECT task FROM blocks WHERE needs = ?1";
        self.rows(sql, [id.as_str()], |row| name(row, 0))
    }

    /// Returns the dependencies of a task, completed or not.
    pub(super) fn needs(&self, id: &TaskId) -> Result<Vec<TaskId>, QueueError> {
        let sql = "SELECT needs FROM dependencies INDEXED BY needed_by WHERE task = ?1
             UNION SELECT needs FROM blocks INDEXED BY blocked_by WHERE task = ?1";
        self.rows(sql, [id.as_str()], |row| name(row, 0))
    }

    /// Returns the tasks that name a task in their `blocks`.
    pub(super) fn blockers(&self, id: &TaskId) -> Result<Vec<TaskId>, QueueError> {
        let sql = "SELECT needs FROM blocks INDEXED BY blocked_by WHERE task = ?";
        self.rows(sql, [id.as_str()], |row| name(row, 0))
    }

    /// Returns the dependencies of all tasks, completed or not.
    pub(super) fn all_needs(&self) -> Result<HashMap<String, Vec<String>>, QueueError> {
        let sql = "SELECT task, needs FROM dependencies UNION SELECT task, needs FROM blocks";
        let pairs: Vec<(String, String)> =
            self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut needs: HashMap<String, Vec<String>> = HashMap::new();
        for (task, need) in pairs {
            needs.entry(task).or_default().push(need);
        }
        Ok(needs)
    }

    /// Returns the pending tasks that have open dependencies, in the order in which they would be
    /// claimed.
    pub(super) fn with_open_dependencies(&self) -> Result<Vec<IndexEntry>, QueueError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM tasks INDEXED BY waiting
             WHERE status = 'pending' AND open_dependencies > 0 ORDER BY priority, created, id"
        );
        self.rows(&sql, [], entry)
    }

    /// Returns the ids of at most `most` tasks of a queue that have open dependencies.
    pub(super) fn ids_with_open_dependencies(
        &self,
        queue: &QueueName,
        most: usize,
    ) -> Result<Vec<TaskId>, QueueError> {
        let sql = "SELECT id FROM tasks INDEXED BY waiting
             WHERE status = 'pending' AND open_dependencies > 0 AND queue = ? LIMIT ?";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(sql, params![queue.as_str(), most], |row| name(row, 0))
    }

    /// Returns the dependencies of the pending tasks that have open ones, completed or not.
    pub(super) fn open_needs(&self) -> Result<Vec<OpenNeed>, QueueError> {
        let from = |table: &str, by_task: &str| {
            format!(
                "SELECT waiting.id, edges.needs, needed.status FROM tasks AS waiting INDEXED BY waiting
                 CROSS JOIN {table} AS edges INDEXED BY {by_task} ON edges.task = waiting.id
                 LEFT JOIN tasks AS needed ON needed.id = edges.needs
                 WHERE waiting.status = 'pending' AND waiting.open_dependencies > 0"
            )
        };
        let (declared, blocks) = (from("dependencies", "needed_by"), from("blocks", "blocked_by"));
        self.rows(&format!("{declared} UNION {blocks} ORDER BY 1, 2"), [], |row| {
            let has_status = row.get::<_, Option<String>>(2)?.is_some();
            let status = has_status.then(|| name(row, 2)).transpose()?;
            Ok(OpenNeed { task: name(row, 0)?, need: name(row, 1)?, status })
        })
    }

    /// Sets the number of a task's open dependencies.
    pub(super) fn set_open_dependencies(&self, id: &TaskId, open: usize) -> Result<(), QueueError> {
        let open = i64::try_from(open).unwrap_or(i64::MAX);
        let sql =
            "UPDATE tasks SET open_dependencies = ?2 WHERE id = ?1 AND open_dependencies <> ?2";
        self.execute(sql, params![id.as_str(), open]).map(|_| ())
    }

    /// Returns the number of tasks of a queue with a status.
    pub(super) fn count(&self, queue: &QueueName, status: TaskStatus) -> Result<usize, QueueError> {
        let sql = "SELECT number FROM counts WHERE queue = ? AND status = ?";
        let values = params![queue.as_str(), status.as_str()];
        let number: Option<i64> = self.rows(sql, values, |row| row.get(0))?.pop();
        Ok(number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0))
    }

    /// Returns the number of tasks of a queue that can be claimed.
    pub(super) fn count_ready(&self, queue: &QueueName, now: Uptime) -> Result<usize, QueueError> {
        let sql = "SELECT
             (SELECT count(*) FROM tasks INDEXED BY turn WHERE queue = ?1 AND ready = 1)
             + (SELECT count(*) FROM tasks INDEXED BY resting
                WHERE queue = ?1 AND rests_until > 0 AND rests_until <= ?2
                  AND status = 'pending' AND open_dependencies = 0)";
        let values = params![queue.as_str(), now.as_millis()];
        let number: Vec<i64> = self.rows(sql, values, |row| row.get(0))?;
        Ok(number.first().and_then(|number| usize::try_from(*number).ok()).unwrap_or(0))
    }

    /// Returns the state of a queue's folder at its last scan.
    pub(super) fn last_scan(&self, queue: &QueueName) -> Result<Option<ScanRecord>, QueueError> {
        let sql = "SELECT changed, swept, took FROM folders WHERE queue = ?";
        let read = |row: &Row<'_>| {
            let at = Uptime::from_millis(row.get(1)?);
            Ok(ScanRecord { changed: row.get(0)?, at, took: row.get(2)? })
        };
        Ok(self.rows(sql, [queue.as_str()], read)?.pop())
    }

    /// Records the state of a queue's folder at its scan.
    pub(super) fn set_last_scan(
        &self,
        queue: &QueueName,
        record: ScanRecord,
    ) -> Result<(), QueueError> {
        self.execute(
            "INSERT OR REPLACE INTO folders VALUES (?, ?, ?, ?)",
            params![queue.as_str(), record.changed, record.at.as_millis(), record.took],
        )
        .map(|_| ())
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // The index is rebuilt after a restart of the machine, so it need not be synced.
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "cache_size", -MAX_CACHE_KIB)?;
    // There are more statements than the default capacity.
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn remove_files(path: &Path) -> Result<(), DiskError> {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        durable_fs::remove(Path::new(&name))?;
    }
    Ok(())
}

fn damaged(path: &Path, error: &rusqlite::Error) -> QueueError {
    QueueError::Index { path: path.to_owned(), message: error.to_string() }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<IndexEntry> {
    let delayed_until: i64 = row.get(10)?;
    Ok(IndexEntry {
        id: name(row, 0)?,
        queue: name(row, 1)?,
        file: row.get(2)?,
        version: FileVersion { inode: row.get(3)?, size: row.get(4)?, changed: row.get(5)? },
        status: name(row, 6)?,
        priority: row.get(7)?,
        created: row.get(8)?,
        open_dependencies: row.get::<_, i64>(9)?.try_into().unwrap_or(0),
        delayed_until: (delayed_until > 0).then(|| Uptime::from_millis(delayed_until)),
        describe_for_person: row.get(11)?,
    })
}

/// Parses a validated name from a column. All names in the index are valid, unless it is damaged.
fn name<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}
