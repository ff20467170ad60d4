//! The character ratio of Python's `difflib`, and the key that is compared by it.
//!
//! The ratio is the earlier measure of similar issues, for callers that ask for it;
//! [`crate::title_similarity`] is the measure that decides.

use std::collections::HashMap;

/// The ratio from which issues count as the same.
pub const THRESHOLD: f64 = 0.8;

/// Builds the key of an issue from title, file and line, in lower case and without prefixes such as
/// `bug:`.
pub fn key(title: Option<&str>, file: Option<&str>, line: Option<u32>) -> String {
    let clean = |text: Option<&str>| text.unwrap_or("").trim().to_lowercase();
    let mut title = clean(title);
    for prefix in ["error:", "issue:", "bug:", "fix:"] {
        if let Some(rest) = title.strip_prefix(prefix) {
            title = rest.trim().to_owned();
        }
    }
    let line = line.filter(|line| *line > 0).map(|line| line.to_string()).unwrap_or_default();
    format!("{title}|{}|{line}", clean(file))
}

/// Returns `2·M ÷ T`, `M` being the characters in matching blocks and `T` those of both texts. As
/// in `difflib`, a character that makes up over one per cent of a second text of 200 or more
/// characters is ignored as junk.
pub fn ratio(a: &str, b: &str) -> f64 {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let total = a.len() + b.len();
    if total == 0 {
        return 1.0;
    }
    2.0 * count_matching(&a, &b) as f64 / total as f64
}

fn count_matching(a: &[char], b: &[char]) -> usize {
    let places = char_positions(b);
    let mut total = 0;
    let mut waiting = vec![(0, a.len(), 0, b.len())];
    while let Some((a_low, a_high, b_low, b_high)) = waiting.pop() {
        let (i, j, size) = longest_match(a, b, &places, (a_low, a_high, b_low, b_high));
        if size == 0 {
            continue;
        }
        total += size;
        waiting.push((a_low, i, b_low, j));
        waiting.push((i + size, a_high, j + size, b_high));
    }
    total
}

/// Returns the positions of each character of a text, without junk.
fn char_positions(b: &[char]) -> HashMap<char, Vec<usize>> {
    let mut places: HashMap<char, Vec<usize>> = HashMap::new();
    for (at, c) in b.iter().enumerate() {
        places.entry(*c).or_default().push(at);
    }
    if b.len() >= 200 {
        let popular = b.len() / 100 + 1;
        places.retain(|_, at| at.len() <= popular);
    }
    places
}

/// Finds the longest matching block within bounds, the earliest in `a`, then in `b`.
fn longest_match(
    a: &[char],
    b: &[char],
    places: &HashMap<char, Vec<usize>>,
    (a_low, a_high, b_low, b_high): (usize, usize, usize, usize),
) -> (usize, usize, usize) {
    let (mut best_i, mut best_j, mut best) = (a_low, b_low, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (i, c) in a.iter().enumerate().take(a_high).skip(a_low) {
        let mut next = HashMap::new();
        for &j in places.get(c).map(Vec::as_slice).unwrap_or_default() {
            if j < b_low {
                continue;
            }
            if j >= b_high {
                break;
            }
            let length = j.checked_sub(1).and_then(|p| lengths.get(&p)).copied().unwrap_or(0) + 1;
            next.insert(j, length);
            if length > best {
                (best_i, best_j, best) = (i + 1 - length, j + 1 - length, length);
            }
        }
        lengths = next;
    }
    // Junk next to the block belongs to the block.
    while best_i > a_low && best_j > b_low && a[best_i - 1] == b[best_j - 1] {
        (best_i, best_j, best) = (best_i - 1, best_j - 1, best + 1);
    }
    while best_i + best < a_high && best_j + best < b_high && a[best_i + best] == b[best_j + best] {
        best += 1;
    }
    (best_i, best_j, best)
}
