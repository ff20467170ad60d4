//! `assay review --dry-run --prompts`: the prompts of a review in files.

use super::*;

/// Returns the text without the delimiters, which are different in every run.
fn without_marks(text: &str) -> String {
    let is_mark =
        |word: &str| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let replace = |word: &str| match is_mark(word.trim_end_matches(|c: char| !c.is_alphanumeric()))
    {
        true => format!("MARK{}", &word[16..]),
        false => word.to_owned(),
    };
    words.map(replace).collect()
}

/// Returns all texts of a value with the key `text`, in order.
fn texts(value: &Value) -> String {
    match value {
        Value::Array(parts) => parts.iter().map(texts).collect(),
        Value::Object(part) if part.contains_key("text") => texts(&part["text"]),
        Value::Object(part) if part.contains_key("content") => texts(&part["content"]),
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

/// Returns the number of equal bytes at the beginning of two texts.
fn equal_bytes(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// Returns the texts of the prompts in a folder, by file name.
fn previews(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    files.iter().map(read).collect()
}

#[test]
fn the_prompts_of_a_dry_run_are_those_that_the_review_sends() {
    let case = Case::new("");
    // A rule reports a finding, which models get.
    let flawed = format!("{AFTER}\n\ndef run(code):\n    return eval(code)\n");
    case.repository.write("shop.py", &flawed);
    case.repository.commit("runs code");
    let folder = case.repository.path().join(".assay/prompts");
    let to = folder.to_str().unwrap();
    let ran = case.review(&["--dry-run", "--prompts", to]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(case.asked(), 0);
    assert_eq!(ran.stderr, format!("wrote 4 prompts to `{to}`\n"));
    let previews = previews(&folder);
    let names: Vec<&str> = previews.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["correctness-1.md", "intent-1.md", "security-1.md", "testing-1.md"]);
    let shown = previews.iter().map(|(_, text)| without_marks(text)).collect::<Vec<_>>();
    assert!(shown.iter().any(|text| text.contains("python/eval")), "{}", shown[0]);

    case.review(&[]);
    let sent: Vec<Value> = case
        .server
        .requests()
        .iter()
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    for (name, preview) in names.iter().zip(&shown) {
        let text = |body: &Value| {
            let (system, message) = (texts(&body["system"]), texts(&body["messages"]));
            // The dialect adds the tool by which the model answers.
            let system = system.split("\n\nGive your answer by calling the tool").next().unwrap();
            without_marks(&format!("# Instructions\n\n{system}\n\n# Message\n\n{message}\n\n#"))
        };
        let sent = sent.iter().map(text);
        let nearest = sent.max_by_key(|text| equal_bytes(text, preview)).unwrap();
        let (of_sent, of_preview) = nearest.split_at(equal_bytes(&nearest, preview));
        assert_eq!(of_preview, "", "{name} differs after {of_sent:?}");
    }
}

#[test]
fn prompts_are_not_written_over_other_files_and_only_in_a_dry_run() {
    let case = Case::new("");
    let folder = case.repository.path().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("correctness-1.md"), "mine").unwrap();
    let ran = case.review(&["--dry-run", "--prompts", "notes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("cannot write prompts to `notes`: the folder is not empty"));
    assert_eq!(fs::read_to_string(folder.join("correctness-1.md")).unwrap(), "mine");
    let ran = case.review(&["--prompts", "notes"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--dry-run"), "{}", ran.stderr);
}
