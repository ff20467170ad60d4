//! Parses plans in Markdown, as people and agents write them: [`read`].
//!
//! `blocks` returns headings, paragraphs, items, tables and code with their lines. `outline` finds
//! the headings that are milestones, and `labels` recognises topics. `walk` goes through the blocks
//! once and fills the plan.

mod assumptions;
mod blocks;
mod folding;
mod html;
mod labels;
mod outline;
mod plan_builder;
mod tables;
mod walk;

use assay_base::markdown::first_too_deep;

use super::{Fence, Heading, Milestone, Plan, PlanError, UnreadKind, UnreadLine};
use blocks::{Block, Kind};

/// Parses a plan. Fails if the text is nested too deep.
pub(super) fn read(name: &str, text: &str) -> Result<Plan, PlanError> {
    if let Some(line) = first_too_deep(text) {
        return Err(PlanError::TooDeep { name: name.to_owned(), line });
    }
    let document = blocks::read(text);
    let outline::Outline { sections, unread } = outline::outline(&document.blocks);
    let milestones = sections.iter().map(|section| milestone(text, &document.blocks, section));
    let mut plan = Plan {
        text: text.to_owned(),
        milestones: milestones.collect(),
        links: document.links,
        fences: document.fences,
        unread: unread.into_iter().filter_map(|at| unread_line(document.blocks.get(at)?)).collect(),
        headings: document.blocks.iter().filter_map(heading).collect(),
        is_markdown: true,
        ..Plan::default()
    };
    let title = plan.headings.first().filter(|heading| heading.level == 1);
    plan.title = title.map(|heading| heading.text.clone());
    if labels::announces_criteria(&document.metadata) {
        let text = "the front matter".to_owned();
        plan.unread.push(UnreadLine { text, line: 1, kind: UnreadKind::Criterion });
    }
    walk::fill(&mut plan, &document.blocks, &sections);
    Ok(plan)
}

/// Returns the code blocks of a page, in order; empty if the page is nested too deep.
pub(crate) fn fences(text: &str) -> Vec<Fence> {
    match first_too_deep(text) {
        Some(_) => Vec::new(),
        None => blocks::read(text).fences,
    }
}

fn heading(block: &Block) -> Option<Heading> {
    let Kind::Heading(level) = block.kind else { return None };
    let text = block.text();
    Some(Heading { level, text: text.replace('`', ""), line: block.line })
}

fn unread_line(block: &Block) -> Option<UnreadLine> {
    let line = block.lines.first()?;
    let text = line.text.trim().to_owned();
    Some(UnreadLine { text, line: block.line, kind: UnreadKind::Milestone })
}

fn milestone(text: &str, blocks: &[Block], section: &outline::Section) -> Milestone {
    let start = |at: usize| blocks.get(at).map_or(text.len(), |block| block.start);
    let (from, to) = (start(section.from), start(section.to));
    Milestone {
        id: section.id.clone(),
        title: section.title.clone(),
        text: text.get(from..to).unwrap_or("").to_owned(),
        line: blocks.get(section.from).map_or(1, |block| block.line),
        ..Milestone::default()
    }
}

impl Block {
    /// Returns the lines of the block as one.
    fn text(&self) -> String {
        let lines: Vec<&str> = self
            .lines
            .iter()
            .map(|line| line.text.trim())
            .filter(|text| !text.is_empty())
            .collect();
        lines.join(" ")
    }
}
