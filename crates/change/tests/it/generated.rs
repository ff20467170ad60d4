//! Files that a repository marks as generated.

use expect_test::expect;

use crate::support::{against, commits, open, show};
use assay_testkit::Repository;

#[test]
fn a_change_cannot_mark_its_own_files_as_generated() {
    let repository = Repository::new();
    repository.write(
        ".gitattributes",
        "*.pb.go linguist-generated\ndist/** linguist-generated=true\nkept.pb.go -linguist-generated\n",
    );
    for name in ["a.pb.go", "kept.pb.go", "hand.go", "moved.go"] {
        repository.write(name, format!("{name}\n1\n2\n3\n4\n5\n"));
    }
    repository.commit("second");
    repository.write(".gitattributes", "* linguist-generated\n");
    repository.write("a.pb.go", "edited\n");
    repository.write("kept.pb.go", "edited\n");
    repository.write("hand.go", "edited\n");
    repository.write("dist/new \"name\"\n", "x\n");
    repository.git(&["mv", "moved.go", "dist/moved.go"]);
    repository.commit("third");
    expect![[r#"
        commits HEAD
        ".gitattributes" +1 -3
        "a.pb.go" +1 -6 generated
        "dist/moved.go" +0 -0 Renamed "moved.go"
        "dist/new \"name\"\n" +1 -0 generated
        "hand.go" +1 -6
        "kept.pb.go" +1 -6
    "#]]
    .assert_eq(&show(&open(repository.path(), commits("HEAD"))));
}

#[test]
fn the_attributes_of_the_work_tree_are_ignored() {
    let repository = Repository::new();
    repository.write(".gitattributes", "* linguist-generated\n* -diff\n");
    repository.write("README", "edited\n");
    repository.git(&["add", ".gitattributes"]);
    expect![[r#"
        working tree against HEAD
        ".gitattributes" +2 -0
        "README" +1 -1
    "#]]
    .assert_eq(&show(&open(repository.path(), against("HEAD"))));
}
