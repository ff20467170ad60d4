//! Prism, which stands between a client and a service and refuses what the description does not allow.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::peers;

/// A proxy, for as long as it is held.
pub(super) struct Prism {
    process: Child,
    port: u16,
}

impl Prism {
    /// Starts one in front of a service, by a description.
    pub(super) fn start(description: &Path, upstream: &str) -> anyhow::Result<Prism> {
        let program = peers::prism()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut process = Command::new(program)
            .args(["proxy", "--errors", "--port", &port.to_string()])
            .arg(description)
            .arg(upstream)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("could not start prism")?;
        let said = process.stdout.take().context("prism says nothing")?;
        let mut lines = BufReader::new(said).lines();
        let is_up = |line: &String| line.contains("is listening");
        if !lines.by_ref().map_while(Result::ok).any(|line| is_up(&line)) {
            // It has ended, or nothing would have ended its words.
            let ended = process.wait()?;
            bail!("prism ended with {ended}");
        }
        // It would be stopped by words that nobody reads.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Prism { process, port })
    }

    /// Gives its address.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
