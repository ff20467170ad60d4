//! Reviews of the cases of a set for `assay eval`: each case becomes a repository, which is
//! reviewed as `assay review` does.

pub mod brief_files;
pub mod case_output;
pub mod case_repository;
pub mod delegated_results;
pub mod delegated_set;
pub mod judge;
pub mod measurement;
pub mod mining;
mod plain_question;
pub mod questions;
pub mod results_folder;
pub mod reviewers;
pub mod set_folder;
pub mod stored_scores;
pub mod transcripts;
pub mod verdict_file;
