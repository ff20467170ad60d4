//! One way through the blocks of a plan, with what is announced kept in mind: [`fill`].

use super::super::names::Unit;
use super::super::reasons::is_nothing;
use super::super::{Criterion, Plan, PlannedDiff, paths};
use super::assumed;
use super::blocks::{Block, Kind};
use super::gathered::{Gathered, Mention};
use super::labels::{self, Label, Topic};
use super::outline::Section;
use super::tables;

/// How deep a label in a paragraph is: deeper than all headings.
const IN_TEXT: u32 = 10;

/// How deep a label in an item is, before the depth of its list.
const IN_LIST: u32 = 20;

/// Fills a plan whose milestones are known.
pub(super) fn fill(plan: &mut Plan, blocks: &[Block], sections: &[Section]) {
    let unit = sections.first().map_or(Unit::Milestone, |section| section.unit);
    let gathered = Gathered::new(plan, unit);
    let mut walk = Walk { gathered, home: None, announced: Vec::new() };
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
    walk.gathered.finish();
}

/// Something that was announced and holds for what follows.
struct Announced {
    topic: Topic,
    level: u32,
    /// How deep the items are that count; what is deeper belongs to them.
    base: Option<u32>,
    /// The paragraphs, which count if there are no items.
    paragraphs: Vec<(String, u32)>,
    has_items: bool,
    /// The milestone that it is about.
    milestone: Option<usize>,
}

struct Walk<'a> {
    gathered: Gathered<'a>,
    /// The milestone around the block.
    home: Option<usize>,
    announced: Vec<Announced>,
}

impl Walk<'_> {
    fn enter(&mut self, milestone: usize, heading: &Block) {
        self.close(0);
        self.gathered.end_decision();
        self.home = Some(milestone);
        let text = heading.text();
        if let Some(at) = text.to_ascii_lowercase().find("depends on ") {
            self.gathered.needs(Some(milestone), &text[at..]);
        }
        for line in &heading.lines {
            self.mentions(&line.text);
        }
    }

    fn block(&mut self, block: &Block, next: Option<&Block>) {
        match &block.kind {
            Kind::Heading(level) => self.heading(u32::from(*level), block, next),
            Kind::Paragraph => self.paragraph(block),
            Kind::Item { depth, has_items } => self.item(*depth, *has_items, block, next),
            Kind::Table { header, rows } => self.table(header, rows),
            Kind::Code { info, text, text_line } => self.code(info, text, *text_line),
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
                self.gathered.mention(home, Mention { path, is_new, is_old });
            }
        }
    }

    fn top(&self) -> Topic {
        self.announced.last().map_or(Topic::Other, |announced| announced.topic)
    }

    fn heading(&mut self, level: u32, block: &Block, next: Option<&Block>) {
        self.close(level);
        let text = block.text();
        if self.gathered.heads_a_part_of_the_decision(level, &text) {
            return;
        }
        self.gathered.end_decision();
        let is_in_the_log = self.top() == Topic::Decisions;
        let topic = match is_in_the_log {
            true => labels::topic(&text),
            false => labels::topic_of_heading(&text),
        };
        if self.gathered.opens_a_decision(&text, is_in_the_log)
            || (is_in_the_log && topic.is_none() && !is_unlabelled_list(next))
        {
            self.gathered.open_decision(&text, block.line, Some(level));
        } else if let Some(topic) = topic {
            self.announce(topic, level, &text);
        } else if labels::is_of_a_decision(&text) {
            match next.map(|block| &block.kind) {
                Some(Kind::Item { .. } | Kind::Table { .. }) => {
                    self.announce(Topic::Decisions, level, &text);
                }
                _ => self.gathered.open_decision("", block.line, Some(level)),
            }
        } else if self.is_aside(&text) {
            self.announce(Topic::Other, level, "");
        }
    }

    /// Says whether nothing is read from what a heading of no known meaning announces here.
    fn is_aside(&self, heading: &str) -> bool {
        match self.top() {
            Topic::Other => true,
            Topic::Mixed { .. } => assumed::is_beside(heading),
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
        let named = is_of_one.then(|| self.gathered.milestone_named_in(name)).flatten();
        self.announced.push(Announced {
            topic,
            level,
            base: None,
            paragraphs: Vec::new(),
            has_items: false,
            milestone: named.or(self.home),
        });
    }

    /// Ends all that was announced so deep or deeper.
    fn close(&mut self, level: u32) {
        while let Some(ended) = self.announced.pop_if(|announced| announced.level >= level) {
            let alone = ended.paragraphs.into_iter().filter(|_| !ended.has_items);
            match ended.topic {
                Topic::Criteria => {
                    alone.for_each(|(text, line)| {
                        self.gathered.criterion(ended.milestone, Criterion { text, line });
                    });
                }
                Topic::Assumptions => {
                    self.gathered.end_assumption();
                    alone.for_each(|(text, line)| self.gathered.assumption(&text, line));
                    self.gathered.end_assumption();
                }
                Topic::Mixed { .. } => self.gathered.end_assumption(),
                Topic::Decisions => self.gathered.end_decision(),
                Topic::Files { .. } | Topic::Tests | Topic::Needs | Topic::Other => {}
            }
        }
    }

    fn paragraph(&mut self, block: &Block) {
        self.close(IN_LIST);
        let mut said = (String::new(), block.line);
        for line in &block.lines {
            let label = labels::label(line).filter(|_| !self.gathered.has_a_headed_decision());
            let opens = self.gathered.opens_a_decision(&line.text, self.top() == Topic::Decisions);
            if label.is_some() || opens || self.gathered.has_a_headed_decision() {
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

    /// A short line with a colon after a list opens something else; before it, it leads to it.
    fn ends_the_list(&self, text: &str) -> bool {
        let top = self.announced.last();
        let has_had_its_list = top.is_some_and(|top| top.level == IN_TEXT && top.has_items);
        has_had_its_list && text.trim_end().ends_with(':') && text.split(' ').count() <= 5
    }

    /// Below a heading that announces criteria, a bold word of no known meaning groups them.
    fn announce_in_text(&mut self, label: &Label, name: &str) {
        self.close(IN_TEXT);
        match label.topic {
            Some(topic) => self.announce(topic, IN_TEXT, name),
            None if self.is_aside(name) => self.announce(Topic::Other, IN_TEXT, ""),
            None => {}
        }
    }

    /// Takes text that stands in no list.
    fn say(&mut self, text: &str, line: u32) {
        let text = text.trim();
        if text.is_empty() || self.gathered.adds_to_the_decision(text, None) {
            return;
        }
        let top = self.top();
        if self.gathered.opens_a_decision(text, top == Topic::Decisions) {
            return self.gathered.open_decision(text, line, None);
        }
        if self.gathered.opens_an_assumption(text) {
            self.gathered.assumption(text, line);
            return self.gathered.end_assumption();
        }
        let Some(announced) = self.announced.last_mut() else { return };
        match top {
            Topic::Criteria | Topic::Assumptions if !text.ends_with(':') && !is_nothing(text) => {
                announced.paragraphs.push((text.to_owned(), line));
            }
            Topic::Files { .. } | Topic::Tests | Topic::Needs => self.entry(text, None),
            Topic::Mixed { .. } if assumed::says_so(text) => self.gathered.assumption(text, line),
            Topic::Criteria
            | Topic::Assumptions
            | Topic::Mixed { .. }
            | Topic::Decisions
            | Topic::Other => {}
        }
    }

    fn item(&mut self, depth: u32, has_items: bool, block: &Block, next: Option<&Block>) {
        self.close(IN_LIST + depth);
        let text = block.text();
        if text.is_empty() || self.gathered.adds_to_the_decision(&text, Some(depth)) {
            return;
        }
        let is_group = has_items && text.ends_with(':') && !self.gathered.is_reason_next(next);
        match self.top() {
            Topic::Criteria => self.criterion(&text, block.line, is_group),
            Topic::Assumptions if is_group && !self.is_within(depth) => {}
            Topic::Assumptions if self.is_within(depth) => self.gathered.add_to_assumption(&text),
            Topic::Assumptions => {
                self.count(depth);
                self.gathered.assumption(&text, block.line);
            }
            Topic::Mixed { .. } if is_group && !self.is_within(depth) => {
                let topic = if assumed::says_so(&text) { Topic::Assumptions } else { Topic::Other };
                self.announce(topic, IN_LIST + depth, "");
            }
            Topic::Mixed { .. } if self.is_within(depth) => self.gathered.add_to_assumption(&text),
            Topic::Mixed { has_risks } => {
                self.count(depth);
                self.gathered.end_assumption();
                match assumed::is_one(&text, has_risks) {
                    true => self.gathered.assumption(&text, block.line),
                    false => self.item_of_its_own(depth, block, &text),
                }
            }
            Topic::Decisions if is_group => {}
            Topic::Decisions => {
                self.count(depth);
                self.gathered.open_decision_of_an_item(depth, block, &text);
            }
            Topic::Files { .. } | Topic::Tests | Topic::Needs | Topic::Other => {
                self.item_of_its_own(depth, block, &text);
            }
        }
    }

    /// Takes an item where no list of something was announced, or one of files and the like.
    fn item_of_its_own(&mut self, depth: u32, block: &Block, text: &str) {
        let label = block.lines.first().and_then(labels::label);
        let known = label.and_then(|label| Some((label.topic?, label.rest)));
        if let Some((topic, rest)) = known.filter(|(topic, _)| *topic != Topic::Other) {
            self.announce(topic, IN_LIST + depth, "");
            let more: Vec<&str> = block.lines.iter().skip(1).map(|line| line.text.trim()).collect();
            self.say(&format!("{rest} {}", more.join(" ")), block.line);
        } else if self.gathered.opens_a_decision(text, false) {
            self.gathered.open_decision_of_an_item(depth, block, text);
        } else if self.gathered.opens_an_assumption(text) {
            self.gathered.assumption(text, block.line);
            self.gathered.end_assumption();
        } else {
            self.entry(text, Some(depth));
        }
    }

    /// Says whether an item of this depth belongs to the one before it.
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
        if is_group || is_nothing(text) {
            return;
        }
        top.has_items = true;
        let criterion = Criterion { text: text.to_owned(), line };
        match top.milestone {
            Some(milestone) => self.gathered.criterion(Some(milestone), criterion),
            None => self.gathered.criterion_of_a_named_one(criterion),
        }
    }

    /// Takes an entry of a list of files, tests or milestones.
    fn entry(&mut self, text: &str, depth: Option<u32>) {
        if depth.is_some_and(|depth| self.is_within(depth)) {
            return;
        }
        let Some(top) = self.announced.last_mut() else { return };
        top.has_items = true;
        match top.topic {
            Topic::Files { are_new } => {
                let has_some = self.gathered.files(top.milestone, text, are_new);
                if has_some {
                    top.base = top.base.or(depth);
                } else if depth.is_some() {
                    // An item such as `Create:` with the files below it.
                    top.topic = Topic::Files { are_new: paths::says_new(text) };
                }
            }
            Topic::Tests => self.gathered.test(top.milestone, text),
            Topic::Needs => self.gathered.needs(top.milestone, text),
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
            self.gathered.decisions(tables::decisions(header, rows));
        } else if top == Topic::Assumptions || tables::is_of_assumptions(header) {
            self.gathered.assumptions(tables::assumptions(header, rows));
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

    fn code(&mut self, info: &str, text: &str, line: u32) {
        let language = info.split([' ', ',', '{']).next().unwrap_or("").to_ascii_lowercase();
        if language == "diff" || language == "patch" || (info.is_empty() && is_diff(text)) {
            self.gathered.diff(self.home, PlannedDiff { text: text.to_owned(), line });
        } else if self.top() == Topic::Criteria && language == "gherkin" {
            for (at, row) in
                text.lines().enumerate().filter(|(_, row)| row.trim().starts_with("Scenario"))
            {
                let line = line.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
                self.criterion(row.trim(), line, false);
            }
        }
    }
}

/// Says whether a list or a table follows that is not the text of one decision.
fn is_unlabelled_list(next: Option<&Block>) -> bool {
    next.is_some_and(|block| match block.kind {
        Kind::Table { .. } => true,
        Kind::Item { .. } => !block.lines.first().is_some_and(|line| line.text.contains(':')),
        Kind::Heading(_) => true,
        Kind::Paragraph | Kind::Code { .. } => false,
    })
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
