//! Tests of the schema of the configuration: the schema and the parser agree on files, right and
//! wrong.

use std::path::Path;

use assay_base::clock::Clock;
use jsonschema::Validator;

use super::*;
use crate::config::PATH;
use crate::environment::Environment;

/// Files with every key, with sections and lists without content, and with variables.
const RIGHT: [&str; 23] = [
    "",
    "# only a comment\n",
    "review:\n",
    "review: {}\nmodels: {}\ngates: {}\nqa: {}\ntask: {}\nworkflow: {}\n",
    "review: {ignore: ['*.snap'], max_file_kib: 1, at_a_time: 1, fail_on: high, shown: 0}\n",
    "review: {ignore: , commands: , fail_on: , shown: all, nothing_to_review: incomplete}\n",
    "review: {models: true, second_looks: false, each_persona: true, lookups: false}\n",
    "review:\n  commands:\n  - ruff\n  - {name: clippy, seconds: 5}\n  - name: own\n    \
     run: [lint, 7]\n    form: sarif\n    files: ['*.py']\n    env: {LEVEL: 3}\n    required: true\n",
    "review:\n  rules: {python/debug-print: off, 'secret/*': {severity: high}}\n  \
     rule_paths: {'tests/**': {ignore: [python/*]}, 'docs/**': , 'a/**': {}}\n",
    "coverage: {require: structural}\n",
    "models:\n  use:\n    a: {api: anthropic, model: m, url: 'https://a.example', key_env: KEY,\n\
     \x20       context_tokens: 1, max_output_tokens: 1, usd_per_million: {input: 0, output: 1.5}}\n\
     \x20   b: {api: command, run: [agent, -p], env: {A: 1}, stall_seconds: 1, answer: 'json:/a',\n\
     \x20       failed: /error}\n    c: {api: codex}\n  tiers: {cheap: a, default: b, premium: c}\n  \
     phases: {review: {thinking: 1, model: a}, qa: , coder: {}, gates: {model: b}}\n",
    "models: {budget: {run: {usd: 0.5, tokens: 0, calls: 1, seconds: 0}, day: {usd: 0}}}\n",
    "models: {seconds: 1, stall_seconds: 1, attempts: 1, at_a_time: 1, cache: false, use: }\n",
    "gates: {preset: strict, may_until: 0, should_until: 0, ceiling: 1, fails_per_item: 1,\n\
     \x20 allow_only_items: true, allow_not_judged: true, models: true, fixer: model}\n",
    "gates:\n  fixer: {run: [fix], env: [KEY], seconds: 1}\n  verifiers:\n  - {name: a, \
     phases: [plan-docs], run: [a], check: It holds, severity: MAY, answer: text, seconds: 1}\n",
    "qa: {max_iterations: 1, recurring_issue_threshold: 2, issue_similarity_threshold: 0.5,\n\
     \x20 max_consecutive_errors: 1, max_errors: 1, max_rounds_without_progress: 1,\n\
     \x20 check_seconds: 1, page_settle_ms: 0, page_settle_limit_ms: 300000, tracking: false,\n\
     \x20 app_url: 'http://localhost:3000', fixer: safe, issue_types: [a], memory: ,\n\
     \x20 budget: {usd: 1}, frameworks: [{name: b, run: b -v, results: vitest, kind: e2e}]}\n",
    "github: {url: 'https://g.example/api/v3', token_env: T, repositories: [a/b.c],\n\
     \x20 when_ready: approve, labels: [x], webhook_secret_env: S}\n",
    "jira: {url: 'https://j.example', flavour: server, user: u, user_env: U, project: P,\n\
     \x20 token_command: [pass, 1], statuses: {approved: Ok}, webhook_token_env: W}\n",
    "linear: {team: T, key_env: K, states: {started: , approved: null, handed_over: Open}}\n",
    "task: {poll_interval: 1, max_retries: 0, timeout: 1, stop_grace: 0,\n\
     \x20 backoff: {initial: 0, multiplier: 1, max: 0}}\n\
     safeguards: {max_queue_size: 1, heartbeat_timeout: 1, watchdog_interval: 1}\n",
    "ledger: {retention_days: 180}\n",
    "queue: {url: 'postgres://localhost/assay'}\nworkflow: {max_review_cycles: 1, reviewer: a,\n\
     \x20 fixer: b, escalations: c, routes: [{severity: p1, min_files: 1, autofix: manual, to: a,\n\
     \x20 also: b}]}\n",
    "review:\n  at_a_time: ${NUMBER}\n  models: ${SWITCH}\n  nothing_to_review: ${WORD}\n  \
     fail_on: ${LEVEL}\nqa:\n  issue_similarity_threshold: ${NUMBER}\ngithub:\n  \
     repositories: ['${ORG}/shop']\n",
];

/// Values of the wrong type, unknown words, and numbers out of bounds, as `key: value`.
const WRONG_VALUES: [&str; 78] = [
    "reviews: {}",
    "review: [1]",
    "review: {ignored: []}",
    "review: {ignore: {a: 1}}",
    "review: {max_file_kib: 0}",
    "review: {at_a_time: 0}",
    "review: {at_a_time: -1}",
    "review: {at_a_time: 1.5}",
    "review: {at_a_time: many}",
    "review: {models: perhaps}",
    "review: {nothing_to_review: fail}",
    "review: {shown: most}",
    "review: {fail_on: bad}",
    "review: {commands: [unknown]}",
    "review: {commands: [5]}",
    "review: {commands: [[ruff]]}",
    "review: {commands: [{name: ruff, seconds: 0}]}",
    "review: {commands: [{name: own, run: [a]}]}",
    "review: {commands: [{name: own, run: [], form: sarif}]}",
    "review: {commands: [{name: own, run: [a], form: xml}]}",
    "review: {commands: [{run: [a], form: sarif}]}",
    "review: {commands: [{name: ruff, colour: red}]}",
    "review: {rules: [python/debug-print]}",
    "review: {rules: {python/debug-print: on}}",
    "review: {rules: {python/debug-print: {severity: bad}}}",
    "review: {rules: {python/debug-print: {severity: LOW, colour: red}}}",
    "review: {rule_paths: {'tests/**': [python/debug-print]}}",
    "review: {rule_paths: {'tests/**': {select: [python/debug-print]}}}",
    "coverage: {require: all}",
    "models: {use: {a: {}}}",
    "models: {use: {a: {api: gemini}}}",
    "models: {use: {a: {api: anthropic}}}",
    "models: {use: {a: {api: command}}}",
    "models: {use: {a: {api: command, run: [a], answer: 'xml:/a'}}}",
    "models: {use: {a: {api: claude, key: secret}}}",
    "models: {use: {a: {api: claude, stall_seconds: 0}}}",
    "models: {use: {a: {api: claude, context_tokens: 0}}}",
    "models: {use: {a: {api: claude, max_output_tokens: 0}}}",
    "models: {use: {a: {api: claude, usd_per_million: {input: 1}}}}",
    "models: {use: {a: {api: claude, usd_per_million: {input: -1, output: 1}}}}",
    "models: {phases: {write: {}}}",
    "models: {budget: {run: {usd: -1}}}",
    "models: {budget: {day: {seconds: 1}}}",
    "models: {seconds: 0}",
    "models: {stall_seconds: 0}",
    "models: {attempts: 0}",
    "models: {at_a_time: 0}",
    "gates: {preset: lax}",
    "gates: {ceiling: 0}",
    "gates: {fails_per_item: 0}",
    "gates: {fixer: safe}",
    "gates: {fixer: {run: [a], seconds: 0}}",
    "gates: {fixer: {env: [A]}}",
    "gates: {verifiers: {name: a}}",
    "gates: {verifiers: [{name: a, phases: [plan], run: [a], check: a}]}",
    "gates: {verifiers: [{name: a, phases: [], run: [a], check: a}]}",
    "gates: {verifiers: [{name: a, phases: [plan-code], run: [a], check: a, severity: HIGH}]}",
    "gates: {verifiers: [{name: a, phases: [plan-code], run: [a], check: a, seconds: 0}]}",
    "qa: {max_iterations: 0}",
    "qa: {recurring_issue_threshold: 1}",
    "qa: {issue_similarity_threshold: 0.4}",
    "qa: {max_errors: 0}",
    "qa: {check_seconds: 0}",
    "qa: {page_settle_limit_ms: 300001}",
    "qa: {budget: {usd: -0.5}}",
    "qa: {fixer: person}",
    "qa: {frameworks: [{name: a, run: a, results: xml}]}",
    "qa: {frameworks: [{name: a, run: a, results: tap, kind: some}]}",
    "github: {token: secret}",
    "github: {repositories: [shop]}",
    "github: {when_ready: merge}",
    "jira: {flavour: desktop}",
    "jira: {token: secret}",
    "linear: {key: secret}",
    "task: {backoff: {multiplier: 0.5}}",
    "safeguards: {max_queue_size: 0}",
    "ledger: {retention_days: 0}",
    "workflow: {reviewer: a/b, routes: [{severity: bad}]}",
];

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).unwrap()
}

/// Returns the errors of the schema on a file.
fn schema_errors(validator: &Validator, text: &str) -> Vec<String> {
    let options = serde_saphyr::options! { emit_comments: false };
    let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
    let value = match text.lines().all(is_comment) {
        true => Value::Null,
        false => serde_saphyr::from_str_with_options(text, options).unwrap(),
    };
    let errors = validator.iter_errors(&value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Returns the result of the parser, with all its checks, on a file.
fn parse(text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PATH);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    parse_in(folder.path())
}

fn parse_in(root: &Path) -> Result<(), String> {
    let variables =
        [("NUMBER", "1"), ("SWITCH", "true"), ("WORD", "pass"), ("LEVEL", "P1"), ("ORG", "acme")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment = Environment::new(variables, &Clock::system(), Vec::new);
    let parsed = Configuration::on_disk(&environment, root);
    parsed.map(|_| ()).map_err(|error| format!("{error:#}"))
}

#[test]
fn right_files_are_valid_by_the_schema_and_accepted_by_the_parser() {
    let validator = validator();
    for text in RIGHT {
        assert_eq!(schema_errors(&validator, text), Vec::<String>::new(), "{text}");
        assert_eq!(parse(text), Ok(()), "{text}");
    }
}

#[test]
fn wrong_files_are_refused_by_the_schema_and_by_the_parser() {
    let validator = validator();
    for text in WRONG_VALUES {
        assert_ne!(schema_errors(&validator, text), Vec::<String>::new(), "{text}");
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_count_of_zero_is_refused_with_its_line_and_key() {
    let error = |text| parse(text).unwrap_err();
    assert_eq!(
        error("review:\n  at_a_time: 0\n"),
        "cannot read `config/agent-framework.yaml`, line 2 (`at_a_time`): invalid value: `0`, \
         expected a number from 1"
    );
    assert_eq!(
        error("review:\n  commands:\n  - name: ruff\n    seconds: 0\n"),
        "cannot read `config/agent-framework.yaml`, line 4 (`seconds`): invalid value: `0`, \
         expected a number from 1"
    );
    assert_eq!(
        error("qa:\n  budget:\n    usd: -1\n"),
        "cannot read `config/agent-framework.yaml`, line 3 (`usd`): -1 is not an amount in dollars"
    );
}

/// Calls `check` with each property of a schema, at any depth.
fn for_each_key(schema: &Value, check: &mut impl FnMut(&str, &Value)) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                for_each_key(member, check);
                if name == "properties" {
                    let properties = member.as_object().into_iter().flatten();
                    properties.for_each(|(name, property)| check(name, property));
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| for_each_key(item, check)),
        _ => {}
    }
}

#[test]
fn every_key_has_a_description_and_none_holds_a_secret() {
    let mut schema = schema();
    // The conditions on models name keys that are described above them.
    let model = schema.pointer_mut("/$defs/ModelConfig").and_then(Value::as_object_mut);
    model.unwrap().remove("allOf");
    let mut keys = 0;
    for_each_key(&schema, &mut |name, key| {
        keys += 1;
        let description = key["description"].as_str().unwrap_or_default();
        assert!(description.ends_with('.'), "{name}: {description:?}");
        assert!(!["key", "token", "environment"].contains(&name), "{name}: {description}");
    });
    assert!(keys > 120, "{keys} keys");
}

#[test]
fn objects_are_closed_unless_the_user_names_their_keys() {
    let schema = schema();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if definition.get("properties").is_some() {
            assert_eq!(definition["additionalProperties"], false, "{name}");
        }
    }
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn a_description_has_bounds_and_default() {
    let schema = schema();
    let review = &schema["$defs"]["ReviewConfig"]["properties"];
    assert_eq!(review["at_a_time"]["default"], 4);
    assert_eq!(
        review["at_a_time"]["description"],
        "The maximum number of local reviewers (rules, analysers) that run concurrently.\n\n\
         Bounds: at least 1.\n\nDefault: 4."
    );
    let qa = &schema["$defs"]["QaConfig"]["properties"];
    let similarity = qa["issue_similarity_threshold"]["description"].as_str().unwrap();
    assert!(similarity.ends_with("\n\nBounds: from 0.5 to 1.\n\nDefault: 0.8."), "{similarity}");
    let fail_on = review["fail_on"]["description"].as_str().unwrap();
    assert!(
        fail_on.ends_with("\n\nDefault: findings that must be fixed, and MAJOR and P1, block.")
    );
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}
