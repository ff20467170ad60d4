//! Reviewing the cases of a set for `assay eval`: each case becomes a repository, which is reviewed
//! as `assay review` does.

pub mod answering;
pub mod brief_files;
pub mod case_output;
pub mod case_repository;
pub mod delegated_set;
pub mod judge;
pub mod mining;
mod question;
pub mod reviewers;
pub mod transcripts;
