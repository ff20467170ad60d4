//! Scores reviewers on labelled changes.
//!
//! A [`set`] contains cases: changes whose defects are known. A reviewer's comments on a case are
//! matched with the labels of that case ([`matching`]), the matches are counted ([`score`]), and
//! precision, recall and F are computed from the counts, with intervals over the cases
//! ([`statistics`]).
//!
//! The crate is pure: files, models and reviewers are left to the caller.
//!
//! - [`set`], [`mining`]: labelled changes, one JSON object per line; cases from the messages of
//!   commits.
//! - [`formats`]: outputs of review tools, one file for each format. An output without a review is
//!   an error, never an empty review.
//! - [`comment`], [`matching`], [`assignment`], [`judge`]: comments without repetitions; matching
//!   of comments and labels by location, words or a judge; the one-to-one matching of greatest
//!   weight.
//! - [`score`], [`summary`], [`statistics`], [`report`], [`limits`]: counts of a case, figures of a
//!   set, intervals and comparisons, several reviewers, limits for CI. [`table`], [`page`]: the
//!   output.
//!
//! A ratio with a denominator of zero is `None` everywhere, and meets no limit.
//! `tests/it/mutants.rs` has a table of rows and a list of faults: for a new scoring rule, add a
//! row, and a fault that the row detects.

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
