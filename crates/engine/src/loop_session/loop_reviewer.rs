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

use super::{LoopDeadline, SpecLocation, round_error};
use crate::config::models::{ModelsConfig, Phase};
use crate::models::{self, CachePolicy, ModelOptions, ModelSession, Panel, ReviewOptions};
use crate::review_session::ReviewSession;

/// The front matter of the persona for the repository's prompt for the loop's reviewer.
const PERSONA: &str = "name: qa-reviewer\nabout: What this repository asks of the validation\n\
                       tier: default\ntrigger: always\nrequired: true";

/// The reviewers of a loop.
pub(super) struct LoopReviewer<'a> {
    pub(super) place: &'a SpecLocation,
    pub(super) request: &'a ModelOptions,
    /// The model session; `None` if no model is asked.
    pub(super) model_session: Option<ModelSession>,
    pub(super) models: &'a ModelsConfig,
    /// The repository's prompt for the reviewer.
    pub(super) prompt: Option<&'a str>,
    /// The finding categories that the configuration adds as kinds of issues.
    pub(super) own_kinds: &'a [String],
    pub(super) deadline: LoopDeadline,
    pub(super) warn: &'a dyn Fn(&str),
}

impl SpecReviewer for LoopReviewer<'_> {
    fn review(
        &self,
        base: Option<&str>,
        spec: &Spec,
        checks: &[CheckOutcome],
    ) -> Result<ReviewReport, StepError> {
        self.deadline.check()?;
        let prepared = self.prepare(base).map_err(round_error)?;
        prepared.memory_warning().into_iter().for_each(self.warn);
        let reviewed = prepared.review_without_progress(ReviewMode::ReportOnly);
        match reviewed.save(&prepared) {
            Ok(kept) => kept.warning.iter().for_each(|trouble| (self.warn)(trouble)),
            Err(error) => (self.warn)(&format!("cannot store the review: {error:#}")),
        }
        let (issues, remarks) = match issues::from_review(&reviewed.synthesis, self.own_kinds) {
            ReviewIssues::Complete { issues, remarks } => (issues, remarks),
            ReviewIssues::Incomplete(why) => {
                return Err(self.exhausted_budget().unwrap_or(StepError::Round(why.join("; "))));
            }
        };
        let judge = self.judge().map_err(round_error)?;
        let subject = Subject::new(None, Some(&prepared.change), prepared.change.tree());
        let memory = prepared.panel.as_ref().and_then(Panel::memory).map(Memory::as_str);
        let judge = judge.as_ref();
        let judge = judge.map(|judge| ModelCriterionJudge { judge, subject: &subject, memory });
        let judge = judge.as_ref().map(|judge| judge as &dyn CriterionJudge);
        let criteria = issues::judge_criteria(spec, checks, prepared.change.tree(), judge);
        let criteria =
            criteria.map_err(|why| self.exhausted_budget().unwrap_or(StepError::Round(why)))?;
        Ok(ReviewReport { issues, remarks, criteria })
    }

    fn has_judge(&self) -> bool {
        self.model_session.is_some()
    }
}

impl LoopReviewer<'_> {
    /// Opens the implementation as a change. The spec is not part of it, since the implementation
    /// is compared with the spec.
    fn prepare(&self, base: Option<&str>) -> anyhow::Result<ReviewSession> {
        let (scope, selection) = (Scope::on_top_of(base), Selection::with_untracked());
        let also = self.prompt.map(|prompt| {
            (".assay/prompts/qa_reviewer.md".to_owned(), format!("---\n{PERSONA}\n---\n\n{prompt}"))
        });
        let model_session = self.model_session.clone();
        let options = ReviewOptions {
            models: self.request,
            cache_policy: CachePolicy::On,
            model_session,
            also,
        };
        let mut prepared = ReviewSession::open(
            &self.place.environment, &self.place.root, &scope, &selection, options,
        )?;
        prepared.exclude_files(|file| Spec::is_loop_document(file.path()));
        Ok(prepared)
    }

    fn judge(&self) -> anyhow::Result<Option<ModelJudge>> {
        let Some(model_session) = &self.model_session else { return Ok(None) };
        models::open_judge(self.models, self.request.requested_model(), Phase::Qa, model_session)
            .map(Some)
    }

    /// Returns the error for a budget that is used up; `None` if it is not.
    fn exhausted_budget(&self) -> Option<StepError> {
        let model_session =
            self.model_session.as_ref().filter(|model_session| model_session.is_exhausted())?;
        Some(StepError::Budget(model_session.spending_text()))
    }
}
