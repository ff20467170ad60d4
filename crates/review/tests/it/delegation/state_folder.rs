//! The folders of open reviews.

use std::fs;

use super::*;

#[test]
fn a_delegated_review_that_is_tracked_in_git_is_refused() {
    let case = Case::new();
    case.start();
    case.repository.git(&["add", "--force", ".assay/delegated"]);
    let error = case.try_open().err().unwrap().to_string();
    assert!(
        error.contains("`.assay/delegated` is not used: the path is tracked in git"),
        "{error}"
    );
    assert!(case.try_start().is_err());
}

#[test]
fn git_ignores_open_reviews_even_with_a_gitignore_of_an_older_version() {
    let case = Case::new();
    case.repository
        .write(".assay/.gitignore", "# Written by assay: what is not meant for git.\n/runs/\n");
    case.start();
    assert_eq!(case.repository.git(&["status", "--short", "--", ".assay"]), "");
}

#[test]
fn an_invalid_or_unknown_review_id_is_rejected() {
    for name in ["", "../../etc", "20261115-120000-00/", "20261115-120000-\u{1b}[2", "../runs/2026"]
    {
        assert!(name.parse::<ReviewId>().is_err(), "{name:?}");
    }
    let case = Case::new();
    let unknown = case.try_open().err().unwrap().to_string();
    assert_eq!(unknown, "unknown open review `20261115-120000-000`; start one with `start_review`");
}

#[test]
fn the_oldest_reviews_are_deleted() {
    let case = Case::new();
    for at in 0..25 {
        case.repository.write(format!(".assay/delegated/20200101-000000-{at:03}/about.json"), "{}");
    }
    case.start();
    let kept = fs::read_dir(case.folder()).unwrap().count();
    assert_eq!(kept, 20);
    case.open();
}
