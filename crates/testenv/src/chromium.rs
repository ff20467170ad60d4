//! A private Chromium for tests: [`PrivateChromium`].

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::PrivateFolder;

/// The instruction that is shown if no Chromium is installed.
pub const INSTALL_HINT: &str = "install Chromium, such as by `apt-get install chromium`";

/// The timeout for the start of the browser, and for its port to close.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(60);

/// A shell script that kills the browser and its children when the process that started them is
/// gone, for whatever reason: the script's stdin is then at its end, since no process holds the
/// other end.
const SUPERVISOR_SCRIPT: &str = r#""$@" & browser=$!; read -r _; kill -KILL 0; wait "$browser""#;

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

/// A headless browser with a temporary folder. The browser ends when the value is dropped, or when
/// this process ends; dropping the value also removes the folder.
#[derive(Debug)]
pub struct PrivateChromium {
    folder: PrivateFolder,
    keeper: Option<Child>,
    port: u16,
}

/// Returns the path of an installed Chromium: the first one on `PATH`.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = std::env::split_paths(&path).flat_map(|bin| names.map(|name| bin.join(name)));
    all.find(|program| program.is_file())
}

impl PrivateChromium {
    /// Starts a browser with a page open.
    ///
    /// # Panics
    ///
    /// If no Chromium can be started.
    pub fn start(url: &str) -> PrivateChromium {
        PrivateChromium::try_start(url).expect("this test needs a Chromium that can be started")
    }

    fn try_start(url: &str) -> io::Result<PrivateChromium> {
        let program = program().ok_or_else(|| io::Error::other(INSTALL_HINT))?;
        let args: Vec<&OsStr> = FLAGS.iter().map(OsStr::new).chain([OsStr::new(url)]).collect();
        PrivateChromium::start_program(&program, &args)
    }

    /// Starts a program that contains a Chromium, such as an Electron app. The arguments must open
    /// the debugging port, at any number.
    pub fn start_program(program: &Path, args: &[&OsStr]) -> io::Result<PrivateChromium> {
        let folder = PrivateFolder::new(&std::env::temp_dir(), "chromium")?;
        let log = fs::File::create(folder.path().join("log"))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", SUPERVISOR_SCRIPT, "keeper"])
            .arg(program)
            .args(args)
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
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

    /// Returns the port of the browser's DevTools.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the browser, and waits until its port is closed.
    pub fn kill(&mut self) {
        let Some(mut keeper) = self.keeper.take() else { return };
        drop(keeper.stdin.take());
        let _ = keeper.wait();
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok()
            && start.elapsed() < BROWSER_TIMEOUT
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_port(&self) -> io::Result<u16> {
        let start = Instant::now();
        loop {
            let bytes = fs::read(self.folder.path().join("log"))?;
            let log = String::from_utf8_lossy(&bytes);
            let said = log.lines().find_map(|line| line.split_once("DevTools listening on ws://"));
            // The address is followed by a path, so it is complete once the path begins.
            if let Some((address, _)) = said.and_then(|(_, after)| after.split_once('/')) {
                let port = address.rsplit(':').next().unwrap_or_default();
                return port.parse().map_err(io::Error::other);
            }
            if start.elapsed() > BROWSER_TIMEOUT || PrivateChromium::has_ended(&log) {
                return Err(io::Error::other(format!("the browser does not start: {log}")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns true if the log shows that the program could not even be loaded; its keeper does not
    /// end in this case.
    fn has_ended(log: &str) -> bool {
        log.contains("error while loading shared libraries")
    }
}

impl Drop for PrivateChromium {
    fn drop(&mut self) {
        self.kill();
    }
}
