//! The stores that the guarantees are tested on.

use std::path::PathBuf;

use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::postgres::PgQueue;
use assay_store::queue::{Policy, Queue};
use assay_testenv::postgres::schema;
use tempfile::TempDir;

/// A store for one queue, which can be opened several times at once.
pub(crate) trait Store: Send + Sync {
    /// Opens the queue once more, as another process would.
    fn open(&self, policy: Policy) -> Box<dyn Queue>;

    /// Returns an empty store of the same kind.
    fn another(&self) -> Box<dyn Store>;
}

/// A file queue in a temporary folder.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Files {
        Files(TempDir::new().unwrap())
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.0.path().join(".agent-communication")
    }
}

impl Store for Files {
    fn open(&self, policy: Policy) -> Box<dyn Queue> {
        Box::new(FileQueue::open(&self.folder(), policy, &Clock::system()).unwrap())
    }

    fn another(&self) -> Box<dyn Store> {
        Box::new(Files::new())
    }
}

/// A PostgreSQL queue on its own tables.
pub(crate) struct Postgres(String);

impl Postgres {
    pub(crate) fn new() -> Postgres {
        let url = schema();
        PgQueue::migrate(&url).unwrap();
        Postgres(url)
    }
}

impl Store for Postgres {
    fn open(&self, policy: Policy) -> Box<dyn Queue> {
        Box::new(PgQueue::open(&self.0, policy, &Clock::system()).unwrap())
    }

    fn another(&self) -> Box<dyn Store> {
        Box::new(Postgres::new())
    }
}
