//! Taking private keys out of lines: what is a key's goes, and whatever stands around it stays.
//!
//! A header alone hides nothing. Whoever names one in a comment, and never ends it, must not be
//! able to keep the code below it from those who review it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A line of a key's body is as long as this, but for the last one.
const FULL: usize = 40;

/// A text as long as this is a piece of a key, where it stands alone or looks random.
const PIECE: usize = 12;

/// A key has ended after so many lines without any text of one.
const WITHOUT: u32 = 100;

const REDACTED: &str = "[redacted]";

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN [^-]{0,40}PRIVATE KEY(?: BLOCK)?-----").expect("a test tries it")
});

/// A line end as strings have it, or a run of what keys are written in, as JSON escapes it.
static RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\\+[nrt]|((?:[A-Za-z0-9+/=]|\\+/|\\+u00(?:2[bBfF]|3[dD]))+)")
        .expect("a test tries it")
});

/// The lines before a key's body that say how it is locked.
static LOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^[\s"'+-]*((?:Proc-Type|DEK-Info): ?[A-Za-z0-9,-]+)(?:\\+[nr])*["'\s,+\\]*$"#)
        .expect("a test tries it")
});

/// Reads a text line by line, and knows whether a key has begun.
#[derive(Default)]
pub(super) struct Keys {
    inside: Option<Inside>,
}

/// A key that has begun and not ended.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// So many lines had nothing of it since the last that had.
    without: u32,
    /// The line before had a full piece of it.
    follows: bool,
}

impl Keys {
    /// Takes what is a key's out of the next line.
    pub(super) fn take_out(&mut self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        loop {
            let Some(inside) = self.inside else {
                let Some(header) = HEADER.find(rest) else { break };
                out.push_str(&rest[..header.end()]);
                rest = &rest[header.end()..];
                self.inside = Some(Inside { follows: true, ..Inside::default() });
                continue;
            };
            let end = rest.find("-----END ");
            let piece = &rest[..end.unwrap_or(rest.len())];
            let (shown, is_full) = without_key(piece, inside.follows);
            out.push_str(&shown);
            let Some(end) = end else {
                self.inside = inside.after(is_full, out.contains("-----BEGIN "));
                return out;
            };
            out.push_str("-----END ");
            rest = &rest[end + "-----END ".len()..];
            self.inside = None;
        }
        out.push_str(rest);
        out
    }
}

impl Inside {
    fn after(self, is_full: bool, is_header: bool) -> Option<Inside> {
        let without = if is_full { 0 } else { self.without + 1 };
        let next = Inside { without, follows: is_full || is_header };
        (without < WITHOUT).then_some(next)
    }
}

/// Takes the pieces of a key out of a text, and says whether a full one was among them.
fn without_key(text: &str, follows: bool) -> (String, bool) {
    if let Some(lock) = LOCK.captures(text).and_then(|groups| groups.get(1)) {
        return (cut(text, &[lock.range()]), true);
    }
    let runs: Vec<Range<usize>> =
        RUN.captures_iter(text).filter_map(|groups| groups.get(1)).map(|run| run.range()).collect();
    let is_alone = runs.len() == 1 && is_bare(text, &runs[0]);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut is_full = false;
    for run in runs {
        let piece = &text[run.clone()];
        let before = pieces.last().map(|last| &text[last.end..run.start]);
        let is_next_line = before.is_some_and(is_line_end);
        is_full |= piece.len() >= FULL;
        let is_piece = piece.len() >= PIECE && (is_alone || is_mixed(piece));
        if piece.len() >= FULL || is_piece || is_next_line || (is_alone && follows) {
            pieces.push(run);
        }
    }
    (cut(text, &pieces), is_full)
}

/// Says whether a run has nothing beside it but what strings and diffs put around lines.
fn is_bare(text: &str, run: &Range<usize>) -> bool {
    let around = [&text[..run.start], &text[run.end..]].map(|side| {
        let side = side.replace("\\n", "").replace("\\r", "");
        side.chars().all(|c| c.is_whitespace() || "\"'`,;+-\\|>#*".contains(c))
    });
    around == [true, true]
}

/// Says whether there is nothing but line ends, as strings have them, in a text.
fn is_line_end(text: &str) -> bool {
    !text.is_empty() && text.replace("\\n", "").replace("\\r", "").trim_matches('\\').is_empty()
}

/// Says whether a text has all kinds of characters, as random ones do and words do not.
fn is_mixed(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

fn cut(text: &str, pieces: &[Range<usize>]) -> String {
    let mut out = String::new();
    let mut from = 0;
    for piece in pieces {
        out.push_str(&text[from..piece.start]);
        out.push_str(REDACTED);
        from = piece.end;
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use crate::text::secret::redacted_lines;

    /// Says the same in every run; nothing that looks real is kept in a file.
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

    /// Says that nothing of the key is left in a text, and gives the rest.
    fn check(text: &str) -> String {
        let shown = redacted_lines(text).join("\n");
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
    fn a_key_is_taken_out_however_it_is_written() {
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
    fn a_locked_key_is_taken_out_with_what_locks_it() {
        let lock =
            ["Proc-Type: 4,ENCRYPTED".to_owned(), format!("DEK-Info: AES-256-CBC,{}", "7F3A")];
        let lines = [vec![header("BEGIN")], lock.to_vec(), vec![String::new()], body()].concat();
        let shown = check(&lines.join("\n"));
        assert!(!shown.contains("7F3A"), "{shown}");
    }

    #[test]
    fn talk_of_a_key_hides_nothing_below_it() {
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
            assert_eq!(redacted_lines(&text).join("\n") + "\n", text);
        }
    }

    #[test]
    fn the_code_beside_a_key_stays() {
        let lines = [vec![header("BEGIN")], body(), vec![header("END")]].concat();
        let shown = check(&format!("key = \"{}\"; os.system(name)\n", lines.join("\\n")));
        assert!(shown.contains("; os.system(name)"), "{shown}");
        let hidden = format!("a = '{}'; os.system(name); b = '{}'", header("BEGIN"), header("END"));
        assert_eq!(redacted_lines(&hidden), [hidden]);
    }

    #[test]
    fn a_report_that_names_a_header_or_holds_a_key_can_still_be_read() {
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
    fn a_key_that_never_ends_is_forgotten() {
        let names: String = (0..150).map(|at| format!("callOfAName{at}Long()\n")).collect();
        let lines = redacted_lines(&format!("{}\n{names}", header("BEGIN")));
        assert_eq!(lines[150], "callOfAName149Long()");
    }
}
