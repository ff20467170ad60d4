//! Parses criteria in the text of a spec: [`Reader`] reads the blocks below a heading that
//! announces acceptance criteria.
//!
//! Every list item, table row, numbered line and sentence is a separate criterion, so that none is
//! met by the evidence for another. A lead-in (`For admins:`) is put in front of each criterion
//! below it. Text that the reader cannot parse is stored as not understood.

use assay_base::text::single_spaced;
use std::collections::HashSet;

use super::Criterion;
use super::fenced::Fenced;
use super::form::{is_claim, scenarios};
use super::sentences::{sentences, without_mark};
use super::table::Table;
use crate::markdown::{Block, Kind, compared};

/// The depth of a heading among leads.
const HEADING: usize = 0;
const PARAGRAPH: usize = 1;

/// Maximum number of leads in front of a criterion.
const MAX_LEADS: usize = 3;

/// Maximum number of words of a subheading that only groups the items below it.
const MAX_GROUP_WORDS: usize = 3;

/// HTML tags without a meaning of their own in a list or table.
const TAGS: [&str; 26] = [
    "li", "ul", "ol", "p", "br", "b", "i", "em", "strong", "td", "tr", "th", "table", "tbody",
    "thead", "details", "summary", "div", "span", "input", "dl", "dt", "dd", "label", "section",
    "hr",
];

/// Parses the blocks below headings that announce criteria.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) criteria: Vec<Criterion>,
    /// Text that could not be parsed as criteria.
    pub(super) unread: Vec<Criterion>,
    /// The leads of the next items, outermost first.
    leads: Vec<Lead>,
    /// True if a code block after the last block may be an example of it.
    may_have_example: bool,
    /// The depth of the last item that is an example: deeper items belong to it.
    example: Option<usize>,
}

/// Words that introduce the items below them.
struct Lead {
    /// The depth of the words: [`HEADING`], [`PARAGRAPH`], or the depth of an item below a
    /// paragraph.
    depth: usize,
    text: String,
    line: u32,
    /// True if the words are put in front of the criteria below them; false for headings.
    is_said: bool,
    is_used: bool,
}

impl Reader {
    /// Handles a heading, or words in bold in place of one, within the criteria.
    pub(super) fn heading(&mut self, title: &str, line: u32) {
        self.close(HEADING);
        let text = single_spaced(title);
        let text = text.trim_matches(['*', '_', ' ']).trim_end_matches(':');
        let words = text.split_whitespace().count();
        if is_labelled(text) || words > MAX_GROUP_WORDS {
            self.push(text, line);
        } else if !text.is_empty() {
            self.lead(HEADING, text, line, false);
        }
    }

    /// Handles a block; `next` is the block after it.
    pub(super) fn block(&mut self, block: &Block, next: Option<&Block>) {
        match block.kind {
            Kind::Item { depth, .. } => {
                let goes_deeper = next.is_some_and(
                    |next| matches!(next.kind, Kind::Item { depth: below, .. } if below > depth),
                );
                let mut paragraphs = block.text.split("\n\n");
                let first = paragraphs.next().unwrap_or_default();
                self.item(&single_spaced(first), block.line, depth, goes_deeper);
                let mut line = block.line.saturating_add(lines_of(first)).saturating_add(1);
                for paragraph in paragraphs {
                    let lines: Vec<(&str, u32)> = paragraph.lines().zip(line..).collect();
                    units(&lines).iter().for_each(|(unit, line)| self.push(unit, *line));
                    line = line.saturating_add(lines_of(paragraph)).saturating_add(1);
                }
            }
            Kind::Quote if is_remark(&block.text, &NOTES) => {}
            Kind::Paragraph | Kind::Quote => {
                let leads = next.is_some_and(|next| !matches!(next.kind, Kind::Heading(_)));
                self.lines(&block.text, block.line, leads);
            }
            Kind::Code => self.code(block),
            Kind::Heading(_) => self.heading(&block.text, block.line),
        }
        self.may_have_example =
            matches!(block.kind, Kind::Item { .. } | Kind::Paragraph | Kind::Quote);
    }

    /// Ends the section.
    pub(super) fn end(&mut self) {
        self.close(HEADING);
        self.may_have_example = false;
        self.example = None;
    }

    fn item(&mut self, text: &str, line: u32, depth: usize, goes_deeper: bool) {
        if self.example.is_some_and(|example| depth > example) && !demands(text) {
            return;
        }
        self.example = None;
        if !self.criteria.is_empty() && is_remark(text, &EXAMPLES) {
            self.example = Some(depth);
            return;
        }
        self.close(PARAGRAPH + depth);
        match goes_deeper {
            true if text.ends_with(':') => self.lead(PARAGRAPH + depth, text, line, true),
            true if is_group_title(text) => {
                let title = text.trim_matches(['*', '_', ' ']);
                self.lead(PARAGRAPH + depth, title, line, false);
            }
            true | false => self.push(text, line),
        }
    }

    /// Handles lines of text: a table, or sentences of which the last may introduce the next block.
    fn lines(&mut self, text: &str, line: u32, leads: bool) {
        self.close(PARAGRAPH);
        let lines: Vec<(&str, u32)> = text.lines().zip(line..).collect();
        if let Some(table) = Table::read(&lines) {
            self.rows(&table);
            return;
        }
        let units = units(&lines);
        let last = units.len().saturating_sub(1);
        for (at, (unit, line)) in units.iter().enumerate() {
            match at == last && leads && unit.ends_with(':') {
                true => self.lead(PARAGRAPH, unit, *line, true),
                false => self.push(unit, *line),
            }
        }
    }

    /// Handles the rows of a table, each of which is a criterion.
    pub(super) fn rows(&mut self, table: &Table) {
        self.close(PARAGRAPH);
        for (row, line) in &table.rows {
            self.push(&table.text_of(row), *line);
        }
    }

    /// Handles code. An example belongs to the criterion before it, and a scenario is a criterion.
    /// Other code with content of its own is not understood.
    fn code(&mut self, block: &Block) {
        let code = Fenced::of(&block.text);
        let scenarios = if code.is_feature() { scenarios(&code.text) } else { Vec::new() };
        if !scenarios.is_empty() {
            for (at, scenario) in scenarios {
                let below = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(code.first_line);
                self.push(&scenario, block.line.saturating_add(below));
            }
            return;
        }
        if self.may_have_example && code.is_example(self.is_announced()) {
            return;
        }
        let text = single_spaced(&code.text);
        if !text.is_empty() {
            self.unread.push(Criterion { text, line: Some(block.line) });
        }
    }

    /// Returns true if the words before the next block end with a colon.
    fn is_announced(&self) -> bool {
        let by_lead = self.leads.last().is_some_and(|lead| lead.is_said && !lead.is_used);
        by_lead || self.criteria.last().is_some_and(|it| it.text.trim_end().ends_with(':'))
    }

    fn lead(&mut self, depth: usize, text: &str, line: u32, is_said: bool) {
        let text = text.to_owned();
        self.leads.push(Lead { depth, text, line, is_said, is_used: false });
    }

    /// Closes the leads of this depth or deeper. A lead without items below it is a criterion
    /// itself.
    fn close(&mut self, depth: usize) {
        while let Some(lead) = self.leads.pop_if(|lead| lead.depth >= depth) {
            if !lead.is_used {
                self.add(lead.text, lead.line);
            }
        }
    }

    fn push(&mut self, text: &str, line: u32) {
        let text = without_tags(text);
        let text = text.trim();
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let mut whole = String::new();
        let nearest = self.leads.len().saturating_sub(MAX_LEADS);
        // A name in a lead would be evidence for each criterion below it.
        let said = self.leads[nearest..].iter();
        for lead in said.filter(|lead| lead.is_said && !lead.text.contains('`')) {
            whole.push_str(&lead.text);
            whole.push(' ');
        }
        self.leads
            .iter_mut()
            .rev()
            .take_while(|lead| !lead.is_used)
            .for_each(|it| it.is_used = true);
        whole.push_str(text);
        self.add(whole, line);
    }

    fn add(&mut self, text: String, line: u32) {
        self.criteria.push(Criterion { text, line: Some(line) });
    }
}

/// Labels of an item that is an example of the criterion before it.
const EXAMPLES: [&str; 6] = ["example", "examples", "for example", "e.g", "sample", "for instance"];

/// Labels of a quote that is a remark.
const NOTES: [&str; 10] = [
    "note", "notes", "hint", "tip", "info", "example", "background", "rationale", "context",
    "!note",
];

/// Words that express a demand.
const DEMANDS: [&str; 10] =
    ["must", "shall", "should", "may", "cannot", "never", "always", "required", "requires", "only"];

/// Returns true if a text expresses a demand, or claims that tests pass.
fn demands(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| DEMANDS.contains(&word.to_lowercase().as_str())) || is_claim(text)
}

/// Returns true if a text is a remark with one of the labels, and demands nothing.
fn is_remark(text: &str, labels: &[&str]) -> bool {
    let text = single_spaced(text);
    let plain = text.trim_start_matches(['*', '_', '[', ' ']);
    let Some((label, rest)) = plain.split_once([':', ']']) else { return false };
    let label = label.trim_matches(['*', '_', ' ', '.']).to_lowercase();
    let rest = rest.trim_start_matches(['*', '_', ' ']);
    labels.contains(&label.as_str()) && !demands(rest)
}

/// Verbs that make bold words a sentence and not a title.
const TITLE_VERBS: [&str; 14] = [
    "is", "are", "has", "have", "can", "does", "do", "works", "exists", "passes", "pass",
    "returns", "shows", "fails",
];

/// Maximum number of words of a bold item that only groups the items below it.
const MAX_ITEM_TITLE_WORDS: usize = 5;

/// Returns true if a whole item is bold and only groups the items below it.
fn is_group_title(text: &str) -> bool {
    let inner = text.strip_prefix("**").and_then(|it| it.strip_suffix("**"));
    let Some(inner) = inner.filter(|it| !it.contains(['*', '`'])) else { return false };
    let words: Vec<String> = inner.split_whitespace().map(str::to_lowercase).collect();
    let is_verb = |word: &String| TITLE_VERBS.contains(&word.as_str());
    (1..=MAX_ITEM_TITLE_WORDS).contains(&words.len())
        && !is_labelled(inner)
        && !demands(inner)
        && !words.iter().any(is_verb)
}

fn lines_of(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// Splits lines into statements: a marked or numbered line begins a new one, and so does each
/// sentence.
fn units(lines: &[(&str, u32)]) -> Vec<(String, u32)> {
    let mut units: Vec<(String, u32)> = Vec::new();
    let mut may_go_on = false;
    for (line, number) in lines {
        let plain = without_mark(line.trim());
        let begins = plain.len() < line.trim().len() || is_labelled(line.trim());
        for (at, sentence) in sentences(plain).into_iter().enumerate() {
            match units.last_mut().filter(|_| at == 0 && may_go_on && !begins) {
                Some((before, _)) => {
                    before.push(' ');
                    before.push_str(&sentence);
                }
                None => units.push((sentence, *number)),
            }
        }
        let ended = units.last().is_some_and(|(text, _)| text.ends_with(['.', '!', '?', ':', ';']));
        may_go_on = !ended && !units.is_empty();
    }
    units
}

/// Returns true if a line begins with a number or a label, such as `AC-1:`, `(2)` or `b)`.
fn is_labelled(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let inner = first.trim_matches(['(', '[', '*', '_']);
    let Some(label) = inner.strip_suffix(['.', ')', ':', ']']).or(Some(inner)) else {
        return false;
    };
    let label = label.trim_end_matches([')', ']', ':', '.', '*']);
    let has_mark = label.len() < first.len();
    let is_number = !label.is_empty() && label.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_letter = label.chars().count() == 1 && label.chars().all(char::is_alphabetic);
    let is_id = label.to_ascii_lowercase().strip_prefix("ac").is_some_and(|rest| {
        let rest = rest.trim_start_matches(['-', '_']);
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    is_id || (has_mark && (is_number || is_letter))
}

/// Removes the HTML tags in `TAGS` from a text.
fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let inner = rest[at + 1..].trim_start_matches('/');
        let name: String = inner.chars().take_while(char::is_ascii_alphanumeric).collect();
        let end = rest[at..].find('>').filter(|_| TAGS.contains(&name.to_lowercase().as_str()));
        let (before, after) = match end {
            Some(end) => (&rest[..at], &rest[at + end + 1..]),
            None => (&rest[..=at], &rest[at + 1..]),
        };
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// Removes empty and duplicate criteria.
pub(super) fn each_once(mut criteria: Vec<Criterion>) -> Vec<Criterion> {
    let mut seen = HashSet::new();
    criteria.retain(|criterion| {
        let told = compared(&criterion.text);
        !told.is_empty() && seen.insert(told)
    });
    criteria
}
