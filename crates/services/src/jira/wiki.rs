//! JIRA's wiki markup, the format of JIRA servers: [`write()`].

use super::markup::{Inline, MarkupBlock};

/// Characters with a meaning in wiki markup, such as in `[~name]`, which mentions a user.
const SPECIAL: [char; 11] = ['{', '}', '[', ']', '!', '*', '_', '^', '~', '|', '\\'];

/// Renders blocks as wiki markup.
pub(super) fn write(blocks: &[MarkupBlock]) -> String {
    blocks.iter().map(block).collect::<Vec<_>>().join("\n\n")
}

fn block(block: &MarkupBlock) -> String {
    match block {
        MarkupBlock::Paragraph(lines) => {
            lines.iter().map(|line| inlines(line)).collect::<Vec<_>>().join("\n")
        }
        MarkupBlock::Heading(level, line) => format!("h{level}. {}", inlines(line)),
        MarkupBlock::Bullets(items) => {
            items.iter().map(|item| format!("* {}", inlines(item))).collect::<Vec<_>>().join("\n")
        }
        MarkupBlock::Code { language, text } => {
            let language = language.as_deref().map(|name| format!(":{name}")).unwrap_or_default();
            // The text of a code block must not end it.
            let text = text.replace("{code", "{ code");
            format!("{{code{language}}}\n{text}\n{{code}}")
        }
    }
}

fn inlines(line: &[Inline]) -> String {
    line.iter().map(inline).collect()
}

fn inline(part: &Inline) -> String {
    match part {
        Inline::Text(text) => escape(text),
        Inline::Strong(text) => format!("*{}*", escape(text)),
        Inline::Code(text) => format!("{{{{{}}}}}", escape(text)),
        Inline::Link { text, url } if text == url => format!("[{url}]"),
        Inline::Link { text, url } => format!("[{}|{url}]", escape(text)),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if SPECIAL.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::markup;
    use super::*;

    #[test]
    fn mentions_images_and_macros_in_the_text_are_escaped() {
        let text = "# Review\nSee [the run](https://ci.example/1) by [~ada] !x.png!\n\n- `a[0]`\n- **no** {color}\n\n```rust\nlet a = \"{code}\";\n```\nhttps://a.example/x.";
        expect![[r#"
            h1. Review

            See [the run|https://ci.example/1] by \[\~ada\] \!x.png\!

            * {{a\[0\]}}
            * *no* \{color\}

            {code:rust}
            let a = "{ code}";
            {code}

            [https://a.example/x]."#]]
        .assert_eq(&write(&markup::parse(text)));
    }
}
