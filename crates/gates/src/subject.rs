//! What a gate looks at: [`Subject`].

use assay_change::Change;
use assay_findings::ground::Tree;

use crate::plan::Plan;

/// An artifact with what it is held against.
pub struct Subject<'a> {
    /// The plan, and where it lies from the root.
    pub plan: Option<(&'a Plan, &'a str)>,
    /// The change, once something was written.
    pub change: Option<&'a Change>,
    /// The files as they are now.
    pub tree: &'a (dyn Tree + Sync),
}
