//! A private PostgreSQL server for tests: [`PrivatePostgres`].

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::folder::PrivateFolder;

/// The variable with the URL of a server that tests may use.
pub const SERVER: &str = "ASSAY_TEST_POSTGRES";

/// The instruction that is shown if no PostgreSQL is installed.
pub const INSTALL_HINT: &str = "install PostgreSQL, such as by `apt-get install postgresql`";

/// The timeout for the start of a server.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The database user that owns the server's databases.
const USER: &str = "tester";

/// The password of `USER`. It is not secret: only this machine can connect, and no data is kept.
const PASSWORD: &str = "not-a-secret";

/// A shell script that ends the server when the process that started the server is gone, for
/// whatever reason: the script's stdin is then at its end, since no process holds the other end.
const SUPERVISOR_SCRIPT: &str =
    r#""$@" & server=$!; read -r _; kill -QUIT "$server" 2>/dev/null; wait"#;

/// The durability of a server's writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerDurability {
    /// The server writes to the disk before it answers.
    Yes,
    /// Data survives a crash of the server, but not a crash of the machine.
    No,
}

/// A PostgreSQL server with a temporary folder. The server ends when the value is dropped, or when
/// this process ends; dropping the value also removes the folder.
#[derive(Debug)]
pub struct PrivatePostgres {
    folder: PrivateFolder,
    programs: PathBuf,
    owner: Option<(u32, u32)>,
    port: u16,
    durable: ServerDurability,
    keeper: Option<Child>,
}

/// Returns the folder with `initdb`, `postgres` and the other programs of a server.
pub fn programs() -> Option<PathBuf> {
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut versions: Vec<PathBuf> =
        installed.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(versions.into_iter().rev());
    let needed = ["initdb", "postgres", "pg_ctl", "createdb"];
    folders.into_iter().find(|bin| needed.iter().all(|program| bin.join(program).is_file()))
}

impl PrivatePostgres {
    /// Starts a server with its files below a folder, or below the system's temporary folder if the
    /// server's user could not reach the given one.
    pub fn start(below: &Path, durable: ServerDurability) -> io::Result<PrivatePostgres> {
        let programs = programs().ok_or_else(|| io::Error::other(INSTALL_HINT))?;
        let owner = unprivileged();
        fs::create_dir_all(below)?;
        let below = below.canonicalize()?;
        let reachable = owner.is_none() || below.ancestors().all(is_open_to_all);
        let below = if reachable { below } else { std::env::temp_dir() };
        let folder = PrivateFolder::new(&below, "postgres")?;
        if let Some((user, group)) = owner {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
            chown(folder.path(), Some(user), Some(group))?;
        }
        let mut server =
            PrivatePostgres { folder, programs, owner, port: 0, durable, keeper: None };
        server.initialize()?;
        server.port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        server.resume()?;
        Ok(server)
    }

    /// Returns the URL of the server's database.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// Creates a database and returns its URL.
    pub fn database(&self, name: &str) -> io::Result<String> {
        let port = self.port.to_string();
        let mut command = Command::new(self.programs.join("createdb"));
        command
            .args(["--host=127.0.0.1", "--port", &port, "--username", USER, name])
            .env("PGPASSWORD", PASSWORD);
        let status = self.as_owner(&mut command).status()?;
        if !status.success() {
            return Err(io::Error::other(format!("createdb ended with {status}")));
        }
        Ok(format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{port}/{name}"))
    }

    /// Starts the server again after it was stopped.
    pub fn resume(&mut self) -> io::Result<()> {
        let port = self.port.to_string();
        let fsync =
            format!("fsync={}", if self.durable == ServerDurability::Yes { "on" } else { "off" });
        let log = fs::File::create(self.folder.path().join("log"))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", SUPERVISOR_SCRIPT, "keeper"])
            .arg(self.programs.join("postgres"))
            .arg("-D")
            .arg(self.data())
            .args(["-p", &port, "-h", "127.0.0.1", "-c", "unix_socket_directories="])
            .args(["-c", &fsync, "-c", "max_connections=200", "-c", "shared_buffers=256MB"])
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        self.keeper = Some(self.as_owner(&mut command).spawn()?);
        self.wait_until_ready()
    }

    /// Stops the server in an orderly way: running transactions are aborted, and all data is
    /// written.
    pub fn stop(&mut self) -> io::Result<()> {
        self.end("fast")
    }

    /// Stops the server as a crash would.
    pub fn kill(&mut self) -> io::Result<()> {
        self.end("immediate")
    }

    fn end(&mut self, mode: &str) -> io::Result<()> {
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.arg("-D").arg(self.data()).args(["-w", "-m", mode, "stop"]);
        let status = self.as_owner(&mut command).stdout(Stdio::null()).status()?;
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait()?;
        }
        if status.success() { Ok(()) } else { Err(io::Error::other("pg_ctl stop failed")) }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn initialize(&self) -> io::Result<()> {
        let password = self.folder.path().join("password");
        fs::write(&password, PASSWORD)?;
        let mut command = Command::new(self.programs.join("initdb"));
        command
            .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256"])
            .arg(format!("--username={USER}"))
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(self.data());
        let output = self.as_owner(&mut command).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(io::Error::other(format!("initdb failed: {said}")))
    }

    /// Makes a command run as the user that owns the server, in a folder that this user can read.
    fn as_owner<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command.current_dir(self.folder.path())
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let pid_file = self.data().join("postmaster.pid");
        let start = Instant::now();
        loop {
            let said = fs::read_to_string(&pid_file).unwrap_or_default();
            if said.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return Ok(());
            }
            if start.elapsed() > START_TIMEOUT {
                let log = fs::read_to_string(self.folder.path().join("log"))?;
                return Err(io::Error::other(format!("the server does not start: {log}")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

/// Returns a URL with a schema name that no other test uses, on the server of the variable
/// `ASSAY_TEST_POSTGRES` or else on a server that this process starts. The schema is not created.
///
/// # Panics
///
/// If no PostgreSQL can be started.
pub fn schema() -> String {
    static SERVER_OF_THIS_PROCESS: OnceLock<PrivatePostgres> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = std::env::var(SERVER).unwrap_or_else(|_| {
        let below = std::env::temp_dir();
        let start = || {
            let server = PrivatePostgres::start(&below, ServerDurability::No);
            server.expect("this test needs a PostgreSQL that can be started")
        };
        SERVER_OF_THIS_PROCESS.get_or_init(start).url()
    });
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{count}", std::process::id());
    in_schema(&server, &name)
}

/// Returns the URL of a server with `schema` as its search path: tables are created, and searched,
/// there.
pub fn in_schema(server: &str, schema: &str) -> String {
    let separator = if server.contains('?') { '&' } else { '?' };
    format!("{server}{separator}options=-c%20search_path%3D{schema}")
}

/// Returns the user and the group to run the server as, since PostgreSQL refuses to be run by root.
/// Returns `None` if this process is not run by root, or if the machine has no unprivileged user.
fn unprivileged() -> Option<(u32, u32)> {
    let own = fs::metadata("/proc/self").map_or(1, |folder| folder.uid());
    if own != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).filter_map(|id| id.parse().ok());
        Some((ids.next()?, ids.next()?))
    };
    find("postgres").or_else(|| find("nobody"))
}

fn is_open_to_all(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|folder| folder.permissions().mode() & 0o005 == 0o005)
}
