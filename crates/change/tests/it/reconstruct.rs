//! Both sides of a change, reconstructed from its diff.

use assay_change::diff::parse;
use assay_change::diff::reconstruct::reconstruct;

#[test]
fn a_line_whose_number_would_fill_the_memory_is_refused() {
    let diff = "--- a/x\n+++ b/x\n@@ -4000000000 +4000000000 @@\n-a\n+b\n";
    assert_eq!(reconstruct(diff).unwrap_err().line, 4);
}

#[test]
fn renamed_and_quoted_files_have_their_names_and_long_lines_are_whole() {
    let long = "x".repeat(100_000);
    let diff = format!(
        "diff --git a/o b/n\nsimilarity index 90%\nrename from o\nrename to n\n--- a/o\n+++ b/n\n\
         @@ -1 +1 @@\n-{long}\n+y\r\n\\ No newline at end of file\n\
         diff --git \"a/\\303\\244\" \"b/\\303\\244\"\n--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"\n\
         @@ -1 +1 @@\n-a\n+b\ndiff --git a/r b/s\nsimilarity index 100%\nrename from r\nrename to s\n"
    );
    let sketch = reconstruct(&diff).unwrap();
    assert_eq!(sketch.before.keys().collect::<Vec<_>>(), ["o", "ä"]);
    assert_eq!(sketch.before["o"], format!("{long}\n"));
    assert_eq!(sketch.after.keys().collect::<Vec<_>>(), ["n", "ä"]);
    assert_eq!(sketch.after["n"], "y\n");
}

#[test]
fn the_place_of_a_removed_line_is_its_replacement_or_the_line_that_follows() {
    let place = |body: &str, removed: u32| {
        let [file] = &parse(format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n{body}").as_bytes())[..]
        else {
            panic!("{body}")
        };
        file.hunks[0].place_of_removed(removed)
    };
    let edited = "@@ -1,6 +1,6 @@\n a\n-b\n+B\n c\n-x\n d\n+E\n e\n";
    assert_eq!(place(edited, 2), 2);
    assert_eq!(place(edited, 4), 4);
    let shifted = "@@ -10,4 +20,3 @@\n a\n b\n-c\n d\n";
    assert_eq!(place(shifted, 12), 22);
    let last = "@@ -1,2 +1,1 @@\n a\n-b\n";
    assert_eq!(place(last, 2), 1);
    let all = "@@ -1,2 +0,0 @@\n-a\n-b\n";
    assert_eq!(place(all, 1), 1);
}
