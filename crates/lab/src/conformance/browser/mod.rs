//! Real browsers: every tool and command of the MCP server `electron`, and the page checks, on
//! Debian's Chromium and on Electron 9.4.1, whose Chrome 83 is the oldest that is supported.

mod client;
mod commands;
mod pages;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use assay_services::browser::{Endpoint, Product};
use assay_testenv::chromium::{self, PrivateChromium};
use assay_testenv::workspace::target_folder;
use assay_testkit::pages::{Answer, Pages};

use super::{Check, Outcome};
use crate::peers;
use crate::workspace;

const APP: &str = include_str!("app.html");

/// A page without any element that the commands need.
const EMPTY: &str = "<!doctype html><title>Nothing</title><p>nothing</p>";

const MAIN: &str = include_str!("main.js");

/// A browser under test.
struct Browser<'a> {
    name: &'a str,
    /// The required major version of Chrome; `None` for any supported version.
    version: Option<u32>,
    /// A shortcut that reaches the page: Chromium handles some shortcuts itself.
    shortcut: &'a str,
    endpoint: Endpoint,
}

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    workspace::assay()?;
    let mut checks = check("Chromium", None, "Ctrl+K", chromium);
    checks.extend(check("Electron 9.4.1", Some(Product::MIN_CHROME_VERSION), "Ctrl+N", electron));
    Ok(checks)
}

fn check(
    name: &str,
    version: Option<u32>,
    shortcut: &str,
    start: fn(&str) -> anyhow::Result<PrivateChromium>,
) -> Vec<Check> {
    println!("  {name}");
    let served = Pages::serve(
        [("/", APP), ("/nothing", EMPTY)]
            .map(|(path, text)| (path, Answer::Page(200, text.to_owned())))
            .into(),
    );
    let program = match start(&served.url("/")) {
        Ok(program) => program,
        Err(error) => return vec![(name.to_owned(), Outcome::unavailable(&error))],
    };
    let browser = Browser { name, version, shortcut, endpoint: Endpoint::local(program.port()) };
    judge(&browser, served)
}

fn judge(browser: &Browser<'_>, served: Pages) -> Vec<Check> {
    let checks = [
        ("its version is a supported one", is_version(browser)),
        ("every tool and command", commands::check(browser, &served.url("/"), 0)),
        (
            // Only a screenshot works on every page.
            "the harness: a page where nothing works is noticed",
            commands::check(browser, &served.url("/nothing"), commands::COUNT - 1),
        ),
        ("page checks", pages::check(browser.endpoint)),
    ];
    checks.map(|(what, result)| (format!("{}: {what}", browser.name), Outcome::of(result))).into()
}

fn is_version(browser: &Browser<'_>) -> anyhow::Result<()> {
    let product = browser.endpoint.supported_product()?;
    println!("    {} ({})", product.browser, product.user_agent);
    let found = product.chrome_version();
    ensure!(browser.version.is_none() || found == browser.version, "it is Chrome {found:?}");
    Ok(())
}

fn chromium(url: &str) -> anyhow::Result<PrivateChromium> {
    chromium::program().context(chromium::INSTALL_HINT)?;
    Ok(PrivateChromium::start(url))
}

/// Starts an Electron app on a virtual screen.
fn electron(url: &str) -> anyhow::Result<PrivateChromium> {
    let screen = find("xvfb-run").context("install Xvfb, such as by `apt-get install xvfb`")?;
    let program = peers::electron()?;
    let app = target_folder("conformance/browser/app")?;
    std::fs::write(app.join("main.js"), MAIN)?;
    std::fs::write(app.join("package.json"), r#"{"name": "specs", "main": "main.js"}"#)?;
    let args = [
        OsStr::new("-a"),
        program.as_os_str(),
        OsStr::new("--no-sandbox"),
        OsStr::new("--remote-debugging-port=0"),
        app.as_os_str(),
        OsStr::new(url),
    ];
    Ok(PrivateChromium::start_program(&screen, &args)?)
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|bin: PathBuf| bin.join(program));
    all.find(|file: &PathBuf| Path::is_file(file))
}
