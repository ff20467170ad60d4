//! The HTML page of a stored review: [`render`] returns a [`ReportPage`], one file that needs
//! nothing else. [`render_loop`] does the same for a validation loop.
//!
//! All content comes from the folder of the run, so the page shows the tree that was reviewed; the
//! history comes from the ledger. `findings` renders findings beside their code, `overview` the
//! verdict, the coverage, the reviewers and the run, and `trend` the history.

mod findings;
mod loop_report;
mod overview;
mod trend;

pub use self::loop_report::{LoopReportPage, render_loop};

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::AutofixClass;
use assay_findings::write::pretty;
use assay_html::filter::FILTER_SCRIPT;
use assay_html::page::{HtmlPage, NavigationLink};
use assay_review::run_context::RunContext;
use assay_review::runs::{self, RunProvenance};
use assay_rules::redact;
use jiff::civil::DateTime;
use maud::html;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::environment::Environment;
use crate::finding_statistics;
use crate::wording::count;

/// The page of a stored review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPage {
    /// The id of the run.
    pub run: String,
    /// The verdict and the number of open findings, in words.
    pub summary: String,
    /// The page.
    pub html: String,
}

/// A stored review, redacted.
struct ReviewedRun {
    id: String,
    synthesis: Synthesis,
    /// The code and the votes; `None` if an earlier version of assay stored the run.
    context: Option<RunContext>,
    provenance: RunProvenance,
    /// The ids of the findings whose fix `assay fix` applies.
    safe_fixes: BTreeSet<String>,
}

impl ReviewedRun {
    fn read(folder: &Path) -> anyhow::Result<ReviewedRun> {
        let fixes = runs::fixes(folder)?.into_iter();
        let safe = fixes.filter(|fix| fix.class == AutofixClass::SafeAuto);
        Ok(ReviewedRun {
            id: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            synthesis: redacted(&runs::synthesis(folder)?)?,
            context: redacted(&runs::context(folder)?)?,
            provenance: runs::provenance(folder)?,
            safe_fixes: safe.map(|fix| fix.finding).collect(),
        })
    }

    fn title(&self) -> &str {
        self.context.as_ref().map_or("a change", |context| &context.title)
    }

    fn summary(&self) -> String {
        let findings = count(self.synthesis.findings.len(), "open finding");
        format!("{}, {findings}", self.synthesis.verdict.state.in_words())
    }

    /// Returns the time of the run, which is the beginning of its id; `None` for another id.
    fn time(&self) -> Option<String> {
        let time = DateTime::strptime("%Y%m%d-%H%M%S", self.id.get(..15)?).ok()?;
        Some(format!("{} UTC", time.strftime("%Y-%m-%d %H:%M:%S")))
    }
}

/// Redacts all texts of a stored value again: the rules may know more credentials than at the time
/// of the run.
fn redacted<T: Serialize + DeserializeOwned>(value: &T) -> anyhow::Result<T> {
    let text = pretty(value);
    serde_json::from_str(&redact(&text)).context("cannot redact the run; review again")
}

/// Renders the page of the run with an id, or of the newest run. Fails if there is no such run, or
/// if it has no authority.
pub fn render(
    environment: &Environment,
    root: &Path,
    run: Option<&str>,
) -> anyhow::Result<ReportPage> {
    let folder = runs::find(&environment.state_of(root), run)?;
    let run = ReviewedRun::read(&folder)?;
    let history = finding_statistics::history(environment, root);
    let main = html! {
        (overview::banner(&run))
        (findings::sections(&run))
        (overview::coverage(&run.synthesis))
        (overview::reviewers(&run.synthesis))
        (overview::remarks(&run.synthesis))
        (trend::section(&history))
        (overview::run_facts(&run))
    };
    let mut page = HtmlPage::new(format!("{}: {}", run.title(), run.summary()), main);
    page.header = html! {
        p.name { "assay" }
        p.about { "Review of " (run.title()) }
    };
    page.navigation = navigation();
    page.footer = html! {
        p { "Made by assay " (run.provenance.assay) " from the run " code { (run.id) } "." }
    };
    page.scripts = vec![FILTER_SCRIPT];
    Ok(ReportPage { summary: run.summary(), html: page.render(), run: run.id })
}

fn navigation() -> Vec<NavigationLink> {
    [
        ("#findings", "Findings"),
        ("#coverage", "Coverage"),
        ("#reviewers", "Reviewers"),
        ("#history", "History"),
        ("#run", "Run"),
    ]
    .map(|(address, text)| NavigationLink::new(address, text))
    .into()
}

#[cfg(test)]
mod tests;
