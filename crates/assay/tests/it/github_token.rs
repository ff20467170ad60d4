//! `assay github-token`, on a fake of GitHub's API for apps.

use std::path::Path;
use std::sync::Arc;

use assay_testkit::Repository;
use assay_testkit::github_app::AppService;
use assay_testkit::web::RunningService;
use serde_json::json;

use crate::{AssayRun, assay_in};

const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../services/tests/app-key/pkcs1.pem");
const OTHER_KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

fn der() -> Vec<u8> {
    let output = std::process::Command::new("sh")
        .args(["-c", "grep -v -e ----- \"$0\" | base64 --decode", KEY])
        .output()
        .unwrap();
    output.stdout
}

fn service() -> (Arc<AppService>, RunningService) {
    let service = Arc::new(AppService {
        app: "12345",
        private_key: der(),
        account: "octo",
        installation: 77,
        repositories: &["demo", "site"],
        requests: Default::default(),
    });
    let running = RunningService::start(Arc::clone(&service) as Arc<_>);
    (service, running)
}

fn token(folder: &Path, url: &str, args: &[&str]) -> AssayRun {
    let usual = ["github-token", "--url", url];
    assay_in(folder, &[&usual[..], args].concat(), b"")
}

#[test]
fn a_token_is_printed_for_the_repositories_that_are_named() {
    let repository = Repository::new();
    let (service, running) = service();
    let url = running.url();
    let app = ["--app", "12345", "--private-key", KEY];
    let ran = token(
        repository.path(),
        &url,
        &[&app[..], &["--repo", "octo/demo", "--repo", "Octo/site"]].concat(),
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, "ghs_16C7e42F292c6912E7710c838347Ae178B4a\n");
    let ran = token(repository.path(), &url, &[&app[..], &["--installation", "77"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let asked = service.requests.lock().unwrap();
    assert_eq!(*asked, [json!({"repositories": ["demo", "site"]}), json!({})]);
}

#[test]
fn a_token_that_cannot_be_made_is_an_error_with_the_reason() {
    let repository = Repository::new();
    let (_, running) = service();
    let url = running.url();
    for (args, code, why) in [
        (["12345", KEY, "--repo", "acme/demo"], 2, "not installed on the account `acme`"),
        (["12345", KEY, "--repo", "octo/other"], 2, "does not exist"),
        (["12345", OTHER_KEY, "--repo", "octo/demo"], 2, "the private key is not usable"),
    ] {
        let [app, key, option, value] = args;
        let args = ["--app", app, "--private-key", key, option, value];
        let ran = token(repository.path(), &url, &args);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    }
    let args = ["--app", "1", "--private-key", KEY, "--installation", "5"];
    let ran = token(repository.path(), "http://127.0.0.1:1", &args);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
    let far = "http://github.example.com/api/v3";
    let ran = token(repository.path(), far, &["--app", "1", "--private-key", KEY, "--repo", "a/b"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}
