//! The known names nearest to an unknown one, for messages about misspelled names.

/// The maximum number of names that are suggested.
const MAX_NAMES: usize = 3;

/// Returns up to three known names that resemble an unknown one, the most similar first. A name
/// whose last part (`b` in `a/b`) is the unknown name counts as most similar.
pub fn nearest<'n>(unknown: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let unknown = unknown.to_lowercase();
    let limit = (unknown.chars().count() / 4).clamp(1, 4);
    let distance_of = |name: &'n str| {
        let is_last_part = name.rsplit_once('/').is_some_and(|(_, last)| last == unknown);
        let distance = if is_last_part { 0 } else { distance(&unknown, &name.to_lowercase()) };
        (distance <= limit).then_some((distance, name))
    };
    let mut close: Vec<(usize, &str)> = known.into_iter().filter_map(distance_of).collect();
    close.sort_unstable();
    close.dedup();
    close.into_iter().take(MAX_NAMES).map(|(_, name)| name).collect()
}

/// Returns the question that follows the message about an unknown name: ``; did you mean `a` or
/// `b`?``. Empty if there is no name to suggest.
pub fn did_you_mean(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!("; did you mean {only}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// Returns the number of inserted, removed, replaced and swapped letters between two texts.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swap = row > 0 && column > 0 && a[row - 1] == *other && *letter == b[column - 1];
            if is_swap {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] =
        ["python/debug-print", "go/debug-print", "python/sql-injection", "secret/x", "ruby/eval"];

    #[test]
    fn a_misspelled_name_has_its_neighbour() {
        assert_eq!(nearest("pyhton/debug-print", KNOWN), ["python/debug-print"]);
        assert_eq!(nearest("Python/SQL-injektion", KNOWN), ["python/sql-injection"]);
    }

    #[test]
    fn the_last_part_of_a_name_is_enough() {
        assert_eq!(nearest("debug-print", KNOWN), ["go/debug-print", "python/debug-print"]);
    }

    #[test]
    fn a_name_without_resemblance_has_no_neighbour() {
        assert!(nearest("performance", KNOWN).is_empty());
        assert!(nearest("", KNOWN).is_empty());
    }

    #[test]
    fn a_message_lists_the_names() {
        assert_eq!(did_you_mean(&[]), "");
        assert_eq!(did_you_mean(&["a"]), "; did you mean `a`?");
        assert_eq!(did_you_mean(&["a", "b", "c"]), "; did you mean `a`, `b` or `c`?");
    }

    #[test]
    fn swapped_letters_are_one_difference() {
        assert_eq!(distance("pyhton", "python"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abd"), 1);
    }
}
