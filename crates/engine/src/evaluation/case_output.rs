//! The output of a reviewer on one case: [`CaseOutput`].

use assay_eval::formats::parse_output;
use assay_eval::score::CaseResult;
use assay_findings::synthesis::Synthesis;
use assay_findings::write::pretty;
use assay_review::delegation::transcript::ReviewTranscript;

/// The result on one case, and the output as it is stored.
pub struct CaseOutput {
    /// The result, or the error.
    pub result: Result<CaseResult, String>,
    /// The output with the extension of its file; `None` if there is no output.
    pub stored: Option<(String, &'static str)>,
    /// The recorded answers that the output is built from.
    pub replayed: ReplayedAnswers,
}

impl CaseOutput {
    /// Returns the output of a review by assay.
    pub(crate) fn from_synthesis(synthesis: &Synthesis) -> CaseOutput {
        let text = assay_rules::redact(&pretty(synthesis)).into_owned();
        let stored = Some((text, "json"));
        CaseOutput {
            result: Ok(CaseResult::from(synthesis)),
            stored,
            replayed: ReplayedAnswers::default(),
        }
    }

    /// Returns the output of a reviewer that wrote text.
    pub(crate) fn from_text(text: String, ending: &'static str) -> CaseOutput {
        let result = parse_output(&text).map_err(|error| error.to_string());
        CaseOutput { result, stored: Some((text, ending)), replayed: ReplayedAnswers::default() }
    }
}

/// The number of recorded answers that an output is built from.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ReplayedAnswers {
    /// All recorded answers.
    pub all: usize,
    /// The recorded answers to an earlier wording of their question.
    pub of_earlier_wording: usize,
}

impl ReplayedAnswers {
    /// Counts the answers of a transcript.
    pub(super) fn of(transcript: &ReviewTranscript) -> ReplayedAnswers {
        let answers = transcript.answers.iter().filter(|it| it.answer.is_some());
        ReplayedAnswers {
            all: answers.clone().count(),
            of_earlier_wording: answers.filter(|it| it.earlier_wording).count(),
        }
    }
}
