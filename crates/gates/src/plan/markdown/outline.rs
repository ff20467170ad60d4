//! Which headings are milestones: [`milestones`].

use super::super::names::{self, Unit};
use super::blocks::{Block, Kind};
use super::labels::{self, Topic};

/// A milestone among the blocks: from its heading up to the next thing on its level.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) unit: Unit,
    pub(super) id: String,
    pub(super) title: String,
    /// Its heading, as the number of a block.
    pub(super) from: usize,
    /// The first block that is not of it any more.
    pub(super) to: usize,
}

/// A heading that may be one of a milestone.
struct Candidate {
    unit: Unit,
    id: Option<String>,
    title: String,
    block: usize,
    level: u8,
}

/// How deep a line counts that is bold and stands alone.
const BOLD: u8 = 7;

/// How deep an item of a list counts.
const ITEM: u8 = 8;

/// What stands below a heading `Milestones` and is none.
const ASIDES: [&str; 10] = [
    "overview", "summary", "notes", "dependencies", "dependency graph", "timeline", "introduction",
    "milestone dependencies", "order", "sequence",
];

/// Gives the milestones, in order.
pub(super) fn milestones(blocks: &[Block]) -> Vec<Section> {
    let mut found = named(blocks, heading);
    let titled = below_a_title(blocks);
    let unit = |candidates: &[Candidate]| candidates.iter().map(|candidate| candidate.unit).min();
    let are_the_same = titled
        .iter()
        .any(|one| found.binary_search_by_key(&one.block, |candidate| candidate.block).is_ok());
    if !titled.is_empty() && !are_the_same && (found.is_empty() || unit(&titled) < unit(&found)) {
        found = titled;
    }
    if found.is_empty() {
        found = named(blocks, bold);
    }
    if found.is_empty() {
        found = named(blocks, item);
    }
    // A plan in phases that have milestones is one of milestones.
    let unit = unit(&found);
    found.retain(|candidate| Some(candidate.unit) == unit);
    sections(blocks, found)
}

fn named(blocks: &[Block], level_of: fn(&Block) -> Option<(u8, &str)>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let Some((level, text)) = level_of(block) else { continue };
        let Some(name) = names::of_heading(text) else { continue };
        // `Milestone 1 acceptance criteria` belongs to a milestone and is none.
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

/// How deep something is that may end a milestone.
fn level(block: &Block) -> Option<u8> {
    heading(block).or_else(|| item(block)).map(|(level, _)| level)
}

fn text_of(block: &Block) -> &str {
    block.lines.first().map_or("", |line| line.text.as_str())
}

/// Takes the headings right below one that says `Milestones` or `Phases`.
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
        if level == *children.get_or_insert(level)
            && !ASIDES.contains(&labels::folded(text).as_str())
        {
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
    let words = labels::folded(text);
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

/// Lets each go on up to the next one, or to what is not below it.
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
