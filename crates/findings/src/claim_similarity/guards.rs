//! Guards that keep two claims apart although their words agree: [`difference`].

use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::names;
use super::vocabulary::{NameId, TokenizedText, Vocabulary, Word};
use super::words;

/// The share of common words from which one claim counts as another form of the other.
const MIN_SAME_WORDS: f64 = 0.7;

/// The share of common words outside the names from which different names separate two claims.
const MIN_SAME_FRAME: f64 = 0.5;

/// The reason why two claims are not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Both claims contain numbers, and none in common.
    Numbers,
    /// A claim demands a name that the other claim calls wrong.
    Roles,
    /// The claims make the same statement about different names.
    Names,
    /// The claims state the opposite of each other.
    Direction,
    /// The same names or sides are in another order.
    Order,
}

/// The properties of a text that guards compare, each computed when a guard first needs it. Few
/// texts have numbers, roles or code.
#[derive(Debug)]
pub(super) struct TextDetails {
    /// All words, sorted.
    words: Box<[u32]>,
    /// All words, in order.
    in_order: OnceCell<Box<[Word]>>,
    numbers: OnceCell<Option<BTreeSet<String>>>,
    roles: OnceCell<Option<Box<Roles>>>,
    /// Words outside the names, sorted.
    frame: OnceCell<Box<[u32]>>,
    is_negated: OnceCell<bool>,
    code: OnceCell<Option<Box<Code>>>,
}

/// The code in back-ticks that is more than a name, without its whitespace.
#[derive(Debug)]
struct Code {
    spans: BTreeSet<String>,
    /// Words outside of code, sorted.
    frame: Vec<u32>,
}

impl Code {
    /// Returns true if no code of one text is part of the other's.
    fn is_other_than(&self, other: &Code) -> bool {
        let is_part = |a: &str, b: &str| a.contains(b) || b.contains(a);
        let is_shared = |a: &String| other.spans.iter().any(|b| is_part(a, b));
        !self.spans.iter().any(is_shared)
    }
}

/// The names that a text calls wrong, and the names that it demands in their place.
#[derive(Debug)]
struct Roles {
    wrong: BTreeSet<NameId>,
    wanted: BTreeSet<NameId>,
}

impl Roles {
    /// Returns true if one text demands a name that the other calls wrong, and the texts agree on
    /// none.
    fn are_crossed(&self, other: &Roles) -> bool {
        let meet = |a: &BTreeSet<NameId>, b: &BTreeSet<NameId>| !a.is_disjoint(b);
        let crosses = meet(&self.wrong, &other.wanted) || meet(&other.wrong, &self.wanted);
        let agrees = meet(&self.wrong, &other.wrong) || meet(&self.wanted, &other.wanted);
        crosses && !agrees
    }
}

impl TextDetails {
    pub(super) fn of(tokens: &[u32]) -> TextDetails {
        let mut words = tokens.to_vec();
        words.sort_unstable();
        words.dedup();
        TextDetails {
            words: words.into(),
            in_order: OnceCell::new(),
            numbers: OnceCell::new(),
            roles: OnceCell::new(),
            frame: OnceCell::new(),
            is_negated: OnceCell::new(),
            code: OnceCell::new(),
        }
    }
}

/// A text with its words and details, as guards read it.
#[derive(Clone, Copy)]
pub(super) struct GuardedText<'t> {
    pub(super) text: &'t str,
    pub(super) reading: &'t TokenizedText,
    pub(super) details: &'t TextDetails,
    pub(super) vocabulary: &'t RefCell<Vocabulary>,
}

impl<'t> GuardedText<'t> {
    fn numbers(self) -> Option<&'t BTreeSet<String>> {
        let numbers = self.details.numbers.get_or_init(|| {
            let numbers = names::numbers(self.text);
            (!numbers.is_empty()).then_some(numbers)
        });
        numbers.as_ref()
    }

    fn roles(self) -> Option<&'t Roles> {
        let roles = self.details.roles.get_or_init(|| {
            let read = || Box::new(roles(self.text, &mut self.vocabulary.borrow_mut()));
            self.reading.signals.gives_roles.then(read)
        });
        roles.as_deref()
    }

    fn frame(self) -> &'t [u32] {
        let read = || frame(self.text, &mut self.vocabulary.borrow_mut()).into();
        self.details.frame.get_or_init(read)
    }

    fn is_negated(self) -> bool {
        let is_plain = || !self.text.contains('(') && !words::may_contract(self.text);
        *self.details.is_negated.get_or_init(|| match is_plain() {
            true => self.reading.signals.is_negated,
            false => is_negated(self.text),
        })
    }

    fn words(self) -> &'t [Word] {
        self.details.in_order.get_or_init(|| self.vocabulary.borrow().words(self.reading))
    }

    /// Returns the words on the left and on the right of the first relation word of a kind.
    fn sides(self, relation: u8) -> Option<(&'t [Word], &'t [Word])> {
        let words = self.words();
        let at = words.iter().position(|word| word.relation == Some(relation))?;
        Some((&words[..at], &words[at + 1..]))
    }

    fn code(self) -> Option<&'t Code> {
        let read = || code(self.text, &mut self.vocabulary.borrow_mut()).map(Box::new);
        self.details.code.get_or_init(read).as_deref()
    }
}

/// Returns the first reason that separates two claims.
pub(super) fn difference(a: GuardedText<'_>, b: GuardedText<'_>) -> Option<Difference> {
    if a.numbers().zip(b.numbers()).is_some_and(|(a, b)| a.is_disjoint(b)) {
        return Some(Difference::Numbers);
    }
    if a.roles().zip(b.roles()).is_some_and(|(a, b)| a.are_crossed(b)) {
        return Some(Difference::Roles);
    }
    let share_no_name = a.vocabulary.borrow().share_no_name(a.reading.names(), b.reading.names());
    if share_no_name && jaccard(a.frame(), b.frame()) >= MIN_SAME_FRAME {
        return Some(Difference::Names);
    }
    let (words, other_words) = (&a.details.words, &b.details.words);
    if jaccard(words, other_words) >= MIN_SAME_WORDS {
        let differing = words.len() + other_words.len() - 2 * count_common(words, other_words);
        if differing <= 1 && a.is_negated() != b.is_negated() {
            return Some(Difference::Direction);
        }
        let is_reordered = differing == 0 && has_other_order(a.reading.names(), b.reading.names());
        if is_reordered || has_exchanged_sides(a, b) {
            return Some(Difference::Order);
        }
    }
    let is_of_other_code = a.code().zip(b.code()).is_some_and(|(one, other)| {
        one.is_other_than(other) && jaccard(&one.frame, &other.frame) >= MIN_SAME_FRAME
    });
    is_of_other_code.then_some(Difference::Names)
}

fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let both = count_common(a, b);
    let any = a.len() + b.len() - both;
    if any == 0 { 0.0 } else { both as f64 / any as f64 }
}

/// Counts the common items of two sorted lists.
fn count_common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, count) = (i + 1, j + 1, count + 1),
        }
    }
    count
}

fn has_other_order(a: &[NameId], b: &[NameId]) -> bool {
    let in_b: Vec<&NameId> = a.iter().filter(|name| b.contains(name)).collect();
    let in_a: Vec<&NameId> = b.iter().filter(|name| a.contains(name)).collect();
    in_b.len() >= 2 && in_b != in_a
}

/// Returns true if, around a word such as `before`, one word moved from the left to the right and
/// another from the right to the left.
fn has_exchanged_sides(a: GuardedText<'_>, b: GuardedText<'_>) -> bool {
    if a.reading.signals.relations & b.reading.signals.relations == 0 {
        return false;
    }
    let has = |words: &[Word], stem: u32| words.iter().any(|w| !w.is_stop_word && w.stem == stem);
    let goes = |from: &[Word], to: &[Word], away: &[Word]| {
        let content = from.iter().filter(|word| !word.is_stop_word);
        content.map(|word| word.stem).any(|stem| has(to, stem) && !has(away, stem))
    };
    a.words().iter().filter_map(|word| word.relation).any(|relation| {
        let Some(((left, right), (other_left, other_right))) =
            a.sides(relation).zip(b.sides(relation))
        else {
            return false;
        };
        goes(left, other_right, other_left) && goes(right, other_left, other_right)
    })
}

/// Returns the code of a text, and its words outside of code; `None` if there is no code.
fn code(text: &str, vocabulary: &mut Vocabulary) -> Option<Code> {
    let mut spans = BTreeSet::new();
    let mut marks = memchr::memchr_iter(b'`', text.as_bytes());
    while let Some(open) = marks.next() {
        let span = &text[open + 1..marks.next().unwrap_or(text.len())];
        // Code without whitespace is a name.
        if span.contains(char::is_whitespace) && span.split_whitespace().nth(1).is_some() {
            spans.insert(super::squeeze(span));
        }
    }
    if spans.is_empty() {
        return None;
    }
    let frame = frame(&text.split('`').step_by(2).collect::<Vec<_>>().join(" "), vocabulary);
    Some(Code { spans, frame })
}

fn frame(text: &str, vocabulary: &mut Vocabulary) -> Vec<u32> {
    let text = words::without_contractions(text, " not");
    let mut frame = Vec::new();
    names::each_name(&text, |word, is_identifier| {
        if !is_identifier {
            frame.extend(vocabulary.tokens(word));
        }
    });
    frame.sort_unstable();
    frame.dedup();
    frame
}

/// Returns true if a text has an odd number of negations outside parentheses.
fn is_negated(text: &str) -> bool {
    let text = words::without_contractions(text, " not");
    let mut count = 0;
    let counts = |word: &str| words::is_negation(word) || matches!(word, "fails" | "unable");
    words::each_part(&without_parentheses(&text), |word| count += usize::from(counts(word)));
    count % 2 == 1
}

/// Removes the innermost parentheses and their content from a text.
fn without_parentheses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(close) = rest.find(')') {
        match rest[..close].rfind('(') {
            Some(open) => {
                out.push_str(&rest[..open]);
                out.push(' ');
            }
            None => out.push_str(&rest[..=close]),
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

fn roles(text: &str, vocabulary: &mut Vocabulary) -> Roles {
    let (mut wrong, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    for clause in clauses(text) {
        let lower = clause.to_ascii_lowercase();
        let instead = ["instead of", "rather than"].into_iter().find_map(|words| {
            let (first, second) = words.split_once(' ')?;
            find_words(&lower, &[first, second])
        });
        if let Some((start, end)) = instead {
            let before = vocabulary.names(&clause[..start]).pop();
            let after = vocabulary.names(&clause[end..]).into_iter().next();
            let (good, bad) =
                if is_demand(&lower[..start]) { (before, after) } else { (after, before) };
            wanted.extend(good);
            wrong.extend(bad);
        } else if let Some(end) = demand_end(&lower) {
            wanted.extend(vocabulary.names(&clause[end..]).into_iter().next());
        }
    }
    let only = |a: &BTreeSet<NameId>, b: &BTreeSet<NameId>| a.difference(b).copied().collect();
    Roles { wrong: only(&wrong, &wanted), wanted: only(&wanted, &wrong) }
}

/// Splits a text at the ends of its clauses.
fn clauses(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut start, mut before) = (0, ' ');
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let before_blank = chars.peek().is_some_and(|(_, next)| next.is_whitespace());
        let ends = match c {
            '\n' => true,
            ';' | ',' | '.' => before_blank,
            '-' | '–' | '—' => before.is_whitespace() && before_blank,
            _ => false,
        };
        if ends {
            all.push(&text[start..at]);
            start = at + c.len_utf8();
        }
        before = c;
    }
    all.push(&text[start..]);
    all
}

/// Returns the start and the end of words that follow each other in a text in lower case.
fn find_words(lower: &str, wanted: &[&str]) -> Option<(usize, usize)> {
    let stands_alone = |start: usize, end: usize| {
        !lower[..start].ends_with(words::is_word) && !lower[end..].starts_with(words::is_word)
    };
    lower.match_indices(wanted[0]).find_map(|(start, _)| {
        let mut end = start + wanted[0].len();
        for word in &wanted[1..] {
            let rest = lower[end..].trim_start();
            if rest.len() == lower.len() - end || !rest.starts_with(word) {
                return None;
            }
            end = lower.len() - rest.len() + word.len();
        }
        stands_alone(start, end).then_some((start, end))
    })
}

/// Returns true if a clause demands the name that it ends with.
fn is_demand(lower: &str) -> bool {
    const DEMANDS: [&[&str]; 8] = [
        &["should"],
        &["must"],
        &["need", "to"],
        &["needs", "to"],
        &["ought", "to"],
        &["prefer"],
        &["consider"],
        &["replace"],
    ];
    let starts_with_use = lower
        .trim_start()
        .strip_prefix("use")
        .is_some_and(|rest| !rest.starts_with(words::is_word));
    starts_with_use || DEMANDS.iter().any(|demand| find_words(lower, demand).is_some())
}

/// Returns the end of a demand such as `should call`.
fn demand_end(lower: &str) -> Option<usize> {
    const VERBS: [&str; 7] = ["be", "use", "call", "return", "pass", "record", "check"];
    let pairs = ["should", "must"].into_iter().flat_map(|m| VERBS.map(|verb| [m, verb]));
    pairs.filter_map(|pair| find_words(lower, &pair)).map(|(_, end)| end).min()
}
