//! Measures reviewers against labelled changes.
//!
//! A [`set`] holds cases: changes whose defects are known. A reviewer's comments on a case are
//! matched with the labels of that case ([`matching`]), the matches are counted ([`score`]), and the
//! counts become precision, recall and F with intervals over the cases ([`statistics`]).
//!
//! The crate is pure: files, models and reviewers are the caller's.
//!
//! - [`set`], [`mining`]: labelled changes, one JSON object a line; cases from the messages of
//!   commits.
//! - [`formats`]: outputs of review tools, one file for each format. An output without a review is
//!   an error, never an empty review.
//! - [`comment`], [`matching`], [`assignment`], [`judge`]: comments without repetitions; which
//!   comment can name which label, by place, words or a judge; the one-to-one matching of greatest
//!   weight.
//! - [`score`], [`summary`], [`statistics`], [`report`], [`limits`]: counts of a case, figures of a
//!   set, intervals and comparisons, several reviewers, limits for CI. [`table`], [`page`]: the
//!   output.
//!
//! A share of nothing is `None` everywhere, and fulfils no limit. `tests/it/mutants.rs` has a table
//! of rows and a list of faults: a new rule of scoring is a row, and a fault that the row catches.

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
pub mod statistics;
pub mod summary;
pub mod table;
