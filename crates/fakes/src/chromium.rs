//! A Chromium of one's own: [`PrivateChromium`].

use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How to get a Chromium.
pub const HOW: &str = "install Chromium, such as by `apt-get install chromium`";

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends the browser with all that it started when whoever started it is gone, however that came
/// about: then nobody holds the other end of its standard input.
const KEEPER: &str = r#""$@" & browser=$!; read -r _; kill -KILL 0; wait "$browser""#;

const FLAGS: [&str; 16] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--disable-features=Translate,MediaRouter",
    "--window-size=800,600",
    "--lang=en",
    "--remote-debugging-port=0",
];

/// A browser without a window, in a folder of its own, gone with this value or with the process.
#[derive(Debug)]
pub struct PrivateChromium {
    folder: tempfile::TempDir,
    keeper: Option<Child>,
    port: u16,
}

/// Finds a Chromium.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = std::env::split_paths(&path).flat_map(|bin| names.map(|name| bin.join(name)));
    all.find(|program| program.is_file())
}

impl PrivateChromium {
    /// Starts one with a page open.
    ///
    /// # Panics
    ///
    /// Where there is none to be started.
    pub fn start(url: &str) -> PrivateChromium {
        PrivateChromium::try_start(url).expect("this test needs a Chromium that can be started")
    }

    fn try_start(url: &str) -> io::Result<PrivateChromium> {
        let program = program().ok_or_else(|| io::Error::other(HOW))?;
        let folder = tempfile::Builder::new().prefix("chromium-").tempdir()?;
        let log = fs::File::create(folder.path().join("log"))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", KEEPER, "keeper"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(url)
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        let keeper = Some(command.spawn()?);
        let mut browser = PrivateChromium { folder, keeper, port: 0 };
        browser.port = browser.wait_for_port()?;
        Ok(browser)
    }

    /// The port of its DevTools.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it at once, and waits until nobody listens any more.
    pub fn kill(&mut self) {
        let Some(mut keeper) = self.keeper.take() else { return };
        drop(keeper.stdin.take());
        let _ = keeper.wait();
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_port(&self) -> io::Result<u16> {
        let file = self.folder.path().join("profile/DevToolsActivePort");
        let start = Instant::now();
        loop {
            let said = fs::read_to_string(&file).unwrap_or_default();
            // The second line is written after the first.
            if let (Some(port), Some(_)) = (said.lines().next(), said.lines().nth(1)) {
                return port.parse().map_err(io::Error::other);
            }
            if start.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.path().join("log"))?;
                return Err(io::Error::other(format!("Chromium does not start: {log}")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for PrivateChromium {
    fn drop(&mut self) {
        self.kill();
    }
}
