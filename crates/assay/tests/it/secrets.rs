//! Credentials never leave the machine and are never stored, whatever repeats them.
//!
//! A credential of every kind is planted in every place that a review reads. The test then searches
//! for any piece of a credential in everything that was sent, shown and stored.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use assay_testkit::Repository;
use assay_testkit::model::{Answer, FakeModel, Fault, Options, PromptRequest, Script};
use serde_json::{Value, json};

use crate::injection::{files_below, sent};
use crate::{AssayRun, assay_with};

/// The length of a piece that identifies a credential, in bytes.
const PIECE: usize = 12;

/// Every kind of credential, as literal words, and letters with a number of random characters. No
/// credential that looks real is stored in a file.
const FORMS: &[&str] = &[
    "AKIA U16",
    "ASIA U16",
    "aws_secret_access_key= A40",
    "AccountKey= A86 ==",
    "AIza A35",
    "GOCSPX- A28",
    "LTAI A20",
    "dop_v1_ X64",
    "ghp_ A36",
    "github_pat_ A60",
    "glpat- A20",
    "ATATT3 A70",
    "ATBB A32",
    "xoxb- D12 - A24",
    "xapp-1- U11 - D13 - X64",
    "https://hooks.slack.com/services/T U9 /B U9 / A24",
    "https://discord.com/api/webhooks/ D18 / A68",
    "D9 :AA A33",
    "sk_live_ A24",
    "whsec_ A32",
    "sq0atp- A22",
    "shpat_ X32",
    "sk-ant- A90",
    "sk-proj- A40",
    "sk- A20 T3BlbkFJ A20",
    "hf_ L34",
    "gsk_ A52",
    "r8_ A37",
    "npm_ A36",
    "pypi-AgE A60",
    "rubygems_ X48",
    "cio A32",
    "oy2 l43",
    "dckr_pat_ A27",
    "hvs. A90",
    "A14 .atlasv1. A64",
    "dapi X32",
    "SG. A22 . A43",
    "key- X32",
    "X32 -us12",
    "SK X32",
    "lin_api_ A40",
    "ntn_ A46",
    "glsa_ A32 _ X8",
    "NRAK- U27",
    "sntrys_ A70",
    "dp.pt. A43",
    "PMAK- X24 - X34",
    "pscale_tkn_ A43",
    "sbp_ X40",
    "AGE-SECRET-KEY-1 U58",
    "postgres://shop: A16 @db.shop.io/main",
];

/// Credentials that are the same in every run, and all of their pieces.
#[derive(Default)]
struct Vault {
    state: u64,
    pieces: HashSet<Vec<u8>>,
}

impl Vault {
    fn random(&mut self, alphabet: &str, count: usize) -> String {
        let alphabet = alphabet.as_bytes();
        let mut next = || {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(12_345);
            char::from(alphabet[(self.state >> 33) as usize % alphabet.len()])
        };
        let text: String = (0..count).map(|_| next()).collect();
        self.pieces.extend(text.as_bytes().windows(PIECE).map(<[u8]>::to_vec));
        text
    }

    fn make(&mut self, form: &str) -> String {
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        let mut out = String::new();
        for word in form.split(' ') {
            let (letter, count) = word.split_at(1);
            let Ok(count) = count.parse() else {
                out.push_str(word);
                continue;
            };
            let alphabet = match letter {
                "A" => format!("{UPPER}{LOWER}123456789"),
                "U" => format!("{UPPER}234567"),
                "L" => format!("{UPPER}{LOWER}"),
                "l" => format!("{LOWER}123456789"),
                "X" => "123456789abcdef".to_owned(),
                _ => "123456789".to_owned(),
            };
            out.push_str(&self.random(&alphabet, count));
        }
        out
    }

    /// Returns a line of Python for each kind, and a private key.
    fn lines(&mut self, name: &str) -> Vec<String> {
        let forms = FORMS.iter().enumerate();
        let mut lines: Vec<String> =
            forms.map(|(at, form)| format!("{name}_{at} = \"{}\"", self.make(form))).collect();
        lines.extend([format!("{name}_key = \"\"\"-----BEGIN RSA PRIVATE KEY-----")]);
        lines.extend((0..4).map(|_| self.make("A64")));
        lines.push("-----END RSA PRIVATE KEY-----\"\"\"".to_owned());
        lines
    }

    fn text(&mut self, name: &str) -> String {
        self.lines(name).join("\n") + "\n"
    }

    /// Returns the surroundings of the first piece in a text; `None` if there is no piece.
    fn found(&self, bytes: &[u8]) -> Option<String> {
        let at = bytes.windows(PIECE).position(|window| self.pieces.contains(window))?;
        let around = &bytes[at.saturating_sub(80)..(at + 40).min(bytes.len())];
        Some(String::from_utf8_lossy(around).into_owned())
    }

    fn check(&self, what: &str, bytes: &[u8]) {
        let found = self.found(bytes);
        assert!(found.is_none(), "{what}: …{}…", found.unwrap_or_default());
    }

    fn check_ran(&self, what: &str, ran: &AssayRun) {
        self.check(&format!("stdout of {what}"), ran.stdout.as_bytes());
        self.check(&format!("stderr of {what}"), ran.stderr.as_bytes());
    }

    fn check_folder(&self, what: &str, folder: &Path) {
        let files = files_below(folder);
        assert!(!files.is_empty(), "{what}: {} is empty", folder.display());
        for file in files {
            self.check(&format!("{what}: {}", file.display()), &fs::read(&file).unwrap());
        }
    }
}

const CONFIGURATION: &str = "models:\n  use:\n    fake:\n      api: anthropic\n      model: fake-1\n      url: ${FAKE_MODEL_URL}\n      key_env: FAKE_MODEL_KEY\n  budget:\n    day:\n      calls: 10000\n";

/// A repository with credentials in every place that a review reads, and the model's key.
struct PlantedSecrets {
    repository: Repository,
    vault: Vault,
    key: String,
}

fn planted() -> PlantedSecrets {
    let mut vault = Vault { state: 12_345, ..Vault::default() };
    let key = vault.random("abcdefghijklmnopqrstuvwxyz123456789", 40);
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", CONFIGURATION);
    repository.write("AGENTS.md", vault.text("guide"));
    let caller = format!("from used import compute\n\n{}", vault.text("caller"));
    let lines = caller.lines().map(|line| match line.starts_with("caller_") {
        true if !line.contains("-----") => format!("{line}\ncompute({})\n", line.len()),
        _ => format!("{line}\n"),
    });
    repository.write("caller.py", lines.collect::<String>());
    repository.write("used.py", "def compute(a):\n    return a\n");
    repository.write("removed.py", format!("a = 1\n{}b = 1\n", vault.text("removed")));
    repository.write("gone.py", vault.text("gone"));
    let context = vault.lines("context").join("\nx = 0\n");
    repository.write("context.py", format!("{context}\n"));
    repository.commit("before");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("added.py", vault.text("added"));
    repository.write("flaw.py", "def f(a):\n    return eval(a)\n");
    repository.write("used.py", "def compute(a):\n    return a + 1\n");
    repository.write("removed.py", "a = 1\nb = 1\n");
    repository.remove("gone.py");
    repository.write("context.py", format!("{}\n", context.replace("x = 0", "x = 1")));
    repository.commit(&format!("after\n\n{}", vault.text("message")));
    let named = vault.make("ghp_ A36");
    repository.write(format!("names/{named}.bin"), "\0\0");
    repository.write(format!("names/{named}.py"), "x = 1\n");
    // A file name is shown to local users, but not sent.
    vault.pieces.retain(|piece| !named.as_bytes().windows(PIECE).any(|window| window == piece));
    repository.commit("names");
    PlantedSecrets { repository, vault, key }
}

impl PlantedSecrets {
    fn run(&self, url: &str, args: &[&str]) -> AssayRun {
        let variables = [("FAKE_MODEL_URL", url), ("FAKE_MODEL_KEY", self.key.as_str())];
        assay_with(self.repository.path(), args, b"", &variables)
    }

    fn server(&self, script: impl Script + 'static) -> FakeModel {
        let options = Options { key: Some(self.key.clone()), ..Options::default() };
        FakeModel::start_with(options, script).unwrap()
    }

    fn check_kept(&self, what: &str) {
        self.vault.check_folder(what, &self.repository.path().join(".assay"));
    }

    /// Searches the ledger file, and the output of its commands.
    fn check_ledger(&self) {
        assert!(self.repository.path().join(".assay/ledger.db").exists());
        let listed = self.run("", &["findings", "list", "--format", "json"]);
        self.vault.check_ran("the list", &listed);
        let findings = listed.json()["findings"].as_array().unwrap().clone();
        assert!(!findings.is_empty(), "{}", listed.stdout);
        let mut vault = Vault { state: 54_321, ..Vault::default() };
        let reason = format!("said {}", vault.make("ghp_ A36"));
        for finding in findings.iter().step_by(8) {
            let id = finding["id"].as_str().unwrap();
            for args in [
                &["findings", "show", id][..],
                &["findings", "show", id, "--format", "json"][..],
                &["findings", "dismiss", id, "--reason", &reason][..],
            ] {
                let ran = self.run("", args);
                assert_eq!(ran.code, 0, "{}", ran.stderr);
                self.vault.check_ran("the ledger", &ran);
            }
        }
        vault.check_folder("a reason", &self.repository.path().join(".assay"));
    }

    fn check_sent(&self, what: &str, server: &FakeModel) {
        let received = server.requests();
        assert!(!received.is_empty(), "{what}: nobody was asked");
        for request in received {
            self.vault.check(&format!("sent for {what}"), &request.body);
            let head = String::from_utf8_lossy(&request.head).into_owned();
            let others = head.lines().filter(|line| !line.contains(&self.key));
            let of_key = head.lines().filter(|line| line.contains(&self.key));
            assert_eq!(of_key.count(), 1, "the key is sent once");
            self.vault.check("head", others.collect::<String>().as_bytes());
            let has_name = String::from_utf8_lossy(&request.body).contains("names/ghp_");
            assert!(!has_name, "{what}: a name was sent");
        }
    }
}

/// Reports the first line of a file, and confirms in a second look.
fn reviewer(asked: &PromptRequest) -> Answer {
    if asked.system.starts_with("You take a second look") {
        return Answer::json(&json!({ "answer": "confirm", "why": "It is so.", "quote": null }));
    }
    Answer::json(&report("Unsafe evaluation of what comes in", "`return eval(a)`", ""))
}

fn report(title: &str, evidence: &str, words: &str) -> Value {
    json!({
        "reviewer": "fake",
        "findings": [{
            "title": title, "severity": "P1", "file": "flaw.py", "line": 2,
            "why_it_matters": format!("Anything runs. {words}"), "evidence": [evidence],
            "confidence": 100, "autofix_class": "manual", "owner": "human",
            "requires_verification": false, "suggested_fix": words, "pre_existing": false,
        }],
        "residual_risks": [words], "testing_gaps": [words],
    })
}

#[test]
fn no_credential_is_sent_shown_or_kept() {
    let planted = planted();
    let record = tempfile::tempdir().unwrap();
    let folder = record.path().join("record");
    let folder = folder.to_str().unwrap();
    let server = planted.server(reviewer);
    for what in ["the first review", "the kept answers"] {
        let ran = planted.run(&server.url(), &["review", "--models", "--record", folder]);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        planted.vault.check_ran(what, &ran);
        planted.check_sent(what, &server);
        planted.check_kept(what);
        planted.vault.check_folder(what, record.path());
        fs::remove_dir_all(folder).unwrap();
    }
    let sent = sent(&server.requests());
    for place in ["guide", "removed", "gone", "context", "added", "message"] {
        let line = format!("{place}_8 = \"ghp_[redacted]\"");
        assert!(sent.contains(&line), "{place} was not read");
    }
    assert!(sent.contains("caller_0 = \"[redacted]\""), "callers were not read");
    for format in
        ["terminal", "json", "sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"]
    {
        let ran = planted.run("", &["replay", "--format", format]);
        assert!(ran.stdout.contains("flaw.py"), "{format}: {}{}", ran.stdout, ran.stderr);
        planted.vault.check_ran(format, &ran);
    }
    planted.check_ledger();
    planted.repository.write("flaw.py", "def f(a):\n    return eval(a + a)\n");
    planted.repository.commit("more");
    let ran = planted.run(&server.url(), &["review", "--persona", "prior-findings"]);
    planted.vault.check_ran("a later review", &ran);
    planted.check_sent("a later review", &server);
    planted.check_kept("a later review");
}

#[test]
fn credentials_in_the_answer_of_a_model_are_redacted() {
    let planted = planted();
    let mut vault = Vault { state: 999, ..Vault::default() };
    let words = vault.text("leaked");
    let all = PlantedSecrets { vault, ..planted };
    let leak = move |asked: &PromptRequest| {
        if asked.system.starts_with("You take a second look") {
            return Answer::json(&json!({ "answer": "refute", "why": words, "quote": words }));
        }
        let mut report = report(&words, &format!("`{words}`"), &words);
        for key in ["reviewer", "summary", "verdict", "note"] {
            report[key] = json!(words);
        }
        for key in ["category", "rule", "symbol", "subject", "settled_conflict"] {
            report["findings"][0][key] = json!(words);
        }
        let mut other = report["findings"][0].clone();
        (other["file"], other["severity"]) = (json!(words), json!(words));
        report["findings"].as_array_mut().unwrap().extend([
            other,
            json!(words),
            json!({ "a": words }),
        ]);
        for key in ["unmet_requirements", "failed_checks", "not_covered", "notes"] {
            report[key] = json!([words]);
        }
        match asked.number % 3 {
            0 => Answer::text(words.clone()),
            1 => Answer::text(format!("{words}\n```json\n{report}\n```\n{words}")),
            _ => Answer::json(&report),
        }
    };
    let record = tempfile::tempdir().unwrap();
    let folder = record.path().join("record");
    let server = all.server(leak);
    let args = ["review", "--persona", "correctness,security,testing", "--record"];
    for format in ["terminal", "json"] {
        let args = [&args[..], &[folder.to_str().unwrap(), "--format", format]].concat();
        let ran = all.run(&server.url(), &args);
        assert_ne!(ran.stdout, "", "{}", ran.stderr);
        all.vault.check_ran(format, &ran);
        all.check_kept(format);
        all.vault.check_folder(format, record.path());
    }
    for format in ["sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"] {
        all.vault.check_ran(format, &all.run("", &["replay", "--format", format]));
    }
}

#[test]
fn a_server_that_echoes_its_request_leaks_no_credential() {
    let planted = planted();
    for what in ["as text", "as a report"] {
        let server = planted.server(move |asked: &PromptRequest| match what {
            "as text" => Answer::text(asked.body.to_string()),
            _ => Answer::json(&report("Echo", "`return eval(a)`", &asked.text())),
        });
        let ran = planted.run(&server.url(), &["review", "--persona", "correctness,security"]);
        planted.vault.check_ran(what, &ran);
        planted.check_sent(what, &server);
        planted.check_kept(what);
    }
}

#[test]
fn failures_name_no_credential_and_no_key() {
    let planted = planted();
    let status = |code| Fault::Status { code, retry_after: None };
    for fault in [status(400), status(401), Fault::Garbage, Fault::WrongSchema, Fault::BadEvents] {
        let what = format!("{fault:?}");
        let server = planted.server(move |_: &PromptRequest| Answer::fault(fault.clone()));
        // A short time limit ends the retries early.
        let args = ["review", "--persona", "security", "--max-seconds", "2"];
        let ran = planted.run(&server.url(), &args);
        planted.vault.check_ran(&what, &ran);
        planted.check_sent(&what, &server);
        planted.check_kept(&what);
    }
    for status in ["400 Bad Request", "401 Unauthorized", "200 OK"] {
        let url = echo(status);
        let args = ["review", "--persona", "security", "--max-seconds", "2", "--format", "json"];
        let ran = planted.run(&url, &args);
        planted.vault.check_ran(status, &ran);
        planted.check_kept(status);
    }
}

/// Listens for requests, and returns each request, head included, as the error text of a refusal.
fn echo(status: &'static str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // The thread ends with the test process.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = String::from_utf8_lossy(&read_request(&mut stream)).into_owned();
            let error = json!({ "type": "invalid_request_error", "message": request });
            let body = json!({ "type": "error", "error": error }).to_string();
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n");
            let length = body.len();
            // The client may have disconnected.
            let _ =
                write!(stream, "{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
        }
    });
    url
}

fn read_request(stream: &mut TcpStream) -> Vec<u8> {
    let mut request = Vec::new();
    let mut buffer = [0; 65_536];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        request.extend(&buffer[..count]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
        });
        if count == 0 || request.len() >= head.len() + 4 + length.unwrap_or(0) {
            return request;
        }
    }
}
