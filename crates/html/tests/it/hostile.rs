//! Text of a change is shown and never becomes markup.

use assay_findings::verdict::VerdictState;
use assay_html::chart::{BarChart, ChartBar, HeatMap, HeatRow, PeriodChart, sparkline};
use assay_html::code::{CodeExcerpt, CodeLine, CodeLineKind};
use assay_html::filter::{FILTER_SCRIPT, ListFilter};
use assay_html::page::{HtmlPage, NavigationLink, PageRequests, THEME};
use assay_html::section::{anchor, facts, folded, list, path, prose, section, tile};
use assay_html::severity::{SeverityTone, badge};
use assay_html::table::{HtmlTable, TableColumn};
use assay_html::verdict_banner::VerdictBanner;
use base64::Engine as _;
use maud::html;
use proptest::prelude::*;
use ring::digest::{SHA256, digest};

/// Renders a page on which a text is used in every place that takes text.
fn page_with(text: &str) -> String {
    let line = CodeLine::new(CodeLineKind::Removed, 1, text);
    let bar = ChartBar { name: text, value: 1, tone: None };
    let row = HeatRow { name: text.to_owned(), values: vec![1] };
    let columns = [TableColumn::text(text)];
    let main = html! {
        (VerdictBanner { state: VerdictState::Ready, caveat: Some(text), reasons: vec![html! { (text) }] }.render())
        (badge(SeverityTone::Low, text))
        (CodeExcerpt { caption: text, lines: &[line, CodeLine::gap(text)] }.render())
        (HtmlTable { caption: text, columns: &columns, rows: vec![vec![html! { (text) }]] }.render())
        (sparkline(text, &[1]))
        (BarChart { label: text, bars: &[bar] }.render())
        (PeriodChart { label: text, periods: &[text.to_owned()], series: &[] }.render())
        (HeatMap { label: text, row_heading: text, columns: &[text], rows: &[row] }.render())
        (path(text))
        (ListFilter { entries: text, severities: &[] }.render())
        (section(&anchor("part", text), text, &folded(text, 1, &list(&[text]))))
        (facts(&[(text, html! { (text) })]))
        (tile(text, text, &html! { (text) }))
    };
    let mut page = HtmlPage::new(text, main);
    page.header = html! { p { (text) } };
    page.navigation = vec![NavigationLink::new("#a", text)];
    page.footer = html! { p { (text) } };
    page.scripts = vec![FILTER_SCRIPT];
    page.render()
}

/// Returns the tags of a page, by name, except for chances to break a path.
fn tags(page: &str) -> Vec<String> {
    let outside = page.replace(THEME, "").replace(FILTER_SCRIPT, "");
    let names = outside.replace("<wbr>", "");
    let names = names.split('<').skip(1);
    names
        .map(|tag| {
            tag.split(|c: char| !c.is_ascii_alphanumeric() && !"/!".contains(c))
                .next()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn hostile_text_adds_no_tag() {
    let plain = tags(&page_with("plain"));
    for text in [
        "<script>alert(1)</script>",
        "</title></style></script></pre><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "' onmouseover='alert(1)",
        "<!-- ]]> -->",
        "&lt;script&gt;",
    ] {
        let page = page_with(text);
        assert_eq!(tags(&page), plain, "{text}");
        assert!(!page.contains("<script>alert") && !page.contains("<img"), "{text}");
    }
}

#[test]
fn invisible_characters_are_shown_as_escapes() {
    let page = page_with("a\u{202e}b\0c\u{1b}[31md\u{200b}e\rf");
    assert!(page.contains("a\\u{202e}b\\u{0}c\\u{1b}[31md\\u{200b}e\\u{d}f"));
    for hidden in ['\u{202e}', '\0', '\u{1b}', '\u{200b}', '\r'] {
        assert!(!page.contains(hidden), "{hidden:?}");
    }
}

#[test]
fn a_page_has_no_external_reference() {
    let page = page_with("plain");
    for reference in ["http://", "https://", "url(", "@import", " src=", "<link", "<iframe", "//"] {
        let found = page.find(reference).map(|at| &page[at.saturating_sub(40)..at + 20]);
        assert_eq!(found, None, "{reference}");
    }
}

#[test]
fn the_policy_has_the_hashes_of_the_embedded_texts() {
    let page = page_with("plain");
    for (open, close, name) in
        [("<style>", "</style>", "style-src"), ("<script>", "</script>", "script-src")]
    {
        let text = page.split_once(open).unwrap().1.split_once(close).unwrap().0;
        let hash = digest(&SHA256, text.as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(hash);
        assert!(
            page.contains(&format!("{name} &#39;sha256-{hash}&#39;;"))
                || page.contains(&format!("{name} 'sha256-{hash}';")),
            "{name} {hash}"
        );
    }
    assert!(page.contains("default-src 'none'") || page.contains("default-src &#39;none&#39;"));
}

#[test]
fn a_page_without_scripts_allows_none_and_a_file_sends_no_request() {
    let mut page = HtmlPage::new("a", html! {});
    let policy = page.content_security_policy();
    assert!(policy.contains("script-src 'none'; img-src data:; connect-src 'none'"), "{policy}");
    page.requests = PageRequests::SameOrigin;
    assert!(page.content_security_policy().contains("connect-src 'self'"));
}

proptest! {
    #[test]
    fn any_text_leaves_the_tags_of_a_page_as_they_are(text in "\\PC{0,40}|[<>&\"'/!a-z \\x00-\\x1f]{0,40}") {
        prop_assert_eq!(tags(&page_with(&text)), tags(&page_with("plain")));
    }
    #[test]
    fn any_prose_has_no_tag_but_code(text in "\\PC{0,40}|[`<>&\"'/a \n]{0,40}") {
        let tags = tags(&prose(&text).0);
        prop_assert!(tags.iter().all(|tag| ["code", "/code"].contains(&tag.as_str())), "{:?}", tags);
    }
}
