//! Planted credentials are reported and redacted, and values that look like credentials are
//! neither.

use std::collections::BTreeSet;

use assay_rules::redact;
use assay_testkit::credentials::{LOOK_ALIKES, PlantedFile, Random, planted};

use crate::review;

const ALPHANUMERIC: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Returns the places, `file:line`, at which rules on secrets fire.
fn reported(files: &[(&str, &str)]) -> BTreeSet<(String, u32)> {
    let reviewed = review(&[], files);
    let votes = reviewed.report.votes.into_iter();
    let votes =
        votes.filter(|vote| vote.rule.as_deref().is_some_and(|rule| rule.starts_with("secret/")));
    votes.filter_map(|vote| Some((vote.file.as_ref()?.to_string(), vote.line()?))).collect()
}

fn as_files(planted: &[PlantedFile]) -> Vec<(&str, &str)> {
    planted.iter().map(|file| (file.path, file.text.as_str())).collect()
}

#[test]
fn every_planted_credential_is_reported_and_redacted() {
    for seed in 1..=5 {
        let files = planted(seed);
        let secrets: usize = files.iter().map(|file| file.secrets.len()).sum();
        assert!(files.len() >= 20 && secrets >= 60, "{} files, {secrets} credentials", files.len());
        let reported = reported(&as_files(&files));
        for file in &files {
            let shown = redact(&file.text);
            assert_eq!(shown.lines().count(), file.text.lines().count());
            for secret in &file.secrets {
                let at = (file.path.to_owned(), secret.line);
                assert!(reported.contains(&at), "{at:?} is not reported:\n{}", file.text);
                for value in &secret.values {
                    assert!(!shown.contains(value.as_str()), "`{value}` is shown:\n{shown}");
                }
            }
        }
    }
}

#[test]
fn no_look_alike_is_reported_or_redacted() {
    for (path, text) in LOOK_ALIKES {
        assert_eq!(redact(text), text, "{path}");
    }
    let named: Vec<(String, &str)> = LOOK_ALIKES
        .iter()
        .enumerate()
        .map(|(at, (path, text))| (format!("{at}/{path}"), *text))
        .collect();
    let files: Vec<(&str, &str)> =
        named.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    assert_eq!(reported(&files), BTreeSet::new());
}

#[test]
fn a_password_on_a_command_line_is_reported() {
    for line in [
        "curl -u deploy:orange7tree https://shop.io/a",
        "mysql -u root -porange7tree shop",
        "sshpass -p orange7tree ssh deploy@shop.io",
        "mysqldump -u backup --password='orange7tree' shop > shop.sql",
        "PGPASSWORD=orange7tree psql -h db.shop.io shop",
        "subprocess.run([\"curl\", \"-u\", \"deploy:orange7tree\", url])",
    ] {
        assert_eq!(reported(&[("run.sh", line)]).len(), 1, "{line}");
        assert!(!redact(line).contains("orange7tree"), "{line}");
    }
    for line in [
        "curl -u \"$USER:$PASSWORD\" https://shop.io/a",
        "curl -u deploy https://shop.io/a",
        "mysql -u root -p shop",
        "sshpass -e ssh deploy@shop.io",
        "mysqldump --port 3306 shop",
        "mysql -uroot -proot shop_test",
        "curl -u admin:admin https://shop.io/a",
        "PGPASSWORD=root psql -h db",
    ] {
        assert_eq!(redact(line), line);
    }
}

/// Checks that few random values are missed. Some of them look like words, so a small number is
/// accepted.
#[test]
fn hardly_any_random_value_is_missed() {
    let mut random = Random(7);
    for (alphabet, length) in [(ALPHANUMERIC, 20), (ALPHANUMERIC, 32), ("0123456789abcdef", 32)] {
        let values: Vec<String> = (0..2_000).map(|_| random.text(alphabet, length)).collect();
        let is_missed =
            |value: &&String| redact(&format!("api_key = \"{value}\"")).contains(value.as_str());
        let missed: Vec<&String> = values.iter().filter(is_missed).collect();
        assert!(missed.len() <= 20, "{} of {length} characters: {missed:?}", missed.len());
    }
}
