//! Grounding: votes are checked against a tree and a diff.

use assay_findings::finding::GroundingMark;
use assay_findings::grounding::{ChangedLines, GroundedVote, Grounder, Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use assay_findings::vote::{LineRange, Vote};
use expect_test::{Expect, expect};

use crate::memory_tree::MemoryTree;

const CODE: &str = "fn load(id: u64) -> Order {\n    let order = find(id)?;\n    order\n}\n\nfn save(order: Order) {\n    store.put(order);\n}\n";

fn tree() -> MemoryTree {
    MemoryTree::new(&[("src/orders.rs", CODE), ("src/deep/only.rs", "let only = 1;\n")])
        .with_symbol("src/orders.rs", "load", (1, 4))
        .with_symbol("src/orders.rs", "save", (6, 8))
}

/// Returns the changed lines: lines 6 to 8 of src/orders.rs.
fn changed() -> ChangedLines {
    let mut changed = ChangedLines::default();
    changed.insert(
        RepoPath::parse("src/orders.rs", None).unwrap(),
        vec![LineRange::range(6, 8).unwrap()],
    );
    changed
}

/// Grounds one finding given as JSON fields, and checks its place, confidence and marks.
fn check(kind: &str, fields: &str, expected: Expect) {
    let kind = match kind {
        "rules" => ReviewerKind::Rules,
        "command" => ReviewerKind::Command,
        _ => ReviewerKind::Persona,
    };
    let text = format!(
        r#"{{"reviewer": "x", "residual_risks": [], "testing_gaps": [],
            "findings": [{{"title": "t", "severity": "P1", {fields}}}]}}"#
    );
    let report = Report::from_text(&text, "x", None).of_kind(kind);
    let (tree, changed) = (tree(), changed());
    let ground = Grounder::new(Some(&tree), Some(&changed));
    expected.assert_eq(&shown(&ground.check(&report.votes[0], &report.reviewer, (0, 0))));
}

fn shown(grounded: &GroundedVote<'_>) -> String {
    let place = grounded.file.as_ref().map_or("-".to_owned(), ToString::to_string);
    let line = grounded.lines.map_or("-".to_owned(), |lines| lines.start().to_string());
    let old = if grounded.pre_existing { " old" } else { "" };
    format!("{place}:{line} at {}{old} {:?}", grounded.confidence.percent(), grounded.marks)
}

#[test]
fn a_quote_found_at_its_line_keeps_line_and_confidence() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 7, "confidence": 100, "evidence": ["`store.put(order);`"]"#,
        expect!["src/orders.rs:7 at 100 []"],
    );
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 7, "confidence": 75, "evidence": ["src/orders.rs:7 -- store.put( order );"]"#,
        expect!["src/orders.rs:7 at 75 []"],
    );
}

#[test]
fn a_quote_found_on_another_line_moves_the_finding() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 2, "confidence": 75, "evidence": ["`store.put(order);`"]"#,
        expect!["src/orders.rs:7 at 75 [LineMoved]"],
    );
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 900, "confidence": 75, "evidence": ["```rust\nfn save(order: Order) {\n    store.put(order);\n```"]"#,
        expect!["src/orders.rs:6 at 75 [LineMoved]"],
    );
}

#[test]
fn a_quote_on_a_part_of_its_line_stays_where_another_line_consists_of_it() {
    let text = "subprocess.run(\n    1,\n)\nout = subprocess.run(\n    name,\n)\nprocess.stop()\n\
                if x: process.stop()\nbreakpoint\nif x: breakpoint\n";
    let tree = MemoryTree::new(&[("src/a.py", text)]);
    let ground = Grounder::new(Some(&tree), None);
    let place = |kind: ReviewerKind, line: u32, quote: &str| {
        let text = format!(
            r#"{{"reviewer": "x", "residual_risks": [], "testing_gaps": [], "findings": [{{"title": "t",
                "severity": "P1", "file": "src/a.py", "line": {line}, "confidence": 75,
                "evidence": ["`{quote}`"]}}]}}"#
        );
        let report = Report::from_text(&text, "x", None).of_kind(kind);
        shown(&ground.check(&report.votes[0], &report.reviewer, (0, 0)))
    };
    for kind in [ReviewerKind::Rules, ReviewerKind::Persona] {
        assert_eq!(place(kind, 4, "subprocess.run("), "src/a.py:4 at 75 []");
        assert_eq!(place(kind, 8, "process.stop()"), "src/a.py:8 at 75 []");
        assert_eq!(place(kind, 2, "if x: process.stop()"), "src/a.py:8 at 75 [LineMoved]");
    }
    // Many lines contain a lone name; a rule read the line that it names.
    assert_eq!(place(ReviewerKind::Rules, 10, "breakpoint"), "src/a.py:10 at 75 []");
    assert_eq!(place(ReviewerKind::Persona, 10, "breakpoint"), "src/a.py:9 at 75 [LineMoved]");
}

#[test]
fn a_quote_that_is_not_in_the_file_lowers_the_confidence() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 7, "confidence": 100, "evidence": ["`store.delete(order);`"]"#,
        expect!["src/orders.rs:7 at 50 [QuoteNotFound]"],
    );
}

#[test]
fn a_persona_finding_without_a_quote_is_capped_at_confidence_50() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 7, "confidence": 100, "evidence": ["short"]"#,
        expect!["src/orders.rs:7 at 50 [NoQuote]"],
    );
}

#[test]
fn a_confidence_that_was_never_stated_is_not_capped_for_lacking_a_quote() {
    check("persona", r#""file": "src/orders.rs", "line": 7"#, expect!["src/orders.rs:7 at 75 []"]);
    check("persona", r#""file": "src/orders.rs""#, expect!["src/orders.rs:- at 50 [NoPlace]"]);
    check("rules", r#""file": "src/orders.rs", "line": 7"#, expect!["src/orders.rs:7 at 100 []"]);
    check("command", r#""file": "src/orders.rs", "line": 7"#, expect!["src/orders.rs:7 at 100 []"]);
}

#[test]
fn a_file_is_found_by_the_end_of_its_path_if_the_match_is_unique() {
    check(
        "persona",
        r#""file": "only.rs", "line": 1, "confidence": 75, "evidence": ["`let only = 1;`"]"#,
        expect!["src/deep/only.rs:1 at 75 [FileMoved, OutsideTheHunks]"],
    );
    check(
        "persona",
        r#""file": "gone.rs", "line": 1, "confidence": 100, "evidence": ["`let only = 1;`"]"#,
        expect!["gone.rs:1 at 25 [FileNotFound, OutsideTheHunks]"],
    );
}

#[test]
fn a_line_beyond_the_end_is_dropped_and_the_file_is_kept() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 900, "confidence": 75, "evidence": ["`not there at all`"]"#,
        expect!["src/orders.rs:- at 50 [QuoteNotFound, LineBeyondEnd]"],
    );
}

#[test]
fn a_finding_on_a_changed_line_is_new_even_if_marked_as_pre_existing() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 7, "confidence": 75, "evidence": ["`store.put(order);`"], "pre_existing": true"#,
        expect!["src/orders.rs:7 at 75 []"],
    );
}

#[test]
fn a_pre_existing_mark_is_accepted_only_with_a_quote_of_unchanged_lines() {
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 2, "confidence": 75, "evidence": ["`let order = find(id)?;`"], "pre_existing": true"#,
        expect!["src/orders.rs:2 at 75 old []"],
    );
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 2, "confidence": 75, "evidence": ["`let order = other(id)?;`"], "pre_existing": true"#,
        expect!["src/orders.rs:2 at 50 [QuoteNotFound, OutsideTheHunks]"],
    );
    check(
        "persona",
        r#""file": "src/orders.rs", "line": 2, "confidence": 75, "evidence": ["`let order = find(id)?;`"]"#,
        expect!["src/orders.rs:2 at 75 [OutsideTheHunks]"],
    );
}

#[test]
fn a_pre_existing_mark_without_verified_unchanged_quotes_is_rejected() {
    // A quote of two lines, the second of which is new; a second quote on a new line; no quote; a
    // file that does not exist; no file.
    for fields in [
        r#""file": "src/orders.rs", "line": 4, "evidence": ["```\n}\n\nfn save(order: Order) {\n```"]"#,
        r#""file": "src/orders.rs", "line": 2, "evidence": ["`let order = find(id)?;`", "`store.put(order);`"]"#,
        r#""file": "src/orders.rs", "line": 2, "evidence": []"#,
        r#""file": "gone.rs", "line": 2, "evidence": ["`let order = find(id)?;`"]"#,
        r#""evidence": ["`let order = find(id)?;`"]"#,
    ] {
        let text = format!(
            r#"{{"reviewer": "x", "findings": [{{"title": "t", "severity": "P0", "confidence": 100, "pre_existing": true, {fields}}}]}}"#
        );
        let report = Report::from_text(&text, "x", None);
        let (tree, changed) = (tree(), changed());
        let ground = Grounder::new(Some(&tree), Some(&changed));
        assert!(!ground.check(&report.votes[0], &report.reviewer, (0, 0)).pre_existing, "{fields}");
    }
}

#[test]
fn a_vote_without_a_file_is_not_pre_existing_even_without_a_known_change() {
    let text = r#"{"reviewer": "correctness", "findings": [
        {"title": "find_by can return nil", "severity": "P2", "file": "src/a.rs", "confidence": 50},
        {"title": "`TopicUser.find_by` returns nil", "severity": "HIGH", "confidence": 75, "pre_existing": true}]}"#;
    let first = Report::from_text(text, "correctness", None);
    // The vote without a file joins this one, and does not remove a blocking defect.
    let text = r#"{"reviewer": "security", "findings": [
        {"title": "`TopicUser.find_by` returns nil", "severity": "P0", "file": "src/b.rs", "confidence": 0, "pre_existing": true}]}"#;
    let further = Report::from_text(text, "security", None);
    let state = |reports: &[Report]| synthesize(reports, &SynthesisInputs::default()).verdict.state;
    assert_eq!(state(std::slice::from_ref(&first)), VerdictState::NotReady);
    assert_eq!(state(&[first, further]), VerdictState::NotReady);
}

#[test]
fn a_rule_finding_is_pre_existing_only_if_the_rule_fires_on_the_base() {
    check(
        "rules",
        r#""file": "src/orders.rs", "line": 2, "pre_existing": true"#,
        expect!["src/orders.rs:2 at 100 [OutsideTheHunks]"],
    );
    check(
        "rules",
        r#""file": "src/orders.rs", "line": 2, "fires_on_base": true"#,
        expect!["src/orders.rs:2 at 100 old []"],
    );
}

#[test]
fn without_a_tree_nothing_is_capped() {
    let vote = Vote {
        confidence: assay_findings::vote::Confidence::try_from(100).ok(),
        ..Vote::new("t", assay_findings::grade::Grade::from_word("P1"))
    };
    let reviewer = Reviewer::new("x", ReviewerKind::Persona);
    let grounded = Grounder::new(None, None).check(&vote, &reviewer, (0, 0));
    assert_eq!(shown(&grounded), "-:- at 100 []");
}

#[test]
fn a_path_with_a_diff_prefix_is_resolved() {
    for path in ["a/src/orders.rs", "b/src/orders.rs", "./src/orders.rs", "./b/src/orders.rs"] {
        check(
            "persona",
            &format!(
                r#""file": "{path}", "line": 7, "confidence": 100, "evidence": ["`store.put(order);`"]"#
            ),
            expect!["src/orders.rs:7 at 100 []"],
        );
    }
}

#[test]
fn a_lone_name_is_no_quote() {
    for evidence in ["`store.put` is called", "calls `find` with `load.order`", "`orders_table`"] {
        check(
            "persona",
            &format!(
                r#""file": "src/orders.rs", "line": 7, "confidence": 75, "evidence": ["{evidence}"]"#
            ),
            expect!["src/orders.rs:7 at 50 [QuoteNotFound]"],
        );
    }
}

/// The fields of a finding in a compact report, which has neither evidence nor reasons.
const COMPACT: &str = r#""confidence": 100, "autofix_class": "manual", "owner": "human""#;

#[test]
fn a_compact_report_is_not_capped_for_having_no_evidence() {
    let fields = |place: &str| format!("{place}, {COMPACT}");
    check(
        "persona",
        &fields(r#""file": "src/orders.rs", "line": 7"#),
        expect!["src/orders.rs:7 at 100 []"],
    );
    check(
        "persona",
        &fields(r#""file": "gone.rs", "line": 7"#),
        expect!["gone.rs:7 at 25 [FileNotFound, OutsideTheHunks]"],
    );
    check(
        "persona",
        &fields(r#""file": "src/orders.rs", "line": 900"#),
        expect!["src/orders.rs:- at 50 [LineBeyondEnd]"],
    );
    check(
        "persona",
        &(fields(r#""file": "src/orders.rs", "line": 7"#) + r#", "evidence": []"#),
        expect!["src/orders.rs:7 at 50 [NoQuote]"],
    );
}

/// A tree whose files cannot be read.
struct UnreadableTree;

impl Tree for UnreadableTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Err(TreeError::read(path, "git died"))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Err(TreeError::read(path, "git died"))
    }

    fn symbol_at(&self, path: &RepoPath, _line: u32) -> Result<Option<Symbol>, TreeError> {
        Err(TreeError::read(path, "git died"))
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Err(TreeError::list("git died"))
    }
}

#[test]
fn a_file_that_cannot_be_read_is_not_an_absent_file() {
    let text = |severity: &str| {
        format!(
            r#"{{"reviewer": "x", "residual_risks": [], "testing_gaps": [], "findings": [{{"title":
            "t", "severity": "{severity}", "file": "src/orders.rs", "line": 7, "confidence": 100,
            "evidence": ["`store.put(order);`"], "pre_existing": true}}]}}"#
        )
    };
    let report = Report::from_text(&text("P1"), "x", None).of_kind(ReviewerKind::Persona);
    let (tree, changed) = (UnreadableTree, changed());
    let ground = Grounder::new(Some(&tree), Some(&changed));
    let grounded = ground.check(&report.votes[0], &report.reviewer, (0, 0));
    assert_eq!(shown(&grounded), "src/orders.rs:7 at 100 [FileUnreadable]");
    assert_eq!(ground.errors().len(), 1);
    for (severity, expected) in [("P1", VerdictState::NotReady), ("P3", VerdictState::Incomplete)] {
        let mut report = Report::from_text(&text(severity), "x", None);
        report.required = true;
        let (tree, changed) = (Some(&tree as &dyn Tree), Some(&changed));
        let around = SynthesisInputs { tree, changed, ..SynthesisInputs::default() };
        let verdict = synthesize(&[report], &around).verdict;
        assert_eq!((verdict.state, verdict.incomplete), (expected, true), "{verdict:?}");
    }
}

#[test]
fn a_vote_without_a_place_is_shown_at_the_line_that_contains_its_names() {
    let tree = MemoryTree::new(&[
        ("src/orders.rs", "fn load(id: u64) {\n    let row = find_by(id);\n    row.total()\n}\n"),
        ("src/bill.rs", "fn charge(card: Card) {\n    gateway.submit(card);\n}\n"),
    ]);
    let mut changed = ChangedLines::default();
    for (file, last) in [("src/orders.rs", 4), ("src/bill.rs", 3)] {
        changed.insert(RepoPath::exact(file).unwrap(), vec![LineRange::range(1, last).unwrap()]);
    }
    let text = r#"{"findings": [{"title": "`gateway.submit` is retried without a key",
        "severity": "P1", "description": "A card may be charged twice.", "confidence": 75}]}"#;
    let report = Report::from_text(text, "reviewer", None);
    let around =
        SynthesisInputs { tree: Some(&tree), changed: Some(&changed), ..Default::default() };
    let placed = synthesize(std::slice::from_ref(&report), &around);
    let alone = SynthesisInputs { tree: Some(&tree), ..Default::default() };
    let unplaced = synthesize(&[report], &alone);
    let finding = |synthesis: &assay_findings::synthesis::Synthesis| {
        let mut all = synthesis.findings.iter().chain(&synthesis.held_back);
        all.next().cloned().unwrap()
    };
    let (placed_one, unplaced_one) = (finding(&placed), finding(&unplaced));
    assert_eq!(placed_one.place().as_deref(), Some("src/bill.rs:2"));
    assert!(placed_one.marks.contains(&GroundingMark::PlacedByAssay));
    // The place is only shown: verdict, confidence and identity stay.
    assert_eq!(unplaced_one.place(), None);
    assert_eq!(placed_one.id, unplaced_one.id);
    assert_eq!(placed_one.confidence, unplaced_one.confidence);
    assert_eq!(placed.verdict.state, unplaced.verdict.state);
}

/// A file whose code has back-ticks, tabs, `\r\n` and a comment that quotes code.
const SCRIPT: &str = "import { get } from './http';\r\n\
    \r\n\
    export function load(id) {\r\n\
    \tconst url = `https://${host}/orders/${id}`;\r\n\
    \treturn get(url, { headers: [...shared, 'x-id'] });\r\n\
    }\r\n\
    \r\n\
    // The result of `load(id)` is `null` for a guest.\r\n\
    export function save(order) {\r\n\
    \tif (!order.id) {\r\n\
    \t\tthrow new Error(`no id in ${order}`);\r\n\
    \t}\r\n\
    \tqueue.push(order);\r\n\
    }\r\n";

/// Grounds a vote of a persona at a line of [`SCRIPT`], and returns its place, confidence and
/// marks.
fn ground_in_script(file: &str, line: u32, evidence: &[&str]) -> String {
    let tree = MemoryTree::new(&[("web/orders.js", SCRIPT)]);
    let mut vote = Vote::new("t", assay_findings::grade::Grade::from_word("P1"));
    vote.file = RepoPath::exact(file).ok();
    vote.lines = LineRange::at(line);
    vote.confidence = assay_findings::vote::Confidence::try_from(75).ok();
    vote.evidence = evidence.iter().map(|entry| (*entry).to_owned()).collect();
    let reviewer = Reviewer::new("x", ReviewerKind::Persona);
    shown(&Grounder::new(Some(&tree), None).check(&vote, &reviewer, (0, 0)))
}

#[test]
fn a_quote_is_found_in_every_notation() {
    for (line, evidence) in [
        // Back-ticks that are code, bare, marked as code, and marked by two back-ticks or a fence.
        (4, "const url = `https://${host}/orders/${id}`;"),
        (4, "`const url = `https://${host}/orders/${id}`;`"),
        (4, "The line `const url = `https://${host}/orders/${id}`;` is wrong"),
        (4, "``const url = `https://${host}/orders/${id}`;`` is wrong"),
        (4, "```js\nconst url = `https://${host}/orders/${id}`;\n```"),
        (4, "web/orders.js:4 -- const url = `https://${host}/orders/${id}`;"),
        (4, "web/orders.js:4:const url = `https://${host}/orders/${id}`;"),
        (11, "throw new Error(`no id in ${order}`);"),
        (8, "// The result of `load(id)` is `null` for a guest."),
        (8, "The result of `load(id)` is `null` for a guest."),
        // Listings and diffs.
        (13, "13: queue.push(order);"),
        (13, "   13\tqueue.push(order);"),
        (13, "L13 | queue.push(order);"),
        (13, "+ \tqueue.push(order);"),
        (4, "+\tconst url = `https://${host}/orders/${id}`;"),
        (4, "> const url = `https://${host}/orders/${id}`;"),
        (
            10,
            "```diff\n-\tif (!order) {\n+\tif (!order.id) {\n+\t\tthrow new Error(`no id in ${order}`);\n```",
        ),
        (10, "10: if (!order.id) {\n11:   throw new Error(`no id in ${order}`);"),
        // Several lines, blank lines between them, other whitespace, other line ends.
        (3, "export function load(id) {\n    const url = `https://${host}/orders/${id}`;"),
        (3, "export function load(id) {\r\n\r\n\tconst url = `https://${host}/orders/${id}`;\r\n"),
        (13, "`queue.push( order );`"),
        // Left-out code, and dots that are code.
        (3, "export function load(id) { ... }"),
        (3, "export function load(id) {\n  ...\n  return get(url, …"),
        (4, "const url = ...orders/${id}`;"),
        (5, "headers: [...shared, 'x-id']"),
    ] {
        let shown = ground_in_script("web/orders.js", line, &[evidence]);
        assert_eq!(shown, format!("web/orders.js:{line} at 75 []"), "{evidence}");
        // From a wrong line, the quote leads to its own line.
        let moved = ground_in_script("web/orders.js", 900, &[evidence]);
        assert_eq!(moved, format!("web/orders.js:{line} at 75 [LineMoved]"), "{evidence}");
    }
}

#[test]
fn a_quote_that_is_not_in_the_file_loses_confidence_in_every_notation() {
    for (file, line, evidence) in [
        // Code of another file, and a changed word.
        ("web/orders.js", 4, "const url = `ftp://${peer}/files/${name}`;"),
        ("web/orders.js", 4, "const uri = `https://${host}/users/${id}`;"),
        ("web/orders.js", 4, "`const uri = `https://${host}/users/${id}`;`"),
        // The changed word is outside of the back-ticks, which are code.
        ("web/orders.js", 4, "const uri = `https://${host}/orders/${id}`;"),
        ("web/orders.js", 11, "throw new TypeError(`no id in ${order}`);"),
        ("web/orders.js", 11, "raise(`no id in ${order}`, 404)"),
        ("web/orders.js", 13, "13: stack.push(order);"),
        ("web/orders.js", 13, "+ stack.push(order);"),
        ("web/orders.js", 13, "- stack.push(order);"),
        ("web/orders.js", 3, "export function load(id) {\n  ...\n  return put(url, ..."),
        ("web/orders.js", 3, "export function load(name) { ... }"),
        ("web/orders.js", 9, "export function save(order) { ... return get(url"),
        ("web/orders.js", 3, "... id ... url ..."),
        // Prose, with the names of code, and with too little code.
        ("web/orders.js", 3, "The handling of `headers` is not right here"),
        ("web/orders.js", 3, "`order.id` is read before `queue.push` is called"),
        ("web/orders.js", 3, "calls `get` with `id`"),
        ("web/orders.js", 3, "`headers` is set... and never used"),
        // Another file, and a line beyond the end without a quote.
        ("web/gone.js", 4, "const url = `https://${host}/orders/${id}`;"),
        ("web/orders.js", 900, "see above"),
    ] {
        let shown = ground_in_script(file, line, &[evidence]);
        assert!(!shown.contains("at 75"), "{evidence}: {shown}");
    }
}

#[test]
fn prose_with_short_names_in_back_ticks_quotes_nothing() {
    assert_eq!(
        ground_in_script("web/orders.js", 3, &["calls `get` with `id`"]),
        "web/orders.js:3 at 50 [NoQuote]"
    );
}
