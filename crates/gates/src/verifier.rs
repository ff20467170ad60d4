//! Verifiers for items without a built-in check: commands, and a model through [`Judge`].

use crate::command::CommandVerifier;
use crate::gate::NewItem;
use crate::item::Item;
use crate::phase::Phase;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Verifies items that need judgement.
///
/// A judge writes nothing. It returns as many results as there are items, in their order; after an
/// error, each of them is `NotChecked`.
pub trait Judge: Sync {
    /// Verifies items.
    fn judge(&self, phase: Phase, subject: &Subject<'_>, items: &[&Item]) -> Vec<CheckResult>;

    /// Proposes further items to verify.
    fn propose(&self, phase: Phase, subject: &Subject<'_>) -> Result<Vec<NewItem>, String>;
}

/// The available verifiers.
#[derive(Clone, Copy, Default)]
pub struct Verifiers<'a> {
    /// The configured commands.
    pub commands: &'a [CommandVerifier],
    /// The model; `None` if none is configured.
    pub judge: Option<&'a dyn Judge>,
}

/// Splits items into those that are verified one after another and those in parallel.
pub fn lanes<'a>(items: impl IntoIterator<Item = &'a Item>) -> (Vec<&'a Item>, Vec<&'a Item>) {
    items.into_iter().partition(|item| item.scope.is_macro())
}

/// Splits things into groups of about the same size, at most `at_the_most` groups. The sizes differ
/// by at most one.
pub fn groups<T: Clone>(things: &[T], about: usize, at_the_most: usize) -> Vec<Vec<T>> {
    if things.is_empty() {
        return Vec::new();
    }
    let count = things.len().div_ceil(about.max(1)).clamp(1, at_the_most.max(1));
    let (size, larger) = (things.len() / count, things.len() % count);
    let mut rest = things;
    (0..count)
        .map(|number| {
            let (group, behind) = rest.split_at(size + usize::from(number < larger));
            rest = behind;
            group.to_vec()
        })
        .collect()
}
