//! Recognises criteria that a tree decides without a person or a model: [`is_decided_by_code`].

use super::claim::{TestClaim, plain_criterion};
use super::page_claim::PageClaim;
use assay_gates::claim::is_claim;

/// Returns true if a criterion is decided by the code or the pages of a tree, or only states that
/// tests pass.
pub(crate) fn is_decided_by_code(criterion: &str) -> bool {
    let says_pass = match TestClaim::read(criterion) {
        Some(TestClaim::Named { says_pass, .. }) => says_pass,
        Some(TestClaim::All { .. }) => true,
        None => false,
    };
    says_pass || is_claim(&plain_criterion(criterion)) || PageClaim::read(criterion).is_some()
}
