//! Parts of a page: sections with headings, lists of facts, folded parts, tiles.

use maud::{Markup, html};

/// Renders a section with a heading of the second level. The section can be linked to by its id.
pub fn section(id: &str, heading: &str, content: &Markup) -> Markup {
    let label = format!("{id}-heading");
    html! {
        section.part id=(id) aria-labelledby=(label) {
            h2 id=(label) { (heading) }
            (content)
        }
    }
}

/// Renders a part that is folded until the reader opens it, with the number of its entries.
pub fn folded(summary: &str, entries: usize, content: &Markup) -> Markup {
    html! {
        details.folded {
            summary { (summary) " " span.count { (entries) } }
            (content)
        }
    }
}

/// Renders a path, or a place in a file. A long one is broken after a slash, not within a name.
pub fn path(text: &str) -> Markup {
    html! { @for part in text.split_inclusive('/') { (part) @if part.ends_with('/') { wbr; } } }
}

/// Renders facts as names and values.
pub fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
    }
}

/// Renders a time to the minute.
pub fn time(text: &str) -> Markup {
    let (day, clock) = text.split_once('T').unwrap_or((text, ""));
    let clock: String = clock.chars().take(5).collect();
    html! { time datetime=(text) title=(text) { (day) " " (clock) } }
}

/// Renders texts as a list.
pub fn list<T: AsRef<str>>(texts: &[T]) -> Markup {
    html! { ul.plain { @for text in texts { li { (text.as_ref()) } } } }
}

/// Renders a text with the parts between back-ticks as code. A back-tick without a partner stays.
pub fn prose(text: &str) -> Markup {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, code, after)) = split_code(rest) {
        parts.push((before, code));
        rest = after;
    }
    html! { @for (before, code) in parts { (before) code { (code) } } (rest) }
}

/// Splits a text at its first code on one line, which is not empty.
fn split_code(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('`')?;
        let end = open + 1 + text[open + 1..].find('`')?;
        let code = &text[open + 1..end];
        if !code.is_empty() && !code.contains('\n') {
            return Some((&text[..open], code, &text[end + 1..]));
        }
        from = end;
    }
}

/// Renders a number with its name and a remark, for a row of such tiles (class `tiles`).
pub fn tile(name: &str, figure: &str, remark: &Markup) -> Markup {
    html! {
        section.tile {
            h2 { (name) }
            p.figure { (figure) }
            p.remark { (remark) }
        }
    }
}

/// Returns an id for a part of a page: characters other than letters, digits, `-` and `_` are
/// replaced, so that a link to the part needs no escapes.
pub fn anchor(prefix: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    format!("{prefix}-{name}")
}
