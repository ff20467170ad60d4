//! A review as JSON text: [`Draft`], in tokens that can be broken.

use crate::random::Random;

/// A finding that a perfect parser recovers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) severity: String,
    pub(super) description: String,
}

/// The role of a token in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Open,
    Close,
    Key,
    Colon,
    Text,
    Number,
    /// `null`, `true` or `false`.
    Word,
    Comma,
    Space,
}

/// A piece of the text.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) role: Role,
    pub(super) text: String,
    /// The finding that the token belongs to, its brackets included; `None` outside of findings.
    pub(super) finding: Option<usize>,
}

/// A review in tokens, with its findings.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) tokens: Vec<Token>,
    pub(super) expected: Vec<Expected>,
    /// True if the text ends with the tokens, so that nothing may follow them.
    pub(super) cut: bool,
    layout: Layout,
    current: Option<usize>,
}

/// The amount of space between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Layout {
    #[default]
    Compact,
    Spaced,
    Pretty,
}

/// The JSON around the list of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{"findings": […], "summary": …}`.
    Object,
    /// `[…]`.
    Array,
}

const FILES: [&str; 8] = [
    "src/api/users.rs",
    "web/src/components/Login Form.tsx",
    "internal/db/größe.go",
    "tests/test_upload.py",
    "pkg/auth/token.go",
    "lib/parser.js",
    "app/models/order.rb",
    "deploy/docker-compose.yml",
];

const SEVERITIES: [&str; 7] = ["CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION"];

const CATEGORIES: [&str; 5] = ["security", "correctness", "performance", "style", "testing"];

const DESCRIPTIONS: [&str; 16] = [
    "`unwrap()` on the result of `parse_header` panics when the header is empty.",
    "The query is built with `format!(\"SELECT * FROM users WHERE id = {}\", id)`; bind it instead.",
    "The loop `for (i, x) in items.iter().enumerate() { total += x; }` never resets `total`,\n\
     so the second call returns the sum of both.",
    "A failed write is hidden by `catch (e) {}`. Expected:\n```js\nthrow new Error(\"write failed\");\n```",
    "The pattern `^\\d{3}-\\w+$` also matches \"123-\" followed by a line break.",
    "Größe wird in Bytes verglichen, nicht in Zeichen: «naïve» → 6 statt 5 🚨",
    "The literal {\"retries\": 3, \"timeout\": [1, 2]} is parsed twice; the second parse wins.",
    "The path is joined without a check: `C:\\temp\\{name}` leaves the upload folder.",
    "It's compared with `==` instead of `hmac.compare_digest()`, which leaks timing.",
    "Missing `await`: `const rows = db.query(sql)` is a Promise, so `rows.length` is undefined.",
    "A name with `--` or `/* */` in it ends the statement, see https://example.com/a#b",
    "The default is shared between calls: `def add(x, seen=[])`, None would not be.",
    "Answers 404 instead of 403, as the comment \"TODO: fix\" admits",
    "Divides by `len(items)`, which is 0 for an empty list: [] → ZeroDivisionError.",
    "The button says \"Save\", the log says \"Saved\", and the test looks for \"saved\".",
    "Two goroutines write `cache[key]` at once;\n\trun with -race to see it, then add a mutex.",
];

const FIXES: [&str; 5] = [
    "Use `?` and return a 400.",
    "let row = client.query_one(\"SELECT 1 WHERE id = $1\", &[&id])?;",
    "if (!items.length) { return 0; }",
    "Add a test for the empty case, e.g.\nassert_eq!(mean(&[]), None);",
    "Escape it: `value.replace(\"'\", \"''\")`",
];

impl Draft {
    /// Generates a review with some findings, in one of several layouts.
    pub(super) fn random(random: &mut Random, shape: Shape, findings: usize) -> Draft {
        let layout = random.pick(&[Layout::Compact, Layout::Spaced, Layout::Pretty]);
        let mut draft = Draft { layout, ..Draft::default() };
        let summary_first = random.chance(30);
        if shape == Shape::Object {
            draft.push(Role::Open, "{");
            draft.gap(1);
            if summary_first {
                draft.summary(findings);
                draft.separator(1);
            }
            draft.key("findings");
        }
        draft.list(random, findings, usize::from(shape == Shape::Object) + 1);
        if shape == Shape::Object {
            if !summary_first {
                draft.separator(1);
                draft.summary(findings);
            }
            draft.gap(0);
            draft.push(Role::Close, "}");
        }
        draft
    }

    /// Returns the text.
    pub(super) fn text(&self) -> String {
        self.tokens.iter().map(|token| token.text.as_str()).collect()
    }

    /// Replaces all tokens by a text.
    pub(super) fn replace(&mut self, text: String) {
        self.tokens = vec![Token { role: Role::Text, text, finding: None }];
    }

    /// Returns the positions of the tokens that match.
    pub(super) fn positions(&self, wanted: impl Fn(&Token) -> bool) -> Vec<usize> {
        (0..self.tokens.len()).filter(|at| wanted(&self.tokens[*at])).collect()
    }

    /// Returns the position of a random token that matches; `None` if none does.
    pub(super) fn any(
        &self,
        random: &mut Random,
        wanted: impl Fn(&Token) -> bool,
    ) -> Option<usize> {
        let positions = self.positions(wanted);
        (!positions.is_empty()).then(|| random.pick(&positions))
    }

    /// Inserts a text before a token.
    pub(super) fn insert(&mut self, at: usize, text: &str) {
        let token = Token { role: Role::Space, text: text.to_owned(), finding: None };
        self.tokens.insert(at, token);
    }

    /// Returns the position of the last token of a finding.
    pub(super) fn end_of(&self, finding: usize) -> Option<usize> {
        self.tokens.iter().rposition(|token| token.finding == Some(finding))
    }

    /// Returns the key before the value at a position.
    pub(super) fn key_of(&self, value: usize) -> Option<&str> {
        let key = self.tokens[..value].iter().rev().find(|token| token.role == Role::Key)?;
        Some(key.text.trim_matches('"'))
    }

    fn push(&mut self, role: Role, text: &str) {
        self.tokens.push(Token { role, text: text.to_owned(), finding: self.current });
    }

    fn gap(&mut self, depth: usize) {
        if self.layout == Layout::Pretty {
            self.push(Role::Space, &format!("\n{}", "  ".repeat(depth)));
        }
    }

    fn separator(&mut self, depth: usize) {
        self.push(Role::Comma, ",");
        if self.layout == Layout::Spaced {
            self.push(Role::Space, " ");
        }
        self.gap(depth);
    }

    fn key(&mut self, key: &str) {
        self.push(Role::Key, &format!("\"{key}\""));
        self.push(Role::Colon, ":");
        if self.layout != Layout::Compact {
            self.push(Role::Space, " ");
        }
    }

    fn string(&mut self, text: &str) {
        self.push(Role::Text, &serde_json::Value::from(text).to_string());
    }

    fn summary(&mut self, findings: usize) {
        self.key("summary");
        self.string(&format!("{findings} problems, see the list."));
    }

    fn list(&mut self, random: &mut Random, findings: usize, depth: usize) {
        self.push(Role::Open, "[");
        for number in 0..findings {
            if number > 0 {
                self.separator(depth);
            } else {
                self.gap(depth);
            }
            self.current = Some(number);
            self.finding(random, depth + 1);
            self.current = None;
        }
        self.gap(depth - 1);
        self.push(Role::Close, "]");
    }

    fn finding(&mut self, random: &mut Random, depth: usize) {
        let expected = Expected {
            file: random.pick(&FILES).to_owned(),
            line: 1 + random.below(1_500) as u32,
            severity: random.pick(&SEVERITIES).to_owned(),
            description: random.pick(&DESCRIPTIONS).to_owned(),
        };
        self.push(Role::Open, "{");
        self.gap(depth);
        self.key("file");
        self.string(&expected.file);
        self.separator(depth);
        self.key("line_number");
        self.push(Role::Number, &expected.line.to_string());
        self.separator(depth);
        self.key("severity");
        self.string(&expected.severity);
        self.separator(depth);
        self.key("category");
        self.string(random.pick(&CATEGORIES));
        self.separator(depth);
        self.key("description");
        self.string(&expected.description);
        self.separator(depth);
        self.rest(random, depth);
        self.gap(depth - 1);
        self.push(Role::Close, "}");
        self.expected.push(expected);
    }

    /// Writes the fields that are not compared.
    fn rest(&mut self, random: &mut Random, depth: usize) {
        if random.chance(30) {
            self.key("pre_existing");
            self.push(Role::Word, random.pick(&["true", "false"]));
            self.separator(depth);
        }
        self.key("suggested_fix");
        if random.chance(30) {
            self.push(Role::Word, "null");
        } else {
            self.string(random.pick(&FIXES));
        }
    }
}
