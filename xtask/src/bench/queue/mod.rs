//! The task queue, store by store.

pub(super) mod postgres;
