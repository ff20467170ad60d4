//! Tests of the views of loops, on a real journal.

use expect_test::expect;

use super::screenshot::{ScreenshotView, read_screenshot};
use super::*;
use crate::loop_session::tests::{LoopFixture, record_rounds};

/// Formats a loop as text, without times and digests.
fn render(detail: &LoopDetailView) -> String {
    let summary = &detail.summary;
    let mut out = format!(
        "{} {}: {} of {} criteria, {} open issues, sign-off awaited: {}, current: {}\n",
        summary.id,
        summary.status,
        summary.criteria_met,
        summary.criteria,
        summary.open_issues,
        detail.awaits_sign_off,
        detail.is_current,
    );
    for round in &detail.history {
        out += &format!("round {} {}\n", round.number, round.outcome);
        for check in &round.checks {
            let shown: Vec<&str> = check.screenshots.iter().map(|it| it.file.as_str()).collect();
            out += &format!("  {} {} {:?} {shown:?}\n", check.name, check.state, check.why);
        }
        for line in &round.criteria {
            out += &format!("  {} ({}): {}\n", line.text, line.answer, line.evidence);
        }
        for issue in &round.issues {
            out += &format!("  {} can be decided: {}\n", issue.title, issue.can_be_decided);
        }
    }
    for line in &detail.sign_offs {
        out += &format!("{} {:?} {:?} void: {}\n", line.by, line.about, line.because, line.is_void);
    }
    out
}

#[test]
fn a_loop_has_its_rounds_checks_criteria_and_decisions() {
    let fixture = LoopFixture::new();
    fixture.repository.write("greeting.txt", "hello\n");
    let place = fixture.place("001");
    record_rounds(&place);
    let detail = LoopDetailView::read("001-greeting", &place).unwrap();
    expect![[r#"
        001-greeting human_escalation: 1 of 2 criteria, 1 open issues, sign-off awaited: false, current: true
        round 1 rejected
          e2e: Say hello failed Some("the button is missing") ["001-start.png"]
          it is polite (decided): decided by Ann: read it aloud
          it is short (cannot_tell): no check names it
          Criterion cannot be judged: it is short can be decided: true
        Ann Some("Criterion cannot be judged: it is polite") Some("read it aloud") void: false
    "#]].assert_eq(&render(&detail));
    let texts: Vec<&str> = detail.journal.iter().map(|line| line.text.as_str()).collect();
    expect![[r#"
        the documents of the loop are written
        the loop ends: a person must decide the issues that no check and no fix can resolve
        Ann decided `Criterion cannot be judged: it is polite`: read it aloud
        the review found 2 issues
        check `e2e: Say hello`: failed, the button is missing
        round 1 begins on the tree 76d3550e1549
        counting begins: first run"#]]
    .assert_eq(&texts.join("\n"));
}

#[test]
fn a_decision_is_void_and_nothing_can_be_decided_after_a_change_of_the_tree() {
    let fixture = LoopFixture::new();
    fixture.repository.write("greeting.txt", "hello\n");
    let place = fixture.place("001");
    record_rounds(&place);
    fixture.repository.write("greeting.txt", "good day\n");
    let detail = LoopDetailView::read("001-greeting", &place).unwrap();
    assert!(!detail.is_current && detail.sign_offs.iter().all(|line| line.is_void), "{detail:?}");
    assert_eq!(detail.decidable().count(), 0);
}

#[test]
fn only_a_png_that_no_link_leads_to_is_read_as_a_screenshot() {
    let fixture = LoopFixture::new();
    let place = fixture.place("001");
    let folder = ".assay/qa/001-greeting/e2e/round-1";
    let write =
        |name: &str, bytes: &[u8]| fixture.repository.write(format!("{folder}/{name}"), bytes);
    write("001-start.png", b"\x89PNG\r\n\x1a\nrest");
    write("002-page.png", b"<svg onload=alert(1)>");
    let target = fixture.repository.path().join("specs/001-greeting/spec.md");
    std::os::unix::fs::symlink(&target, fixture.repository.path().join(folder).join("003-x.png"))
        .unwrap();
    let read = |file: &str| {
        let shown = ScreenshotView { round: 1, file: file.to_owned() };
        read_screenshot(&place, &shown).map_err(|error| error.to_string())
    };
    assert!(read("001-start.png").is_ok());
    for (file, why) in [
        ("002-page.png", "is not a PNG image"),
        ("003-x.png", "is a symbolic link"),
        ("004-none.png", "cannot read"),
        ("../../../../a.png", "invalid name"),
        (".x.png", "invalid name"),
    ] {
        let refused = read(file).unwrap_err();
        assert!(refused.contains(why), "{file}: {refused}");
    }
}
