//! Private keys, on one line or on many: [`scan`] finds the pieces of their bodies, and nothing of
//! the code around them.
//!
//! A header alone is not a key. A comment that contains a header, and never ends the key, must not
//! hide the code below it from the reviewers.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Certainty, Credential};

/// The minimum length of a line in a key's body, except for the last one.
const MIN_FULL_LINE: usize = 40;

/// The minimum length of a text that is a piece of a key, if it is alone on its line or looks
/// random.
const MIN_PIECE: usize = 12;

/// The number of lines without text of a key after which the key has ended.
const MAX_GAP_LINES: u32 = 100;

/// The kind of every private key.
const KIND: &str = "a private key";

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN [^-]{0,40}PRIVATE KEY(?: BLOCK)?-----").expect("a test tries it")
});

/// An escaped line end, or a run of the characters of a key, as JSON escapes them.
static RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\\+[nrt]|((?:[A-Za-z0-9+/=]|\\+/|\\+u00(?:2[bBfF]|3[dD]))+)")
        .expect("a test tries it")
});

/// The lines before a key's body that describe its encryption.
static ENCRYPTION_HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^[\s"'+-]*((?:Proc-Type|DEK-Info): ?[A-Za-z0-9,-]+)(?:\\+[nr])*["'\s,+\\]*$"#)
        .expect("a test tries it")
});

/// Finds the private keys of a text. A header without a body is not a key.
pub(super) fn scan(text: &str) -> Vec<Credential> {
    if !text.contains("PRIVATE KEY") {
        return Vec::new();
    }
    let mut keys = KeyScanner::default();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        keys.read(line.trim_end_matches(['\n', '\r']), from);
        from += line.len();
    }
    keys.close();
    keys.found
}

/// The state of the search for keys.
#[derive(Default)]
struct KeyScanner {
    open: Option<OpenKey>,
    found: Vec<Credential>,
}

/// A key whose end was not found yet.
#[derive(Default)]
struct OpenKey {
    pieces: Vec<Range<usize>>,
    /// The number of bytes in pieces that can only belong to a key.
    sure: usize,
    /// The number of lines since the last one with a piece of the key.
    without: u32,
    /// True if the previous line had a full piece of the key.
    follows: bool,
}

impl KeyScanner {
    /// Reads a line that begins at an offset of the text.
    fn read(&mut self, line: &str, at: usize) {
        let mut from = 0;
        loop {
            let rest = &line[from..];
            let Some(open) = &mut self.open else {
                let Some(header) = HEADER.find(rest) else { return };
                from += header.end();
                self.open = Some(OpenKey { follows: true, ..OpenKey::default() });
                continue;
            };
            let end = rest.find("-----END ");
            let body = Body::of(&rest[..end.unwrap_or(rest.len())], open.follows);
            open.sure += body.sure;
            let start = at + from;
            let pieces = body.pieces.into_iter();
            open.pieces.extend(pieces.map(|piece| start + piece.start..start + piece.end));
            let Some(end) = end else {
                open.without = if body.is_full { 0 } else { open.without + 1 };
                open.follows = body.is_full || HEADER.is_match(line);
                if open.without >= MAX_GAP_LINES {
                    self.close();
                }
                return;
            };
            from += end + "-----END ".len();
            self.close();
        }
    }

    /// Ends the open key, and reports it if it is one.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.sure >= MIN_FULL_LINE {
            let OpenKey { pieces, .. } = open;
            let certainty = Certainty::Certain;
            self.found.push(Credential { kind: KIND, certainty, pieces, has_prefix: false });
        }
    }
}

/// The pieces of a key in a line.
struct Body {
    pieces: Vec<Range<usize>>,
    is_full: bool,
    /// The number of bytes in pieces that can only belong to a key.
    sure: usize,
}

impl Body {
    fn of(text: &str, follows: bool) -> Body {
        if let Some(lock) = ENCRYPTION_HEADER.captures(text).and_then(|groups| groups.get(1)) {
            return Body { pieces: vec![lock.range()], is_full: true, sure: 0 };
        }
        let runs = RUN.captures_iter(text).filter_map(|groups| groups.get(1));
        let runs: Vec<Range<usize>> = runs.map(|run| run.range()).collect();
        let is_alone = runs.len() == 1 && is_bare(text, &runs[0]);
        let mut body = Body { pieces: Vec::new(), is_full: false, sure: 0 };
        for run in runs {
            let piece = &text[run.clone()];
            let before = body.pieces.last().map(|last| &text[last.end..run.start]);
            let is_next_line = before.is_some_and(is_line_end);
            body.is_full |= piece.len() >= MIN_FULL_LINE;
            let is_piece = piece.len() >= MIN_PIECE && (is_alone || is_mixed(piece));
            if piece.len() >= MIN_FULL_LINE || (is_alone && is_piece && is_mixed(piece)) {
                body.sure += piece.len();
            }
            if piece.len() >= MIN_FULL_LINE || is_piece || is_next_line || (is_alone && follows) {
                body.pieces.push(run);
            }
        }
        body
    }
}

/// Returns true if a run is surrounded only by delimiters of strings and diffs.
fn is_bare(text: &str, run: &Range<usize>) -> bool {
    let around = [&text[..run.start], &text[run.end..]].map(|side| {
        let side = side.replace("\\n", "").replace("\\r", "");
        side.chars().all(|c| c.is_whitespace() || "\"'`,;+-\\|>#*".contains(c))
    });
    around == [true, true]
}

/// Returns true if a text consists of escaped line ends.
fn is_line_end(text: &str) -> bool {
    !text.is_empty() && text.replace("\\n", "").replace("\\r", "").trim_matches('\\').is_empty()
}

/// Returns true if a text has capitals, small letters and digits, as random text has and words have
/// not.
fn is_mixed(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use crate::credentials::redact_lines;

    /// Returns text that looks random and is the same in every run, so that no file contains a text
    /// that looks like a real key.
    fn random(count: usize, seed: u64) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        };
        (0..count).map(|_| next()).collect()
    }

    fn body() -> Vec<String> {
        let lengths = [64, 64, 64, 27].into_iter().zip(1..);
        lengths.map(|(length, seed)| random(length, seed)).collect()
    }

    fn header(what: &str) -> String {
        format!("-----{what} RSA PRIVATE KEY-----")
    }

    /// Checks that redaction leaves nothing of the key in a text, and returns the rest.
    fn check(text: &str) -> String {
        let shown = redact_lines(text).join("\n");
        for line in body() {
            for piece in line.as_bytes().windows(12) {
                let piece = std::str::from_utf8(piece).unwrap();
                assert!(!shown.contains(piece), "`{piece}` is left in:\n{shown}");
            }
        }
        assert_eq!(shown.lines().count(), text.lines().count());
        shown
    }

    #[test]
    fn a_private_key_is_redacted_in_every_notation() {
        let lines = [vec![header("BEGIN")], body(), vec![header("END")]].concat();
        let each = |form: &dyn Fn(&String) -> String| {
            lines.iter().map(form).collect::<Vec<String>>().join("\n")
        };
        check(&each(&String::clone));
        for sign in ["+", "-", " ", "    ", "# ", "// ", " * ", "> ", "   12 + ", "\t| "] {
            check(&each(&|line| format!("{sign}{line}")));
        }
        check(&each(&|line| format!("    \"{line}\\n\" +")));
        check(&each(&|line| format!("    + '{line}\\r\\n'")));
        check(&each(&|line| format!("lines.append(\"{line}\")")));
        check(&each(&|line| format!("{line}\nx = 0")));
        for between in ["", "\\n", "\\\\n", "\\r\\n", " ", "\" + \"", "\\n\", \""] {
            check(&format!("key = \"{}\"; run(it)", lines.join(between)));
        }
        check(&format!("{{\"key\": \"{}\"}}", lines.join("\\n").replace('/', "\\/")));
        check(&format!("{{\"key\": \"{}\"}}", lines.join("\\n").replace('+', "\\u002b")));
        check(&format!("key = \"\"\"{}\"\"\"", lines.join("\n")));
        check(&lines[..4].join("\n"));
    }

    #[test]
    fn an_encrypted_private_key_is_redacted_with_its_encryption_headers() {
        let lock =
            ["Proc-Type: 4,ENCRYPTED".to_owned(), format!("DEK-Info: AES-256-CBC,{}", "7F3A")];
        let lines = [vec![header("BEGIN")], lock.to_vec(), vec![String::new()], body()].concat();
        let shown = check(&lines.join("\n"));
        assert!(!shown.contains("7F3A"), "{shown}");
    }

    #[test]
    fn a_mention_of_a_key_header_redacts_nothing_below_it() {
        let code = "import os\n\ndef run(name):\n    handler = lookup(name)\n    \
                    os.system('convert ' + name)\n    return handler\n";
        for talk in [
            "# see PRIVATE KEY----- in the manual".to_owned(),
            format!("# it begins with {}", header("BEGIN")),
            format!(
                "# it begins with {} and so on, as the manual says in many words",
                header("BEGIN")
            ),
            header("BEGIN"),
        ] {
            let text = format!("{talk}\n{code}");
            assert_eq!(redact_lines(&text).join("\n") + "\n", text);
        }
    }

    #[test]
    fn code_on_the_line_of_a_key_is_not_redacted() {
        let lines = [vec![header("BEGIN")], body(), vec![header("END")]].concat();
        let shown = check(&format!("key = \"{}\"; os.system(name)\n", lines.join("\\n")));
        assert!(shown.contains("; os.system(name)"), "{shown}");
        let hidden = format!("a = '{}'; os.system(name); b = '{}'", header("BEGIN"), header("END"));
        assert_eq!(redact_lines(&hidden), [hidden]);
    }

    #[test]
    fn json_with_a_key_or_a_key_header_is_still_valid_after_redaction() {
        let key = [vec![header("BEGIN")], body(), vec![header("END")]].concat().join("\n");
        for said in [format!("The file starts with {}", header("BEGIN")), key] {
            let findings = ["P0", "P1"].map(|grade| {
                serde_json::json!({ "severity": grade, "title": said, "file": "src/deep/Folder2/a.rs" })
            });
            let shown = check(&serde_json::json!({ "findings": findings }).to_string());
            let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(read["findings"][0]["severity"], "P0");
            assert_eq!(read["findings"][1]["severity"], "P1");
        }
    }

    #[test]
    fn redaction_stops_after_a_key_header_without_an_end() {
        let names: String = (0..150).map(|at| format!("callOfAName{at}Long()\n")).collect();
        let lines = redact_lines(&format!("{}\n{names}", header("BEGIN")));
        assert_eq!(lines[150], "callOfAName149Long()");
    }
}
