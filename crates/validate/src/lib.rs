//! The validation loop on a spec: does the implementation do what its acceptance criteria say?
//!
//! A [`spec`] says what has to hold and a [`plan`] what was done for it. What the loop sees in a
//! round becomes [`issue`]s; approval, the next round or a person follows from them by rule. What
//! people and fixers read of it are [`paper`]s, what a person answers is [`feedback`], and what others
//! remember of it is [`learned`].

pub mod bar;
pub mod criterion;
pub mod decision;
pub mod ending;
pub mod event;
pub mod export;
pub mod feedback;
pub mod file_names;
pub mod ground;
pub mod issue;
pub mod journal;
pub mod kept;
pub mod learned;
mod markdown;
pub mod metrics;
pub mod news;
pub mod next;
pub mod opening;
pub mod own;
pub mod paper;
pub mod plan;
pub mod run;
pub mod seen;
pub mod spec;
pub mod standing;
pub mod state;
pub mod surroundings;
pub mod tree_hash;
pub mod tryout;
