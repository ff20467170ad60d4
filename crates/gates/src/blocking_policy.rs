//! The blocking policy of a gate: [`BlockingPolicy`].

use crate::item::Severity;

/// The rules for which items block, and when a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockingPolicy {
    /// The last iteration in which an item with severity `May` blocks.
    pub may_until: u32,
    /// The last iteration in which an item with severity `Should` blocks.
    pub should_until: u32,
    /// The iteration after whose failure a person decides.
    pub ceiling: u32,
    /// Maximum number of contents on which an item may fail. Above it, a person decides about an
    /// item with severity `Must`, and any other item is accepted.
    pub fails_per_item: u32,
    /// The rule for lists without the built-in checklist.
    pub built_in: ChecklistPolicy,
    /// The rule for changes that no reader judged.
    pub reader: ReaderPolicy,
}

/// The rule for changes that neither a model nor a person judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderPolicy {
    /// A change that no reader judged does not pass.
    Required,
    /// A change that no reader judged passes, and the answer reports that it was not judged.
    Optional,
}

/// The rule for lists without the built-in checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecklistPolicy {
    /// A list without the built-in checklist never passes.
    Required,
    /// A list without the built-in checklist passes, and the answer reports that it was left out.
    Optional,
}

impl BlockingPolicy {
    /// The default: `May` items block in the first 2 iterations, `Should` items in the first 4, and
    /// `Must` items in all of them.
    pub const DEFAULT: BlockingPolicy = BlockingPolicy {
        may_until: 2,
        should_until: 4,
        ceiling: 8,
        fails_per_item: 5,
        built_in: ChecklistPolicy::Required,
        reader: ReaderPolicy::Required,
    };

    /// A policy in which every item blocks in every iteration.
    pub const STRICT: BlockingPolicy =
        BlockingPolicy { may_until: u32::MAX, should_until: u32::MAX, ..BlockingPolicy::DEFAULT };

    /// Returns true if a failed item blocks in an iteration.
    pub fn blocks(&self, severity: Severity, iteration: u32) -> bool {
        match severity {
            Severity::Must => true,
            Severity::Should => iteration <= self.should_until,
            Severity::May => iteration <= self.may_until,
        }
    }
}

impl Default for BlockingPolicy {
    fn default() -> BlockingPolicy {
        BlockingPolicy::DEFAULT
    }
}
