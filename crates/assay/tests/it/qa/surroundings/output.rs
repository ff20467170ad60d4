//! Checks that write into the tree.

use super::project;

#[test]
fn output_that_git_does_not_ignore_is_reported_after_one_round() {
    let check = "mkdir -p out/deep logs2 src/__pycache__\ndate +%N%s$$ > out/deep/a.txt\necho $$ >> src/__pycache__/a.pyc\necho $$ > trace.txt\necho 'ok 1 - leaves'\necho 1..1\n";
    let main = [("check.sh", check), ("greeting.txt", "hello\n"), ("src/a.txt", "a\n")];
    let fixture = project(&main, "sh check.sh", "`leaves` passes");
    fixture.repository.write("greeting.txt", "goodbye\n");
    fixture.repository.commit("work");
    let ran = fixture.ends(3, &[]);
    assert_eq!(fixture.events_of("review_begun").len(), 1, "{}", ran.stdout);
    assert_eq!(fixture.events_of("fix_begun").len(), 0, "{}", ran.stdout);
    let last = fixture.ending()["last"].to_string();
    assert!(last.contains("`out/deep/a.txt`"), "{last}");
    let lines = "add `/trace.txt`, `__pycache__/`, `out/` to `.gitignore`, commit it";
    assert!(last.contains(lines), "{last}");
    // With these lines the tree is approved.
    fixture.repository.write(".gitignore", "/trace.txt\n__pycache__/\nout/\n");
    fixture.ends(0, &["--resume"]);
    fixture.is_approved();
}
