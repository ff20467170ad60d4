//! Finds the headings and bold lines that are milestones, and those that only look like one:
//! [`outline`].

use super::super::names::{self, Unit};
use super::blocks::{Block, Kind};
use super::folding::folded;
use super::labels::{self, Topic};

/// A milestone among the blocks: from its heading up to the next block on its level.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) unit: Unit,
    pub(super) id: String,
    pub(super) title: String,
    /// The index of its heading.
    pub(super) from: usize,
    /// The index of the first block after it.
    pub(super) to: usize,
}

/// A heading that may be that of a milestone.
#[derive(Clone)]
struct Candidate {
    unit: Unit,
    id: Option<String>,
    title: String,
    block: usize,
    level: u8,
}

impl Candidate {
    /// Returns the number of the id; `None` if there is none.
    fn number(&self) -> Option<u32> {
        self.id.as_deref()?.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    }
}

/// The level of a bold line on its own.
const BOLD: u8 = 7;

/// The level of a list item.
const ITEM: u8 = 8;

/// Headings below `Milestones` that are no milestones.
const ASIDES: [&str; 10] = [
    "overview", "summary", "notes", "dependencies", "dependency graph", "timeline", "introduction",
    "milestone dependencies", "order", "sequence",
];

/// The milestones of a plan.
#[derive(Debug)]
pub(super) struct Outline {
    /// The milestones that are read, in order.
    pub(super) sections: Vec<Section>,
    /// The indices of the blocks that look like a milestone, phase or step, but are not read and
    /// are no part of one, in order.
    pub(super) unread: Vec<usize>,
}

/// Finds the milestones of a plan.
pub(super) fn outline(blocks: &[Block]) -> Outline {
    let headed = named(blocks, heading);
    let bold = named(blocks, bold);
    let chosen = chosen(blocks, &headed, &bold);
    let mut others: Vec<Candidate> = headed;
    others.extend(bold);
    others.extend(numbered(blocks));
    others.retain(|one| chosen.iter().all(|candidate| candidate.block != one.block));
    others.sort_by_key(|candidate| candidate.block);
    others.dedup_by_key(|candidate| candidate.block);
    let (found, mut unread) = place(blocks, chosen, others);
    let sections = sections(blocks, found);
    unread.extend(unnamed(blocks, &sections));
    unread.extend(mentioned(blocks, &sections));
    unread.sort_unstable();
    unread.dedup();
    Outline { sections, unread }
}

/// Returns the candidates of the kind that the plan uses, with the most important unit.
fn chosen(blocks: &[Block], headed: &[Candidate], bold: &[Candidate]) -> Vec<Candidate> {
    let mut found = headed.to_vec();
    let titled = below_a_title(blocks);
    let unit = |candidates: &[Candidate]| candidates.iter().map(|candidate| candidate.unit).min();
    let are_the_same = titled
        .iter()
        .any(|one| found.binary_search_by_key(&one.block, |candidate| candidate.block).is_ok());
    if !titled.is_empty() && !are_the_same && (found.is_empty() || unit(&titled) < unit(&found)) {
        found = titled;
    }
    if found.is_empty() {
        found = bold.to_vec();
    }
    if found.is_empty() {
        found = named(blocks, item);
    }
    // A plan with phases that contain milestones is a plan of milestones.
    let unit = unit(&found);
    found.retain(|candidate| Some(candidate.unit) == unit);
    found
}

/// Adds candidates of other kinds and units to the chosen ones. A candidate around a milestone
/// contains it, one inside of a milestone is a part of it, and any other is a separate milestone.
/// Parts that do not begin with number 1 look like milestones that follow, and are returned as
/// unread.
fn place(
    blocks: &[Block],
    chosen: Vec<Candidate>,
    others: Vec<Candidate>,
) -> (Vec<Candidate>, Vec<usize>) {
    let (mut found, mut unread) = (chosen, Vec::new());
    let mut last_part: Option<(usize, u8)> = None;
    for other in others {
        let to = end_of(blocks, other.block, other.level);
        if found.iter().any(|one| other.block < one.block && one.block < to) {
            continue;
        }
        let around = found.iter().rev().find(|one| one.block < other.block).filter(|one| {
            other.block < end_of(blocks, one.block, one.level) && one.level < other.level
        });
        match around {
            Some(around) if other.unit != around.unit || other.id.is_none() => {
                let is_first = last_part != Some((around.block, other.level));
                last_part = Some((around.block, other.level));
                if is_first && other.number().is_some_and(|number| number > 1) {
                    unread.push(other.block);
                }
            }
            Some(_) | None => {
                let at = found.partition_point(|one| one.block < other.block);
                found.insert(at, other);
            }
        }
    }
    (found, unread)
}

/// Returns the index of the first block that is not below a heading.
fn end_of(blocks: &[Block], from: usize, level: u8) -> usize {
    let below = blocks.get(from + 1..).unwrap_or_default();
    let ends = |block: &Block| heading(block).is_some_and(|(other, _)| other <= level);
    from + 1 + below.iter().position(ends).unwrap_or(below.len())
}

/// Returns the headings with a number and acceptance criteria: `## 2. The parser`.
fn numbered(blocks: &[Block]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let Some((level, text)) = heading(block) else { continue };
        let title = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let title = title.strip_prefix(['.', ')']).filter(|_| title.len() < text.len());
        let Some(title) = title.filter(|title| title.starts_with(' ')).map(str::trim) else {
            continue;
        };
        if labels::topic_of_heading(title).is_none() && has_criteria(blocks, at, level) {
            let (unit, title) = (Unit::Milestone, title.to_owned());
            found.push(Candidate { unit, id: None, title, block: at, level });
        }
    }
    found
}

/// Returns true if acceptance criteria are announced right below a heading.
fn has_criteria(blocks: &[Block], at: usize, level: u8) -> bool {
    let below = blocks.get(at + 1..end_of(blocks, at, level)).unwrap_or_default();
    below.iter().any(|block| match block.kind {
        Kind::Heading(_) => labels::topic(&block.text()) == Some(Topic::Criteria),
        Kind::Paragraph | Kind::Item { .. } => block.lines.iter().any(|line| {
            labels::label(line).is_some_and(|label| label.topic == Some(Topic::Criteria))
        }),
        Kind::Table { .. } | Kind::Code { .. } | Kind::Quote { .. } | Kind::Html { .. } => false,
    })
}

/// Returns the headings outside of all milestones with another name and acceptance criteria of
/// their own: `## Sprint 2`.
fn unnamed(blocks: &[Block], sections: &[Section]) -> Vec<usize> {
    if sections.is_empty() {
        return Vec::new();
    }
    let is_read = |at: usize| sections.iter().any(|one| one.from <= at && at < one.to);
    let mut found: Vec<usize> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let Some((level, text)) = heading(block).filter(|_| !is_read(at)) else { continue };
        let to = end_of(blocks, at, level);
        let holds_one = sections.iter().any(|one| at < one.from && one.from < to);
        let is_known = labels::topic_of_heading(text).is_some() || title_of(text).is_some();
        if !holds_one && !is_known && has_criteria(blocks, at, level) {
            found.push(at);
        }
    }
    found
}

/// Returns the paragraphs with a line that begins with the bold name of a milestone that is not
/// read.
fn mentioned(blocks: &[Block], sections: &[Section]) -> Vec<usize> {
    let is_read = |id: &str| sections.iter().any(|section| section.id == id);
    let names_another = |block: &&Block| {
        matches!(block.kind, Kind::Paragraph)
            && block.lines.iter().any(|line| {
                let lead = line.text.get(..line.lead).unwrap_or_default();
                let named = names::of_heading(lead).filter(|named| named.unit <= Unit::Phase);
                let id = named.and_then(|named| named.id);
                id.is_some_and(|id| !is_read(&id))
            })
    };
    let is_start = |at: usize| sections.iter().any(|section| section.from == at);
    let found = blocks.iter().enumerate().filter(|(_, block)| names_another(block));
    found.map(|(at, _)| at).filter(|at| !is_start(*at)).collect()
}

fn named(blocks: &[Block], level_of: fn(&Block) -> Option<(u8, &str)>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let Some((level, text)) = level_of(block) else { continue };
        let Some(name) = names::of_heading(text) else { continue };
        // `Milestone 1 acceptance criteria` belongs to a milestone and is none itself.
        let topic = labels::topic(&name.title);
        if !matches!(topic, None | Some(Topic::Other | Topic::Mixed { .. })) {
            continue;
        }
        found.push(Candidate { unit: name.unit, id: name.id, title: name.title, block: at, level });
    }
    found
}

fn heading(block: &Block) -> Option<(u8, &str)> {
    match block.kind {
        Kind::Heading(level) => Some((level, text_of(block))),
        _ => None,
    }
}

fn bold(block: &Block) -> Option<(u8, &str)> {
    let line = block.lines.first()?;
    let is_bold =
        matches!(block.kind, Kind::Paragraph) && line.lead > 0 && line.lead == line.text.len();
    (is_bold && block.lines.len() == 1).then_some((BOLD, line.text.as_str()))
}

fn item(block: &Block) -> Option<(u8, &str)> {
    match block.kind {
        Kind::Item { depth: 1, .. } => Some((ITEM, text_of(block))),
        _ => None,
    }
}

/// Returns the level of a block that may end a milestone; `None` for other blocks.
fn level(block: &Block) -> Option<u8> {
    heading(block).or_else(|| item(block)).map(|(level, _)| level)
}

fn text_of(block: &Block) -> &str {
    block.lines.first().map_or("", |line| line.text.as_str())
}

/// Returns the headings right below one with the title `Milestones` or `Phases`.
fn below_a_title(blocks: &[Block]) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut title: Option<(u8, Unit)> = None;
    let mut children: Option<u8> = None;
    for (at, block) in blocks.iter().enumerate() {
        let Some((level, text)) = heading(block) else { continue };
        if title.is_none_or(|(above, _)| level <= above) {
            title = title_of(text).map(|unit| (level, unit));
            children = None;
            continue;
        }
        let Some((_, unit)) = title else { continue };
        if level == *children.get_or_insert(level) && !ASIDES.contains(&folded(text).as_str()) {
            found.push(Candidate {
                unit,
                id: None,
                title: text.trim().to_owned(),
                block: at,
                level,
            });
        }
    }
    found
}

fn title_of(text: &str) -> Option<Unit> {
    let words = folded(text);
    if words.split(' ').count() > 5 {
        return None;
    }
    let has = |word: &str| words.split(' ').any(|w| w == word);
    match (has("milestones"), has("phases")) {
        (true, _) => Some(Unit::Milestone),
        (false, true) => Some(Unit::Phase),
        (false, false) => None,
    }
}

/// Returns the section of each candidate, up to the next one or to the first block that is not
/// below it.
fn sections(blocks: &[Block], found: Vec<Candidate>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::with_capacity(found.len());
    let starts: Vec<usize> = found.iter().skip(1).map(|next| next.block).collect();
    for (at, candidate) in found.into_iter().enumerate() {
        let end = starts.get(at).copied().unwrap_or(blocks.len());
        let inside = blocks.get(candidate.block + 1..end).unwrap_or_default();
        let ends = |block: &Block| level(block).is_some_and(|level| level <= candidate.level);
        let length = inside.iter().position(ends).unwrap_or(inside.len());
        let id = candidate.id.unwrap_or_else(|| format!("{}{}", candidate.unit.letter(), at + 1));
        sections.push(Section {
            unit: candidate.unit,
            id,
            title: candidate.title,
            from: candidate.block,
            to: candidate.block + 1 + length,
        });
    }
    sections
}
