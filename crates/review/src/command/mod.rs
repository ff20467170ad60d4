//! External analysers as reviewers: [`CommandReviewer`].
//!
//! [`mod@format`] parses the output of an analyser, [`known_analysers`] has the command lines of
//! well-known ones. An analyser runs in the folder that contains the change; its findings outside
//! of the changed lines are considered old.

pub mod analyser_detection;
mod checkout;
mod draft;
mod edit;
pub mod format;
mod import;
pub mod known_analysers;
mod report_builder;
mod review;
mod run;
mod severity;

use std::path::Path;
use std::time::Duration;

use assay_base::clock::Stopwatch;
use assay_findings::grounding::{ChangedLines, Tree};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};

pub use self::checkout::Checkout;
use self::format::AnalyserFormat;
pub use self::import::imported_report;
use crate::globs::Globs;

/// The placeholder for the changed files in the arguments.
pub const FILES_PLACEHOLDER: &str = "{files}";

/// The default timeout of an analyser.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum number of bytes of file names in one command line.
const MAX_NAME_BYTES: usize = 64 << 10;

/// An analyser that runs as a reviewer.
#[derive(Debug, Clone)]
pub struct CommandReviewer {
    /// The name; also the prefix of each rule, for formats that do not name the tool.
    pub name: String,
    /// The program: a name to be found on `PATH`, or a path.
    pub program: String,
    /// A folder of the repository in which the program is looked for before `PATH`, such as
    /// `node_modules/.bin`. The change itself may have put any program there.
    pub own_folder: Option<String>,
    /// The arguments. `{files}` is replaced by the changed files, one argument for each; without it
    /// the analyser runs once and finds its files itself.
    pub args: Vec<String>,
    /// Variables that the analyser needs in addition to those that every command gets.
    pub env: Vec<(String, String)>,
    /// The format of the output.
    pub format: AnalyserFormat,
    /// The files that the analyser takes.
    pub files: Globs,
    /// True if the change cannot be ready without a report of the analyser.
    pub required: bool,
    /// The timeout for all changed files together. They may need several runs of the program.
    pub time: Duration,
    /// True if the analyser runs code of the repository, so that it needs the environment of that
    /// code. Any other analyser gets a home of its own and, where the system supports it, can
    /// neither write elsewhere nor use the network.
    pub runs_code: bool,
}

impl CommandReviewer {
    /// Creates an optional reviewer that takes all files.
    pub fn new(
        name: impl Into<String>,
        program: impl Into<String>,
        format: AnalyserFormat,
    ) -> CommandReviewer {
        CommandReviewer {
            name: name.into(),
            program: program.into(),
            own_folder: None,
            args: Vec::new(),
            env: Vec::new(),
            format,
            files: Globs::all(),
            required: false,
            time: DEFAULT_TIMEOUT,
            runs_code: true,
        }
    }

    /// Returns the files that the analyser takes, without those that are known to be absent.
    pub fn accepted_files<'f>(&self, files: &'f [RepoPath], tree: &dyn Tree) -> Vec<&'f RepoPath> {
        let exists = |file: &RepoPath| tree.exists(file).unwrap_or(true);
        files.iter().filter(|file| self.files.matches(file) && exists(file)).collect()
    }

    /// Runs the analyser on the files of a change in a folder. `root` must contain the files of
    /// `tree`; otherwise lines and fixes belong to other files.
    ///
    /// A finding on lines that the change did not touch is marked as one that also fires on the
    /// tree before. That is a guess: a change may break code elsewhere. An analyser reports the
    /// problems of a file, not those of a change, so there is no better one.
    pub fn review_in(
        &self,
        root: &Path,
        files: &[RepoPath],
        tree: &dyn Tree,
        changed: &ChangedLines,
    ) -> Report {
        let files = self.accepted_files(files, tree);
        if files.is_empty() {
            let mut report = Report::new(self.reviewer());
            report.remarks.notes.push(format!("no changed file matches `files` of {}", self.name));
            return report;
        }
        if !root.is_dir() {
            return Report::unusable(
                self.reviewer(),
                "the folder to run the analyser in does not exist",
            );
        }
        let checkout = Checkout::new(root, tree);
        let start = Stopwatch::start();
        let runs = self.batches(&files);
        let reports = runs.iter().map(|names| {
            let left = self.time.saturating_sub(start.elapsed());
            run::AnalyserRun { reviewer: self, root, names, time: left }.report(&checkout)
        });
        let mut report = join(Report::new(self.reviewer()), reports);
        mark_old(&mut report, changed);
        report
    }

    fn reviewer(&self) -> Reviewer {
        Reviewer::new(&self.name, ReviewerKind::Command)
    }

    /// Splits the files into as many runs as the length of their names requires.
    fn batches<'f>(&self, files: &[&'f RepoPath]) -> Vec<Vec<&'f RepoPath>> {
        if !self.args.iter().any(|arg| arg == FILES_PLACEHOLDER) {
            return vec![Vec::new()];
        }
        let mut runs: Vec<Vec<&RepoPath>> = Vec::new();
        let mut size = 0;
        for &file in files {
            // With the `./` that some names need, and the terminator.
            let name = file.as_str().len() + 3;
            match runs.last_mut() {
                Some(run) if size + name <= MAX_NAME_BYTES => run.push(file),
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

/// Joins the reports of several runs. An unusable one makes the whole unusable; the findings of the
/// others are kept.
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
            // The reason that stopped one run would stop the others too, mostly after the same
            // wait.
            break;
        }
    }
    whole
}

/// Marks findings outside of the changed lines as old.
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
