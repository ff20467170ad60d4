use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::diff::parse;

fn check(diff: &str, expected: Expect) {
    expected.assert_eq(&show(&parse(diff.as_bytes())));
}

fn show(files: &[FileDiff]) -> String {
    let mut text = String::new();
    for file in files {
        let name = |path: &Option<String>| path.clone().unwrap_or_else(|| "-".to_owned());
        text += &format!("{} -> {}", name(&file.old_path), name(&file.new_path));
        if file.content != Content::Text {
            text += &format!(" {:?}", file.content);
        }
        if file.origin != Origin::Same {
            text += &format!(" {:?}", file.origin);
        }
        if file.old_mode != file.new_mode {
            let mode = |mode: Option<Mode>| mode.map_or("-".to_owned(), |mode| format!("{mode:?}"));
            text += &format!(" {}->{}", mode(file.old_mode), mode(file.new_mode));
        }
        text.push('\n');
        let show = |sign, lines: LineRange| format!("  {sign}{}-{}\n", lines.start(), lines.end());
        text.extend(file.removed().map(|lines| show('-', lines)));
        text.extend(file.added().map(|lines| show('+', lines)));
    }
    text
}

#[test]
fn added_lines_carry_their_new_numbers() {
    check(
        "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,4 @@ def f():\n a\n-b\n+B\n+C\n c\n@@ -10 +11,2 @@\n z\n+y\n\\ No newline at end of file\n",
        expect![[r#"
            x.py -> x.py
              -2-2
              +2-3
              +12-12
        "#]],
    );
}

#[test]
fn new_deleted_renamed_copied_and_binary_files_are_distinguished() {
    check(
        "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\
         diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git a/o b/p q\nsimilarity index 100%\nrename from o\nrename to p q\n\
         diff --git a/o b/c\nsimilarity index 90%\ncopy from o\ncopy to c\nindex 1..2 100644\n--- a/o\n+++ b/c\n@@ -1 +1,2 @@\n x\n+y\n\
         diff --git a/i.png b/i.png\nnew file mode 100644\nBinary files /dev/null and b/i.png differ\n\
         diff --git a/j.png b/j.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmd;MU}6AO\n\n\
         diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n",
        expect![[r#"
            - -> n -->File
              +1-1
            d -> - File->-
              -1-1
            o -> p q Renamed
            o -> c Copied
              +2-2
            - -> i.png Binary -->File
            j.png -> j.png Binary
            - -> empty -->File
        "#]],
    );
}

#[test]
fn mode_changes_links_and_submodules_are_recognised() {
    check(
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n\
         diff --git a/edited b/edited\nold mode 100755\nnew mode 100644\nindex 1..2\n--- a/edited\n+++ b/edited\n@@ -1 +1 @@\n-a\n+b\n\
         diff --git a/link b/link\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n\
         diff --git a/sub b/sub\nindex 1..2 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
        expect![[r#"
            run -> run File->Executable
            edited -> edited Executable->File
              -1-1
              +1-1
            - -> link Link -->Link
              +1-1
            sub -> sub Submodule
        "#]],
    );
}

#[test]
fn removed_lines_that_look_like_headers_stay_lines() {
    check(
        "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n x\n",
        expect![[r#"
            q.sql -> q.sql
              -1-1
              +1-1
        "#]],
    );
}

#[test]
fn quoted_names_are_read() {
    check(
        "diff --git \"a/\\303\\244\\n.txt\" \"b/\\303\\244\\n.txt\"\n--- \"a/\\303\\244\\n.txt\"\n+++ \"b/\\303\\244\\n.txt\"\n@@ -0,0 +1 @@\n+x\n\
         diff --git \"a/\\377\" \"b/\\377\"\nold mode 100644\nnew mode 100755\n\
         diff --git \"a/\\376\" \"b/\\376\"\nold mode 100644\nnew mode 100755\n",
        expect![[r#"
            ä
            .txt -> ä
            .txt
              +1-1
            "\377" -> "\377" File->Executable
            "\376" -> "\376" File->Executable
        "#]],
    );
}

#[test]
fn names_with_blanks_are_split_where_both_halves_agree() {
    check(
        "diff --git a/x b/x b/x b/x\nold mode 100644\nnew mode 100755\n\
         diff --git a/  b/ \nold mode 100644\nnew mode 100755\n\
         diff --git a/p q b/p q\nindex 1..2 100644\n--- a/p q\t\n+++ b/p q\t\n@@ -1 +1 @@\n-a\n+b\n",
        expect![[r#"
            x b/x -> x b/x File->Executable
              ->   File->Executable
            p q -> p q
              -1-1
              +1-1
        "#]],
    );
}

#[test]
fn names_may_have_other_prefixes_or_none() {
    let file = |git: &str, old: &str, new: &str| {
        format!("diff --git {git}\nindex 1..2 100644\n--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")
    };
    let diff = [
        file("i/src/x w/src/x", "i/src/x", "w/src/x"),
        file("c/src/x o/src/x", "c/src/x", "o/src/x"),
        file("src/x src/x", "src/x", "src/x"),
        file("a/x a/x", "a/x", "a/x"),
        file("before/x after/x", "before/x", "after/x"),
        "diff --git a/n a/n\nnew file mode 100644\n--- /dev/null\n+++ a/n\n@@ -0,0 +1 @@\n+x\n"
            .into(),
        "diff --git a/o b/o\nsimilarity index 100%\nrename from a/o\nrename to b/o\n".into(),
    ];
    check(
        &diff.concat(),
        expect![[r#"
            src/x -> src/x
              -1-1
              +1-1
            src/x -> src/x
              -1-1
              +1-1
            src/x -> src/x
              -1-1
              +1-1
            a/x -> a/x
              -1-1
              +1-1
            x -> x
              -1-1
              +1-1
            - -> a/n -->File
              +1-1
            a/o -> b/o Renamed
        "#]],
    );
}

#[test]
fn the_output_of_diff_without_git_is_read() {
    check(
        "diff -ruN old/src/x new/src/x\n\
         --- old/src/x\t2024-01-01 10:00:00.000000000 +0000\n+++ new/src/x\t2024-01-02 10:00:00.000000000 +0000\n@@ -1 +1 @@\n-a\n+b\n\
         --- a/n\t1970-01-01 00:00:00.000000000 +0000\n+++ b/n\t2024-01-02 10:00:00.000000000 +0000\n@@ -0,0 +1 @@\n+x\n\
         --- x.orig\t2024-01-01\n+++ x\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n\
         Only in new: y\nBinary files old/i.png and new/i.png differ\n",
        expect![[r#"
            src/x -> src/x
              -1-1
              +1-1
            - -> n
              +1-1
            x.orig -> x
              -1-1
              +1-1
            i.png -> i.png Binary
        "#]],
    );
}

#[test]
fn mail_text_around_a_diff_is_skipped() {
    check(
        "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\nrename from here\n@@ -1 +1 @@\n--- \nnew file mode 100644\n---\n x | 2 +-\n\n\
         diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.47.3\n\n\
         From 0124 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] y\n\nrename to there\n@@ -1 +1 @@\n+no line\n---\n\
         diff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n@@ -3 +3 @@\n-a\n+b\n-- \n2.47.3\n",
        expect![[r#"
            x -> x
              -1-1
              +1-1
            y -> y
              -3-3
              +3-3
        "#]],
    );
}

#[test]
fn a_merge_diff_is_marked_as_unread() {
    check(
        "diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n++@@ -1 +1 @@\n--- x\n +Y\n+ X\n\
         diff --combined \"g\\303\\244\"\nindex 1,2..3\n--- a/g\n+++ b/g\n@@@ -1 -1 +1 @@@\n++a\n\
         * Unmerged path h\n\
         diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        expect![[r#"
            f -> f Unread(Merge)
            gä -> gä Unread(Merge)
            h -> h Unread(Merge)
            x -> x
              -1-1
              +1-1
        "#]],
    );
}

#[test]
fn a_file_with_invalid_hunks_is_marked_as_broken() {
    check(
        "--- a/long\n+++ b/long\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/hidden\n+++ b/hidden\n@@ -1 +1 @@\n-a\n+b\n\
         --- a/huge\n+++ b/huge\n@@ -4294967295,4294967295 +4294967295,4294967295 @@\n-a\n+b\n\
         diff --git a/beyond b/beyond\n--- a/beyond\n+++ b/beyond\n@@ -1,4294967296 +1 @@\n-a\n\
         diff --git a/one b/other\nold mode 100644\nnew mode 100755\n\
         diff --git a/cut b/cut\n--- a/cut\n+++ b/cut\n@@ -1,2 +1,2 @@\n a\n",
        expect![[r#"
            long -> long Unread(Broken)
            huge -> huge Unread(Broken)
            beyond -> beyond Unread(Broken)
            - -> - Unread(Broken) File->Executable
            cut -> cut Unread(Broken)
        "#]],
    );
}

#[test]
fn a_note_of_binary_files_without_names_is_no_file() {
    check("Binary files differ\nBinary files x differ\n", expect![""]);
}

#[test]
fn line_ends_of_windows_change_nothing() {
    check(
        "diff --git a/x b/x\r\nindex 1..2 100755\r\n--- a/x\r\n+++ b/x\r\n@@ -1,3 +1,3 @@\r\n-a\r\n+b\r\n\r\n c\r\n",
        expect![[r#"
            x -> x
              -1-1
              +1-1
        "#]],
    );
}

#[test]
fn a_line_of_any_length_takes_bounded_memory() {
    let mut parser = Parser::default();
    parser.feed(b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-");
    for _ in 0..800 {
        parser.feed(&[b'x'; 64 << 10]);
        assert!(parser.partial.capacity() <= 2 * MAX_LINE);
    }
    parser.feed(b"\n+y\n+z\n");
    expect![[r#"
        x -> x
          -1-1
          +1-2
    "#]]
    .assert_eq(&show(&parser.finish()));
}

#[test]
fn a_file_with_a_name_that_is_too_long_is_marked_as_broken() {
    let long = "x".repeat(2 * MAX_LINE);
    let diff = format!("--- a/{long}\n+++ b/{long}\n@@ -1 +1 @@\n-a\n+b\n");
    assert_eq!(parse(diff.as_bytes())[0].content, Content::Unread(Unread::Broken));
}

#[test]
fn files_beyond_the_maximum_number_of_hunks_are_not_read() {
    let mut parser = Parser::default();
    parser.feed(b"--- a/few\n+++ b/few\n@@ -1 +1 @@\n-a\n+b\n--- a/many\n+++ b/many\n");
    for _ in 0..MAX_HUNKS_AND_RUNS {
        parser.feed(b"@@ -1 +1 @@\n-a\n+b\n");
    }
    parser.feed(b"--- a/more\n+++ b/more\n@@ -1 +1 @@\n-a\n+b\n");
    expect![[r#"
        few -> few
          -1-1
          +1-1
        many -> many Unread(TooMany)
        more -> more Unread(TooMany)
    "#]]
    .assert_eq(&show(&parser.finish()));
}

/// Generates lines that occur in diffs, in any order.
fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("diff --git a/x b/x"),
        Just("diff --cc x"),
        Just("--- a/x"),
        Just("+++ b/x"),
        Just("+++ /dev/null"),
        Just("@@ -1,2 +1,2 @@"),
        Just("@@ -0,0 +1,4294967295 @@"),
        Just("@@ -4294967295,4294967295 +1 @@"),
        Just("@@@ -1 -1 +1 @@@"),
        Just("+a"),
        Just("-a"),
        Just(" a"),
        Just(""),
        Just("\\ No newline at end of file"),
        Just("rename from \"x"),
        Just("copy to y"),
        Just("new file mode 120000"),
        Just("index 1..2 160000"),
        Just("Binary files a and b differ"),
        Just("Binary files  differ"),
        Just("Binary files differ"),
        Just("-- "),
        Just("diff --git \"a/\\37"),
        Just("old mode 1"),
        Just("* Unmerged path ../x"),
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n").into_bytes())
}

proptest! {
    #[test]
    fn parsing_any_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        parse(&bytes);
    }

    #[test]
    fn the_size_of_the_pieces_makes_no_difference(bytes in fragments(), size in 1usize..9) {
        let mut parser = Parser::default();
        bytes.chunks(size).for_each(|piece| parser.feed(piece));
        prop_assert_eq!(parser.finish(), parse(&bytes));
    }

    #[test]
    fn only_files_that_were_read_have_hunks(bytes in fragments()) {
        for file in parse(&bytes) {
            prop_assert!(file.hunks.is_empty() || matches!(file.content, Content::Text | Content::Link));
        }
    }
}
