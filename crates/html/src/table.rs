//! Tables: [`HtmlTable`] has a heading for each column, and repeats it beside each cell on a phone.

use maud::{Markup, html};

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableColumn<'a> {
    /// The heading.
    pub heading: &'a str,
    /// True if the cells are numbers, which are aligned on the right.
    pub is_number: bool,
}

impl<'a> TableColumn<'a> {
    /// Creates a column of text.
    pub fn text(heading: &'a str) -> TableColumn<'a> {
        TableColumn { heading, is_number: false }
    }

    /// Creates a column of numbers.
    pub fn number(heading: &'a str) -> TableColumn<'a> {
        TableColumn { heading, is_number: true }
    }
}

/// A table whose first column names the rows.
pub struct HtmlTable<'a> {
    /// The caption, for readers that do not see the place of the table.
    pub caption: &'a str,
    /// The columns.
    pub columns: &'a [TableColumn<'a>],
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Markup>>,
}

impl HtmlTable<'_> {
    /// Renders the table.
    pub fn render(&self) -> Markup {
        html! {
            table {
                caption.hidden-text { (self.caption) }
                thead {
                    tr {
                        @for column in self.columns {
                            th scope="col" .number[column.is_number] { (column.heading) }
                        }
                    }
                }
                tbody { @for row in &self.rows { tr { (self.cells(row)) } } }
            }
        }
    }

    fn cells(&self, row: &[Markup]) -> Markup {
        html! {
            @for (at, (column, cell)) in self.columns.iter().zip(row).enumerate() {
                @if at == 0 {
                    th scope="row" data-label=(column.heading) { span { (cell) } }
                } @else {
                    td data-label=(column.heading) .number[column.is_number] { span { (cell) } }
                }
            }
        }
    }
}
