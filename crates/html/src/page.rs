//! A page: [`HtmlPage`] has the layout, the theme and the content security policy.

use assay_findings::write::escape::escape_hidden;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use ring::digest::{SHA256, digest};

/// The style of all pages: colours as custom properties, for light and dark, phones and paper.
pub const THEME: &str = include_str!("assets/theme.css");

/// A link in the navigation of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavigationLink {
    /// The address, such as `#findings`.
    pub address: String,
    /// The text of the link.
    pub text: String,
    /// True if the link leads to the page that it is on.
    pub is_current: bool,
}

impl NavigationLink {
    /// Creates a link to another page, or to a part of the page.
    pub fn new(address: impl Into<String>, text: impl Into<String>) -> NavigationLink {
        NavigationLink { address: address.into(), text: text.into(), is_current: false }
    }
}

/// The requests that a page may send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PageRequests {
    /// No requests: the page is a file.
    #[default]
    Forbidden,
    /// Requests and forms to the server of the page.
    SameOrigin,
}

/// A page without external references. Styles and scripts are embedded, and the content security
/// policy allows these texts alone.
pub struct HtmlPage {
    /// The title of the page.
    pub title: String,
    /// The content of the header, beside the navigation.
    pub header: Markup,
    /// The links of the navigation; without links there is no navigation.
    pub navigation: Vec<NavigationLink>,
    /// The content.
    pub main: Markup,
    /// The content of the footer.
    pub footer: Markup,
    /// Styles in addition to the theme. A text must not contain `</style`.
    pub styles: Vec<&'static str>,
    /// Scripts, which run after the content is read. A text must not contain `</script`.
    pub scripts: Vec<&'static str>,
    /// The requests that scripts and forms may send.
    pub requests: PageRequests,
}

impl HtmlPage {
    /// Creates a page with a title and its content.
    pub fn new(title: impl Into<String>, main: Markup) -> HtmlPage {
        HtmlPage {
            title: title.into(),
            header: Markup::default(),
            navigation: Vec::new(),
            main,
            footer: Markup::default(),
            styles: Vec::new(),
            scripts: Vec::new(),
            requests: PageRequests::Forbidden,
        }
    }

    /// Returns the content security policy: the embedded texts by their hashes, and no other
    /// source.
    pub fn content_security_policy(&self) -> String {
        let styles = sources(std::iter::once(THEME).chain(self.styles.iter().copied()));
        let scripts = match self.scripts.is_empty() {
            true => "'none'".to_owned(),
            false => sources(self.scripts.iter().copied()),
        };
        let connect = match self.requests {
            PageRequests::Forbidden => "'none'",
            PageRequests::SameOrigin => "'self'",
        };
        let images = match self.requests {
            PageRequests::Forbidden => "data:",
            PageRequests::SameOrigin => "'self' data:",
        };
        format!(
            "default-src 'none'; style-src {styles}; script-src {scripts}; img-src {images}; \
             connect-src {connect}; base-uri 'none'; form-action {connect}"
        )
    }

    /// Returns the referrer policy. A browser that sends no referrer names no origin in forms.
    fn referrer_policy(&self) -> &'static str {
        match self.requests {
            PageRequests::Forbidden => "no-referrer",
            PageRequests::SameOrigin => "same-origin",
        }
    }

    /// Renders the page. Invisible characters in any text are shown as escapes.
    pub fn render(&self) -> String {
        let policy = self.content_security_policy();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content=(self.referrer_policy());
                    title { (self.title) }
                    style { (PreEscaped(THEME)) }
                    @for style in &self.styles { style { (PreEscaped(style)) } }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.top { (self.header) (navigation(&self.navigation)) }
                    main #content tabindex="-1" { (self.main) }
                    footer { (self.footer) }
                    @for script in &self.scripts { script { (PreEscaped(script)) } }
                }
            }
        };
        escape_hidden(&page.into_string()).into_owned() + "\n"
    }
}

fn navigation(links: &[NavigationLink]) -> Markup {
    html! {
        @if !links.is_empty() {
            nav aria-label="Parts" {
                @for link in links {
                    a href=(link.address) aria-current=[link.is_current.then_some("page")] {
                        (link.text)
                    }
                }
            }
        }
    }
}

/// Returns the sources of a policy that allow texts by their hashes.
fn sources(texts: impl Iterator<Item = &'static str>) -> String {
    let hashes = texts.map(|text| format!("'sha256-{}'", hash(text)));
    hashes.collect::<Vec<_>>().join(" ")
}

fn hash(text: &str) -> String {
    STANDARD.encode(digest(&SHA256, text.as_bytes()))
}
