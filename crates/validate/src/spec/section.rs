//! The sections around a block of a spec: [`Sections`], which decides where items may be criteria
//! by their form alone.

use super::headings::is_other_section;

/// The headings around the next block.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// The levels of the headings, each with true if its section contains work to do or remarks.
    around: Vec<(u8, bool)>,
    /// The number of headings so far.
    seen: usize,
}

impl Sections {
    /// Enters the section of a heading, or of a line that is used as one.
    pub(super) fn enter(&mut self, title: &str, level: u8) {
        while self.around.last().is_some_and(|(around, _)| *around >= level) {
            self.around.pop();
        }
        self.seen += 1;
        self.around.push((level, is_other_section(title)));
    }

    /// Returns true if a section around the next block contains work to do or remarks, by its
    /// title.
    pub(super) fn is_other(&self) -> bool {
        self.around.iter().any(|(_, is_other)| *is_other)
    }

    /// Returns true if an item with a check box or a claim about tests is a criterion here: below a
    /// heading other than the title of the whole spec, and outside of work to do and remarks.
    pub(super) fn may_hold_criteria(&self) -> bool {
        let is_title_page = self.seen == 0 || (self.seen == 1 && self.around[..] == [(1, false)]);
        !is_title_page && !self.is_other()
    }
}
