//! A question to a persona's model with the look-ups before its answer: [`Conversation`].

use assay_change::Change;
use assay_models::{Failure, ModelResponse, Prompt, Reply, Spending, ToolCall, Turn};
use assay_rules::redact_text;

use super::Persona;
use super::context::{BYTES_PER_TOKEN, PersonaContext, exchange_bytes};
use crate::exchange::{Exchange, TranscriptAnswer};
use crate::lookup::{self, LookupBudget};

/// The minimum context of a model that is offered look-ups, in bytes: with less, the change needs
/// it all.
const MIN_CONTEXT_BYTES: u64 = 4 * lookup::MAX_RESULT_BYTES as u64;

/// A question, with its position in transcripts.
pub(super) struct PlacedQuestion {
    /// The position of the question in the review; its hash and its answer are filled in for each
    /// turn.
    pub(super) asked: TranscriptAnswer,
    pub(super) prompt: Prompt,
}

/// The outcome of a question, after all turns.
pub(super) struct Conversation {
    /// The last reply, which has no calls, or the failure. A reply that obeyed the change is always
    /// the last one, whether or not it has calls.
    pub(super) outcome: Result<Reply, Failure>,
    /// The prompt of the last turn.
    pub(super) prompt: Prompt,
    /// The exchange of each turn, in order.
    pub(super) exchanges: Vec<Exchange>,
    pub(super) spent: Spending,
    /// Notes for the report.
    pub(super) notes: Vec<String>,
    /// The texts outside of the calls of earlier turns.
    pub(super) earlier_texts: Vec<String>,
}

impl PersonaContext {
    /// Returns true if a persona's model is offered look-ups.
    pub(super) fn offers_lookups(&self, persona: &Persona) -> bool {
        let about = self.model(persona).about();
        self.lookups.is_some()
            && about.takes_tools
            && about.context_tokens.saturating_mul(BYTES_PER_TOKEN) >= MIN_CONTEXT_BYTES
    }

    /// Returns a prompt that offers look-ups, if the persona's model supports them.
    pub(super) fn with_lookups(&self, persona: &Persona, prompt: Prompt) -> Prompt {
        match self.offers_lookups(persona) {
            true => Prompt { tools: lookup::tools(), ..prompt },
            false => prompt,
        }
    }

    /// Asks a persona's model, and answers its look-ups until it gives its answer. The last turn
    /// offers no tools, so that the conversation ends.
    pub(super) fn converse(
        &self,
        persona: &Persona,
        change: &Change,
        PlacedQuestion { asked, prompt }: PlacedQuestion,
        can_be_read: fn(&str) -> bool,
        heard: &dyn Fn(usize),
    ) -> Conversation {
        let model = self.model(persona).id().to_string();
        let mut allowance = LookupBudget::default();
        let mut talk = Conversation {
            outcome: Ok(Reply::new("", Default::default())),
            prompt,
            exchanges: Vec::new(),
            spent: Spending::default(),
            notes: Vec::new(),
            earlier_texts: Vec::new(),
        };
        loop {
            let answered = self.ask(persona, &talk.prompt, can_be_read, heard);
            let answer = answered.outcome.as_ref().ok().map(|reply| self.transcript_text(reply));
            let question = talk.prompt.hash();
            let transcript = TranscriptAnswer { question, answer, ..asked.clone() };
            talk.record_turn(persona, &model, answered, transcript);
            let Ok(reply) = &mut talk.outcome else { return talk };
            let Some(lookups) = self.lookups.as_ref().filter(|_| !talk.prompt.tools.is_empty())
            else {
                return talk;
            };
            if reply.calls.is_empty() || reply.contains_word(self.canary()) {
                return talk;
            }
            let calls = reply.calls.drain(..).map(|call| self.clean_call(call)).collect();
            let thoughts = std::mem::take(&mut reply.thoughts);
            talk.earlier_texts.push(std::mem::take(&mut reply.text));
            let calls = lookups.answer(change, calls, &mut allowance);
            talk.prompt.turns.push(Turn { calls, thoughts });
            if allowance.is_exhausted() {
                talk.prompt.tools.clear();
            }
        }
    }

    /// Returns a call for the next prompt: without credentials and without the marks of the run, so
    /// that a recorded reply results in the same prompt.
    fn clean_call(&self, call: ToolCall) -> ToolCall {
        let clean = |text: &str| redact_text(&self.nonce().without_marks(text));
        ToolCall { name: clean(&call.name), arguments: clean(&call.arguments) }
    }
}

impl Conversation {
    /// Records the result of a turn.
    fn record_turn(
        &mut self,
        persona: &Persona,
        model: &str,
        answered: ModelResponse,
        transcript: TranscriptAnswer,
    ) {
        let ModelResponse { outcome, source, attempts, spent, store_error } = answered;
        self.spent = self.spent.plus(spent);
        self.notes.extend(store_error);
        if outcome.as_ref().is_ok_and(|reply| reply.tools_refused) {
            let note = format!(
                "`{model}` does not support tools, so the question was sent without look-ups"
            );
            self.notes.extend((!self.notes.contains(&note)).then_some(note));
        }
        self.exchanges.push(Exchange {
            reviewer: persona.name.clone(),
            model: model.to_owned(),
            prompt: transcript.question.clone(),
            source,
            attempts,
            tokens: spent.tokens.total(),
            failure: outcome.as_ref().err().map(|failure| failure.message.clone()),
            class: outcome.as_ref().err().map(|failure| failure.class),
            bytes: exchange_bytes(&self.prompt, &outcome),
            transcript,
        });
        self.outcome = outcome;
    }
}
