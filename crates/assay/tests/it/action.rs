//! `action.yml`, whose scripts are run as GitHub's runner runs them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};

use assay_testkit::Repository;
use expect_test::expect;
use serde_json::{Value, json};

const TOKEN: &str = "t-very.secret/token=";
const HEAD: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";

fn action() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action.yml");
    serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn steps() -> Vec<Value> {
    action()["runs"]["steps"].as_array().unwrap().clone()
}

fn step(id: &str) -> Value {
    steps().into_iter().find(|step| step["id"] == id).unwrap()
}

/// Runs a step as the runner does, with a value for each of its variables. Returns both streams and
/// the exit code.
pub(super) fn run(id: &str, folder: &Path, variables: &[(&str, &str)]) -> (String, i32) {
    let step = step(id);
    let named = step["env"].as_object().unwrap();
    let script = folder.join(".git/step.sh");
    std::fs::write(&script, step["run"].as_str().unwrap()).unwrap();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&script).current_dir(folder);
    command.env_clear().env("PATH", std::env::var("PATH").unwrap()).env("HOME", folder);
    // The home of a runner is outside of the work tree.
    command.env("XDG_STATE_HOME", crate::state_home());
    command.envs(named.keys().map(|name| (name.as_str(), "")));
    if named.contains_key("OUT") {
        command.env("OUT", folder.join(".git/assay-review"));
    }
    for (name, value) in variables {
        assert!(named.contains_key(*name) || name.starts_with("GITHUB_"), "{name}");
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains(TOKEN), "{said}");
    assert!(!folder.join("harmed").exists(), "a value was run: {variables:?}");
    (said, output.status.code().unwrap())
}

#[test]
fn scripts_of_the_action_never_interpolate_expressions() {
    for step in steps() {
        let script = step["run"].as_str().unwrap_or_default();
        assert!(!script.contains("${{"), "{}", step["name"]);
        assert!(script.is_empty() || step["shell"] == "bash", "{}", step["name"]);
    }
    for (name, input) in action()["inputs"].as_object().unwrap() {
        assert!(input["description"].is_string() && input["default"].is_string(), "{name}");
    }
}

/// A server with a list of answers, which records the requests.
struct Server {
    url: String,
    asked: JoinHandle<Vec<(Vec<String>, Value)>>,
}

fn serve(answers: &'static [&'static str]) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let mut all = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head: Vec<String> = Vec::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.trim_end() {
                    "" => break,
                    line => head.push(line.to_owned()),
                }
            }
            let length = head.iter().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
            });
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            all.push((head, serde_json::from_slice(&body).unwrap()));
        }
        all
    });
    Server { url, asked }
}

fn queue(folder: &Path, url: &str, more: &[(&str, &str)]) -> (String, i32) {
    let usual = [
        ("QUEUE_URL", url),
        ("QUEUE_TOKEN", TOKEN),
        ("AGENT", "qa"),
        ("NUMBER", "7"),
        ("REPOSITORY", "octo/demo"),
        ("HEAD_COMMIT", HEAD),
    ];
    run("queue", folder, &[&usual, more].concat())
}

#[test]
fn a_review_request_is_retried_until_the_server_accepts_it() {
    let repository = Repository::new();
    let server = serve(&[
        "HTTP/1.1 503 Service Unavailable\r\nretry-After: 0\r\nconnection: close\r\ncontent-length: 4\r\n\r\nfull",
        "HTTP/1.1 202 Accepted\r\nconnection: close\r\n\r\n{\"task\":\"review-octo.demo-7\"}\n",
    ]);
    let (said, code) = queue(repository.path(), &server.url, &[]);
    expect![[r#"
        the server is not available (status 503); retrying in 0 s
        the server queued the review: {"task":"review-octo.demo-7"} 
    "#]]
    .assert_eq(&said);
    assert_eq!(code, 0);
    let asked = server.asked.join().unwrap();
    let body = json!({ "agent_id": "qa", "pr": "7", "repo": "octo/demo", "head": HEAD });
    assert_eq!(asked.len(), 2);
    for (head, sent) in &asked {
        assert_eq!(head[0], "POST /queue HTTP/1.1");
        assert!(head.contains(&format!("Authorization: Bearer {TOKEN}")), "{head:?}");
        assert_eq!(*sent, body);
    }
}

#[test]
fn a_refusal_fails_the_job_and_injects_no_workflow_command() {
    let repository = Repository::new();
    let server = serve(&[
        "HTTP/1.1 422 No\r\nconnection: close\r\n\r\nno such agent\n::add-path::/evil\n100% t-very.secret/token=",
    ]);
    let (said, code) = queue(repository.path(), &server.url, &[("HEAD_COMMIT", "")]);
    expect![[r#"
        ::error title=assay::the server refused the request with status 422: no such agent ::add-path::/evil 100%25 ***
    "#]]
    .assert_eq(&said);
    assert_eq!(code, 1);
    let asked = server.asked.join().unwrap();
    assert_eq!(asked[0].1, json!({ "agent_id": "qa", "pr": "7", "repo": "octo/demo" }));
}

#[test]
fn a_value_that_looks_like_a_command_is_refused_and_not_run() {
    let repository = Repository::new();
    let url = "http://127.0.0.1:9/";
    let hostile = ["$(touch harmed)", "`touch harmed`", "\"; touch harmed; \"", "x\ntouch harmed"];
    for name in ["QUEUE_URL", "QUEUE_TOKEN", "AGENT", "NUMBER", "REPOSITORY", "HEAD_COMMIT"] {
        for value in hostile {
            let (said, code) = queue(repository.path(), url, &[(name, value)]);
            assert_eq!((code, said.lines().count()), (1, 1), "{name}={value}: {said}");
            assert!(said.starts_with("::error title=assay::"), "{said}");
        }
    }
    for (name, value) in [("QUEUE_URL", "http://queue.example"), ("QUEUE_TOKEN", "")] {
        assert_eq!(queue(repository.path(), url, &[(name, value)]).1, 1);
    }
    for value in hostile {
        let (said, code) = run("review", repository.path(), &[("BASE", value)]);
        assert_eq!((code, said.contains("the base is not in the clone")), (2, true), "{said}");
        assert_eq!(run("asked", repository.path(), &[("MODE", value)]).1, 1);
    }
}

#[test]
fn the_action_reviews_a_change_and_its_exit_code_is_the_result() {
    let repository = Repository::new();
    repository.write("a.py", "def f():\n    return 1\n");
    repository.commit("First");
    repository.write("a.py", "def f():\n    breakpoint()\n    return 1\n");
    repository.commit("Second");
    let assay = env!("CARGO_BIN_EXE_assay");
    let review = |more: &[(&str, &str)]| {
        run("review", repository.path(), &[&[("ASSAY", assay)], more].concat())
    };
    let (said, code) = review(&[("BASE", "HEAD~1")]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("::error ") && said.contains("file=a.py,line=2"), "{said}");
    let (said, code) = review(&[("BASE", "HEAD~1"), ("FAIL_ON", "CRITICAL")]);
    assert_eq!(code, 0, "{said}");
    let (said, code) = review(&[("GITHUB_BASE_REF", "main")]);
    assert_eq!((code, said.contains("`fetch-depth: 0`")), (2, true), "{said}");
    let (said, code) = review(&[]);
    assert_eq!((code, said.contains("missing `base`")), (2, true), "{said}");
}

#[test]
fn the_action_writes_a_page_of_its_own_review_and_names_its_path() {
    let repository = Repository::new();
    repository.write("a.py", "def f():\n    return 1\n");
    repository.commit("First");
    repository.write("a.py", "def f():\n    breakpoint()\n    return 1\n");
    repository.commit("Second");
    let assay = env!("CARGO_BIN_EXE_assay");
    let output = repository.path().join(".git/output");
    let review = |more: &[(&str, &str)]| {
        let usual = [("ASSAY", assay), ("PAGE", "review.html"), ("BASE", "HEAD~1")];
        let output = [("GITHUB_OUTPUT", output.to_str().unwrap())];
        run("review", repository.path(), &[&usual[..], &output, more].concat())
    };
    let (said, code) = review(&[]);
    assert_eq!(code, 1, "{said}");
    let page = std::fs::read_to_string(repository.path().join("review.html")).unwrap();
    assert!(page.contains("breakpoint()"), "{page}");
    let outputs = std::fs::read_to_string(&output).unwrap();
    assert!(outputs.ends_with("page=review.html\n"), "{outputs}");
    // A review that stores no run leaves no page of an earlier review.
    std::fs::remove_file(repository.path().join("review.html")).unwrap();
    std::fs::remove_file(&output).unwrap();
    let (said, code) = review(&[("FAIL_ON", "nonsense")]);
    assert_eq!(
        (code, said.contains("the page of the review was not written")),
        (2, true),
        "{said}"
    );
    assert!(!output.exists() && !repository.path().join("review.html").exists());
}
