use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&shown(&read(text)));
}

fn shown(document: &Document<'_>) -> String {
    let mut out = String::new();
    for block in document.blocks() {
        let depth = document.around(block).count();
        write!(out, "{}{} ", "  ".repeat(depth), block.line).unwrap();
        match &block.kind {
            Kind::Heading(level) => write!(out, "h{level}").unwrap(),
            Kind::Paragraph => out += "text",
            Kind::Item { depth, number, is_ticked } => {
                write!(out, "item at {depth}").unwrap();
                number.iter().for_each(|number| write!(out, " number {number}").unwrap());
                is_ticked.iter().for_each(|it| write!(out, " ticked {it}").unwrap());
            }
            Kind::Quote => out += "quote",
            Kind::Code(Code { info, text, is_closed }) => {
                let open = if *is_closed { "" } else { " open" };
                write!(out, "code {info:?} {text:?}{open}").unwrap();
            }
            Kind::Table(Table { header, rows }) => {
                write!(out, "table {}", cells(header)).unwrap();
                for row in rows {
                    write!(out, ", {} {}", row.line, cells(&row.cells)).unwrap();
                }
            }
            Kind::Html(html) => write!(out, "html {html:?}").unwrap(),
            Kind::Rule => out += "rule",
            Kind::Definition => out += "definition",
        }
        let lines = match block.kind {
            Kind::Heading(_) | Kind::Paragraph | Kind::Definition => document.source_lines(block),
            _ => Vec::new(),
        };
        let lines: Vec<&str> = lines.iter().map(|line| line.text).collect();
        out += if lines.is_empty() { "" } else { ": " };
        out += &lines.join(" | ");
        out.push('\n');
    }
    out
}

fn cells(cells: &[Cell<'_>]) -> String {
    let words = |cell: &Cell<'_>| cell.iter().map(Inline::words).collect::<String>();
    cells.iter().map(words).collect::<Vec<_>>().join("/")
}

#[test]
fn blocks_have_their_line_numbers_and_are_nested() {
    check(
        "# A\n\nb\nc\n\nD *e*\n===\n\n- f\n  g\n  1. h\n  2) i\n\n     j\n\n---\n> k\n> - l\nm\n> \n> n\n",
        expect![[r#"
            1 h1: A
            3 text: b | c
            6 h1: D *e*
            9 item at 1
              9 text: f | g
              11 item at 2 number 1
                11 text: h
              12 item at 2 number 2
                12 text: i
                14 text: j
            16 rule
            17 quote
              17 text: k
              18 item at 1
                18 text: l | m
              21 text: n
        "#]],
    );
}

#[test]
fn a_check_box_has_a_blank_or_a_cross_and_no_text_directly_behind_it() {
    check(
        "- [ ] a\n- [x] b\n\n- [X]\n- [] c\n- [ ]d\n- [y] e\n1. [ ] f\n",
        expect![[r#"
            1 item at 1 ticked false
              1 text: [ ] a
            2 item at 1 ticked true
              2 text: [x] b
            4 item at 1 ticked true
              4 text: [X]
            5 item at 1
              5 text: [] c
            6 item at 1
              6 text: [ ]d
            7 item at 1
              7 text: [y] e
            8 item at 1 number 1 ticked false
              8 text: [ ] f
        "#]],
    );
}

#[test]
fn a_fence_ends_with_as_many_marks_in_the_same_list_or_quote() {
    check(
        "````rust a\n```\n    ````\n````\n~~~\nb\n    ~~~\n",
        expect![[r#"
            1 code Some("rust a") "```\n    ````\n"
            5 code Some("") "b\n    ~~~\n" open
        "#]],
    );
    check(
        "- a\n  ```\n  b\n```\n- c\n",
        expect![[r#"
            1 item at 1
              1 text: a
              2 code Some("") "b\n" open
            4 code Some("") "- c\n" open
        "#]],
    );
    check(
        "> ```\n> d\n> ```\n\n    e\n\n    f\n",
        expect![[r#"
            1 quote
              1 code Some("") "d\n"
            5 code None "e\n\nf\n"
        "#]],
    );
}

#[test]
fn a_table_ends_with_a_blank_line() {
    check(
        "a\n| b | `c|` |\n|--|--|\n| d \\| e | f | g |\nh\n\ni\n",
        expect![[r#"
            1 text: a | | b | `c|` | | |--|--| | | d \| e | f | g | | h
            7 text: i
        "#]],
    );
    check(
        "a\n| b | c |\n|--|--|\n| d \\| `e` | f | g |\nh\n\ni\n",
        expect![[r#"
            1 text: a
            2 table b/c, 4 d | e/f, 5 h/
            7 text: i
        "#]],
    );
}

#[test]
fn link_definitions_are_blocks() {
    check(
        "[a]: b.md 'c'\n[//]: # (- [ ] d)\n\ne [a]\n\n- [f]: g\n  h\n\n> [i]:\n> j\n",
        expect![[r#"
            1 definition: [a]: b.md 'c' | [//]: # (- [ ] d)
            4 text: e [a]
            6 item at 1
              6 definition: [f]: g
              7 text: h
            9 quote
              9 definition: [i]: | j
        "#]],
    );
    let document = read("[a]: <b c.md>\n[A]: d\n\n> [e]: f\n");
    let found: Vec<String> = document
        .definitions()
        .iter()
        .map(|it| format!("{} {} {}", it.line, it.label, it.target))
        .collect();
    assert_eq!(found, ["1 a b c.md", "4 e f"]);
}

#[test]
fn comments_are_found_in_html_and_not_in_code_or_escaped_text() {
    let text = "<!-- a --> b\nc <!-- d --> `<!-- e -->`\n\n<div>\n<!-- f\n-->\n</div>\n\n<!-->\ng\n\n\
                ```\n<!-- h -->\n```\n\\<!-- i -->\n\n<!-- j";
    let document = read(text);
    let found: Vec<&str> = document.comments().into_iter().map(|range| &text[range]).collect();
    assert_eq!(found, ["<!-- a -->", "<!-- d -->", "<!-- f\n-->", "<!-->", "<!-- j"]);
}

#[test]
fn front_matter_is_read_only_at_the_beginning() {
    let text = "\u{feff}---\ntitle: a\n---\n# B\n\n---\nc: d\n---\n";
    let document = read_with_front_matter(text);
    assert_eq!(document.front_matter(), "title: a\n");
    expect![[r#"
        4 h1: B
        6 rule
        7 h2: c: d
    "#]]
    .assert_eq(&shown(&document));
    assert_eq!(read(text).front_matter(), "");
    for none in ["---\n\na\n---\n", "---\n---\n", "---\na\n", " ---\na\n---\n", "a\n---\nb\n---\n"]
    {
        assert_eq!(read_with_front_matter(none).front_matter(), "", "{none}");
    }
}

#[test]
fn inline_elements_have_their_byte_ranges() {
    let text = "a **b [`c`](d.md \"e\")** <i> &amp; \\* ![f](g)\nh";
    let document = read(text);
    let parts = document.inlines().map(|inline| {
        let source = &text[inline.range.clone()];
        match &inline.kind {
            InlineKind::Text(text) => format!("{text:?} {source:?}"),
            InlineKind::Code(code) => format!("code {code:?} {source:?}"),
            InlineKind::Html(html) => format!("html {html:?}"),
            InlineKind::CheckBox => "box".to_owned(),
            InlineKind::Break => "break".to_owned(),
            InlineKind::Open { span, target } => format!("{span:?} {target:?} {source:?}"),
            InlineKind::Close(span) => format!("end of {span:?}"),
        }
    });
    expect![[r#"
        "a " "a "
        Strong "" "**b [`c`](d.md \"e\")**"
        "b " "b "
        Link "d.md" "[`c`](d.md \"e\")"
        code "c" "`c`"
        end of Link
        end of Strong
        " " " "
        html "<i>"
        " " " "
        "&" "&amp;"
        " " " "
        "* " "* "
        Image "g" "![f](g)"
        "f" "f"
        end of Image
        break
        "h" "h""#]]
    .assert_eq(&parts.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_text_that_is_nested_too_deep_is_given_line_by_line() {
    let deep = format!("{}a\n{}b\n", "> ".repeat(9_000), "\n".repeat(9_000));
    let document = read(&deep);
    let kinds: Vec<&Kind<'_>> = document.blocks().iter().map(|block| &block.kind).collect();
    assert_eq!(kinds, [&Kind::Paragraph, &Kind::Paragraph]);
    assert_eq!(first_too_deep(&deep), Some(1));
    assert_eq!(first_too_deep("> - > 1. a\n"), None);
}

#[test]
fn hostile_texts_are_read_in_time() {
    let deep: String = (0..2_000).map(|at| format!("{}- x\n", " ".repeat(at * 2))).collect();
    let texts = [
        deep.clone() + &"\n".repeat(100_000) + "y",
        format!("{}x\n{}y", "- ".repeat(100_000), "\n".repeat(100_000)),
        "> ".repeat(500_000) + "x",
        "```\n".repeat(200_001),
        "<!--\n".repeat(200_000),
        "a <!-- ".repeat(50_000),
        "[a]:\n".repeat(50_000),
        "[a]: b\n".repeat(50_000),
        "- [a]: b\n".repeat(20_000),
        "[a](".repeat(50_000),
        "`` ` ".repeat(50_000),
        "*a _b ".repeat(50_000),
        format!("{}\n{}\n{}", "|a".repeat(5_000), "|-".repeat(5_000), "|b\n".repeat(5_000)),
    ];
    for text in texts {
        let document = read(&text);
        document.comments();
        document.blocks().iter().for_each(|block| drop(document.source_lines(block)));
    }
}

/// The pieces from which hostile texts are built.
const PIECES: [&str; 44] = [
    "# ", "===\n", "---\n", "- ", "  ", "    ", "\t", "* ", "+ ", "1. ", "7) ", "> ", ">", "\n",
    "\n\n", "\r\n", "\r", "[ ] ", "[x]", "```", "~~~", "````\n", "`", "**", "_", "[", "]", "](",
    ")", "]: ", "|", "|-|-|\n", "<!--", "-->", "<div>", "</div>", "<", ">", "\\", "&amp;", "word",
    "ü", "\0", "\u{feff}",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..50).prop_map(|pieces| pieces.concat())
}

/// Checks the invariants of every document.
fn hold(text: &str, document: &Document<'_>) {
    let (mut before, mut in_leaves) = (0, 0);
    for (at, block) in document.blocks().iter().enumerate() {
        let source =
            text.get(block.range.clone()).expect("a block begins and ends between characters");
        assert!(before <= block.range.start, "blocks are in order");
        before = block.range.start;
        assert_eq!(block.line as usize, text[..block.range.start].matches('\n').count() + 1);
        if let Some(parent) = block.parent {
            assert!(parent < at, "a block comes behind the blocks around it");
            let around = &document.blocks()[parent];
            assert!(around.range.start <= block.range.start && block.range.end <= around.range.end);
            assert!(matches!(around.kind, Kind::Item { .. } | Kind::Quote));
        }
        let is_leaf = !matches!(block.kind, Kind::Item { .. } | Kind::Quote);
        if is_leaf {
            assert!(block.range.start >= in_leaves, "no byte is in two blocks");
            in_leaves = block.range.end;
        }
        for line in document.source_lines(block) {
            assert!(source.contains(line.text) && line.number >= block.line);
        }
        for inline in &block.inlines {
            assert!(block.range.start <= inline.range.start && inline.range.end <= block.range.end);
        }
    }
    for inline in document.inlines() {
        assert!(text.get(inline.range.clone()).is_some(), "a part is between characters");
    }
    for comment in document.comments() {
        assert!(text.get(comment).is_some(), "a comment is between characters");
    }
}

#[test]
fn an_item_behind_a_tab_begins_within_the_quote_around_it() {
    for text in ["1. >\t- ", "- >\t- word", ">\t>\t1. word", "- >\t\t* word\n"] {
        hold(text, &read(text));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_no_word_of_it_is_lost(text in hostile()) {
        let document = read(&text);
        hold(&text, &document);
        hold(&text, &read_with_front_matter(&text));
        let mut lines = String::new();
        for block in document.blocks() {
            match block.kind {
                Kind::Heading(_) | Kind::Paragraph | Kind::Table(_) | Kind::Definition => {
                    document.source_lines(block).iter().for_each(|line| lines += line.text);
                }
                Kind::Code(_) | Kind::Html(_) => lines += document.source(block),
                Kind::Item { .. } | Kind::Quote | Kind::Rule => {}
            }
        }
        prop_assert_eq!(lines.matches("word").count(), text.matches("word").count(), "{}", lines);
    }
}
