//! Suggestions for a name that was not found: the most similar names.

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 4;

/// The number of characters of each name that are compared.
const MAX_COMPARED_CHARS: usize = 60;

/// Returns the most similar names, of pairs of the compared name and the shown name.
pub(super) fn nearest_names(wanted: &str, there: &[(String, String)]) -> Vec<String> {
    let wanted = normalize(wanted);
    let mut ranked: Vec<(usize, &String)> =
        there.iter().map(|(name, shown)| (distance(&wanted, &normalize(name)), shown)).collect();
    ranked.sort_by_key(|(distance, _)| *distance);
    let mut shown: Vec<String> = Vec::new();
    for (_, name) in ranked {
        if shown.len() < MAX_SUGGESTIONS && !shown.contains(name) {
            shown.push(name.clone());
        }
    }
    shown
}

fn normalize(text: &str) -> Vec<char> {
    text.to_lowercase().chars().take(MAX_COMPARED_CHARS).collect()
}

/// Returns the edit distance of two texts. Letters that are missing in `wanted` count least: people
/// abbreviate the names that they look for.
fn distance(wanted: &[char], there: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=there.len()).collect();
    for (at, letter) in wanted.iter().enumerate() {
        let mut before = row[0];
        row[0] = 3 * (at + 1);
        for (other, found) in there.iter().enumerate() {
            let changed = before + if letter == found { 0 } else { 3 };
            before = row[other + 1];
            row[other + 1] = changed.min(before + 3).min(row[other] + 1);
        }
    }
    row[there.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested_first() {
        let there = ["Cancel", "Create New Spec", "Create a new task", "Cancel", "Help", "Log out"];
        let there: Vec<(String, String)> =
            there.iter().map(|name| ((*name).to_owned(), format!("\"{name}\""))).collect();
        let found = nearest_names("Create Spec", &there);
        assert_eq!(found[0], "\"Create New Spec\"");
        assert_eq!(found.len(), MAX_SUGGESTIONS);
        assert_eq!(nearest_names("Cancle", &there)[0], "\"Cancel\"");
        assert!(nearest_names("x", &[]).is_empty());
    }
}
