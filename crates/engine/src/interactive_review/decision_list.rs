//! The questions of an interactive review: [`DecisionList`].

use assay_findings::finding::Finding;
use assay_findings::vote::AutofixClass;
use assay_review::runs::StoredFix;

/// The decision of a user on a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingDecision {
    /// The fix is applied.
    Apply,
    /// An agent fixes the finding.
    Queue,
    /// The finding is accepted, with a reason.
    Dismiss(String),
    /// The finding stays as it is.
    Skip,
}

/// The fix of a finding, as it may be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixOffer {
    /// The fix is right in any code around it.
    Safe,
    /// A person has to check the fix.
    NotSafe,
    /// There is no exact fix, or it cannot be applied to this change.
    None,
}

/// The findings that a decision is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The finding of the question.
    One,
    /// The finding of the question and all like it that are not decided yet.
    AllLikeIt,
}

/// A question to the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question<'s> {
    /// The finding.
    pub finding: &'s Finding,
    /// The number of the finding, from 1.
    pub number: usize,
    /// The number of all findings.
    pub total: usize,
    /// The fix that is offered.
    pub offer: FixOffer,
    /// The number of findings like this one that are not decided yet, including this one.
    pub alike: usize,
}

/// The findings of a review with the decisions on them, in the order of the questions.
#[derive(Debug)]
pub struct DecisionList<'s> {
    items: Vec<DecisionItem<'s>>,
    /// The indices of the findings that each answer decided, the last answer at the end.
    answers: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct DecisionItem<'s> {
    finding: &'s Finding,
    offer: FixOffer,
    decision: Option<FindingDecision>,
}

impl<'s> DecisionList<'s> {
    /// Creates the list of findings without decisions. `fixes` are the fixes that can be applied.
    pub fn new(
        findings: impl IntoIterator<Item = &'s Finding>,
        fixes: &[StoredFix],
    ) -> DecisionList<'s> {
        let items = findings.into_iter().map(|finding| {
            let fix = fixes.iter().find(|fix| fix.finding == finding.id);
            let offer = match fix.map(|fix| fix.class) {
                Some(AutofixClass::SafeAuto) => FixOffer::Safe,
                Some(_) => FixOffer::NotSafe,
                None => FixOffer::None,
            };
            DecisionItem { finding, offer, decision: None }
        });
        DecisionList { items: items.collect(), answers: Vec::new() }
    }

    /// Returns the first question without a decision; `None` if all findings are decided.
    pub fn question(&self) -> Option<Question<'s>> {
        let at = self.items.iter().position(|item| item.decision.is_none())?;
        let DecisionItem { finding, offer, .. } = &self.items[at];
        let alike = self.undecided_like(at).len();
        let total = self.items.len();
        Some(Question { finding, number: at + 1, total, offer: *offer, alike })
    }

    /// Returns the indices of the undecided findings of the same rule or title and the same offer.
    fn undecided_like(&self, at: usize) -> Vec<usize> {
        let kind = |item: &DecisionItem<'s>| match &item.finding.rule {
            Some(rule) => (Some(rule.clone()), None),
            None => (None, Some(item.finding.title.clone())),
        };
        let (wanted, offer) = (kind(&self.items[at]), self.items[at].offer);
        let is_like = |item: &DecisionItem<'s>| {
            item.decision.is_none() && item.offer == offer && kind(item) == wanted
        };
        let items = self.items.iter().enumerate();
        items.filter(|(_, item)| is_like(item)).map(|(at, _)| at).collect()
    }

    /// Decides the finding of the current question. Returns the number of decided findings.
    pub fn decide(&mut self, decision: &FindingDecision, extent: Extent) -> usize {
        let Some(at) = self.items.iter().position(|item| item.decision.is_none()) else { return 0 };
        let decided = match extent {
            Extent::One => vec![at],
            Extent::AllLikeIt => self.undecided_like(at),
        };
        for at in &decided {
            self.items[*at].decision = Some(decision.clone());
        }
        let number = decided.len();
        self.answers.push(decided);
        number
    }

    /// Withdraws the last answer. Returns the number of findings that it had decided, 0 if there is
    /// no answer.
    pub fn undo(&mut self) -> usize {
        let last = self.answers.pop().unwrap_or_default();
        for at in &last {
            self.items[*at].decision = None;
        }
        last.len()
    }

    /// Returns the number of findings that have no decision.
    pub fn undecided(&self) -> usize {
        self.items.iter().filter(|item| item.decision.is_none()).count()
    }

    /// Returns the number of decisions that have an effect.
    pub fn effects(&self) -> usize {
        let has_effect = |item: &&DecisionItem<'s>| {
            item.decision.as_ref().is_some_and(|decision| *decision != FindingDecision::Skip)
        };
        self.items.iter().filter(has_effect).count()
    }

    /// Returns the findings whose fixes are applied.
    pub fn to_apply(&self) -> Vec<&'s Finding> {
        self.with(|decision| *decision == FindingDecision::Apply)
    }

    /// Returns the findings that an agent fixes.
    pub fn to_queue(&self) -> Vec<&'s Finding> {
        self.with(|decision| *decision == FindingDecision::Queue)
    }

    fn with(&self, is_wanted: impl Fn(&FindingDecision) -> bool) -> Vec<&'s Finding> {
        let wanted = |item: &&DecisionItem<'s>| item.decision.as_ref().is_some_and(&is_wanted);
        self.items.iter().filter(wanted).map(|item| item.finding).collect()
    }

    /// Returns the findings that are accepted, each with the reason.
    pub fn to_accept(&self) -> Vec<(&'s Finding, &str)> {
        let accepted = self.items.iter().filter_map(|item| match &item.decision {
            Some(FindingDecision::Dismiss(reason)) => Some((item.finding, reason.as_str())),
            Some(FindingDecision::Apply | FindingDecision::Queue | FindingDecision::Skip)
            | None => None,
        });
        accepted.collect()
    }
}
