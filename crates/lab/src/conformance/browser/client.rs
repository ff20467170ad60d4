//! A client of `assay mcp electron` over stdin and stdout.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context, bail, ensure};
use assay_testenv::workspace::{command, target_folder};
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::workspace::assay;

/// The server as a child process, which ends when the value is dropped.
pub(super) struct Client {
    child: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Client {
    pub(super) fn start(port: u16) -> anyhow::Result<Client> {
        let program = assay()?;
        // A separate repository, in which screenshots are stored.
        let repository = Repository::new(target_folder("conformance/browser/repository")?)?;
        let mut child = command(&program.to_string_lossy(), &["mcp", "electron", "--allow-eval"])
            .args(["--port", &port.to_string()])
            .current_dir(repository.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start `assay`")?;
        let stdout = child.stdout.take().context("its output is piped")?;
        Ok(Client { child, answers: BufReader::new(stdout).lines() })
    }

    /// Calls a tool and returns its result. Fails with the message of the tool's error.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "conformance", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut input = self.child.stdin.as_ref().context("its input is piped")?;
        writeln!(input, "{request}")?;
        let answer = self.answers.next().context("the server has left")??;
        let mut answer: Value = serde_json::from_str(&answer)?;
        ensure!(answer["error"].is_null(), "an error of the protocol: {answer}");
        let result = answer["result"].take();
        if result["isError"] != false {
            bail!("{}", result["content"][0]["text"].as_str().unwrap_or("refused"));
        }
        Ok(result)
    }

    /// Runs a command of `send_command_to_electron` and returns its result.
    pub(super) fn command(&mut self, name: &str, args: &Value) -> anyhow::Result<Value> {
        let arguments = json!({ "command": name, "args": args });
        let mut answer = self.call("send_command_to_electron", &arguments)?;
        Ok(answer["structuredContent"]["result"].take())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server ends when its stdin is closed.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
