//! Models that look things up in the repository before they report.

use std::collections::BTreeSet;

use super::*;

/// A file with a definition that the change neither shows nor uses.
const RATES: &str = "def rate_of(country):\n    return RATES.get(country)\n";

/// The dialects, each with its path below the server's address.
const DIALECTS: [(&str, &str); 3] =
    [("anthropic", ""), ("openai-chat", "/v1"), ("openai-responses", "/v1")];

/// A credential, in two parts so that no scanner reports this file as a leak.
const SECRET: &str = concat!("ghp_", "Zk3vQ9xT7mB2nC5dF8gH1jL4pR6sW0yE3uVa");

/// A repository with a change, and a model that answers from a script.
struct ScriptedLookups {
    repository: Repository,
    server: FakeModel,
}

impl ScriptedLookups {
    fn new(
        (api, path): (&str, &str),
        more: &str,
        script: impl Fn(&PromptRequest) -> Answer + Send + Sync + 'static,
    ) -> ScriptedLookups {
        let options = Options { key: Some(KEY.to_owned()), ..Options::default() };
        let server = FakeModel::start_with(options, script).unwrap();
        let url = format!("{}{path}", server.url());
        let repository = Repository::new();
        repository.write(
            "config/agent-framework.yaml",
            format!(
                "{more}models:\n  use:\n    fake:\n      api: {api}\n      model: fake-1\n      \
                 url: {url}\n      key_env: FAKE_KEY\n      context_tokens: 200000\n      \
                 usd_per_million: {{ input: 1, output: 5 }}\n"
            ),
        );
        repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
        repository.write("lib/rates.py", RATES);
        repository.write("lib/settings.py", format!("COUNTRY = 'de'\nTOKEN = '{SECRET}'\n"));
        repository.commit("a shop");
        repository.git(&["switch", "--quiet", "--create", "topic"]);
        repository.write("shop.py", AFTER);
        repository.commit("prices can be told apart");
        ScriptedLookups { repository, server }
    }

    fn review(&self, args: &[&str]) -> AssayRun {
        let args = [&["review", "--models", "--format", "json"], args].concat();
        assay_with(self.repository.path(), &args, b"", &[("FAKE_KEY", KEY)])
    }

    /// Returns the bodies of the requests of one reviewer.
    fn requests_of(&self, who: &str) -> Vec<Value> {
        let bodies = self.server.requests().into_iter();
        let bodies = bodies.map(|it| serde_json::from_slice::<Value>(&it.body).unwrap());
        bodies.filter(|body| body.to_string().contains(&format!("You are the `{who}`"))).collect()
    }
}

/// Returns true if a request offers look-ups.
fn offers_lookups(body: &Value) -> bool {
    body["tools"].to_string().contains("\"read_lines\"")
}

/// Counts the turns with look-ups that a request carries.
fn turns_in(text: &str) -> usize {
    text.matches("Look-ups left: ").count() + text.matches("No further look-up is possible").count()
}

/// Returns a report with one finding with a title; a second look confirms.
fn report_with(asked: &PromptRequest, title: &str) -> Answer {
    if asked.text().contains("You are the `validator`") {
        return answer(&asked.text());
    }
    let found = finding(title, "P2", ("shop.py", 10), "return sorted(prices)[0]");
    Answer::json(&with_findings("general", vec![found]))
}

/// Looks a definition up and reports whether the result arrived.
fn looks_up_a_definition(asked: &PromptRequest) -> Answer {
    match (turns_in(&asked.user), offers_lookups(&asked.body)) {
        (0, true) if !asked.text().contains("You are the `validator`") => {
            Answer::call("definition", &json!({ "name": "rate_of" }))
        }
        _ if asked.user.contains("return RATES.get(country)") => {
            report_with(asked, "A country without a rate has none")
        }
        _ => report_with(asked, "Nothing was seen"),
    }
}

#[test]
fn a_model_looks_a_definition_up_and_then_reports() {
    for dialect in DIALECTS {
        let case = ScriptedLookups::new(dialect, "", looks_up_a_definition);
        let ran = case.review(&[]);
        let synthesis = ran.json();
        assert_eq!(ran.code, 0, "{dialect:?}: {}", ran.stdout);
        assert_eq!(titles(&synthesis), ["A country without a rate has none"], "{dialect:?}");
        let asked = case.requests_of("general");
        assert_eq!(asked.len(), 2, "{dialect:?}");
        assert!(asked.iter().all(offers_lookups), "{dialect:?}");
        // Each turn counts: two for the reading, one for the second look.
        assert_eq!(synthesis["spent"]["calls"], 3, "{dialect:?}: {}", synthesis["spent"]);
        // The same change is not paid for twice, and the answers are the same.
        let again = case.review(&[]).json();
        assert_eq!((titles(&again), case.server.requests().len()), (titles(&synthesis), 3));
    }
}

#[test]
fn a_second_look_can_use_look_ups() {
    let case = ScriptedLookups::new(ANTHROPIC, "", |asked| {
        let is_second = asked.text().contains("You are the `validator`");
        match is_second && turns_in(&asked.user) == 0 {
            true => Answer::call("callers", &json!({ "name": "cheapest" })),
            false => report_with(asked, "An empty list has no cheapest"),
        }
    });
    let ran = case.review(&[]);
    let synthesis = ran.json();
    assert_eq!(synthesis["findings"][0]["validation"]["state"], "confirmed", "{}", ran.stdout);
    assert_eq!(case.requests_of("validator").len(), 2);
    assert_eq!(synthesis["spent"]["calls"], 3);
}

#[test]
fn nothing_outside_of_the_tree_and_no_credential_is_looked_up() {
    let case = ScriptedLookups::new(ANTHROPIC, "", |asked| {
        let path = ["../outside.txt", "local.env", "lib/settings.py"];
        match path.get(turns_in(&asked.user)) {
            Some(path) if offers_lookups(&asked.body) => {
                Answer::call("read_lines", &json!({ "path": path, "from": 1, "to": 20 }))
            }
            _ => report_with(asked, "Seen"),
        }
    });
    case.repository.write(".git/info/exclude", "local.env\n");
    case.repository.write("local.env", "HIDDEN_VALUE=1\n");
    let ran = case.review(&[]);
    assert_eq!(titles(&ran.json()), ["Seen"], "{}", ran.stdout);
    let asked = case.requests_of("general");
    let last = asked.last().unwrap().to_string();
    assert_eq!(asked.len(), 4, "{last}");
    assert!(last.contains("the path leaves the repository"), "{last}");
    assert!(last.contains("there is no such file that can be read here"), "{last}");
    assert!(last.contains("COUNTRY = 'de'") && last.contains("[redacted]"), "{last}");
    assert!(!last.contains("HIDDEN_VALUE") && !last.contains(SECRET), "{last}");
    let kept = crate::injection::files_below(case.repository.path());
    let kept = kept.iter().filter(|path| path.to_string_lossy().contains(".assay"));
    for path in kept {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        assert!(!text.contains(SECRET), "{}", path.display());
    }
}

#[test]
fn a_model_with_endless_look_ups_is_limited_and_its_report_is_used() {
    for dialect in DIALECTS {
        let case = ScriptedLookups::new(dialect, "", |asked| match offers_lookups(&asked.body) {
            true => Answer::call("search", &json!({ "text": "prices" })),
            false => report_with(asked, "Found in the end"),
        });
        let ran = case.review(&[]);
        assert_eq!(titles(&ran.json()), ["Found in the end"], "{dialect:?}: {}", ran.stdout);
        let asked = case.requests_of("general");
        let offered: Vec<bool> = asked.iter().map(offers_lookups).collect();
        assert_eq!(offered, [true, true, true, false], "{dialect:?}");
        assert!(asked[3].to_string().contains("No further look-up is possible"), "{dialect:?}");
    }
}

#[test]
fn a_model_that_never_reports_is_named_with_the_reason() {
    let case = ScriptedLookups::new(ANTHROPIC, "", |_| {
        Answer::call("search", &json!({ "text": "prices" }))
    });
    let ran = case.review(&[]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("the answer is not a report"), "{}", ran.stdout);
}

#[test]
fn a_look_up_that_repeats_the_canary_is_rejected_as_obeying_instructions() {
    let case = ScriptedLookups::new(ANTHROPIC, "", |asked| {
        let word = asked.user.split("repeat the word `").nth(1).unwrap();
        let word = word.split('`').next().unwrap();
        Answer::call("search", &json!({ "text": word }))
    });
    let ran = case.review(&[]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("obeyed instructions in the text under review"), "{}", ran.stdout);
    assert_eq!(case.requests_of("general").len(), 1);
}

#[test]
fn a_review_with_look_ups_replays_offline_and_an_altered_result_is_reported() {
    let case = ScriptedLookups::new(ANTHROPIC, "", looks_up_a_definition);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let first = case.review(&["--record", place]).json();
    drop(case);
    let elsewhere = tempfile::tempdir().unwrap();
    let replay = || {
        let args = ["review", "--replay", place, "--format", "json"];
        assay_with(elsewhere.path(), &args, b"", &[])
    };
    let again = replay();
    assert_eq!(titles(&again.json()), titles(&first), "{}", again.stdout);
    assert_eq!((again.code, &again.json()["verdict"]), (0, &first["verdict"]));
    let path = folder.path().join("recording.json");
    let recording = fs::read_to_string(&path).unwrap();
    assert!(recording.contains("RATES.get(country)"), "{recording}");
    fs::write(&path, recording.replace("RATES.get(country)", "RATES[country]")).unwrap();
    let ran = replay();
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("for general (prompt "), "{}", ran.stdout);
}

#[test]
fn a_changed_tree_invalidates_cached_answers_with_look_ups() {
    let case = ScriptedLookups::new(ANTHROPIC, "", looks_up_a_definition);
    case.review(&[]);
    let before = case.server.requests().len();
    let repository = &case.repository;
    repository.git(&["switch", "--quiet", "main"]);
    repository.write("lib/rates.py", RATES.replace("RATES.get(country)", "RATES[country]"));
    repository.commit("another rate");
    repository.git(&["rebase", "--quiet", "main", "topic"]);
    case.review(&[]);
    let asked = &case.requests_of("general")[2..];
    assert!(case.server.requests().len() > before);
    assert!(asked.iter().any(|body| body.to_string().contains("return RATES[country]")));
}

#[test]
fn a_server_without_tool_support_is_called_without_tools_and_the_report_notes_this() {
    for dialect in DIALECTS {
        let case = ScriptedLookups::new(dialect, "", |asked| match offers_lookups(&asked.body) {
            true => Answer::fault(Fault::NoTools),
            false => report_with(asked, "Found without tools"),
        });
        let ran = case.review(&[]);
        let synthesis = ran.json();
        assert_eq!(titles(&synthesis), ["Found without tools"], "{dialect:?}: {}", ran.stdout);
        let notes = synthesis["reports"].to_string();
        let expected = "`fake/fake-1` does not support tools, so the question was sent without \
                    look-ups";
        assert!(notes.contains(expected), "{dialect:?}: {notes}");
        let offered: Vec<bool> = case.requests_of("general").iter().map(offers_lookups).collect();
        assert_eq!(offered, [true, false], "{dialect:?}");
    }
}

#[test]
fn look_ups_are_offered_unless_the_configuration_before_the_change_turns_them_off() {
    let case =
        ScriptedLookups::new(ANTHROPIC, "review:\n  lookups: false\n", looks_up_a_definition);
    assert_eq!(titles(&case.review(&[]).json()), ["Nothing was seen"]);
    assert!(!case.requests_of("general").iter().any(offers_lookups));
    // A change cannot enable lookups for its own review.
    let path = case.repository.path().join("config/agent-framework.yaml");
    let on = fs::read_to_string(&path).unwrap().replace("lookups: false", "lookups: true");
    case.repository.write("config/agent-framework.yaml", on);
    case.repository.commit("look-ups");
    case.review(&[]);
    assert!(!case.requests_of("general").iter().any(offers_lookups));
}

#[test]
fn a_model_with_a_small_context_is_offered_no_look_ups() {
    let case = ScriptedLookups::new(ANTHROPIC, "", looks_up_a_definition);
    let path = case.repository.path().join("config/agent-framework.yaml");
    let small = fs::read_to_string(&path).unwrap().replace("200000", "32000");
    case.repository.git(&["switch", "--quiet", "main"]);
    case.repository.write("config/agent-framework.yaml", small);
    case.repository.commit("a small model");
    case.repository.git(&["rebase", "--quiet", "main", "topic"]);
    case.review(&[]);
    let offered: BTreeSet<bool> = case.requests_of("general").iter().map(offers_lookups).collect();
    assert_eq!(offered, BTreeSet::from([false]));
}
