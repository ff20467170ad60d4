//! The review of a pull request: the place of each finding, and its text.

mod approval;
mod properties;
mod suggestions;

use std::collections::{BTreeMap, BTreeSet};

use assay_findings::identity::ResolvedFinding;
use assay_findings::path::RepoPath;
use assay_findings::post::marker::{self, Marker};
use assay_findings::post::{
    CommentDialect, CommentPlace, DiffLineKind, DiffSide, DraftInputs, FileHunks, Finders,
    Fingerprint, HunkLines, PostedState, PullRequestDiff, ReadyAction, ReviewDraft, check_run,
    compose, ticket_comment,
};
use assay_findings::report::{Report, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::memory_tree::MemoryTree;

/// Parses a diff: a line for each file (`old > new`, either may be missing), and below it a line
/// for each hunk, `OLD NEW` and a mark for each line, `.` for a context line.
fn diff(text: &str) -> PullRequestDiff {
    let path = |path: &str| RepoPath::exact(path.trim()).ok();
    let mut files: Vec<FileHunks> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some((old, new)) = line.split_once('>') {
            let (old_path, new_path) = (path(old), path(new));
            files.push(FileHunks { old_path, new_path, hunks: Vec::new() });
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let kinds = words[2].chars().map(|mark| match mark {
            '+' => DiffLineKind::Added,
            '-' => DiffLineKind::Removed,
            _ => DiffLineKind::Context,
        });
        files.last_mut().unwrap().hunks.push(HunkLines {
            old_start: words[0].parse().unwrap(),
            new_start: words[1].parse().unwrap(),
            lines: kinds.collect(),
        });
    }
    PullRequestDiff { files }
}

/// Returns the synthesis of the findings of a rule-based reviewer.
fn found(findings: &[Value]) -> Synthesis {
    let report = json!({"reviewer": "rules", "findings": findings}).to_string();
    let report = Report::from_text(&report, "rules", None).of_kind(ReviewerKind::Rules);
    synthesize(&[report], &SynthesisInputs::default())
}

fn finding(title: &str, file: &str, line: u32) -> Value {
    json!({"title": title, "severity": "MEDIUM", "file": file, "line": line,
        "description": "It breaks.", "autofix_class": "manual"})
}

fn inputs<'a>(diff: &'a PullRequestDiff, tree: Option<&'a MemoryTree>) -> DraftInputs<'a> {
    DraftInputs {
        diff,
        tree: tree.map(|tree| tree as _),
        parses: None,
        head: "c0ffee",
        dialect: CommentDialect::GitHub,
        when_ready: ReadyAction::Approve,
        resolved: &[],
        tracked: &[],
        run: Some("https://assay.example/runs/7"),
    }
}

/// Returns the place of each finding of a draft.
fn places(draft: &ReviewDraft) -> String {
    let posted = PostedState::default();
    let mut lines: Vec<String> = Vec::new();
    for call in draft.calls(&posted) {
        lines.extend(call.comments.into_iter().map(|comment| {
            let start = comment.start.map(|start| format!("{start}-")).unwrap_or_default();
            let side = if comment.side == DiffSide::Left { " before" } else { "" };
            let words: Vec<&str> = comment.body.lines().step_by(2).take(2).collect();
            let (path, line) = (comment.path, comment.line);
            format!("{path}:{start}{line}{side}: {}", words.join(" "))
        }));
    }
    let files = draft.file_comments(&posted).into_iter();
    lines.extend(files.map(|comment| {
        let words: Vec<&str> = comment.body.lines().step_by(2).take(2).collect();
        format!("{}: {}", comment.path, words.join(" "))
    }));
    let summary = draft.posts().iter().filter_map(|post| match post.place {
        CommentPlace::Summary { why } => Some(format!("summary: {why:?}")),
        CommentPlace::DiffLines { .. } | CommentPlace::File => None,
    });
    lines.extend(summary);
    lines.join("\n")
}

fn check_place(hunks: &str, findings: &[Value], expected: Expect) {
    let diff = diff(hunks);
    expected.assert_eq(&places(&compose(&found(findings), &inputs(&diff, None))));
}

#[test]
fn a_finding_on_a_line_of_the_diff_is_a_comment_on_it() {
    check_place(
        "a.rs > a.rs\n10 10 ...-++...",
        &[finding("context", "a.rs", 10), finding("added", "a.rs", 14)],
        expect![[r#"
            a.rs:10: **🔵 MEDIUM: context** It breaks.
            a.rs:14: **🔵 MEDIUM: added** It breaks."#]],
    );
}

#[test]
fn lines_beyond_the_hunk_are_clipped() {
    let mut long = finding("long", "a.rs", 8);
    long["end_line"] = json!(30);
    check_place(
        "a.rs > a.rs\n10 10 .+.\n20 21 .+.",
        &[long],
        expect!["a.rs:10-12: **🔵 MEDIUM: long** _About lines 8 to 30._"],
    );
}

#[test]
fn a_finding_beside_the_hunks_is_shown_on_the_nearest_line_or_on_the_file() {
    check_place(
        "a.rs > a.rs\n50 50 .+.",
        &[
            finding("below", "a.rs", 57),
            finding("above", "a.rs", 49),
            finding("edge", "a.rs", 62),
            finding("far", "a.rs", 63),
        ],
        expect![[r#"
            a.rs:50: **🔵 MEDIUM: above** _About line 49, 1 line above._
            a.rs:52: **🔵 MEDIUM: below** _About line 57, 5 lines below._
            a.rs:52: **🔵 MEDIUM: edge** _About line 62, 10 lines below._
            a.rs: **🔵 MEDIUM: far** _About line 63._"#]],
    );
}

#[test]
fn a_finding_without_a_line_is_on_the_file_and_one_without_a_file_in_the_summary() {
    let mut whole = finding("whole file", "a.rs", 1);
    whole["line"] = Value::Null;
    let mut nowhere = finding("nowhere", "a.rs", 1);
    nowhere["file"] = Value::Null;
    check_place(
        "a.rs > a.rs\n1 1 +\nold.png > new.png",
        &[whole, nowhere, finding("elsewhere", "b.rs", 1), finding("binary", "new.png", 1)],
        expect![[r#"
            a.rs: **🔵 MEDIUM: whole file** It breaks.
            new.png: **🔵 MEDIUM: binary** _About line 1._
            summary: NoFile
            summary: NotInTheDiff"#]],
    );
}

#[test]
fn a_finding_in_a_deleted_file_is_commented_on_the_left_side() {
    check_place(
        "gone.rs >\n1 0 ----",
        &[finding("gone", "gone.rs", 3)],
        expect!["gone.rs:3 before: **🔵 MEDIUM: gone** It breaks."],
    );
}

#[test]
fn pre_existing_and_advisory_findings_are_not_comments_unless_they_block() {
    let advice = |severity: &str| {
        json!({"title": severity, "severity": severity, "file": "a.rs", "line": 1,
            "description": "d", "autofix_class": "advisory"})
    };
    let mut old = finding("old", "a.rs", 2);
    old["pre_existing"] = json!(true);
    check_place(
        "a.rs > a.rs\n1 1 +++",
        &[advice("HIGH"), advice("LOW"), old],
        expect![[r#"
            a.rs:1: **🟠 HIGH: HIGH** d
            summary: PreExisting
            summary: ReportedOnly"#]],
    );
}

#[test]
fn a_repeated_finding_is_posted_once_and_the_same_code_in_two_files_twice() {
    let twice = [finding("x", "a.rs", 1), finding("x", "b.rs", 1)];
    let mut synthesis = found(&twice);
    synthesis.findings.push(synthesis.findings[0].clone());
    let diff = diff("a.rs > a.rs\n1 1 +\nb.rs > b.rs\n1 1 +");
    let draft = compose(&synthesis, &inputs(&diff, None));
    let prints: BTreeSet<&Fingerprint> = draft.posts().iter().map(|p| &p.fingerprint).collect();
    assert_eq!((draft.posts().len(), prints.len()), (2, 2));
    assert_eq!(draft.posts()[0].fingerprint, Fingerprint::of(&synthesis.findings[0]));
}

/// Returns the synthesis of a change with findings of several kinds.
fn mixed() -> Synthesis {
    let findings = [
        json!({"title": "SQL built from @input", "severity": "CRITICAL", "file": "src/a.py",
            "line": 3, "description": "Anybody reads any row:\n\n- all of `users`\n- see #12",
            "evidence": ["`rows = db.run(sql)`", "`sql` comes from the form"],
            "suggested_fix": "Bind the value.", "category": "security", "rule": "py/sql",
            "requires_verification": true,
            "replacement": {"start_line": 3, "end_line": 3, "text": "rows = db.run(sql, args)\n"}}),
        json!({"title": "No changelog entry", "severity": "MINOR", "description":
            "<img src=x> </details> @everybody", "suggested_fix": "one\ntwo"}),
        json!({"title": "Old one", "severity": "LOW", "file": "src/a.py", "line": 1,
            "pre_existing": true, "description": "Was there."}),
    ];
    let report = json!({"reviewer": "rules", "findings": findings, "residual_risks": ["a *risk*"]});
    let mut report =
        Report::from_text(&report.to_string(), "rules", None).of_kind(ReviewerKind::Rules);
    report.remarks.not_covered.push("big.bin".to_owned());
    synthesize(&[report], &SynthesisInputs::default())
}

fn mixed_draft() -> ReviewDraft {
    let tree = MemoryTree::new(&[("src/a.py", "import db\n\nrows = db.run(sql)\n")]);
    compose(&mixed(), &inputs(&diff("src/a.py > src/a.py\n1 1 ..+"), Some(&tree)))
}

#[test]
fn a_comment_has_the_description_the_reason_the_fix_and_the_origin() {
    let call = mixed_draft().calls(&PostedState::default()).remove(0);
    expect![[r#"
        RequestChanges
        **Not ready**: 1 finding must be fixed; 1 finding can be acted on.

        <!-- assay:review 4a6e3dbbef255e505e52dc958e4331f0 -->
        ----
        **🔴 CRITICAL: SQL built from @&#8203;input**

        Anybody reads any row:

        - all of `users`
        - see \#&#8203;12

        **Why**: `sql` comes from the form

        **Fix**: Bind the value.

        ```suggestion
        rows = db.run(sql, args)
        ```

        <sub>`ad4cc3fb8923` · security · `py/sql` · found by rules · confidence 100 · the fix must be verified</sub>

        <!-- assay:finding 258fa7967c92baad134117117e8f558a-ad4cc3fb8923 51be9541 -->"#]]
    .assert_eq(&format!("{:?}\n{}\n----\n{}", call.event, call.body, call.comments[0].body));
}

#[test]
fn the_summary_lists_findings_that_are_not_comments() {
    let draft = mixed_draft();
    let visible = BTreeSet::from([draft.posts()[0].fingerprint.clone()]);
    let posted = PostedState { visible, ..PostedState::default() };
    expect![[r#"
        ## Not ready

        - 1 finding must be fixed
        - 1 finding can be acted on

        **2 findings**: 1 CRITICAL, 1 MINOR. 1 is a comment on the change; the following are not.

        **⚪ MINOR: No changelog entry**

        &lt;img src=x> &lt;/details> @&#8203;everybody

        **Fix**:

        ```
        one
        two
        ```

        <sub>`1c307720430c` · general · found by rules · confidence 100</sub>

        <details><summary>Existed before this change (1)</summary>

        - ⚪ LOW: Old one (`src/a.py:1`) · `355c5bf01953`

        </details>

        <details><summary>Not reviewed (1)</summary>

        - big.bin

        </details>

        <details><summary>Residual risks (1)</summary>

        - a \*risk\*

        </details>

        <!-- assay:summary 1 -->"#]]
    .assert_eq(&draft.summary(&posted).join("\n====\n"));
}

#[test]
fn a_refused_comment_is_listed_in_the_summary_with_the_reason() {
    let draft = mixed_draft();
    let first = draft.posts()[0].fingerprint.clone();
    let refused = BTreeMap::from([(first, "422: line must be part of the @diff".to_owned())]);
    let posted = PostedState { refused, ..PostedState::default() };
    assert!(draft.calls(&posted)[0].comments.is_empty());
    let summary = draft.summary(&posted).remove(0);
    let note = summary.lines().find(|line| line.contains("Rejected")).unwrap();
    expect!["_Rejected as a comment on the change_: 422: line must be part of the @&#8203;diff"]
        .assert_eq(note);
}

#[test]
fn a_comment_is_resolvable_if_its_finding_is_resolved_or_its_finder_no_longer_reports_it() {
    let synthesis = found(&[finding("here", "a.rs", 1), finding("gone", "a.rs", 2)]);
    let diff = diff("a.rs > a.rs\n1 1 ++");
    let before = compose(&synthesis, &inputs(&diff, None));
    let by = |name: &str| -> BTreeMap<Fingerprint, Finders> {
        let prints = before.posts().iter().map(|post| post.fingerprint.clone());
        prints.map(|print| (print, Finders::of([name]))).collect()
    };
    let all: Vec<ResolvedFinding> = synthesis.findings.iter().map(ResolvedFinding::from).collect();
    let after = found(&[finding("here", "a.rs", 1)]);
    let absent = compose(&after, &inputs(&diff, None));
    assert_eq!(absent.resolvable_comments(&by("rules")).len(), 1);
    assert_eq!(absent.resolvable_comments(&by("security")).len(), 0);
    let unreviewed = synthesize(&[], &SynthesisInputs::default());
    assert_eq!(
        compose(&unreviewed, &inputs(&diff, None)).resolvable_comments(&by("rules")).len(),
        0
    );
    let gone = compose(&after, &DraftInputs { resolved: &all, ..inputs(&diff, None) });
    let settled = gone.resolvable_comments(&by("security"));
    let titles: Vec<&str> = synthesis
        .findings
        .iter()
        .filter(|finding| settled.contains(&Fingerprint::of(finding)))
        .map(|finding| finding.title.as_str())
        .collect();
    assert_eq!(titles, ["gone"]);
    assert!(gone.summary(&PostedState::default())[0].contains("Resolved since the last review"));
}

/// Returns true if the comment on a finding is settled once the reviewers that found it report
/// nothing.
fn is_settled(kind: ReviewerKind, change: impl Fn(&mut Report)) -> bool {
    let diff = diff("a.rs > a.rs\n1 1 ++");
    let review = |findings: &[Value]| {
        let text = json!({"reviewer": "them", "findings": findings}).to_string();
        Report::from_text(&text, "them", None).of_kind(kind)
    };
    let before = [review(&[finding("here", "a.rs", 1)])];
    let before = synthesize(&before, &SynthesisInputs::default());
    let print = Fingerprint::of(before.findings.iter().chain(&before.held_back).next().unwrap());
    let mut after = review(&[]);
    change(&mut after);
    let after = synthesize(&[after], &SynthesisInputs::default());
    let by = BTreeMap::from([(print, Finders::of(["them"]))]);
    !compose(&after, &inputs(&diff, None)).resolvable_comments(&by).is_empty()
}

#[test]
fn only_rules_and_commands_that_did_not_fail_resolve_their_comments() {
    assert!(is_settled(ReviewerKind::Rules, |_| {}));
    assert!(is_settled(ReviewerKind::Command, |_| {}));
    assert!(!is_settled(ReviewerKind::Persona, |_| {}));
    let left_out = |report: &mut Report| report.remarks.not_covered.push("it broke".to_owned());
    assert!(is_settled(ReviewerKind::Rules, left_out));
    assert!(!is_settled(ReviewerKind::Command, left_out));
    let broken = |report: &mut Report| report.unusable = Some("it broke".to_owned());
    assert!(!is_settled(ReviewerKind::Rules, broken));
}

#[test]
fn comments_on_held_back_or_unseen_findings_are_not_resolvable() {
    let mut synthesis = found(&[finding("here", "a.rs", 1), finding("there", "a.rs", 2)]);
    let diff = diff("a.rs > a.rs\n1 1 ++");
    let prints: Vec<Fingerprint> = synthesis.findings.iter().map(Fingerprint::of).collect();
    let by = Finders::of(["rules"]);
    let comments: BTreeMap<Fingerprint, Finders> =
        prints.into_iter().map(|print| (print, by.clone())).collect();
    let all: Vec<ResolvedFinding> = synthesis.findings.iter().map(ResolvedFinding::from).collect();
    let [held_back, unseen] = std::mem::take(&mut synthesis.findings).try_into().unwrap();
    let inputs = DraftInputs { resolved: &all, ..inputs(&diff, None) };
    assert_eq!(compose(&synthesis, &inputs).resolvable_comments(&comments).len(), 2);
    synthesis.unseen.push(ResolvedFinding::from(&unseen));
    synthesis.held_back.push(held_back);
    let draft = compose(&synthesis, &inputs);
    assert_eq!(draft.resolvable_comments(&comments).len(), 0);
    assert!(!draft.summary(&PostedState::default())[0].contains("Resolved since"));
}

fn many(count: usize) -> (Synthesis, PullRequestDiff) {
    let file = |at: usize| format!("src/{at}.rs");
    let findings: Vec<Value> = (0..count)
        .map(|at| {
            let severity = ["HIGH", "MEDIUM", "LOW"][at % 3];
            json!({"title": format!("finding {at}"), "severity": severity, "file": file(at),
                "line": 1, "description": "d ".repeat(2_000), "autofix_class": "manual"})
        })
        .collect();
    let files = (0..count).map(|at| format!("{0} > {0}\n1 1 +\n", file(at)));
    (found(&findings), diff(&files.collect::<String>()))
}

#[test]
fn comments_are_posted_in_calls_of_thirty_and_the_verdict_once() {
    let (synthesis, diff) = many(75);
    let draft = compose(&synthesis, &inputs(&diff, None));
    let show = |posted: &PostedState| -> Vec<String> {
        let calls = draft.calls(posted);
        calls.iter().map(|call| format!("{:?} {}", call.event, call.comments.len())).collect()
    };
    let mut posted = PostedState::default();
    assert_eq!(show(&posted), ["RequestChanges 30", "Comment 30", "Comment 15"]);
    let first = draft.calls(&posted).remove(0);
    assert_eq!(marker::read(&first.body), Some(Marker::Review(draft.key().clone())));
    posted.reviews.insert(first.key);
    posted.visible.extend(first.comments.into_iter().map(|comment| comment.fingerprint));
    assert_eq!(show(&posted), ["Comment 30", "Comment 15"]);
    let all = draft.posts().iter().map(|post| post.fingerprint.clone());
    posted.visible.extend(all);
    assert!(show(&posted).is_empty());
}

#[test]
fn beyond_a_hundred_comments_findings_are_in_the_summary() {
    let (synthesis, diff) = many(130);
    let draft = compose(&synthesis, &inputs(&diff, None));
    let comments: Vec<_> =
        draft.calls(&PostedState::default()).into_iter().flat_map(|call| call.comments).collect();
    assert_eq!(comments.len(), 100);
    let visible: BTreeSet<Fingerprint> = comments.into_iter().map(|c| c.fingerprint).collect();
    let summary = draft.summary(&PostedState { visible, ..PostedState::default() }).concat();
    assert_eq!(summary.matches(": finding ").count(), 30);
    assert!(summary.contains("100 are comments on the change"), "{summary}");
}

#[test]
fn a_summary_that_is_too_long_keeps_the_worst_in_full_and_names_the_rest() {
    let (synthesis, _) = many(200);
    let draft = compose(&synthesis, &inputs(&PullRequestDiff::default(), None));
    let parts = draft.summary(&PostedState::default());
    assert_eq!(parts.len(), 5);
    for (part, number) in parts.iter().zip(1..) {
        assert!(part.len() <= 60_000);
        assert_eq!(marker::read(part), Some(Marker::Summary(number)));
        assert_eq!(part.matches("<details>").count(), part.matches("</details>").count());
    }
    let all = parts.concat();
    for at in 0..200 {
        let named = all.matches(&format!("finding {at}**")).count()
            + all.matches(&format!("finding {at} (")).count();
        assert_eq!(named, 1, "finding {at}");
    }
    assert!(all.contains("Titles only, because of the size limit ("));
}

#[test]
fn the_event_follows_the_verdict() {
    let diff = PullRequestDiff::default();
    let event = |synthesis: &Synthesis, when_ready| {
        let draft = compose(synthesis, &DraftInputs { when_ready, ..inputs(&diff, None) });
        let call = draft.calls(&PostedState::default()).remove(0);
        format!("{} {}", call.event.as_str(), call.body.lines().next().unwrap())
    };
    let incomplete = synthesize(&[], &SynthesisInputs::default());
    let ready = found(&[]);
    let not_ready = found(&[json!({"title": "t", "severity": "HIGH", "description": "d"})]);
    expect![[r#"
        COMMENT **Ready**: no open finding, and every reviewer answered.
        COMMENT **Ready**: no open finding, and every reviewer answered.
        REQUEST_CHANGES **Not ready**: 1 finding must be fixed.
        COMMENT **Incomplete**: no reviewer returned a report."#]]
    .assert_eq(
        &[
            event(&ready, ReadyAction::Approve),
            event(&ready, ReadyAction::Comment),
            event(&not_ready, ReadyAction::Approve),
            event(&incomplete, ReadyAction::Approve),
        ]
        .join("\n"),
    );
}

#[test]
fn a_draft_survives_serialization() {
    let draft = mixed_draft();
    let kept = serde_json::to_string(&draft).unwrap();
    assert_eq!(serde_json::from_str::<ReviewDraft>(&kept).unwrap(), draft);
}

#[test]
fn a_check_run_annotates_lines_and_lists_other_findings_in_its_summary() {
    let run = check_run(&mixed(), None);
    expect![[r#"
        Failure Not ready
        - 1 finding must be fixed
        - 1 finding can be acted on

        **2 findings**: 1 CRITICAL, 1 MINOR.

        **⚪ MINOR: No changelog entry**

        &lt;img src=x> &lt;/details> @&#8203;everybody

        **Fix**:

        ```
        one
        two
        ```

        <sub>`1c307720430c` · general · found by rules · confidence 100</sub>

        <details><summary>Existed before this change (1)</summary>

        - ⚪ LOW: Old one (`src/a.py:1`) · `355c5bf01953`

        </details>

        <details><summary>Not reviewed (1)</summary>

        - big.bin

        </details>

        <details><summary>Residual risks (1)</summary>

        - a \*risk\*

        </details>
        ----
        [
          [
            {
              "path": "src/a.py",
              "start_line": 3,
              "end_line": 3,
              "annotation_level": "failure",
              "title": "CRITICAL: SQL built from @input",
              "message": "Anybody reads any row:\n\n- all of `users`\n- see #12\n\nFix: Bind the value."
            }
          ]
        ]"#]].assert_eq(&format!(
        "{:?} {}\n{}\n----\n{}",
        run.conclusion,
        run.title,
        run.summary,
        serde_json::to_string_pretty(&run.batches).unwrap()
    ));
}

#[test]
fn annotations_are_batched_and_a_check_run_without_a_review_requires_action() {
    let (synthesis, _) = many(130);
    let run = check_run(&synthesis, Some("the run"));
    let sizes: Vec<usize> = run.batches.iter().map(Vec::len).collect();
    assert_eq!(sizes, [50, 50]);
    assert!(run.summary.len() <= 65_535);
    let unreviewed = check_run(&synthesize(&[], &SynthesisInputs::default()), None);
    assert_eq!(serde_json::to_value(unreviewed.conclusion).unwrap(), "action_required");
}

#[test]
fn a_ticket_comment_is_a_few_lines_of_plain_text() {
    expect![[r#"
        Review: Not ready: 1 finding must be fixed; 1 finding can be acted on.
        2 findings: 1 CRITICAL, 1 MINOR.
        1. CRITICAL: SQL built from @ input (src/a.py:3)
        2. MINOR: No changelog entry
        https://github.com/o/r/pull/7"#]]
    .assert_eq(&ticket_comment(&mixed(), "https://github.com/o/r/pull/7"));
    let (synthesis, _) = many(12);
    assert!(ticket_comment(&synthesis, "u").contains("and 2 more\nu"));
}
