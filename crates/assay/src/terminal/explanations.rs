//! Explanations that several findings share: [`Explanations`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use assay_findings::finding::Finding;

/// The explanations in the output, by text, with the place of the first finding of each. A finding
/// with the same explanation refers to that place.
#[derive(Default)]
pub(super) struct Explanations<'f> {
    places: HashMap<(Cow<'f, str>, Option<&'f str>), String>,
}

impl<'f> Explanations<'f> {
    /// Returns the place of an earlier finding with the same explanation; `None` if the explanation
    /// is new.
    pub(super) fn earlier_place(&mut self, finding: &'f Finding) -> Option<&str> {
        let key = (finding.text_below_heading()?, finding.fix_or_form());
        match self.places.entry(key) {
            Entry::Occupied(earlier) => Some(earlier.into_mut()),
            Entry::Vacant(new) => {
                new.insert(finding.place()?);
                None
            }
        }
    }
}
