//! Reviewing the cases of a set for `assay eval`: each case becomes a repository, which is reviewed
//! as `assay review` does.

pub(crate) mod answering;
pub(crate) mod brief_files;
pub(crate) mod case_repository;
pub(crate) mod delegated_set;
pub(crate) mod judge;
pub(crate) mod mining;
pub(crate) mod question;
pub(crate) mod reviewers;
pub(crate) mod transcripts;
