//! The pure core of assay: from what a reviewer wrote to findings and a verdict.
//!
//! A reviewer's text becomes a [`report::Report`] of votes ([`read`]); [`synthesis::synthesize`]
//! checks them against the tree ([`ground`]), adds up those on one defect ([`merge`]), decides
//! what is reported and where it goes ([`gate`]) and whether the change is ready ([`verdict`]);
//! [`write`] puts the result into every form that somebody reads, and [`post`] into the comments
//! of a pull request.
//!
//! Nothing here knows a file, a clock, a socket or the environment: all that arrives as arguments.

pub mod alike;
pub mod answer;
mod collections;
pub mod coverage;
pub mod finding;
pub mod gate;
pub mod grade;
pub mod ground;
mod grouping;
pub mod identity;
pub mod incomplete;
pub mod likeness;
pub mod merge;
pub mod outcome;
pub mod path;
pub mod post;
pub mod read;
pub mod reason;
pub mod recurring;
pub mod report;
pub mod sequence;
pub mod shown;
pub mod spent;
pub mod synthesis;
pub mod validate;
pub mod validation;
pub mod verdict;
mod verdict_words;
pub mod vote;
mod worth;
pub mod write;
