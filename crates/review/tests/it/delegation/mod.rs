//! Delegated reviews: the same answers give the same result, and nothing is counted twice.

mod ending;
mod fixes;
mod provider;
mod receipts;
mod reports;
mod state_folder;

use std::path::PathBuf;

use assay_change::state::State;
use assay_change::{Change, Scope, Selection};
use assay_findings::coverage::CoverageRequirement;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::NoContentPolicy;
use assay_review::delegation::close::{CloseResult, CurrentEvidence};
use assay_review::delegation::receipt::Receipt;
use assay_review::delegation::{
    BriefReader, DelegatedReview, DelegationError, MAX_PART_BYTES, ReviewId, StartOptions,
    host_description,
};
use assay_review::recording::{Grouping, RecordedModels, RecordedPolicy};
use assay_review::{Reviewer, RuleReviewer, delegation};
use assay_rules::Rulebook;
use assay_testkit::Repository;
use expect_test::Expect;
use serde_json::json;

const BEFORE: &str = "def find(db, request):\n    return None\n";

const AFTER: &str = "\
import hashlib


def find(db, request):
    return db.execute(f\"SELECT * FROM users WHERE name = {request.GET['name']}\")


def mean(prices):
    return sum(prices) / len(prices)


def first(prices):
    return sorted(prices)[0]
";

const ID: &str = "20261115-120000-000";

/// A repository with a change in its work tree.
struct Case {
    repository: Repository,
    named: Vec<String>,
    second_looks: bool,
}

impl Case {
    fn new() -> Case {
        let repository = Repository::new();
        repository.write("shop.py", BEFORE);
        repository.commit("before");
        repository.write("shop.py", AFTER);
        let named = ["correctness", "security"].map(str::to_owned).to_vec();
        Case { repository, named, second_looks: false }
    }

    fn state(&self) -> State {
        State::new(self.repository.path(), Some(self.repository.state_home()))
    }

    fn change(&self) -> Change {
        self.opened(&Scope::Automatic)
    }

    fn opened(&self, scope: &Scope) -> Change {
        assay_change::open(self.repository.path(), scope, &Selection::default()).unwrap()
    }

    fn models(&self) -> RecordedModels {
        RecordedModels {
            personas: Vec::new(),
            named: self.named.clone(),
            added: Vec::new(),
            grouping: Grouping::EachPersona,
            tiers: [(); 3].map(|()| host_description("claude")),
            thinking: 0,
            prior: None,
            memory: None,
            second_looks: self.second_looks,
            largest_part: Some(MAX_PART_BYTES),
            lookups: None,
        }
    }

    fn start(&self) -> DelegatedReview {
        self.try_start().unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_start(&self) -> Result<DelegatedReview, DelegationError> {
        delegation::start(StartOptions {
            state: &self.state(),
            id: id(),
            host: "claude",
            change: &self.change(),
            scope: &Scope::Automatic,
            selection: &Selection::default(),
            in_work_tree: true,
            read_by: BriefReader::Myself,
            reviewers: rules(),
            at_a_time: 1,
            models: self.models(),
            terms: terms(),
        })
    }

    /// Opens the review again, as a restarted server does.
    fn open(&self) -> DelegatedReview {
        self.try_open().unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_open(&self) -> Result<DelegatedReview, DelegationError> {
        delegation::open(&self.state(), &id())
    }

    fn report(&self, persona: &str, part: usize, text: &str) -> Result<Receipt, DelegationError> {
        self.open().report(persona, part, text)
    }

    /// Closes the review, stores it, and returns its synthesis.
    fn close(&self) -> Synthesis {
        let now = self.change();
        let CloseResult::Done(closed) = self.open().close(Some(self.present(&now))).unwrap() else {
            panic!("second looks are wanted")
        };
        closed.record(Some(&now), "0").save(&self.state(), ID).unwrap();
        closed.record_run(ID).unwrap()
    }

    fn present<'a>(&self, change: &'a Change) -> CurrentEvidence<'a> {
        CurrentEvidence {
            change,
            reviewers: rules(),
            at_a_time: 1,
            models: self.models(),
            terms: terms(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.repository.path().join(".assay/delegated")
    }
}

/// Returns the canary in a prompt.
fn canary(prompt: &str) -> String {
    let after = prompt.split("repeat the word `").nth(1).unwrap_or_default();
    after.split('`').next().unwrap_or_default().to_owned()
}

fn id() -> ReviewId {
    ID.parse().unwrap()
}

fn rules() -> Vec<Box<dyn Reviewer>> {
    vec![Box::new(RuleReviewer(Rulebook::builtin()))]
}

fn terms() -> RecordedPolicy {
    RecordedPolicy {
        templates: Vec::new(),
        fail_on: None,
        require: CoverageRequirement::default(),
        without_content: NoContentPolicy::default(),
        shown: Default::default(),
        dismissals: Vec::new(),
        today: None,
    }
}

/// Returns a report with one finding on a line of the change.
fn finding(line: usize) -> String {
    let quote = AFTER.lines().nth(line - 1).unwrap();
    json!({
        "reviewer": "somebody",
        "findings": [{
            "title": format!("line {line} breaks on an empty list"),
            "severity": "P1",
            "file": "shop.py",
            "line": line,
            "why_it_matters": "the page is gone for whoever has bought nothing yet",
            "evidence": [format!("`{quote}`")],
            "confidence": 100,
            "autofix_class": "manual",
            "owner": "downstream-resolver",
            "requires_verification": true,
            "suggested_fix": "check for it first",
            "pre_existing": false,
        }],
        "residual_risks": [],
        "testing_gaps": [],
    })
    .to_string()
}

const NOTHING: &str =
    r#"{"reviewer": "x", "findings": [], "residual_risks": [], "testing_gaps": []}"#;

/// Formats a synthesis: its findings, the verdict and the reasons.
fn synthesis_text(synthesis: &Synthesis) -> String {
    let findings = synthesis.findings.iter().map(|finding| {
        let place = finding.place().unwrap_or_default();
        format!("{} {place} {} {:?}\n", finding.severity, finding.title, finding.reviewers)
    });
    let because = synthesis.verdict.because.iter().map(|reason| format!("  {}\n", reason.text));
    let state = synthesis.verdict.state.in_words();
    format!("{}{state}\n{}", findings.collect::<String>(), because.collect::<String>())
}

fn refused(result: Result<Receipt, DelegationError>, expected: Expect) {
    expected.assert_eq(&result.unwrap_err().to_string());
}
