//! Extracts links, headings and code in back-ticks from a Markdown page.

use std::collections::{HashMap, HashSet};

use assay_base::markdown::{self, Inline, InlineKind, Kind, Span};

/// Maximum length of a link target, in characters; a longer one is ignored.
const MAX_TARGET: usize = 500;

/// Returns the code in back-ticks on a page, each with its line.
pub(crate) fn code_spans(text: &str) -> Vec<(u32, String)> {
    let page = markdown::read(text);
    let code = page.inlines().filter_map(|inline| match &inline.kind {
        InlineKind::Code(code) => Some((page.line_at(inline.range.start), code.trim().to_owned())),
        _ => None,
    });
    code.collect()
}

/// Returns the targets of the links and images of a page, each with its line. A reference counts at
/// its definition. A target with a blank is no link in Markdown, but its first word is returned:
/// the author meant a link. On a page that is nested too deep, every `](` counts.
pub(crate) fn links(text: &str) -> Vec<(u32, String)> {
    let page = markdown::read(text);
    if page.is_flat() {
        let lines = text.lines().zip(1..);
        let targets = |line: &str| -> Vec<String> {
            line.split("](").skip(1).filter_map(target_of).map(str::to_owned).collect()
        };
        return lines
            .flat_map(|(line, number)| targets(line).into_iter().map(move |it| (number, it)))
            .collect();
    }
    let meant = page.inlines().filter_map(|inline| {
        let is_bracket =
            matches!(inline.kind, InlineKind::Text(_)) && text[inline.range.clone()].ends_with(']');
        let behind = text[inline.range.end..].strip_prefix('(').filter(|_| is_bracket)?;
        Some((page.line_at(inline.range.start), target_of(behind)?.to_owned()))
    });
    let is_reference = |inline: &Inline<'_>| text[inline.range.clone()].ends_with(']');
    let inline = page.inlines().filter_map(|inline| match &inline.kind {
        InlineKind::Open { span: Span::Link | Span::Image, target } if !is_reference(inline) => {
            Some((page.line_at(inline.range.start), target.to_string()))
        }
        _ => None,
    });
    let defined = page.definitions().iter().filter(|it| !it.label.starts_with('^'));
    let defined = defined.map(|it| (it.line, it.target.to_string()));
    let is_target = |target: &str| !target.is_empty() && target.chars().count() <= MAX_TARGET;
    let mut links: Vec<_> =
        inline.chain(meant).chain(defined).filter(|(_, it)| is_target(it)).collect();
    links.sort_by_key(|(line, _)| *line);
    links
}

/// Returns the first word of a target, up to its closing bracket on the same line; `None` if there
/// is none.
fn target_of(behind: &str) -> Option<&str> {
    let (target, _) = behind.lines().next()?.split_once(')')?;
    target.split_whitespace().next()
}

/// Returns the anchors of a page, in lower case: those of its headings, and explicit ones.
pub(crate) fn anchors(text: &str) -> HashSet<String> {
    let page = markdown::read(text);
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut anchors = HashSet::new();
    if page.is_flat() {
        let lines = text.lines().map(|line| line.trim_start_matches([' ', '\t', '>']));
        anchors.extend(
            lines
                .filter(|line| line.starts_with('#'))
                .map(|line| slug(line.trim_matches(['#', ' ']))),
        );
        return anchors;
    }
    for block in page.blocks() {
        match &block.kind {
            Kind::Heading(_) => {
                let words: String = block.inlines.iter().map(Inline::words).collect();
                let slug = slug(&words);
                let times = seen.entry(slug.clone()).or_default();
                anchors.insert(if *times == 0 { slug } else { format!("{slug}-{times}") });
                *times += 1;
            }
            Kind::Html(html) => anchors.extend(given(&without_comments(html), &ATTRIBUTES)),
            _ => {}
        }
    }
    for inline in page.inlines() {
        match &inline.kind {
            InlineKind::Html(html) => anchors.extend(given(html, &ATTRIBUTES)),
            InlineKind::Text(text) => anchors.extend(given(text, &[("{#", '}')])),
            _ => {}
        }
    }
    anchors
}

/// The text around a name in an HTML attribute.
const ATTRIBUTES: [(&str, char); 2] = [("id=\"", '"'), ("name=\"", '"')];

/// Returns the explicit anchors in a piece of a page, in lower case: `<a id="x">`, `<a name="x">`,
/// `{#x}`.
fn given(piece: &str, around: &[(&str, char)]) -> Vec<String> {
    let mut names = Vec::new();
    if piece.starts_with("<!--") {
        return names;
    }
    for (open, close) in around {
        let parts = piece.split(open).skip(1);
        names.extend(parts.filter_map(|part| Some(part.split_once(*close)?.0.to_lowercase())));
    }
    names
}

fn without_comments(html: &str) -> String {
    let mut kept = String::new();
    let mut at = 0;
    for comment in markdown::comments_of(html) {
        kept.push_str(&html[at..comment.start]);
        at = comment.end;
    }
    kept + &html[at..]
}

/// Returns the anchor of a heading: letters in lower case, digits, and `-` for blanks.
fn slug(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let page = "[a](b.md \"T\") ![i](i.png) `[no](no.md)`\n```\n[no](no.md)\n```\n[r]: <c d.md>\n\
                    [`code`](e.md#x) [w](f_(g).md)\n[^1]: note\n";
        let found: Vec<String> = links(page).into_iter().map(|(n, t)| format!("{n} {t}")).collect();
        assert_eq!(found, ["1 b.md", "1 i.png", "5 c d.md", "6 e.md#x", "6 f_(g).md"]);
    }

    #[test]
    fn heading_anchors_are_derived_from_their_text() {
        let page = "# The `Plan`: a [first](x.md) Look!\n\nSet & Off\n====\n## Same\n## Same\n\
                    ```\n# no\n```\n<a id=\"own\"></a>\n### Named {#mine}\n";
        let mut found: Vec<String> = anchors(page).into_iter().collect();
        found.sort();
        let wanted =
            ["mine", "named-mine", "own", "same", "same-1", "set--off", "the-plan-a-first-look"];
        assert_eq!(found, wanted);
    }

    #[test]
    fn comments_and_code_yield_no_links_or_anchors() {
        let page = "    [no](no.md) `no`\n\n<!-- [no](no.md)\n`no` <a id=\"no\"> -->\n\n- a\n\n      # no\n\n\
                    `` [no](no.md) ` `` [a][r] <a@b.example>\n\n[r]: there.md\n[R]: no.md\n\n#no\n";
        let links: Vec<String> = links(page).into_iter().map(|(n, t)| format!("{n} {t}")).collect();
        assert_eq!(links, ["10 mailto:a@b.example", "12 there.md"]);
        assert_eq!(code_spans(page), [(10, "[no](no.md) `".to_owned())]);
        assert!(anchors(page).is_empty());
    }

    #[test]
    fn a_link_target_with_a_space_is_found_up_to_the_space() {
        let page = "[guide](my guide.md) `[no](no no.md)` a] (b c)\n";
        assert_eq!(links(page), [(1, "my".to_owned())]);
    }

    #[test]
    fn links_and_headings_are_found_in_a_page_that_is_nested_too_deep() {
        let page = format!("{}\n{}# Here\n[a](b.md)\n", "> ".repeat(9_000), "x\n".repeat(9_000));
        assert_eq!(links(&page), [(9_003, "b.md".to_owned())]);
        assert!(anchors(&page).contains("here"));
    }

    #[test]
    fn reading_hostile_pages_terminates() {
        for page in
            ["`".repeat(200_000), "[](".repeat(30_000), "](".repeat(30_000), "`` `".repeat(50_000)]
        {
            links(&page);
            code_spans(&page);
            anchors(&page);
        }
    }
}
