//! Tests of the diffs, links and lines of a plan, and of texts that are no plan.

use assay_gates::plan;
use expect_test::expect;

use super::check;

#[test]
fn diffs_are_recognized_by_their_fence_or_their_first_lines() {
    check(
        "\
```diff
--- a/x
+++ b/x
```
## M1: A
~~~patch
+a
~~~
- item
  ```
  diff --git a/y b/y
  new file mode 100644
  --- /dev/null
  +++ b/y
  @@ -0,0 +1 @@
  +a
  ```
```
--- no diff
```
```rust
+++ x
```
",
        expect![[r#"
            M1: A (line 5)
              files: y
              new: y
              diff 7: "+a\n"
              diff 11: "diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+a\n"
            diff 2: "--- a/x\n+++ b/x\n"
        "#]],
    );
}

#[test]
fn links_outside_code_are_kept_with_their_lines() {
    check(
        "\
[a](x.md) `[b](y.md)`

![c](z.png)
[d][ref] <https://e.org>

```
[f](g.md)
```
> [q](quoted.md)

[ref]: h.md#i
",
        expect![[r#"
            link 1: x.md
            link 3: z.png
            link 4: h.md#i
            link 4: https://e.org
            link 9: quoted.md
        "#]],
    );
}

#[test]
fn line_numbers_are_right_with_carriage_returns_tabs_and_a_byte_order_mark() {
    check(
        "\u{feff}# Plan\r\n\r\n## M1: A\r\n\tcode\r\n\r\n**Acceptance criteria**:\r\n\r\n-\tone\r\n-\ttwo\r\n",
        expect![[r#"
            M1: A (line 3)
              criterion 8: one
              criterion 9: two
        "#]],
    );
}

#[test]
fn front_matter_and_quotes_and_comments_are_not_part_of_the_plan() {
    check(
        "\
---
title: M1: x
---
# Plan
> ## M9: quoted
> - x

<!-- ## M8: hidden -->
## M1: A
```
## M7: code
```
",
        expect![[r#"
            M1: A (line 9)
        "#]],
    );
}

#[test]
fn an_empty_plan_can_be_read() {
    check("", expect![[""]]);
    check("\u{feff}", expect![[""]]);
}

#[test]
fn invalid_utf8_and_too_deeply_nested_plans_are_refused() {
    let error = |bytes: &[u8]| plan::read("p.md", bytes).unwrap_err().to_string();
    expect!["the plan `p.md` is not valid UTF-8 at byte 3"].assert_eq(&error(b"## \xff"));
    let deep = format!("# a\n{}x\n", "> ".repeat(200));
    expect!["line 2 of the plan `p.md` is nested deeper than 100 lists or quotes"]
        .assert_eq(&error(deep.as_bytes()));
    let list = format!("{}- x\n", " ".repeat(300));
    expect!["line 1 of the plan `p.md` is nested deeper than 100 lists or quotes"]
        .assert_eq(&error(list.as_bytes()));
}
