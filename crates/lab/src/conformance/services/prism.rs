//! Prism as a proxy between a client and a service: [`Prism`] refuses requests and answers that do
//! not match a description.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context;

use crate::peers;

/// The time limit of a start, since Prism reads the whole description first.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// A proxy in front of a service, which ends when the value is dropped.
pub(super) struct Prism {
    child: Child,
    port: u16,
}

impl Prism {
    /// Starts the proxy with a description, in front of a service at an address.
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
        // Prism logs all the time, and would block on a full pipe.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.contains("Prism is listening") {
                    let _ = told.send(());
                }
            }
        });
        listens.recv_timeout(START_TIMEOUT).context("`prism` did not start")?;
        Ok(prism)
    }

    /// Returns the address of the proxy.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
