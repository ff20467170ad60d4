//! Parses the names of milestones, and references to them: [`of_heading`], [`references`].

/// The word of a plan for its parts. Of several words in a plan, the first one in this list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Milestone,
    Phase,
    Stage,
    Step,
    Task,
}

/// The name of a milestone, as parsed from its heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnitName {
    pub(super) unit: Unit,
    /// The id; `None` if the milestone is to be numbered by its position.
    pub(super) id: Option<String>,
    pub(super) title: String,
}

/// Maximum length of an id, in characters; the rest is cut off.
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

    /// Returns the letter before the numbers of a unit, as in `M1`.
    pub(super) fn letter(self) -> char {
        match self {
            Unit::Milestone => 'M',
            Unit::Phase => 'P',
            Unit::Stage | Unit::Step => 'S',
            Unit::Task => 'T',
        }
    }

    /// Parses the singular or plural of a unit, such as `milestone` and `Milestones`.
    fn of_word(word: &str) -> Option<Unit> {
        let word = word.to_ascii_lowercase();
        let one = word.strip_suffix('s').unwrap_or(&word);
        Unit::ALL.into_iter().find(|unit| unit.word() == one)
    }
}

/// Parses the heading of a milestone: `Milestone 1: X`, `M1 — X`, `3.2 Phase 2. X`, `X (M1)`.
/// Returns `None` for other headings.
pub(super) fn of_heading(text: &str) -> Option<UnitName> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let inner = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".)".contains(c));
    let text = if inner.starts_with(' ') { inner.trim_start() } else { text };
    with_word(text).or_else(|| bare(text)).or_else(|| at_the_end(text))
}

/// Parses `Milestone 1: X`, `Milestone M1 X`, `Milestone: X`.
fn with_word(text: &str) -> Option<UnitName> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let unit = Unit::of_word(&text[..end]).filter(|_| !text[..end].ends_with(['s', 'S']))?;
    let rest = text[end..].trim_start();
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    if let Some((id, after)) = number(rest, unit).or_else(|| spelt_number(rest, unit)) {
        return Some(UnitName { unit, id: Some(id), title: title(after) });
    }
    // `Task: X` is often the title of a whole plan.
    let is_titled = unit <= Unit::Phase && rest.starts_with([':', '–', '—']);
    is_titled.then(|| UnitName { unit, id: None, title: title(rest) })
}

/// Number words; the position of a word, from 1, is its value.
const SPELT: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

/// Roman numerals; the position of a numeral, from 1, is its value.
const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Parses a number word, `two`, or a Roman numeral, `II`, and returns the id and the text after it.
fn spelt_number(text: &str, unit: Unit) -> Option<(String, &str)> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let spelt = SPELT.iter().position(|spelt| word.eq_ignore_ascii_case(spelt));
    let place = spelt.or_else(|| ROMAN.iter().position(|roman| word == *roman))?;
    Some((format!("{}{}", unit.letter(), place + 1), rest))
}

/// Parses `M1: X`, which needs a mark after the id: `M1 Max support` is about something else.
fn bare(text: &str) -> Option<UnitName> {
    let unit = Unit::Milestone;
    let (id, after) =
        number(text, unit).filter(|(id, _)| text.starts_with(unit.letter()) && id.len() > 1)?;
    let rest = after.trim_start();
    let is_marked = rest.is_empty() || rest.starts_with([':', '.', '-', '–', '—', ')', ']', '(']);
    is_marked.then(|| UnitName { unit, id: Some(id), title: title(rest) })
}

/// Parses `X (M1)`.
fn at_the_end(text: &str) -> Option<UnitName> {
    let (before, id) = text.trim_end().strip_suffix([')', ']'])?.rsplit_once(['(', '['])?;
    let (id, rest) = number(id, Unit::Milestone).filter(|_| id.starts_with('M') && id.len() > 1)?;
    rest.is_empty().then(|| UnitName { unit: Unit::Milestone, id: Some(id), title: title(before) })
}

/// Parses a number with or without the letter of its unit, or a single letter, and returns the id
/// and the text after it.
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

/// Returns the ids of the milestones that a text after `Depends on` refers to. `unit` is the word
/// of the plan for its parts.
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

/// Maximum number of references in a line; it bounds the work on a hostile line.
const MAX_REFERENCES: usize = 64;

fn reference(word: &str, unit: Unit, is_named: bool) -> Option<String> {
    let (id, rest) = number(word, unit)?;
    let has_letter = word.starts_with(unit.letter()) && word.len() > 1;
    (rest.is_empty() && (has_letter || is_named)).then_some(id)
}

/// Returns an id on one line, truncated to `MAX_ID` characters.
pub(super) fn tidy(id: &str) -> String {
    let words: Vec<&str> = id.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(MAX_ID).collect()
}
