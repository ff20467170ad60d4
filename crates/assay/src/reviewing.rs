//! A review from end to end: [`Prepared`] has all that is needed for it, [`Reviewed`] what came of
//! it. What is shown and done about it is the commands' business.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_change::{Change, Scope, Selection};
use assay_findings::coverage::Requirement;
use assay_findings::gate::Mode;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal};
use assay_findings::synthesis::Synthesis;
use assay_review::baseline::Baseline;
use assay_review::recording::{RecordedTerms, Recording};
use assay_review::runs::{self, Record};
use assay_review::{AtATime, Interest, Order, Review, Reviewer, Rules, Terms};

use crate::commands::today;
use crate::models::{Asked, Panel};
use crate::progress::Progress;
use crate::settings::Settings;

/// The most bytes of changed files that a run keeps to be had again.
const KEPT_WITH_A_RUN: usize = 8 << 20;

/// A change with everything that is needed to review it.
pub(crate) struct Prepared {
    pub(crate) change: Change,
    pub(crate) reviewers: Vec<Box<dyn Reviewer>>,
    pub(crate) baseline: Baseline,
    /// What is to be told about what decides on the change.
    pub(crate) notes: Vec<String>,
    /// Whether models are asked.
    pub(crate) panel: Option<Panel>,
    at_a_time: usize,
    fail_on: Option<Grade>,
    require: Requirement,
    dismissals: Vec<Dismissal>,
    today: Option<Day>,
}

impl Prepared {
    /// Opens a change and reads what is configured for it.
    pub(crate) fn open(
        folder: &Path,
        scope: &Scope,
        selection: &Selection,
        asked: Asked<'_>,
    ) -> anyhow::Result<Prepared> {
        let mut change = assay_change::open(folder, scope, selection)?;
        let settings = Settings::of(&change)?;
        change.leave_out(&settings.leave_out);
        let today = today();
        let date = today.clone().map(String::from).unwrap_or_default();
        let panel = Panel::new(asked, &settings, &change, &date)?;
        let brought = panel.as_ref().and_then(|_| runs::brought(&change.root));
        let brought = brought.map(|folder| {
            format!("`{folder}` came with the repository, so nothing that was kept is used")
        });
        let mut reviewers: Vec<Box<dyn Reviewer>> = vec![Box::new(Rules(settings.rules))];
        let commands = settings.commands.into_iter();
        reviewers.extend(commands.map(|command| Box::new(command) as Box<dyn Reviewer>));
        reviewers.extend(panel.iter().flat_map(Panel::reviewers));
        Ok(Prepared {
            change,
            reviewers,
            notes: settings.notes.into_iter().chain(brought).collect(),
            panel,
            at_a_time: settings.at_a_time,
            fail_on: settings.fail_on,
            require: settings.require,
            dismissals: settings.baseline.dismissals(),
            baseline: settings.baseline,
            today,
        })
    }

    /// Opens a recorded review, seen from a folder; models answer as they did.
    pub(crate) fn recorded(folder: &Path, root: PathBuf) -> anyhow::Result<Prepared> {
        let recording = Recording::read(folder)?;
        let terms = recording.terms.clone();
        let panel = recording.models.clone().map(|models| Panel::recorded(models, folder));
        let panel = panel.transpose()?;
        let (change, mut reviewers) = recording.open(root);
        reviewers.extend(panel.iter().flat_map(Panel::reviewers));
        Ok(Prepared {
            change,
            reviewers,
            notes: vec!["this is a recorded review: nothing was asked, and nothing is kept".into()],
            panel,
            at_a_time: 1,
            fail_on: terms.fail_on,
            require: terms.require,
            dismissals: terms.dismissals,
            baseline: Baseline::default(),
            today: terms.today,
        })
    }

    /// Has everybody who is concerned read the change, and decides.
    pub(crate) fn review(&self, mode: Mode, fail_on: Option<&Grade>) -> Reviewed {
        let progress = Progress::new();
        let models = self.panel.as_ref().map_or(1, |panel| panel.at_a_time);
        let order = self.panel.as_ref().map(|panel| panel.order(&self.change, &self.reviewers));
        let order = order.unwrap_or(Order::AllAtOnce);
        let at_a_time = AtATime { local: self.at_a_time, models, order };
        let mut review = assay_review::run(&self.change, &self.reviewers, at_a_time, &progress);
        let fail_on = fail_on.or(self.fail_on.as_ref()).cloned();
        let mut synthesis = self.synthesis(&review, mode, fail_on.clone());
        if let Some(panel) = &self.panel {
            progress.looking_again();
            panel.look_again(&self.change, &synthesis, &mut review);
            synthesis = self.synthesis(&review, mode, fail_on.clone());
        }
        Reviewed { review, synthesis, log: progress.finish(), fail_on }
    }

    fn synthesis(&self, review: &Review, mode: Mode, fail_on: Option<Grade>) -> Synthesis {
        let terms = Terms {
            mode,
            fail_on,
            require: self.require,
            dismissals: &self.dismissals,
            spent: self.panel.as_ref().map(Panel::spent),
            today: self.today.clone(),
        };
        review.synthesis(&self.change, &terms)
    }

    /// Says what those who read the change are made of.
    fn made_of(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let reads = |by: &&dyn Reviewer| matches!(by.interest(&self.change), Interest::Reads(_));
        let readers = self.reviewers.iter().map(|by| &**by).filter(reads);
        readers.map(|by| (by.name().to_owned(), by.made_of())).collect()
    }
}

/// What came of reviewing a change.
pub(crate) struct Reviewed {
    review: Review,
    pub(crate) synthesis: Synthesis,
    log: Vec<String>,
    fail_on: Option<Grade>,
}

impl Reviewed {
    /// Keeps the review as a run.
    pub(crate) fn keep(&self, prepared: &Prepared) -> anyhow::Result<String> {
        let id = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f").to_string();
        // What models said was paid for, so it is kept to be had again.
        let recording = prepared.panel.as_ref().map(|_| self.recording(prepared));
        let recording = recording.filter(|recording| recording.bytes() <= KEPT_WITH_A_RUN);
        let replies = prepared.panel.as_ref().and_then(Panel::replies);
        let record = Record {
            change: &prepared.change,
            reports: &self.review.reports,
            synthesis: &self.synthesis,
            log: &self.log,
            version: env!("CARGO_PKG_VERSION"),
            made_of: prepared.made_of(),
            exchanges: &self.review.exchanges,
            recording: recording.as_ref(),
            replies: replies.as_deref(),
        };
        record.save(&id)?;
        Ok(id)
    }

    /// Records the review into a folder, to be had again anywhere.
    pub(crate) fn record(&self, prepared: &Prepared, folder: &Path) -> anyhow::Result<()> {
        let replies = prepared.panel.as_ref().and_then(Panel::replies);
        self.recording(prepared).save_with(replies.as_deref(), folder)?;
        Ok(())
    }

    fn recording(&self, prepared: &Prepared) -> Recording {
        let terms = RecordedTerms {
            fail_on: self.fail_on.clone(),
            require: prepared.require,
            dismissals: prepared.dismissals.clone(),
            today: prepared.today.clone(),
        };
        let panel = prepared.panel.as_ref();
        let mut others = panel.map(|panel| panel.others(&prepared.change)).unwrap_or_default();
        others.extend(self.review.named_files());
        let models = panel.map(Panel::record);
        Recording::new(&prepared.change, &others, terms, models, &self.review)
    }
}
