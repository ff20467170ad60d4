//! The names of milestones, and how a plan refers to them: [`of_heading`], [`references`].

/// The word of a plan for its parts. The first of them that a plan uses counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Milestone,
    Phase,
    Stage,
    Step,
    Task,
}

/// The name of a milestone, as its heading gives it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) unit: Unit,
    /// `None` where it is left to the reader to count.
    pub(super) id: Option<String>,
    pub(super) title: String,
}

/// A name is no longer than this; the rest is cut.
const MAX_ID: usize = 40;

impl Unit {
    const ALL: [Unit; 5] = [Unit::Milestone, Unit::Phase, Unit::Stage, Unit::Step, Unit::Task];

    fn word(self) -> &'static str {
        match self {
            Unit::Milestone => "milestone",
            Unit::Phase => "phase",
            Unit::Stage => "stage",
            Unit::Step => "step",
            Unit::Task => "task",
        }
    }

    /// The letter before its numbers: `M1`.
    pub(super) fn letter(self) -> char {
        match self {
            Unit::Milestone => 'M',
            Unit::Phase => 'P',
            Unit::Stage | Unit::Step => 'S',
            Unit::Task => 'T',
        }
    }

    /// Reads `milestone` and `Milestones`.
    fn of_word(word: &str) -> Option<Unit> {
        let word = word.to_ascii_lowercase();
        let one = word.strip_suffix('s').unwrap_or(&word);
        Unit::ALL.into_iter().find(|unit| unit.word() == one)
    }
}

/// Reads the heading of a milestone: `Milestone 1: X`, `M1 — X`, `3.2 Phase 2. X`, `X (M1)`.
pub(super) fn of_heading(text: &str) -> Option<Named> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let inner = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".)".contains(c));
    let text = if inner.starts_with(' ') { inner.trim_start() } else { text };
    with_word(text).or_else(|| bare(text)).or_else(|| at_the_end(text))
}

/// Reads `Milestone 1: X`, `Milestone M1 X`, `Milestone: X`.
fn with_word(text: &str) -> Option<Named> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let unit = Unit::of_word(&text[..end]).filter(|_| !text[..end].ends_with(['s', 'S']))?;
    let rest = text[end..].trim_start();
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    if let Some((id, after)) = number(rest, unit).or_else(|| spelt_number(rest, unit)) {
        return Some(Named { unit, id: Some(id), title: title(after) });
    }
    // `Task: X` is as often what a whole plan is called.
    let is_titled = unit <= Unit::Phase && rest.starts_with([':', '–', '—']);
    is_titled.then(|| Named { unit, id: None, title: title(rest) })
}

/// Numbers as they are spelt; the place of a word, from 1, is what it means.
const SPELT: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

/// The same in Roman numerals.
const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Reads a number that is spelt, `two`, or Roman, `II`, and returns what follows it.
fn spelt_number(text: &str, unit: Unit) -> Option<(String, &str)> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let spelt = SPELT.iter().position(|spelt| word.eq_ignore_ascii_case(spelt));
    let place = spelt.or_else(|| ROMAN.iter().position(|roman| word == *roman))?;
    Some((format!("{}{}", unit.letter(), place + 1), rest))
}

/// Reads `M1: X`, which needs its mark: `M1 Max support` is about something else.
fn bare(text: &str) -> Option<Named> {
    let unit = Unit::Milestone;
    let (id, after) =
        number(text, unit).filter(|(id, _)| text.starts_with(unit.letter()) && id.len() > 1)?;
    let rest = after.trim_start();
    let is_marked = rest.is_empty() || rest.starts_with([':', '.', '-', '–', '—', ')', ']', '(']);
    is_marked.then(|| Named { unit, id: Some(id), title: title(rest) })
}

/// Reads `X (M1)`.
fn at_the_end(text: &str) -> Option<Named> {
    let (before, id) = text.trim_end().strip_suffix([')', ']'])?.rsplit_once(['(', '['])?;
    let (id, rest) = number(id, Unit::Milestone).filter(|_| id.starts_with('M') && id.len() > 1)?;
    rest.is_empty().then(|| Named { unit: Unit::Milestone, id: Some(id), title: title(before) })
}

/// Reads a number with or without the letter of its unit, or a letter alone, and gives what
/// follows it.
fn number(text: &str, unit: Unit) -> Option<(String, &str)> {
    let letter = unit.letter();
    let digits = text.strip_prefix([letter, letter.to_ascii_lowercase()]).unwrap_or(text);
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let end = digits.find(|c| !is_part(c)).unwrap_or(digits.len());
        let number = digits[..end].trim_end_matches('.');
        let is_short = number.len() <= MAX_ID / 2;
        let id = format!("{letter}{}", number.to_ascii_uppercase());
        return is_short.then(|| (id, &digits[number.len()..]));
    }
    let mut chars = text.chars();
    let alone = chars.next().filter(char::is_ascii_uppercase)?;
    let rest = chars.as_str();
    (!rest.starts_with(char::is_alphanumeric)).then(|| (format!("{letter}{alone}"), rest))
}

fn title(rest: &str) -> String {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ":.–—-)]".contains(c));
    rest.trim().to_owned()
}

/// Returns the milestones that a text after `Depends on` refers to, in the way of a plan that calls
/// its parts so.
pub(super) fn references(text: &str, unit: Unit) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let only_numbers = words.iter().all(|word| is_number(word) || *word == "and");
    let mut found = Vec::new();
    let mut is_named = only_numbers;
    for word in words {
        if Unit::of_word(word) == Some(unit) {
            is_named = true;
        } else if let Some(id) = reference(word, unit, is_named) {
            if !found.contains(&id) && found.len() < MAX_REFERENCES {
                found.push(id);
            }
        } else if word != "and" && !only_numbers {
            is_named = false;
        }
    }
    found
}

/// A milestone does not wait for more than this; it bounds the work on a hostile line.
const MAX_REFERENCES: usize = 64;

fn reference(word: &str, unit: Unit, is_named: bool) -> Option<String> {
    let (id, rest) = number(word, unit)?;
    let has_letter = word.starts_with(unit.letter()) && word.len() > 1;
    (rest.is_empty() && (has_letter || is_named)).then_some(id)
}

/// Makes a name of what somebody wrote as one: one line, and not too long.
pub(super) fn tidy(id: &str) -> String {
    let words: Vec<&str> = id.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(MAX_ID).collect()
}
