//! The scripts that run the peers of the recovery measurement.
//!
//! Each reads a file with the texts of the cases and prints, for each text, one list of findings
//! for every way in which users of the library pass it a text. The best list counts.

/// Runs `json_repair` on the whole text, which it is designed for, and on the first JSON fence.
pub(super) const JSON_REPAIR: &str = r#"
import json
import re
import sys

import json_repair

FENCE = r"^[ \t]*`{3,}%s[ \t]*\n(.*?)(?:^[ \t]*`{3,}|\Z)"

def fenced(text):
    for language in ("json", r"[\w-]*"):
        match = re.search(FENCE % language, text, re.S | re.M)
        if match:
            return [match.group(1)]
    return []

def findings(value):
    if isinstance(value, (list, tuple)):
        return [found for item in value for found in findings(item)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("findings"), (list, tuple)):
        return findings(value["findings"])
    if "file" not in value:
        return []
    keys = ("file", "line_number", "severity", "description")
    return [[value.get(key) for key in keys]]

def read(text):
    try:
        return findings(json_repair.loads(text))
    except Exception:
        return []

with open(sys.argv[1], encoding="utf-8") as file:
    texts = json.load(file)
recovered = [[read(way) for way in [text, *fenced(text)]] for text in texts]
json.dump(recovered, sys.stdout, default=str)
"#;

/// Runs `jsonrepair`, which accepts bare JSON, on the first JSON fence and on the text in the
/// outermost brackets.
pub(super) const JSONREPAIR: &str = r#"
import { readFileSync } from 'node:fs'
import { jsonrepair } from 'jsonrepair'

function ways(text) {
  const ways = [text]
  for (const language of ['json', '[\\w-]*']) {
    const fence = new RegExp('^[ \\t]*`{3,}' + language + '[ \\t]*\\n([^]*?)(?:^[ \\t]*`{3,}|$(?![^]))', 'm')
    const match = fence.exec(text)
    if (match) {
      ways.push(match[1])
      break
    }
  }
  const start = text.search(/[{[]/)
  if (start >= 0) {
    ways.push(text.slice(start))
    ways.push(text.slice(start, Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1))
  }
  return ways
}

function findings(value) {
  if (Array.isArray(value)) return value.flatMap(findings)
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value.findings)) return findings(value.findings)
  if (!('file' in value)) return []
  return [[value.file, value.line_number, value.severity, value.description]]
}

function read(text) {
  try {
    return findings(JSON.parse(jsonrepair(text)))
  } catch {
    return []
  }
}

const texts = JSON.parse(readFileSync(process.argv[2], 'utf8'))
process.stdout.write(JSON.stringify(texts.map((text) => ways(text).map(read))))
"#;
