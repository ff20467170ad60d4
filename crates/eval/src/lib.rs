//! Measures reviewers against labelled changes.
//!
//! A [`set`] holds cases: changes whose defects are known. A reviewer's comments on a case are
//! matched with the labels of that case ([`matching`]), the matches are counted ([`score`]), and the
//! counts become precision, recall and F with intervals over the cases ([`statistics`]).
//!
//! The crate is pure: files, models and reviewers are the caller's.

pub mod assignment;
pub mod comment;
pub mod formats;
pub mod judge;
pub mod limits;
pub mod matching;
pub mod mining;
pub mod page;
pub mod random;
pub mod report;
pub mod score;
pub mod set;
pub mod sketch;
pub mod statistics;
pub mod summary;
pub mod table;
