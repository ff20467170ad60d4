//! The code and the votes that a run keeps for its findings.

use assay_change::{Change, Scope, Selection};
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::vote::{Confidence, LineRange, Replacement, Vote};
use assay_review::run_context::{ContextLineKind, FindingContext, RunContext};
use assay_testkit::Repository;
use expect_test::{Expect, expect};

const NUMBERS: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

/// Returns the change of one file in a repository; an empty text means that there is no file.
fn change(before: &str, after: &str) -> (Repository, Change) {
    let repository = Repository::new();
    if !before.is_empty() {
        repository.write("a.txt", before);
    }
    repository.write("other.txt", "x\n");
    repository.commit("before");
    match after {
        "" => drop(repository.git(&["rm", "--quiet", "a.txt"])),
        after => repository.write("a.txt", after),
    }
    repository.git(&["add", "--all"]);
    let change = assay_change::open(repository.path(), &Scope::Staged, &Selection::default());
    (repository, change.unwrap())
}

fn vote(line: u32) -> Vote {
    let mut vote = Vote::new("A defect", Grade::from_word("HIGH"));
    vote.file = Some(RepoPath::exact("a.txt").unwrap());
    vote.lines = LineRange::at(line);
    vote.confidence = Some(Confidence::CERTAIN);
    vote
}

fn context(change: &Change, vote: Vote) -> FindingContext {
    let mut report = Report::new(Reviewer::new("lint", ReviewerKind::Command));
    report.votes = vec![vote];
    let reports = [report];
    let synthesis = synthesize(&reports, &SynthesisInputs::default());
    let context = RunContext::of(change, &reports, &synthesis);
    assert_eq!(context.findings.len(), 1);
    context.findings.into_iter().next().unwrap()
}

/// Compares the code around a finding on a line.
fn check(before: &str, after: &str, line: u32, expected: Expect) {
    let (_repository, change) = change(before, after);
    let lines = context(&change, vote(line)).lines.into_iter().map(|line| {
        let sign = match line.kind {
            ContextLineKind::Same => ' ',
            ContextLineKind::Added => '+',
            ContextLineKind::Removed => '-',
            ContextLineKind::Skipped => '~',
        };
        format!("{sign}{} {}\n", line.number, line.text)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_changed_line_is_shown_with_the_line_that_it_replaces() {
    check(
        NUMBERS,
        &NUMBERS.replace("six", "SIX"),
        6,
        expect![[r#"
             2 two
             3 three
             4 four
             5 five
            -6 six
            +6 SIX
             7 seven
             8 eight
             9 nine
             10 ten
        "#]],
    );
}

#[test]
fn lines_that_are_only_removed_stand_where_they_were() {
    check(
        NUMBERS,
        &NUMBERS.replace("two\nthree\n", ""),
        1,
        expect![[r#"
             1 one
            -2 two
            -3 three
             2 four
             3 five
             4 six
             5 seven
        "#]],
    );
    check(
        NUMBERS,
        &NUMBERS.replace("eleven\ntwelve\n", ""),
        10,
        expect![[r#"
             6 six
             7 seven
             8 eight
             9 nine
             10 ten
            -11 eleven
            -12 twelve
        "#]],
    );
    check(
        NUMBERS,
        &NUMBERS.replace("one\n", ""),
        1,
        expect![[r#"
        -1 one
         1 two
         2 three
         3 four
         4 five
         5 six
    "#]],
    );
}

#[test]
fn lines_that_are_only_added_have_no_removed_line_beside_them() {
    check(
        "one\n",
        "zero\none\n",
        1,
        expect![[r#"
        +1 zero
         2 one
    "#]],
    );
    check(
        "",
        "one\ntwo\n",
        2,
        expect![[r#"
        +1 one
        +2 two
    "#]],
    );
}

#[test]
fn a_deleted_file_is_shown_as_it_was() {
    check(
        "one\ntwo\n",
        "",
        2,
        expect![[r#"
        -1 one
        -2 two
    "#]],
    );
}

#[test]
fn many_removed_lines_are_counted_instead_of_shown() {
    let many: String = (0..50).map(|number| format!("{number}\n")).collect();
    let (_repository, change) = change(&format!("{many}end\n"), "end\n");
    let lines = context(&change, vote(1)).lines;
    let skipped: Vec<_> =
        lines.iter().filter(|line| line.kind == ContextLineKind::Skipped).collect();
    assert_eq!((lines.len(), skipped[0].number), (22, 30));
}

#[test]
fn a_line_beyond_the_end_of_a_file_has_no_code() {
    check("one\n", "two\n", 7, expect![""]);
}

#[test]
fn code_is_redacted_and_long_lines_are_cut() {
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    let (_repository, change) =
        change("one\n", &format!("TOKEN = \"{token}\"\n{}\n", "x".repeat(5000)));
    let lines = context(&change, vote(1)).lines;
    assert!(lines.iter().any(|line| line.text.contains("[redacted]")), "{lines:?}");
    assert!(lines.iter().all(|line| line.text.chars().count() <= 401), "{lines:?}");
    assert!(!format!("{lines:?}").contains(&token));
}

#[test]
fn a_fix_and_the_votes_of_a_finding_are_kept() {
    let (_repository, change) = change(NUMBERS, &NUMBERS.replace("six", "SIX"));
    let mut vote = vote(6);
    vote.replacement = Some(Replacement::new(LineRange::at(6).unwrap(), "6\n"));
    let context = context(&change, vote);
    let fix = context.fix.unwrap();
    assert_eq!(
        (fix.first, fix.before, fix.removed),
        (6, vec!["four".into(), "five".into()], vec!["SIX".into()])
    );
    assert_eq!((fix.added, fix.after), (vec!["6".into()], vec!["seven".into(), "eight".into()]));
    let [vote] = &context.votes[..] else { panic!("{:?}", context.votes) };
    let vote = (vote.reviewer.as_str(), vote.severity.as_str(), vote.confidence);
    assert_eq!(vote, ("lint", "HIGH", Some(100)));
}
