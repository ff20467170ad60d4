//! The reviewers of a validation loop: the reviewers of a change, and the judge of the criteria.

use assay_change::{Scope, Selection};
use assay_checks::check::CheckOutcome;
use assay_findings::gate::ReviewMode;
use assay_gates::model::{ModelCriterionJudge, ModelJudge};
use assay_gates::reconcile::CriterionJudge;
use assay_gates::subject::Subject;
use assay_review::memory::Memory;
use assay_validate::environment::{ReviewReport, SpecReviewer};
use assay_validate::issues::{self, ReviewIssues};
use assay_validate::run::StepError;
use assay_validate::spec::Spec;

use super::{LoopDeadline, Place, broke};
use crate::config::models::{Phase, StoredModels};
use crate::models::{self, Asked, Keeping, Line, ModelRequest, Panel};
use crate::review_session::Prepared;

/// The front matter of the persona for the repository's prompt for the loop's reviewer.
const PERSONA: &str = "name: qa-reviewer\nabout: What this repository asks of the validation\n\
                       tier: default\ntrigger: always\nrequired: true";

/// The reviewers of a loop.
pub(super) struct Eyes<'a> {
    pub(super) place: &'a Place,
    pub(super) request: &'a ModelRequest,
    /// The model session; `None` if no model is asked.
    pub(super) line: Option<Line>,
    pub(super) models: &'a StoredModels,
    /// The repository's prompt for the reviewer.
    pub(super) prompt: Option<&'a str>,
    /// The finding categories that the configuration adds as kinds of issues.
    pub(super) own_kinds: &'a [String],
    pub(super) deadline: LoopDeadline,
    pub(super) warn: &'a dyn Fn(&str),
}

impl SpecReviewer for Eyes<'_> {
    fn review(
        &self,
        base: Option<&str>,
        spec: &Spec,
        checks: &[CheckOutcome],
    ) -> Result<ReviewReport, StepError> {
        self.deadline.check()?;
        let prepared = self.prepare(base).map_err(broke)?;
        prepared.memory_trouble().into_iter().for_each(self.warn);
        let reviewed = prepared.review_unseen(ReviewMode::ReportOnly);
        match reviewed.keep(&prepared) {
            Ok(kept) => kept.trouble.iter().for_each(|trouble| (self.warn)(trouble)),
            Err(error) => (self.warn)(&format!("the review could not be kept: {error:#}")),
        }
        let (issues, remarks) = match issues::from_review(&reviewed.synthesis, self.own_kinds) {
            ReviewIssues::Complete { issues, remarks } => (issues, remarks),
            ReviewIssues::Incomplete(why) => {
                return Err(self.used_up().unwrap_or(StepError::Round(why.join("; "))));
            }
        };
        let judge = self.judge().map_err(broke)?;
        let subject = Subject::new(None, Some(&prepared.change), prepared.change.tree());
        let memory = prepared.panel.as_ref().and_then(Panel::memory).map(Memory::as_str);
        let judge = judge.as_ref();
        let judge = judge.map(|judge| ModelCriterionJudge { judge, subject: &subject, memory });
        let judge = judge.as_ref().map(|judge| judge as &dyn CriterionJudge);
        let criteria = issues::judge_criteria(spec, checks, prepared.change.tree(), judge);
        let criteria = criteria.map_err(|why| self.used_up().unwrap_or(StepError::Round(why)))?;
        Ok(ReviewReport { issues, remarks, criteria })
    }

    fn has_judge(&self) -> bool {
        self.line.is_some()
    }
}

impl Eyes<'_> {
    /// Opens the implementation as a change. The spec is not part of it, since the implementation
    /// is compared with the spec.
    fn prepare(&self, base: Option<&str>) -> anyhow::Result<Prepared> {
        let (scope, selection) = (Scope::on_top_of(base), Selection::with_untracked());
        let also = self.prompt.map(|prompt| {
            (".assay/prompts/qa_reviewer.md".to_owned(), format!("---\n{PERSONA}\n---\n\n{prompt}"))
        });
        let line = self.line.clone();
        let asked = Asked { models: self.request, keeping: Keeping::Answers, line, also };
        let mut prepared =
            Prepared::open(&self.place.environment, &self.place.root, &scope, &selection, asked)?;
        prepared.leave_out(|file| Spec::is_loop_document(file.path()));
        Ok(prepared)
    }

    fn judge(&self) -> anyhow::Result<Option<ModelJudge>> {
        let Some(line) = &self.line else { return Ok(None) };
        models::gate_judge(self.models, self.request.only(), Phase::Qa, line).map(Some)
    }

    /// Returns the error for a budget that is used up; `None` if it is not.
    fn used_up(&self) -> Option<StepError> {
        let line = self.line.as_ref().filter(|line| line.is_used_up())?;
        Some(StepError::Budget(line.spent_in_words()))
    }
}
