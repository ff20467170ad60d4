//! The parts of a spec that hold criteria, and those that say how it is verified: [`read`].

use super::Criterion;
use super::claim::is_command;
use super::criteria::Reader;
use super::fenced::Fenced;
use super::headings::names_criteria;
use super::verification::Which;
use crate::markdown::{Block, Kind, compared, folded};

/// How deep the first level of items is that stand for a heading: deeper than words in bold.
const ITEM: u8 = 10;

/// The most words of a plain line that stands for a heading.
const MAX_TITLE_WORDS: usize = 8;

/// Titles in bold that end criteria which began with a title in bold.
const OTHER_SECTIONS: [&str; 16] = [
    "note", "notes", "out of scope", "non-goals", "non goals", "background", "context",
    "references", "dependencies", "risks", "open questions", "estimate", "technical notes",
    "implementation notes", "design", "links",
];

/// How deep a part is that begins with words in bold on a line of their own: deeper than any
/// heading.
const BOLD: u8 = 7;

/// How deep a group is that begins with words in bold, so that it does not end the part that it is
/// in.
const BOLD_GROUP: u8 = 8;

/// The parts of a spec that the loop reads.
#[derive(Default)]
pub(super) struct Outline {
    /// The criteria.
    pub(super) criteria: Reader,
    /// Items of a group, or before the first group.
    pub(super) verification: Vec<(Which, Item)>,
    /// Code of the verification that is no command.
    pub(super) unread: Vec<Criterion>,
}

/// An item of a list, or a line of text.
pub(super) struct Item {
    pub(super) text: String,
    /// How deep it is; a line of text is not.
    pub(super) depth: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Criteria,
    Verification,
    Group(Which),
    /// Something within the verification that is no group.
    Aside,
}

/// Takes a spec apart.
pub(super) fn read(blocks: &[Block]) -> Outline {
    let mut walk = Walk { outline: Outline::default(), around: Vec::new() };
    for (at, block) in blocks.iter().enumerate() {
        let next = blocks.get(at + 1);
        match block.kind {
            Kind::Heading(level) => walk.titled(&block.text, level, block.line),
            Kind::Paragraph => walk.lines(&block.text, block.line, Kind::Paragraph, next),
            Kind::Item { depth, .. } => {
                walk.leave_items(depth);
                let (said, below) = walk.without_titles(&block.text);
                let lines = u32::try_from(said.lines().count()).unwrap_or(u32::MAX);
                let (said, below) = (said.to_owned(), below.to_owned());
                let item = Block { text: said, ..block.clone() };
                walk.item(&item, depth, next.filter(|_| below.is_empty()));
                let line = block.line.saturating_add(lines);
                walk.lines(&below, line, Kind::Paragraph, next);
            }
            Kind::Quote => walk.lines(&block.text, block.line, Kind::Quote, next),
            Kind::Code if walk.part() == Some(Part::Criteria) => {
                walk.outline.criteria.block(block, next);
            }
            Kind::Code => walk.code(block),
        }
    }
    walk.outline.criteria.end();
    walk.outline
}

struct Walk {
    outline: Outline,
    /// The parts around the next block, each with how deep it is.
    around: Vec<(u8, Part)>,
}

impl Walk {
    fn part(&self) -> Option<Part> {
        self.around.last().map(|(_, part)| *part)
    }

    fn is_verifying(&self) -> bool {
        self.part().is_some_and(|part| part != Part::Criteria)
    }

    /// Leaves the items that an item so deep is not in.
    fn leave_items(&mut self, depth: usize) {
        let level = ITEM.saturating_add(u8::try_from(depth).unwrap_or(u8::MAX));
        self.leave(level);
    }

    fn leave(&mut self, level: u8) {
        while self.around.last().is_some_and(|(around, _)| *around >= level) {
            self.around.pop();
        }
    }

    /// Takes lines of text, of which some stand for headings.
    fn lines(&mut self, text: &str, first: u32, kind: Kind, next: Option<&Block>) {
        if text.is_empty() {
            return;
        }
        if kind == Kind::Paragraph {
            self.leave(ITEM);
        }
        let is_alone = text.lines().count() == 1;
        let mut said: Option<Block> = None;
        for (line, number) in text.lines().zip(first..) {
            if let Some((title, rest)) = self.title(line, is_alone) {
                self.criteria_block(said.take(), None);
                self.titled(title, BOLD, number);
                self.say(rest);
                if !rest.is_empty() {
                    said = Some(Block { kind, text: rest.to_owned(), line: number });
                }
                continue;
            }
            self.say(line);
            match &mut said {
                Some(block) => {
                    block.text.push('\n');
                    block.text.push_str(line);
                }
                None => said = Some(Block { kind, text: line.to_owned(), line: number }),
            }
        }
        self.criteria_block(said, next);
    }

    fn criteria_block(&mut self, block: Option<Block>, next: Option<&Block>) {
        if let Some(block) = block.filter(|_| self.part() == Some(Part::Criteria)) {
            self.outline.criteria.block(&block, next);
        }
    }

    /// Takes a heading, or what stands for one.
    fn titled(&mut self, said: &str, level: u8, line: u32) {
        let title = title_words(said);
        if self.is_below_criteria(&title, level) {
            self.outline.criteria.heading(said, line);
            return;
        }
        let group = Which::named(&title);
        let is_group_within = group.is_some() && self.is_verifying();
        let level = if level == BOLD && is_group_within { BOLD_GROUP } else { level };
        self.leave(level);
        let part = match (self.part(), group) {
            _ if names_criteria(&title) => Part::Criteria,
            _ if is_about_verification(&title) => Part::Verification,
            (Some(Part::Verification | Part::Group(_) | Part::Aside), Some(group)) => {
                Part::Group(group)
            }
            (Some(Part::Verification | Part::Group(_)), None) => Part::Aside,
            (Some(Part::Criteria | Part::Aside) | None, _) => return,
        };
        self.outline.criteria.end();
        self.around.push((level, part));
    }

    /// Returns true if a title stands below the criteria and begins nothing else: a deeper heading, or
    /// words in bold below a title in bold.
    fn is_below_criteria(&self, title: &str, level: u8) -> bool {
        let Some((around, Part::Criteria)) = self.around.last() else { return false };
        let is_other = names_criteria(title)
            || is_about_verification(title)
            || (level == BOLD && OTHER_SECTIONS.contains(&title));
        (level > *around || (level == BOLD && *around == BOLD)) && !is_other
    }

    /// Returns what stands for a heading at the beginning of a line, and what stands behind it: words
    /// in bold, a line that announces criteria, or, where something is verified, a group and a colon.
    fn title<'a>(&self, line: &'a str, is_alone: bool) -> Option<(&'a str, &'a str)> {
        let is_group = |label: &str| Which::named(&title_words(label)).is_some();
        if let Some((label, rest)) = label(line) {
            let is_title = rest.is_empty() || is_group(label) || names_criteria(label);
            return is_title.then_some((label, rest));
        }
        if let Some(title) = plain_title(line, is_alone) {
            return Some(title);
        }
        let label = line.strip_suffix(':').filter(|label| !label.contains('`'))?;
        (self.is_verifying() && is_group(label)).then_some((label, ""))
    }

    /// Cuts off what begins with a title below an item: to Markdown it is of the item, but nobody
    /// means that.
    fn without_titles<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        let first = text.find('\n').map_or(text.len(), |end| end + 1);
        let mut at = first;
        for line in text[first..].split_inclusive('\n') {
            let title = self.title(line.trim_end(), false);
            if title.is_some_and(|(title, _)| self.part().is_some() || names_criteria(title)) {
                return text.split_at(at);
            }
            at += line.len();
        }
        (text, "")
    }

    /// Takes a line of text, which counts where it says how to verify.
    fn say(&mut self, text: &str) {
        if let Some(group) = self.group().filter(|_| !text.is_empty()) {
            let item = Item { text: text.to_owned(), depth: 0 };
            self.outline.verification.push((group, item));
        }
    }

    /// Takes code where something is verified: the lines of a shell are commands. Code in another
    /// language is not understood.
    fn code(&mut self, block: &Block) {
        let Some(group) = self.group() else { return };
        let code = Fenced::of(&block.text);
        let commands = shell_commands(&code.text);
        let is_bare = code.language.is_empty() && commands.iter().all(|it| is_command(it));
        if !SHELLS.contains(&code.language.as_str()) && !is_bare {
            let text = format!("code below Verification: {}", folded(&code.text));
            self.outline.unread.push(Criterion { text, line: Some(block.line) });
            return;
        }
        for command in commands {
            let item = Item { text: format!("``{command}``"), depth: 0 };
            self.outline.verification.push((group, item));
        }
    }

    /// Returns the group around the next block; before the first group, verification is about units.
    fn group(&self) -> Option<Which> {
        match self.part()? {
            Part::Verification => Some(Which::Unit),
            Part::Group(group) => Some(group),
            Part::Criteria | Part::Aside => None,
        }
    }

    fn item(&mut self, block: &Block, depth: usize, next: Option<&Block>) {
        let text = folded(&block.text);
        if self.is_verifying()
            && let Some((label, _)) = label(&text)
            && Which::named(&title_words(label)).is_some()
        {
            self.titled(label, BOLD, block.line);
        }
        if let Some(group) = self.group() {
            let item = Item { text, depth };
            self.outline.verification.push((group, item));
        } else if let Some((title, rest)) = item_title(&text) {
            let level = ITEM.saturating_add(u8::try_from(depth).unwrap_or(u8::MAX));
            self.titled(title, level, block.line);
            let said = Block { text: rest.to_owned(), ..block.clone() };
            self.criteria_block(Some(said).filter(|it| !it.text.is_empty()), next);
        } else if self.part() == Some(Part::Criteria) {
            self.outline.criteria.block(block, next);
        }
    }
}

/// Returns the title and the rest of a plain line that announces criteria: short words before a colon,
/// or short words alone.
fn plain_title(line: &str, is_alone: bool) -> Option<(&str, &str)> {
    let line = line.trim();
    let html = line.strip_prefix("<h").and_then(|rest| rest.split_once('>'));
    if let Some((_, rest)) = html {
        let title = rest.split("</").next().unwrap_or(rest);
        return names_criteria(title).then_some((title, ""));
    }
    let line = line.trim_start_matches(['#', '>', ' ']);
    let is_short =
        |text: &str| text.split_whitespace().count() <= MAX_TITLE_WORDS && !text.contains('`');
    if let Some((title, rest)) = line.split_once(':') {
        let is_title = names_criteria(title) && is_short(title);
        return is_title.then(|| (title, rest.trim_matches(['*', '_', ' '])));
    }
    let is_title = is_alone && names_criteria(line) && is_short(line) && !line.ends_with('.');
    is_title.then_some((line, ""))
}

/// Languages of code whose lines are commands.
const SHELLS: [&str; 8] =
    ["sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "fish"];

/// Returns the commands among the lines of a shell. Where a line begins with a prompt, lines without
/// one are output.
fn shell_commands(text: &str) -> Vec<String> {
    let prompt = |line: &str| line.trim_start().strip_prefix("$ ").map(str::to_owned);
    let has_prompt = text.lines().any(|line| prompt(line).is_some());
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let said = if has_prompt { prompt(line) } else { Some(line.to_owned()) };
        let said = match said {
            Some(said) => said,
            None if goes_on => line.to_owned(),
            None => continue,
        };
        let said = said.trim();
        if said.is_empty() || said.starts_with('#') {
            continue;
        }
        let part = said.strip_suffix('\\').map_or(said, str::trim_end);
        match commands.last_mut().filter(|_| goes_on) {
            Some(command) => {
                command.push(' ');
                command.push_str(part);
            }
            None => commands.push(part.to_owned()),
        }
        goes_on = said.ends_with('\\');
    }
    commands
}

/// Returns the title and the rest of an item that announces the items below it as criteria.
fn item_title(text: &str) -> Option<(&str, &str)> {
    match label(text) {
        Some((title, rest)) => names_criteria(title).then_some((title, rest)),
        None => plain_title(text, true),
    }
}

/// Returns the words of a title, without marks around them.
fn title_words(title: &str) -> String {
    compared(title).trim_matches(['*', '_', ':', ' ', '`']).to_owned()
}

/// Returns true if a part is about how the whole is verified, and not about verifying an e-mail.
fn is_about_verification(title: &str) -> bool {
    let mut words = title.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let usual = [
        "verification", "strategy", "steps", "plan", "commands", "test", "tests", "testing",
        "checks", "qa", "and", "feature",
    ];
    title.contains("verification") && words.all(|word| usual.contains(&word))
}

/// Returns the words in bold that a line begins with, and what stands behind them.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let mark = ["**", "__"].into_iter().find(|mark| line.starts_with(mark))?;
    let (label, rest) = line[2..].split_once(mark)?;
    let rest = rest.trim_start();
    let is_label = label.trim_end().ends_with(':') || rest.is_empty() || rest.starts_with(':');
    is_label.then(|| (label, rest.trim_start_matches(':').trim_start()))
}
