//! The origins of the code of findings, when a review is recorded: [`CodeOrigins`].

use std::collections::{BTreeMap, HashMap};

use assay_change::Lineage;
use assay_findings::finding::Finding;
use assay_findings::path::RepoPath;
use assay_store::ledger::Ledger;
use assay_store::ledger::record::CodeOrigin;

use super::{LedgerUseError, StoredReview};

/// The maximum number of files whose lines git is asked about for one review.
const MAX_BLAMED_FILES: usize = 50;

/// The origins of the code of a review's findings. Git is asked only about findings whose author the
/// ledger does not have, so that a review of known findings costs nothing.
pub(super) struct CodeOrigins<'a> {
    kept: &'a StoredReview<'a>,
    lineage: &'a Lineage,
    /// The id of this checkout; `None` if the ledger belongs to this checkout alone.
    checkout: Option<String>,
    authors: HashMap<(RepoPath, u32), String>,
    committed: HashMap<Option<RepoPath>, bool>,
}

impl<'a> CodeOrigins<'a> {
    pub(super) fn new(
        kept: &'a StoredReview<'a>,
        ledger: &Ledger,
        lineage: &'a Lineage,
    ) -> Result<CodeOrigins<'a>, LedgerUseError> {
        Ok(CodeOrigins {
            kept,
            lineage,
            checkout: own_checkout(kept),
            authors: authors(kept, ledger)?,
            committed: HashMap::new(),
        })
    }

    pub(super) fn of(&mut self, finding: &Finding) -> Result<CodeOrigin, LedgerUseError> {
        let place = finding.file.clone().zip(finding.line);
        let author = place.and_then(|place| self.authors.get(&place).cloned());
        let checkout = self.checkout.clone().filter(|_| !self.is_committed(finding));
        Ok(CodeOrigin { author, checkout })
    }

    fn is_committed(&mut self, finding: &Finding) -> bool {
        let (change, lineage) = (self.kept.change, self.lineage);
        let file = finding.file.clone();
        *self
            .committed
            .entry(file)
            .or_insert_with_key(|file| lineage.is_committed(change, file.as_ref()))
    }
}

/// Returns the id of the checkout of a review; `None` if its ledger is a file, which belongs to the
/// checkout.
pub(super) fn own_checkout(kept: &StoredReview<'_>) -> Option<String> {
    kept.state.ledger_url()?;
    // Without a state home, nothing tells checkouts apart: each is another one.
    Some(kept.state.checkout_id().unwrap_or_else(|| format!("unknown-{}", kept.run)))
}

/// Returns the authors of the lines of findings whose author is not known yet.
fn authors(
    kept: &StoredReview<'_>,
    ledger: &Ledger,
) -> Result<HashMap<(RepoPath, u32), String>, LedgerUseError> {
    let mut lines: BTreeMap<&RepoPath, Vec<u32>> = BTreeMap::new();
    let synthesis = kept.synthesis;
    for finding in synthesis.findings.iter().chain(&synthesis.dismissed) {
        let (Some(file), Some(line)) = (&finding.file, finding.line) else { continue };
        if !ledger.has_author(&finding.fingerprint, file.as_str())? {
            lines.entry(file).or_default().push(line);
        }
    }
    // A finding whose author cannot be found counts as one with an unknown author.
    let found = kept.change.line_authors().ok().flatten();
    let Some(found) = found.filter(|_| !lines.is_empty()) else { return Ok(HashMap::new()) };
    let mut authors = HashMap::new();
    for (file, lines) in lines.into_iter().take(MAX_BLAMED_FILES) {
        let of_file = found.of(file, &lines).into_iter();
        authors.extend(of_file.map(|(line, author)| ((file.clone(), line), author)));
    }
    Ok(authors)
}
