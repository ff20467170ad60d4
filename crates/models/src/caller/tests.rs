//! A caller of a model that answers from a script.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::{Caps, Class, Description, ModelId, Price, Usage};

/// A model that answers from a script, and panics if it is called more often.
struct Scripted {
    about: Description,
    script: Mutex<Vec<Result<Reply, Failure>>>,
}

impl Model for Scripted {
    fn about(&self) -> &Description {
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

impl Scripted {
    fn new(script: impl IntoIterator<Item = Result<Reply, Failure>>) -> Scripted {
        let mut about = Description::of(ModelId::new("p", "m"));
        let price = Price { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0 };
        about.price = Some(price);
        Scripted { about, script: Mutex::new(script.into_iter().collect()) }
    }

    fn is_used_up(&self) -> bool {
        self.script.lock().unwrap().is_empty()
    }
}

fn reply(text: &str) -> Result<Reply, Failure> {
    Ok(Reply::new(text, Usage { input: 10, output: 5, ..Usage::default() }))
}

fn failure(class: Class) -> Result<Reply, Failure> {
    Err(Failure::free(class, format!("{class:?}")))
}

fn cut(partial: &str) -> Result<Reply, Failure> {
    Err(Failure::new(Class::Network, "cut").with_partial(partial.into()))
}

/// Records the delays, and does not wait.
#[derive(Clone, Default)]
struct Waits(Arc<Mutex<Vec<Duration>>>);

impl Waits {
    fn patience(&self) -> Patience {
        let waits = self.clone();
        let patience = Patience::new(3, Duration::from_secs(60)).by_chance(0);
        patience.pausing(move |wait| waits.0.lock().unwrap().push(wait))
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

fn ask(caller: &Caller, model: &Scripted) -> Answered {
    let (prompt, nonce) = (prompt(), Nonce::draw().unwrap());
    let time = Duration::from_secs(600);
    caller.ask(
        model,
        &Ask { label: "a test", prompt: &prompt, nonce: &nonce, time, is_worth_keeping: &|_| true },
        &|_| {},
    )
}

fn caller(waits: &Waits) -> Caller {
    Caller::new(Stores::default(), Budget::unlimited(), waits.patience())
}

fn message(answered: &Answered) -> String {
    match &answered.outcome {
        Ok(reply) => reply.text.clone(),
        Err(failure) => failure.message.clone(),
    }
}

#[test]
fn what_passes_is_asked_again_and_all_is_counted() {
    let waits = Waits::default();
    let model = Scripted::new([failure(Class::Overload), failure(Class::Server), reply("yes")]);
    let answered = ask(&caller(&waits), &model);
    assert_eq!(message(&answered), "yes");
    assert_eq!((answered.attempts, answered.spent.calls), (3, 3));
    assert_eq!(answered.spent.micro_usd, Some(15));
    assert_eq!(waits.seconds(), [1, 2]);
}

#[test]
fn a_provider_is_waited_for_as_it_asks() {
    let waits = Waits::default();
    let told = |seconds| {
        let wait = Some(Duration::from_secs(seconds));
        Err(Failure { wait, ..Failure::free(Class::RateLimit, "wait") })
    };
    assert_eq!(message(&ask(&caller(&waits), &Scripted::new([told(30), reply("yes")]))), "yes");
    let answered = ask(&caller(&waits), &Scripted::new([told(3_000)]));
    assert_eq!((message(&answered), answered.attempts), ("wait".into(), 1));
    assert_eq!(waits.seconds(), [30]);
}

#[test]
fn what_does_not_pass_is_asked_once() {
    for class in [Class::Refusal, Class::CutOff, Class::TooLong, Class::Rejected, Class::NotFound] {
        let answered = ask(&caller(&Waits::default()), &Scripted::new([failure(class)]));
        assert_eq!(answered.attempts, 1);
    }
}

#[test]
fn what_went_wrong_is_told_rather_than_that_no_time_was_left_to_ask_again() {
    let model = Scripted::new([failure(Class::TimedOut), failure(Class::TimedOut), reply("yes")]);
    assert_eq!(message(&ask(&caller(&Waits::default()), &model)), "yes");
    let script = [Class::Server, Class::TimedOut, Class::TimedOut].map(failure);
    let answered = ask(&caller(&Waits::default()), &Scripted::new(script));
    assert_eq!((message(&answered), answered.attempts), ("Server".into(), 3));
}

#[test]
fn the_longest_part_of_an_answer_is_saved() {
    let model = Scripted::new([cut("half"), cut("nearly all"), cut("")]);
    let answered = ask(&caller(&Waits::default()), &model);
    assert_eq!(answered.outcome.unwrap_err().partial.as_deref(), Some("nearly all"));
}

#[test]
fn after_the_end_of_a_run_nobody_is_asked() {
    let caller = caller(&Waits::default());
    ask(&caller, &Scripted::new([failure(Class::Authentication)])).outcome.unwrap_err();
    let answered = ask(&caller, &Scripted::new([]));
    assert_eq!((message(&answered).as_str(), answered.attempts), ("Authentication", 0));
}

#[test]
fn a_question_that_stalls_is_asked_once_more() {
    let stalled = || failure(Class::Stalled);
    let model = Scripted::new([stalled(), reply("yes")]);
    let answered = ask(&caller(&Waits::default()), &model);
    assert_eq!((message(&answered).as_str(), answered.attempts), ("yes", 2));
    for script in [
        vec![stalled(), stalled()],
        vec![stalled(), failure(Class::Server), stalled()],
        // The second attempt had only the remaining time.
        vec![stalled(), failure(Class::TimedOut), stalled()],
    ] {
        let model = Scripted::new(script);
        let answered = ask(&caller(&Waits::default()), &model);
        assert_eq!(answered.outcome.unwrap_err().class, Class::Stalled);
        assert!(model.is_used_up());
    }
}

#[test]
fn what_was_spent_is_told_by_model() {
    let caller = caller(&Waits::default());
    ask(&caller, &Scripted::new([reply("a")]));
    let mut other = Scripted::new([failure(Class::Server), reply("b")]);
    other.about.id = ModelId::new("q", "n");
    ask(&caller, &other);
    let by_model = caller.budget().spent_by_model();
    let calls: Vec<(&str, u64)> =
        by_model.iter().map(|(model, spent)| (model.as_str(), spent.calls)).collect();
    assert_eq!(calls, [("p/m", 1), ("q/n", 2)]);
    let sum = by_model.values().fold(Spent::default(), |sum, spent| sum.plus(*spent));
    assert_eq!(sum, caller.budget().spent());
}

#[test]
fn waits_end_with_the_time_of_a_question() {
    let waits = Waits::default();
    let (prompt, nonce) = (prompt(), Nonce::draw().unwrap());
    let time = Duration::from_millis(2_500);
    let asked =
        Ask { label: "a test", prompt: &prompt, nonce: &nonce, time, is_worth_keeping: &|_| true };
    let model = Scripted::new([failure(Class::Server), failure(Class::Server)]);
    assert_eq!(caller(&waits).ask(&model, &asked, &|_| {}).attempts, 2);
    assert_eq!(waits.seconds(), [1]);
}

#[test]
fn an_answer_is_paid_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let cached = || {
        let cache = Some(Store::new(folder.path(), str::to_owned));
        let stores = Stores { cache, ..Stores::default() };
        Caller::new(stores, Budget::unlimited(), Waits::default().patience())
    };
    assert_eq!(ask(&cached(), &Scripted::new([reply("yes")])).source, Source::Asked);
    let (caller, model) = (cached(), Scripted::new([]));
    let answered = ask(&caller, &model);
    assert_eq!((message(&answered).as_str(), answered.source), ("yes", Source::Cached));
    assert_eq!((caller.budget().spent().cached, caller.budget().spent().calls), (1, 0));
}

#[test]
fn an_answer_that_came_another_way_is_asked_for_again_but_replayed() {
    let (cache, recording) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = |folder: &tempfile::TempDir| Some(Store::new(folder.path(), str::to_owned));
    let with = |stores| Caller::new(stores, Budget::unlimited(), Waits::default().patience());
    let by = |way: &str, script: Vec<Result<Reply, Failure>>| {
        let scripted = Scripted::new(script);
        Scripted { about: scripted.about.reached_by(&way), script: scripted.script }
    };
    let run =
        || with(Stores { cache: store(&cache), record: store(&recording), ..Stores::default() });
    assert_eq!(ask(&run(), &by("here", vec![reply("one")])).source, Source::Asked);
    assert_eq!(ask(&run(), &by("there", vec![reply("two")])).source, Source::Asked);
    assert_eq!(message(&ask(&run(), &by("here", vec![]))), "one");
    let replaying = with(Stores { replay: store(&recording), ..Stores::default() });
    assert_eq!(message(&ask(&replaying, &Scripted::new([]))), "one");
}

#[test]
fn failures_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Some(Store::new(folder.path(), str::to_owned));
    let stores = Stores { cache, ..Stores::default() };
    let caller = Caller::new(stores, Budget::unlimited(), Waits::default().patience());
    let model = Scripted::new([failure(Class::CutOff), reply("yes")]);
    ask(&caller, &model).outcome.unwrap_err();
    assert_eq!(message(&ask(&caller, &model)), "yes");
}

#[test]
fn a_recorded_run_is_replayed_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Some(Store::new(folder.path(), str::to_owned));
    let with = |stores| Caller::new(stores, Budget::unlimited(), Waits::default().patience());
    let recording = with(Stores { record: store(), ..Stores::default() });
    ask(&recording, &Scripted::new([reply("yes")])).outcome.unwrap();
    let replaying = with(Stores { replay: store(), ..Stores::default() });
    let answered = ask(&replaying, &Scripted::new([]));
    assert_eq!((message(&answered).as_str(), answered.source), ("yes", Source::Recorded));
    let stranger = Scripted { about: Description::of(ModelId::new("p", "n")), ..Scripted::new([]) };
    assert_eq!(ask(&replaying, &stranger).outcome.unwrap_err().class, Class::NotRecorded);
}

#[test]
fn a_failure_is_replayed_with_what_came_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Some(Store::new(folder.path(), str::to_owned));
    let with = |stores| Caller::new(stores, Budget::unlimited(), Waits::default().patience());
    let recording = with(Stores { record: store(), ..Stores::default() });
    let recorded = ask(&recording, &Scripted::new([cut("half"), cut("nearly all"), cut("")]));
    assert_eq!(recorded.not_kept, None);
    let answered = ask(&with(Stores { replay: store(), ..Stores::default() }), &Scripted::new([]));
    let (recorded, replayed) = (recorded.outcome.unwrap_err(), answered.outcome.unwrap_err());
    assert_eq!(replayed.partial.as_deref(), Some("nearly all"));
    assert_eq!(replayed.partial, recorded.partial);
    assert_eq!((replayed.class, replayed.message), (recorded.class, recorded.message));
    assert_eq!((answered.source, answered.attempts), (Source::Recorded, 0));
    assert_eq!(answered.spent, Spent::default());
}

#[test]
fn an_answer_that_cannot_be_recorded_is_still_given_and_that_is_said() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let record = Some(Store::new(file.path(), str::to_owned));
    let stores = Stores { record, ..Stores::default() };
    let caller = Caller::new(stores, Budget::unlimited(), Waits::default().patience());
    let answered = ask(&caller, &Scripted::new([reply("yes")]));
    assert!(answered.outcome.is_ok());
    assert!(answered.not_kept.unwrap().starts_with("could not record an answer: "));
}

#[test]
fn an_attempt_of_which_nobody_knows_what_it_took_is_paid_in_full() {
    let caps = Caps { tokens: Some(3_000), ..Caps::default() };
    let waits = Waits::default();
    let caller = Caller::new(Stores::default(), Budget::new(caps, None), waits.patience());
    let model = Scripted::new([cut("half")]);
    let answered = ask(&caller, &model);
    let failure = answered.outcome.unwrap_err();
    // The second attempt does not fit into the cap after the first.
    assert_eq!((failure.class, answered.attempts), (Class::Budget, 1));
    assert_eq!(failure.partial.as_deref(), Some("half"));
    assert_eq!(answered.spent.tokens.total(), 2_101);
    assert!(model.is_used_up());
}
