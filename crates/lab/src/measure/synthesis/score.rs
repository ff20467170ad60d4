//! Synthesis of recorded comments, and its counts: [`Groups`], [`Pairs`], [`Hits`].

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use assay_findings::finding::Finding;
use assay_findings::grade::Grade;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::vote::{Confidence, Vote};

use super::data::{Case, Comment};

/// The golden comments that a group finds, by three rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The shown comment was matched.
    Shown,
    /// At least half of the tools in the group have a matched comment.
    Majority,
    /// Any comment was matched.
    Any,
}

/// The comments that the synthesis merged into one defect.
pub(super) struct Group {
    /// The comments, each by the index of its tool and its own index.
    members: Vec<(usize, usize)>,
    pub(super) worth: f64,
    is_shown: bool,
    by_label: [BTreeSet<usize>; 3],
}

impl Group {
    pub(super) fn found(&self, label: Label) -> &BTreeSet<usize> {
        &self.by_label[label as usize]
    }
}

/// The groups of the comments of some tools on a case, in order of likelihood.
pub(super) struct Groups(pub(super) Vec<Group>);

impl Groups {
    /// Runs the synthesis on the comments of tools, which count as votes without a place and with
    /// one severity that does not block.
    pub(super) fn of(case: &Case, tools: &[usize]) -> anyhow::Result<Groups> {
        let report = |tool: &usize| {
            let tool = &case.tools[*tool];
            let mut report = Report::new(Reviewer::new(tool.name.clone(), ReviewerKind::Persona));
            report.votes = tool.comments.iter().map(|comment| vote(&comment.text)).collect();
            report
        };
        let reports: Vec<Report> = tools.iter().map(report).collect();
        let made = synthesize(&reports, &SynthesisInputs::default());
        let open = made.findings.iter().map(|finding| (finding, finding.shown));
        let others = [&made.pre_existing, &made.held_back, &made.dismissed];
        let others = others.into_iter().flatten().map(|finding| (finding, false));
        let mut groups = Vec::new();
        for (finding, is_shown) in open.chain(others) {
            groups.push(group(case, finding, is_shown)?);
        }
        groups.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.members.cmp(&b.members)));
        Ok(Groups(groups))
    }

    /// Counts the groups that the synthesis shows.
    pub(super) fn hits(&self, label: Label) -> Hits {
        Hits::of(self.0.iter().filter(|group| group.is_shown), label)
    }

    /// Counts the groups with at least this worth.
    pub(super) fn hits_from(&self, worth: f64, label: Label) -> Hits {
        Hits::of(self.0.iter().filter(|group| group.worth >= worth), label)
    }
}

fn vote(text: &str) -> Vote {
    let mut vote = Vote::new(text, Grade::from_word("P2"));
    vote.confidence = Some(Confidence::HIGH);
    vote
}

fn group(case: &Case, finding: &Finding, is_shown: bool) -> anyhow::Result<Group> {
    let mut members = Vec::new();
    for vote in &finding.votes {
        let tool = case.tools.iter().position(|tool| tool.name == vote.reviewer);
        members.push((tool.context("a vote is of no tool")?, vote.vote));
    }
    let comment = |(tool, at): &(usize, usize)| &case.tools[*tool].comments[*at];
    let golden = |comments: &mut dyn Iterator<Item = &Comment>| -> BTreeSet<usize> {
        comments.flat_map(|comment| comment.golden.iter().copied()).collect()
    };
    let shown =
        golden(&mut members.iter().map(comment).filter(|comment| comment.text == finding.title));
    let any = golden(&mut members.iter().map(comment));
    let tools: BTreeSet<usize> = members.iter().map(|(tool, _)| *tool).collect();
    let mut tools_with: BTreeMap<usize, usize> = BTreeMap::new();
    for tool in &tools {
        let own = members.iter().filter(|(of, _)| of == tool);
        for found in golden(&mut own.map(comment)) {
            *tools_with.entry(found).or_default() += 1;
        }
    }
    let majority = tools_with.iter().filter(|(_, count)| 2 * **count >= tools.len());
    let majority = majority.map(|(found, _)| *found).collect();
    let worth = finding.worth.context("a finding has no worth")?;
    Ok(Group { members, worth, is_shown, by_label: [shown, majority, any] })
}

/// The number of pairs of comments of different tools.
#[derive(Default, Clone, Copy)]
pub(super) struct Pairs {
    /// Pairs on one golden comment.
    pub(super) same: usize,
    pub(super) same_merged: usize,
    /// Merged pairs that are matched with golden comments, none of them common.
    pub(super) other_merged: usize,
    /// Merged pairs of which a comment is matched with none.
    pub(super) unknown_merged: usize,
}

impl Pairs {
    pub(super) fn of(case: &Case, groups: &Groups) -> Pairs {
        let mut group_of: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (number, group) in groups.0.iter().enumerate() {
            group_of.extend(group.members.iter().map(|member| (*member, number)));
        }
        let all: Vec<(usize, usize)> = group_of.keys().copied().collect();
        let golden = |(tool, at): (usize, usize)| &case.tools[tool].comments[at].golden;
        let mut pairs = Pairs::default();
        for (at, a) in all.iter().enumerate() {
            for b in all[..at].iter().filter(|b| b.0 != a.0) {
                let is_merged = usize::from(group_of[a] == group_of[b]);
                let (a, b) = (golden(*a), golden(*b));
                if a.is_empty() || b.is_empty() {
                    pairs.unknown_merged += is_merged;
                } else if a.is_disjoint(b) {
                    pairs.other_merged += is_merged;
                } else {
                    pairs.same += 1;
                    pairs.same_merged += is_merged;
                }
            }
        }
        pairs
    }

    pub(super) fn add(&mut self, other: Pairs) {
        self.same += other.same;
        self.same_merged += other.same_merged;
        self.other_merged += other.other_merged;
        self.unknown_merged += other.unknown_merged;
    }

    /// Returns the share of pairs on one golden comment that are merged; `None` without such pairs.
    pub(super) fn merged(self) -> Option<f64> {
        share(self.same_merged, self.same)
    }

    /// Returns the share of right pairs among the merged pairs with a known result.
    pub(super) fn right(self) -> Option<f64> {
        share(self.same_merged, self.same_merged + self.other_merged)
    }
}

/// Returns a share; `None` if the whole is 0.
pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The numbers of golden comments found and missed, and of comments that found none.
#[derive(Default, Clone, Copy)]
pub(super) struct Hits {
    pub(super) right: usize,
    pub(super) wrong: usize,
    pub(super) missed: usize,
    pub(super) comments: usize,
}

impl Hits {
    /// Counts groups in order. A group that finds only golden comments of earlier groups is wrong.
    fn of<'g>(groups: impl Iterator<Item = &'g Group>, label: Label) -> Hits {
        let (mut hits, mut known) = (Hits::default(), BTreeSet::new());
        for found in groups.map(|group| group.found(label)) {
            hits.comments += 1;
            hits.wrong += usize::from(found.is_subset(&known));
            known.extend(found);
        }
        hits.right = known.len();
        hits
    }

    /// Sets the number of missed golden comments, given the number of all.
    pub(super) fn among(self, golden: usize) -> Hits {
        Hits { missed: golden - self.right, ..self }
    }

    pub(super) fn add(&mut self, other: Hits) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
        self.comments += other.comments;
    }

    /// Returns F1; `None` if there was nothing to find and nothing was found.
    pub(super) fn f1(self) -> Option<f64> {
        share(2 * self.right, 2 * self.right + self.wrong + self.missed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{PublishedCounts, Tool};
    use super::*;

    /// Comments, each with its matched golden comments.
    type Comments<'a> = &'a [(&'a str, &'a [usize])];

    fn case(tools: &[(&str, Comments<'_>)]) -> Case {
        let published = PublishedCounts { right: 0, wrong: 0, missed: 0 };
        let comment = |(text, golden): &(&str, &[usize])| Comment {
            text: (*text).to_owned(),
            golden: golden.iter().copied().collect(),
        };
        let tool = |(name, comments): &(&str, Comments<'_>)| Tool {
            name: (*name).to_owned(),
            comments: comments.iter().map(comment).collect(),
            published,
        };
        Case { golden: 2, tools: tools.iter().map(tool).collect() }
    }

    #[test]
    fn a_golden_comment_counts_once_and_a_second_group_that_hits_it_counts_as_wrong() {
        let case = case(&[
            ("a", &[("find_by can return nil for deleted topics", &[0]), ("typo in heading", &[])]),
            ("b", &[("TopicUser.find_by returns nil for deleted topics", &[0])]),
            ("c", &[("clocks of two hosts are compared without tolerance", &[0])]),
        ]);
        let groups = Groups::of(&case, &[0, 1, 2]).unwrap();
        let pairs = Pairs::of(&case, &groups);
        assert_eq!((pairs.same, pairs.same_merged, pairs.other_merged), (3, 1, 0));
        let all = groups.hits_from(0.0, Label::Majority).among(case.golden);
        assert_eq!((all.right, all.wrong, all.missed, all.comments), (1, 2, 1, 3));
        assert_eq!(all.f1(), Some(2.0 / 5.0));
    }

    #[test]
    fn a_share_of_zero_items_is_none() {
        assert_eq!((share(0, 0), Hits::default().f1()), (None, None));
        assert_eq!((Pairs::default().merged(), Pairs::default().right()), (None, None));
    }
}
