//! HTML pages that need no network: layout, theme and components.
//!
//! - [`page`]: [`page::HtmlPage`] is a whole page with its content security policy.
//! - [`severity`]: the badge of a severity. [`verdict_banner`]: a verdict with its reasons.
//! - [`code`]: code with line numbers, marked lines, and changes as hunks. [`trace`]: the way of a
//!   value through the code.
//! - [`table`]: tables that stay readable on a phone. [`chart`]: charts as inline SVG.
//! - [`filter`]: the filter of a list. [`section`]: headings, facts and folded parts. [`image`]:
//!   embedded pictures. [`number`]: numbers with grouped digits.
//!
//! A component returns `maud::Markup`, in which every text is escaped. Invisible characters are
//! escaped by [`page::HtmlPage::render`] alone, so that a page never contains one. Redaction of
//! credentials and the choice of content belong to the caller.

pub mod chart;
pub mod code;
pub mod filter;
pub mod image;
pub mod number;
pub mod page;
pub mod section;
pub mod severity;
pub mod table;
pub mod trace;
pub mod verdict_banner;
