//! The digest of a tree: [`TreeHash`].

use serde::{Deserialize, Serialize};

/// The digest of a work tree, without the files that the loop itself writes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeHash(pub String);
