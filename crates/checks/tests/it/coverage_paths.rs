//! File names in reports, and the files of the repository that they mean.

use assay_checks::coverage::PathIndex;

/// Looks up names, and compares the paths.
fn check(files: &str, sources: &[&str], cases: &[(&str, Option<&str>)]) {
    let paths = PathIndex::new(Some("/home/ada/shop"), files.split_whitespace().map(str::to_owned));
    let sources: Vec<String> = sources.iter().map(|source| (*source).to_owned()).collect();
    for (name, path) in cases {
        assert_eq!(paths.find(name, &sources), *path, "{name}");
    }
}

#[test]
fn a_file_is_found_by_relative_and_absolute_paths() {
    check(
        "src/a.py a.py",
        &[],
        &[
            ("src/a.py", Some("src/a.py")),
            ("./src/a.py", Some("src/a.py")),
            ("/home/ada/shop/src/a.py", Some("src/a.py")),
            ("file:///home/ada/shop/src/a.py", Some("src/a.py")),
            ("src\\a.py", Some("src/a.py")),
            ("src/../a.py", Some("a.py")),
            ("/home/ada/shop/b.py", None),
        ],
    );
}

#[test]
fn a_file_is_found_by_a_path_of_another_machine() {
    check(
        "src/a.py setup.py",
        &[],
        &[
            ("/app/src/a.py", Some("src/a.py")),
            ("C:\\work\\src\\a.py", Some("src/a.py")),
            // A package of the system has such a file, too.
            ("/usr/lib/python3/setup.py", None),
        ],
    );
}

#[test]
fn a_go_file_is_found_by_its_module() {
    check(
        "money/money.go main.go",
        &[],
        &[
            ("example.com/shop/money/money.go", Some("money/money.go")),
            ("example.com/shop/main.go", Some("main.go")),
        ],
    );
}

#[test]
fn a_java_file_is_found_by_its_package_if_the_match_is_unique() {
    check(
        "a/src/main/java/com/shop/Money.java a/src/main/java/com/shop/Cart.java b/src/main/java/com/shop/Cart.java",
        &[],
        &[
            ("com/shop/Money.java", Some("a/src/main/java/com/shop/Money.java")),
            ("com/shop/Cart.java", None),
        ],
    );
}

#[test]
fn a_name_may_start_from_a_source_folder() {
    check(
        "backend/app/a.py frontend/app/a.py",
        &["/home/ada/shop/backend/app"],
        &[("a.py", Some("backend/app/a.py"))],
    );
    check("backend/app/a.py frontend/app/a.py", &[], &[("a.py", None)]);
}
