//! The page of a validation loop.

use assay_base::percent::encode_segment;
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_engine::loop_page;
use assay_engine::loop_views::LoopDetailView;
use assay_engine::loop_views::round::LoopIssueView;
use assay_engine::loop_views::screenshot::ScreenshotView;
use assay_html::section::{prose, section};
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
        (section("decisions", "Sign-offs and decisions", &decisions(request, dashboard.user(), &detail)))
        (loop_page::criteria(&detail))
        (loop_page::rounds(&detail, &address))
        (loop_page::journal(&detail))
    };
    Ok(PageContent::new(format!("Loop {}", request.id), main))
}

/// Renders the decisions of persons, and a form for each decision that is missing.
fn decisions(request: &PageRequest, user: &str, detail: &LoopDetailView) -> Markup {
    let commands = loop_page::sign_off_commands(detail);
    let context = &request.context;
    html! {
        (loop_page::sign_offs(detail))
        @if detail.awaits_sign_off {
            (context.form("loop.sign-off", &request.id, &html! {
                div.form {
                    h3 { "Sign off the whole tree" }
                    (seen_tree(detail))
                    (signer(user))
                    button.main { "Sign off" }
                }
            }))
        }
        @for issue in detail.decidable() {
            (context.form("loop.sign-off", &request.id, &issue_fields(user, detail, issue)))
        }
        @if !commands.is_empty() {
            p.dim { "A decision is void as soon as the tree changes. On the command line:" }
            ul.plain { @for command in &commands { li { code { (command) } } } }
        }
    }
}

fn issue_fields(user: &str, detail: &LoopDetailView, issue: &LoopIssueView) -> Markup {
    html! {
        div.form {
            h3 { (prose(&issue.title)) }
            input type="hidden" name="for" value=(issue.title);
            (seen_tree(detail))
            (signer(user))
            label { "How did you verify it?"
                textarea name="because" rows="2" required maxlength="2000" {} }
            button.main { "Decide that this holds" }
        }
    }
}

/// Renders the hidden field with the tree that the page shows, so that no other tree is signed off.
fn seen_tree(detail: &LoopDetailView) -> Markup {
    html! { input type="hidden" name="tree" value=(detail.tree); }
}

/// Renders the field for the name of the person who decides.
pub(super) fn signer(user: &str) -> Markup {
    html! {
        label { "Your name" input name="by" required maxlength="200" value=(user); }
    }
}
