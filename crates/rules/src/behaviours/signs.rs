//! The signs of each behaviour in a [`Unit`].

use std::collections::BTreeSet;

use super::Behaviour;
use super::unit::{Call, Operation, Unit, starts_transaction};

/// Returns the behaviours of a unit.
pub(super) fn behaviours_of(unit: &Unit) -> BTreeSet<Behaviour> {
    let queries: Vec<&Call> = unit.calls.iter().filter(|call| is_query(call)).collect();
    let in_loop = queries.iter().any(|call| Unit::is_in(&unit.loops, &call.range));
    let found = [
        (Behaviour::CheckThenAct, checks_then_acts(unit)),
        (Behaviour::Money, calculates(unit, &MONEY)),
        (Behaviour::Dates, calculates(unit, &DATES) || unit.calls.iter().any(moves_date)),
        (Behaviour::Identity, looks_up_outside_id(unit)),
        (Behaviour::Retry, retries(unit)),
        (Behaviour::Cache, unit.calls.iter().any(uses_cache) || declares_cache(unit)),
        (Behaviour::Query, !queries.is_empty()),
        (Behaviour::QueryInLoop, in_loop),
        (Behaviour::CallInTransaction, calls_in_transaction(unit)),
        (Behaviour::Rounding, rounds(unit)),
    ];
    found.into_iter().filter(|(_, is_there)| *is_there).map(|(behaviour, _)| behaviour).collect()
}

/// Words for amounts of money.
const MONEY: [&str; 20] = [
    "price", "prices", "amount", "amounts", "subtotal", "fee", "fees", "tax", "vat", "discount",
    "balance", "refund", "cents", "money", "payout", "commission", "salary", "surcharge",
    "deposit", "cost",
];

/// Words for points and spans of time.
const DATES: [&str; 16] = [
    "date", "day", "days", "month", "months", "deadline", "expires", "expiry", "timestamp",
    "today", "timedelta", "duration", "hours", "weeks", "datetime", "timezone",
];

/// Names of objects that store records.
const STORES: [&str; 18] = [
    "objects", "repository", "repo", "dao", "db", "database", "session", "conn", "connection",
    "cursor", "prisma", "knex", "pool", "collection", "entitymanager", "em", "tx", "sqlx",
];

/// Types that store no records.
const PLAIN_TYPES: [&str; 34] = [
    "Array", "Object", "Math", "JSON", "Promise", "Number", "String", "Map", "Set", "File", "Dir",
    "ENV", "Time", "Date", "DateTime", "Hash", "Cache", "Log", "Http", "Integer", "Float",
    "Kernel", "Process", "Logger", "Redis", "Storage", "Reflect", "Symbol", "Mail", "Http",
    "Carbon", "Config", "Str", "Arr",
];

/// Calls that only databases have.
const QUERIES: [&str; 26] = [
    "findone", "findbyid", "findunique", "findmany", "findfirst", "findall", "find_by",
    "find_by_id", "findorfail", "queryrow", "querycontext", "queryrowcontext", "execcontext",
    "executequery", "fetchone", "fetchall", "fetch_one", "fetch_all", "query_as",
    "preparestatement", "get_object_or_404", "find_each", "findoneby", "getrepository",
    "createquery", "query_row",
];

/// Calls that read records if the receiver is a store.
const READS: [&str; 20] = [
    "find", "get", "filter", "where", "first", "all", "query", "count", "exists", "exists?",
    "select", "load", "find_by", "first_or_fail", "firstorfail", "scalar", "one", "fetch", "pluck",
    "has",
];

/// Calls that write records, keys and files.
const WRITES: [&str; 40] = [
    "save", "save!", "create", "create!", "update", "update!", "update_all", "insert", "insertone",
    "updateone", "set", "put", "delete", "destroy", "remove", "decrement", "increment", "persist",
    "upsert", "add", "updatebyid", "saveall", "savechanges", "bulk_create", "insertgetid", "setex",
    "hset", "incr", "decr", "write", "save_", "update_column", "update_attribute", "forcefill",
    "findbyidandupdate", "updatemany", "deletemany", "createmany", "store", "saveandflush",
];

const FILE_TESTS: [&str; 9] = [
    "exists", "existssync", "exist?", "isfile", "is_file", "file_exists", "stat", "exist", "access",
];

const FILE_WRITES: [&str; 18] = [
    "open", "write", "writefile", "writefilesync", "write_text", "create", "mkdir", "makedirs",
    "unlink", "remove", "rename", "file_put_contents", "fopen", "writestring", "mkdirsync",
    "unlinksync", "openfile", "create_dir",
];

/// Splits an identifier or a text into its words, in lower case: `orderTotal` has two.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("one is there").extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_word(text: &str, known: &[&str]) -> bool {
    words(text).iter().any(|word| known.contains(&word.as_str()))
}

/// Returns the verb of an SQL statement in a text, and its table.
fn statement(text: &str) -> Option<(String, String)> {
    let start = text.find(['"', '\'', '`'])?;
    let parts = words_of_sql(&text[start..]);
    let verb = parts.first()?.clone();
    let before = match verb.as_str() {
        "select" | "delete" => "from",
        "insert" => "into",
        "update" => "update",
        _ => return None,
    };
    let at = parts.iter().position(|part| part == before)?;
    Some((verb, parts.get(at + 1)?.clone()))
}

fn words_of_sql(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let parts = text.split(|c| !is_part(c)).filter(|part| !part.is_empty());
    // A string may have a prefix: `f"…"`, `r#"…"#`.
    let parts = parts.map(str::to_lowercase).skip_while(|part| part.len() == 1);
    parts.take(400).collect()
}

fn is_store(call: &Call) -> bool {
    let root = call.root();
    let last = root.rsplit(['.', ':', '>', '$', '@']).next().unwrap_or(root);
    let ends = words(last).last().cloned().unwrap_or_default();
    let first = root.split(['.', ':']).next().unwrap_or(root);
    let is_record = call.on_constant || is_constant_chain(call);
    STORES.contains(&ends.as_str())
        || has_word(root, &["prisma", "objects", "knex"])
        || (is_record && !PLAIN_TYPES.contains(&first))
}

/// Returns true if a chain of calls begins with a type: `Order::where(…)->first()`.
fn is_constant_chain(call: &Call) -> bool {
    let root = call.root();
    call.receiver.contains('(')
        && root.starts_with(char::is_uppercase)
        && root.chars().all(char::is_alphanumeric)
}

fn is_query(call: &Call) -> bool {
    let name = call.name.to_lowercase();
    let is_named = |names: &[&str]| names.contains(&name.as_str());
    let by_name = is_named(&QUERIES) || name.starts_with("findby") || name.starts_with("existsby");
    let is_sql = is_named(&["execute", "exec", "query", "raw", "prepare", "get", "all", "run"])
        && statement(&call.arguments).is_some();
    by_name || is_sql || (is_store(call) && (is_named(&READS) || is_named(&WRITES)))
}

/// Returns true if an arithmetic operation uses a name with one of some words.
fn calculates(unit: &Unit, known: &[&str]) -> bool {
    let is_about = |operation: &Operation| {
        // Long operands are calls that contain functions, which are analysed separately.
        let is_short = operation.text.len() < 200;
        is_short && operation.operator != "%" && has_word(&operation.text, known)
    };
    unit.arithmetic.iter().any(is_about)
}

fn moves_date(call: &Call) -> bool {
    let parts = words(&call.name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let units = [
        "second", "minute", "hour", "day", "week", "month", "year", "quarter", "seconds",
        "minutes", "hours", "days", "weeks", "months", "years", "date", "duration",
    ];
    let moves = ["add", "sub", "plus", "minus", "diff", "subtract", "set"];
    let is_move = |at: usize| moves.contains(&parts[at]) && units.contains(&parts[parts.len() - 1]);
    let is_span = matches!(call.name.as_str(), "timedelta" | "relativedelta" | "AddDate");
    is_span || (parts.len() > 1 && is_move(0))
}

/// Returns the lines of a unit's header with annotations or decorators.
fn annotations(unit: &Unit) -> String {
    let lines = unit.header.lines().filter(|line| line.contains('@'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns true if a function looks up a record by an id from a request.
fn looks_up_outside_id(unit: &Unit) -> bool {
    let outside = ["request", "req", "params", "payload"];
    let markers = ["PathVariable", "RequestParam", "RequestBody", "gin.Context", "web::Path"];
    let from_header = has_word(&unit.header, &["request", "req"])
        || markers.iter().any(|marker| unit.header.contains(marker));
    let is_outside = from_header || unit.names.iter().any(|name| has_word(name, &outside));
    let has_id = |call: &Call| has_word(&call.arguments, &["id", "uuid", "slug", "pk", "number"]);
    is_outside && unit.calls.iter().any(|call| is_query(call) && has_id(call))
}

fn retries(unit: &Unit) -> bool {
    let known = ["retry", "retries", "retrying", "backoff", "retryable", "tenacity"];
    let is_named = unit.names.iter().any(|name| has_word(name, &known));
    let counts = unit.names.iter().any(|name| has_word(name, &["attempt", "attempts", "tries"]));
    let is_marked = has_word(&annotations(unit), &known);
    is_named || is_marked || (counts && !unit.loops.is_empty())
}

fn uses_cache(call: &Call) -> bool {
    let verbs = [
        "get", "set", "put", "fetch", "remember", "forget", "delete", "del", "invalidate", "evict",
        "setex", "expire", "insert", "add", "has", "remove", "get_or_set", "clear", "getifpresent",
        "getorset", "exists", "setnx",
    ];
    let known = ["cache", "caches", "redis", "memcached", "memcache", "caching"];
    verbs.contains(&call.name.to_lowercase().as_str()) && has_word(&call.receiver, &known)
}

fn declares_cache(unit: &Unit) -> bool {
    let known = ["lru", "cacheable", "cacheevict", "cacheput", "memoize"];
    words(&annotations(unit).replace("CacheE", "Cachee"))
        .iter()
        .any(|word| known.contains(&word.as_str()))
}

fn rounds(unit: &Unit) -> bool {
    let known = [
        "round", "floor", "ceil", "trunc", "tofixed", "quantize", "setscale", "intdiv",
        "number_format", "rounddown", "roundup",
    ];
    let is_call = |call: &Call| known.contains(&call.name.to_lowercase().as_str());
    unit.calls.iter().any(is_call) || unit.arithmetic.iter().any(|it| it.operator == "//")
}

/// Returns true if another system is called while a transaction is open: in a block of a
/// transaction, between its begin and its commit, or in a function that is a transaction as a
/// whole.
fn calls_in_transaction(unit: &Unit) -> bool {
    let marks = annotations(unit);
    let is_whole = marks.contains("Transactional") || marks.contains("atomic");
    let begins = unit.calls.iter().filter(|call| {
        let name = call.name.to_lowercase();
        let opens = ["begin", "begintx", "begintransaction", "starttransaction", "transaction"];
        !call.takes_function
            && opens.contains(&name.as_str())
            && !starts_transaction(&call.arguments)
    });
    let commits = |from: usize| {
        let ends =
            |call: &&Call| call.name.eq_ignore_ascii_case("commit") && call.range.start > from;
        // A deferred commit does not end the transaction at its position.
        unit.calls.iter().find(ends).map_or(unit.end, |call| call.range.start)
    };
    let open: Vec<std::ops::Range<usize>> = begins
        .map(|call| call.range.end..commits(call.range.end))
        .chain(unit.transactions.iter().cloned())
        .collect();
    let is_open = |call: &Call| is_whole || Unit::is_in(&open, &call.range);
    unit.calls.iter().any(|call| is_external(call) && is_open(call))
}

/// Returns true if a call goes to another system, by the names of common clients.
fn is_external(call: &Call) -> bool {
    let clients = [
        "requests", "httpx", "axios", "http", "webclient", "faraday", "httparty", "guzzle",
        "stripe", "gateway", "mailer", "mail", "sqs", "sns", "s3", "kafka", "producer",
        "publisher", "smtp", "twilio", "sendgrid", "reqwest", "paypal", "notifier", "webhook",
        "mailgun", "slack",
    ];
    let names =
        ["fetch", "urlopen", "send_mail", "sendmail", "deliver_now", "deliver", "sendemail"];
    let is_client = has_word(call.root(), &clients)
        || call.root().contains("restTemplate")
        || call.root().contains("httpClient");
    is_client
        || (names.contains(&call.name.to_lowercase().as_str())
            && !is_store(call)
            && !uses_cache(call))
}

/// Returns true if a record, key or file is read and tested, and then written, in one function.
fn checks_then_acts(unit: &Unit) -> bool {
    unit.calls.iter().any(|read| {
        let later = || unit.calls.iter().filter(|call| call.range.start >= read.range.end);
        reads_record(read) && later().any(|write| writes_same(unit, read, write))
            || is_file_test(read) && later().any(|write| writes_file(read, write))
    })
}

fn reads_record(call: &Call) -> bool {
    let name = call.name.to_lowercase();
    let is_read = READS.contains(&name.as_str()) && (is_store(call) || uses_cache(call));
    let is_sql = statement(&call.arguments).is_some_and(|(verb, _)| verb == "select");
    is_read
        || is_sql
        || (QUERIES.contains(&name.as_str()) && statement(&call.arguments).is_none())
        || name.starts_with("findby")
        || name.starts_with("existsby")
}

/// Returns true if a call writes the record that another call has read, with a test or a use of the
/// value in between.
fn writes_same(unit: &Unit, read: &Call, write: &Call) -> bool {
    let name = write.name.to_lowercase();
    let sql = (statement(&read.arguments), statement(&write.arguments));
    let held = unit
        .assigned
        .iter()
        .filter(|(_, value)| value.start <= read.range.start && read.range.end <= value.end);
    let held: Vec<&str> = held.map(|(name, _)| name.as_str()).collect();
    let mentions = |text: &str| held.iter().any(|name| has_name(text, name));
    let is_same = match sql {
        (Some((_, one)), Some((verb, other))) => verb != "select" && one == other,
        (None, None) if WRITES.contains(&name.as_str()) => {
            let is_held = mentions(&write.receiver) || mentions(&write.arguments);
            is_held || (read.root() == write.root() && same_key(read, write))
        }
        (None, None | Some(_)) | (Some(_), None) => false,
    };
    let between = read.range.start..write.range.end;
    let is_tested = unit.branches.iter().any(|branch| {
        let begins_between = between.contains(&branch.start);
        begins_between || (branch.start <= read.range.start && read.range.end <= branch.end)
    });
    let is_computed = unit.arithmetic.iter().any(|operation| mentions(&operation.text));
    is_same && (is_tested || is_computed)
}

/// Returns true if the key that is read is the key that is written; records of one type count as
/// equal.
fn same_key(read: &Call, write: &Call) -> bool {
    !uses_cache(read) || read.first_argument() == write.first_argument()
}

fn has_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
    !name.is_empty() && text.split(|c| !is_part(c)).any(|part| part == name)
}

fn is_file_test(call: &Call) -> bool {
    let is_of_files = has_word(call.root(), &["path", "fs", "file", "files", "os"]);
    FILE_TESTS.contains(&call.name.to_lowercase().as_str())
        && (is_of_files || call.root().is_empty() || call.first_argument().is_empty())
}

fn writes_file(test: &Call, write: &Call) -> bool {
    let subject = match test.first_argument() {
        "" => test.root(),
        argument => argument,
    };
    let is_write = FILE_WRITES.contains(&write.name.to_lowercase().as_str());
    is_write
        && !subject.is_empty()
        && (write.first_argument() == subject || write.root() == subject)
}
