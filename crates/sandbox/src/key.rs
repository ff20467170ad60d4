//! Keys: [`Key`] shows itself to nobody, [`KeySource`] says where one comes from, [`Keys`] asks it.
//!
//! What a key opens, and who is told that there is none, is left to others.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;

use crate::{Command, RunError};

/// How long a key command may take.
const COMMAND_TIME: Duration = Duration::from_secs(60);

/// How much a key command may print.
const COMMAND_OUTPUT: usize = 64 << 10;

/// How long it is believed that a source has no key, or no better one. Whoever asks next meanwhile
/// need not wait for it, and a person is not asked for a password over and over.
const HOLDS: Duration = Duration::from_secs(60);

/// So many keys are remembered that were given: answers of services may name one that is old by now.
const GIVEN: usize = 8;

/// What programs that keep secrets need to reach their agents and stores.
const COMMAND_VARIABLES: [&str; 9] = [
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GNUPGHOME", "GPG_TTY", "PASSWORD_STORE_DIR",
    "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
];

/// A secret shorter than this is no secret, and taking it out of texts would garble them.
const SHORTEST: usize = 6;

/// A secret. It is written nowhere; only what is sent to its provider has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// Takes a key as it was read, without the space around it.
    pub fn new(text: &str) -> Key {
        Key(text.trim().to_owned())
    }

    /// Gives the secret, to be sent to whoever it is for and shown to nobody.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that somebody else wrote.
    pub fn scrub(&self, text: &str) -> String {
        match self.0.len() < SHORTEST {
            true => text.to_owned(),
            false => text.replace(&self.0, "…"),
        }
    }

    /// Says whether a header can hold it.
    fn is_sendable(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    }
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// None is needed.
    None,
    /// A variable, read by the caller.
    Variable {
        /// Its name, for messages.
        name: String,
        /// What it is set to.
        value: Option<Key>,
    },
    /// A program and its arguments; it prints the key.
    Command(Vec<String>),
}

/// Why there is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is none, or none that can be sent.
    #[error("{0}")]
    Unusable(String),
    /// Its command had less time than it may take.
    #[error("there is no key yet: the key command `{0}` did not end in time")]
    TooLate(String),
}

/// A source, asked when its key is needed and as seldom as possible.
#[derive(Debug)]
pub struct Keys {
    source: KeySource,
    /// Measures the age of what is known.
    created: Stopwatch,
    /// Locked while the source is asked.
    known: Mutex<Known>,
    /// The keys that were given, the newest last. Nobody holds this for long.
    given: Mutex<Vec<Key>>,
}

/// What is known of a source.
#[derive(Debug)]
enum Known {
    Nothing,
    Key(Option<Key>),
    /// A key that was refused, and the source had no other.
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
    /// Keys of a source that was not asked yet.
    pub fn new(source: KeySource) -> Keys {
        let (known, given) = (Mutex::new(Known::Nothing), Mutex::default());
        Keys { source, created: Stopwatch::start(), known, given }
    }

    /// Gives the key, if one is needed, within a time. A source that only lacked time is asked
    /// again, and one that failed is after a while.
    pub fn get(&self, time: Duration) -> Result<Option<Key>, KeyError> {
        self.get_at(time, &|| self.created.elapsed())
    }

    fn get_at(&self, time: Duration, now: &dyn Fn() -> Duration) -> Result<Option<Key>, KeyError> {
        let mut known = lock(&self.known);
        match &*known {
            Known::Key(key) => return Ok(key.clone()),
            Known::Refused { key, .. } => return Ok(Some(key.clone())),
            Known::Failure { error, since } if holds(*since, now()) => return Err(error.clone()),
            Known::Failure { .. } | Known::Nothing => {}
        }
        self.ask(&mut known, time, now)
    }

    /// Gives another key than one that was refused, if there is one: some commands print keys that
    /// hold for an hour.
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
        let mut known = lock(&self.known);
        match &*known {
            // Somebody else asked meanwhile.
            Known::Key(Some(key)) if key != refused => return Some(key.clone()),
            Known::Refused { since, .. } | Known::Failure { since, .. } if holds(*since, now()) => {
                return None;
            }
            Known::Key(_) | Known::Refused { .. } | Known::Failure { .. } | Known::Nothing => {}
        }
        let key = self.ask(&mut known, time, now).ok().flatten()?;
        if key == *refused {
            *known = Known::Refused { key, since: now() };
            return None;
        }
        Some(key)
    }

    fn ask(
        &self,
        known: &mut Known,
        time: Duration,
        now: &dyn Fn() -> Duration,
    ) -> Result<Option<Key>, KeyError> {
        let read = self.source.read(time);
        *known = match &read {
            Ok(key) => Known::Key(key.clone()),
            Err(KeyError::TooLate(_)) => Known::Nothing,
            Err(error @ KeyError::Unusable(_)) => {
                Known::Failure { error: error.clone(), since: now() }
            }
        };
        if let Ok(Some(key)) = &read {
            let mut given = lock(&self.given);
            given.retain(|known| known != key);
            given.push(key.clone());
            let too_many = given.len().saturating_sub(GIVEN);
            given.drain(..too_many);
        }
        read
    }

    /// Takes the keys that were given out of a text that somebody else wrote. No source is asked.
    pub fn scrub(&self, text: &str) -> String {
        lock(&self.given).iter().fold(text.to_owned(), |text, key| key.scrub(&text))
    }

    /// Gives the source.
    pub fn source(&self) -> &KeySource {
        &self.source
    }
}

fn holds(since: Duration, now: Duration) -> bool {
    now.saturating_sub(since) < HOLDS
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Display for KeySource {
    /// Names the source, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::None => f.write_str("the configuration, which names no key"),
            KeySource::Variable { name, .. } => write!(f, "the variable `{name}`"),
            KeySource::Command(words) => {
                // What follows may be as secret as the key.
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
                .ok_or_else(|| unusable(format!("there is no key: set the variable `{name}`")))?,
            KeySource::Command(words) => run(words, time)?,
        };
        match key.is_sendable() {
            true => Ok(Some(key)),
            false => {
                Err(unusable(format!("the key from {self} is no key: it has other characters")))
            }
        }
    }
}

fn run(words: &[String], time: Duration) -> Result<Key, KeyError> {
    let [program, args @ ..] = words else {
        return Err(unusable("the key command is empty: configure a program".to_owned()));
    };
    let command = Command::new(program).args(args).pass_on(COMMAND_VARIABLES);
    let command = command.time(time.min(COMMAND_TIME)).output(COMMAND_OUTPUT);
    let finished = command.run().map_err(|error| {
        if matches!(error, RunError::TimedOut { .. }) && time < COMMAND_TIME {
            return KeyError::TooLate(program.clone());
        }
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        unusable(format!("there is no key: {error}{}", cause.unwrap_or_default()))
    })?;
    // What it printed is not shown: it may be the key, or part of it.
    if !finished.status.success() {
        let ended = finished.status;
        return Err(unusable(format!(
            "there is no key: the key command `{program}` ended with {ended}"
        )));
    }
    let key = Key::new(&String::from_utf8_lossy(&finished.stdout));
    match key.reveal().is_empty() {
        true => {
            Err(unusable(format!("there is no key: the key command `{program}` printed nothing")))
        }
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
        let key = keys.get(COMMAND_TIME).map_err(|error| error.to_string())?;
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
    fn what_gives_no_key_is_named() {
        let cases = [
            (variable(None), "there is no key: set the variable `SOME_KEY`"),
            (variable(Some("")), "there is no key: set the variable `SOME_KEY`"),
            (
                variable(Some("a\nb")),
                "the key from the variable `SOME_KEY` is no key: it has other characters",
            ),
            (shell("true"), "there is no key: the key command `sh` printed nothing"),
            (
                shell("echo half; exit 3"),
                "there is no key: the key command `sh` ended with exit status: 3",
            ),
            (KeySource::Command(vec![]), "the key command is empty: configure a program"),
        ];
        for (source, message) in cases {
            assert_eq!(read(source), Err(message.into()));
        }
        let missing = read(KeySource::Command(vec!["no-such-program".into()])).unwrap_err();
        assert!(missing.starts_with("there is no key: could not start `no-such-program`: "));
    }

    /// A command that notes each run, and prints what a file says, if it says anything.
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

        /// A key, or `none`, and how often the command was run by now.
        fn told(&self, key: Option<Key>) -> (String, usize) {
            let runs = std::fs::read_to_string(self.folder.path().join("runs")).unwrap();
            (key.map_or("none".to_owned(), |key| key.0), runs.lines().count())
        }

        fn get(&self) -> (String, usize) {
            let now = || self.passed.get();
            self.told(self.keys.get_at(COMMAND_TIME, &now).unwrap_or_default())
        }

        fn other_than(&self, refused: &str) -> (String, usize) {
            let now = || self.passed.get();
            self.told(self.keys.other_than_at(&Key::new(refused), COMMAND_TIME, &now))
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
        // Somebody else had the old one as well.
        assert_eq!(command.other_than("token-1"), ("token-2".into(), 2));
        assert_eq!(command.get(), ("token-2".into(), 2));
        let said = command.keys.scrub("neither token-1 nor token-2");
        assert_eq!(said, "neither … nor …");
        let variable = Keys::new(variable(Some("sk-1234")));
        assert_eq!(variable.other_than(&Key::new("sk-1234"), COMMAND_TIME), None);
    }

    #[test]
    fn a_command_that_has_no_better_key_is_left_alone_for_a_while() {
        let command = Counted::new();
        command.prints("token-1");
        command.get();
        assert_eq!(command.other_than("token-1"), ("none".into(), 2));
        assert_eq!(command.other_than("token-1"), ("none".into(), 2));
        assert_eq!(command.get(), ("token-1".into(), 2));
        command.prints("token-2");
        assert_eq!(command.after(HOLDS).other_than("token-1"), ("token-2".into(), 3));
    }

    #[test]
    fn a_command_that_fails_is_left_alone_for_a_while() {
        let command = Counted::new();
        assert_eq!(command.get(), ("none".into(), 1));
        assert_eq!(command.after(HOLDS / 2).get(), ("none".into(), 1));
        command.prints("token-1");
        assert_eq!(command.after(HOLDS / 2).get(), ("token-1".into(), 2));
    }

    #[test]
    fn a_command_has_no_more_time_than_the_question_and_is_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ready");
        let keys = Keys::new(shell(&format!("test -e {} || sleep 600; echo key", file.display())));
        let error = keys.get(Duration::from_millis(50)).unwrap_err();
        assert_eq!(error, KeyError::TooLate("sh".to_owned()));
        assert_eq!(
            error.to_string(),
            "there is no key yet: the key command `sh` did not end in time"
        );
        std::fs::write(file, "").unwrap();
        assert_eq!(keys.get(COMMAND_TIME).unwrap().unwrap().reveal(), "key");
    }

    #[test]
    fn a_key_shows_itself_to_nobody() {
        let source = variable(Some("sk-secret"));
        assert!(!format!("{source:?} {source} {:?}", Keys::new(source.clone())).contains("secret"));
        assert_eq!(Key::new("sk-secret").scrub("bad key sk-secret!"), "bad key …!");
    }
}
