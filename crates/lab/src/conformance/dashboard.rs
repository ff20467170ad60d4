//! The pages of `assay serve`, checked for accessibility by axe-core in Chromium: light and dark, on
//! a wide screen and on a phone, with data and without.
//!
//! A picture of each page is stored below `target/conformance/dashboard`.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use assay_testenv::chromium;
use assay_testenv::workspace::target_folder;
use assay_testkit::dashboard::DashboardFixture;
use assay_testkit::devtools::{BrowserTab, TabOptions, TestBrowser};
use serde_json::Value;

use super::{Check, Outcome};
use crate::{peers, workspace};

/// The screens on which pages are checked.
const SCREENS: [(&str, TabOptions); 4] = [
    ("light", TabOptions { width: 1440, is_dark: false, runs_scripts: true }),
    ("dark", TabOptions { width: 1440, is_dark: true, runs_scripts: true }),
    ("phone-light", TabOptions { width: 390, is_dark: false, runs_scripts: true }),
    ("phone-dark", TabOptions { width: 390, is_dark: true, runs_scripts: true }),
];

/// The pages of a repository without reviews and tasks.
const EMPTY_PAGES: [&str; 10] = [
    "/", "/runs", "/findings", "/loops", "/gates", "/reviewers", "/spend", "/audit", "/api",
    "/tasks/unknown",
];

/// Runs axe-core in a page, and returns the violations with their elements as text.
const RUN_AXE: &str = "axe.run(document, { resultTypes: ['violations'] }).then((result) => \
    result.violations.map((it) => `${it.id} (${it.impact}): ` + \
    it.nodes.map((node) => node.target.join(' ') + ': ' + node.any.concat(node.all, node.none) \
    .map((check) => check.message).join(', ')).slice(0, 4).join('; ')))";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let program = workspace::assay()?;
    let axe = match axe_core() {
        Ok(axe) => axe,
        Err(error) => return Ok(vec![("axe-core".to_owned(), Outcome::unavailable(&error))]),
    };
    let pictures = target_folder("conformance/dashboard")?;
    let browser = TestBrowser::start();
    let with_data = DashboardFixture::with_data(&program);
    let paths: Vec<String> = with_data.pages().into_iter().map(|page| page.path).collect();
    let mut suite = AxeSuite { browser: &browser, axe, pictures, checks: Vec::new() };
    suite.check("data", &with_data, &paths)?;
    let without_data = DashboardFixture::without_data(&program);
    suite.check("empty", &without_data, &EMPTY_PAGES.map(str::to_owned))?;
    Ok(suite.checks)
}

/// Returns the script of axe-core.
fn axe_core() -> anyhow::Result<String> {
    chromium::program().context(chromium::INSTALL_HINT)?;
    let script = peers::axe_core()?.join("node_modules/axe-core/axe.min.js");
    fs::read_to_string(&script).with_context(|| format!("could not read `{}`", script.display()))
}

struct AxeSuite<'a> {
    browser: &'a TestBrowser,
    axe: String,
    pictures: PathBuf,
    checks: Vec<Check>,
}

impl AxeSuite<'_> {
    /// Checks the page to sign in and all given pages on all screens.
    fn check(
        &mut self,
        name: &str,
        fixture: &DashboardFixture,
        paths: &[String],
    ) -> anyhow::Result<()> {
        for (screen, options) in SCREENS {
            let folder = self.pictures.join(format!("{name}-{screen}"));
            fs::create_dir_all(&folder)?;
            let tab = self.browser.tab(options);
            tab.open(&fixture.url("/login"));
            fs::write(folder.join("00-login.png"), tab.picture())?;
            let mut violations = self.violations(&tab, "/login")?;
            fixture.sign_in(&tab);
            for (at, path) in paths.iter().enumerate() {
                tab.open(&fixture.url(path));
                fs::write(folder.join(picture_name(at + 1, path)), tab.picture())?;
                violations.extend(self.violations(&tab, path)?);
            }
            let check = format!("axe-core: {} pages, {name}, {screen}", paths.len() + 1);
            let outcome = match violations.is_empty() {
                true => Outcome::Passed,
                false => Outcome::Failed(violations.join("\n    ")),
            };
            self.checks.push((check, outcome));
        }
        Ok(())
    }

    /// Returns the violations of the open page.
    fn violations(&self, tab: &BrowserTab, path: &str) -> anyhow::Result<Vec<String>> {
        tab.eval(&format!("{}; 0", self.axe));
        let found = tab.eval(RUN_AXE);
        let found = found.as_array().context("axe-core returned no list")?;
        let text = |it: &Value| format!("{path}: {}", it.as_str().unwrap_or_default());
        Ok(found.iter().map(text).collect())
    }
}

/// Returns the name of a picture: the number of the page, and the first word of its path.
fn picture_name(number: usize, path: &str) -> String {
    let word = path.split(['/', '?']).find(|word| !word.is_empty()).unwrap_or("now");
    format!("{number:02}-{word}.png")
}
