//! Which items are criteria: [`listed`].

use std::collections::HashSet;

use super::Criterion;
use super::outline::Item;
use crate::markdown::compared;

/// Gives the criteria of all lists.
pub(super) fn listed(lists: Vec<Vec<Item>>) -> Vec<Criterion> {
    lists.into_iter().flat_map(of_list).collect()
}

/// Gives the criteria of a list: the items with a box, or all of the first level where none has one.
///
/// What stands deeper belongs to the criterion above it.
fn of_list(items: Vec<Item>) -> Vec<Criterion> {
    let has_boxes = items.iter().any(|item| item.has_box);
    let first_level = items.iter().map(|item| item.depth).min().unwrap_or(0);
    let mut criteria: Vec<Criterion> = Vec::new();
    // How deep the criterion is that details belong to.
    let mut open = None;
    for item in items {
        let counts = if has_boxes { item.has_box } else { item.depth == first_level };
        match criteria.last_mut() {
            _ if counts => {
                open = Some(item.depth);
                criteria.push(Criterion { text: item.text, line: Some(item.line) });
            }
            Some(criterion) if open.is_some_and(|depth| item.depth > depth) => {
                criterion.add(&item.text);
            }
            _ => open = None,
        }
    }
    criteria
}

impl Criterion {
    fn add(&mut self, detail: &str) {
        self.text.push_str(if self.text.ends_with(':') { " " } else { "; " });
        self.text.push_str(detail);
    }
}

/// Leaves out what says nothing, and what was said before.
pub(super) fn each_once(mut criteria: Vec<Criterion>) -> Vec<Criterion> {
    let mut seen = HashSet::new();
    criteria.retain(|criterion| {
        let told = compared(&criterion.text);
        !told.is_empty() && seen.insert(told)
    });
    criteria
}
