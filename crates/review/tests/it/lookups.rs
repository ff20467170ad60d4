//! Conversations with a model that uses look-ups, turn by turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_change::{Change, Scope, Selection};
use assay_models::{
    Budget, Failure, Model, ModelClient, ModelDescription, ModelId, Nonce, Prompt, Reply,
    ReplyStores, RetryPolicy, ToolCall, Usage,
};
use assay_review::persona::{Models, PersonaContext, Personas};
use assay_review::{Reviewer, ReviewerAnswer};
use assay_testkit::Repository;
use serde_json::{Value, json};

/// A model that gives its replies one after the other, and stores the prompts.
struct ReplyingModel {
    about: ModelDescription,
    replies: Mutex<Vec<Reply>>,
    prompts: Arc<Mutex<Vec<Prompt>>>,
}

impl Model for ReplyingModel {
    fn about(&self) -> &ModelDescription {
        &self.about
    }

    fn ask(
        &self,
        prompt: &Prompt,
        _nonce: &Nonce,
        _time: Duration,
        _heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        self.prompts.lock().unwrap().push(prompt.clone());
        Ok(self.replies.lock().unwrap().remove(0))
    }
}

fn change(repository: &Repository) -> Change {
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("before");
    repository.write("shop.py", "def total(prices):\n    return sum(prices[1:])\n");
    assay_change::open(repository.path(), &Scope::Automatic, &Selection::default()).unwrap()
}

/// Lets `correctness` read the change with a model that gives these replies; returns its answer and
/// the prompts.
fn read(replies: Vec<Reply>, takes_tools: bool) -> (ReviewerAnswer, Vec<Prompt>) {
    let repository = Repository::new();
    let change = change(&repository);
    let about = ModelDescription { takes_tools, ..ModelDescription::of(ModelId::new("p", "m")) };
    let prompts: Arc<Mutex<Vec<Prompt>>> = Arc::default();
    let model: Arc<dyn Model> = Arc::new(ReplyingModel {
        about,
        replies: Mutex::new(replies),
        prompts: Arc::clone(&prompts),
    });
    let models = Models { cheap: model.clone(), default: model.clone(), premium: model };
    let client = ModelClient::new(
        ReplyStores::default(),
        Budget::unlimited(),
        RetryPolicy::new(1, Duration::ZERO),
    );
    let context = PersonaContext::new(
        Arc::new(client),
        models,
        Nonce::draw().unwrap(),
        Duration::from_secs(9),
    );
    let context = Arc::new(context.offer_lookups(true));
    let personas = Personas::with_repository_personas([]).unwrap();
    let reviewers = personas.reviewers(&["correctness".to_owned()], &context);
    let answer = reviewers[0].review(&change, &|_| {});
    let prompts = prompts.lock().unwrap().clone();
    (answer, prompts)
}

fn says(text: &str) -> Reply {
    Reply::new(text, Usage::default())
}

fn calls(text: &str, name: &str, arguments: Value) -> Reply {
    let call = ToolCall { name: name.to_owned(), arguments: arguments.to_string() };
    Reply { calls: vec![call], ..says(text) }
}

fn report(titles: &[&str]) -> String {
    let finding = |title: &&str| {
        json!({
            "title": title, "severity": "P1", "file": "shop.py", "line": 2,
            "why_it_matters": "The first price is lost.", "autofix_class": "manual",
            "owner": "human", "requires_verification": true, "confidence": 100,
            "evidence": ["return sum(prices[1:])"], "pre_existing": false,
        })
    };
    let findings: Vec<Value> = titles.iter().map(finding).collect();
    json!({
        "reviewer": "correctness", "findings": findings, "residual_risks": [], "testing_gaps": [],
    })
    .to_string()
}

fn titles(answer: &ReviewerAnswer) -> Vec<&str> {
    answer.report.votes.iter().map(|vote| vote.title.as_str()).collect()
}

#[test]
fn a_report_sent_together_with_tool_calls_is_kept() {
    let early = calls(&report(&["Loses the first price"]), "search", json!({ "text": "prices" }));
    let (answer, prompts) = read(vec![early, says(&report(&[]))], true);
    assert_eq!((titles(&answer), prompts.len()), (vec!["Loses the first price"], 2));
    // Text outside of a call is not a report.
    let early = calls("Let me look.", "search", json!({ "text": "prices" }));
    let (answer, _) = read(vec![early, says(&report(&[]))], true);
    assert!(titles(&answer).is_empty() && answer.report.unusable.is_none());
}

#[test]
fn each_turn_is_an_exchange_with_its_own_prompt() {
    let look = || calls("", "definition", json!({ "name": "total" }));
    let (answer, prompts) = read(vec![look(), look(), says(&report(&[]))], true);
    let asked: Vec<String> = prompts.iter().map(Prompt::hash).collect();
    let noted: Vec<&String> = answer.exchanges.iter().map(|exchange| &exchange.prompt).collect();
    assert_eq!(noted, asked.iter().collect::<Vec<_>>());
    let turns: Vec<usize> = prompts.iter().map(|prompt| prompt.turns.len()).collect();
    assert_eq!(turns, [0, 1, 2]);
}

#[test]
fn an_unusable_answer_is_requested_again_with_the_results_and_without_tools() {
    let look = calls("", "definition", json!({ "name": "total" }));
    let (answer, prompts) = read(vec![look, says("hm"), says(&report(&["Found"]))], true);
    assert_eq!(titles(&answer), ["Found"]);
    let last = prompts.last().unwrap();
    assert_eq!((last.tools.len(), last.turns.len()), (0, 1));
    let last = format!("{:?}", last.turns[0].calls[0].result.last());
    assert!(last.contains("could not be read"), "{last}");
}

#[test]
fn a_model_without_tool_support_is_offered_no_tools() {
    let (_, prompts) = read(vec![says(&report(&[]))], false);
    assert_eq!((prompts.len(), prompts[0].tools.len()), (1, 0));
    let (_, prompts) = read(vec![says(&report(&[]))], true);
    let names: Vec<&str> = prompts[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read_lines", "search", "definition", "callers"]);
    let by_name: BTreeMap<&str, &Value> =
        prompts[0].tools.iter().map(|tool| (tool.name.as_str(), &tool.arguments)).collect();
    assert_eq!(by_name["search"]["required"], json!(["text"]));
}
