//! The cases of a set as reviews that an agent reads over MCP: [`DelegatedSet`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, anyhow, bail};
use assay_change::{Scope, Selection};
use assay_eval::set::Case;
use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_review::Review;
use assay_review::delegation::DelegatedReview;
use assay_review::delegation::fix_verification::FixVerdict;
use assay_review::delegation::transcript::ReviewTranscript;

use super::case_output::CaseOutput;
use super::case_repository::CaseRepository;
use super::questions::effort;
use crate::delegated_review::{
    DelegatedReviews, FinishResult, FixProgress, RepositoryReviews, ReviewConclusion, StartRequest,
    StartedReview,
};
use crate::environment::Environment;

/// A function that stores the output of a case, by the id of the case, and the answers of the agent
/// if this call decided the review.
pub(crate) type KeepOutput =
    dyn Fn(&str, CaseOutput, Option<ReviewTranscript>) -> anyhow::Result<()> + Send + Sync;

/// A set whose cases are given to an agent one after the other. No answer contains a label.
pub struct DelegatedSet {
    environment: Environment,
    set: PathBuf,
    cases: Vec<Case>,
    /// The files that decide on reviews.
    settings: Vec<(String, String)>,
    progress: Mutex<Progress>,
    keep: Box<KeepOutput>,
}

#[derive(Default)]
struct Progress {
    /// The cases that were started, by the id of the review.
    begun: BTreeMap<String, OpenCase>,
    /// The ids of the cases that are decided.
    finished: BTreeSet<String>,
}

struct OpenCase {
    case: String,
    reviews: RepositoryReviews,
    /// Keeps the repository on disk until the case is finished.
    _repository: CaseRepository,
}

impl DelegatedSet {
    /// Creates a set from the cases that are not finished yet.
    pub fn new(
        environment: &Environment,
        set: PathBuf,
        cases: Vec<Case>,
        settings: Vec<(String, String)>,
        finished: BTreeSet<String>,
        keep: Box<KeepOutput>,
    ) -> DelegatedSet {
        let progress = Mutex::new(Progress { finished, ..Progress::default() });
        DelegatedSet { environment: environment.clone(), set, cases, settings, progress, keep }
    }

    /// Returns the number of cases that are not decided.
    pub fn open_cases(&self) -> usize {
        self.cases.len() - self.progress().finished.len()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Calls the reviews of the case that a review belongs to.
    fn at<T>(
        &self,
        review: &str,
        call: impl FnOnce(&RepositoryReviews) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let progress = self.progress();
        let begun = progress.begun.get(review).ok_or_else(|| {
            anyhow!("unknown review `{review}` of this set; call start_review for the next case")
        })?;
        call(&begun.reviews)
    }
}

impl DelegatedReviews for DelegatedSet {
    fn start(&self, what: StartRequest) -> anyhow::Result<StartedReview> {
        let mut progress = self.progress();
        let is_taken = |case: &Case| {
            progress.finished.contains(&case.id)
                || progress.begun.values().any(|begun| begun.case == case.id)
        };
        let Some(at) = self.cases.iter().position(|case| !is_taken(case)) else {
            let open: Vec<&str> = progress
                .begun
                .iter()
                .filter(|(_, begun)| !progress.finished.contains(&begun.case))
                .map(|(review, _)| review.as_str())
                .collect();
            return Err(anyhow!(match open.is_empty() {
                true => "all cases of the set are reviewed; there is nothing left to do".to_owned(),
                false => format!(
                    "all cases of the set are handed out; still to be finished: {}",
                    open.join(", ")
                ),
            }));
        };
        let case = &self.cases[at];
        let repository = CaseRepository::new(&self.environment, &self.set, case, &self.settings)?;
        let reviews = RepositoryReviews::new(&self.environment, repository.path().to_owned());
        let (scope, selection) = (Scope::Commits("HEAD".to_owned()), Selection::default());
        let mut begun =
            DelegatedReviews::start(&reviews, StartRequest { scope, selection, ..what })?;
        begun.notes.push(format!(
            "this is change {} of {}; after finish_review, call start_review for the next one",
            at + 1,
            self.cases.len()
        ));
        let id = begun.review.id().to_string();
        let case = case.id.clone();
        progress.begun.insert(id, OpenCase { case, reviews, _repository: repository });
        Ok(begun)
    }

    fn open(&self, review: &str) -> anyhow::Result<DelegatedReview> {
        self.at(review, |reviews| reviews.open(review))
    }

    fn finish(&self, review: &str) -> anyhow::Result<FinishResult> {
        let mut decided = None;
        let finish = self.at(review, |reviews| {
            let id = review.parse()?;
            let seen = &mut |review: &Review, answers| decided = Some((effort(review), answers));
            reviews.finish_with(&id, seen)
        })?;
        let FinishResult::Done(mut ended) = finish else { return Ok(finish) };
        let mut progress = self.progress();
        let case = progress.begun.get(review).map(|begun| begun.case.clone()).unwrap_or_default();
        progress.finished.insert(case.clone());
        let left = self.cases.len() - progress.finished.len();
        drop(progress);
        let ReviewConclusion { synthesis, notes, .. } = &mut *ended;
        let (effort, answers) = decided.unzip();
        let output = CaseOutput::from_synthesis(&Synthesis { spent: effort, ..synthesis.clone() });
        (self.keep)(&case, output, answers).context("cannot store the review")?;
        notes.push(format!("{left} changes of the set are left"));
        Ok(FinishResult::Done(ended))
    }

    fn next_fix(&self, _: &str, _: &BTreeSet<String>) -> anyhow::Result<FixProgress> {
        bail!("the changes of a set are reviewed, and not fixed")
    }

    fn verify_fix(&self, _: &str, _: &str) -> anyhow::Result<(FixVerdict, Vec<Finding>)> {
        bail!("the changes of a set are reviewed, and not fixed")
    }
}
