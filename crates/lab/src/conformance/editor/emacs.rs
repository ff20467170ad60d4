//! Emacs without a window, by eglot with the configuration of the manual: typing, hover, fix, end.

use std::path::Path;

use anyhow::anyhow;
use assay_testenv::workspace::answers;

use super::{block_of_the_manual, empty_folder, program, run_to_end, shop};
use crate::conformance::{Check, Outcome};

/// The script that drives eglot.
const SCRIPT: &str = include_str!("emacs.el");

pub(super) fn run(assay: &Path) -> Vec<Check> {
    let probe = ["--batch", "--eval", "(progn (package-initialize) (require 'eglot))"];
    let outcome = match answers("emacs", &probe) {
        true => Outcome::of(check(assay)),
        false => Outcome::unavailable(&anyhow!("there is no `emacs` with eglot; install Emacs 29")),
    };
    vec![("emacs: typing, hover, fix, with the configuration of the manual".to_owned(), outcome)]
}

fn check(assay: &Path) -> anyhow::Result<()> {
    let folder = empty_folder("emacs")?;
    let (script, manual) = (folder.join("emacs.el"), folder.join("manual.el"));
    std::fs::write(&script, SCRIPT)?;
    std::fs::write(&manual, block_of_the_manual("lisp", "(with-eval-after-load 'eglot")?)?;
    let repository = shop(&folder)?;
    let mut emacs = program("emacs", &folder, assay);
    emacs.env("ASSAY_FILE", repository.folder().join("shop.py")).env("ASSAY_MANUAL", manual);
    emacs.args(["--batch", "-l"]).arg(script);
    run_to_end(emacs).map(drop)
}
