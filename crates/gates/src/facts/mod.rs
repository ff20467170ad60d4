//! Facts about a plan, a change and a tree that several checks use. A fact describes; a check in
//! [`checks`](crate::checks) judges.

pub(crate) mod decisions;
pub(crate) mod path_patterns;
pub(crate) mod plan_diffs;
pub(crate) mod rule_results;
pub(crate) mod squeezed_lines;
pub(crate) mod tree_index;
