//! The page of a validation loop.

use assay_base::percent::encode_segment;
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_engine::loop_page;
use assay_engine::loop_views::LoopDetailView;
use assay_engine::loop_views::screenshot::ScreenshotView;
use assay_html::section::section;
use maud::{Markup, html};

use super::PageRequest;
use super::frame::PageContent;

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let detail = dashboard.loop_detail(&request.id)?;
    let id = encode_segment(&request.id);
    let address = |shown: &ScreenshotView| {
        Ok(format!("/loops/{id}/screenshots/{}/{}", shown.round, encode_segment(&shown.file)))
    };
    let main = html! {
        (loop_page::banner(&detail))
        (loop_page::overview(&detail))
        (section("decisions", "Sign-offs and decisions", &decisions(&detail)))
        (loop_page::criteria(&detail))
        (loop_page::rounds(&detail, &address))
        (loop_page::journal(&detail))
    };
    Ok(PageContent::new(format!("Loop {}", request.id), main))
}

fn decisions(detail: &LoopDetailView) -> Markup {
    let commands = loop_page::sign_off_commands(detail);
    html! {
        (loop_page::sign_offs(detail))
        @if !commands.is_empty() {
            p { "A person decides with:" }
            ul.plain { @for command in &commands { li { code { (command) } } } }
        }
    }
}
