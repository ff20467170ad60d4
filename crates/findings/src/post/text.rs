//! The text of findings in a body: readable, inert, and cut if there is no room.

use assay_base::markdown::{self, Document, Kind};
use assay_base::text::truncate;

use crate::write::escape;

/// A block of a reviewer's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    Paragraph(String),
    Item(String),
    /// An item of an ordered list.
    Numbered(u64, String),
    Code(String),
}

/// Text that was cut to fit.
#[derive(Debug, Default)]
pub(super) struct FittedText {
    pub(super) text: String,
    /// True if some of the text was cut.
    pub(super) is_cut: bool,
}

/// The minimum number of characters of a cut piece; shorter pieces are not readable.
const MIN_PIECE_CHARS: usize = 20;

/// The maximum nesting depth of quotes that is shown.
const MAX_QUOTE_DEPTH: usize = 3;

/// Splits a text into paragraphs, items of lists and code. A fence without an end extends to the
/// end of the text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let page = markdown::read(&text);
    let mut blocks = Vec::new();
    let mut item: Option<Option<u64>> = None;
    for block in page.blocks() {
        match &block.kind {
            Kind::Item { number, .. } => item = Some(*number),
            Kind::Quote | Kind::Rule => {}
            Kind::Code(code) => {
                item = None;
                let code = code.text.trim_end_matches('\n').to_owned();
                blocks.extend(Some(code).filter(|it| !it.trim().is_empty()).map(Block::Code));
            }
            Kind::Heading(_)
            | Kind::Paragraph
            | Kind::Table(_)
            | Kind::Html(_)
            | Kind::Definition => {
                let text = block_source(&page, block);
                if !text.is_empty() {
                    blocks.push(match item.take().filter(|_| block.parent.is_some()) {
                        Some(Some(number)) => Block::Numbered(number, text),
                        Some(None) => Block::Item(text),
                        None => Block::Paragraph(text),
                    });
                }
            }
        }
    }
    blocks
}

/// Returns the source of a block on one line. The marks of a heading and of quotes are included.
fn block_source(page: &Document<'_>, block: &markdown::Block<'_>) -> String {
    let source = page.source(block).trim();
    let is_marked = matches!(block.kind, Kind::Heading(_)) && source.starts_with('#');
    let lines = page.source_lines(block);
    let text = match is_marked {
        true => source.to_owned(),
        false => lines.iter().map(|line| line.text).collect::<Vec<_>>().join(" "),
    };
    let quotes = page.around(block).filter(|around| around.kind == Kind::Quote).count();
    "> ".repeat(quotes.min(MAX_QUOTE_DEPTH)) + &text
}

impl Block {
    pub(super) fn to_markdown(&self) -> String {
        match self {
            Block::Paragraph(text) => escape::escape_comment(text),
            Block::Item(text) => format!("- {}", escape::escape_comment(text)),
            Block::Numbered(number, text) => format!("{number}. {}", escape::escape_comment(text)),
            Block::Code(code) => escape::to_code_block(code),
        }
    }

    fn truncate(&self, most: usize) -> Block {
        match self {
            Block::Paragraph(text) => Block::Paragraph(truncate(text, most)),
            Block::Item(text) => Block::Item(truncate(text, most)),
            Block::Numbered(number, text) => Block::Numbered(*number, truncate(text, most)),
            Block::Code(code) => Block::Code(truncate(code, most)),
        }
    }

    fn char_count(&self) -> usize {
        let (Block::Paragraph(text)
        | Block::Item(text)
        | Block::Numbered(_, text)
        | Block::Code(text)) = self;
        text.chars().count()
    }

    /// Writes as much of the block as there is room for. The source is cut, so that no escape and
    /// no fence is cut in two.
    fn fit_within(&self, room: usize) -> FittedText {
        let whole = self.to_markdown();
        if whole.len() <= room {
            return FittedText { text: whole, is_cut: false };
        }
        let mut most = self.char_count().min(room);
        while most >= MIN_PIECE_CHARS {
            let text = self.truncate(most).to_markdown();
            if text.len() <= room {
                return FittedText { text, is_cut: true };
            }
            most = most * 3 / 4;
        }
        FittedText { text: String::new(), is_cut: true }
    }
}

/// Writes as many blocks as there is room for, in their order.
pub(super) fn fit(blocks: &[Block], room: usize) -> FittedText {
    let mut out = FittedText::default();
    let mut after_item = false;
    for block in blocks {
        let is_item = matches!(block, Block::Item(_) | Block::Numbered(..));
        let gap = match (out.text.is_empty(), after_item && is_item) {
            (true, _) => "",
            (false, true) => "\n",
            (false, false) => "\n\n",
        };
        let piece = block.fit_within(room.saturating_sub(out.text.len() + gap.len()));
        if !piece.text.is_empty() {
            out.text.push_str(gap);
            out.text.push_str(&piece.text);
        }
        if piece.is_cut {
            out.is_cut = true;
            break;
        }
        after_item = is_item;
    }
    out
}

/// The maximum length of a text for a tracker, in characters.
const MAX_DEFUSED_CHARS: usize = 160;

/// Breaks up text that trackers read as a mention, a macro, a link or an image.
pub(super) fn defuse(text: &str) -> String {
    let text = truncate(&escape::one_line(text), MAX_DEFUSED_CHARS);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        let opens = match (c, chars.peek()) {
            ('{' | '@' | '!', Some(next)) => next.is_alphanumeric() || *next == '[',
            ('[', Some(next)) => "~^".contains(*next),
            (']', Some(next)) => "([".contains(*next),
            (':', Some(next)) => *next == '/',
            _ => false,
        };
        if opens {
            out.push(' ');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, room: usize, expected: Expect) {
        let fitted = fit(&blocks(text), room);
        assert!(fitted.text.len() <= room);
        let cut = if fitted.is_cut { "\n(cut)" } else { "" };
        expected.assert_eq(&format!("{}{cut}", fitted.text));
    }

    #[test]
    fn paragraphs_lists_and_code_are_preserved() {
        check(
            "One\nline.\n\n- a *b*\n  more\n- c\n```rust\nlet a = \"```\";\n~~~\n```\nend",
            1_000,
            expect![[r#"
                One line.

                - a \*b\* more
                - c

                ````
                let a = "```";
                ~~~
                ````

                end"#]],
        );
    }

    #[test]
    fn an_unclosed_fence_is_closed() {
        check(
            "a\n~~~~\n</details>\n~~~",
            1_000,
            expect![[r#"
            a

            ```
            </details>
            ~~~
            ```"#]],
        );
    }

    #[test]
    fn numbered_lists_and_indented_code_are_preserved_and_other_markup_is_escaped() {
        check(
            "# Why\n3. a\n   b\n4. c\n\n> d\n> - e\n\n    <f>\n\n[g]: h\n\n```a```\n<!-- i\n-->",
            1_000,
            expect![[r#"
                \#&#8203; Why

                3. a b
                4. c

                \> d

                - \> e

                ```
                <f>
                ```

                \[g\]: h

                \`\`\`a\`\`\`

                &lt;\!-- i -->"#]],
        );
    }

    #[test]
    fn no_cut_goes_through_an_escape_or_a_fence() {
        check(
            &"@".repeat(100),
            200,
            expect![[r#"
                @&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;@&#8203;…
                (cut)"#]],
        );
        check(
            &format!("```\n{}\n```", "ä".repeat(100)),
            60,
            expect![[r#"
                ```
                ääääääääääääääääääääääää…
                ```
                (cut)"#]],
        );
    }
}
