//! The HTML page of a validation loop: [`render_loop`], one file that needs nothing else.

use std::cell::Cell;
use std::path::Path;

use assay_html::image::png_address;
use assay_html::page::{HtmlPage, NavigationLink};
use assay_html::section::section;
use maud::{Markup, html};

use crate::environment::Environment;
use crate::loop_page;
use crate::loop_session::SpecLocation;
use crate::loop_views::LoopDetailView;
use crate::loop_views::screenshot::{ScreenshotView, read_screenshot};
use crate::wording::count;

/// The maximum size of all screenshots of a page, in bytes.
const MAX_PICTURE_BYTES: usize = 16 << 20;

/// The page of a validation loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopReportPage {
    /// The name of the spec.
    pub spec: String,
    /// The status, the number of rounds and the number of met criteria, in words.
    pub summary: String,
    /// The page.
    pub html: String,
}

/// Renders the page of the loop of a spec, which is found by a prefix of its name. Fails if the
/// state of the loop cannot be read.
pub fn render_loop(
    environment: &Environment,
    folder: &Path,
    prefix: &str,
) -> anyhow::Result<LoopReportPage> {
    let place = SpecLocation::of(environment, folder, prefix)?;
    let spec = place.spec.name.clone();
    let detail = LoopDetailView::read(&spec, &place)?;
    let left = Cell::new(MAX_PICTURE_BYTES);
    let source = |shown: &ScreenshotView| {
        let bytes = read_screenshot(&place, shown).map_err(|error| error.to_string())?;
        embed(&bytes, &left)
    };
    let summary = summarize(&detail);
    let mut page = HtmlPage::new(format!("{spec}: {summary}"), content(&detail, &source));
    page.header = html! { p.name { "assay" } p.about { "Validation of " (spec) } };
    page.navigation = navigation();
    page.footer = html! { p { "Made by assay " (env!("CARGO_PKG_VERSION")) " from the journal of the loop." } };
    Ok(LoopReportPage { html: page.render(), spec, summary })
}

/// Returns the address of an embedded picture, unless the page has too many bytes of pictures.
fn embed(bytes: &[u8], left: &Cell<usize>) -> Result<String, String> {
    let rest = left.get().checked_sub(bytes.len()).ok_or_else(|| {
        format!("the screenshots of this page have more than {} MiB", MAX_PICTURE_BYTES >> 20)
    })?;
    left.set(rest);
    Ok(png_address(bytes))
}

fn content(detail: &LoopDetailView, source: loop_page::ScreenshotSource<'_>) -> Markup {
    let commands = loop_page::sign_off_commands(detail);
    html! {
        (loop_page::banner(detail))
        (loop_page::overview(detail))
        (loop_page::criteria(detail))
        (loop_page::rounds(detail, source))
        (section("decisions", "Sign-offs and decisions", &html! {
            (loop_page::sign_offs(detail))
            @if !commands.is_empty() {
                p { "A person decides with:" }
                ul.plain { @for command in &commands { li { code { (command) } } } }
            }
        }))
        (loop_page::journal(detail))
    }
}

fn summarize(detail: &LoopDetailView) -> String {
    let summary = &detail.summary;
    let status = loop_page::status_words(&summary.status).to_lowercase();
    let rounds = count(summary.rounds as usize, "round");
    format!("{status}, {rounds}, {} of {} criteria met", summary.criteria_met, summary.criteria)
}

fn navigation() -> Vec<NavigationLink> {
    [
        ("#criteria", "Criteria"),
        ("#rounds", "Rounds"),
        ("#decisions", "Decisions"),
        ("#journal", "Journal"),
    ]
    .map(|(address, text)| NavigationLink::new(address, text))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_session::tests::{LoopFixture, record_rounds};

    #[test]
    fn the_page_of_a_loop_has_its_rounds_and_embedded_screenshots_and_no_external_reference() {
        let fixture = LoopFixture::new();
        fixture.repository.write("greeting.txt", "hello\n");
        let picture = ".assay/qa/001-greeting/e2e/round-1/001-start.png";
        fixture.repository.write(picture, b"\x89PNG\r\n\x1a\nrest");
        record_rounds(&fixture.place("001"));
        let page = render_loop(&fixture.environment, fixture.repository.path(), "001").unwrap();
        assert_eq!(page.summary, "a person must act, 1 round, 1 of 2 criteria met");
        for text in [
            "<h3 class=\"title\">Round 1",
            "the button is missing",
            "met, decided by a person",
            "read it aloud",
            "src=\"data:image/png;base64,iVBORw0KGgpyZXN0\"",
            "img-src data:",
            "--for &quot;Criterion cannot be judged: it is short&quot;",
        ] {
            assert!(page.html.contains(text), "{text}\n{}", page.html);
        }
        assert!(!page.html.contains("src=\"/") && !page.html.contains("http://"), "{}", page.html);
    }

    #[test]
    fn screenshots_beyond_the_limit_of_a_page_are_named_and_left_out() {
        let left = Cell::new(5);
        assert!(embed(b"abc", &left).is_ok());
        assert!(embed(b"abc", &left).unwrap_err().contains("more than 16 MiB"));
        assert!(embed(b"ab", &left).is_ok());
    }
}
