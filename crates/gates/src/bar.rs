//! How high the bar is: [`Bar`].

use crate::item::Severity;

/// Which items block, and when a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// The last iteration in which an item blocks that may hold.
    pub may_until: u32,
    /// The last iteration in which an item blocks that should hold.
    pub should_until: u32,
    /// The iteration whose failure a person decides about.
    pub ceiling: u32,
    /// How often an item may fail before no more is asked of whoever fixes it.
    pub fails_per_item: u32,
    /// Whether a list without the built-in checklist can pass.
    pub built_in: BuiltIn,
    /// Whether a reader has to say that the code does what the plan asks for.
    pub reader: Reader,
}

/// Whether a model or a person has to judge what code cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A change that no reader judged does not pass.
    Required,
    /// A change that no reader judged passes, and the answer says that it was not judged.
    Optional,
}

/// Whether the built-in checklist has to be on a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// A list without it never passes.
    Required,
    /// A list without it passes, and says that it was left out.
    Optional,
}

impl Bar {
    /// Everything blocks twice, what should hold four times, what must hold always.
    pub const SEED: Bar = Bar {
        may_until: 2,
        should_until: 4,
        ceiling: 8,
        fails_per_item: 5,
        built_in: BuiltIn::Required,
        reader: Reader::Required,
    };

    /// Everything blocks always.
    pub const STRICT: Bar = Bar { may_until: u32::MAX, should_until: u32::MAX, ..Bar::SEED };

    /// Returns true if an item that does not hold blocks in an iteration.
    pub fn blocks(&self, severity: Severity, iteration: u32) -> bool {
        match severity {
            Severity::Must => true,
            Severity::Should => iteration <= self.should_until,
            Severity::May => iteration <= self.may_until,
        }
    }
}

impl Default for Bar {
    fn default() -> Bar {
        Bar::SEED
    }
}
