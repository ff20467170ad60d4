//! The configuration file: its schema, the file that `assay init` writes, the examples of the
//! manual, and the page that lists all keys.

mod page;
mod places;
mod schema_node;
mod string_literals;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use assay_base::clock::Clock;
use assay_engine::config::{self, Configuration};
use assay_engine::environment::Environment;
use assay_testkit::Repository;
use jsonschema::Validator;
use serde_json::Value;

use self::string_literals::string_literals;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the schema as `assay schema` prints it.
fn schema() -> Value {
    let ran = crate::assay(&["schema", config::schema::NAME], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.json()
}

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).unwrap()
}

/// Parses YAML; `None` if the text is not valid or has a key twice.
fn yaml(text: &str) -> Option<Value> {
    let options = serde_saphyr::options! { emit_comments: false };
    serde_saphyr::from_str_with_options(text, options).ok()
}

/// Returns true if a YAML value has only sections of the configuration, and at least one.
fn is_configuration(value: &Value, schema: &Value) -> bool {
    let sections = schema["properties"].as_object().unwrap();
    let keys = value.as_object();
    keys.is_some_and(|keys| !keys.is_empty() && keys.keys().all(|key| sections.contains_key(key)))
}

/// Returns the errors of the schema.
fn schema_errors(validator: &Validator, value: &Value) -> Vec<String> {
    let errors = validator.iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Parses a configuration with all checks. Each variable that the text names has the value 1.
fn parse(text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(config::PATH);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let names = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
    let variables = names.map(|(name, _)| (name.to_owned(), "1".to_owned()));
    let environment = Environment::new(variables, &Clock::system(), Vec::new);
    let parsed = Configuration::on_disk(&environment, folder.path());
    parsed.map(|_| ()).map_err(|error| format!("{error:#}"))
}

/// Returns all files below a folder with an extension, sorted.
fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == extension) => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// Returns the YAML blocks of a page, and the texts that its commands write into YAML files.
fn yaml_examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let written = page.split("<<'YAML'\n").skip(1).filter_map(|rest| rest.split_once("\n> YAML"));
    let written = written.map(|(text, _)| text);
    blocks.map(|(text, _)| text).chain(written).collect()
}

#[test]
fn the_file_that_init_writes_is_valid_by_the_schema_and_accepted_by_the_parser() {
    let repository = Repository::new();
    assert_eq!(crate::assay_in(repository.path(), &["init"], b"").code, 0);
    let text = fs::read_to_string(repository.file(config::PATH)).unwrap();
    assert_eq!(schema_errors(&validator(), &yaml(&text).unwrap()), Vec::<String>::new());
    assert_eq!(parse(&text), Ok(()));
}

#[test]
fn every_example_of_the_manual_is_valid_by_the_schema_and_accepted_by_the_parser() {
    let (schema, validator) = (schema(), validator());
    let mut checked = 0;
    for page in files_below(&Path::new(ROOT).join("docs"), "md") {
        let text = fs::read_to_string(&page).unwrap();
        for example in yaml_examples(&text) {
            let example = example.replace("\n> ", "\n");
            let example = example.strip_prefix("> ").unwrap_or(&example);
            let Some(value) = yaml(example) else { panic!("{}: {example}", page.display()) };
            if value
                .as_object()
                .is_none_or(|keys| !keys.keys().any(|key| schema["properties"].get(key).is_some()))
            {
                continue;
            }
            let errors = schema_errors(&validator, &value);
            assert!(errors.is_empty(), "{}: {errors:?}\n{example}", page.display());
            assert_eq!(parse(example), Ok(()), "{}:\n{example}", page.display());
            checked += 1;
        }
    }
    assert!(checked >= 14, "only {checked} examples");
}

#[test]
fn the_schema_refuses_no_configuration_of_a_test_that_the_parser_accepts() {
    let (schema, validator) = (schema(), validator());
    let mut accepted = 0;
    let folders = ["crates/assay/tests", "crates/engine/src/config", "crates/testkit/src"];
    for file in folders.iter().flat_map(|folder| files_below(&Path::new(ROOT).join(folder), "rs")) {
        for text in string_literals(&fs::read_to_string(&file).unwrap()) {
            let value = yaml(&text).filter(|value| is_configuration(value, &schema));
            let Some(value) = value.filter(|_| parse(&text).is_ok()) else { continue };
            let errors = schema_errors(&validator, &value);
            assert!(errors.is_empty(), "{}: {errors:?}\n{text}", file.display());
            accepted += 1;
        }
    }
    assert!(accepted >= 60, "only {accepted} configurations");
}

#[test]
fn a_count_of_zero_is_refused_by_every_command_that_reads_the_configuration() {
    let repository = Repository::new();
    repository.write(config::PATH, "review:\n  at_a_time: 0\n");
    repository.commit("configured");
    repository.write("a.py", "x = 1\n");
    for args in [["review"], ["doctor"]] {
        let ran = crate::assay_in(repository.path(), &args, b"");
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 2, "{args:?}: {printed}");
        assert!(printed.contains("line 2 (`at_a_time`): invalid value"), "{args:?}: {printed}");
    }
}
