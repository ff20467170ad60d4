//! The pure core of assay: turns the texts of reviewers into findings and a verdict.
//!
//! [`read`] turns a text into a [`report::Report`] with one [`vote::Vote`] for each claim.
//! [`synthesis::synthesize`] runs the stages that follow:
//!
//! - [`grounding`] checks each vote against the tree and the diff.
//! - [`merge`] groups the votes on one defect into one [`finding::Finding`].
//! - [`gate`] decides which findings are reported, held back or set apart, and the route of each.
//! - [`verdict`] decides whether the change is ready.
//!
//! No stage edits a value of an earlier stage: a finding refers to its votes, and a dismissal is an
//! input of the gate. So each stage can run alone, and the commands of `assay findings` offer that.
//!
//! The other modules:
//!
//! - [`grade`]: the four vocabularies of severities. [`incomplete`]: the reasons why a report may
//!   have left out a finding. [`outcome`]: the decision whether a single review text approves, with
//!   its audit.
//! - [`persona_schema`]: the schema of a persona's report, applied strictly. [`second_look`]:
//!   second looks.
//! - [`title_similarity`] and `claim_similarity`: the similarity of titles, and of claims.
//! - [`identity`] and [`recurring`]: recognise a finding after edits and over rounds.
//! - [`template`]: texts that all findings of one kind share.
//! - [`severity_schema`]: the JSON Schema of severities that users write.
//! - [`mod@write`]: one file for each output format. [`post`]: the review of a pull request;
//!   `post::approval` alone decides whether a review approves. [`script_api`]: the JSON that
//!   commands for scripts print, with its schemas.
//!
//! The crate knows no file, clock, socket, environment or async: all of these arrive as arguments.

pub mod claim_similarity;
mod collections;
pub mod coverage;
pub mod finding;
pub mod gate;
pub mod grade;
pub mod grounding;
mod grouping;
pub mod identity;
pub mod incomplete;
pub mod merge;
pub mod outcome;
pub mod path;
pub mod persona_schema;
pub mod post;
pub mod read;
pub mod reason;
pub mod recurring;
pub mod report;
pub mod script_api;
pub mod second_look;
pub mod sequence_similarity;
pub mod severity_schema;
pub mod shown_limit;
pub mod synthesis;
pub mod template;
pub mod tier;
pub mod title_similarity;
pub mod trace;
pub mod usage;
pub mod verdict;
mod verdict_words;
pub mod vote;
mod worth;
pub mod write;
