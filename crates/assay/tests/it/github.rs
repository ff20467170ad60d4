//! `assay mcp github`, with a fake GitHub.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use assay_testkit::github::{self as fake, Access, NewPull, sha};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::mcp::{McpSession, answers, call, modern};
use super::{AssayRun, assay_with};

const REPO: &str = "octo/demo";
const TOKEN: &str = "t-never-to-be-seen";

const DIFF: &str = "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n\
                    @@ -0,0 +1 @@\n+a\n";

/// A repository that is configured for a fake GitHub with a pull request.
struct GithubFixture {
    folder: TempDir,
    github: Arc<fake::GitHub>,
    served: Option<fake::Server>,
}

impl GithubFixture {
    fn new() -> GithubFixture {
        let github = Arc::new(fake::GitHub::new(Arc::new(fake::GitHubClock::real())));
        github.add_repository(REPO);
        github.add_token("assay-bot", TOKEN, Access::User);
        github.open_pull(REPO, NewPull::new("ann", "feature", &sha("head 1"), DIFF));
        let served = Arc::clone(&github).serve();
        let folder = tempfile::tempdir().unwrap();
        let fixture = GithubFixture { folder, github, served: Some(served) };
        fixture.configure("token_env: DEMO_TOKEN");
        fixture
    }

    /// Writes the configuration, with a line for the source of the token.
    fn configure(&self, token: &str) {
        let url = self.github.root();
        let text = format!("github:\n  url: {url}\n  {token}\n  repositories: [{REPO}]\n");
        fs::create_dir_all(self.folder.path().join("config")).unwrap();
        fs::write(self.folder.path().join("config/agent-framework.yaml"), text).unwrap();
    }

    fn run(&self, args: &[&str], variables: &[(&str, &str)], lines: &[Value]) -> AssayRun {
        let said: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let kept = self.folder.path().join("state");
        let kept = [("XDG_STATE_HOME", kept.to_str().unwrap())];
        let args = [&["mcp", "github"], args].concat();
        assay_with(self.folder.path(), &args, said.as_bytes(), &[&kept, variables].concat())
    }

    /// Calls tools with the token, and returns the results in their order.
    fn results(&self, args: &[&str], variables: &[(&str, &str)], lines: &[Value]) -> Vec<Value> {
        let variables = [variables, &[("DEMO_TOKEN", TOKEN)]].concat();
        let ran = self.run(args, &variables, lines);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        assert!(!ran.stdout.contains(TOKEN), "{}", ran.stdout);
        answers(&ran).into_iter().map(|mut answer| answer["result"].take()).collect()
    }

    fn asked(&self) -> Vec<String> {
        let log = self.github.log().into_iter();
        log.map(|logged| format!("{} {}", logged.method, logged.path)).collect()
    }
}

/// Returns the text of a tool's error.
fn refusal(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

fn get() -> Value {
    call(1, "github_get_pr", &json!({ "pr_number": 1 }))
}

fn comment() -> Value {
    call(2, "github_add_pr_comment", &json!({ "pr_number": 1, "body": "Thanks." }))
}

fn push() -> Value {
    call(3, "github_create_branch", &json!({ "branch": "fix" }))
}

#[test]
fn the_github_tools_are_listed() {
    let responses = GithubFixture::new().results(&[], &[], &[modern(1, "tools/list", json!({}))]);
    let tools = responses[0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "github_get_pr", "github_get_pr_by_branch", "github_get_pr_diff",
            "github_get_pr_comments", "github_get_check_runs", "github_add_pr_comment",
            "github_submit_review", "github_create_branch", "github_create_pr", "github_update_pr",
            "github_link_pr_to_jira",
        ]
    );
}

#[test]
fn an_agent_named_by_option_or_variable_is_limited_to_its_permissions() {
    let by_variable: &[(&str, &str)] = &[("ASSAY_AGENT", "qa-2")];
    for (args, variables) in [(&["--agent", "qa"] as &[&str], &[] as &[_]), (&[], by_variable)] {
        let fixture = GithubFixture::new();
        let responses = fixture.results(args, variables, &[get(), comment(), push()]);
        assert_eq!(responses[0]["structuredContent"]["title"], "Merge feature", "{}", responses[0]);
        assert_eq!(responses[1]["isError"], false, "{}", responses[1]);
        assert_eq!(
            refusal(&responses[2]),
            "agent `qa` may not push to GitHub: missing permission `push`; see `config/agents.yaml`"
        );
        assert_eq!(fixture.github.visible(REPO, 1), "comment\n  assay-bot: Thanks.\n");
        assert_eq!(fixture.asked().len(), 2, "{:?}", fixture.asked());
    }
}

#[test]
fn each_agent_has_its_own_permissions_and_a_person_has_all() {
    let fixture = GithubFixture::new();
    let engineer = [("ASSAY_AGENT", "engineer")];
    let responses = fixture.results(&["--agent", "qa"], &[], &[push()]);
    assert!(refusal(&responses[0]).starts_with("agent `qa` may not push"), "{}", responses[0]);
    assert_eq!(fixture.results(&[], &engineer, &[push()])[0]["isError"], false);
    assert_eq!(fixture.github.branch(REPO, "fix"), Some(sha("main")));
    // A new fixture, since writes to one GitHub are a second apart.
    let fixture = GithubFixture::new();
    assert_eq!(fixture.results(&[], &[], &[push()])[0]["isError"], false);
}

#[test]
fn permissions_are_those_of_the_repository_that_the_agent_works_for() {
    let fixture = GithubFixture::new();
    let agents = fixture.folder.path().join("config/agents.yaml");
    fs::write(agents, "- id: qa\n  permissions: [read]\n").unwrap();
    // The configuration in the work tree of an agent's program has no effect.
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("config")).unwrap();
    let text = "- id: qa\n  permissions: [read, github, push]\n";
    fs::write(tree.path().join("config/agents.yaml"), text).unwrap();
    let root = fixture.folder.path().to_str().unwrap();
    let variables = [("ASSAY_ROOT", root), ("DEMO_TOKEN", TOKEN), ("ASSAY_AGENT", "qa")];
    let said = format!("{}\n", comment());
    let ran = assay_with(tree.path(), &["mcp", "github"], said.as_bytes(), &variables);
    let responses = &answers(&ran)[0]["result"];
    assert!(refusal(responses).starts_with("agent `qa` may not write to GitHub"), "{responses}");
    assert_eq!(fixture.asked(), [""; 0]);
}

#[test]
fn invalid_agents_and_configuration_are_refused_at_start() {
    let fixture = GithubFixture::new();
    let check = |args: &[&str], variables: &[(&str, &str)], expected: &str| {
        let ran = fixture.run(args, variables, &[get()]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains(TOKEN), "{args:?}: {}", ran.stderr);
    };
    let unknown_agent = "unknown agent `nobody`; see `config/agents.yaml`";
    check(&["--agent", "nobody"], &[], unknown_agent);
    check(&[], &[("ASSAY_AGENT", "nobody")], unknown_agent);
    check(&["--agent", "engineer"], &[("ASSAY_AGENT", "qa")], "`ASSAY_AGENT`, which is `qa`");
    check(&[], &[("XDG_STATE_HOME", ""), ("HOME", "")], "set `HOME` or `XDG_STATE_HOME`");
    // A token for GitHub itself is not sent to another address.
    fixture.configure("");
    check(&[], &[("GITHUB_TOKEN", TOKEN)], "set `github.token_env`");
    fixture.configure("token_env: A\n  token_command: [cat, token]");
    check(&[], &[], "both `token_env` and `token_command` are set");
    fixture.configure("token: t-never-to-be-seen");
    check(&[], &[], "unknown key `token`");
    fixture.configure("token_env: DEMO_TOKEN\n  repositories: [demo]");
    check(&[], &[], "`config/agent-framework.yaml`, line 4");
    assert_eq!(fixture.asked(), [""; 0]);
}

#[test]
fn a_missing_or_wrong_token_is_reported_by_the_tools() {
    let fixture = GithubFixture::new();
    let responses = |variables: &[(&str, &str)]| {
        let ran = fixture.run(&[], variables, &[get(), comment()]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        let responses = answers(&ran);
        responses.iter().map(|answer| refusal(&answer["result"]).to_owned()).collect::<Vec<_>>()
    };
    for refusal in responses(&[("GITHUB_TOKEN", TOKEN)]) {
        assert_eq!(refusal, "cannot use GitHub: missing key: set the variable `DEMO_TOKEN`");
    }
    assert_eq!(fixture.asked(), [""; 0]);
    for refusal in responses(&[("DEMO_TOKEN", "t-wrong-and-secret")]) {
        assert!(
            refusal.ends_with("with status 401: Bad credentials (the token is invalid or expired)"),
            "{refusal}"
        );
        assert!(!refusal.contains("t-wrong-and-secret"), "{refusal}");
    }
}

#[test]
fn an_unconfigured_repository_is_refused_without_a_request() {
    let fixture = GithubFixture::new();
    fixture.github.add_repository("octo/secret");
    let other = call(1, "github_get_pr", &json!({ "pr_number": 1, "repo": "octo/secret" }));
    let responses = fixture.results(&[], &[], &[other]);
    assert_eq!(
        refusal(&responses[0]),
        "`octo/secret` is not among `github.repositories` of the configuration: octo/demo"
    );
    assert_eq!(fixture.asked(), [""; 0]);
}

#[test]
fn an_unreachable_github_is_reported() {
    let mut fixture = GithubFixture::new();
    let url = fixture.github.root();
    drop(fixture.served.take());
    let responses = fixture.results(&[], &[], &[comment()]);
    let expected =
        format!("GitHub at `{url}/` did not answer `POST /repos/octo/demo/issues/1/comments`");
    assert!(refusal(&responses[0]).starts_with(&expected), "{}", responses[0]);
    assert!(!refusal(&responses[0]).contains("nevertheless"), "{}", responses[0]);
}

#[test]
fn the_token_is_in_no_answer_no_file_and_no_list_of_processes() {
    let fixture = GithubFixture::new();
    let folder = fixture.folder.path();
    fs::write(folder.join("token"), format!("{TOKEN}\n")).unwrap();
    fixture.configure("token_command: [cat, token]");
    let kept = folder.join("state");
    let kept = [("XDG_STATE_HOME", kept.to_str().unwrap())];
    let mut talk = McpSession::start(folder, &["github"], &kept);
    let responses = [talk.say(&get()), talk.say(&comment())];
    for answer in &responses {
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert!(!answer.to_string().contains(TOKEN), "{answer}");
    }
    #[cfg(target_os = "linux")]
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(TOKEN), "{:?}", process.path());
    }
    drop(talk);
    fs::remove_file(folder.join("token")).unwrap();
    check_files(folder);
}

fn check_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => check_files(&path),
            path => {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                assert!(!text.contains(TOKEN), "{}", path.display());
            }
        }
    }
}
