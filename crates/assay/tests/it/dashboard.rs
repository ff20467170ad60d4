//! The dashboard of `assay serve`, as people use it: in a browser.

mod on_chromium {
    use std::path::Path;

    use assay_testkit::dashboard::DashboardFixture;
    use assay_testkit::devtools::{BrowserTab, TabOptions, TestBrowser};
    use assay_testkit::pages::{Answer, Pages};
    use assay_testkit::webhook;
    use serde_json::{Value, json};

    const WITHOUT_SCRIPTS: TabOptions =
        TabOptions { width: 1440, is_dark: false, runs_scripts: false };
    const PHONE: TabOptions = TabOptions { width: 390, is_dark: true, runs_scripts: true };

    fn program() -> &'static Path {
        Path::new(env!("CARGO_BIN_EXE_assay"))
    }

    /// Checks that the open page reported no error, has a heading, and is not wider than the screen.
    fn check_page(tab: &BrowserTab, path: &str) {
        assert_eq!(tab.take_errors(), [""; 0], "{path}");
        assert_eq!(tab.eval("document.querySelectorAll('h1').length"), 1, "{path}");
        let too_wide = tab.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(too_wide.as_i64().unwrap() <= 0, "{path} is {too_wide} pixels too wide");
    }

    fn task_status(fixture: &DashboardFixture, id: &str) -> String {
        let task = fixture.get(&format!("/api/v1/tasks/{id}"));
        task["status"].as_str().unwrap().to_owned()
    }

    #[test]
    fn every_page_shows_its_data_with_and_without_scripts_and_on_a_phone() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::with_data(program()));
        for options in [TabOptions::default(), WITHOUT_SCRIPTS, PHONE] {
            let tab = browser.tab(options);
            assert_eq!(tab.open(&fixture.url("/runs")), 200);
            let text = tab.text();
            assert!(text.contains("Sign in") && !text.contains("Reviews"), "{text}");
            check_page(&tab, "/login");
            fixture.sign_in(&tab);
            for page in fixture.pages() {
                assert_eq!(tab.open(&fixture.url(&page.path)), 200, "{options:?} {page:?}");
                let text = tab.text();
                assert!(text.contains(&page.text), "{options:?} {page:?}: {text}");
                check_page(&tab, &page.path);
            }
        }
    }

    #[test]
    fn a_repository_without_reviews_and_tasks_has_every_page() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::without_data(program()));
        let tab = browser.tab(TabOptions::default());
        fixture.sign_in(&tab);
        for (path, text) in [
            ("/", "No task is waiting, running, blocked or failed."),
            ("/runs", "No review is stored"),
            ("/", "No review is stored"),
            ("/findings", "No review is stored"),
            ("/findings?category=security", "No review is stored"),
            ("/loops", "There is no spec"),
            ("/gates", "There is no gate"),
            ("/reviewers", "No review has used one."),
            ("/spend", "No review is stored"),
            ("/audit", "No action was requested yet."),
        ] {
            assert_eq!(tab.open(&fixture.url(path)), 200, "{path}");
            // A part that was not read in time follows by an event.
            tab.wait_until(&format!("document.body.innerText.includes({})", json!(text)));
            check_page(&tab, path);
        }
        assert_eq!(tab.open(&fixture.url("/tasks/unknown")), 404);
        assert!(tab.text().contains("This page cannot be shown"), "{}", tab.text());
    }

    #[test]
    fn every_action_works_with_the_keyboard_alone() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::with_data(program()));
        let tab = browser.tab(TabOptions::default());
        fixture.sign_in(&tab);
        let act = |path: &str, button: &str| {
            tab.open(&fixture.url(path));
            tab.go_to(button);
            assert_eq!(tab.load(|| tab.press("Enter")), 200, "{button}: {}", tab.text());
        };
        act("/", "button[aria-label='Cancel review-login']");
        assert_eq!(task_status(&fixture, "review-login"), "cancelled");
        act("/tasks/review-login", "button[aria-label='Retry review-login']");
        assert_eq!(task_status(&fixture, "review-login"), "pending");
        act("/", "button[aria-label='Retry export']");
        assert_eq!(task_status(&fixture, "export"), "pending");
        let is_paused = || fixture.get("/api/v1/agents")["agents"][0]["paused"].clone();
        act("/", "button[aria-label='Pause qa']");
        assert_eq!(is_paused(), true);
        act("/", "button[aria-label='Resume qa']");
        assert_eq!(is_paused(), false);
        act("/", "button[aria-label='Pause all']");
        assert_eq!(is_paused(), true);
        dismiss_and_reopen(&fixture, &tab);
        decide_an_issue_of_a_loop(&fixture, &tab);
        accept_an_item_of_a_gate(&fixture, &tab);
        tab.open(&fixture.url("/audit"));
        for action in [
            "task.retry", "task.cancel", "agent.pause", "finding.dismiss", "loop.sign-off",
            "gate.accept",
        ] {
            assert!(tab.text().contains(action), "{action}: {}", tab.text());
        }
        let sign_out = "form[action='/logout'] button";
        act("/", sign_out);
        assert!(tab.text().contains("Sign in"), "{}", tab.text());
        assert_eq!(tab.take_errors(), [""; 0]);
    }

    fn dismiss_and_reopen(fixture: &DashboardFixture, tab: &BrowserTab) {
        let id = fixture.finding();
        let state = || fixture.get(&format!("/api/v1/findings/{id}"))["state"].clone();
        tab.open(&fixture.url("/findings"));
        tab.go_to(&format!("a[href='/findings/{id}']"));
        tab.load(|| tab.press("Enter"));
        tab.go_to("form[action^='/actions/finding.dismiss'] button");
        tab.press("Enter");
        // The browser requires the reason.
        assert_eq!(tab.eval("document.activeElement.name"), "reason");
        assert_eq!(state(), "open");
        tab.type_text("a breakpoint in an example");
        tab.go_to("form[action^='/actions/finding.dismiss'] button");
        assert_eq!(tab.load(|| tab.press("Enter")), 200);
        assert_eq!(state(), "dismissed");
        assert!(tab.text().contains("a breakpoint in an example"), "{}", tab.text());
        tab.go_to("form[action^='/actions/finding.reopen'] button");
        assert_eq!(tab.load(|| tab.press("Enter")), 200);
        assert_eq!(state(), "open");
    }

    fn decide_an_issue_of_a_loop(fixture: &DashboardFixture, tab: &BrowserTab) {
        tab.open(&fixture.url("/loops/001-greeting"));
        tab.go_to("form[action^='/actions/loop.sign-off'] textarea[name=because]");
        tab.type_text("I read the greeting aloud");
        tab.go_to("form[action^='/actions/loop.sign-off'] button");
        assert_eq!(tab.load(|| tab.press("Enter")), 200, "{}", tab.text());
        let status = fixture.get("/api/v1/loops/001-greeting")["status"].clone();
        assert_eq!(status, "approved", "{}", tab.text());
    }

    fn accept_an_item_of_a_gate(fixture: &DashboardFixture, tab: &BrowserTab) {
        let accepted = || fixture.get("/api/v1/gates/plan-structure")["items"]["accepted"].clone();
        tab.open(&fixture.url("/gates/plan-structure"));
        tab.go_to("article summary");
        tab.press("Enter");
        tab.go_to("details[open] textarea[name=reason]");
        tab.type_text("the milestone is a single sentence");
        tab.go_to("details[open] button");
        assert_eq!(tab.load(|| tab.press("Enter")), 200, "{}", tab.text());
        assert_eq!(accepted(), 1, "{}", tab.text());
    }

    #[test]
    fn findings_of_a_run_are_walked_and_filtered_with_keys() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::with_data(program()));
        let tab = browser.tab(TabOptions::default());
        fixture.sign_in(&tab);
        tab.open(&fixture.url(&format!("/runs/{}", fixture.newest_run())));
        let at = || {
            tab.eval(
                "[...document.querySelectorAll('[data-entry]')].indexOf(document.activeElement)",
            )
        };
        let shown = || tab.eval("document.querySelectorAll('[data-entry]:not([hidden])').length");
        let all = shown().as_u64().unwrap();
        assert!(all > 2, "{all}");
        tab.press("j");
        tab.press("j");
        assert_eq!(at(), 1);
        tab.press("k");
        assert_eq!(at(), 0);
        tab.press("/");
        tab.type_text("breakpoint");
        assert_eq!(shown(), 1);
        tab.press("Escape");
        assert_eq!(shown(), all);
        assert_eq!(tab.take_errors(), [""; 0]);
    }

    #[test]
    fn an_open_page_follows_changes_of_the_queue_and_the_ledger() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::with_data(program()));
        let (tab, other) = (browser.tab(TabOptions::default()), browser.tab(PHONE));
        for tab in [&tab, &other] {
            fixture.sign_in(tab);
            tab.wait_until("document.querySelector('[data-live-status]').textContent === 'live'");
        }
        // A page that is loaded again loses the mark.
        tab.eval("window.opened = true");
        let push = ["queue", "push", "--queue", "qa", "--type", "review", "--id", "new-task"];
        fixture.run(&[&push[..], &["--title", "Review the search"]].concat(), 0);
        for tab in [&tab, &other] {
            tab.wait_until("document.body.innerText.includes('Review the search')");
        }
        let id = fixture.finding();
        let title = fixture.get(&format!("/api/v1/findings/{id}"))["title"].clone();
        fixture.run(&["findings", "dismiss", &id, "--reason", "an example of a defect"], 0);
        tab.wait_until(&format!("!document.body.innerText.includes({title})"));
        assert_eq!(tab.eval("window.opened"), true);
        assert_eq!(tab.take_errors(), [""; 0]);
    }

    #[test]
    fn a_part_with_the_focus_is_updated_when_the_focus_leaves() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::with_data(program()));
        let tab = browser.tab(TabOptions::default());
        fixture.sign_in(&tab);
        tab.wait_until("document.querySelector('[data-live-status]').textContent === 'live'");
        tab.go_to("button[aria-label='Cancel review-login']");
        fixture.run(&["queue", "cancel", "log-out"], 0);
        // The tiles are updated at once; the tasks, in which the focus is, are not.
        tab.wait_until("/Tasks waiting\\s+2/.test(document.querySelector('#tiles').innerText)");
        assert!(tab.text().contains("Log out again"));
        assert_eq!(tab.eval("document.activeElement.ariaLabel"), "Cancel review-login");
        tab.go_to("button[aria-label='Pause qa']");
        tab.wait_until("!document.body.innerText.includes('Log out again')");
        assert_eq!(tab.eval("document.activeElement.ariaLabel"), "Pause qa");
    }

    #[test]
    fn requests_with_a_wrong_token_or_from_elsewhere_are_refused() {
        let (browser, fixture) = (TestBrowser::start(), DashboardFixture::with_data(program()));
        let tab = browser.tab(TabOptions::default());
        tab.open(&fixture.url("/login"));
        tab.go_to("input[name=token]");
        tab.type_text("a-token-of-another-server");
        assert_eq!(tab.load(|| tab.press("Enter")), 401);
        assert!(tab.text().contains("The token is wrong."), "{}", tab.text());
        assert_eq!(tab.open(&fixture.url("/")), 200);
        assert!(tab.text().contains("Sign in"), "{}", tab.text());
        fixture.sign_in(&tab);
        attack_from_another_origin(&fixture, &tab);
        // The name leads to this machine, as a name of an attacker could.
        let foreign = fixture.url("/").replace("127.0.0.1", "dashboard.localhost");
        assert_eq!(tab.open(&foreign), 421);
        assert!(!tab.text().contains("Review the login"), "{}", tab.text());
        let host = [("host", "evil.example")];
        let answer = webhook::send(fixture.address(), "GET", "/", &host, b"").unwrap();
        assert_eq!(answer.status, 421);
    }

    /// Opens a page of another port of this machine, to which the browser sends the cookie of the
    /// session, and which sends forms and requests to the dashboard.
    fn attack_from_another_origin(fixture: &DashboardFixture, tab: &BrowserTab) {
        let cancel = fixture.url("/actions/task.cancel/review-login");
        let page = format!(
            "<!doctype html><title>Attack</title><form method=post action='{cancel}'>\
             <input name=next value='/'></form><iframe src='{}'></iframe>",
            fixture.url("/"),
        );
        let pages = Pages::serve(vec![("/", Answer::Page(200, page))]);
        tab.open(&pages.url("/"));
        for (path, method) in [("/", "GET"), ("/api/v1/tasks", "GET"), ("/events", "GET")] {
            assert_eq!(fetch(tab, &fixture.url(path), method), "refused", "{path}");
        }
        assert_eq!(fetch(tab, &cancel, "POST"), "refused");
        assert_eq!(
            fetch(tab, &fixture.url("/api/v1/tasks/review-login/cancel"), "POST"),
            "refused"
        );
        let frame = "(() => { try { return document.querySelector('iframe').contentDocument.body.innerText } \
                     catch { return 'refused' } })()";
        assert_eq!(tab.eval(frame), "refused");
        let errors = tab.take_errors().join("\n");
        assert!(errors.contains("frame-ancestors"), "{errors}");
        let status = tab.load(|| drop(tab.eval("document.forms[0].submit()")));
        assert_eq!(status, 403, "{}", tab.text());
        assert_eq!(task_status(fixture, "review-login"), "pending");
        assert_eq!(fixture.get("/api/v1/audit"), json!({ "entries": [] }));
    }

    /// Sends a request from the open page. Returns the answer's text, or `refused`.
    fn fetch(tab: &BrowserTab, url: &str, method: &str) -> Value {
        let options = json!({ "method": method, "credentials": "include" });
        tab.eval(&format!(
            "fetch({}, {options}).then((it) => it.text()).catch(() => 'refused')",
            json!(url)
        ))
    }
}
