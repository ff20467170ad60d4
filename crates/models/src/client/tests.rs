//! A caller of a model that answers from a script.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::{Caps, FailureClass, ModelDescription, ModelId, Price, Usage};

/// A model that answers from a script, and panics if it is called more often.
struct ScriptedModel {
    about: ModelDescription,
    script: Mutex<Vec<Result<Reply, Failure>>>,
}

impl Model for ScriptedModel {
    fn about(&self) -> &ModelDescription {
        &self.about
    }

    fn ask(
        &self,
        _prompt: &Prompt,
        _nonce: &Nonce,
        time: Duration,
        heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        assert!(time > Duration::ZERO);
        heard(1);
        self.script.lock().unwrap().remove(0)
    }
}

impl ScriptedModel {
    fn new(script: impl IntoIterator<Item = Result<Reply, Failure>>) -> ScriptedModel {
        let mut about = ModelDescription::of(ModelId::new("p", "m"));
        let price = Price { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0 };
        about.price = Some(price);
        ScriptedModel { about, script: Mutex::new(script.into_iter().collect()) }
    }

    fn is_used_up(&self) -> bool {
        self.script.lock().unwrap().is_empty()
    }
}

fn reply(text: &str) -> Result<Reply, Failure> {
    Ok(Reply::new(text, Usage { input: 10, output: 5, ..Usage::default() }))
}

fn failure(class: FailureClass) -> Result<Reply, Failure> {
    Err(Failure::free(class, format!("{class:?}")))
}

fn cut(partial: &str) -> Result<Reply, Failure> {
    Err(Failure::new(FailureClass::Network, "cut").with_partial(partial.into()))
}

/// Records the delays, and does not wait.
#[derive(Clone, Default)]
struct DelayLog(Arc<Mutex<Vec<Duration>>>);

impl DelayLog {
    fn retry_policy(&self) -> RetryPolicy {
        let waits = self.clone();
        let retry_policy = RetryPolicy::new(3, Duration::from_secs(60)).with_random(0);
        retry_policy.with_pause(move |wait| waits.0.lock().unwrap().push(wait))
    }

    fn seconds(&self) -> Vec<u64> {
        self.0.lock().unwrap().iter().map(Duration::as_secs).collect()
    }
}

fn prompt() -> Prompt {
    let (system, blocks) = ("s".to_owned(), Vec::new());
    Prompt {
        system,
        blocks,
        schema: None,
        max_output_tokens: 100,
        thinking_tokens: 0,
        tools: Vec::new(),
        turns: Vec::new(),
    }
}

fn ask(client: &ModelClient, model: &ScriptedModel) -> ModelResponse {
    let (prompt, nonce) = (prompt(), Nonce::draw().unwrap());
    let time = Duration::from_secs(600);
    client.ask(
        model,
        &ModelRequest {
            label: "a test",
            prompt: &prompt,
            nonce: &nonce,
            time,
            is_cacheable: &|_| true,
        },
        &|_| {},
    )
}

fn client(waits: &DelayLog) -> ModelClient {
    ModelClient::new(ReplyStores::default(), Budget::unlimited(), waits.retry_policy())
}

fn message(answered: &ModelResponse) -> String {
    match &answered.outcome {
        Ok(reply) => reply.text.clone(),
        Err(failure) => failure.message.clone(),
    }
}

#[test]
fn transient_failures_are_retried_and_all_attempts_are_counted() {
    let waits = DelayLog::default();
    let model = ScriptedModel::new([
        failure(FailureClass::Overload),
        failure(FailureClass::Server),
        reply("yes"),
    ]);
    let answered = ask(&client(&waits), &model);
    assert_eq!(message(&answered), "yes");
    assert_eq!((answered.attempts, answered.spent.calls), (3, 3));
    assert_eq!(answered.spent.micro_usd, Some(15));
    assert_eq!(waits.seconds(), [1, 2]);
}

#[test]
fn the_delay_that_the_provider_asks_for_is_waited_unless_it_is_too_long() {
    let waits = DelayLog::default();
    let rate_limited = |seconds| {
        let wait = Some(Duration::from_secs(seconds));
        Err(Failure { wait, ..Failure::free(FailureClass::RateLimit, "wait") })
    };
    assert_eq!(
        message(&ask(&client(&waits), &ScriptedModel::new([rate_limited(30), reply("yes")]))),
        "yes"
    );
    let answered = ask(&client(&waits), &ScriptedModel::new([rate_limited(3_000)]));
    assert_eq!((message(&answered), answered.attempts), ("wait".into(), 1));
    assert_eq!(waits.seconds(), [30]);
}

#[test]
fn permanent_failures_are_not_retried() {
    for class in [
        FailureClass::Refusal,
        FailureClass::CutOff,
        FailureClass::TooLong,
        FailureClass::Rejected,
        FailureClass::NotFound,
    ] {
        let answered = ask(&client(&DelayLog::default()), &ScriptedModel::new([failure(class)]));
        assert_eq!(answered.attempts, 1);
    }
}

#[test]
fn an_earlier_failure_is_reported_instead_of_a_later_timeout() {
    let model = ScriptedModel::new([
        failure(FailureClass::TimedOut),
        failure(FailureClass::TimedOut),
        reply("yes"),
    ]);
    assert_eq!(message(&ask(&client(&DelayLog::default()), &model)), "yes");
    let script =
        [FailureClass::Server, FailureClass::TimedOut, FailureClass::TimedOut].map(failure);
    let answered = ask(&client(&DelayLog::default()), &ScriptedModel::new(script));
    assert_eq!((message(&answered), answered.attempts), ("Server".into(), 3));
}

#[test]
fn the_longest_part_of_an_answer_is_saved() {
    let model = ScriptedModel::new([cut("half"), cut("nearly all"), cut("")]);
    let answered = ask(&client(&DelayLog::default()), &model);
    assert_eq!(answered.outcome.unwrap_err().partial.as_deref(), Some("nearly all"));
}

#[test]
fn after_an_authentication_failure_no_model_is_asked() {
    let client = client(&DelayLog::default());
    ask(&client, &ScriptedModel::new([failure(FailureClass::Authentication)])).outcome.unwrap_err();
    let answered = ask(&client, &ScriptedModel::new([]));
    assert_eq!((message(&answered).as_str(), answered.attempts), ("Authentication", 0));
}

#[test]
fn a_stalled_request_is_retried_once() {
    let stalled = || failure(FailureClass::Stalled);
    let model = ScriptedModel::new([stalled(), reply("yes")]);
    let answered = ask(&client(&DelayLog::default()), &model);
    assert_eq!((message(&answered).as_str(), answered.attempts), ("yes", 2));
    for script in [
        vec![stalled(), stalled()],
        vec![stalled(), failure(FailureClass::Server), stalled()],
        // The second attempt had only the remaining time.
        vec![stalled(), failure(FailureClass::TimedOut), stalled()],
    ] {
        let model = ScriptedModel::new(script);
        let answered = ask(&client(&DelayLog::default()), &model);
        assert_eq!(answered.outcome.unwrap_err().class, FailureClass::Stalled);
        assert!(model.is_used_up());
    }
}

#[test]
fn spending_is_reported_by_model() {
    let client = client(&DelayLog::default());
    ask(&client, &ScriptedModel::new([reply("a")]));
    let mut other = ScriptedModel::new([failure(FailureClass::Server), reply("b")]);
    other.about.id = ModelId::new("q", "n");
    ask(&client, &other);
    let by_model = client.budget().spent_by_model();
    let calls: Vec<(&str, u64)> =
        by_model.iter().map(|(model, spent)| (model.as_str(), spent.calls)).collect();
    assert_eq!(calls, [("p/m", 1), ("q/n", 2)]);
    let sum = by_model.values().fold(Spending::default(), |sum, spent| sum.plus(*spent));
    assert_eq!(sum, client.budget().spent());
}

#[test]
fn no_retry_is_delayed_beyond_the_time_of_a_request() {
    let waits = DelayLog::default();
    let (prompt, nonce) = (prompt(), Nonce::draw().unwrap());
    let time = Duration::from_millis(2_500);
    let asked = ModelRequest {
        label: "a test",
        prompt: &prompt,
        nonce: &nonce,
        time,
        is_cacheable: &|_| true,
    };
    let model = ScriptedModel::new([failure(FailureClass::Server), failure(FailureClass::Server)]);
    assert_eq!(client(&waits).ask(&model, &asked, &|_| {}).attempts, 2);
    assert_eq!(waits.seconds(), [1]);
}

#[test]
fn a_cached_answer_is_not_paid_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let cached = || {
        let cache = Some(ReplyStore::new(folder.path(), str::to_owned));
        let stores = ReplyStores { cache, ..ReplyStores::default() };
        ModelClient::new(stores, Budget::unlimited(), DelayLog::default().retry_policy())
    };
    assert_eq!(ask(&cached(), &ScriptedModel::new([reply("yes")])).source, ReplySource::Asked);
    let (client, model) = (cached(), ScriptedModel::new([]));
    let answered = ask(&client, &model);
    assert_eq!((message(&answered).as_str(), answered.source), ("yes", ReplySource::Cached));
    assert_eq!((client.budget().spent().cached, client.budget().spent().calls), (1, 0));
}

#[test]
fn an_answer_of_another_endpoint_is_not_taken_from_the_cache_but_replayed() {
    let (cache, recording) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = |folder: &tempfile::TempDir| Some(ReplyStore::new(folder.path(), str::to_owned));
    let with =
        |stores| ModelClient::new(stores, Budget::unlimited(), DelayLog::default().retry_policy());
    let by = |way: &str, script: Vec<Result<Reply, Failure>>| {
        let scripted = ScriptedModel::new(script);
        ScriptedModel { about: scripted.about.with_endpoint(&way), script: scripted.script }
    };
    let run = || {
        with(ReplyStores {
            cache: store(&cache),
            record: store(&recording),
            ..ReplyStores::default()
        })
    };
    assert_eq!(ask(&run(), &by("here", vec![reply("one")])).source, ReplySource::Asked);
    assert_eq!(ask(&run(), &by("there", vec![reply("two")])).source, ReplySource::Asked);
    assert_eq!(message(&ask(&run(), &by("here", vec![]))), "one");
    let replaying = with(ReplyStores { replay: store(&recording), ..ReplyStores::default() });
    assert_eq!(message(&ask(&replaying, &ScriptedModel::new([]))), "one");
}

#[test]
fn failures_are_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Some(ReplyStore::new(folder.path(), str::to_owned));
    let stores = ReplyStores { cache, ..ReplyStores::default() };
    let client = ModelClient::new(stores, Budget::unlimited(), DelayLog::default().retry_policy());
    let model = ScriptedModel::new([failure(FailureClass::CutOff), reply("yes")]);
    ask(&client, &model).outcome.unwrap_err();
    assert_eq!(message(&ask(&client, &model)), "yes");
}

#[test]
fn a_recorded_run_is_replayed_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Some(ReplyStore::new(folder.path(), str::to_owned));
    let with =
        |stores| ModelClient::new(stores, Budget::unlimited(), DelayLog::default().retry_policy());
    let recording = with(ReplyStores { record: store(), ..ReplyStores::default() });
    ask(&recording, &ScriptedModel::new([reply("yes")])).outcome.unwrap();
    let replaying = with(ReplyStores { replay: store(), ..ReplyStores::default() });
    let answered = ask(&replaying, &ScriptedModel::new([]));
    assert_eq!((message(&answered).as_str(), answered.source), ("yes", ReplySource::Recorded));
    let other_model = ScriptedModel {
        about: ModelDescription::of(ModelId::new("p", "n")),
        ..ScriptedModel::new([])
    };
    assert_eq!(ask(&replaying, &other_model).outcome.unwrap_err().class, FailureClass::NotRecorded);
}

#[test]
fn a_recorded_failure_is_replayed_with_its_partial_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Some(ReplyStore::new(folder.path(), str::to_owned));
    let with =
        |stores| ModelClient::new(stores, Budget::unlimited(), DelayLog::default().retry_policy());
    let recording = with(ReplyStores { record: store(), ..ReplyStores::default() });
    let recorded = ask(&recording, &ScriptedModel::new([cut("half"), cut("nearly all"), cut("")]));
    assert_eq!(recorded.store_error, None);
    let answered = ask(
        &with(ReplyStores { replay: store(), ..ReplyStores::default() }),
        &ScriptedModel::new([]),
    );
    let (recorded, replayed) = (recorded.outcome.unwrap_err(), answered.outcome.unwrap_err());
    assert_eq!(replayed.partial.as_deref(), Some("nearly all"));
    assert_eq!(replayed.partial, recorded.partial);
    assert_eq!((replayed.class, replayed.message), (recorded.class, recorded.message));
    assert_eq!((answered.source, answered.attempts), (ReplySource::Recorded, 0));
    assert_eq!(answered.spent, Spending::default());
}

#[test]
fn an_answer_that_cannot_be_recorded_is_returned_with_a_store_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let record = Some(ReplyStore::new(file.path(), str::to_owned));
    let stores = ReplyStores { record, ..ReplyStores::default() };
    let client = ModelClient::new(stores, Budget::unlimited(), DelayLog::default().retry_policy());
    let answered = ask(&client, &ScriptedModel::new([reply("yes")]));
    assert!(answered.outcome.is_ok());
    assert!(answered.store_error.unwrap().starts_with("cannot write an answer to the recording: "));
}

#[test]
fn an_attempt_with_unknown_usage_is_charged_in_full() {
    let caps = Caps { tokens: Some(3_000), ..Caps::default() };
    let waits = DelayLog::default();
    let client =
        ModelClient::new(ReplyStores::default(), Budget::new(caps, None), waits.retry_policy());
    let model = ScriptedModel::new([cut("half")]);
    let answered = ask(&client, &model);
    let failure = answered.outcome.unwrap_err();
    // The second attempt does not fit into the cap after the first.
    assert_eq!((failure.class, answered.attempts), (FailureClass::Budget, 1));
    assert_eq!(failure.partial.as_deref(), Some("half"));
    assert_eq!(answered.spent.tokens.total(), 2_101);
    assert!(model.is_used_up());
}
