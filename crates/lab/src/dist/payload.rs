//! The files that every package contains: [`Payload`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use assay_testenv::workspace::root;

use super::bill_of_materials::BillOfMaterials;
use super::platform::Platform;
use super::read;
use crate::workspace::output;

/// The file of the licences of all dependencies.
pub(super) const THIRD_PARTY: &str = "THIRD-PARTY-LICENSES.txt";

/// The bill of materials, in the format of CycloneDX.
pub(super) const BILL: &str = "assay.cdx.json";

/// The texts of the project that belong into a package.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", LICENSES[0], LICENSES[1]];

/// The licences of the project.
pub(super) const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The shells with a completion script, and the file names that the shells expect.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "assay.bash"),
    ("elvish", "assay.elv"),
    ("fish", "assay.fish"),
    ("powershell", "_assay.ps1"),
    ("zsh", "_assay"),
];

/// The files of a package, and the time that they get.
pub(super) struct Payload {
    /// The program.
    pub(super) binary: Vec<u8>,
    /// All other files, by their path in the package.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// The time of all files, in seconds since 1970.
    pub(super) time: u64,
}

impl Payload {
    /// Collects the files for a binary. The binary is run: it prints its completion scripts and its
    /// manual pages.
    pub(super) fn collect(
        binary: &Path,
        platform: &Platform,
        time: u64,
    ) -> anyhow::Result<Payload> {
        let printed = |args: &[&str]| {
            let mut command = Command::new(binary);
            command.args(args);
            output(command).with_context(|| {
                format!("`{}` has to run on this machine to print its files", binary.display())
            })
        };
        let mut files = BTreeMap::new();
        for name in TEXTS {
            files.insert(name.to_owned(), read(&root().join(name))?);
        }
        for (shell, name) in COMPLETIONS {
            let script = printed(&["completions", shell])?;
            files.insert(format!("completions/{name}"), script.into_bytes());
        }
        let pages = tempfile::tempdir()?;
        printed(&["man", "--dir", &pages.path().to_string_lossy()])?;
        for page in fs::read_dir(pages.path())? {
            let page = page?;
            let name = format!("man/{}", page.file_name().to_string_lossy());
            files.insert(name, read(&page.path())?);
        }
        let bill = BillOfMaterials::of_product(&platform.triple)?;
        files.insert(BILL.to_owned(), bill.to_json(time)?.into_bytes());
        files.insert(THIRD_PARTY.to_owned(), bill.licenses()?.into_bytes());
        Ok(Payload { binary: read(binary)?, files, time })
    }

    /// Returns a file of the payload.
    pub(super) fn file(&self, name: &str) -> anyhow::Result<&[u8]> {
        let file = self.files.get(name);
        Ok(file.with_context(|| format!("the packages have no file `{name}`"))?)
    }
}
