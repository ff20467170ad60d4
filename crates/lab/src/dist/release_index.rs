//! The files that name the archives of all targets: checksums, install script, Homebrew formula,
//! and the npm package that chooses a platform.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_testenv::workspace::root;

use super::archive::archive_stem;
use super::payload::LICENSES;
use super::platform::npm_suffix;
use super::{LICENSE, SUMMARY, commit_time, file_name, npm, read, version};

/// The install script; `@…@` stands for a value.
const INSTALL: &str = include_str!("assets/install.sh");

/// The Homebrew formula; `@…@` stands for a value.
const FORMULA: &str = include_str!("assets/assay.rb");

/// The description of the container image; `@…@` stands for a value.
const DOCKERFILE: &str = include_str!("assets/Dockerfile");

/// An archive of a target, with its checksum.
#[derive(Debug, PartialEq, Eq)]
struct ReleasedArchive {
    triple: String,
    sha256: String,
}

/// Writes the index of the archives in a folder that are downloaded from `url`, and returns the
/// paths.
pub(super) fn write(folder: &Path, url: &str) -> anyhow::Result<Vec<PathBuf>> {
    let url = check_url(url)?;
    let archives = archives(folder)?;
    if archives.is_empty() {
        let (folder, version) = (folder.display(), version());
        bail!("`{folder}` has no archive of version {version}; run `cargo xtask dist` first");
    }
    let texts = [
        ("SHA256SUMS", Some(checksums(&archives))),
        ("install.sh", Some(install_script(&archives, url))),
        ("assay.rb", Some(formula(&archives, url))),
        ("Dockerfile", dockerfile(&archives)),
    ];
    let mut written = Vec::new();
    for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
        let path = folder.join(name);
        super::write(&path, text.as_bytes())?;
        written.push(path);
    }
    written.push(write_npm_chooser(&archives, folder)?);
    Ok(written)
}

fn write_npm_chooser(archives: &[ReleasedArchive], folder: &Path) -> anyhow::Result<PathBuf> {
    let suffixes: anyhow::Result<Vec<String>> =
        archives.iter().map(|archive| npm_suffix(&archive.triple)).collect();
    let mut files = Vec::new();
    for name in LICENSES.into_iter().chain(["README.md"]) {
        files.push((name, read(&root().join(name))?));
    }
    npm::write_chooser(&suffixes?, commit_time()?, folder, &files)
}

/// Returns the address without a slash at its end. Only `https` is accepted, and no character that
/// has a meaning in a shell or in Ruby.
fn check_url(url: &str) -> anyhow::Result<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:%+".contains(c);
    match url.starts_with("https://") && url.chars().all(is_plain) {
        true => Ok(url.trim_end_matches('/')),
        false => bail!("`{url}` is no address of a folder: expected `https://HOST/PATH`"),
    }
}

/// Returns the archives of this version in a folder, sorted by target.
fn archives(folder: &Path) -> anyhow::Result<Vec<ReleasedArchive>> {
    let mut found = Vec::new();
    let (start, end) = (archive_stem(""), ".tar.gz.sha256");
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = file_name(&path)?;
        let triple = name.strip_prefix(&start).and_then(|rest| rest.strip_suffix(end));
        if let Some(triple) = triple {
            let line = String::from_utf8(read(&path)?)?;
            let sum = line.split_whitespace().next();
            let sha256 = sum.with_context(|| format!("`{}` is empty", path.display()))?.to_owned();
            found.push(ReleasedArchive { triple: triple.to_owned(), sha256 });
        }
    }
    found.sort_by(|a, b| a.triple.cmp(&b.triple));
    Ok(found)
}

/// Returns the checksums in the form that `sha256sum --check` reads.
fn checksums(archives: &[ReleasedArchive]) -> String {
    let line = |archive: &ReleasedArchive| {
        format!("{}  {}.tar.gz\n", archive.sha256, archive_stem(&archive.triple))
    };
    archives.iter().map(line).collect()
}

/// Returns the install script, which contains the checksums: an archive that was exchanged on its
/// server is refused.
fn install_script(archives: &[ReleasedArchive], url: &str) -> String {
    let case =
        |archive: &ReleasedArchive| format!("    {}) sum={} ;;\n", archive.triple, archive.sha256);
    let cases: String = archives.iter().map(case).collect();
    INSTALL
        .replace("@VERSION@", version())
        .replace("@URL@", url)
        .replace("    @CHECKSUMS@\n", &cases)
}

/// Returns the description of the container image; `None` without an archive for musl, which the
/// image needs.
fn dockerfile(archives: &[ReleasedArchive]) -> Option<String> {
    let case = |archive: &ReleasedArchive| {
        let cpu = archive.triple.strip_suffix("-unknown-linux-musl")?;
        let name = if cpu == "aarch64" { "arm64" } else { "amd64" };
        let (triple, sum) = (&archive.triple, &archive.sha256);
        Some(format!("      {name}) target={triple}; sum={sum} ;; \\\n"))
    };
    let cases: String = archives.iter().filter_map(case).collect();
    let text = DOCKERFILE.replace("@VERSION@", version()).replace("@CHECKSUMS@\n", &cases);
    (!cases.is_empty()).then_some(text)
}

/// Returns the Homebrew formula. On Linux Homebrew brings its own glibc, so the static binary is
/// preferred there.
fn formula(archives: &[ReleasedArchive], url: &str) -> String {
    let block = |system: &str, cpu: &str, triples: &[String]| {
        let found = triples
            .iter()
            .find_map(|triple| archives.iter().find(|archive| archive.triple == *triple));
        found.map(|ReleasedArchive { triple, sha256 }| {
            let name = archive_stem(triple);
            format!(
                "  on_{system} do\n    on_{cpu} do\n      url \"{url}/{name}.tar.gz\"\n      \
                 sha256 \"{sha256}\"\n    end\n  end\n\n"
            )
        })
    };
    let blocks = [("intel", "x86_64"), ("arm", "aarch64")].into_iter().flat_map(|(cpu, arch)| {
        let mac = [format!("{arch}-apple-darwin")];
        let linux = ["musl", "gnu"].map(|libc| format!("{arch}-unknown-linux-{libc}"));
        [block("macos", cpu, &mac), block("linux", cpu, &linux)]
    });
    FORMULA
        .replace("@SUMMARY@", SUMMARY)
        .replace("@VERSION@", version())
        .replace("@LICENSE@", &ruby_license())
        .replace("@URL@", url)
        .replace("@BLOCKS@", blocks.flatten().collect::<String>().trim_end())
}

/// Returns the licence in the form of Homebrew.
fn ruby_license() -> String {
    let quoted: Vec<String> =
        LICENSE.split(" OR ").map(|license| format!("\"{license}\"")).collect();
    format!("any_of: [{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn released(triple: &str) -> ReleasedArchive {
        ReleasedArchive { triple: triple.to_owned(), sha256: "ab".repeat(32) }
    }

    #[test]
    fn an_address_that_is_not_https_or_has_characters_of_a_shell_is_refused() {
        for url in
            ["http://host/a", "https://host/$(id)", "https://host/a b", "https://host/\"", ""]
        {
            assert!(check_url(url).is_err(), "{url}");
        }
        assert_eq!(check_url("https://host/v1/").unwrap(), "https://host/v1");
    }

    #[test]
    fn archives_are_found_by_their_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let stem = archive_stem("x86_64-unknown-linux-gnu");
        std::fs::write(folder.path().join(format!("{stem}.tar.gz.sha256")), "12ab  x\n").unwrap();
        std::fs::write(folder.path().join("assay-0.0.0-other.tar.gz.sha256"), "12ab  x\n").unwrap();
        let triple = "x86_64-unknown-linux-gnu".to_owned();
        let expected = vec![ReleasedArchive { triple, sha256: "12ab".to_owned() }];
        assert_eq!(archives(folder.path()).unwrap(), expected);
    }

    #[test]
    fn the_formula_prefers_the_static_binary_and_has_no_open_place() {
        let triples = ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"];
        let text = formula(&triples.map(released), "https://host/v1");
        assert!(text.contains("x86_64-unknown-linux-musl.tar.gz"), "{text}");
        assert!(!text.contains("linux-gnu"), "{text}");
        assert!(!text.contains('@'), "{text}");
    }

    #[test]
    fn the_image_has_the_static_binaries_and_is_left_out_without_them() {
        let triples = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-musl"].map(released);
        let text = dockerfile(&triples).unwrap();
        let line = format!(
            "      arm64) target=aarch64-unknown-linux-musl; sum={} ;; \\\n",
            "ab".repeat(32)
        );
        assert!(text.contains(&line), "{text}");
        assert!(!text.contains("linux-gnu") && !text.contains('@'), "{text}");
        assert_eq!(dockerfile(&triples[..1]), None);
    }

    #[test]
    fn the_metadata_of_binstall_name_the_archives_and_the_program_in_them() {
        let manifest = std::fs::read_to_string(root().join("crates/assay/Cargo.toml")).unwrap();
        let (_, metadata) = manifest.split_once("[package.metadata.binstall]\n").unwrap();
        let value = |key: &str| {
            let line = metadata.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")));
            let text = line.unwrap().trim_matches('"').to_owned();
            let fill = |text: String, name: &str, value: &str| text.replace(name, value);
            let text = fill(text, "{ version }", version());
            let text = fill(text, "{ target }", "T");
            fill(fill(text, "{ bin }", "assay"), "{ binary-ext }", "")
        };
        let stem = archive_stem("T");
        assert!(value("pkg-url").ends_with(&format!("/v{}/{stem}.tar.gz", version())));
        assert_eq!(value("bin-dir"), format!("{stem}/assay"));
        assert_eq!(value("pkg-fmt"), "tgz");
    }

    #[test]
    fn the_install_script_has_a_checksum_for_each_target_and_no_open_place() {
        let text = install_script(&[released("x86_64-unknown-linux-gnu")], "https://host/v1");
        let line = format!("    x86_64-unknown-linux-gnu) sum={} ;;\n", "ab".repeat(32));
        assert!(text.contains(&line), "{text}");
        assert!(!text.contains("@VERSION@") && !text.contains("@URL@"), "{text}");
        assert!(!text.contains("@CHECKSUMS@"), "{text}");
    }

    /// Runs the install script with archives whose program is a script. Returns the output, and the
    /// output of the installed program.
    fn install(programs: &[(&str, &str)], exchanged: Option<&str>) -> (String, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("bin");
        let mut archives = Vec::new();
        for (libc, program) in programs {
            let triple = format!("{}-unknown-linux-{libc}", std::env::consts::ARCH);
            let stem = archive_stem(&triple);
            let (own, archive) = (folder.path().join(&stem), format!("{stem}.tar.gz"));
            std::fs::create_dir(&own).unwrap();
            std::fs::write(own.join("assay"), program).unwrap();
            run(folder.path(), "chmod", &["755", &format!("{stem}/assay")]);
            run(folder.path(), "tar", &["-czf", &archive, &stem]);
            let line = run(folder.path(), "sha256sum", &[&archive]);
            let sha256 = line.split_whitespace().next().unwrap().to_owned();
            archives.push(ReleasedArchive { triple, sha256 });
            if exchanged == Some(libc) {
                std::fs::write(folder.path().join(archive), "another archive").unwrap();
            }
        }
        let script = install_script(&archives, "https://host/v1");
        std::fs::write(folder.path().join("install.sh"), script).unwrap();
        let output = Command::new("sh")
            .arg(folder.path().join("install.sh"))
            .env("ASSAY_DOWNLOAD_URL", format!("file://{}", folder.path().display()))
            .env("ASSAY_INSTALL_DIR", &place)
            .output()
            .unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let installed = place.join("assay").exists().then(|| run(&place, "./assay", &[]));
        (said, installed)
    }

    fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_script_installs_the_first_package_that_runs() {
        let (works, fails) = ("#!/bin/sh\necho musl\n", "#!/bin/sh\nexit 127\n");
        let (said, installed) = install(&[("gnu", fails), ("musl", works)], None);
        assert_eq!(installed.as_deref(), Some("musl\n"), "{said}");
        let (said, installed) = install(&[("musl", works)], None);
        assert_eq!(installed.as_deref(), Some("musl\n"), "{said}");
        let (said, installed) = install(&[("musl", fails)], None);
        assert!(said.contains("does not run on this system; nothing was installed"), "{said}");
        assert_eq!(installed, None);
        let (said, installed) = install(&[("musl", works)], Some("musl"));
        assert!(said.contains("nothing was installed"), "{said}");
        assert_eq!(installed, None);
        let (said, installed) = install(&[], None);
        assert!(said.contains("has no package for"), "{said}");
        assert_eq!(installed, None);
    }
}
