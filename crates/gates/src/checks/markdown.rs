//! The targets on a page of Markdown: links, headings, and code in back-ticks.

use std::collections::{HashMap, HashSet};

use assay_base::text::first_chars;

/// Longer targets of links are none.
const MAX_TARGET: usize = 500;

/// A place in a page, and what stands there.
pub(crate) type At<'t> = (u32, &'t str);

/// Returns the lines of a page that are prose, outside its fences, each with its number.
pub(crate) fn prose(text: &str) -> Vec<At<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let mut prose = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        let trimmed = line.trim_start();
        let sign = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = sign.map_or(0, |sign| trimmed.chars().take_while(|c| *c == sign).count());
        match (fence, sign) {
            (Some((open, length)), _) => {
                let closes =
                    sign == Some(open) && run >= length && trimmed[run..].trim().is_empty();
                fence = if closes { None } else { fence };
            }
            (None, Some(sign)) if run >= 3 && !trimmed[run..].contains('`') => {
                fence = Some((sign, run));
            }
            (None, _) => prose.push((number, line)),
        }
    }
    prose
}

/// Splits a line into what stands in single back-ticks and what does not.
fn spans(line: &str) -> (Vec<&str>, String) {
    let (mut code, mut rest, mut text) = (Vec::new(), line, String::new());
    while let Some(start) = rest.find('`') {
        text.push_str(&rest[..start]);
        let run = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let body = &rest[start + run..];
        let ticks = &rest[start..start + run];
        let Some(end) = body.find(ticks) else {
            text.push_str(ticks);
            rest = body;
            continue;
        };
        code.push(body[..end].trim());
        // Something has to be left, so that links around code stay links.
        text.push('x');
        rest = &body[end + run..];
    }
    text.push_str(rest);
    (code, text)
}

/// Returns what stands in back-ticks in prose.
pub(crate) fn code_spans(text: &str) -> Vec<At<'_>> {
    let prose = prose(text).into_iter();
    prose
        .flat_map(|(number, line)| spans(line).0.into_iter().map(move |code| (number, code)))
        .collect()
}

/// Returns the targets of the links and images of a page.
pub(crate) fn links(text: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let (_, line) = spans(line);
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            found.extend(destination(rest).map(|target| (number, target.to_owned())));
        }
        let definition = line.trim_start().strip_prefix('[').and_then(|d| d.split_once("]:"));
        if let Some((name, target)) = definition
            && !name.starts_with('^')
            && !name.contains(['[', ']'])
        {
            found.extend(destination(target.trim_start()).map(|t| (number, t.to_owned())));
        }
    }
    found
}

/// Takes the target off the beginning of what stands in the brackets of a link.
fn destination(text: &str) -> Option<&str> {
    let (inner, is_quoted) = match text.strip_prefix('<') {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let mut open = 0;
    let ends = |c: char| match is_quoted {
        true => c == '>',
        false => {
            open += i32::from(c == '(') - i32::from(c == ')');
            open < 0 || c.is_whitespace()
        }
    };
    // Nobody links that far, and whoever tries must not keep us.
    let near = first_chars(inner, MAX_TARGET);
    let end = near.find(ends).or_else(|| (near.len() == inner.len()).then_some(near.len()))?;
    (end > 0).then_some(&near[..end])
}

/// Returns the names under which the headings of a page can be linked to, and those that it gives
/// itself, in small letters.
pub(crate) fn anchors(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut anchors = HashSet::new();
    let mut before = "";
    for (_, line) in prose(text) {
        let hashes = line.len() - line.trim_start_matches('#').len();
        let is_underline = |sign: char| {
            let line = line.trim_end();
            !line.is_empty() && line.chars().all(|c| c == sign)
        };
        let heading = match hashes {
            1..=6 => Some(line.trim_start_matches('#').trim_end_matches('#')),
            _ if is_underline('=') || is_underline('-') => Some(before),
            _ => None,
        };
        if let Some(heading) = heading {
            let slug = slug(heading);
            let times = seen.entry(slug.clone()).or_default();
            anchors.insert(if *times == 0 { slug } else { format!("{slug}-{times}") });
            *times += 1;
        }
        anchors.extend(given(line).into_iter().map(|name| name.to_lowercase()));
        before = line;
    }
    anchors
}

/// Returns the names that a line gives itself: `<a id="x">`, `<a name="x">`, `{#x}`.
fn given(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (open, close) in [("id=\"", '"'), ("name=\"", '"'), ("{#", '}')] {
        let parts = line.split(open).skip(1);
        names.extend(parts.filter_map(|part| Some(part.split_once(close)?.0.to_owned())));
    }
    names
}

/// Returns a heading as it is linked to: small letters, digits, and `-` for blanks.
fn slug(heading: &str) -> String {
    let mut said = String::new();
    let mut rest = heading.trim();
    // Of a link only its text is left.
    while let Some((before, link)) = rest.split_once("](") {
        said.push_str(before);
        rest = link.split_once(')').map_or("", |(_, rest)| rest);
    }
    said.push_str(rest);
    let kept = said.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
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
    fn headings_are_linked_to_by_their_letters() {
        let page = "# The `Plan`: a [first](x.md) Look!\n\nSet & Off\n====\n## Same\n## Same\n\
                    ```\n# no\n```\n<a id=\"own\"></a>\n### Named {#mine}\n";
        let mut found: Vec<String> = anchors(page).into_iter().collect();
        found.sort();
        let wanted =
            ["mine", "named-mine", "own", "same", "same-1", "set--off", "the-plan-a-first-look"];
        assert_eq!(found, wanted);
    }

    #[test]
    fn hostile_pages_end() {
        for page in
            ["`".repeat(200_000), "[](".repeat(30_000), "](".repeat(30_000), "`` `".repeat(50_000)]
        {
            links(&page);
            code_spans(&page);
            anchors(&page);
        }
    }
}
