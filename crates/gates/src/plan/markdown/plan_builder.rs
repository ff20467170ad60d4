//! A builder for the parts of a plan: [`PlanBuilder`].

use std::collections::{HashMap, HashSet};

use super::super::names::{self, Unit};
use super::super::reasons::{self, DecisionText, is_nothing};
use super::super::{
    Assumption, Criterion, Decision, Milestone, Plan, PlannedDiff, UnreadKind, UnreadLine,
    evidence, paths,
};
use super::blocks::Block;

/// A file that the running text of a milestone mentions.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) path: String,
    pub(super) is_new: bool,
    pub(super) is_old: bool,
}

/// A decision to which further text may belong.
struct OpenDecision {
    told: DecisionText,
    /// The level of the heading that opened the decision; `None` if no heading did.
    headed: Option<u32>,
    /// The depth of the list item that opened the decision; `None` if no item did.
    depth: Option<u32>,
    /// True if the next text is the reason.
    in_reason: bool,
}

/// The plan under construction.
pub(super) struct PlanBuilder<'a> {
    plan: &'a mut Plan,
    unit: Unit,
    by_id: HashMap<String, usize>,
    decision: Option<OpenDecision>,
    assumption: Option<(String, u32)>,
    mentions: Vec<Vec<Mention>>,
}

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(plan: &'a mut Plan, unit: Unit) -> PlanBuilder<'a> {
        let ids = plan.milestones.iter().enumerate().rev();
        let by_id = ids.map(|(at, milestone)| (milestone.id.clone(), at)).collect();
        let mentions = vec![Vec::new(); plan.milestones.len()];
        PlanBuilder { plan, unit, by_id, decision: None, assumption: None, mentions }
    }

    /// Returns the milestone that a label names, such as `Acceptance criteria for M1`; `None` if it
    /// names none.
    pub(super) fn milestone_named_in(&self, label: &str) -> Option<usize> {
        let label = label.get(..80).unwrap_or(label);
        let name = label.split(':').next().unwrap_or(label);
        names::references(name, self.unit).first().and_then(|id| self.by_id.get(id)).copied()
    }

    fn milestone(&mut self, at: Option<usize>) -> Option<&mut Milestone> {
        self.plan.milestones.get_mut(at?)
    }

    pub(super) fn criterion(&mut self, milestone: Option<usize>, criterion: Criterion) {
        match self.milestone(milestone) {
            Some(milestone) => milestone.criteria.push(criterion),
            None => self.criterion_outside(criterion),
        }
    }

    /// Adds a criterion outside of all milestones: one that names a milestone, `M1: it prints 3`,
    /// belongs to that milestone, and any other to the whole plan.
    fn criterion_outside(&mut self, criterion: Criterion) {
        let named = names::of_heading(&criterion.text).filter(|named| !named.title.is_empty());
        let at = named.as_ref().and_then(|named| self.by_id.get(named.id.as_ref()?)).copied();
        match (named, self.milestone(at)) {
            (Some(named), Some(milestone)) => {
                milestone.criteria.push(Criterion { text: named.title, line: criterion.line });
            }
            _ => self.plan.criteria.push(criterion),
        }
    }

    /// Records a line that looks like a part of the plan and is not read.
    pub(super) fn unread(&mut self, text: &str, line: u32, kind: UnreadKind) {
        self.plan.unread.push(UnreadLine { text: text.to_owned(), line, kind });
    }

    /// Adds the files of an entry. Returns true if there are any.
    pub(super) fn files(&mut self, milestone: Option<usize>, text: &str, are_new: bool) -> bool {
        let Some(milestone) = self.milestone(milestone) else { return false };
        let before = milestone.files.len();
        let opens = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
        let are_new = are_new || opens.to_ascii_lowercase().starts_with("create");
        for part in paths::clauses(text) {
            let is_new = paths::says_new(part) || (are_new && !paths::says_old(part));
            let is_moved = part.contains('→') || part.contains("->");
            for (at, path) in paths::in_entry(part).into_iter().enumerate() {
                let side = if is_new || (is_moved && at > 0) {
                    &mut milestone.new_files
                } else {
                    &mut milestone.old_files
                };
                side.push(path.clone());
                milestone.files.push(path);
            }
        }
        milestone.files.len() > before
    }

    pub(super) fn test(&mut self, milestone: Option<usize>, text: &str) {
        if let Some(milestone) = self.milestone(milestone).filter(|_| !is_nothing(text)) {
            milestone.tests.push(text.to_owned());
        }
    }

    pub(super) fn needs(&mut self, milestone: Option<usize>, text: &str) {
        let needs = names::references(text, self.unit);
        if let Some(milestone) = self.milestone(milestone) {
            milestone.needs.extend(needs);
        }
    }

    pub(super) fn mention(&mut self, milestone: usize, mention: Mention) {
        if let Some(mentions) = self.mentions.get_mut(milestone) {
            mentions.push(mention);
        }
    }

    pub(super) fn diff(&mut self, milestone: Option<usize>, diff: PlannedDiff) {
        match milestone.and_then(|at| self.plan.milestones.get_mut(at)) {
            Some(milestone) => milestone.diffs.push(diff),
            None => self.plan.loose_diffs.push(diff),
        }
    }

    /// Returns true if a text begins a decision: in a log by its id, elsewhere by an unambiguous
    /// one.
    pub(super) fn opens_a_decision(&self, text: &str, is_in_the_log: bool) -> bool {
        let is_sure = text.starts_with("DL-") || text.starts_with("ADR-");
        let is_named = reasons::has_a_name_with_a_mark(text) && (is_in_the_log || is_sure);
        is_named || reasons::after_label(text, &["decision"]).is_some_and(|rest| !rest.is_empty())
    }

    pub(super) fn open_decision(&mut self, text: &str, line: u32, headed: Option<u32>) {
        self.end_decision();
        let told = DecisionText::read(text, line);
        self.decision = Some(OpenDecision { told, headed, depth: None, in_reason: false });
    }

    /// Opens the decision of a list item.
    pub(super) fn open_decision_of_an_item(&mut self, depth: u32, block: &Block, text: &str) {
        self.open_decision(text, block.line, None);
        let lead = block.lines.first().and_then(|line| line.text.get(..line.lead));
        if let Some(open) = &mut self.decision {
            open.depth = Some(depth);
            open.told.take_the_ground_behind(lead.unwrap_or_default().trim(), text);
        }
    }

    pub(super) fn has_a_headed_decision(&self) -> bool {
        self.decision.as_ref().is_some_and(|open| open.headed.is_some())
    }

    /// Handles a heading below that of a decision. Returns true if the heading belongs to the
    /// decision.
    pub(super) fn heads_a_part_of_the_decision(&mut self, level: u32, text: &str) -> bool {
        let Some(open) = &mut self.decision else { return false };
        let is_reason = reasons::is_reason_name(text);
        // In a decision record, the reason is often at the same level as the decision.
        let is_part = |headed: u32| level > headed || (level == headed && is_reason);
        if !open.headed.is_some_and(is_part) {
            return false;
        }
        open.in_reason = is_reason;
        true
    }

    /// Adds text to the open decision. Returns true if the text belongs to it.
    pub(super) fn adds_to_the_decision(&mut self, text: &str, depth: Option<u32>) -> bool {
        let Some(open) = &mut self.decision else { return false };
        let is_below = depth.zip(open.depth).is_some_and(|(depth, own)| depth > own);
        let is_reason = reasons::labelled_reason(text).is_some();
        let belongs = open.headed.is_some() || is_below || is_reason;
        if !belongs {
            return false;
        }
        if open.in_reason && !is_reason {
            open.told.add_reason(text);
        } else {
            open.told.add(text);
        }
        let is_announced = is_reason && reasons::labelled_reason(text).is_some_and(str::is_empty);
        open.in_reason = open.in_reason || is_announced || reasons::is_reason_name(text);
        true
    }

    pub(super) fn is_reason_next(&self, next: Option<&Block>) -> bool {
        let first = next.and_then(|block| block.lines.first());
        first.is_some_and(|line| reasons::labelled_reason(&line.text).is_some())
    }

    pub(super) fn end_decision(&mut self) {
        if let Some(open) = self.decision.take() {
            self.decisions(vec![open.told]);
        }
    }

    pub(super) fn decisions(&mut self, told: Vec<DecisionText>) {
        for one in told.into_iter().filter(|one| one.id.is_some() || !is_nothing(&one.text)) {
            let number = self.plan.decisions.len() + 1;
            self.plan.decisions.push(one.finish(number));
        }
    }

    pub(super) fn opens_an_assumption(&self, text: &str) -> bool {
        reasons::after_label(text, &["assumption"]).is_some_and(|rest| !rest.is_empty())
    }

    pub(super) fn assumption(&mut self, text: &str, line: u32) {
        self.end_assumption();
        let text = reasons::after_label(text, &["assumption"]).unwrap_or(text);
        self.assumption = Some((text.to_owned(), line));
    }

    pub(super) fn add_to_assumption(&mut self, text: &str) {
        if let Some((open, _)) = &mut self.assumption {
            open.push_str(". ");
            open.push_str(text);
        }
    }

    pub(super) fn end_assumption(&mut self) {
        let Some((text, line)) = self.assumption.take() else { return };
        if !is_nothing(&text) && !text.to_ascii_lowercase().starts_with("no assumptions") {
            let evidence = evidence::find(&text);
            self.plan.assumptions.push(Assumption { text, evidence, line });
        }
    }

    pub(super) fn assumptions(&mut self, told: Vec<Assumption>) {
        self.plan.assumptions.extend(told.into_iter().filter(|one| !is_nothing(&one.text)));
    }

    /// Completes the plan after all blocks were read.
    pub(super) fn finish(mut self) {
        self.end_decision();
        self.end_assumption();
        merge(&mut self.plan.decisions);
        for (milestone, mentions) in self.plan.milestones.iter_mut().zip(self.mentions) {
            settle(milestone, mentions);
        }
    }
}

/// Merges decisions with the same id: often one of them only refers to the other.
fn merge(decisions: &mut Vec<Decision>) {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut merged: Vec<Decision> = Vec::with_capacity(decisions.len());
    for decision in decisions.drain(..) {
        match known.get(&decision.id).and_then(|at| merged.get_mut(*at)) {
            Some(first) if first.reason.is_empty() => *first = decision,
            Some(_) => {}
            None => {
                known.insert(decision.id.clone(), merged.len());
                merged.push(decision);
            }
        }
    }
    *decisions = merged;
}

/// Completes the files of a milestone. A list of files is complete; without one, the files in the
/// running text count.
fn settle(milestone: &mut Milestone, mentions: Vec<Mention>) {
    let has_list = !milestone.files.is_empty();
    for mention in mentions {
        if mention.is_new {
            milestone.new_files.push(mention.path.clone());
        }
        if !has_list {
            if mention.is_old {
                milestone.old_files.push(mention.path.clone());
            }
            milestone.files.push(mention.path);
        }
    }
    for list in [&mut milestone.needs, &mut milestone.files, &mut milestone.new_files] {
        let mut seen = HashSet::new();
        list.retain(|path| seen.insert(path.clone()));
    }
    let new: HashSet<&String> = milestone.new_files.iter().collect();
    let mut seen = HashSet::new();
    milestone.old_files.retain(|path| !new.contains(path) && seen.insert(path.clone()));
    let tests = milestone.files.iter().filter(|path| assay_rules::is_test(path)).cloned();
    milestone.tests.extend(tests);
}
