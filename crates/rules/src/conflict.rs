//! Conflict markers.

use assay_change::diff::FileDiff;

use crate::Hit;

/// Fires on the line that opens a conflict, once for each, if the rest of it follows.
pub(crate) fn look(file: &FileDiff) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut open: Option<(u32, String)> = None;
    let mut divided = false;
    for (number, line) in file.added() {
        if line.starts_with("<<<<<<< ") {
            open = Some((number, line.to_owned()));
            divided = false;
        } else if line == "=======" {
            divided = open.is_some();
        } else if line.starts_with(">>>>>>> ")
            && divided
            && let Some((line, quote)) = open.take()
        {
            hits.push(Hit { line, note: None, quote: Some(quote), deletable: false });
        }
    }
    hits
}
