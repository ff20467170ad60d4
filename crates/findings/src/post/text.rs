//! Text of findings in a body: kept readable, made harmless, and cut where there is no room.

use assay_base::text::truncate;

use crate::write::plain;

/// A stretch of somebody's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    Paragraph(String),
    Item(String),
    Code(String),
}

/// Text that was made to fit.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    pub(super) text: String,
    /// Whether some of it had to go.
    pub(super) is_cut: bool,
}

/// Shorter pieces tell nothing.
const LEAST: usize = 20;

/// Tells paragraphs, items of lists and code apart. A fence that is never closed goes to the end.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(fence) = fence_of(line) {
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| !closes(line.trim(), fence)).collect();
            blocks.extend(Some(code.join("\n")).filter(|c| !c.trim().is_empty()).map(Block::Code));
            is_open = false;
            continue;
        }
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
        match (item, blocks.last_mut().filter(|_| is_open)) {
            (Some(item), _) => blocks.push(Block::Item(item.to_owned())),
            (None, _) if line.is_empty() => {}
            (None, Some(Block::Paragraph(open) | Block::Item(open))) => {
                open.push(' ');
                open.push_str(line);
            }
            (None, _) => blocks.push(Block::Paragraph(line.to_owned())),
        }
        is_open = !line.is_empty();
    }
    blocks
}

fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    // Back-ticks later on the line make it code within a text.
    (length >= 3 && !(mark == '`' && line[length..].contains('`'))).then(|| &line[..length])
}

fn closes(line: &str, fence: &str) -> bool {
    line.starts_with(fence) && line.trim_start_matches(&fence[..1]).is_empty()
}

impl Block {
    pub(super) fn written(&self) -> String {
        match self {
            Block::Paragraph(text) => plain::comment(text),
            Block::Item(text) => format!("- {}", plain::comment(text)),
            Block::Code(code) => plain::fenced(code),
        }
    }

    fn shortened(&self, most: usize) -> Block {
        match self {
            Block::Paragraph(text) => Block::Paragraph(truncate(text, most)),
            Block::Item(text) => Block::Item(truncate(text, most)),
            Block::Code(code) => Block::Code(truncate(code, most)),
        }
    }

    fn characters(&self) -> usize {
        let (Block::Paragraph(text) | Block::Item(text) | Block::Code(text)) = self;
        text.chars().count()
    }

    /// Writes as much of it as there is room for. What is cut is the source, so that no escape and
    /// no fence is cut in two.
    fn within(&self, room: usize) -> Fitted {
        let whole = self.written();
        if whole.len() <= room {
            return Fitted { text: whole, is_cut: false };
        }
        let mut most = self.characters().min(room);
        while most >= LEAST {
            let text = self.shortened(most).written();
            if text.len() <= room {
                return Fitted { text, is_cut: true };
            }
            most = most * 3 / 4;
        }
        Fitted { text: String::new(), is_cut: true }
    }
}

/// Writes as many blocks as there is room for, in their order.
pub(super) fn fitted(blocks: &[Block], room: usize) -> Fitted {
    let mut out = Fitted::default();
    let mut after_item = false;
    for block in blocks {
        let is_item = matches!(block, Block::Item(_));
        let gap = match (out.text.is_empty(), after_item && is_item) {
            (true, _) => "",
            (false, true) => "\n",
            (false, false) => "\n\n",
        };
        let piece = block.within(room.saturating_sub(out.text.len() + gap.len()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, room: usize, expected: Expect) {
        let fitted = fitted(&blocks(text), room);
        assert!(fitted.text.len() <= room);
        let cut = if fitted.is_cut { "\n(cut)" } else { "" };
        expected.assert_eq(&format!("{}{cut}", fitted.text));
    }

    #[test]
    fn paragraphs_lists_and_code_stay_what_they_are() {
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
    fn a_fence_that_nobody_closes_is_closed() {
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
