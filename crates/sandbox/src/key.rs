//! Keys: [`Key`] never shows its secret, [`KeySource`] says where a key comes from, and [`Keys`]
//! reads and caches it.
//!
//! The use of a key, and the report that a key is missing, are left to the callers.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;

use crate::{Command, RunError};

/// The timeout of a key command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum output of a key command, in bytes.
const MAX_COMMAND_OUTPUT: usize = 64 << 10;

/// The time for which it is remembered that a source has no key, or no better key. Callers do not
/// wait for the source meanwhile, and the user is not asked for a password again and again.
const FAILURE_CACHE_TIME: Duration = Duration::from_secs(60);

/// The maximum number of keys that are remembered for redaction: the reply of a service may contain
/// an old key.
const MAX_REMEMBERED_KEYS: usize = 8;

/// The variables that password managers need to reach their agents and stores.
const COMMAND_VARIABLES: [&str; 9] = [
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GNUPGHOME", "GPG_TTY", "PASSWORD_STORE_DIR",
    "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
];

/// The minimum length of a secret that is redacted, in bytes. Shorter text is no secret, and
/// removing it would garble texts.
const MIN_SECRET_BYTES: usize = 6;

/// A secret. Only requests to its provider contain it; it is never printed or stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// Creates a key from text, without the white space around it.
    pub fn new(text: &str) -> Key {
        Key(text.trim().to_owned())
    }

    /// Returns the secret. The caller sends it to its provider and shows it nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in a text from outside with `…`.
    pub fn scrub(&self, text: &str) -> String {
        match self.0.len() < MIN_SECRET_BYTES {
            true => text.to_owned(),
            false => text.replace(&self.0, "…"),
        }
    }

    /// Returns true if an HTTP header can contain the key.
    fn is_sendable(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    }
}

/// The source of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// No key is needed.
    None,
    /// A variable, read by the caller.
    Variable {
        /// The name of the variable, for messages.
        name: String,
        /// The value of the variable; `None` if the variable is not set.
        value: Option<Key>,
    },
    /// A program and its arguments; it prints the key.
    Command(Vec<String>),
}

/// The reason why there is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no key, or the key cannot be sent.
    #[error("{0}")]
    Unusable(String),
    /// The key command did not end within the caller's time limit, which was shorter than the
    /// command's own.
    #[error("cannot read the key: the key command `{0}` did not end in time")]
    TimedOut(String),
}

/// A key source with a cache. The source is read only when its key is needed.
#[derive(Debug)]
pub struct Keys {
    source: KeySource,
    /// The clock for the age of cached results.
    created: Stopwatch,
    /// The cached result; locked while the source is read.
    cached: Mutex<CachedKey>,
    /// The keys that were returned, the newest last. The lock is held only briefly.
    returned: Mutex<Vec<Key>>,
}

/// The cached result of a source.
#[derive(Debug)]
enum CachedKey {
    Nothing,
    Key(Option<Key>),
    /// A key that a service refused; the source had no other one.
    Refused {
        key: Key,
        since: Duration,
    },
    Failure {
        error: KeyError,
        since: Duration,
    },
}

impl Keys {
    /// Creates keys of a source that was not read yet.
    pub fn new(source: KeySource) -> Keys {
        let (cached, returned) = (Mutex::new(CachedKey::Nothing), Mutex::default());
        Keys { source, created: Stopwatch::start(), cached, returned }
    }

    /// Returns the key, or `None` if no key is needed. The source is read within `time`. A source
    /// that timed out is read again by the next call, and a source that failed after a minute.
    pub fn get(&self, time: Duration) -> Result<Option<Key>, KeyError> {
        self.get_at(time, &|| self.created.elapsed())
    }

    fn get_at(&self, time: Duration, now: &dyn Fn() -> Duration) -> Result<Option<Key>, KeyError> {
        let mut cached = lock(&self.cached);
        match &*cached {
            CachedKey::Key(key) => return Ok(key.clone()),
            CachedKey::Refused { key, .. } => return Ok(Some(key.clone())),
            CachedKey::Failure { error, since } if is_fresh(*since, now()) => {
                return Err(error.clone());
            }
            CachedKey::Failure { .. } | CachedKey::Nothing => {}
        }
        self.read_source(&mut cached, time, now)
    }

    /// Returns a key other than the refused one, or `None` if the source has none: some commands
    /// print keys that are valid for an hour.
    pub fn other_than(&self, refused: &Key, time: Duration) -> Option<Key> {
        self.other_than_at(refused, time, &|| self.created.elapsed())
    }

    fn other_than_at(
        &self,
        refused: &Key,
        time: Duration,
        now: &dyn Fn() -> Duration,
    ) -> Option<Key> {
        match self.source {
            KeySource::None | KeySource::Variable { .. } => return None,
            KeySource::Command(_) => {}
        }
        let mut cached = lock(&self.cached);
        match &*cached {
            // Another thread read the source meanwhile.
            CachedKey::Key(Some(key)) if key != refused => return Some(key.clone()),
            CachedKey::Refused { since, .. } | CachedKey::Failure { since, .. }
                if is_fresh(*since, now()) =>
            {
                return None;
            }
            CachedKey::Key(_)
            | CachedKey::Refused { .. }
            | CachedKey::Failure { .. }
            | CachedKey::Nothing => {}
        }
        let key = self.read_source(&mut cached, time, now).ok().flatten()?;
        if key == *refused {
            *cached = CachedKey::Refused { key, since: now() };
            return None;
        }
        Some(key)
    }

    fn read_source(
        &self,
        cached: &mut CachedKey,
        time: Duration,
        now: &dyn Fn() -> Duration,
    ) -> Result<Option<Key>, KeyError> {
        let read = self.source.read(time);
        *cached = match &read {
            Ok(key) => CachedKey::Key(key.clone()),
            Err(KeyError::TimedOut(_)) => CachedKey::Nothing,
            Err(error @ KeyError::Unusable(_)) => {
                CachedKey::Failure { error: error.clone(), since: now() }
            }
        };
        if let Ok(Some(key)) = &read {
            let mut returned = lock(&self.returned);
            returned.retain(|cached| cached != key);
            returned.push(key.clone());
            let too_many = returned.len().saturating_sub(MAX_REMEMBERED_KEYS);
            returned.drain(..too_many);
        }
        read
    }

    /// Replaces all keys that were returned in a text from outside. The source is not read.
    pub fn scrub(&self, text: &str) -> String {
        lock(&self.returned).iter().fold(text.to_owned(), |text, key| key.scrub(&text))
    }

    /// Returns the source.
    pub fn source(&self) -> &KeySource {
        &self.source
    }
}

fn is_fresh(since: Duration, now: Duration) -> bool {
    now.saturating_sub(since) < FAILURE_CACHE_TIME
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Display for KeySource {
    /// Writes the name of the source, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::None => f.write_str("the configuration, which names no key"),
            KeySource::Variable { name, .. } => write!(f, "the variable `{name}`"),
            KeySource::Command(words) => {
                // The arguments may be as secret as the key.
                write!(f, "the key command `{}`", words.first().map_or("", String::as_str))
            }
        }
    }
}

impl KeySource {
    fn read(&self, time: Duration) -> Result<Option<Key>, KeyError> {
        let key = match self {
            KeySource::None => return Ok(None),
            KeySource::Variable { name, value } => value
                .clone()
                .filter(|key| !key.reveal().is_empty())
                .ok_or_else(|| unusable(format!("missing key: set the variable `{name}`")))?,
            KeySource::Command(words) => run(words, time)?,
        };
        match key.is_sendable() {
            true => Ok(Some(key)),
            false => Err(unusable(format!(
                "invalid key from {self}: expected printable ASCII characters only"
            ))),
        }
    }
}

fn run(words: &[String], time: Duration) -> Result<Key, KeyError> {
    let [program, args @ ..] = words else {
        return Err(unusable("the key command is empty: configure a program".to_owned()));
    };
    let command = Command::new(program).args(args).inherit_env(COMMAND_VARIABLES);
    let command = command.time(time.min(COMMAND_TIMEOUT)).output(MAX_COMMAND_OUTPUT);
    let finished = command.run().map_err(|error| {
        if matches!(error, RunError::TimedOut { .. }) && time < COMMAND_TIMEOUT {
            return KeyError::TimedOut(program.clone());
        }
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        unusable(format!("cannot read the key: {error}{}", cause.unwrap_or_default()))
    })?;
    // The output is not shown: it may be the key, or part of it.
    if !finished.status.success() {
        let ended = finished.status;
        return Err(unusable(format!(
            "cannot read the key: the key command `{program}` failed with {ended}"
        )));
    }
    let key = Key::new(&String::from_utf8_lossy(&finished.stdout));
    match key.reveal().is_empty() {
        true => Err(unusable(format!(
            "cannot read the key: the key command `{program}` printed nothing"
        ))),
        false => Ok(key),
    }
}

fn unusable(message: String) -> KeyError {
    KeyError::Unusable(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: KeySource) -> Result<String, String> {
        let keys = Keys::new(source);
        let key = keys.get(COMMAND_TIMEOUT).map_err(|error| error.to_string())?;
        Ok(key.as_ref().map_or("none", Key::reveal).to_owned())
    }

    fn shell(script: &str) -> KeySource {
        KeySource::Command(["sh", "-c", script].map(str::to_owned).to_vec())
    }

    fn variable(value: Option<&str>) -> KeySource {
        KeySource::Variable { name: "SOME_KEY".into(), value: value.map(Key::new) }
    }

    #[test]
    fn a_key_is_read_without_the_space_around_it() {
        assert_eq!(read(KeySource::None), Ok("none".into()));
        assert_eq!(read(variable(Some(" sk-1\n"))), Ok("sk-1".into()));
        assert_eq!(read(shell("echo ' sk-2 '")), Ok("sk-2".into()));
    }

    #[test]
    fn a_source_without_a_valid_key_is_named_in_the_error() {
        let cases = [
            (variable(None), "missing key: set the variable `SOME_KEY`"),
            (variable(Some("")), "missing key: set the variable `SOME_KEY`"),
            (
                variable(Some("a\nb")),
                "invalid key from the variable `SOME_KEY`: expected printable ASCII characters \
                 only",
            ),
            (shell("true"), "cannot read the key: the key command `sh` printed nothing"),
            (
                shell("echo half; exit 3"),
                "cannot read the key: the key command `sh` failed with exit status: 3",
            ),
            (KeySource::Command(vec![]), "the key command is empty: configure a program"),
        ];
        for (source, message) in cases {
            assert_eq!(read(source), Err(message.into()));
        }
        let missing = read(KeySource::Command(vec!["no-such-program".into()])).unwrap_err();
        assert!(missing.starts_with("cannot read the key: cannot start `no-such-program`: "));
    }

    /// A key command that records each run, and prints the content of a file, if there is any.
    struct Counted {
        folder: tempfile::TempDir,
        keys: Keys,
        passed: std::cell::Cell<Duration>,
    }

    impl Counted {
        fn new() -> Counted {
            let folder = tempfile::tempdir().unwrap();
            let at = folder.path().display();
            let keys = Keys::new(shell(&format!("echo x >> {at}/runs; cat {at}/key")));
            Counted { folder, keys, passed: Default::default() }
        }

        fn prints(&self, key: &str) {
            std::fs::write(self.folder.path().join("key"), key).unwrap();
        }

        fn after(&self, time: Duration) -> &Counted {
            self.passed.set(self.passed.get() + time);
            self
        }

        /// Returns a key, or `none`, and the number of runs of the command so far.
        fn key_and_run_count(&self, key: Option<Key>) -> (String, usize) {
            let runs = std::fs::read_to_string(self.folder.path().join("runs")).unwrap();
            (key.map_or("none".to_owned(), |key| key.0), runs.lines().count())
        }

        fn get(&self) -> (String, usize) {
            let now = || self.passed.get();
            self.key_and_run_count(self.keys.get_at(COMMAND_TIMEOUT, &now).unwrap_or_default())
        }

        fn other_than(&self, refused: &str) -> (String, usize) {
            let now = || self.passed.get();
            self.key_and_run_count(self.keys.other_than_at(
                &Key::new(refused),
                COMMAND_TIMEOUT,
                &now,
            ))
        }
    }

    #[test]
    fn a_command_is_run_once_until_its_key_is_refused() {
        let command = Counted::new();
        command.prints("token-1");
        assert_eq!(command.get(), ("token-1".into(), 1));
        assert_eq!(command.get(), ("token-1".into(), 1));
        command.prints("token-2");
        assert_eq!(command.other_than("token-1"), ("token-2".into(), 2));
        // Another caller had the old key as well.
        assert_eq!(command.other_than("token-1"), ("token-2".into(), 2));
        assert_eq!(command.get(), ("token-2".into(), 2));
        let scrubbed = command.keys.scrub("neither token-1 nor token-2");
        assert_eq!(scrubbed, "neither … nor …");
        let variable = Keys::new(variable(Some("sk-1234")));
        assert_eq!(variable.other_than(&Key::new("sk-1234"), COMMAND_TIMEOUT), None);
    }

    #[test]
    fn a_key_command_without_a_new_key_is_not_rerun_before_the_failure_cache_expires() {
        let command = Counted::new();
        command.prints("token-1");
        command.get();
        assert_eq!(command.other_than("token-1"), ("none".into(), 2));
        assert_eq!(command.other_than("token-1"), ("none".into(), 2));
        assert_eq!(command.get(), ("token-1".into(), 2));
        command.prints("token-2");
        assert_eq!(command.after(FAILURE_CACHE_TIME).other_than("token-1"), ("token-2".into(), 3));
    }

    #[test]
    fn a_failed_key_command_is_not_rerun_before_the_failure_cache_expires() {
        let command = Counted::new();
        assert_eq!(command.get(), ("none".into(), 1));
        assert_eq!(command.after(FAILURE_CACHE_TIME / 2).get(), ("none".into(), 1));
        command.prints("token-1");
        assert_eq!(command.after(FAILURE_CACHE_TIME / 2).get(), ("token-1".into(), 2));
    }

    #[test]
    fn a_key_command_that_exceeds_the_time_of_its_caller_times_out_and_is_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ready");
        let keys = Keys::new(shell(&format!("test -e {} || sleep 600; echo key", file.display())));
        let error = keys.get(Duration::from_millis(50)).unwrap_err();
        assert_eq!(error, KeyError::TimedOut("sh".to_owned()));
        assert_eq!(
            error.to_string(),
            "cannot read the key: the key command `sh` did not end in time"
        );
        std::fs::write(file, "").unwrap();
        assert_eq!(keys.get(COMMAND_TIMEOUT).unwrap().unwrap().reveal(), "key");
    }

    #[test]
    fn keys_are_redacted_in_formatted_output_and_scrubbed_text() {
        let source = variable(Some("sk-secret"));
        assert!(!format!("{source:?} {source} {:?}", Keys::new(source.clone())).contains("secret"));
        assert_eq!(Key::new("sk-secret").scrub("bad key sk-secret!"), "bad key …!");
    }
}
