//! Checks of the base of a loop, which must not contain the work that the loop judges.

use std::collections::{BTreeMap, BTreeSet};

use assay_change::{GitError, StoredFile, StoredFiles};
use assay_findings::write::escape::chain;

use super::LocalEnvironment;
use crate::issue::Issue;
use crate::loop_state::{LoopState, Round};
use crate::run::StepError;
use crate::surroundings::{DELETED, Surroundings, for_person};

/// Maximum number of files that an issue names.
const MAX_NAMED: usize = 5;

impl LocalEnvironment<'_> {
    /// Returns an issue for a base that does not descend from the base of an earlier round, and for
    /// a base that contains the loop's own work. A main branch with new work of other authors
    /// causes no issue.
    pub(super) fn base_issues(
        &self,
        stored: &StoredFiles,
        base: Option<&str>,
        loop_state: &LoopState,
    ) -> Result<Vec<Issue>, StepError> {
        let Some(base) = base else { return Ok(Vec::new()) };
        let approved = loop_state.history.iter().rposition(|round| loop_state.is_approving(round));
        let since = approved.map_or(0, |at| at + 1);
        let judged: Vec<&Surroundings> =
            loop_state.history[since..].iter().map(|round| &round.surroundings).collect();
        let approved = approved.map(|at| &loop_state.history[at]);
        let mut issues = Vec::new();
        let mut seen = BTreeSet::new();
        for earlier in judged.iter().filter_map(|it| it.base.as_deref()) {
            if earlier == base || !seen.insert(earlier) {
                continue;
            }
            if !stored.is_ancestor(earlier, base).map_err(broken)? {
                issues.push(left(earlier, base));
            }
        }
        let own = self.own_work(stored, base, &judged, approved)?;
        issues.extend((!own.is_empty()).then(|| taken_in(base, &own)));
        Ok(issues)
    }

    /// Returns the files and commits of judged rounds that `base` contains and that the base of
    /// their round did not. Work that was approved is left out: it may be part of any base.
    fn own_work(
        &self,
        stored: &StoredFiles,
        base: &str,
        judged: &[&Surroundings],
        approved: Option<&Round>,
    ) -> Result<Vec<String>, StepError> {
        let moved = |it: &&&Surroundings| it.base.as_deref().is_some_and(|it| it != base);
        let judged: Vec<&&Surroundings> = judged.iter().filter(moved).collect();
        if judged.is_empty() {
            return Ok(Vec::new());
        }
        let now = stored.files_of_revision(base).map_err(broken)?;
        let mut own = BTreeSet::new();
        for round in judged {
            let Some(earlier) = round.base.as_deref().filter(|it| stored.has(it)) else { continue };
            let before = stored.files_of_revision(earlier).map_err(broken)?;
            let accepted = approved.map(|round| &round.surroundings);
            for (path, object) in &round.work {
                let is_accepted = accepted.is_some_and(|it| it.work.get(path) == Some(object));
                let is_in = object_of(&now.files, path) == object
                    && object_of(&before.files, path) != object;
                if is_in && !is_accepted {
                    own.insert(format!("`{path}`"));
                }
            }
            let accepted = accepted.and_then(|it| it.head.as_deref());
            if let Some(head) = round.head.as_deref()
                && self.is_taken_in(stored, head, base, [Some(earlier), accepted])?
            {
                own.insert(format!("commit {}", short(head)));
            }
        }
        Ok(own.into_iter().collect())
    }

    /// Returns true if a commit is an ancestor of `base`, and of none of the `others`.
    fn is_taken_in(
        &self,
        stored: &StoredFiles,
        commit: &str,
        base: &str,
        others: [Option<&str>; 2],
    ) -> Result<bool, StepError> {
        if !stored.is_ancestor(commit, base).map_err(broken)? {
            return Ok(false);
        }
        for other in others.into_iter().flatten() {
            if stored.is_ancestor(commit, other).map_err(broken)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn object_of<'a>(files: &'a BTreeMap<String, StoredFile>, path: &str) -> &'a str {
    files.get(path).map_or(DELETED, |file| file.id.as_str())
}

fn left(earlier: &str, base: &str) -> Issue {
    let (from, to) = (short(earlier), short(base));
    let why = format!(
        "earlier rounds used the base {from}, and {to} is no descendant of it: the main branch, \
         or `--base`, was moved; move the base back, or ask a person to decide"
    );
    for_person(format!("Base was moved from {from} to {to}"), format!("base:{earlier}:{base}"), why)
}

fn taken_in(base: &str, own: &[String]) -> Issue {
    let named: Vec<&str> = own.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = match own.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let to = short(base);
    let why = format!(
        "the base {to} contains commits that earlier rounds reviewed and did not approve: \
         {}{more}; code in the base is not reviewed, and its tests count as kept; move the base \
         back, or ask a person to decide",
        named.join(", ")
    );
    for_person(format!("Base contains unapproved commits: {to}"), format!("base:own:{base}"), why)
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn broken(error: GitError) -> StepError {
    StepError::Round(chain(&error))
}
