//! The same answers give the same result as through a provider.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use assay_models::{
    Budget, Failure, Mark, Model, ModelClient, ModelDescription, Nonce, Prompt, Reply, ReplyStores,
    RetryPolicy, Usage,
};
use assay_review::delegation::Brief;
use assay_review::delegation::close::TreeState;
use assay_review::persona::validator::second_looks;
use assay_review::persona::{Models, PersonaContext, Personas, VALIDATOR};
use assay_review::{Concurrency, ReviewObserver, ReviewPolicy, ReviewerAnswer, StartOrder, run};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The answers of a model by persona; `None` is no answer.
pub(super) type ScriptedReports = BTreeMap<String, Option<String>>;

impl Case {
    /// Reviews the change with a model that gives these answers.
    pub(super) fn through_a_provider(&self, says: &ScriptedReports) -> Synthesis {
        let change = self.change();
        let about = host_description("claude");
        let model: Arc<dyn Model> = Arc::new(ScriptedModel { about, says: says.clone() });
        let models = Models { cheap: model.clone(), default: model.clone(), premium: model };
        let client = ModelClient::new(
            ReplyStores::default(),
            Budget::unlimited(),
            RetryPolicy::new(1, Duration::ZERO),
        );
        let time = Duration::from_secs(9);
        let context = PersonaContext::new(Arc::new(client), models, Nonce::draw().unwrap(), time);
        let (context, personas) =
            (Arc::new(context), Personas::with_repository_personas([]).unwrap());
        let mut reviewers = rules();
        let asked = personas.reviewers(&self.named, &context).into_iter();
        reviewers.extend(asked.map(|by| Box::new(by) as Box<dyn Reviewer>));
        let at_a_time = Concurrency { local: 1, models: 1, order: StartOrder::AllAtOnce };
        let mut review = run(&change, &reviewers, at_a_time, &NullObserver);
        let mut synthesis = review.synthesis(&change, &ReviewPolicy::default());
        if self.second_looks {
            let validator = personas.get(VALIDATOR).unwrap();
            let looks = second_looks(&change, &synthesis.findings, validator, &context, 1);
            review.opinions = looks.opinions;
            synthesis = review.synthesis(&change, &ReviewPolicy::default());
        }
        synthesis
    }

    /// Reviews the change with an agent whose model gives the same answers.
    fn delegated(&self, says: &ScriptedReports) -> Synthesis {
        self.start();
        self.answer(says);
        let now = self.change();
        if let CloseResult::SecondLooks(_) = self.open().close(Some(self.present(&now))).unwrap() {
            self.answer(says);
        }
        let CloseResult::Done(closed) = self.open().close(Some(self.present(&now))).unwrap() else {
            panic!("second looks are wanted twice")
        };
        assert_eq!(closed.tree, TreeState::Same);
        fs::remove_dir_all(self.folder()).unwrap();
        closed.synthesis
    }

    /// Answers all briefs that have an answer.
    fn answer(&self, says: &ScriptedReports) {
        loop {
            let briefs = self.open().briefs();
            let said =
                briefs.iter().find_map(|brief| Some((brief, said(says, &brief.persona, brief)?)));
            let Some((brief, text)) = said else { break };
            self.report(&brief.persona, brief.part, &text).unwrap();
        }
    }
}

/// Returns the answer of a persona, with the canary of the brief if the answer obeys the change.
fn said(says: &ScriptedReports, persona: &str, brief: &Brief) -> Option<String> {
    let text = says.get(persona).cloned().flatten()?;
    Some(text.replace("CANARY", &canary(&brief.full_text())))
}

/// A model that answers by the persona in its prompt.
struct ScriptedModel {
    about: ModelDescription,
    says: ScriptedReports,
}

impl Model for ScriptedModel {
    fn about(&self) -> &ModelDescription {
        &self.about
    }

    fn ask(
        &self,
        prompt: &Prompt,
        nonce: &Nonce,
        _time: Duration,
        _heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        let text: String = prompt.blocks.iter().map(|block| block.text(nonce)).collect();
        let is_asked = |name: &&String| text.contains(&format!("You are the `{name}`"));
        let says = self.says.keys().find(is_asked).and_then(|name| self.says[name].clone());
        let says = says.map(|says| says.replace("CANARY", nonce.value_of(Mark::Canary)));
        let nothing =
            || Failure::free(assay_models::FailureClass::Empty, "`claude` submitted no report");
        says.map(|says| Reply::new(says, Usage::default())).ok_or_else(nothing)
    }
}

struct NullObserver;

impl ReviewObserver for NullObserver {
    fn on_start(&self, _reviewers: &[&str]) {}

    fn on_progress(&self, _reviewer: &str, _chars: usize) {}

    fn on_answer(&self, _answer: &ReviewerAnswer) {}
}

/// Returns a synthesis as JSON, without its cost.
fn without_cost(synthesis: &Synthesis) -> Value {
    let mut value = serde_json::to_value(synthesis).unwrap();
    value.as_object_mut().unwrap().remove("spent");
    for report in value["reports"].as_array_mut().unwrap() {
        report.as_object_mut().unwrap().remove("spent");
    }
    value
}

fn answers() -> impl Strategy<Value = Option<String>> {
    let push_fenced = |text: String| format!("Here it is:\n```json\n{text}\n```\nThat is all.");
    prop_oneof![
        Just(None),
        Just(Some(NOTHING.to_owned())),
        Just(Some(finding(9))),
        Just(Some(push_fenced(finding(13)))),
        Just(Some(finding(5))),
        Just(Some("I could find nothing wrong, well done!".to_owned())),
        Just(Some(format!("CANARY {NOTHING}"))),
        Just(Some(finding(9).replace("\"line\":9", "\"line\":9999"))),
        Just(Some("HIGH: shop.py:9 divides by nothing".to_owned())),
    ]
}

fn opinions() -> impl Strategy<Value = Option<String>> {
    let refutes = json!({
        "answer": "refute", "why": "it is checked before",
        "quote": "    return sum(prices) / len(prices)", "file": "shop.py",
    });
    prop_oneof![
        Just(None),
        Just(Some(json!({ "answer": "confirm", "why": "so it is" }).to_string())),
        Just(Some(refutes.to_string())),
        Just(Some("who knows".to_owned())),
        Just(Some("CANARY".to_owned())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: assay_testenv::cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_answers_give_the_same_result_as_through_a_provider(
        correctness in answers(),
        security in answers(),
        validator in opinions(),
    ) {
        let case = Case { second_looks: true, ..Case::new() };
        let says = ScriptedReports::from([
            ("correctness".to_owned(), correctness),
            ("security".to_owned(), security),
            ("validator".to_owned(), validator),
        ]);
        let provided = without_cost(&case.through_a_provider(&says));
        let delegated = without_cost(&case.delegated(&says));
        prop_assert_eq!(provided, delegated);
    }
}
