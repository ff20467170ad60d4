//! The diffs of a plan and their result: [`PlanDiffs`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use assay_change::ExclusionRules;
use assay_change::unified::{FilePatch, PatchedTree};
use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_rules::Rulebook;

use super::path_patterns::NamedFiles;
use super::rule_results::RuleResults;
use crate::file_kinds;
use crate::plan::Plan;
use crate::plan::patch::{PlacedPatch, files};

/// Maximum size, in bytes, of a file that the rules read.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The diffs of a plan. They are applied, and the rules are run on them, on first use.
pub(crate) struct PlanDiffs<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) patches: Vec<PlacedPatch<'p>>,
    /// The indices of the diffs, and of the files in them, keyed by path.
    places: BTreeMap<String, Vec<(usize, usize)>>,
    /// The paths of the files before the diffs.
    left: BTreeSet<String>,
    /// The files that each milestone names, computed on first use.
    named: Vec<OnceLock<NamedFiles>>,
    tree: &'p (dyn Tree + Sync),
    rules: &'p Rulebook,
    patched: OnceLock<PatchedTree>,
    ruled: OnceLock<(RuleResults, Option<TreeError>)>,
}

impl<'p> PlanDiffs<'p> {
    /// Parses the diffs of a plan.
    pub(crate) fn of(
        plan: &'p Plan,
        tree: &'p (dyn Tree + Sync),
        rules: &'p Rulebook,
    ) -> PlanDiffs<'p> {
        let patches = plan.patches();
        let mut places: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        let mut left = BTreeSet::new();
        for (diff, placed) in patches.iter().enumerate() {
            for (nth, file) in placed.patch.files.iter().enumerate() {
                places.entry(file.path().to_owned()).or_default().push((diff, nth));
                left.extend(file.old.as_ref().map(RepoPath::to_string));
            }
        }
        let (patched, ruled) = (OnceLock::new(), OnceLock::new());
        let named = plan.milestones.iter().map(|_| OnceLock::new()).collect();
        PlanDiffs { plan, patches, places, left, named, tree, rules, patched, ruled }
    }

    /// Returns the files and tests that the milestone of a diff names; `None` if the diff has no
    /// milestone.
    pub(crate) fn named_by(&self, placed: &PlacedPatch<'p>) -> Option<&NamedFiles> {
        let milestone = placed.milestone?;
        let files = || milestone.named_files().iter().chain(&milestone.tests);
        Some(self.named.get(placed.nth?)?.get_or_init(|| NamedFiles::of(files())))
    }

    /// Returns the tree after the diffs.
    pub(crate) fn patched(&self) -> &PatchedTree {
        self.patched.get_or_init(|| PatchedTree::of(self.tree, files(&self.patches)))
    }

    /// Returns the paths of the files in the diffs.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// Returns true if a diff changes, moves or deletes the file at a path.
    pub(crate) fn touches(&self, path: &str) -> bool {
        self.places.contains_key(path) || self.left.contains(path)
    }

    /// Returns the parts of the diffs for a path, in order.
    pub(crate) fn of_path(&self, path: &str) -> Vec<(&PlacedPatch<'p>, &FilePatch<'p>)> {
        let places = self.places.get(path).map_or(&[][..], Vec::as_slice);
        let part = |(diff, nth): &(usize, usize)| {
            let placed = &self.patches[*diff];
            (placed, &placed.patch.files[*nth])
        };
        places.iter().map(part).collect()
    }

    /// Returns the results of the rules on the diffs.
    pub(crate) fn ruled(&self) -> &RuleResults {
        &self.ruled_on_tests().0
    }

    /// Returns the error of reading the repository's tests, without which missing tests cannot be
    /// recognised; `None` if there was none.
    pub(crate) fn tests_error(&self) -> Option<&TreeError> {
        self.ruled_on_tests().1.as_ref()
    }

    fn ruled_on_tests(&self) -> &(RuleResults, Option<TreeError>) {
        self.ruled.get_or_init(|| {
            let (tests, error) = match some_test(self.tree) {
                Ok(tests) => (tests, None),
                Err(error) => (BTreeMap::new(), Some(error)),
            };
            let mut change = self.patched().change("the plan", Path::new("."), tests);
            if let Ok(usual) = ExclusionRules::new(&[], MAX_FILE_BYTES) {
                change.exclude(&usual);
            }
            (RuleResults::of(&change, self.rules), error)
        })
    }
}

/// Returns a test of the repository, if there is one: the rules report missing tests only in a
/// repository with tests.
fn some_test(tree: &(dyn Tree + Sync)) -> Result<BTreeMap<RepoPath, String>, TreeError> {
    let is_code = |path: &RepoPath| file_kinds::is_code(path.as_str());
    let is_test = |path: &RepoPath| assay_rules::is_test(path.as_str()) && is_code(path);
    for path in tree.paths()?.into_iter().filter(is_test) {
        if let Some(text) = tree.read(&path)? {
            return Ok(BTreeMap::from([(path, text)]));
        }
    }
    Ok(BTreeMap::new())
}
