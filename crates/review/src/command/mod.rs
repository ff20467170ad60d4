//! Outside analysers as reviewers: [`CommandReviewer`].
//!
//! [`form`] reads what an analyser prints, [`known`] has the command lines of well-known ones.
//! An analyser is run in the folder that holds the change; what it finds away from the changed
//! lines is taken for old.

mod checkout;
mod draft;
mod edit;
pub mod form;
pub mod known;
mod review;
mod run;
mod severity;
mod sheet;

use std::path::Path;
use std::time::Duration;

use assay_base::clock::Stopwatch;
use assay_findings::ground::{ChangedLines, Tree};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};

pub use self::checkout::Checkout;
use self::form::Form;
use crate::globs::Globs;

/// The argument that stands for the changed files.
pub const FILES: &str = "{files}";

/// How long an analyser may run unless told otherwise.
pub const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// The most bytes of file names in one command line.
const MAX_NAMES: usize = 64 << 10;

/// An analyser that is run as a reviewer.
#[derive(Debug, Clone)]
pub struct CommandReviewer {
    /// What it is called; for the forms that do not say who speaks, this stands before each rule.
    pub name: String,
    /// The program: a name to be found on `PATH`, or a path.
    pub program: String,
    /// A folder of the repository in which the program is looked for before `PATH`, such as
    /// `node_modules/.bin`. What lies there may be whatever the change put there.
    pub own_folder: Option<String>,
    /// Its arguments. One that is `{files}` becomes the changed files, an argument each; without it
    /// the analyser is run once and finds its files itself.
    pub args: Vec<String>,
    /// Variables that it needs besides the few that every command gets.
    pub env: Vec<(String, String)>,
    /// The form of what it prints.
    pub form: Form,
    /// Which files it takes.
    pub files: Globs,
    /// Whether the change cannot be ready without it.
    pub required: bool,
    /// How long it may run, all files together.
    pub time: Duration,
    /// Whether it runs code of the repository, so that it needs what that code needs. Any other gets
    /// a home of its own and is kept from writing elsewhere and from the network, where the system
    /// can do that.
    pub runs_code: bool,
}

impl CommandReviewer {
    /// Makes an optional reviewer that takes all files.
    pub fn new(name: impl Into<String>, program: impl Into<String>, form: Form) -> CommandReviewer {
        CommandReviewer {
            name: name.into(),
            program: program.into(),
            own_folder: None,
            args: Vec::new(),
            env: Vec::new(),
            form,
            files: Globs::all(),
            required: false,
            time: DEFAULT_TIME,
            runs_code: true,
        }
    }

    /// Returns the files that it takes, of those that are not known to be absent.
    pub fn takes<'f>(&self, files: &'f [RepoPath], tree: &dyn Tree) -> Vec<&'f RepoPath> {
        let exists = |file: &RepoPath| tree.exists(file).unwrap_or(true);
        files.iter().filter(|file| self.files.matches(file) && exists(file)).collect()
    }

    /// Runs it on the files of a change in the folder that holds them: `root` has to hold what
    /// `tree` says, or lines and fixes are those of other files.
    ///
    /// A finding on lines that the change did not touch is marked as one that fires on the tree
    /// before as well. That is a guess: a change may break what stands elsewhere. It is made since
    /// an analyser says what is wrong with a file, not with a change.
    pub fn review_in(
        &self,
        root: &Path,
        files: &[RepoPath],
        tree: &dyn Tree,
        changed: &ChangedLines,
    ) -> Report {
        let files = self.takes(files, tree);
        if files.is_empty() {
            let mut report = Report::new(self.reviewer());
            report.remarks.notes.push(format!("no changed file is one for {}", self.name));
            return report;
        }
        if !root.is_dir() {
            return Report::unusable(self.reviewer(), "the folder to run it in is not there");
        }
        let checkout = Checkout::new(root, tree);
        let start = Stopwatch::start();
        let runs = self.runs(&files);
        let reports = runs.iter().map(|names| {
            let left = self.time.saturating_sub(start.elapsed());
            run::Run { reviewer: self, root, names, time: left }.report(&checkout)
        });
        let mut report = join(Report::new(self.reviewer()), reports);
        mark_old(&mut report, changed);
        report
    }

    fn reviewer(&self) -> Reviewer {
        Reviewer::new(&self.name, ReviewerKind::Command)
    }

    /// Cuts the files into as many runs as their names need.
    fn runs<'f>(&self, files: &[&'f RepoPath]) -> Vec<Vec<&'f RepoPath>> {
        if !self.args.iter().any(|arg| arg == FILES) {
            return vec![Vec::new()];
        }
        let mut runs: Vec<Vec<&RepoPath>> = Vec::new();
        let mut size = 0;
        for &file in files {
            // With the `./` that some need, and the end.
            let name = file.as_str().len() + 3;
            match runs.last_mut() {
                Some(run) if size + name <= MAX_NAMES => run.push(file),
                _ => {
                    runs.push(vec![file]);
                    size = 0;
                }
            }
            size += name;
        }
        runs
    }
}

/// Puts the reports of several runs together; one that is unusable makes them all so, and what the
/// others found is kept.
fn join(mut whole: Report, parts: impl Iterator<Item = Report>) -> Report {
    for part in parts {
        whole.votes.extend(part.votes);
        whole.rejected.extend(part.rejected);
        whole.lost += part.lost;
        whole.remarks.notes.extend(part.remarks.notes);
        whole.remarks.not_covered.extend(part.remarks.not_covered);
        let is_unusable = part.unusable.is_some();
        whole.unusable = whole.unusable.or(part.unusable);
        if is_unusable {
            // What stopped one run stops the others as well, mostly after as long a wait.
            break;
        }
    }
    whole
}

/// Marks what lies away from the changed lines as old.
fn mark_old(report: &mut Report, changed: &ChangedLines) {
    for vote in report.votes.iter_mut().filter(|vote| !vote.fires_on_base) {
        let Some(file) = &vote.file else { continue };
        let touched = match vote.lines {
            Some(lines) => changed.touches(file, lines),
            None => changed.has_file(file),
        };
        vote.fires_on_base = !touched;
    }
}
