//! The filter of a list: [`ListFilter`] shows the entries of some severities, or with some text.
//!
//! The filter appears if scripts run; without scripts all entries are shown. An entry is an element
//! with the attributes `data-entry` and `data-severity`. Keys: `j` and `k` go to the next and
//! previous entry, Enter folds and unfolds an entry, `/` goes to the search field.

use maud::{Markup, html};

use crate::severity::SeverityTone;

/// The script of the filter, for [`crate::page::HtmlPage::scripts`].
pub const FILTER_SCRIPT: &str = include_str!("assets/filter.js");

/// A form that hides entries of the page.
pub struct ListFilter<'a> {
    /// The name of the entries, such as `findings`.
    pub entries: &'a str,
    /// The severities to choose from, with the number of entries of each.
    pub severities: &'a [(SeverityTone, usize)],
}

impl ListFilter<'_> {
    /// Renders the form, which is hidden until the script runs.
    pub fn render(&self) -> Markup {
        html! {
            form.filter hidden data-filter role="search" aria-label={ "Filter " (self.entries) } {
                label { "Search " input type="search" name="text" data-filter-text autocomplete="off"; }
                fieldset {
                    legend.hidden-text { "Severity" }
                    @for (tone, count) in self.severities {
                        label.choice {
                            input type="checkbox" checked name=(tone.class())
                                data-filter-severity=(tone.class());
                            " " span.(tone.class()) { (tone.class()) } " " span.count { (count) }
                        }
                    }
                }
                p.keys {
                    kbd { "j" } " " kbd { "k" } " next, previous · " kbd { "Enter" } " fold · "
                    kbd { "/" } " search"
                }
                output data-filter-status data-filter-name=(self.entries) {}
            }
        }
    }
}
