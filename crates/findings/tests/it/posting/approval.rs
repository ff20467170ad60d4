//! The approval of a review: a table over all conditions.

use assay_findings::coverage::{
    CoverageRequirement, HunkOutcome, ReviewCoverage, ReviewerCoverage,
};
use assay_findings::grade::Grade;
use assay_findings::post::{
    Approval, PostedState, ReadyAction, ReviewDraft, ReviewEvent, approval, compose,
};
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use expect_test::expect;
use serde_json::{Value, json};

use super::{diff, inputs};

/// The readers of each of three hunks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Read {
    RulesOnly,
    /// A model reads two hunks of three.
    ModelPartly,
    Model,
    /// The readers are not known.
    Unknown,
}

/// The severity of the finding.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Found {
    Nothing,
    May,
    Should,
    Must,
    /// A severity that is in no vocabulary.
    UnknownSeverity,
}

/// The result of a further required reader.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Required {
    Answers,
    Fails,
    /// The list of findings cannot be read in full.
    Loses,
}

#[derive(Debug, Clone, Copy)]
struct Case {
    read: Read,
    found: Found,
    required: Required,
    /// True if findings block only from CRITICAL on, so that the verdict is ready with a HIGH one.
    lenient: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for read in [Read::RulesOnly, Read::ModelPartly, Read::Model, Read::Unknown] {
        for found in
            [Found::Nothing, Found::May, Found::Should, Found::Must, Found::UnknownSeverity]
        {
            for required in [Required::Answers, Required::Fails, Required::Loses] {
                for lenient in [false, true] {
                    cases.push(Case { read, found, required, lenient });
                }
            }
        }
    }
    cases
}

impl Case {
    fn synthesis(self) -> Synthesis {
        let severity = match self.found {
            Found::Nothing => None,
            Found::May => Some("LOW"),
            Found::Should => Some("MEDIUM"),
            Found::Must => Some("HIGH"),
            Found::UnknownSeverity => Some("apocalyptic"),
        };
        let findings: Vec<Value> = severity
            .iter()
            .map(|severity| {
                json!({"title": "t", "severity": severity, "file": "a.rs", "line": 1,
                       "description": "It breaks.", "autofix_class": "advisory"})
            })
            .collect();
        let text = json!({"reviewer": "rules", "findings": findings}).to_string();
        let rules = Report::from_text(&text, "rules", None).of_kind(ReviewerKind::Rules);
        let mut model = Report::new(Reviewer::new("security", ReviewerKind::Persona));
        match self.required {
            Required::Answers => {}
            Required::Fails => model.unusable = Some("the provider is out".to_owned()),
            Required::Loses => model.lost = 1,
        }
        let lenient = self.lenient.then(|| Grade::from_word("CRITICAL"));
        let inputs = SynthesisInputs {
            coverage: self.coverage(),
            fail_on: lenient,
            ..SynthesisInputs::default()
        };
        synthesize(&[rules, model], &inputs)
    }

    fn coverage(self) -> Option<ReviewCoverage> {
        let by_model = match self.read {
            Read::Unknown => return None,
            Read::RulesOnly => 0,
            Read::ModelPartly => 2,
            Read::Model => 3,
        };
        let look =
            |read: bool| if read { HunkOutcome::Reviewed } else { HunkOutcome::NotConcerned };
        let looks = |reviewer: &str, kind, read: usize| ReviewerCoverage {
            reviewer: reviewer.to_owned(),
            kind,
            required: true,
            hunks: (0..3).map(|hunk| look(hunk < read)).collect(),
        };
        let readers = [
            looks("rules", ReviewerKind::Rules, 3),
            looks("security", ReviewerKind::Persona, by_model),
        ];
        Some(ReviewCoverage::of(3, &readers, CoverageRequirement::None))
    }

    /// Returns true if all conditions of an approval hold, stated independently of the code.
    fn may_be_approved(self) -> bool {
        self.read == Read::Model
            && matches!(self.found, Found::Nothing | Found::May)
            && self.required == Required::Answers
    }
}

fn draft(synthesis: &Synthesis, when_ready: ReadyAction) -> ReviewDraft {
    let diff = diff("a.rs > a.rs\n1 1 +++");
    compose(synthesis, &super::DraftInputs { when_ready, ..inputs(&diff, None) })
}

#[test]
fn a_review_approves_only_if_every_condition_holds() {
    let mut approved = 0;
    for case in cases() {
        let synthesis = case.synthesis();
        for when_ready in [ReadyAction::Approve, ReadyAction::Comment] {
            let expected = when_ready == ReadyAction::Approve && case.may_be_approved();
            let decided = approval(when_ready, &synthesis);
            assert_eq!(decided.is_granted(), expected, "{when_ready:?} {case:?}: {decided:?}");
            let draft = draft(&synthesis, when_ready);
            assert_eq!(draft.event() == ReviewEvent::Approve, expected, "{when_ready:?} {case:?}");
            approved += usize::from(expected);
        }
    }
    assert_eq!(approved, 4, "of {} cases", 2 * cases().len());
}

#[test]
fn a_comment_event_gives_the_reason_against_approval_in_review_and_summary() {
    for case in cases() {
        for when_ready in [ReadyAction::Approve, ReadyAction::Comment] {
            let draft = draft(&case.synthesis(), when_ready);
            let posted = PostedState::default();
            let (call, summary) = (&draft.calls(&posted)[0], draft.summary(&posted).concat());
            let is_comment = draft.event() == ReviewEvent::Comment;
            for text in [call.body.to_lowercase(), summary] {
                let says = text.contains("this is a comment, not an approval: ");
                assert_eq!(says, is_comment, "{when_ready:?} {case:?}: {text}");
            }
        }
    }
}

#[test]
fn an_approval_that_is_withheld_names_every_reason() {
    let best = Case {
        read: Read::Model,
        found: Found::Nothing,
        required: Required::Answers,
        lenient: false,
    };
    assert_eq!(ReadyAction::default(), ReadyAction::Comment);
    assert_eq!(approval(ReadyAction::Approve, &best.synthesis()), Approval::Granted);
    let withheld_text =
        |when_ready, case: Case| approval(when_ready, &case.synthesis()).withheld_text().unwrap();
    let table = [
        withheld_text(ReadyAction::Comment, best),
        withheld_text(ReadyAction::Approve, Case { read: Read::RulesOnly, ..best }),
        withheld_text(ReadyAction::Approve, Case { read: Read::ModelPartly, ..best }),
        withheld_text(ReadyAction::Approve, Case { found: Found::Should, ..best }),
        withheld_text(ReadyAction::Approve, Case { found: Found::Must, lenient: true, ..best }),
        withheld_text(ReadyAction::Approve, Case { required: Required::Fails, ..best }),
        withheld_text(
            ReadyAction::Comment,
            Case { read: Read::RulesOnly, found: Found::Must, ..best },
        ),
    ];
    expect![[r#"
        `github.when_ready` is not set to `approve`
        no model has read the change
        no model has read 1 hunk
        1 open finding at `should` or above
        1 open finding at `should` or above
        the review is incomplete
        `github.when_ready` is not set to `approve`; the change is not ready; no model has read the change; 1 open finding at `should` or above"#]].assert_eq(&table.join("\n"));
}
