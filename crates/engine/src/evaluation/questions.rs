//! Reviews of a case from given answers: [`CaseQuestions`] asks, and an `AnswerSource` answers.
//!
//! The sources are a transcript, which replays a review, and a folder of files, in which a person
//! or an agent without MCP writes the answers. In both cases the review is a delegated one, decided
//! by the same code as a review over MCP.

use anyhow::{anyhow, bail};
use assay_change::{Scope, Selection};
use assay_eval::set::Case;
use assay_findings::synthesis::Synthesis;
use assay_findings::usage::ReviewUsage;
use assay_models::Nonce;
use assay_review::delegation::transcript::{ReviewTranscript, TranscriptMatch, Wording};
use assay_review::delegation::{Brief, BriefReader, host_description};
use assay_review::recording::Grouping;
use assay_review::{Review, TranscriptAnswer};

use super::case_output::CaseOutput;
use super::case_repository::CaseRepository;
use super::plain_question::{PLAIN_QUESTION, question_prompt};
use crate::delegated_review::{
    DelegatedReviews as _, FinishResult, RepositoryReviews, StartRequest,
};

/// A function that returns the answer to the question of a brief, without marks; `None` if there is
/// no answer.
pub(crate) type AnswerSource<'a> = dyn FnMut(&Brief) -> anyhow::Result<Option<String>> + 'a;

/// A question about a case without an answer.
pub struct OpenBrief {
    /// The question.
    pub brief: Brief,
    /// The values of the marks in the brief.
    pub marks: Nonce,
}

/// The review of a case, as far as its questions are answered.
pub struct AnsweredCase {
    /// The output and the answers; `None` if the review has to wait for an answer.
    pub ended: Option<(CaseOutput, ReviewTranscript)>,
    /// The questions without an answer.
    pub open: Vec<OpenBrief>,
}

/// The treatment of missing answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingAnswers {
    /// The review stays open.
    Wait,
    /// The review continues as if the reader returned no report.
    Continue,
}

/// The kind of questions that are asked about a case.
#[derive(Debug, Clone)]
pub enum CaseQuestions {
    /// The questions of a delegated review, with the settings of an agent.
    Review {
        /// The name of the agent's model.
        model: String,
        /// The purpose of the change as the agent stated it.
        purpose: Option<String>,
        /// The personas that read the change in addition to those that it triggers.
        personas: Vec<String>,
        /// True if each persona reads the change on its own.
        each_persona: bool,
    },
    /// A single plain question about the diff.
    PlainQuestion {
        /// The name of the model.
        model: String,
    },
}

impl CaseQuestions {
    /// Returns the questions that a transcript answers.
    pub(crate) fn of(transcript: &ReviewTranscript) -> CaseQuestions {
        let model = transcript.model.clone();
        match transcript.answers.iter().any(|it| it.reader == PLAIN_QUESTION) {
            true => CaseQuestions::PlainQuestion { model },
            false => CaseQuestions::Review {
                model,
                purpose: transcript.purpose.clone(),
                personas: transcript.personas.clone(),
                each_persona: transcript.grouping == Grouping::EachPersona,
            },
        }
    }

    /// Asks about a case, and decides the review from the answers.
    pub fn ask(
        &self,
        case: &Case,
        repository: &CaseRepository,
        unanswered: MissingAnswers,
        source: &mut AnswerSource<'_>,
    ) -> anyhow::Result<AnsweredCase> {
        match self {
            CaseQuestions::PlainQuestion { model } => {
                ask_plain_question(case, repository, model, source)
            }
            CaseQuestions::Review { model, purpose, personas, each_persona } => {
                let begin = StartRequest {
                    scope: Scope::Commits("HEAD".to_owned()),
                    selection: Selection::default(),
                    purpose: purpose.clone(),
                    personas: personas.clone(),
                    each_persona: *each_persona,
                    read_by: BriefReader::SubAgents,
                    model: model.clone(),
                };
                let reviews =
                    RepositoryReviews::new(repository.environment(), repository.path().to_owned());
                ask_review(&reviews, begin, unanswered, source)
            }
        }
    }
}

fn ask_review(
    reviews: &RepositoryReviews,
    begin: StartRequest,
    unanswered: MissingAnswers,
    source: &mut AnswerSource<'_>,
) -> anyhow::Result<AnsweredCase> {
    let id = reviews.start(begin)?.review.id().to_string();
    let mut open = Vec::new();
    loop {
        let left = answer_open_briefs(reviews, &id, source)?;
        let waits = unanswered == MissingAnswers::Wait && !left.is_empty();
        open.extend(left);
        if waits {
            return Ok(AnsweredCase { ended: None, open });
        }
        let mut ended = None;
        let seen = &mut |review: &Review, transcript| ended = Some((effort(review), transcript));
        match reviews.finish_with(&id.parse()?, seen)? {
            FinishResult::SecondLooks { .. } => {}
            FinishResult::Done(done) => {
                let (effort, transcript) =
                    ended.ok_or_else(|| anyhow!("the review `{id}` was finished elsewhere"))?;
                let output = CaseOutput::from_synthesis(&Synthesis {
                    spent: Some(effort),
                    ..done.synthesis
                });
                return Ok(AnsweredCase { ended: Some((output, transcript)), open });
            }
        }
    }
}

/// Submits the answers that a source has, and returns the briefs without an answer.
fn answer_open_briefs(
    reviews: &RepositoryReviews,
    id: &str,
    source: &mut AnswerSource<'_>,
) -> anyhow::Result<Vec<OpenBrief>> {
    loop {
        let mut review = reviews.open(id)?;
        let (mut open, mut is_answered) = (Vec::new(), false);
        for brief in review.briefs() {
            match source(&brief)? {
                None => open.push(OpenBrief { brief, marks: review.marks().clone() }),
                Some(text) => {
                    let text = review.restore_marks(&text);
                    review.report(&brief.persona, brief.part, &text)?;
                    is_answered = true;
                }
            }
        }
        // A report may lead to a second question about the same part.
        if !is_answered {
            return Ok(open);
        }
    }
}

/// Returns the effort of a review by an agent; each answered question counts as a call.
pub(crate) fn effort(review: &Review) -> ReviewUsage {
    let calls = review.exchanges.iter().filter(|it| it.transcript.answer.is_some()).count();
    ReviewUsage { calls: calls as u64, bytes: review.bytes(), ..ReviewUsage::default() }
}

fn ask_plain_question(
    case: &Case,
    repository: &CaseRepository,
    model: &str,
    source: &mut AnswerSource<'_>,
) -> anyhow::Result<AnsweredCase> {
    let title = case.message.as_deref().unwrap_or(&case.title);
    let prompt =
        question_prompt(title, &repository.diff()?, host_description(model).max_output_tokens, 0)?;
    let marks = Nonce::draw()?;
    let brief = Brief {
        persona: PLAIN_QUESTION.to_owned(),
        part: 1,
        of: 1,
        again: None,
        instructions: prompt.system.clone(),
        change: String::new(),
        task: prompt.blocks.iter().map(|block| block.text(&marks)).collect(),
        repeats_change: false,
        question: prompt.hash(),
        findings: Vec::new(),
    };
    let Some(text) = source(&brief)? else {
        return Ok(AnsweredCase { ended: None, open: vec![OpenBrief { brief, marks }] });
    };
    let text = assay_rules::redact_text(&text);
    let bytes = (prompt.bytes() + text.len()) as u64;
    let answer = TranscriptAnswer {
        reader: brief.persona,
        part: 1,
        question: brief.question,
        answer: Some(text.clone()),
        ..TranscriptAnswer::default()
    };
    let transcript = ReviewTranscript {
        model: model.to_owned(),
        answers: vec![answer],
        ..ReviewTranscript::default()
    };
    let mut output = CaseOutput::from_text(text, "txt");
    if let Ok(result) = &mut output.result {
        (result.effort.calls, result.effort.bytes) = (1, bytes);
    }
    Ok(AnsweredCase { ended: Some((output, transcript)), open: Vec::new() })
}

/// Replays the review of a case. Fails if the review asks a question that the transcript does not
/// have in its current wording.
pub(crate) fn replay(
    case: &Case,
    repository: &CaseRepository,
    transcript: &ReviewTranscript,
) -> anyhow::Result<CaseOutput> {
    let mut source = |brief: &Brief| {
        let place = format!("`{}`, part {}", brief.persona, brief.part);
        match transcript.find(brief, Wording::Present) {
            TranscriptMatch::Answer { text, .. } => Ok(Some(text)),
            TranscriptMatch::NoReport => Ok(None),
            TranscriptMatch::OtherWording => bail!(
                "the recording answers another wording of the question of {place}; transfer its \
                 answers with `assay eval rekey`"
            ),
            TranscriptMatch::Unknown => {
                bail!(
                    "the recording has no answer to the question of {place}; record the case again"
                )
            }
        }
    };
    let questions = CaseQuestions::of(transcript);
    let answered = questions.ask(case, repository, MissingAnswers::Continue, &mut source)?;
    let Some((output, _)) = answered.ended else { bail!("the recording contains no answer") };
    Ok(output)
}

/// Transfers the answers of a transcript to the current questions. Returns the new transcript, in
/// which answers to an earlier wording are marked, and the questions without an answer.
pub fn rekey(
    case: &Case,
    repository: &CaseRepository,
    transcript: &ReviewTranscript,
) -> anyhow::Result<(ReviewTranscript, Vec<OpenBrief>)> {
    let mut unknown: Vec<(String, usize, bool)> = Vec::new();
    let mut source = |brief: &Brief| match transcript.find(brief, Wording::Earlier) {
        TranscriptMatch::Answer { text, .. } => Ok(Some(text)),
        TranscriptMatch::NoReport => Ok(None),
        TranscriptMatch::OtherWording | TranscriptMatch::Unknown => {
            unknown.push((brief.persona.clone(), brief.part, brief.again.is_some()));
            Ok(None)
        }
    };
    let questions = CaseQuestions::of(transcript);
    let answered = questions.ask(case, repository, MissingAnswers::Continue, &mut source)?;
    let is_unknown = |reader: &str, part: usize, again: bool| {
        unknown.iter().any(|it| (it.0.as_str(), it.1, it.2) == (reader, part, again))
    };
    let mut open = answered.open;
    open.retain(|it| is_unknown(&it.brief.persona, it.brief.part, it.brief.again.is_some()));
    let ended = answered.ended.map(|(_, transcript)| transcript);
    let mut rekeyed = ended.unwrap_or_else(|| transcript.clone());
    // A question without an answer is left out, so that a replay reports the question.
    rekeyed.answers.retain(|it| !is_unknown(&it.reader, it.part, it.again));
    Ok((rekeyed.mark_earlier(transcript), open))
}
