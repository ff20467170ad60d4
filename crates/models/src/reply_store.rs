//! Stored replies: [`ReplyStore`], as a cache or as a recording.
//!
//! Each reply is one file, found by the model and the prompt, and in a cache also by the address or
//! command of the model. Before a reply is written, the marks of the run are replaced, and the
//! caller's redaction is applied.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::{Failure, FailureClass, ModelId, Nonce, Prompt, Reply, ToolCall};

/// The version of the file format.
const VERSION: u32 = 1;

/// The maximum number of replies in a cache.
const MAX_CACHED_REPLIES: usize = 1_000;

/// The maximum number of bytes in a cache.
const MAX_CACHE_BYTES: u64 = 100 << 20;

/// The number of new replies after which a cache is cleaned up again.
const EVICTION_INTERVAL: u32 = 64;

/// The suffix of temporary files.
const TEMP_SUFFIX: &str = ".part";

/// Fails if a file of the folder, by its name, has no authority; the error is shown to the user.
type CheckSeal = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// Seals a file of the folder, by its name, before it is written with the given bytes.
type WriteSeal = dyn Fn(&str, &[u8]) -> io::Result<()> + Send + Sync;

/// Distinguishes replies that this machine stored from all others.
pub struct ReplySeals {
    check: Box<CheckSeal>,
    seal: Box<WriteSeal>,
}

impl ReplySeals {
    /// Creates seals from two functions. `check` fails if a file of the folder, by its name, has no
    /// authority. `seal` seals a file before it is written with the given bytes.
    pub fn new(
        check: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static,
        seal: impl Fn(&str, &[u8]) -> io::Result<()> + Send + Sync + 'static,
    ) -> ReplySeals {
        ReplySeals { check: Box::new(check), seal: Box::new(seal) }
    }
}

/// A folder of stored replies.
pub struct ReplyStore {
    folder: PathBuf,
    seals: Option<ReplySeals>,
    redact: Box<dyn Fn(&str) -> String + Send + Sync>,
    written: AtomicU32,
}

/// The key of a stored reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplyKey<'a> {
    pub(crate) model: &'a ModelId,
    /// The hash of the model's address or command; `None` if a reply counts however the model was
    /// reached.
    pub(crate) endpoint_hash: Option<&'a str>,
    pub(crate) label: &'a str,
    pub(crate) prompt: &'a Prompt,
    pub(crate) nonce: &'a Nonce,
}

/// The content of a file.
#[derive(Debug, Serialize, Deserialize)]
struct StoredOutcome {
    version: u32,
    model: String,
    prompt: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<Reply>,
    /// The failure, if there is no reply. A recording needs it as well, since a partial answer and
    /// the lack of an answer both influence a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<StoredFailure>,
}

/// A stored failure, without usage and delay: the usage was paid for then, and a replay does not
/// wait.
#[derive(Debug, Serialize, Deserialize)]
struct StoredFailure {
    class: FailureClass,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
}

impl std::fmt::Debug for ReplyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyStore").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl ReplyStore {
    /// Creates a store in a folder; the folder is created with the first reply. Everything that is
    /// written goes through `redact`.
    pub fn new(
        folder: &Path,
        redact: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> ReplyStore {
        let (folder, redact) = (folder.to_owned(), Box::new(redact));
        ReplyStore { folder, redact, seals: None, written: AtomicU32::new(0) }
    }

    /// Uses only sealed replies, and seals those that are stored.
    #[must_use]
    pub fn with_seals(self, seals: ReplySeals) -> ReplyStore {
        ReplyStore { seals: Some(seals), ..self }
    }

    /// Returns the stored reply, if there is one. A file that cannot be read counts as none. Fails
    /// if a file exists and has no authority.
    pub(crate) fn find(&self, key: ReplyKey<'_>) -> io::Result<Option<Reply>> {
        let file = self.file(key);
        if let Some(seals) = self.seals.as_ref().filter(|_| file.symlink_metadata().is_ok()) {
            (seals.check)(&name_of(&file))?;
        }
        Ok(self.read(key).ok().flatten().and_then(Result::ok))
    }

    /// Returns the recorded reply or failure. Fails with `FailureClass::NotRecorded` if neither was
    /// recorded or the file cannot be read.
    pub(crate) fn replay(&self, key: ReplyKey<'_>) -> Result<Reply, Failure> {
        let (model, label) = (key.model, key.label);
        let why = match self.read(key) {
            Ok(Some(outcome)) => return outcome,
            Ok(None) => format!(
                "the recording `{}` has no answer of `{model}` for {label} (prompt {}); record the \
                 review again",
                self.folder.display(),
                key.prompt.hash(),
            ),
            Err(error) => format!(
                "cannot read the recorded answer of `{model}` for {label} from `{}`: {error}; \
                 record the review again",
                self.file(key).display(),
            ),
        };
        Err(Failure::free(FailureClass::NotRecorded, why))
    }

    fn read(&self, key: ReplyKey<'_>) -> io::Result<Option<Result<Reply, Failure>>> {
        let text = match fs::read(self.file(key)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let stored: StoredOutcome = serde_json::from_slice(&text)?;
        if stored.version != VERSION {
            return Err(io::Error::other(format!("unsupported version {}", stored.version)));
        }
        if stored.prompt != key.prompt.hash() {
            return Err(io::Error::other("the file belongs to another prompt"));
        }
        let recalled = |text: &str| key.nonce.restore_marks(text);
        match (stored.reply, stored.failure) {
            (Some(reply), _) => Ok(Some(Ok(with_texts(&reply, recalled)))),
            (None, Some(StoredFailure { class, message, partial })) => {
                let partial = partial.as_deref().map(recalled);
                Ok(Some(Err(Failure { partial, ..Failure::free(class, recalled(&message)) })))
            }
            (None, None) => Err(io::Error::other("the file contains no answer")),
        }
    }

    /// Stores a reply atomically, readable only by its owner.
    pub(crate) fn save(&self, key: ReplyKey<'_>, reply: &Reply) -> io::Result<()> {
        let reply = with_texts(reply, |text| self.redact_for_storage(key, text));
        self.write(key, Some(reply), None)
    }

    /// Stores a failure atomically, readable only by its owner.
    pub(crate) fn save_failure(&self, key: ReplyKey<'_>, failure: &Failure) -> io::Result<()> {
        let message = self.redact_for_storage(key, &failure.message);
        let partial =
            failure.partial.as_deref().map(|partial| self.redact_for_storage(key, partial));
        let failure = StoredFailure { class: failure.class, message, partial };
        self.write(key, None, Some(failure))
    }

    fn redact_for_storage(&self, key: ReplyKey<'_>, text: &str) -> String {
        (self.redact)(&key.nonce.replace_marks(text))
    }

    fn write(
        &self,
        key: ReplyKey<'_>,
        reply: Option<Reply>,
        failure: Option<StoredFailure>,
    ) -> io::Result<()> {
        let stored = StoredOutcome {
            version: VERSION,
            model: (self.redact)(&key.model.to_string()),
            prompt: key.prompt.hash(),
            label: (self.redact)(key.label),
            reply,
            failure,
        };
        fs::create_dir_all(&self.folder)?;
        // A temporary file is readable only by its owner.
        let mut file = tempfile::Builder::new().suffix(TEMP_SUFFIX).tempfile_in(&self.folder)?;
        let (bytes, place) = (serde_json::to_vec_pretty(&stored)?, self.file(key));
        file.write_all(&bytes)?;
        if let Some(seals) = &self.seals {
            (seals.seal)(&name_of(&place), &bytes)?;
        }
        file.persist(place)?;
        Ok(())
    }

    /// Stores a reply, and removes the oldest ones from time to time.
    pub(crate) fn save_and_evict(&self, key: ReplyKey<'_>, reply: &Reply) -> io::Result<()> {
        self.save(key, reply)?;
        match self.written.fetch_add(1, Ordering::Relaxed) % EVICTION_INTERVAL {
            0 => self.evict_oldest(MAX_CACHED_REPLIES, MAX_CACHE_BYTES),
            _ => Ok(()),
        }
    }

    fn evict_oldest(&self, max_files: usize, max_bytes: u64) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(&self.folder)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                let name = entry.file_name();
                // Files that this store did not write are left alone.
                is_store_file(name.to_str()?).then_some(())?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        files.sort_by(|one, other| other.cmp(one));
        let mut bytes = 0;
        for (at, (_, length, path)) in files.into_iter().enumerate() {
            bytes += length;
            if at >= max_files || bytes > max_bytes {
                // Another process may clean up at the same time.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    fn file(&self, key: ReplyKey<'_>) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(key.prompt.hash().as_bytes());
        match key.endpoint_hash {
            None => {
                hasher.update(key.model.to_string().as_bytes());
            }
            Some(reached) => {
                // Lengths separate the parts.
                for part in [key.model.provider(), key.model.model(), reached] {
                    hasher.update(&(part.len() as u64).to_le_bytes());
                    hasher.update(part.as_bytes());
                }
            }
        }
        self.folder.join(format!("{}.json", &hasher.finalize().to_hex()[..32]))
    }
}

/// Returns a copy of a reply with each text altered.
fn with_texts(reply: &Reply, alter: impl Fn(&str) -> String) -> Reply {
    let call =
        |call: &ToolCall| ToolCall { name: alter(&call.name), arguments: alter(&call.arguments) };
    Reply {
        text: alter(&reply.text),
        aside: alter(&reply.aside),
        calls: reply.calls.iter().map(call).collect(),
        ..reply.clone()
    }
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_store_file(name: &str) -> bool {
    let hash = name.strip_suffix(".json").unwrap_or_default();
    let is_answer = hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_answer || name.ends_with(TEMP_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mark, Usage};

    fn prompt(system: &str) -> Prompt {
        let blocks = Vec::new();
        Prompt {
            system: system.into(),
            blocks,
            schema: None,
            max_output_tokens: 1,
            thinking_tokens: 0,
            tools: Vec::new(),
            turns: Vec::new(),
        }
    }

    fn reply(text: impl Into<String>) -> Reply {
        Reply::new(text, Usage { input: 7, ..Usage::default() })
    }

    struct Case {
        folder: tempfile::TempDir,
        store: ReplyStore,
        model: ModelId,
        nonce: Nonce,
    }

    impl Case {
        fn new() -> Case {
            let folder = tempfile::tempdir().unwrap();
            let store = ReplyStore::new(folder.path(), |text| text.replace("secret", "***"));
            let (model, nonce) = (ModelId::new("p", "m"), Nonce::draw().unwrap());
            Case { folder, store, model, nonce }
        }

        fn key<'a>(&'a self, prompt: &'a Prompt) -> ReplyKey<'a> {
            let (label, nonce) = ("bug hunter", &self.nonce);
            ReplyKey { model: &self.model, endpoint_hash: None, label, prompt, nonce }
        }

        fn files(&self) -> Vec<PathBuf> {
            fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
        }
    }

    #[test]
    fn an_answer_is_found_again_by_model_and_prompt() {
        let case = Case::new();
        let (one, other) = (prompt("one"), prompt("other"));
        case.store.save(case.key(&one), &reply("yes")).unwrap();
        assert_eq!(case.store.find(case.key(&one)).unwrap(), Some(reply("yes")));
        assert_eq!(case.store.find(case.key(&other)).unwrap(), None);
        let key_of_other_model = ReplyKey { model: &ModelId::new("p", "n"), ..case.key(&one) };
        assert_eq!(case.store.find(key_of_other_model).unwrap(), None);
    }

    #[test]
    fn an_answer_of_another_endpoint_is_not_found() {
        let case = Case::new();
        let one = prompt("one");
        let by = |model, endpoint_hash| ReplyKey { model, endpoint_hash, ..case.key(&one) };
        case.store.save(by(&case.model, Some("here")), &reply("yes")).unwrap();
        assert_eq!(case.store.find(by(&case.model, Some("here"))).unwrap(), Some(reply("yes")));
        assert_eq!(case.store.find(by(&case.model, Some("there"))).unwrap(), None);
        assert_eq!(case.store.find(by(&case.model, None)).unwrap(), None);
        let (longer, shifted) = (ModelId::new("p", "mh"), ModelId::new("p/m", ""));
        assert_eq!(case.store.find(by(&longer, Some("ere"))).unwrap(), None);
        assert_eq!(case.store.find(by(&shifted, Some("here"))).unwrap(), None);
    }

    #[test]
    fn marks_in_a_stored_answer_become_those_of_the_next_run() {
        let case = Case::new();
        let one = prompt("one");
        case.store.save(case.key(&one), &reply(case.nonce.value_of(Mark::Canary))).unwrap();
        let next = Nonce::draw().unwrap();
        let found = case.store.find(ReplyKey { nonce: &next, ..case.key(&one) }).unwrap().unwrap();
        assert_eq!(found.text, next.value_of(Mark::Canary));
    }

    #[test]
    fn a_plain_or_escaped_canary_in_the_aside_becomes_that_of_the_next_run() {
        let case = Case::new();
        let canary = case.nonce.value_of(Mark::Canary);
        let escaped = format!("\\u{:04x}{}", u32::from(canary.as_bytes()[0]), &canary[1..]);
        for said in [canary.to_owned(), canary.to_uppercase(), escaped] {
            let one = prompt(&said);
            let reply = Reply { aside: said, ..reply("{}") };
            case.store.save(case.key(&one), &reply).unwrap();
            let next = Nonce::draw().unwrap();
            let found =
                case.store.find(ReplyKey { nonce: &next, ..case.key(&one) }).unwrap().unwrap();
            assert!(found.contains_word(next.value_of(Mark::Canary)), "{found:?}");
            assert_eq!(found.text, "{}");
        }
    }

    #[test]
    fn a_stored_answer_is_redacted_and_accessible_only_to_the_owner() {
        use std::os::unix::fs::PermissionsExt;
        let case = Case::new();
        let one = prompt("one");
        case.store
            .save(case.key(&one), &Reply { aside: "one more secret".into(), ..reply("a secret") })
            .unwrap();
        let file = case.files().remove(0);
        let written = fs::read_to_string(&file).unwrap();
        assert!(written.contains("\"a ***\"") && written.contains("one more ***"), "{written}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn tool_calls_are_stored_like_texts_and_thoughts_are_not_stored() {
        let case = Case::new();
        let one = prompt("one");
        let call = |arguments: String| ToolCall { name: "search".into(), arguments };
        let said = call(format!("a secret {}", case.nonce.value_of(Mark::Fence)));
        let thoughts = vec![serde_json::json!({ "thinking": "hm" })];
        let asked = Reply { calls: vec![said], thoughts, ..reply("") };
        case.store.save(case.key(&one), &asked).unwrap();
        let next = Nonce::draw().unwrap();
        let found = case.store.find(ReplyKey { nonce: &next, ..case.key(&one) }).unwrap();
        let stored = call(format!("a *** {}", next.value_of(Mark::Fence)));
        assert_eq!(found, Some(Reply { calls: vec![stored], ..reply("") }));
    }

    #[test]
    fn a_damaged_file_is_no_answer_and_no_recording() {
        let case = Case::new();
        let one = prompt("one");
        case.store.save(case.key(&one), &reply("yes")).unwrap();
        fs::write(case.files().remove(0), "{ \"version\": 1").unwrap();
        assert_eq!(case.store.find(case.key(&one)).unwrap(), None);
        let failure = case.store.replay(case.key(&one)).unwrap_err();
        assert_eq!(failure.class, FailureClass::NotRecorded);
        assert!(failure.message.contains("cannot read the recorded answer"), "{failure}");
    }

    #[test]
    fn an_answer_without_a_valid_seal_is_refused_with_the_reason() {
        let case = Case::new();
        let one = prompt("one");
        case.store.save(case.key(&one), &reply("yes")).unwrap();
        let refuse = |name: &str| Err(io::Error::other(format!("`{name}` is not used")));
        let seals = ReplySeals::new(refuse, |_, _| Ok(()));
        let store = ReplyStore::new(case.folder.path(), str::to_owned).with_seals(seals);
        let error = store.find(case.key(&one)).unwrap_err();
        assert!(error.to_string().ends_with(".json` is not used"), "{error}");
        assert_eq!(store.find(case.key(&prompt("other"))).unwrap(), None);
    }

    #[test]
    fn a_stored_failure_is_replayed_but_not_found_as_an_answer() {
        let case = Case::new();
        let one = prompt("one");
        let partial = format!("half a secret {}", case.nonce.value_of(Mark::Canary));
        let failure = Failure::new(FailureClass::CutOff, "cut off").with_partial(partial);
        case.store.save_failure(case.key(&one), &failure).unwrap();
        assert_eq!(case.store.find(case.key(&one)).unwrap(), None);
        let next = Nonce::draw().unwrap();
        let replayed = case.store.replay(ReplyKey { nonce: &next, ..case.key(&one) });
        let partial = format!("half a *** {}", next.value_of(Mark::Canary));
        let expected = Failure::free(FailureClass::CutOff, "cut off").with_partial(partial);
        assert_eq!(replayed, Err(expected));
    }

    #[test]
    fn files_of_versions_without_stored_failures_can_still_be_read() {
        let case = Case::new();
        let one = prompt("one");
        case.store.save(case.key(&one), &reply("yes")).unwrap();
        let old = format!(
            r#"{{"version":1,"model":"p/m","prompt":"{}","label":"bug hunter","reply":{{"text":"yes","usage":{{"input":7,"output":0}}}}}}"#,
            one.hash()
        );
        fs::write(case.files().remove(0), old).unwrap();
        assert_eq!(case.store.replay(case.key(&one)), Ok(reply("yes")));
    }

    #[test]
    fn a_missing_recording_is_reported_with_model_and_label() {
        let case = Case::new();
        let failure = case.store.replay(case.key(&prompt("one"))).unwrap_err();
        assert_eq!(failure.class, FailureClass::NotRecorded);
        assert!(failure.message.contains("has no answer of `p/m` for bug hunter"), "{failure}");
    }

    #[test]
    fn eviction_keeps_answers_within_the_limits_and_files_of_others() {
        let case = Case::new();
        for at in 0..10 {
            case.store.save(case.key(&prompt(&at.to_string())), &reply("yes")).unwrap();
        }
        fs::write(case.folder.path().join("notes.json"), "mine").unwrap();
        case.store.evict_oldest(3, 1 << 20).unwrap();
        assert_eq!(case.files().len(), 4);
        case.store.evict_oldest(3, 0).unwrap();
        assert_eq!(case.files().len(), 1);
    }
}
