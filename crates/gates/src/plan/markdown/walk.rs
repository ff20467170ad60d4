//! Goes through the blocks of a plan once, tracking the announced topics: [`fill`].

use super::super::names::{self, Unit};
use super::super::reasons::is_nothing;
use super::super::{Criterion, Plan, PlannedDiff, UnreadKind, paths};
use super::assumptions;
use super::blocks::{Block, Kind, Line};
use super::folding::folded;
use super::html::{self, HtmlLine};
use super::labels::{self, Label, Topic};
use super::outline::Section;
use super::plan_builder::{Mention, PlanBuilder};
use super::tables;
use crate::claim::is_claim;

/// The level of a label in a paragraph: deeper than all headings.
const IN_TEXT: u32 = 10;

/// The level of a label in a list item, to which the depth of its list is added.
const IN_LIST: u32 = 20;

/// Fills a plan whose milestones are known.
pub(super) fn fill(plan: &mut Plan, blocks: &[Block], sections: &[Section]) {
    let unit = sections.first().map_or(Unit::Milestone, |section| section.unit);
    let builder = PlanBuilder::new(plan, unit);
    let mut walk = Walk { builder, home: None, announced: Vec::new(), is_leading: false };
    let mut next = 0;
    for (at, block) in blocks.iter().enumerate() {
        if sections.get(next).is_some_and(|section| section.from == at) {
            walk.enter(next, block);
            next += 1;
            continue;
        }
        let around = sections.get(next.wrapping_sub(1)).filter(|section| at < section.to);
        walk.home = around.map(|_| next - 1);
        walk.block(block, blocks.get(at + 1));
    }
    walk.close(0);
    walk.builder.finish();
}

/// A topic that was announced for the blocks that follow.
struct OpenTopic {
    topic: Topic,
    level: u32,
    /// The depth of the items that count; deeper ones belong to them. `None` before the first item.
    base: Option<u32>,
    /// The paragraphs of assumptions, which count if there are no items.
    paragraphs: Vec<(String, u32)>,
    has_items: bool,
    /// The milestone of the topic; `None` outside of all milestones.
    milestone: Option<usize>,
}

struct Walk<'a> {
    builder: PlanBuilder<'a>,
    /// The milestone around the block; `None` outside of all milestones.
    home: Option<usize>,
    announced: Vec<OpenTopic>,
    /// True if a list, a table or a similar block follows the paragraph.
    is_leading: bool,
}

impl Walk<'_> {
    fn enter(&mut self, milestone: usize, heading: &Block) {
        self.close(0);
        self.builder.end_decision();
        self.home = Some(milestone);
        let text = heading.text();
        if let Some(at) = text.to_ascii_lowercase().find("depends on ") {
            self.builder.needs(Some(milestone), &text[at..]);
        }
        for line in &heading.lines {
            self.mentions(&line.text);
        }
    }

    fn block(&mut self, block: &Block, next: Option<&Block>) {
        match &block.kind {
            Kind::Heading(level) => self.heading(u32::from(*level), block, next),
            Kind::Paragraph => {
                self.is_leading = next.is_some_and(is_listing);
                self.paragraph(block);
            }
            Kind::Item { depth, has_items } => self.item(*depth, *has_items, block, next),
            Kind::Table { header, rows } => self.table(header, rows),
            Kind::Code { info, text, text_line, in_item } => {
                self.code(info, text, *text_line, *in_item);
            }
            Kind::Quote { in_item } => return self.quote(block, *in_item),
            Kind::Html { text } => return self.html(text, block.line),
        }
        for line in &block.lines {
            self.mentions(&line.text);
        }
    }

    fn mentions(&mut self, line: &str) {
        let Some(home) = self.home else { return };
        for clause in paths::clauses(line).filter(|clause| clause.contains('`')) {
            let (is_new, is_old) = (paths::says_new(clause), paths::says_old(clause));
            for path in paths::spans(clause).filter_map(paths::in_code) {
                self.builder.mention(home, Mention { path, is_new, is_old });
            }
        }
    }

    fn top(&self) -> Topic {
        self.announced.last().map_or(Topic::Other, |announced| announced.topic)
    }

    fn heading(&mut self, level: u32, block: &Block, next: Option<&Block>) {
        self.close(level);
        let text = block.text();
        if self.builder.heads_a_part_of_the_decision(level, &text) {
            return;
        }
        self.builder.end_decision();
        let is_in_the_log = self.top() == Topic::Decisions;
        let topic = match is_in_the_log {
            true => labels::topic(&text),
            false => labels::topic_of_heading(&text),
        };
        let topic = self.within_criteria(topic).or_else(|| {
            let is_inside = self.home.is_some() && !is_in_the_log;
            let announces = is_inside && labels::announces_criteria_of_a_milestone(&text);
            announces.then_some(Topic::Criteria)
        });
        if self.builder.opens_a_decision(&text, is_in_the_log)
            || (is_in_the_log && topic.is_none() && !is_unlabelled_list(next))
        {
            self.builder.open_decision(&text, block.line, Some(level));
        } else if let Some(topic) = topic {
            self.announce(topic, level, &text);
        } else if labels::is_of_a_decision(&text) {
            match next.map(|block| &block.kind) {
                Some(Kind::Item { .. } | Kind::Table { .. }) => {
                    self.announce(Topic::Decisions, level, &text);
                }
                _ => self.builder.open_decision("", block.line, Some(level)),
            }
        } else if self.is_aside(&text) {
            self.announce(Topic::Other, level, "");
        }
    }

    /// Returns the topic, or `None` if nothing would be read below it and criteria are announced
    /// around it: text below criteria belongs to them.
    fn within_criteria(&self, topic: Option<Topic>) -> Option<Topic> {
        let is_dropped = matches!(topic, Some(Topic::Other | Topic::Mixed { .. }));
        topic.filter(|_| !is_dropped || self.top() != Topic::Criteria)
    }

    /// Returns true if nothing is read below a heading without a known topic here.
    fn is_aside(&self, heading: &str) -> bool {
        match self.top() {
            Topic::Other => true,
            Topic::Mixed { .. } => assumptions::allows_other_topics(heading),
            Topic::Criteria
            | Topic::Files { .. }
            | Topic::Tests
            | Topic::Needs
            | Topic::Decisions
            | Topic::Assumptions => false,
        }
    }

    fn announce(&mut self, topic: Topic, level: u32, name: &str) {
        self.close(level);
        let is_of_one = topic == Topic::Criteria;
        let named = is_of_one.then(|| self.builder.milestone_named_in(name)).flatten();
        self.announced.push(OpenTopic {
            topic,
            level,
            base: None,
            paragraphs: Vec::new(),
            has_items: false,
            milestone: named.or(self.home),
        });
    }

    /// Closes all topics at this level or deeper.
    fn close(&mut self, level: u32) {
        while let Some(ended) = self.announced.pop_if(|announced| announced.level >= level) {
            let alone = ended.paragraphs.into_iter().filter(|_| !ended.has_items);
            match ended.topic {
                Topic::Assumptions => {
                    self.builder.end_assumption();
                    alone.for_each(|(text, line)| self.builder.assumption(&text, line));
                    self.builder.end_assumption();
                }
                Topic::Mixed { .. } => self.builder.end_assumption(),
                Topic::Decisions => self.builder.end_decision(),
                Topic::Criteria
                | Topic::Files { .. }
                | Topic::Tests
                | Topic::Needs
                | Topic::Other => {}
            }
        }
    }

    fn paragraph(&mut self, block: &Block) {
        self.close(IN_LIST);
        let mut said = (String::new(), block.line);
        for line in &block.lines {
            let label = labels::label(line).filter(|_| !self.builder.has_a_headed_decision());
            let opens = self.builder.opens_a_decision(&line.text, self.top() == Topic::Decisions);
            if label.is_some() || opens || self.builder.has_a_headed_decision() {
                self.say(&std::mem::take(&mut said.0), said.1);
                said.1 = line.number;
            }
            match label {
                Some(label) if !opens => {
                    self.announce_in_text(&label, &line.text);
                    said.0 = label.rest;
                }
                _ => append(&mut said.0, &line.text),
            }
        }
        if self.ends_the_list(&said.0) {
            self.close(IN_TEXT);
        }
        self.say(&said.0, said.1);
    }

    /// Returns true if a text ends the list before it: a short line with a colon after a list
    /// begins another topic; before a list it introduces the list.
    fn ends_the_list(&self, text: &str) -> bool {
        let top = self.announced.last();
        let has_had_its_list = top.is_some_and(|top| top.level == IN_TEXT && top.has_items);
        has_had_its_list && text.trim_end().ends_with(':') && text.split(' ').count() <= 5
    }

    /// Announces the topic of a label in text. Below a heading that announces criteria, a bold word
    /// without a known topic groups them.
    fn announce_in_text(&mut self, label: &Label, name: &str) {
        self.close(IN_TEXT);
        match self.within_criteria(label.topic) {
            Some(topic) => self.announce(topic, IN_TEXT, name),
            None if self.is_aside(name) => self.announce(Topic::Other, IN_TEXT, ""),
            None => {}
        }
    }

    /// Handles text outside of lists.
    fn say(&mut self, text: &str, line: u32) {
        let text = text.trim();
        if text.is_empty() || self.builder.adds_to_the_decision(text, None) {
            return;
        }
        let top = self.top();
        if self.builder.opens_a_decision(text, top == Topic::Decisions) {
            return self.builder.open_decision(text, line, None);
        }
        if self.builder.opens_an_assumption(text) {
            self.builder.assumption(text, line);
            return self.builder.end_assumption();
        }
        let Some(announced) = self.announced.last_mut() else { return };
        match top {
            Topic::Criteria => self.sentence(text, line),
            Topic::Assumptions if !text.ends_with(':') && !is_nothing(text) => {
                announced.paragraphs.push((text.to_owned(), line));
            }
            Topic::Files { .. } | Topic::Tests | Topic::Needs => self.entry(text, None),
            Topic::Mixed { .. } if assumptions::says_so(text) => {
                self.builder.assumption(text, line)
            }
            Topic::Assumptions | Topic::Mixed { .. } | Topic::Decisions | Topic::Other => {}
        }
    }

    /// Handles a sentence below a criteria label. A sentence that introduces a list is no
    /// criterion. After the list of a label, a sentence counts only if it reads like a criterion:
    /// the text may have another topic by then.
    fn sentence(&mut self, text: &str, line: u32) {
        let is_behind = self.is_behind_a_labelled_list() && !reads_like_a_criterion(text);
        let Some(top) = self.announced.last() else { return };
        let is_lead = self.is_leading && leads_to_a_list(text);
        if (is_lead && !is_claim(text)) || is_behind || is_nothing(text) {
            return;
        }
        let criterion = Criterion { text: text.to_owned(), line };
        self.builder.criterion(top.milestone, criterion);
    }

    /// Returns true if a list of criteria came after a label, and not after a heading.
    fn is_behind_a_labelled_list(&self) -> bool {
        self.announced.last().is_some_and(|top| top.level >= IN_TEXT && top.has_items)
    }

    fn quote(&mut self, block: &Block, in_item: bool) {
        if self.top() != Topic::Criteria {
            return;
        }
        let is_behind = self.is_behind_a_labelled_list();
        // A paragraph that an item quotes is an example of the item.
        let counts = |line: &&Line| {
            let is_sentence = !in_item && (!is_behind || reads_like_a_criterion(&line.text));
            line.is_item || is_sentence
        };
        for line in block.lines.iter().filter(counts) {
            self.criterion(&unmarked(&line.text), line.number, false);
        }
    }

    fn html(&mut self, html: &str, first: u32) {
        for HtmlLine { text, is_heading, offset } in html::lines(html) {
            let number = first.saturating_add(offset);
            let line = Line { text: text.clone(), number, ..Line::default() };
            let named = names::of_heading(&text).filter(|_| is_heading);
            if named.is_some_and(|named| named.unit <= Unit::Phase) {
                self.builder.unread(&text, number, UnreadKind::Milestone);
            } else if let Some(label) = labels::label(&line) {
                self.announce_in_text(&label, &text);
                self.say(&label.rest, number);
            } else if is_heading {
                self.close(IN_TEXT);
                let topic = self.within_criteria(labels::topic_of_heading(&text));
                topic.into_iter().for_each(|topic| self.announce(topic, IN_TEXT, &text));
            } else if self.top() == Topic::Criteria {
                self.criterion(&text, number, false);
            }
        }
    }

    fn item(&mut self, depth: u32, has_items: bool, block: &Block, next: Option<&Block>) {
        self.close(IN_LIST + depth);
        let text = block.text();
        if text.is_empty() || self.builder.adds_to_the_decision(&text, Some(depth)) {
            return;
        }
        let is_group = has_items && text.ends_with(':') && !self.builder.is_reason_next(next);
        match self.top() {
            Topic::Criteria => self.criterion(&text, block.line, is_group),
            Topic::Assumptions if is_group && !self.is_within(depth) => {}
            Topic::Assumptions if self.is_within(depth) => self.builder.add_to_assumption(&text),
            Topic::Assumptions => {
                self.count(depth);
                self.builder.assumption(&text, block.line);
            }
            Topic::Mixed { .. } if is_group && !self.is_within(depth) => {
                let topic =
                    if assumptions::says_so(&text) { Topic::Assumptions } else { Topic::Other };
                self.announce(topic, IN_LIST + depth, "");
            }
            Topic::Mixed { .. } if self.is_within(depth) => self.builder.add_to_assumption(&text),
            Topic::Mixed { has_risks } => {
                self.count(depth);
                self.builder.end_assumption();
                match assumptions::is_assumption(&text, has_risks) {
                    true => self.builder.assumption(&text, block.line),
                    false => self.item_of_its_own(depth, block, &text),
                }
            }
            Topic::Decisions if is_group => {}
            Topic::Decisions => {
                self.count(depth);
                self.builder.open_decision_of_an_item(depth, block, &text);
            }
            Topic::Files { .. } | Topic::Tests | Topic::Needs | Topic::Other => {
                self.item_of_its_own(depth, block, &text);
            }
        }
    }

    /// Handles an item that has no announced topic, or that of files, tests or dependencies.
    fn item_of_its_own(&mut self, depth: u32, block: &Block, text: &str) {
        let label = block.lines.first().and_then(labels::label);
        let known = label.and_then(|label| Some((label.topic?, label.rest)));
        if let Some((topic, rest)) = known.filter(|(topic, _)| *topic != Topic::Other) {
            self.announce(topic, IN_LIST + depth, "");
            let more: Vec<&str> = block.lines.iter().skip(1).map(|line| line.text.trim()).collect();
            self.say(&format!("{rest} {}", more.join(" ")), block.line);
        } else if self.builder.opens_a_decision(text, false) {
            self.builder.open_decision_of_an_item(depth, block, text);
        } else if self.builder.opens_an_assumption(text) {
            self.builder.assumption(text, block.line);
            self.builder.end_assumption();
        } else {
            self.entry(text, Some(depth));
        }
    }

    /// Returns true if an item of this depth belongs to the one before it.
    fn is_within(&self, depth: u32) -> bool {
        self.announced.last().and_then(|top| top.base).is_some_and(|base| depth > base)
    }

    fn count(&mut self, depth: u32) {
        if let Some(top) = self.announced.last_mut() {
            top.base.get_or_insert(depth);
            top.has_items = true;
        }
    }

    fn criterion(&mut self, text: &str, line: u32, is_group: bool) {
        let Some(top) = self.announced.last_mut() else { return };
        if (is_group && !is_claim(text)) || is_nothing(text) {
            return;
        }
        top.has_items = true;
        let criterion = Criterion { text: text.to_owned(), line };
        self.builder.criterion(top.milestone, criterion);
    }

    /// Handles an entry in a list of files, tests or dependencies.
    fn entry(&mut self, text: &str, depth: Option<u32>) {
        if depth.is_some_and(|depth| self.is_within(depth)) {
            return;
        }
        let Some(top) = self.announced.last_mut() else { return };
        top.has_items = true;
        match top.topic {
            Topic::Files { are_new } => {
                let has_some = self.builder.files(top.milestone, text, are_new);
                if has_some {
                    top.base = top.base.or(depth);
                } else if depth.is_some() {
                    // An item such as `Create:` with the files below it.
                    top.topic = Topic::Files { are_new: paths::says_new(text) };
                }
            }
            Topic::Tests => self.builder.test(top.milestone, text),
            Topic::Needs => self.builder.needs(top.milestone, text),
            Topic::Criteria
            | Topic::Decisions
            | Topic::Assumptions
            | Topic::Mixed { .. }
            | Topic::Other => {}
        }
    }

    fn table(&mut self, header: &[String], rows: &tables::Rows) {
        self.close(IN_LIST);
        let top = self.top();
        if top == Topic::Decisions || tables::is_of_decisions(header) {
            self.builder.decisions(tables::decisions(header, rows));
        } else if top == Topic::Assumptions || tables::is_of_assumptions(header) {
            self.builder.assumptions(tables::assumptions(header, rows));
        } else {
            for (text, line) in tables::as_text(rows) {
                match top {
                    Topic::Criteria => self.criterion(&text, line, false),
                    _ => self.entry(&text, None),
                }
                self.mentions(&text);
            }
        }
        if let Some(top) = self.announced.last_mut() {
            top.has_items = true;
        }
    }

    fn code(&mut self, info: &str, text: &str, line: u32, in_item: bool) {
        let language = info.split([' ', ',', '{']).next().unwrap_or("").to_ascii_lowercase();
        if language == "diff" || language == "patch" || (info.is_empty() && is_diff(text)) {
            self.builder.diff(self.home, PlannedDiff { text: text.to_owned(), line });
        } else if self.top() == Topic::Criteria {
            let is_behind = self.is_behind_a_labelled_list();
            let is_prose = ["", "text", "txt", "md", "markdown"].contains(&language.as_str());
            let is_assumption = |row: &str| match language.as_str() {
                "gherkin" => row.starts_with("Scenario"),
                // An example of an item is code or output; a list is neither.
                _ => {
                    let is_sentence = is_prose && !in_item && !row.is_empty();
                    is_marked(row) || (is_sentence && (!is_behind || reads_like_a_criterion(row)))
                }
            };
            for (at, row) in text.lines().enumerate().filter(|(_, row)| is_assumption(row.trim())) {
                let line = line.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
                self.criterion(&unmarked(row), line, false);
            }
        }
    }
}

/// Returns true if the next block is a list, a table or a heading that is not the text of one
/// decision.
fn is_unlabelled_list(next: Option<&Block>) -> bool {
    next.is_some_and(|block| match block.kind {
        Kind::Table { .. } => true,
        Kind::Item { .. } => !block.lines.first().is_some_and(|line| line.text.contains(':')),
        Kind::Heading(_) => true,
        Kind::Paragraph | Kind::Code { .. } | Kind::Quote { .. } | Kind::Html { .. } => false,
    })
}

/// Returns true if a block is a list, a table, or another block that a sentence may introduce.
fn is_listing(block: &Block) -> bool {
    match block.kind {
        Kind::Item { .. } | Kind::Table { .. } | Kind::Code { .. } | Kind::Quote { .. } => true,
        Kind::Html { .. } => true,
        Kind::Heading(_) | Kind::Paragraph => false,
    }
}

/// Returns true if a sentence announces a list: `All of the following hold.`
fn leads_to_a_list(text: &str) -> bool {
    let words = folded(text);
    let leads = ["following", "these", "below", "when", "if"];
    text.ends_with(':')
        || (!text.contains('`') && words.split(' ').any(|word| leads.contains(&word)))
}

/// Returns true if a sentence reads like a criterion: it expresses a demand, or names something in
/// code.
fn reads_like_a_criterion(text: &str) -> bool {
    let words = folded(text);
    let asks = |word: &str| ["must", "shall", "should"].contains(&word);
    text.contains('`') || words.split(' ').any(asks)
}

/// Returns true if a line begins with a list mark.
fn is_marked(line: &str) -> bool {
    unmarked(line) != line.trim()
}

/// Returns a line without its list mark and check box.
fn unmarked(line: &str) -> String {
    let line = line.trim().trim_start_matches('>').trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match number.len() < line.len() {
        true => number.strip_prefix(['.', ')']),
        false => line.strip_prefix(['-', '*', '+', '•']),
    };
    let rest = rest.and_then(|rest| rest.strip_prefix([' ', '\t'])).unwrap_or(line).trim_start();
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| rest.strip_prefix(mark));
    boxed.unwrap_or(rest).trim().to_owned()
}

fn is_diff(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or("");
    let second = lines.next().unwrap_or("");
    first.starts_with("diff --git ") || (first.starts_with("--- ") && second.starts_with("+++ "))
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more.trim());
}
