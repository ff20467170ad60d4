//! Who verifies what no built-in check does: commands, and a model through [`Judge`].

use crate::command::CommandVerifier;
use crate::gate::Proposed;
use crate::item::Item;
use crate::phase::Phase;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Verifies items that take judgement.
///
/// A judge writes nothing, and one that breaks down has not seen the items, which it says for each
/// of them: there are as many answers as items, in their order.
pub trait Judge: Sync {
    /// Looks at items.
    fn judge(&self, phase: Phase, subject: &Subject<'_>, items: &[&Item]) -> Vec<CheckResult>;

    /// Says what else should be verified.
    fn propose(&self, phase: Phase, subject: &Subject<'_>) -> Result<Vec<Proposed>, String>;
}

/// Everybody who can be asked.
#[derive(Clone, Copy, Default)]
pub struct Verifiers<'a> {
    /// The commands that are configured.
    pub commands: &'a [CommandVerifier],
    /// The model, where one is configured.
    pub judge: Option<&'a dyn Judge>,
}

/// Splits items into those that are looked at one after another and those side by side.
pub fn lanes<'a>(items: impl IntoIterator<Item = &'a Item>) -> (Vec<&'a Item>, Vec<&'a Item>) {
    items.into_iter().partition(|item| item.scope.is_macro())
}

/// Puts things into groups of about a size, no more than so many groups, each as large as the
/// others or one larger.
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
