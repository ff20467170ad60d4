//! Finds the parts of a spec with criteria, and those about its verification: [`read`].

use assay_base::text::single_spaced;
use std::collections::HashSet;

use super::Criterion;
use super::claim::is_command;
use super::criteria::Reader;
use super::fenced::Fenced;
use super::form::{begins_scenario, introduced_by_id, is_claim, is_scenario};
use super::headings::names_criteria;
use super::id::split_id;
use super::item::{Item, label};
use super::section::Sections;
use super::table::Table;
use super::verification::{TestGroup, is_label, says_something};
use crate::markdown::{Block, Kind, compared};

/// The base level of list items that are used as headings: deeper than words in bold.
const ITEM: u8 = 10;

/// Maximum number of words of a plain line that is used as a heading.
const MAX_TITLE_WORDS: usize = 8;

/// Titles in bold that end criteria which began with a title in bold.
const OTHER_SECTIONS: [&str; 16] = [
    "note", "notes", "out of scope", "non-goals", "non goals", "background", "context",
    "references", "dependencies", "risks", "open questions", "estimate", "technical notes",
    "implementation notes", "design", "links",
];

/// The level of a part that begins with words in bold on their own line: deeper than any heading.
const BOLD: u8 = 7;

/// The level of a group that begins with words in bold, so that it does not end the part around it.
const BOLD_GROUP: u8 = 8;

/// The parts of a spec that the loop reads.
#[derive(Default)]
pub(super) struct Outline {
    pub(super) criteria: Reader,
    /// The items of the verification, each with its group; items before the first group belong to
    /// the unit tests.
    pub(super) verification: Vec<(TestGroup, Item)>,
    /// Code in the verification that is no command.
    pub(super) unread: Vec<Criterion>,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Criteria,
    Verification,
    /// A section about tests under another title than "Verification".
    Testing,
    Group(TestGroup),
    /// A section within the verification that is no group.
    Aside,
}

/// Splits the blocks of a spec into its parts.
pub(super) fn read(blocks: &[Block]) -> Outline {
    let mut walk = Walk::default();
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
    walk.finish()
}

#[derive(Default)]
struct Walk {
    outline: Outline,
    /// The parts around the next block, each with its level.
    around: Vec<(u8, Part)>,
    sections: Sections,
    /// True if an item with a check box was read as a criterion before, in the same list.
    in_boxes: bool,
    /// The depth of an item that announces steps for a person; `None` if there is none.
    manual: Option<usize>,
    /// Lines with an id among remarks and verification, which count if no criterion has the id.
    doubtful: Vec<(String, Criterion)>,
}

impl Walk {
    fn part(&self) -> Option<Part> {
        self.around.last().map(|(_, part)| *part)
    }

    /// Adds the lines with ids that no criterion has, and returns the outline.
    fn finish(mut self) -> Outline {
        self.outline.criteria.end();
        let ids = self.outline.criteria.criteria.iter();
        let known: HashSet<String> =
            ids.filter_map(|it| split_id(&it.text)).map(|(id, _)| id).collect();
        let unknown = self.doubtful.into_iter().filter(|(id, _)| !known.contains(id));
        self.outline.criteria.criteria.extend(unknown.map(|(_, criterion)| criterion));
        self.outline
    }

    fn is_verifying(&self) -> bool {
        self.part().is_some_and(|part| part != Part::Criteria)
    }

    /// Closes the items that do not contain an item of this depth.
    fn leave_items(&mut self, depth: usize) {
        let level = ITEM.saturating_add(u8::try_from(depth).unwrap_or(u8::MAX));
        self.leave(level);
    }

    fn leave(&mut self, level: u8) {
        while self.around.last().is_some_and(|(around, _)| *around >= level) {
            self.around.pop();
        }
    }

    /// Handles lines of text, some of which are used as headings.
    fn lines(&mut self, text: &str, first: u32, kind: Kind, next: Option<&Block>) {
        if text.is_empty() {
            return;
        }
        if kind == Kind::Paragraph {
            self.leave(ITEM);
        }
        self.in_boxes = false;
        self.manual = None;
        let numbered: Vec<(&str, u32)> = text.lines().zip(first..).collect();
        if self.part() != Some(Part::Criteria)
            && let Some(table) = Table::read(&numbered)
        {
            return self.table(&table);
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
        match block {
            Some(block) if self.part() == Some(Part::Criteria) => {
                self.outline.criteria.block(&block, next);
            }
            Some(block) => self.stray_text(&block, next),
            None => {}
        }
    }

    /// Handles a table outside of the criteria: its rows are criteria if a column has such a
    /// header, and commands within the verification.
    fn table(&mut self, table: &Table) {
        if table.names_criteria() {
            return self.outline.criteria.rows(table);
        }
        let Some(group) = self.group() else { return };
        for (row, _) in &table.rows {
            let whole = row.join(" ");
            let group = TestGroup::named(&whole.to_lowercase()).unwrap_or(group);
            let named = table.below(row, "command").unwrap_or_default();
            let codes = whole.split('`').skip(1).step_by(2).map(str::trim);
            let codes: Vec<&str> =
                codes.filter(|code| is_command(code) || named.contains(code)).collect();
            let expect = table.below(row, "expect").unwrap_or_default();
            let texts = match (codes.as_slice(), row.split_first()) {
                ([], Some((label, rest))) => vec![format!("{label}: {}", rest.join(" "))],
                ([], None) => Vec::new(),
                (codes, _) => codes.iter().map(|it| format!("``{it}`` - {expect}")).collect(),
            };
            let is_loose = self.is_loose();
            let items = texts.into_iter().map(|text| Item { text, depth: 0, is_loose });
            self.outline.verification.extend(items.map(|item| (group, item)));
        }
    }

    /// Handles text outside of the criteria, in which lines with an id and scenarios are criteria.
    fn stray_text(&mut self, block: &Block, next: Option<&Block>) {
        let lines: Vec<&str> = block.text.lines().collect();
        let first = lines.iter().position(|line| introduced_by_id(line).is_some());
        let first = first.or_else(|| {
            let may = self.group().is_none() && self.sections.may_hold_criteria();
            (may && (is_scenario(&block.text) || begins_scenario(&block.text))).then_some(0)
        });
        let Some(first) = first else { return };
        let above = u32::try_from(first).unwrap_or(u32::MAX);
        let line = block.line.saturating_add(above);
        if self.sections.is_other() || self.is_verifying() {
            for (text, line) in lines[first..].iter().zip(line..) {
                self.doubt(text, line);
            }
            return;
        }
        let block = Block { text: lines[first..].join("\n"), line, ..block.clone() };
        self.outline.criteria.block(&block, next);
    }

    /// Records a line with an id, which counts if no criterion has the id.
    fn doubt(&mut self, text: &str, line: u32) {
        if let Some(id) = introduced_by_id(text) {
            let criterion = Criterion { text: single_spaced(text), line: Some(line) };
            self.doubtful.push((id, criterion));
        }
    }

    /// Handles an item outside of the criteria, which may be a criterion by its form: a check box,
    /// an id, a scenario, or a claim that tests pass.
    fn stray_item(&mut self, block: &Block, next: Option<&Block>) {
        let Kind::Item { ticked, .. } = block.kind else { return };
        let has_form = || is_claim(&block.text) || is_scenario(&block.text);
        let is_boxed = ticked.is_some() || self.in_boxes;
        let is_known = self.sections.may_hold_criteria() && (is_boxed || has_form());
        self.in_boxes = is_boxed && self.sections.may_hold_criteria();
        let is_aside = self.sections.is_other() || self.is_verifying();
        if is_known || (split_id(&block.text).is_some() && !is_aside) {
            self.outline.criteria.block(block, next);
        } else {
            self.doubt(&block.text, block.line);
        }
    }

    /// Handles a heading, or a line that is used as one.
    fn titled(&mut self, said: &str, level: u8, line: u32) {
        let title = title_words(said);
        if level < ITEM {
            self.sections.enter(&title, level);
            self.in_boxes = false;
            self.manual = None;
        }
        if self.is_below_criteria(&title, level) {
            self.outline.criteria.heading(said, line);
            return;
        }
        let group = TestGroup::named(&title);
        let is_group_within = group.is_some() && self.is_verifying();
        let level = if level == BOLD && is_group_within { BOLD_GROUP } else { level };
        self.leave(level);
        let part = match (self.part(), group) {
            _ if names_criteria(&title) => Part::Criteria,
            _ if is_about_verification(&title) => Part::Verification,
            (
                Some(Part::Verification | Part::Testing | Part::Group(_) | Part::Aside),
                Some(group),
            ) => Part::Group(group),
            (None | Some(Part::Criteria), _) if self.is_about_tests(&title) => Part::Testing,
            (Some(Part::Testing), None) if is_about_tests(&title) => Part::Testing,
            (Some(Part::Verification | Part::Testing | Part::Group(_)), None) => Part::Aside,
            (Some(Part::Criteria | Part::Aside) | None, _) => {
                self.outline.criteria.end();
                return;
            }
        };
        self.outline.criteria.end();
        self.around.push((level, part));
        if let (Part::Testing, Some(group)) = (part, group) {
            self.around.push((level, Part::Group(group)));
        }
    }

    /// Returns true if a title is about tests, and not among remarks.
    fn is_about_tests(&self, title: &str) -> bool {
        is_about_tests(title) && !self.sections.is_other()
    }

    /// Returns true if a section around the next block may contain descriptions as well as
    /// commands.
    fn is_loose(&self) -> bool {
        self.around.iter().any(|(_, part)| *part == Part::Testing)
    }

    /// Returns true if a title is below the criteria and begins no other part: a deeper heading, or
    /// words in bold below a title in bold.
    fn is_below_criteria(&self, title: &str, level: u8) -> bool {
        let Some((around, Part::Criteria)) = self.around.last() else { return false };
        let is_other = names_criteria(title)
            || is_about_verification(title)
            || (level == BOLD && OTHER_SECTIONS.contains(&title));
        (level > *around || (level == BOLD && *around == BOLD)) && !is_other
    }

    /// Returns the title at the beginning of a line, and the text after it: words in bold, a line
    /// that announces criteria, or, within the verification, a group and a colon. Returns `None` if
    /// there is no title.
    fn title<'a>(&self, line: &'a str, is_alone: bool) -> Option<(&'a str, &'a str)> {
        let is_group = |label: &str| TestGroup::named(&title_words(label)).is_some();
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

    /// Splits a list item before the first title below it: in Markdown the title is part of the
    /// item, but authors do not mean that.
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

    /// Handles a line of text, which counts within the verification.
    fn say(&mut self, text: &str) {
        if let Some(group) = self.group().filter(|_| !text.is_empty()) {
            let item = Item { text: text.to_owned(), depth: 0, is_loose: self.is_loose() };
            self.outline.verification.push((group, item));
        }
    }

    /// Handles code within the verification: the lines of shell code are commands, and code in
    /// another language is not understood.
    fn code(&mut self, block: &Block) {
        let code = Fenced::of(&block.text);
        let Some(group) = self.group() else {
            if code.is_feature() && !self.sections.is_other() {
                self.outline.criteria.block(block, None);
            }
            return;
        };
        let commands = shell_commands(&code.text);
        let is_bare = code.language.is_empty() && commands.iter().all(|it| is_command(it));
        if !SHELLS.contains(&code.language.as_str()) && !is_bare {
            if self.is_loose() && !code.is_feature() {
                return;
            }
            let text = format!("code below Verification: {}", single_spaced(&code.text));
            self.outline.unread.push(Criterion { text, line: Some(block.line) });
            return;
        }
        for command in commands {
            let item = Item { text: format!("``{command}``"), depth: 0, is_loose: false };
            self.outline.verification.push((group, item));
        }
    }

    /// Returns the group around the next block; before the first group, verification is about unit
    /// tests. Returns `None` outside of the verification.
    fn group(&self) -> Option<TestGroup> {
        match self.part()? {
            Part::Verification | Part::Testing => Some(TestGroup::Unit),
            Part::Group(group) => Some(group),
            Part::Criteria | Part::Aside => None,
        }
    }

    fn item(&mut self, block: &Block, depth: usize, next: Option<&Block>) {
        let text = single_spaced(&block.text);
        if self.is_verifying()
            && let Some((label, _)) = label(&text)
            && TestGroup::named(&title_words(label)).is_some()
        {
            self.titled(label, BOLD, block.line);
        }
        if let Some(group) = self.group() {
            self.verifying_item(group, block, depth, next);
        } else if let Some((title, rest)) = item_title(&text) {
            let level = ITEM.saturating_add(u8::try_from(depth).unwrap_or(u8::MAX));
            self.titled(title, level, block.line);
            let said = Block { text: rest.to_owned(), ..block.clone() };
            self.criteria_block(Some(said).filter(|it| !it.text.is_empty()), next);
        } else if self.part() == Some(Part::Criteria) {
            self.outline.criteria.block(block, next);
        } else {
            self.stray_item(block, next);
        }
    }

    /// Handles an item within the verification. A label on a line below the item begins another
    /// item. An item without a statement about verification may be a criterion by its form.
    fn verifying_item(
        &mut self,
        group: TestGroup,
        block: &Block,
        depth: usize,
        next: Option<&Block>,
    ) {
        let is_loose = self.is_loose();
        let mut texts: Vec<String> = Vec::new();
        for line in block.text.lines() {
            match texts.last_mut().filter(|_| !is_label(line)) {
                Some(text) => {
                    text.push(' ');
                    text.push_str(line);
                }
                None => texts.push(line.to_owned()),
            }
        }
        let is_step = self.manual.is_some_and(|manual| depth > manual);
        if !is_step {
            self.manual = None;
        }
        for (nth, text) in texts.iter().enumerate() {
            let item = Item {
                text: single_spaced(text),
                depth: if nth == 0 { depth } else { 0 },
                is_loose,
            };
            if is_label(&item.text) {
                self.manual = Some(depth);
            } else if !is_step && nth == 0 && !says_something(&item) {
                self.stray_item(block, next);
            }
            self.outline.verification.push((group, item));
        }
    }
}

/// Returns the title and the rest of a plain line that announces criteria: short words before a
/// colon, or short words alone. Returns `None` for other lines.
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

/// Returns the commands among the lines of shell code. If any line begins with a prompt, lines
/// without one are output.
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

/// Returns the title and the rest of an item that announces the items below it as criteria; `None`
/// for other items.
fn item_title(text: &str) -> Option<(&str, &str)> {
    match label(text) {
        Some((title, rest)) => names_criteria(title).then_some((title, rest)),
        None => plain_title(text, true),
    }
}

/// Returns the words of a title in lower case, without marks around them.
fn title_words(title: &str) -> String {
    compared(title).trim_matches(['*', '_', ':', ' ', '`']).to_owned()
}

/// Returns true if a title is about the verification of the whole spec, and not about verifying an
/// e-mail address.
fn is_about_verification(title: &str) -> bool {
    let mut words = title.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let usual = [
        "verification", "strategy", "steps", "plan", "commands", "test", "tests", "testing",
        "checks", "qa", "and", "feature",
    ];
    title.contains("verification") && words.all(|word| usual.contains(&word))
}

/// Returns true if a title is about tests, in usual words other than *verification*.
fn is_about_tests(title: &str) -> bool {
    let words: Vec<&str> =
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let usual = [
        "test", "tests", "testing", "verify", "validation", "validate", "qa", "plan", "strategy",
        "steps", "commands", "approach", "instructions", "how", "to", "the", "and", "manual",
        "automated", "unit", "integration", "e2e", "end", "run", "running", "checks", "quality",
        "assurance", "it", "this", "unittests",
    ];
    let about = ["test", "tests", "testing", "verify", "validation", "validate", "qa", "unittests"];
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    words.iter().any(|word| about.contains(word))
        && words.iter().all(|word| usual.contains(word) || is_number(word))
}
