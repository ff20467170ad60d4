//! The review of a work tree while its files are edited: [`EditorSession`].
//!
//! The rules read the change with the unsaved texts of the editor, by the code of `assay review`:
//! same base, configuration, trust rule, suppressions, baseline and exclusions. Models and
//! analysers are not started while a user types; their open findings come from the ledger, placed
//! on the current lines (`recorded_findings`). [`text_fix`] computes the edits of fixes.
//!
//! The session holds no lock and no connection between two calls. Protocols and threads belong to
//! the server that owns the session.

mod explanation;
mod last_run;
mod recorded_findings;
mod settings_stamp;
pub mod text_fix;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use assay_base::shutdown::Shutdown;
use assay_change::tree::UnsavedTexts;
use assay_change::{Change, EditedWorkTree, Scope, Selection};
use assay_findings::finding::Finding;
use assay_findings::gate::ReviewMode;
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::synthesis::Synthesis;
use assay_review::runs::{self, StoredFix};

pub use self::last_run::LastRun;
use self::settings_stamp::SettingsStamp;
use crate::environment::Environment;
use crate::finding_ledger::{DismissRequest, FindingLedger};
use crate::models::{CachePolicy, ModelOptions, ReviewOptions};
use crate::review_progress::NoProgress;
use crate::review_session::{ReviewSession, SavedRun};

/// The settings of a user for the reviews in an editor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EditorSettings {
    /// The branch or commit to compare with; `None` for the choice of `assay review`.
    pub base: Option<String>,
    /// True if untracked files belong to the change.
    pub untracked: bool,
    /// The lowest severity that is shown; `None` for all.
    pub severity: Option<Grade>,
}

/// The findings of a work tree at one moment.
#[derive(Debug, Default)]
pub struct EditorReview {
    /// The description of the change, such as `working tree against main`.
    pub change: String,
    /// The files of the change that exist after it.
    pub files: BTreeMap<RepoPath, ReviewedFile>,
    /// The newest stored review; `None` if there is none.
    pub last_run: Option<LastRun>,
    /// Notes for the user on the versions of settings that are used, and on unusable state.
    pub notes: Vec<String>,
}

/// A file of a change, as it was reviewed.
#[derive(Debug, Default)]
pub struct ReviewedFile {
    /// The text that the lines of the findings refer to; empty without findings.
    pub text: String,
    /// The open findings, by line.
    pub findings: Vec<EditorFinding>,
    /// The rule that excludes the file from review; `None` if it is reviewed.
    pub excluded: Option<String>,
}

/// A finding at its current place.
#[derive(Debug, Clone, PartialEq)]
pub struct EditorFinding {
    /// The finding.
    pub finding: Finding,
    /// The origin of the finding.
    pub source: FindingSource,
    /// The exact fix; `None` if there is none.
    pub fix: Option<StoredFix>,
}

/// The origin of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingSource {
    /// The rules found the defect in the current text.
    CurrentText,
    /// A stored review found the defect, and its code is still there.
    StoredReview,
}

/// The review of one repository while its files are edited.
pub struct EditorSession {
    environment: Environment,
    folder: PathBuf,
    settings: EditorSettings,
    opened: Option<OpenedTree>,
}

/// A work tree with the inputs of its review that change seldom.
struct OpenedTree {
    work_tree: EditedWorkTree,
    settings_stamp: SettingsStamp,
    inputs: Option<ReviewInputs>,
    last_run: Option<LastRun>,
    fixes: Vec<StoredFix>,
    warnings: Vec<String>,
}

/// The inputs of a review that depend on the names of the changed files, and not on their text.
struct ReviewInputs {
    names: Vec<(Option<String>, Option<String>)>,
    session: ReviewSession,
    recorded: Vec<Finding>,
    /// The reason why the recorded findings are missing; `None` if they are not.
    warning: Option<String>,
}

impl EditorSession {
    /// Creates a session for the repository around a folder. Fails if there is none.
    pub fn new(
        environment: &Environment,
        folder: &Path,
        settings: EditorSettings,
    ) -> anyhow::Result<EditorSession> {
        let folder = assay_change::root(folder)?;
        Ok(EditorSession { environment: environment.clone(), folder, settings, opened: None })
    }

    /// Returns the root of the repository.
    pub fn root(&self) -> &Path {
        &self.folder
    }

    /// Replaces the settings; the next review uses them.
    pub fn set_settings(&mut self, settings: EditorSettings) {
        self.settings = settings;
        self.reload();
    }

    /// Discards all that was read, so that the next review reads the files of git, the settings and
    /// the ledger again.
    pub fn reload(&mut self) {
        self.opened = None;
    }

    /// Reviews the work tree as if the unsaved texts were saved.
    pub fn review(&mut self, unsaved: &UnsavedTexts) -> anyhow::Result<EditorReview> {
        let current = self.opened.take().filter(OpenedTree::is_current);
        let mut opened = match current {
            Some(opened) => opened,
            None => OpenedTree::new(&self.environment, &self.folder, &self.settings)?,
        };
        let review = opened.review(&self.environment, &self.settings, unsaved);
        self.opened = Some(opened);
        review
    }

    /// Reviews the saved work tree with the rules and the analysers, and stores the review as
    /// `assay review --no-models` does.
    pub fn store_review(&mut self, shutdown: &Shutdown) -> anyhow::Result<SavedRun> {
        let models = ModelOptions::without_models();
        let options = ReviewOptions {
            models: &models,
            cache_policy: CachePolicy::Off,
            model_session: None,
            also: None,
        };
        let scope = Scope::on_top_of(self.settings.base.as_deref());
        let selection = self.settings.selection();
        let session =
            ReviewSession::open(&self.environment, &self.folder, &scope, &selection, options)?;
        let review = session.review(ReviewMode::ReportOnly, None, &NoProgress, shutdown);
        let saved = review.save(&session);
        self.reload();
        saved
    }

    /// Dismisses a finding in the ledger, as `assay findings dismiss` does. A finding that no
    /// stored review has is stored first, by a review of the saved files.
    pub fn dismiss(
        &mut self,
        finding: &Finding,
        by: &str,
        reason: &str,
        unsaved: &UnsavedTexts,
    ) -> anyhow::Result<()> {
        let request = DismissRequest::new(&self.environment, reason, None)?;
        if !self.is_stored(&finding.id)? {
            if let Some(file) = finding.file.as_ref().filter(|file| unsaved.contains_key(*file)) {
                bail!(
                    "no stored review has the finding, and `{file}` has unsaved text; save the \
                     file and dismiss the finding again"
                );
            }
            self.store_review(&Shutdown::default())?;
        }
        let mut ledger = FindingLedger::open(&self.environment, &self.folder)?;
        ledger.dismiss(std::slice::from_ref(&finding.id), by, &request)?;
        self.reload();
        Ok(())
    }

    /// Returns the history of a finding as text: reviews, votes and decisions.
    pub fn explain(&self, finding: &Finding) -> anyhow::Result<String> {
        if !self.is_stored(&finding.id)? {
            return Ok(explanation::describe_unstored(finding));
        }
        let ledger = FindingLedger::open_to_read(&self.environment, &self.folder)?;
        Ok(explanation::describe(&ledger.history(&finding.id)?))
    }

    fn is_stored(&self, id: &str) -> anyhow::Result<bool> {
        FindingLedger::has_finding(&self.environment, &self.folder, id)
    }
}

impl EditorSettings {
    fn selection(&self) -> Selection {
        Selection { untracked: self.untracked, ..Selection::default() }
    }

    fn shows(&self, finding: &Finding) -> bool {
        self.severity.as_ref().is_none_or(|lowest| finding.grade.is_at_least(lowest))
    }
}

impl OpenedTree {
    fn new(
        environment: &Environment,
        folder: &Path,
        settings: &EditorSettings,
    ) -> anyhow::Result<OpenedTree> {
        let work_tree =
            EditedWorkTree::open(folder, settings.base.as_deref(), &settings.selection())?;
        let state = environment.state_of(work_tree.root());
        let mut warnings = Vec::new();
        let last = last_run::find(&state).unwrap_or_else(|error| {
            warnings.push(format!("the last review is not shown: {error}"));
            None
        });
        let (last_run, fixes) = last.map_or((None, Vec::new()), |(run, fixes)| (Some(run), fixes));
        let settings_stamp = SettingsStamp::of(work_tree.root());
        Ok(OpenedTree { work_tree, settings_stamp, inputs: None, last_run, fixes, warnings })
    }

    fn is_current(&self) -> bool {
        self.work_tree.is_current()
            && self.settings_stamp == SettingsStamp::of(self.work_tree.root())
    }

    fn review(
        &mut self,
        environment: &Environment,
        settings: &EditorSettings,
        unsaved: &UnsavedTexts,
    ) -> anyhow::Result<EditorReview> {
        let change = self.work_tree.change(unsaved)?;
        let names = change.files.iter().map(|f| (f.old_path.clone(), f.new_path.clone()));
        let names: Vec<_> = names.collect();
        let known = self.inputs.take().filter(|inputs| inputs.names == names);
        let inputs = match known {
            Some(mut known) => {
                known.session.replace_change(change);
                known
            }
            None => {
                let inputs = ReviewInputs::new(environment, change, names)?;
                // Reading the ledger may write to its files.
                self.settings_stamp = SettingsStamp::of(self.work_tree.root());
                inputs
            }
        };
        let inputs = self.inputs.insert(inputs);
        let synthesis = inputs.session.review_without_progress(ReviewMode::ReportOnly).synthesis;
        let change = &inputs.session.change;
        let mut review = EditorReview {
            change: change.title.clone(),
            files: reviewed_files(change),
            last_run: self.last_run.clone(),
            notes: self.warnings.clone(),
        };
        review.notes.extend(inputs.session.notes.iter().cloned());
        review.notes.extend(inputs.session.ledger_warning());
        review.notes.extend(inputs.warning.clone());
        let current = current_findings(change, &synthesis);
        let recorded = inputs.recorded.iter().filter(|f| !inputs.session.is_dismissed(f));
        let recorded = recorded_findings::place_all(recorded, change, &self.fixes);
        for found in current.chain(recorded).filter(|found| settings.shows(&found.finding)) {
            add(&mut review.files, found);
        }
        for (path, file) in review.files.iter_mut().filter(|(_, file)| !file.findings.is_empty()) {
            file.text = change.tree().read(path)?.unwrap_or_default();
            file.findings.sort_by_key(|found| (found.finding.line, found.finding.column));
        }
        Ok(review)
    }
}

impl ReviewInputs {
    fn new(
        environment: &Environment,
        change: Change,
        names: Vec<(Option<String>, Option<String>)>,
    ) -> anyhow::Result<ReviewInputs> {
        let session = ReviewSession::of_rules(environment, change)?;
        // An unusable ledger does not stop the rules.
        let (recorded, warning) = match recorded_findings::read(environment, &session.change) {
            Ok(recorded) => (recorded, None),
            Err(error) => {
                (Vec::new(), Some(format!("findings of stored reviews are not shown: {error:#}")))
            }
        };
        Ok(ReviewInputs { names, session, recorded, warning })
    }
}

/// Returns the files that exist after a change, without findings.
fn reviewed_files(change: &Change) -> BTreeMap<RepoPath, ReviewedFile> {
    let files = change.files.iter().filter_map(|file| {
        let path = RepoPath::exact(file.new_path.as_deref()?).ok()?;
        let excluded = file.left_out.as_ref().map(|exclusion| exclusion.rule.clone());
        let excluded = excluded.or_else(|| match file.without_content() {
            Some("binary") => Some("binary".to_owned()),
            _ => None,
        });
        Some((path, ReviewedFile { excluded, ..ReviewedFile::default() }))
    });
    files.collect()
}

fn current_findings<'a>(
    change: &Change,
    synthesis: &'a Synthesis,
) -> impl Iterator<Item = EditorFinding> + 'a {
    let mut fixes: BTreeMap<String, StoredFix> = runs::fixes_of(change, synthesis)
        .into_iter()
        .map(|fix| (fix.finding.clone(), fix))
        .collect();
    synthesis.findings.iter().map(move |finding| EditorFinding {
        finding: finding.clone(),
        source: FindingSource::CurrentText,
        fix: fixes.remove(&finding.id),
    })
}

fn add(files: &mut BTreeMap<RepoPath, ReviewedFile>, found: EditorFinding) {
    let Some(file) = found.finding.file.clone() else { return };
    files.entry(file).or_default().findings.push(found);
}

#[cfg(test)]
mod tests;
