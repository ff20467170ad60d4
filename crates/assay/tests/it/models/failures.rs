//! Every failure of a model, at every stage of a review: the change is never ready, and answers
//! that were paid for are retained.

mod stages;

use assay_testkit::model::{Cut, Pause, RetryAfter};

use super::*;

/// A kind of failure.
struct Way {
    fault: Fault,
    /// The texts of the report: the failure, and the remedy.
    reported: [&'static str; 2],
    /// True if the first half of the answer arrives before the failure.
    half: bool,
}

fn ways() -> Vec<Way> {
    let nothing = |fault, reported| Way { fault, reported, half: false };
    let half = |fault, reported| Way { fault, reported, half: true };
    let status = |code, reported| nothing(Fault::status(code), reported);
    let cut = |by, reported| nothing(Fault::Cut { after: 400, by }, reported);
    let wait = Fault::Status { code: 429, retry_after: Some(RetryAfter::Seconds(600)) };
    let key = ["rejected the API key", "check the variable `FAKE_KEY`"];
    let long =
        ["exceeds the model's context window", "choose a model with a larger context window"];
    let broken = ["broke off during the answer", "try again"];
    let late = ["no complete answer within", "raise `models.seconds`"];
    let strange = ["is not an answer of a model", "check the `url`"];
    let full = ["is overloaded", "try again later"];
    vec![
        status(401, key),
        status(403, key),
        status(404, ["no such model or address", "check `model` and `url`"]),
        status(413, long),
        nothing(Fault::PromptTooLong, long),
        nothing(Fault::NoCredit, ["has no credit left", "top up the account"]),
        status(429, ["rate limit exceeded", "lower `models.at_a_time`"]),
        nothing(wait, ["rate limit exceeded", "the server asks to retry after 600 s"]),
        status(500, ["failed with a server error", "try again later"]),
        status(529, full),
        nothing(Fault::Hang(Pause::BeforeHead), late),
        half(Fault::Hang(Pause::MidStream), late),
        cut(Cut::Close, broken),
        cut(Cut::Reset, broken),
        cut(Cut::Neatly, strange),
        nothing(Fault::Empty, ["the answer is empty", "choose another model"]),
        nothing(Fault::Garbage, strange),
        nothing(Fault::Refusal, ["the model refused to answer", "choose another model"]),
        nothing(Fault::WrongSchema, ["the answer is not a report", "choose another model"]),
        half(Fault::CutOff, ["was cut off at", "raise `max_output_tokens`"]),
        half(Fault::ErrorEvent, full),
        half(Fault::BadEvents, strange),
    ]
}

impl Way {
    /// Returns true if no model is asked any more after the failure.
    fn ends_the_run(&self) -> bool {
        let ends = |code: u16| self.fault == Fault::status(code);
        ends(401) || ends(403) || self.fault == Fault::NoCredit
    }

    fn mishap(&self) -> ModelFaultKind {
        ModelFaultKind::Fault(self.fault.clone())
    }
}

/// A configuration without concurrency, so that the order of calls is fixed.
const ONE_AT_A_TIME: &str = "  attempts: 1\n  seconds: 1\n  at_a_time: 1\n  cache: false\n";

/// The result of a review with a failure.
struct Failed {
    ran: AssayRun,
    synthesis: Value,
}

impl Failed {
    fn review(case: &Case, args: &[&str]) -> Failed {
        let ran = case.review(args);
        Failed { synthesis: synthesis(&case.runs().pop().unwrap()), ran }
    }

    fn check(&self, holds: bool, way: &Way, what: &str) {
        let AssayRun { stdout, stderr, code } = &self.ran;
        assert!(holds, "{:?}: {what} ({code})\n{stdout}{stderr}", way.fault);
    }

    /// Checks the exit code and the verdict of the review.
    fn check_end(&self, way: &Way, code: i32, state: &str) {
        self.check(self.ran.code == code, way, "it ends well");
        self.check(self.synthesis["verdict"]["state"] == state, way, state);
    }

    /// Returns the reason why a reviewer has no report; `None` if it has one.
    fn why(&self, name: &str) -> Option<&str> {
        let reports = self.synthesis["reports"].as_array().unwrap();
        let report = reports.iter().find(|report| report["reviewer"] == name);
        report.and_then(|report| report["unusable"].as_str())
    }

    /// Checks that the output names a reviewer, the failure and the remedy.
    fn check_reported(&self, way: &Way, name: &str) {
        // A reason may span several lines.
        let said = self.ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_said = |words: &&str| said.contains(*words);
        self.check(way.reported.iter().all(is_said), way, "it is told");
        let reasons = self.synthesis["verdict"]["because"].as_array().unwrap();
        let name = format!("`{name}`");
        // Reviewers that fail for the same reason share one.
        let names = |text: &Value| text.as_str().is_some_and(|text| text.contains(&name));
        let is_reason = reasons.iter().any(|it| it["rule"] == "no-report" && names(&it["text"]));
        self.check(is_reason, way, "it is a reason for the verdict");
    }

    /// Checks that findings of a reviewer that arrived are there, and no others.
    fn check_kept(&self, way: &Way, name: &str) {
        let mut findings = self.synthesis["findings"].as_array().unwrap().iter();
        let any = findings.any(|it| it["reviewers"].as_array().unwrap().contains(&json!(name)));
        self.check(any == way.half, way, "what came whole is kept");
    }
}

#[test]
fn a_change_is_incomplete_if_a_required_persona_fails() {
    let case = Case::new(ONE_AT_A_TIME);
    for way in ways() {
        case.only_trouble(&["`correctness` reviewer"], way.mishap());
        let failed = Failed::review(&case, &[]);
        failed.check_end(&way, 3, "incomplete");
        failed.check_reported(&way, "correctness");
        failed.check_kept(&way, "correctness");
        // The other reviewers are still asked, unless that is pointless.
        let others = found_without(&["correctness"]);
        let reported = titles(&failed.synthesis);
        let answered = others.iter().filter(|title| reported.contains(title)).count();
        let expected = if way.ends_the_run() { 0 } else { others.len() };
        failed.check(answered == expected, &way, "others are heard");
    }
}

#[test]
fn a_change_with_flaws_is_not_ready_even_if_no_model_answers() {
    let case = Case::new(ONE_AT_A_TIME);
    let flaw = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";
    case.repository.write("clean.py", flaw);
    case.repository.commit("files can be cleaned up");
    case.trouble(&["` reviewer"], ModelFaultKind::Fault(Fault::status(500)));
    let failed = Failed::review(&case, &[]);
    assert_eq!(failed.ran.code, 1, "{}", failed.ran.stdout);
    assert_eq!(failed.synthesis["verdict"]["state"], "not_ready");
    assert_eq!(failed.synthesis["verdict"]["incomplete"], true);
    assert!(failed.why("correctness").is_some());
}

#[test]
fn a_model_call_that_stalls_is_retried_once_and_then_incomplete() {
    for pause in [Pause::BeforeHead, Pause::AfterHead, Pause::MidStream] {
        let case = Case::new("  stall_seconds: 1\n  seconds: 600\n  cache: false\n");
        case.trouble(&["`correctness` reviewer"], ModelFaultKind::Fault(Fault::Hang(pause)));
        let failed = Failed::review(&case, &["--persona", "correctness"]);
        assert_eq!(failed.ran.code, 3, "{pause:?}: {}", failed.ran.stdout);
        assert_eq!(failed.synthesis["verdict"]["state"], "incomplete");
        let why = failed.why("correctness").unwrap();
        assert!(why.contains("`fake` sent no data for 1 s"), "{why}");
        let bodies = case.server.requests().into_iter().map(|request| request.body);
        let is_review = |body: &Vec<u8>| String::from_utf8_lossy(body).contains("` reviewer");
        assert_eq!(bodies.filter(is_review).count(), 2, "{pause:?}");
        // A transient stall costs nothing but time.
        case.no_trouble();
        case.once(&["`correctness` reviewer"], ModelFaultKind::Fault(Fault::Hang(pause)));
        let ran = case.review(&["--persona", "correctness", "--format", "json"]);
        assert_eq!(ran.code, 0, "{pause:?}: {}", ran.stdout);
    }
}

#[test]
fn an_agent_that_stalls_is_retried_once_and_then_incomplete() {
    let configuration = "models:\n  use:\n    slow:\n      api: command\n      \
                         run: [sh, -c, 'echo x >> \"$COUNT\"; sleep 600']\n      answer: text\n      \
                         env: { COUNT: COUNTED }\n  stall_seconds: 1\n";
    let aside = tempfile::tempdir().unwrap();
    let count = aside.path().join("count");
    let configuration = configuration.replace("COUNTED", &count.display().to_string());
    let repository = changed(&configuration, &[("shop.py".to_owned(), AFTER.to_owned())]);
    let args = ["review", "--models", "--persona", "correctness", "--format", "json"];
    let ran = assay_with(repository.path(), &args, b"", &[]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let why = ran.json()["verdict"]["because"].to_string();
    assert!(why.contains("the agent printed nothing for 1 s"), "{why}");
    assert_eq!(fs::read_to_string(count).unwrap().lines().count(), 2, "it was asked once more");
}

#[test]
fn a_review_names_the_models_that_it_paid() {
    let case = Case::new("  cache: false\n");
    let ran = case.review(&["--persona", "correctness"]);
    let calls = case.asked();
    assert!(calls > 0);
    let named = format!("  fake/fake-1: {calls} calls, ");
    assert!(ran.stdout.lines().any(|line| line.starts_with(&named)), "{}", ran.stdout);
    let spent = synthesis(&case.runs().pop().unwrap())["spent"].clone();
    let [model] = spent["models"].as_array().unwrap().as_slice() else { panic!("{spent}") };
    assert_eq!(model["model"], "fake/fake-1");
    for part in ["calls", "tokens", "usd"] {
        assert_eq!(model[part], spent[part], "{part}");
        assert!(model[part].as_f64().unwrap() > 0.0, "{part}");
    }
}

#[test]
fn transient_model_errors_are_retried_and_permanent_ones_are_not() {
    let at_once = |code| Fault::Status { code, retry_after: Some(RetryAfter::Seconds(0)) };
    for (fault, times, expected) in [
        (at_once(429), 2, (0, 3)),
        (at_once(529), 2, (0, 3)),
        (at_once(500), 3, (3, 3)),
        (at_once(404), 1, (3, 1)),
        (Fault::CutOff, 1, (3, 1)),
    ] {
        let case = Case::new("  attempts: 3\n  cache: false\n");
        for _ in 0..times {
            case.once(&["`correctness` reviewer"], ModelFaultKind::Fault(fault.clone()));
        }
        let ran = case.review(&["--persona", "correctness", "--mode", "report-only"]);
        let bodies = case.server.requests().into_iter().map(|request| request.body);
        let is_review = |body: &Vec<u8>| String::from_utf8_lossy(body).contains("` reviewer");
        let asks = bodies.filter(is_review);
        assert_eq!((ran.code, asks.count()), expected, "{fault:?}\n{}", ran.stdout);
    }
}
