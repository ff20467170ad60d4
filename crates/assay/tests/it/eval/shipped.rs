//! The set of the repository, `examples/eval`.

use std::path::Path;

use crate::assay_in;

#[test]
fn recorded_reviews_of_the_repositorys_set_are_refused_while_it_has_no_recording() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let set = root.join("examples/eval");
    let elsewhere = tempfile::tempdir().unwrap();
    let args = ["eval", set.to_str().unwrap(), "--reviewers", "recorded", "--format", "json"];
    let ran = assay_in(elsewhere.path(), &args, b"");
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("the set has no folder `recordings/`"), "{}", ran.stderr);
}
