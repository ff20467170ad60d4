//! Tests of the components and of whole pages: text in, HTML out.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod components;
mod hostile;
mod theme;
