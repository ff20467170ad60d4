//! The implementation of `Reviewer` for an analyser.

use assay_change::Change;
use assay_findings::coverage::HunkOutcome;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, ReviewerKind};

use super::CommandReviewer;
use crate::reviewer::{OnProgress, ReadDecision, Reviewer, ReviewerAnswer, reviewer_coverage};
use crate::secrets::redact_report;

impl Reviewer for CommandReviewer {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Command
    }

    fn is_required(&self) -> bool {
        self.required
    }

    fn interest(&self, change: &Change) -> ReadDecision {
        let taken = paths(change).iter().flatten().filter(|path| self.files.matches(path)).count();
        match taken {
            0 => ReadDecision::Skips("no changed file matches `files`".to_owned()),
            1 => ReadDecision::Reads("1 changed file matches `files`".to_owned()),
            _ => ReadDecision::Reads(format!("{taken} changed files match `files`")),
        }
    }

    fn review(&self, change: &Change, _on_progress: OnProgress<'_>) -> ReviewerAnswer {
        let folder = match change.checkout() {
            Ok(folder) => folder,
            Err(error) => {
                let why = format!("cannot check out the change for the analyser: {error}");
                return ReviewerAnswer::failed(self, change, &why);
            }
        };
        let files: Vec<RepoPath> = paths(change).into_iter().flatten().collect();
        let mut report =
            self.review_in(folder.path(), &files, change.tree(), &change.changed_lines());
        report.required = self.required;
        redact_report(&mut report, change);
        let looks = reviewer_coverage(self, self.looks(change, &report));
        ReviewerAnswer { report, looks, suppressions: Vec::new(), exchanges: Vec::new() }
    }
}

impl CommandReviewer {
    /// Returns the outcome of each hunk: the analyser's files are read, unless it failed.
    fn looks(&self, change: &Change, report: &Report) -> Vec<HunkOutcome> {
        let look = |path: &Option<RepoPath>| match (path, &report.unusable) {
            (Some(path), None) if self.files.matches(path) => HunkOutcome::Reviewed,
            (Some(path), Some(why)) if self.files.matches(path) => HunkOutcome::Failed(why.clone()),
            _ => HunkOutcome::NotConcerned,
        };
        let files = change.files.iter().zip(paths(change));
        files.flat_map(|(file, path)| vec![look(&path); file.hunks.len().max(1)]).collect()
    }
}

/// Returns the path of each changed file that exists after the change and is not left out.
fn paths(change: &Change) -> Vec<Option<RepoPath>> {
    let path = |file: &assay_change::diff::FileDiff| {
        let path = file.new_path.as_deref().filter(|_| file.left_out.is_none())?;
        RepoPath::exact(path).ok()
    };
    change.files.iter().map(path).collect()
}
