//! Wording that several messages share.

/// Returns a number with its noun, in the plural unless the number is 1.
pub fn count(number: usize, noun: &str) -> String {
    let ending = if noun.ends_with('x') { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{ending}") }
}
