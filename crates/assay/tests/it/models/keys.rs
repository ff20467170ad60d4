//! API keys are read from the configured source, and are stored nowhere else.

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

/// Returns the files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_with(&path, text)),
            false => {
                let holds = String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text);
                found.extend(holds.then_some(path));
            }
        }
    }
    found
}

/// Writes a program into a folder.
fn program(folder: &TempDir, text: &str) -> String {
    let path = folder.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_key_appears_only_in_request_headers() {
    let case = Case::new("");
    let record = tempfile::tempdir().unwrap();
    // The key is redacted even if a model repeats it.
    let quote = "return sum(prices) / len(prices)";
    let findings = vec![finding(&format!("the key is {KEY}"), "P2", ("shop.py", 6), quote)];
    let report = with_findings(&format!("correctness {KEY}"), findings);
    case.trouble(&["`correctness` reviewer"], ModelFaultKind::Says(report.to_string()));
    case.trouble(&["`intent` reviewer"], ModelFaultKind::Says(format!("no report, but {KEY}")));
    case.trouble(&["`testing` reviewer"], ModelFaultKind::Fault(Fault::status(404)));
    let said = format!("{{\"answer\": \"confirm\", \"why\": \"{KEY}\"}}");
    case.trouble(&["You are the `validator`"], ModelFaultKind::Says(said));
    let record = record.path();
    for format in ["terminal", "json"] {
        let ran = case.review(&["--format", format, "--record", record.to_str().unwrap()]);
        assert!(ran.stdout.contains("the key is …"), "{}", ran.stdout);
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{}", ran.stdout);
    }
    for folder in [case.repository.path(), record] {
        assert_eq!(files_with(folder, KEY), Vec::<PathBuf>::new());
        assert_ne!(files_with(folder, "the key is …"), Vec::<PathBuf>::new(), "it was looked for");
    }
    let sent = case.server.requests();
    assert!(sent.iter().all(|it| String::from_utf8_lossy(&it.head).contains(KEY)));
    assert!(!sent.iter().any(|it| String::from_utf8_lossy(&it.body).contains(KEY)));
}

#[test]
fn an_agents_key_is_not_among_its_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let report = with_findings("agent", Vec::new()).to_string();
    // The output is invalid on purpose: an error message must not show the key either.
    let script = format!(
        "echo \"$0 $*\" >> {seen}\ncat /proc/$$/cmdline >> {seen}\ncat > /dev/null\n\
         echo \"key: $AGENT_KEY\" >&2\n[ -n \"$AGENT_KEY\" ] || exit 1\n\
         case \"$*\" in *fail*) echo \"no: $AGENT_KEY\"; exit 1;; esac\ncat <<'E'\n{report}\nE",
        seen = seen.display(),
    );
    let program = program(&folder, &script);
    let agent = |name: &str, arg: &str| {
        format!(
            "    {name}:\n      api: command\n      run: [\"{program}\", \"{arg}\"]\n      \
             env: {{ AGENT_KEY: \"${{FAKE_KEY}}\" }}\n"
        )
    };
    let case = Case::new(&format!("{}{}", agent("agent", "read"), agent("broken", "fail")));
    let ran = case.run(&["review", "--models=agent"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let broken = case.run(&["review", "--models=broken"]);
    assert_eq!(broken.code, 3, "{}{}", broken.stdout, broken.stderr);
    for ran in [ran, broken] {
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{}", ran.stdout);
    }
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("read") && !seen.contains(KEY), "{seen}");
    assert_eq!(files_with(case.repository.path(), KEY), Vec::<PathBuf>::new());
}

#[test]
fn a_key_can_come_from_the_output_of_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        program(&folder, &format!("echo called >> {}/calls\necho {KEY}", folder.path().display()));
    let command = format!(
        "    safe:\n      api: anthropic\n      model: fake-2\n      url: \"{{url}}\"\n      key_command: [\"{program}\", \"hidden-argument\"]\n"
    );
    let case = Case::new(&command);
    let ran = case.run(&["review", "--models=safe"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    assert_eq!(calls, "called\n", "once for all who ask");
    assert_eq!(files_with(case.repository.path(), KEY), Vec::<PathBuf>::new());
    fs::write(&program, "#!/bin/sh\necho it is locked >&2\nexit 1\n").unwrap();
    fs::remove_dir_all(case.repository.path().join(".assay/cache")).unwrap();
    let ran = case.run(&["review", "--models=safe"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("the key command `"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("hidden-argument"), "{}", ran.stdout);
}

#[test]
fn a_missing_or_wrong_key_is_reported_with_its_source() {
    let case = Case::new("");
    let review = |variables: &[(&str, &str)]| {
        let folder = case.repository.path();
        assay_with(folder, &["review", "--models"], b"", variables)
    };
    for (variables, expected) in [
        (&[][..], "missing key: set the variable `FAKE_KEY`"),
        (&[("FAKE_KEY", "")], "missing key: set the variable `FAKE_KEY`"),
        (&[("FAKE_KEY", "sk\u{7}ringing")], "invalid key from the variable `FAKE_KEY`"),
        (&[("FAKE_KEY", "sk-another-one")], "rejected the API key"),
    ] {
        let ran = review(variables);
        assert_eq!(ran.code, 3, "{expected}\n{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(expected), "{expected}\n{}", ran.stdout);
        assert!(!ran.stdout.contains("another-one") && !ran.stdout.contains("ringing"));
    }
    assert!(case.asked() <= 3, "a key that does not open is not tried over and over");
}

#[test]
fn a_key_in_the_configuration_is_refused() {
    let case = Case::new("      key: sk-test-written-down\n");
    let ran = case.review(&[]);
    assert_eq!((ran.code, ran.stdout.as_str(), case.asked()), (2, "", 0));
    let expected = "`key` would store a secret in a file; use `key_env` or `key_command`";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert!(!ran.stderr.contains("sk-test-written-down"), "{}", ran.stderr);
    let both = Case::new("      key_command: [\"true\"]\n").review(&[]);
    assert_eq!(both.code, 2);
    assert!(both.stderr.contains("both `key_env` and `key_command`"), "{}", both.stderr);
}
