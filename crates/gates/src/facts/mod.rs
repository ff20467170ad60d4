//! Facts about a plan, a change and a tree that several checks read. A fact says what is there; a check in
//! [`checks`](crate::checks) says whether that is right.

pub(crate) mod decisions;
pub(crate) mod path_patterns;
pub(crate) mod plan_diffs;
pub(crate) mod rule_results;
pub(crate) mod squeezed_lines;
pub(crate) mod tree_index;
