//! The platform that a binary runs on, in the words of each registry: [`Platform`].

use std::path::Path;

use anyhow::{Context, bail};

use super::read;

/// A platform, by its target triple.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Platform {
    /// The target triple, such as `x86_64-unknown-linux-gnu`.
    pub(super) triple: String,
    /// The platform tag of a wheel, such as `manylinux_2_34_x86_64`.
    pub(super) wheel_tag: String,
    /// The end of the name of the npm package, such as `linux-x64-gnu`.
    pub(super) npm_suffix: String,
    /// `os` of the npm package.
    pub(super) npm_os: &'static str,
    /// `cpu` of the npm package.
    pub(super) npm_cpu: &'static str,
    /// `libc` of the npm package; `None` if the binary needs none, or on other systems than Linux.
    pub(super) npm_libc: Option<&'static str>,
}

impl Platform {
    /// Returns the platform of a binary that was built for a target triple.
    pub(super) fn of(triple: &str, binary: &Path) -> anyhow::Result<Platform> {
        let glibc = match triple.ends_with("-gnu") {
            true => Some(
                required_glibc(&read(binary)?)
                    .with_context(|| format!("`{}` names no version of glibc", binary.display()))?,
            ),
            false => None,
        };
        Platform::new(triple, glibc)
    }

    /// Returns the platform of a target triple, with the newest version of glibc that the binary
    /// needs.
    fn new(triple: &str, glibc: Option<GlibcVersion>) -> anyhow::Result<Platform> {
        let (arch, system) = triple.split_once('-').context("a target triple has a `-`")?;
        let (npm_cpu, mac_arch) = match arch {
            "x86_64" => ("x64", "x86_64"),
            "aarch64" => ("arm64", "arm64"),
            other => bail!("no package is known for the processor `{other}` of `{triple}`"),
        };
        let linux = |wheel_tag: String, kind: &str, npm_libc| Platform {
            triple: triple.to_owned(),
            wheel_tag,
            npm_suffix: format!("linux-{npm_cpu}-{kind}"),
            npm_os: "linux",
            npm_cpu,
            npm_libc,
        };
        Ok(match (system, glibc) {
            ("unknown-linux-gnu", Some(GlibcVersion(major, minor))) => {
                linux(format!("manylinux_{major}_{minor}_{arch}"), "gnu", Some("glibc"))
            }
            // A static binary runs with each C library.
            ("unknown-linux-musl", _) => linux(
                format!("manylinux_2_17_{arch}.manylinux2014_{arch}.musllinux_1_1_{arch}"),
                "musl",
                None,
            ),
            ("apple-darwin", _) => Platform {
                triple: triple.to_owned(),
                wheel_tag: format!("macosx_11_0_{mac_arch}"),
                npm_suffix: format!("darwin-{npm_cpu}"),
                npm_os: "darwin",
                npm_cpu,
                npm_libc: None,
            },
            _ => bail!("no package is known for the target `{triple}`"),
        })
    }
}

/// Returns the end of the name of the npm package for a target.
pub(super) fn npm_suffix(triple: &str) -> anyhow::Result<String> {
    // The version of glibc is no part of the name.
    Ok(Platform::new(triple, Some(GlibcVersion(0, 0)))?.npm_suffix)
}

/// Returns the file name of the program on a target.
pub(super) fn program_name(triple: &str) -> &'static str {
    if triple.contains("windows") { "assay.exe" } else { "assay" }
}

/// A version of glibc, as major and minor number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GlibcVersion(u32, u32);

/// Returns the newest version of glibc that a binary names: the versions of symbols are texts in
/// the binary, each after a zero byte.
fn required_glibc(binary: &[u8]) -> Option<GlibcVersion> {
    let texts = binary.split(|byte| *byte == 0);
    let versions = texts.filter_map(|text| text.strip_prefix(b"GLIBC_"));
    versions.filter_map(parse_glibc).max()
}

fn parse_glibc(version: &[u8]) -> Option<GlibcVersion> {
    let mut numbers = std::str::from_utf8(version).ok()?.split('.').map(str::parse::<u32>);
    Some(GlibcVersion(numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_glibc_in_a_binary_counts() {
        let binary = b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0xGLIBC_9.9\0";
        assert_eq!(required_glibc(binary), Some(GlibcVersion(2, 34)));
        assert_eq!(required_glibc(b"\x7fELF"), None);
    }

    #[test]
    fn a_triple_has_a_tag_for_each_registry() {
        let platform = |triple, glibc| {
            let platform = Platform::new(triple, glibc).unwrap();
            format!("{} {} {:?}", platform.wheel_tag, platform.npm_suffix, platform.npm_libc)
        };
        assert_eq!(
            platform("aarch64-unknown-linux-gnu", Some(GlibcVersion(2, 34))),
            "manylinux_2_34_aarch64 linux-arm64-gnu Some(\"glibc\")"
        );
        assert_eq!(
            platform("x86_64-unknown-linux-musl", None),
            "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64 linux-x64-musl None"
        );
        assert_eq!(platform("aarch64-apple-darwin", None), "macosx_11_0_arm64 darwin-arm64 None");
    }

    #[test]
    fn a_target_without_packages_is_an_error_that_names_it() {
        for triple in ["riscv64gc-unknown-linux-gnu", "x86_64-pc-windows-msvc"] {
            let error = Platform::new(triple, None).unwrap_err().to_string();
            assert!(error.contains(triple), "{error}");
        }
    }
}
