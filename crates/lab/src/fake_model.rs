//! `cargo xtask fake-model`: serves a fake model, for trying out its clients.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use assay_testkit::model::{
    Answer, Dialect, FakeModel, Fault, Options, PromptRequest, ReceivedRequest, Rules, Script,
    SmallReview,
};

/// Serves until the process is interrupted.
pub(crate) fn run(port: u16, script: Option<&Path>, dialect: &str) -> anyhow::Result<bool> {
    let only = match dialect {
        "any" => None,
        "messages" | "anthropic" => Some(Dialect::Messages),
        "chat" => Some(Dialect::Chat),
        "responses" => Some(Dialect::Responses),
        other => bail!("there is no dialect `{other}`: any, messages, chat, responses"),
    };
    let script: Box<dyn Script> = match script {
        None => Box::new(SmallReview),
        Some(path) => {
            let text = fs::read_to_string(path)
                .with_context(|| format!("could not read `{}`", path.display()))?;
            let rules = Rules::from_json(&text).map_err(anyhow::Error::msg);
            Box::new(rules.with_context(|| format!("`{}` is no script", path.display()))?)
        }
    };
    let options = Options { port, told: Some(Box::new(print_request)), ..Options::default() };
    let answer = move |asked: &PromptRequest| match only {
        Some(only) if only != asked.dialect => Answer::fault(Fault::status(404)),
        _ => script.answer(asked),
    };
    let server = FakeModel::start_with(options, answer)
        .with_context(|| format!("could not listen on port {port}"))?;
    print!("{}", how_to_use(&server.url()));
    server.serve();
    Ok(true)
}

/// Prints a request on stderr.
#[allow(clippy::print_stderr, reason = "a chore says there how it goes")]
fn print_request(received: &ReceivedRequest) {
    let ReceivedRequest { method, path, status, body, refused, .. } = received;
    let why = refused.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    eprintln!("{method} {path} ({} bytes): {status}{why}", body.len());
}

fn how_to_use(url: &str) -> String {
    format!(
        "a model that is none listens at {url}

assay, or any client of Anthropic or OpenAI:
  export ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=fake
  export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=fake
claude, with those:
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude -p --output-format json < prompt
codex, which does not look at OPENAI_BASE_URL:
  codex exec -c model_provider=fake -c model_providers.fake.name=fake \\
    -c model_providers.fake.base_url={url}/v1 -c model_providers.fake.env_key=OPENAI_API_KEY \\
    -m fake-model --skip-git-repo-check -s read-only --json - < prompt

It ends with Ctrl-C.
"
    )
}
