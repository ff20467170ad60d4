//! Reasons that keep two claims apart although their words agree: [`apart`].

use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::names::{self, is_same_name};
use super::vocabulary::{Name, Vocabulary, Word};
use super::words;

/// From this share of common words on, one claim is another form of the other.
const SAME_WORDS: f64 = 0.7;

/// From this share of common words outside the names on, the names tell two claims apart.
const SAME_FRAME: f64 = 0.5;

/// The reason why two claims are not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Both name numbers, and none in common.
    Numbers,
    /// One wants in the place of a name what the other calls wrong.
    Roles,
    /// The same is said of different names.
    Names,
    /// One says that something is, the other that it is not.
    Direction,
    /// The same names or sides stand in another order.
    Order,
}

/// What the guards look at in a text, each read once a guard asks for it.
#[derive(Debug)]
pub(super) struct Details {
    /// All words, sorted.
    words: Vec<u32>,
    numbers: OnceCell<BTreeSet<String>>,
    roles: OnceCell<Roles>,
    /// Words outside the names, sorted.
    frame: OnceCell<Vec<u32>>,
    is_negated: OnceCell<bool>,
    code: OnceCell<Code>,
}

/// The code in back-ticks that is more than a name, without its blanks.
#[derive(Debug)]
struct Code {
    spans: BTreeSet<String>,
    /// Words outside of code, sorted; empty where there is no code.
    frame: Vec<u32>,
}

impl Code {
    /// Returns true if both texts have code and none is part of the other's.
    fn is_other_than(&self, other: &Code) -> bool {
        let is_part = |a: &str, b: &str| a.contains(b) || b.contains(a);
        let is_shared = |a: &String| other.spans.iter().any(|b| is_part(a, b));
        !self.spans.is_empty() && !other.spans.is_empty() && !self.spans.iter().any(is_shared)
    }
}

/// The names that a text calls wrong, and those that it wants in their place.
#[derive(Debug, Default)]
struct Roles {
    wrong: BTreeSet<Name>,
    wanted: BTreeSet<Name>,
}

impl Details {
    pub(super) fn of(tokens: &[u32]) -> Details {
        let mut words = tokens.to_vec();
        words.sort_unstable();
        words.dedup();
        Details {
            words,
            numbers: OnceCell::new(),
            roles: OnceCell::new(),
            frame: OnceCell::new(),
            is_negated: OnceCell::new(),
            code: OnceCell::new(),
        }
    }
}

/// A text with the words that guards read it by.
#[derive(Clone, Copy)]
pub(super) struct Guarded<'t> {
    pub(super) text: &'t str,
    /// All words of the text, in order.
    pub(super) words: &'t [Word],
    pub(super) names: &'t [Name],
    pub(super) details: &'t Details,
    pub(super) vocabulary: &'t RefCell<Vocabulary>,
}

impl<'t> Guarded<'t> {
    fn numbers(self) -> &'t BTreeSet<String> {
        self.details.numbers.get_or_init(|| names::numbers(self.text))
    }

    fn roles(self) -> &'t Roles {
        self.details.roles.get_or_init(|| match self.words.iter().any(|word| word.gives_roles) {
            true => roles(self.text, &mut self.vocabulary.borrow_mut()),
            false => Roles::default(),
        })
    }

    fn frame(self) -> &'t [u32] {
        self.details.frame.get_or_init(|| frame(self.text, &mut self.vocabulary.borrow_mut()))
    }

    fn is_negated(self) -> bool {
        let is_plain = || !self.text.contains('(') && !words::may_contract(self.text);
        *self.details.is_negated.get_or_init(|| match is_plain() {
            true => self.words.iter().filter(|word| word.is_negating).count() % 2 == 1,
            false => is_negated(self.text),
        })
    }

    /// Returns the words on the left and on the right of the first relation word of a kind.
    fn sides(self, relation: u8) -> Option<(&'t [Word], &'t [Word])> {
        let at = self.words.iter().position(|word| word.relation == Some(relation))?;
        Some((&self.words[..at], &self.words[at + 1..]))
    }

    fn code(self) -> &'t Code {
        self.details.code.get_or_init(|| code(self.text, &mut self.vocabulary.borrow_mut()))
    }
}

/// Returns the first reason that keeps two claims apart.
pub(super) fn apart(a: Guarded<'_>, b: Guarded<'_>) -> Option<Apart> {
    let both_number = !a.numbers().is_empty() && !b.numbers().is_empty();
    if both_number && a.numbers().is_disjoint(b.numbers()) {
        return Some(Apart::Numbers);
    }
    let (one, other) = (a.roles(), b.roles());
    let crosses = !one.wrong.is_disjoint(&other.wanted) || !other.wrong.is_disjoint(&one.wanted);
    let agrees = !one.wrong.is_disjoint(&other.wrong) || !one.wanted.is_disjoint(&other.wanted);
    if crosses && !agrees {
        return Some(Apart::Roles);
    }
    if share_no_name(a.names, b.names) && jaccard(a.frame(), b.frame()) >= SAME_FRAME {
        return Some(Apart::Names);
    }
    let (words, other_words) = (&a.details.words, &b.details.words);
    if jaccard(words, other_words) >= SAME_WORDS {
        let differing = words.len() + other_words.len() - 2 * common(words, other_words);
        if differing <= 1 && a.is_negated() != b.is_negated() {
            return Some(Apart::Direction);
        }
        let is_reordered = differing == 0 && has_other_order(a.names, b.names);
        if is_reordered || has_exchanged_sides(a, b) {
            return Some(Apart::Order);
        }
    }
    let (one, other) = (a.code(), b.code());
    let is_of_other_code =
        one.is_other_than(other) && jaccard(&one.frame, &other.frame) >= SAME_FRAME;
    is_of_other_code.then_some(Apart::Names)
}

/// Returns true if both texts have names and no two of them are the same.
pub(super) fn share_no_name(a: &[Name], b: &[Name]) -> bool {
    let shares = || a.iter().any(|a| b.iter().any(|b| is_same_name(a, b)));
    !a.is_empty() && !b.is_empty() && !shares()
}

fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let both = common(a, b);
    let any = a.len() + b.len() - both;
    if any == 0 { 0.0 } else { both as f64 / any as f64 }
}

/// Counts what two sorted lists have in common.
fn common(a: &[u32], b: &[u32]) -> usize {
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

fn has_other_order(a: &[Name], b: &[Name]) -> bool {
    let in_b: Vec<&Name> = a.iter().filter(|name| b.contains(name)).collect();
    let in_a: Vec<&Name> = b.iter().filter(|name| a.contains(name)).collect();
    in_b.len() >= 2 && in_b != in_a
}

/// Returns true if, around a word such as `before`, something went from the left to the right and
/// something from the right to the left.
fn has_exchanged_sides(a: Guarded<'_>, b: Guarded<'_>) -> bool {
    let has = |words: &[Word], stem: u32| words.iter().any(|w| !w.is_stop_word && w.stem == stem);
    let goes = |from: &[Word], to: &[Word], away: &[Word]| {
        let content = from.iter().filter(|word| !word.is_stop_word);
        content.map(|word| word.stem).any(|stem| has(to, stem) && !has(away, stem))
    };
    a.words.iter().filter_map(|word| word.relation).any(|relation| {
        let Some(((left, right), (other_left, other_right))) =
            a.sides(relation).zip(b.sides(relation))
        else {
            return false;
        };
        goes(left, other_right, other_left) && goes(right, other_left, other_right)
    })
}

/// Returns the code of a text, and its words outside of code.
fn code(text: &str, vocabulary: &mut Vocabulary) -> Code {
    let spans = text.split('`').skip(1).step_by(2);
    let is_more_than_name = |span: &&str| span.split_whitespace().nth(1).is_some();
    let spans: BTreeSet<String> =
        spans.filter(is_more_than_name).map(crate::ground::squeeze).collect();
    let frame = match spans.is_empty() {
        true => Vec::new(),
        false => frame(&text.split('`').step_by(2).collect::<Vec<_>>().join(" "), vocabulary),
    };
    Code { spans, frame }
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

/// Takes the innermost parentheses and their content out of a text.
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
            let (good, bad) = if asks(&lower[..start]) { (before, after) } else { (after, before) };
            wanted.extend(good);
            wrong.extend(bad);
        } else if let Some(end) = demand_end(&lower) {
            wanted.extend(vocabulary.names(&clause[end..]).into_iter().next());
        }
    }
    let only = |a: &BTreeSet<Name>, b: &BTreeSet<Name>| a.difference(b).cloned().collect();
    Roles { wrong: only(&wrong, &wanted), wanted: only(&wanted, &wrong) }
}

/// Splits a text where a clause ends.
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

/// Returns where words follow each other in a text in lower case.
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

/// Returns true if a clause asks for the name that it ends with.
fn asks(lower: &str) -> bool {
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

/// Returns the end of `should call` and the like.
fn demand_end(lower: &str) -> Option<usize> {
    const VERBS: [&str; 7] = ["be", "use", "call", "return", "pass", "record", "check"];
    let pairs = ["should", "must"].into_iter().flat_map(|m| VERBS.map(|verb| [m, verb]));
    pairs.filter_map(|pair| find_words(lower, &pair)).map(|(_, end)| end).min()
}
