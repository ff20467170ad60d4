//! Random edits through `assay lsp`: the diagnostics of the last text are the findings of a review
//! of that text.

use std::fs;
use std::path::PathBuf;

use assay_testkit::Repository;
use assay_testkit::credentials::Random;
use assay_testkit::lsp::LspClient;
use serde_json::{Value, json};

use super::{assay_in, command_in};

/// The variable with the number of sequences, which a soak run increases.
const SEQUENCES: &str = "ASSAY_SOAK_SEQUENCES";

/// The variable with the seed of the sequences.
const SEED: &str = "ASSAY_SOAK_SEED";

/// The committed text. Its characters have different lengths in each encoding.
const CODE: &str =
    "# größe 😀\r\nimport os\n\n\ndef total(prices):\n    return sum(prices)\n\n\nADDED = \"é\"\n";

/// Texts that edits insert, some of which have findings.
const PIECES: [&str; 14] = [
    "    breakpoint()\n",
    "    breakpoint()  # assay: ignore python/debugger shown in the tutorial\n",
    "import pdb; pdb.set_trace()\r\n",
    "def f(name):\n    os.system(f\"rm {name}\")\n",
    "api_key = \"AKIA4HQ7ZKXN2MWPTRVD\"\n",
    "eval(input())",
    "    try:\n        f(1)\n    except:\n        pass\n",
    "\n",
    "\r\n",
    "\"",
    "# 😀",
    "é",
    "    ",
    "",
];

/// The editor: a server with an open file, and the text of the file.
struct Editor {
    client: LspClient,
    file: PathBuf,
    version: i32,
    text: String,
}

impl Editor {
    fn start(repository: &Repository) -> Editor {
        let command = command_in(repository.path(), &["lsp"]);
        let options = json!({"debounce": 0});
        let mut client = LspClient::start(command, &[repository.path()], options);
        let file = repository.path().join("shop.py");
        client.open(&file, CODE);
        Editor { client, file, version: 1, text: CODE.to_owned() }
    }

    /// Returns the text to the committed one.
    fn reset(&mut self) {
        self.version += 1;
        self.client.replace(&self.file, self.version, CODE);
        CODE.clone_into(&mut self.text);
    }

    /// Sends one notification with several edits, each of the text after the edit before.
    fn edit(&mut self, random: &mut Random) {
        let changes = (0..1 + random.below(3)).map(|_| self.change(random)).collect::<Value>();
        self.version += 1;
        self.client.change(&self.file, self.version, changes);
    }

    /// Replaces a random part of the text, and returns the edit.
    fn change(&mut self, random: &mut Random) -> Value {
        let places = places(&self.text);
        let start = random.below(places.len());
        let length = if random.below(3) == 0 { random.below(40) } else { 0 };
        let end = (start + length).min(places.len() - 1);
        let (start, end) = (places[start], places[end]);
        let piece = PIECES[random.below(PIECES.len())];
        let range = json!({"start": position(&self.text, start), "end": position(&self.text, end)});
        self.text.replace_range(start..end, piece);
        json!({"range": range, "text": piece})
    }

    /// Returns the findings that the server shows for the current text.
    fn findings(&mut self) -> Vec<String> {
        let shown = self.client.diagnostics(&self.file, self.version);
        let line = |found: &Value| found["range"]["start"]["line"].as_u64().unwrap() + 1;
        let text = |found: &Value, key: &str| found[key].as_str().unwrap_or_default().to_owned();
        let mut lines: Vec<String> = shown
            .iter()
            .map(|found| {
                format!("{} {} {}", line(found), text(found, "code"), text(found, "message"))
            })
            .collect();
        lines.sort();
        lines
    }
}

/// Returns the offsets at which an edit may begin or end: characters, but not within a line break.
fn places(text: &str) -> Vec<usize> {
    let inner = text.char_indices().map(|(at, _)| at);
    let is_in_break = |at: &usize| text[..*at].ends_with('\r') && text[*at..].starts_with('\n');
    inner.chain([text.len()]).filter(|at| !is_in_break(at)).collect()
}

/// Returns an offset as a position in UTF-16.
fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.rsplit('\n').next().unwrap_or(before);
    json!({"line": before.matches('\n').count(), "character": line.encode_utf16().count()})
}

/// Returns the findings of a review of a text, in the form of [`Editor::findings`].
fn reviewed(repository: &Repository, text: &str) -> Vec<String> {
    fs::write(repository.path().join("shop.py"), text).unwrap();
    let run = assay_in(repository.path(), &["review", "--no-models", "--format", "json"], b"");
    let review = run.json();
    let text = |found: &Value, key: &str| found[key].as_str().unwrap_or_default().to_owned();
    let findings = review["findings"].as_array().unwrap_or_else(|| panic!("{review}"));
    let mut lines: Vec<String> = findings
        .iter()
        .filter(|found| found["file"] == "shop.py")
        .map(|found| {
            let code =
                found["rule"].as_str().map_or_else(|| text(found, "category"), str::to_owned);
            let line = found["line"].as_u64().unwrap_or(1);
            format!("{line} {code} {} ({})", text(found, "title"), text(found, "severity"))
        })
        .collect();
    lines.sort();
    lines
}

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("shop.py", CODE);
    repository.commit("shop");
    repository
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_edits_through_the_server_give_the_findings_of_a_review() {
    let (sequences, seed) = (number(SEQUENCES, 20), number(SEED, 1));
    let (edited, saved) = (repository(), repository());
    let mut editor = Editor::start(&edited);
    let mut with_findings = 0;
    for sequence in 0..sequences {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(sequence));
        editor.reset();
        for _ in 0..1 + random.below(12) {
            editor.edit(&mut random);
        }
        let shown = editor.findings();
        let expected = reviewed(&saved, &editor.text);
        assert_eq!(shown, expected, "seed {seed}, sequence {sequence}: {:?}", editor.text);
        with_findings += usize::from(!shown.is_empty());
    }
    assert!(with_findings > 0, "no text had a finding");
    println!("{sequences} sequences, {with_findings} with findings");
    assert_eq!(editor.client.finish(), 0);
}
