//! Hyperlinks in the terminal, to files and to the editor of the user.

use std::fs;

use assay_testkit::Repository;

use super::{AssayRun, assay_with};

const BROKEN: &str = "def total(prices):\n    breakpoint()\n    return sum(prices)\n";

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("a shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("shop");
    fs::write(repository.path().join("a shop.py"), BROKEN).unwrap();
    repository
}

fn run(repository: &Repository, args: &[&str], variables: &[(&str, &str)]) -> AssayRun {
    let all = [&[("NO_COLOR", ""), ("CLICOLOR_FORCE", "1")], variables].concat();
    assay_with(repository.path(), args, b"", &all)
}

/// Returns the addresses of the hyperlinks in an output, in order.
fn addresses(output: &str) -> Vec<String> {
    let links = output.split("\u{1b}]8;;").skip(1);
    let address = |link: &str| link.split("\u{1b}\\").next().unwrap().to_owned();
    links.map(address).filter(|address| !address.is_empty()).collect()
}

#[test]
fn links_open_the_editor_of_the_user_at_the_finding() {
    let repository = repository();
    let folder = repository.path().canonicalize().unwrap();
    let folder = folder.display();
    for (editor, heading, line) in [
        ("file", format!("file://{folder}/a%20shop.py#2"), "#2"),
        ("vscode", format!("vscode://file{folder}/a%20shop.py:2:1"), ":2:5"),
        ("idea", format!("idea://open?file={folder}/a%20shop.py&line=2&column=1"), "column=5"),
        ("ed://{line}{path}", format!("ed://2{folder}/a%20shop.py"), "a%20shop.py"),
    ] {
        let variables = [("FORCE_HYPERLINK", "1"), ("ASSAY_EDITOR_LINK", editor)];
        let found = addresses(&run(&repository, &["review"], &variables).stdout);
        assert_eq!(found[0], heading);
        assert!(found.len() == 2 && found[1].ends_with(line), "{found:?}");
    }
}

#[test]
fn the_place_of_a_stored_finding_is_a_link() {
    let repository = repository();
    run(&repository, &["review"], &[]);
    let args = ["findings", "list", "--format", "json"];
    let listed = run(&repository, &args, &[]).json();
    let id = listed["findings"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned();
    let variables = [("FORCE_HYPERLINK", "1"), ("ASSAY_EDITOR_LINK", "zed")];
    for args in [&["findings", "show", &id][..], &["findings", "list", "--state", "all"]] {
        let shown = run(&repository, args, &variables).stdout;
        let addresses = addresses(&shown);
        let [address] = addresses.as_slice() else { panic!("{shown}") };
        assert!(address.starts_with("zed://file/"), "{address}");
        assert!(address.ends_with("a%20shop.py:2:1"), "{address}");
        assert!(shown.contains("\u{1b}\\a shop.py:2\u{1b}]8;;"), "{shown:?}");
    }
}

#[test]
fn without_support_there_are_no_links_and_a_wrong_editor_is_not_named() {
    let repository = repository();
    for (force, editor) in [("0", "vscode"), ("", "nonsense"), ("1", "none")] {
        let variables = [("FORCE_HYPERLINK", force), ("ASSAY_EDITOR_LINK", editor)];
        let run = run(&repository, &["review"], &variables);
        assert_eq!(addresses(&run.stdout), [""; 0], "{force} {editor}");
        assert!(!run.stderr.contains("ASSAY_EDITOR_LINK"), "{}", run.stderr);
    }
}

#[test]
fn a_wrong_editor_is_named_once_and_links_open_files() {
    let repository = repository();
    let variables = [("FORCE_HYPERLINK", "1"), ("ASSAY_EDITOR_LINK", "vim")];
    let run = run(&repository, &["review"], &variables);
    assert!(addresses(&run.stdout)[0].starts_with("file:///"), "{}", run.stdout);
    let why = "ASSAY_EDITOR_LINK is not used, links open files: `vim` is no known editor";
    assert_eq!(run.stderr.matches(why).count(), 1, "{}", run.stderr);
}
