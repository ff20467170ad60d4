//! Ignored files, by old and by new rules.

use assay_change::StoredFiles;
use assay_testkit::Repository;

#[test]
fn files_that_only_new_ignore_rules_hide_are_listed() {
    let repository = Repository::new();
    repository.write(".gitignore", "old/\n*.log\n");
    repository.write("sub/.gitignore", "kept.txt\n");
    repository.commit("rules");
    for path in ["old/a.py", "x.log", "sub/kept.txt", "new/b.py", "sub/c.py", "deep/own/d.py"] {
        repository.write(path, "");
    }
    let stored = StoredFiles::open(repository.path()).unwrap();
    let ignored = stored.ignored_files(&|_| false).unwrap();
    assert_eq!(ignored, ["old/a.py", "sub/kept.txt", "x.log"]);
    assert_eq!(stored.newly_ignored_files("HEAD", &ignored).unwrap(), [""; 0]);
    repository.write(".gitignore", "old/\n*.log\nnew/\n");
    repository.write("sub/.gitignore", "kept.txt\nc.py\n");
    repository.write("deep/own/.gitignore", "*\n");
    let ignored = stored.ignored_files(&|_| false).unwrap();
    let hidden = stored.newly_ignored_files("HEAD", &ignored).unwrap();
    assert_eq!(hidden, ["deep/own/d.py", "new/b.py", "sub/c.py"]);
    let without = stored.ignored_files(&|name| name == "new").unwrap();
    assert!(!without.contains(&"new/b.py".to_owned()));
}
