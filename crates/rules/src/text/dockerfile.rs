//! Instructions of Dockerfiles: [`unchecked_download`] and [`unchecked_certificates`].

use std::sync::LazyLock;

use regex::Regex;

use super::AddedLines;
use crate::language::CodeContainer;
use crate::rule_match::RuleMatch;

static ADDED_ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*ADD\s+(.*\s)?https?://\S+\s+\S").expect("the pattern is valid")
});

/// Variables with which programs stop checking certificates.
static UNCHECKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)^\s*(?i:ENV|&&|\\)?\s*(?:export\s+)?(?:.*\s)?
        (?:NODE_TLS_REJECT_UNAUTHORIZED[=\ ]["']?0
          | PYTHONHTTPSVERIFY[=\ ]["']?0
          | GIT_SSL_NO_VERIFY[=\ ]["']?(?:1|true)
          | NPM_CONFIG_STRICT_SSL[=\ ]["']?false
          | CURL_INSECURE[=\ ]["']?1)["']?\s*(?:\\|&&.*|\s.*)?$"#,
    )
    .expect("the pattern is valid")
});

/// Finds files that are downloaded without a checksum.
pub(super) fn unchecked_download(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    let is_unchecked = |line: &str| ADDED_ADDRESS.is_match(line) && !line.contains("--checksum");
    find(added, &is_unchecked)
}

/// Finds variables that switch the checks of certificates off.
pub(super) fn unchecked_certificates(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    find(added, &|line| UNCHECKED.is_match(line))
}

fn find(added: &AddedLines<'_>, is_wanted: &dyn Fn(&str) -> bool) -> Vec<RuleMatch> {
    if CodeContainer::of(added.path) != Some(CodeContainer::Dockerfile) {
        return Vec::new();
    }
    let lines = added.lines.iter().filter(|(_, line)| !line.trim_start().starts_with('#'));
    let wanted = lines.filter(|(_, line)| is_wanted(line));
    wanted.filter_map(|(number, line)| RuleMatch::on_line(*number, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_findings::vote::LineRange;

    #[test]
    fn downloads_and_certificates_without_a_check_are_found_in_dockerfiles_alone() {
        let all = || std::iter::once(LineRange::range(1, 1).unwrap());
        let count = |path: &str, text: &str| {
            let added = AddedLines::new(path, text, all());
            (unchecked_download(&added).len(), unchecked_certificates(&added).len())
        };
        assert_eq!(count("Dockerfile", "ADD https://a.example/a.tar.gz /opt/"), (1, 0));
        assert_eq!(count("Dockerfile", "ENV NODE_TLS_REJECT_UNAUTHORIZED=0"), (0, 1));
        assert_eq!(count("Dockerfile", "ENV GIT_SSL_NO_VERIFY true"), (0, 1));
        let checked = "ADD --checksum=sha256:1 https://a.example/a.tar.gz /opt/";
        for text in [checked, "ADD a.tar.gz /opt/", "ENV NODE_TLS_REJECT_UNAUTHORIZED=1"] {
            assert_eq!(count("Dockerfile", text), (0, 0), "{text}");
        }
        assert_eq!(count("a.md", "ADD https://a.example/a.tar.gz /opt/"), (0, 0));
    }
}
