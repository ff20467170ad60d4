//! Addresses of files: [`to_path`] and [`from_path`].

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use assay_base::percent;

/// Returns the path of a `file` address on this machine; `None` for any other address.
pub(super) fn to_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            is_here.then(|| &rest[host.len()..])?
        }
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = PathBuf::from(percent::decode(path));
    (path.is_absolute() && !path.as_os_str().as_bytes().contains(&0)).then_some(path)
}

/// Returns the address of a file.
pub(super) fn from_path(path: &Path) -> String {
    format!("file://{}", percent::encode_path(path.as_os_str().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_conversion_to_a_uri_and_back() {
        for path in ["/a/b.rs", "/with space/é表/100%.rs", "/a#b?c", "/a+b@c:d"] {
            assert_eq!(to_path(&from_path(Path::new(path))).unwrap(), Path::new(path));
        }
    }

    #[test]
    fn only_uris_of_local_files_have_a_path() {
        assert_eq!(to_path("file:/a/b").unwrap(), Path::new("/a/b"));
        assert_eq!(to_path("FILE://localhost/a%20b").unwrap(), Path::new("/a b"));
        for uri in
            ["", "untitled:1", "file://host/a", "http://a/b", "file://", "file:a", "file:///a%00"]
        {
            assert_eq!(to_path(uri), None, "{uri}");
        }
    }
}
