//! Prism between a client and a service: [`Prism`] refuses what does not fit a description, whoever
//! of the two says it.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context;

use crate::peers;

/// How long it may take to start; it reads all of a description first.
const START: Duration = Duration::from_secs(180);

/// A judge in front of a service; it ends with this.
pub(super) struct Prism {
    child: Child,
    port: u16,
}

impl Prism {
    /// Starts it with a description, before a service at an address.
    pub(super) fn start(description: &Path, service: &str) -> anyhow::Result<Prism> {
        let program = peers::prism()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut child = Command::new(program)
            .args(["proxy", "-h", "127.0.0.1", "-p", &port.to_string(), "--errors"])
            .arg(description)
            .arg(service)
            .env("PATH", format!("{}:{path}", peers::node()?.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("could not start `prism`")?;
        let stdout = child.stdout.take().context("its messages are piped")?;
        let prism = Prism { child, port };
        let (told, listens) = mpsc::channel();
        // It talks all the time, and would wait for somebody to listen.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.contains("Prism is listening") {
                    let _ = told.send(());
                }
            }
        });
        listens.recv_timeout(START).context("`prism` did not start")?;
        Ok(prism)
    }

    /// Gives its address.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
