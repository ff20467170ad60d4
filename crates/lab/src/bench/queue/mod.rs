//! The task queue, store by store.

pub(crate) mod files;
pub(super) mod idle;
pub(super) mod postgres;
