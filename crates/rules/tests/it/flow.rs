//! Rules that follow data, on whole changes.

use assay_findings::tier::EvidenceTier;
use assay_findings::trace::TraceStep;
use assay_findings::vote::Confidence;
use assay_rules::{RuleSelection, Rulebook};
use assay_testkit::Repository;
use expect_test::expect;

use crate::review;

const SERVLET: &str = r#"class A extends HttpServlet {
  private Connection connection;

  void doPost(HttpServletRequest request, HttpServletResponse response) throws Exception {
    Reader reader = new Reader(request);
    String name = reader.read("name");
    connection.prepareStatement("SELECT 1 FROM t WHERE n = '" + name + "'");
  }
}
"#;

const READER: &str = r#"class Reader {
  private HttpServletRequest request;

  Reader(HttpServletRequest request) {
    this.request = request;
  }

  String read(String name) {
    return request.getParameter(name);
  }
}
"#;

fn shown(trace: &[TraceStep]) -> String {
    let lines = trace
        .iter()
        .map(|step| format!("{} {}:{} {}\n", step.role.as_str(), step.file, step.line, step.code));
    lines.collect()
}

/// Returns the rules with a trace that fire, each with its line.
fn fired(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    let votes = review(before, after).report.votes;
    let traced = votes.into_iter().filter(|vote| !vote.trace.is_empty());
    traced
        .map(|vote| {
            let (rule, line) = (vote.rule.unwrap_or_default(), vote.lines.map(|l| l.start()));
            format!("{rule} {}", line.unwrap_or(0))
        })
        .collect()
}

#[test]
fn code_from_a_request_is_one_finding_with_the_graver_grade() {
    let code = "app.get('/', (req, res) => {\n  eval(req.query.formula);\n});\n";
    let votes = review(&[], &[("a.js", code)]).report.votes;
    let [vote] = &votes[..] else { panic!("{votes:?}") };
    assert_eq!(vote.rule.as_deref(), Some("javascript/eval"));
    assert_eq!((vote.grade.word(), vote.trace.len()), ("CRITICAL", 2));
}

#[test]
fn data_is_followed_through_a_class_of_another_file() {
    let result = review(
        &[("src/Reader.java", READER)],
        &[("src/Reader.java", READER), ("src/A.java", SERVLET)],
    );
    let vote = result.report.votes.iter().find(|vote| !vote.trace.is_empty()).unwrap();
    assert_eq!(vote.rule.as_deref(), Some("java/sql-injection"));
    expect![[r#"
        source src/Reader.java:9 request.getParameter(name)
        step src/A.java:6 reader.read("name")
        sink src/A.java:7 connection.prepareStatement("SELECT 1 FROM t WHERE n = '" + name + "'")
    "#]]
    .assert_eq(&shown(&vote.trace));
}

#[test]
fn a_pattern_is_silent_only_if_the_suspected_text_is_constant() {
    for (code, expected) in [
        ("eval(request.args[\"a\"])", Some("python/eval-of-input")),
        ("eval(request.args[\"a\" + \"b\"])", Some("python/eval-of-input")),
        ("eval(request.args.get(\"a\" + \"b\"))", Some("python/eval-of-input")),
        ("db.execute(\"SELECT * FROM t WHERE a = '\" + a + \"'\")", Some("python/sql-injection")),
        (
            "db.execute(\"SELECT * FROM t WHERE n = \" + lookup(\"a\" + \"b\"))",
            Some("python/sql-injection"),
        ),
        ("db.execute(\"SELECT * FROM t WHERE n = \" + \"1\")", None),
    ] {
        let text = format!("def f(a):\n    return {code}\n");
        let votes = review(&[], &[("src/a.py", &text)]).report.votes;
        let rules: Vec<&str> = votes.iter().filter_map(|vote| vote.rule.as_deref()).collect();
        assert_eq!(rules, expected.into_iter().collect::<Vec<_>>(), "{code}");
    }
}

#[test]
fn a_helper_that_returns_a_constant_carries_no_data() {
    let harmless = READER.replace("request.getParameter(name)", "\"none\"");
    let reader = ("src/Reader.java", harmless.as_str());
    assert!(fired(&[reader], &[reader, ("src/A.java", SERVLET)]).is_empty());
}

#[test]
fn a_flow_that_the_change_does_not_touch_is_not_reported() {
    let after = format!("// A comment\n{SERVLET}");
    let before = [("src/A.java", SERVLET), ("src/Reader.java", READER)];
    let after = [("src/A.java", after.as_str()), ("src/Reader.java", READER)];
    assert!(fired(&before, &after).is_empty());
}

#[test]
fn a_touched_source_is_reported_where_the_change_is() {
    let before = SERVLET.replace("reader.read(\"name\")", "\"none\"");
    let before = [("src/A.java", before.as_str()), ("src/Reader.java", READER)];
    let after = [("src/A.java", SERVLET), ("src/Reader.java", READER)];
    assert_eq!(fired(&before, &after), ["java/sql-from-request 6"]);
}

#[test]
fn recursion_ends() {
    let text = r#"class A {
  void f(HttpServletRequest request) throws Exception {
    Runtime.getRuntime().exec(g(request.getParameter("a"), 9));
  }

  String g(String value, int n) {
    return n == 0 ? value : g(value + n, n - 1);
  }
}
"#;
    assert_eq!(fired(&[], &[("src/A.java", text)]), ["java/command-from-request 3"]);
}

#[test]
fn a_function_beyond_the_budget_is_reported_as_not_covered() {
    let lines = "    x = x.trim();\n".repeat(30_000);
    let text = format!("class A {{\n  void f(String x) {{\n{lines}  }}\n}}\n");
    let result = review(&[], &[("src/A.java", &text)]);
    let expected = "`f` in src/A.java (its data was not followed to the end: the function is too \
                    large)";
    assert_eq!(result.report.remarks.not_covered, [expected]);
}

#[test]
fn deeply_nested_code_is_not_covered_and_does_no_harm() {
    let calls = format!("{}x{}", "f(".repeat(400), ")".repeat(400));
    let text = format!("def f(x):\n    return {calls}\n\n\ndef g(x):\n    return f(x)\n");
    let result = review(&[], &[("a.py", &text)]);
    let expected = "`f` in a.py (its data was not followed to the end: the function is too large)";
    assert!(result.report.remarks.not_covered.iter().any(|line| line == expected));
    let nested = "    x = [x]\n".repeat(3_000);
    let text = format!(
        "import os\nfrom flask import request\n\n\ndef f():\n    x = request.args['a']\n{nested}    \
         os.system(x)\n"
    );
    assert_eq!(fired(&[], &[("a.py", &text)]), ["python/command-from-request 3007"]);
}

#[test]
fn a_pattern_that_fires_at_the_same_place_gets_the_trace() {
    let text = "import os\nfrom flask import request\n\n\ndef f():\n    \
                os.system(f\"rm {request.args['name']}\")\n";
    let votes = review(&[], &[("a.py", text)]).report.votes;
    let rules: Vec<Option<&str>> = votes.iter().map(|vote| vote.rule.as_deref()).collect();
    assert_eq!(rules, [Some("python/shell-injection")]);
    assert_eq!(votes[0].trace.len(), 2);
}

const OWN_RULE: &str = "id: house/no-raw-names
language: Python
message: Name is logged
severity: warning
flow:
  sources: ['house.names(...)']
  sinks: ['house.log($)']
  sanitizers: ['house.clean(...)']
";

fn review_by(rules: &str, text: &str) -> Vec<String> {
    let files = [("house.yml".to_owned(), rules.to_owned())];
    rules_that_fire(&Rulebook::with_repository_rules(files).unwrap(), text)
}

/// Returns the rules that fire on the file `a.py`.
fn rules_that_fire(rulebook: &Rulebook, text: &str) -> Vec<String> {
    let repository = Repository::new();
    repository.write("a.py", text);
    repository.commit("change");
    let scope = assay_change::Scope::Commits("HEAD".to_owned());
    let selection = assay_change::Selection::default();
    let change = assay_change::open(repository.path(), &scope, &selection).unwrap();
    let votes = rulebook.review(&change).report.votes;
    votes.into_iter().filter_map(|vote| vote.rule).collect()
}

#[test]
fn a_rule_of_the_repository_follows_data() {
    let dirty = "import house\n\nhouse.log(house.names(1).upper())\n";
    let clean = "import house\n\nhouse.log(house.clean(house.names(1)))\n";
    assert_eq!(review_by(OWN_RULE, dirty), ["house/no-raw-names"]);
    assert!(review_by(OWN_RULE, clean).is_empty());
}

#[test]
fn no_other_rule_reports_the_parameter_of_a_pattern_that_is_off() {
    let pattern = "python/eval-of-parameter";
    let off = format!("id: {pattern}\nlanguage: Python\nseverity: off\nrule: {{ regex: '^$' }}\n");
    let by_file = Rulebook::with_repository_rules([("off.yml".to_owned(), off)]).unwrap();
    let mut selection = RuleSelection::default();
    selection.ignore("`--ignore`", [pattern]).unwrap();
    let by_selection = Rulebook::builtin().with_selection(selection).unwrap();
    let parameter = "def answer(text):\n    return eval(text)\n";
    let request =
        "from flask import request\n\n\ndef answer():\n    return eval(request.args['q'])\n";
    assert_eq!(rules_that_fire(&Rulebook::builtin(), parameter), [pattern]);
    for rulebook in [by_file, by_selection] {
        assert!(rules_that_fire(&rulebook, parameter).is_empty());
        assert_eq!(rules_that_fire(&rulebook, request), ["python/eval-of-input"]);
    }
}

#[test]
fn a_wrong_pattern_is_refused_with_its_text() {
    let rules = OWN_RULE.replace("house.log($)", "house.log($");
    let files = [("house.yml".to_owned(), rules)];
    let error = Rulebook::with_repository_rules(files).unwrap_err();
    expect!["the rule `house.yml` cannot be used: invalid pattern `house.log($`: missing `)`"]
        .assert_eq(&error.to_string());
}

#[test]
fn data_is_followed_into_modules_of_javascript_by_their_paths() {
    let query = "exports.find = (name) => `SELECT id FROM users WHERE name = '${name}'`;\n";
    let class = "export class Store {\n  constructor(pool) {\n    this.pool = pool;\n  }\n  find(name: string) {\n    return this.pool.query(\"SELECT 1 FROM t WHERE n = '\" + name + \"'\");\n  }\n}\n";
    let routes = "const users = require('../lib/users');\nmodule.exports = (app, db) => {\n  app.get('/users', async (req, res) => {\n    res.json(await db.query(users.find(req.query.name)));\n  });\n};\n";
    let typed = "import { Store } from './store.js';\nexport async function list(req: Request, res: Response) {\n  const store = new Store(pool);\n  res.json(await store.find(req.query.name));\n}\n";
    let before = [("src/lib/users.js", query), ("src/api/store.ts", class)];
    let after = [
        before[0],
        before[1],
        ("src/routes/users.js", routes),
        ("src/api/list.ts", typed),
        // Another file with the same name is not the module.
        ("src/other/users.js", "exports.find = (name) => 'SELECT 1';\n"),
    ];
    let reviewed = review(&before, &after);
    let traces: Vec<String> = reviewed
        .report
        .votes
        .iter()
        .filter(|vote| vote.rule.as_deref() == Some("javascript/sql-from-request"))
        .map(|vote| shown(&vote.trace))
        .collect();
    expect![[r#"
        source src/api/list.ts:4 req.query
        sink src/api/store.ts:6 this.pool.query("SELECT 1 FROM t WHERE n = '" + name + "'")

        source src/routes/users.js:4 req.query
        step src/lib/users.js:1 `SELECT id FROM users WHERE name = '${name}'`
        sink src/routes/users.js:4 db.query(users.find(req.query.name))
    "#]]
    .assert_eq(&traces.join("\n"));
}

#[test]
fn data_is_followed_into_files_and_packages_of_go() {
    let build = "package web\n\nfunc build(name string) string {\n\treturn \"SELECT id FROM t WHERE n = '\" + name + \"'\"\n}\n";
    let store = "package store\n\nimport \"database/sql\"\n\ntype Store struct {\n\tdb *sql.DB\n}\n\nfunc (s *Store) Find(name string) {\n\ts.db.Query(\"SELECT 1 FROM t WHERE n = '\" + name + \"'\")\n}\n";
    let other = "package other\n\nfunc build(name string) string {\n\treturn \"SELECT 1\"\n}\n";
    let handler = "package web\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/shop/store\"\n)\n\ntype Server struct {\n\tstore *store.Store\n}\n\nfunc (s *Server) find(w http.ResponseWriter, r *http.Request) {\n\tdb.Query(build(r.FormValue(\"a\")))\n\ts.store.Find(r.FormValue(\"b\"))\n}\n";
    let before = [("web/build.go", build), ("store/store.go", store), ("a/build.go", other)];
    let after = [before[0], before[1], before[2], ("web/handler.go", handler)];
    assert_eq!(fired(&before, &after), ["go/sql-from-request 14", "go/sql-from-request 15"]);
}

#[test]
fn data_is_followed_into_classes_of_php_and_ruby() {
    let store = "<?php\nclass Store {\n    public function __construct(private PDO $pdo) {}\n    public function find($name) {\n        return $this->pdo->query(\"SELECT 1 FROM t WHERE n = '$name'\");\n    }\n}\n";
    let page = "<?php\n$store = new Store($pdo);\n$rows = $store->find($_GET['name']);\n";
    let shell = "class ImageTool\n  def initialize(name)\n    @name = name\n  end\n\n  def run\n    system(\"convert #{@name}\")\n  end\nend\n";
    let ruby =
        "class ImagesController\n  def show\n    ImageTool.new(params[:name]).run\n  end\nend\n";
    let before = [("src/Store.php", store), ("lib/image_tool.rb", shell)];
    let after = [before[0], before[1], ("page.php", page), ("app/images_controller.rb", ruby)];
    assert_eq!(fired(&before, &after), ["ruby/command-from-request 3", "php/sql-from-request 3"]);
}

#[test]
fn formats_and_checks_of_go_php_and_ruby_are_known() {
    let go = |body: &str| {
        format!(
            "package a\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc f(w http.ResponseWriter, r *http.Request) {{\n{body}\n}}\n"
        )
    };
    for (name, text, fires) in [
        ("a.go", go("http.Get(fmt.Sprintf(\"https://a.example/%s\", r.FormValue(\"a\")))"), false),
        ("a.go", go("http.Get(fmt.Sprintf(\"https://%s/\", r.FormValue(\"a\")))"), true),
        ("a.go", go("db.Query(fmt.Sprintf(\"SELECT %d\", r.Form))"), false),
        ("a.php", "<?php\nif (isset($names[$_GET['a']])) {\n    system($_GET['a']);\n}\n".to_owned(), false),
        ("a.php", "<?php\nif (isset($_GET['a'])) {\n    system($_GET['a']);\n}\n".to_owned(), true),
        ("a.rb", "def f\n  return unless params[:a] =~ /\\A\\w+\\z/\n  system(\"a #{params[:a]}\")\nend\n".to_owned(), false),
        ("a.rb", "def f\n  return unless params[:a] =~ /\\w+/\n  system(\"a #{params[:a]}\")\nend\n".to_owned(), true),
    ] {
        assert_eq!(!fired(&[], &[(name, &text)]).is_empty(), fires, "{text}");
    }
}

#[test]
fn a_function_that_is_named_as_a_check_checks_its_argument() {
    let view = |condition: &str| {
        format!(
            "import requests\nfrom flask import request\n\n\ndef view():\n    url = request.args[\"a\"]\n    if {condition}:\n        return requests.get(url)\n"
        )
    };
    for (condition, fires) in [
        ("is_valid_host(url)", false),
        ("not is_valid_host(url)", true),
        ("is_valid_host(1)", true),
    ] {
        assert_eq!(!fired(&[], &[("a.py", &view(condition))]).is_empty(), fires, "{condition}");
    }
}

#[test]
fn settings_behind_a_request_object_are_no_data_of_the_request() {
    let view = |value: &str| {
        format!(
            "import requests\n\n\n@service.get()\ndef view(request):\n    return requests.get({value})\n"
        )
    };
    for (value, fires) in
        [("request.registry.settings[\"issuer\"]", false), ("request.GET[\"a\"]", true)]
    {
        assert_eq!(!fired(&[], &[("a.py", &view(value))]).is_empty(), fires, "{value}");
    }
}

const CHECKED: &str = r#"import os
from flask import Flask, request

app = Flask(__name__)


@app.route("/report")
def report():
    name = request.args["name"]
    if name not in ("day", "month"):
        return "unknown"
    return open("reports/" + name).read()
"#;

#[test]
fn a_flow_is_new_if_the_change_removes_the_check_on_its_way() {
    let check = "    if name not in (\"day\", \"month\"):\n        return \"unknown\"\n";
    let unchecked = CHECKED.replace(check, "");
    let result = review(&[("a.py", CHECKED)], &[("a.py", &unchecked)]);
    let vote = result.report.votes.iter().find(|vote| !vote.trace.is_empty()).unwrap();
    assert_eq!(vote.rule.as_deref(), Some("python/file-from-request"));
    assert_eq!(vote.lines.map(|lines| lines.start()), Some(10));
    assert!(vote.description.starts_with("Before the change, "), "{}", vote.description);
}

#[test]
fn a_flow_is_new_if_the_change_removes_a_conversion() {
    let before = "<?php\nfunction rows() {\n    $n = (int)$_GET['n'];\n    $n = $n;\n    echo '<b>' . $n . '</b>';\n}\n";
    let after =
        before.replace("    $n = (int)$_GET['n'];\n    $n = $n;\n", "    $n = $_GET['n'];\n");
    assert_eq!(fired(&[("a.php", before)], &[("a.php", &after)]), ["php/html-from-request 3"]);
}

#[test]
fn a_flow_is_new_if_the_change_removes_a_guard_of_the_value() {
    let code = |guard: &str| {
        format!(
            "from flask import Flask, request\n\napp = Flask(__name__)\n\n\n@app.route(\"/report\")\ndef report():\n    name = request.args[\"name\"]\n{guard}    return open(\"reports/\" + name).read()\n"
        )
    };
    let open = "python/file-from-request";
    let unguarded = code("");
    for guard in [
        "    if name in reserved():\n        return \"unknown\"\n",
        "    if name.find(\":\") >= 0:\n        raise ValueError(name)\n",
        "    check_name(name)\n",
    ] {
        let found = fired(&[("a.py", &code(guard))], &[("a.py", &unguarded)]);
        assert_eq!(found, [format!("{open} 9")], "{guard}");
    }
    for (guard, after) in [
        ("    if not name:\n        return \"unknown\"\n", unguarded.clone()),
        (
            "    if name in reserved():\n        return \"unknown\"\n",
            code("    if name in others():\n        return \"unknown\"\n"),
        ),
    ] {
        assert_eq!(fired(&[("a.py", &code(guard))], &[("a.py", &after)]), [""; 0], "{guard}");
    }
}

/// Code whose values are not checked before the change, too, in several shapes of a change.
#[test]
fn a_flow_of_a_renamed_function_or_of_a_component_is_not_new() {
    let unchecked =
        CHECKED.replace("    if name not in (\"day\", \"month\"):\n", "    if not name:\n");
    let renamed = unchecked.replace("def report():", "def daily_report():");
    assert_eq!(fired(&[("a.py", &unchecked)], &[("a.py", &renamed)]), [""; 0]);
    let page = "<template>\n  <p>{{ title }}</p>\n</template>\n<script>\nexport function show() {\n  const name = location.hash;\n  const unused = 1;\n  document.body.innerHTML = \"<b>\" + name;\n}\n</script>\n";
    let before = [("a.vue", page)];
    assert_eq!(fired(&[], &before), ["javascript/html-from-page-address 8"]);
    let after = page.replace("  const unused = 1;\n", "");
    assert_eq!(fired(&before, &[("a.vue", &after)]), [""; 0]);
}

#[test]
fn a_function_that_becomes_the_answer_to_a_request_has_new_flows() {
    let helper = "from flask import Flask\n\napp = Flask(__name__)\n\n\ndef _report(name):\n    return open(\"reports/\" + name).read()\n";
    let routed = helper.replace("def _report", "@app.route(\"/reports/<name>\")\ndef _report");
    let found = fired(&[("a.py", helper)], &[("a.py", &routed)]);
    assert_eq!(found, ["python/file-from-request 8"]);
}

#[test]
fn a_flow_that_the_code_before_the_change_has_as_well_is_not_new() {
    let unchecked =
        CHECKED.replace("    if name not in (\"day\", \"month\"):\n", "    if name == \"\":\n");
    for after in [
        unchecked.replace("        return \"unknown\"\n", "        return \"none\"\n"),
        unchecked.replace("import os\n", ""),
        format!("\n\n{unchecked}"),
    ] {
        assert_eq!(fired(&[("a.py", &unchecked)], &[("a.py", &after)]), [""; 0], "{after}");
    }
}

#[test]
fn data_of_an_action_of_aspnet_is_followed_into_another_class() {
    let store = "public class UserStore {\n    private readonly SqlConnection _db;\n    public object Find(string name) {\n        var query = $\"SELECT 1 FROM t WHERE n = '{name}'\";\n        return new SqlCommand(query, _db).ExecuteScalar();\n    }\n}\n";
    let page = |base: &str, head: &str| {
        format!(
            "{head}public class Page : {base} {{\n    private readonly UserStore _users;\n    public object Find(string name) => _users.Find(name);\n}}\n"
        )
    };
    let before = [("src/UserStore.cs", store)];
    for (base, head, fires) in [
        ("Controller", "using Microsoft.AspNetCore.Mvc;\n", true),
        ("Controller", "[ApiController]\n", true),
        ("UIViewController", "", false),
        ("Controller", "", false),
    ] {
        let text = page(base, head);
        let after = [before[0], ("src/Page.cs", text.as_str())];
        assert_eq!(!fired(&before, &after).is_empty(), fires, "{base} {head}");
    }
}

#[test]
fn data_is_followed_through_the_expressions_of_rust() {
    let handler = |body: &str| {
        format!(
            "async fn view(Query(p): Query<Params>, Path((id, n)): Path<(String, u32)>) -> String {{\n{body}\n}}\n"
        )
    };
    for (body, fires) in [
        ("sqlx::query(&format!(\"SELECT {}\", p.name))", true),
        ("sqlx::query(&format!(\"SELECT {id}\"))", true),
        ("sqlx::query(&format!(\"SELECT {n}\"))", false),
        ("sqlx::query(&format!(\"SELECT {}\", format!(\"{}\", p.name)))", true),
        ("let name = p.name.parse::<u32>()?; sqlx::query(&format!(\"SELECT {name}\"))", false),
        (
            "let name = match &p.name { Some(n) => n.clone(), None => return x };\nsqlx::query(&name)",
            true,
        ),
        ("let name = if p.asc { \"a\" } else { \"b\" };\nsqlx::query(name)", false),
        ("if let Some(name) = p.name { sqlx::query(&name); }", true),
        ("let Some(name) = p.name else { return x };\nsqlx::query(&name)", true),
        (
            "let mut sql = String::from(\"SELECT \");\nwrite!(sql, \"{}\", p.name)?;\nsqlx::query(\"a\")",
            false,
        ),
        ("for name in p.names.iter().map(|it| it.trim()) { sqlx::query(name); }", true),
        ("if !NAMES.contains(&id) { return x; }\nsqlx::query(&id)", false),
        (
            "let mut path = PathBuf::new();\nfor part in Path::new(&id).components() { if let Component::Normal(own) = part { path.push(own); } }\nfs::read(path)",
            false,
        ),
        (
            "let mut path = PathBuf::new();\nfor part in Path::new(&id).components() { path.push(part); }\nfs::read(path)",
            true,
        ),
    ] {
        let text = handler(body);
        assert_eq!(!fired(&[], &[("src/a.rs", &text)]).is_empty(), fires, "{body}");
    }
    let test = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", handler("sqlx::query(&id)"));
    assert!(fired(&[], &[("src/a.rs", &test)]).is_empty());
}

#[test]
fn data_is_followed_through_the_expressions_of_kotlin() {
    let handler = |body: &str| {
        format!(
            "fun Route.a(db: JdbcTemplate) {{\n    get(\"/a\") {{\n        val name = call.parameters[\"a\"]\n{body}\n    }}\n}}\n"
        )
    };
    for (body, fires) in [
        ("db.execute(\"SELECT $name\")", true),
        ("name?.let { db.execute(\"SELECT $it\") }", true),
        ("db.execute(\"SELECT ${name!!.toInt()}\")", false),
        ("val own = when { name == null -> return@get; else -> name }\ndb.execute(own)", true),
        ("val own = if (name == \"a\") \"b\" else \"c\"\ndb.execute(own)", false),
        ("val own = try { name } catch (e: Exception) { \"a\" }\ndb.execute(own)", true),
        ("if (name !in NAMES) return@get\ndb.execute(name)", false),
        ("db.execute(Filter(name).sql())", true),
    ] {
        let text = handler(body);
        assert_eq!(!fired(&[], &[("src/a.kt", &text)]).is_empty(), fires, "{body}");
    }
}

/// Returns the tier, the severity and the confidence of the only vote of a rule in a file.
fn evidence(rule: &str, code: &str) -> (Option<&'static str>, String, Option<u8>) {
    let votes = review(&[], &[("src/a.py", code)]).report.votes;
    let mut votes = votes.into_iter().filter(|vote| vote.rule.as_deref() == Some(rule));
    let vote = votes.next().unwrap();
    assert!(votes.next().is_none());
    let tier = vote.tier.map(EvidenceTier::as_str);
    (tier, vote.grade.word().to_owned(), vote.confidence.map(Confidence::percent))
}

const QUERY: &str = "    cursor.execute(\"SELECT id FROM users WHERE name = '\" + name + \"'\")\n";

#[test]
fn the_tier_of_a_pattern_depends_on_what_is_known_about_its_data() {
    let rule = "python/sql-injection";
    let unknown = format!("def find(cursor):\n    name = load()\n{QUERY}");
    assert_eq!(evidence(rule, &unknown), (Some("lead"), "CRITICAL".to_owned(), Some(25)));
    let private = format!("def _find(cursor, name):\n{QUERY}");
    assert_eq!(evidence(rule, &private).0, Some("lead"));
    let exported = format!("def find(cursor, name):\n{QUERY}");
    assert_eq!(evidence(rule, &exported), (Some("parameter"), "MEDIUM".to_owned(), Some(75)));
    let request = format!("def find(request, cursor):\n    name = request.GET[\"name\"]\n{QUERY}");
    assert_eq!(evidence(rule, &request), (Some("flow"), "CRITICAL".to_owned(), None));
}

#[test]
fn a_pattern_that_is_certain_keeps_its_strength_beside_a_parameter() {
    let code = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";
    let found = evidence("python/shell-injection", code);
    assert_eq!(found, (None, "HIGH".to_owned(), None));
}

#[test]
fn a_private_function_has_the_parameters_of_its_exported_caller() {
    let code = format!(
        "def _find(cursor, name):\n{QUERY}\n\ndef find(cursor, name):\n    _find(cursor, name.strip())\n"
    );
    assert_eq!(evidence("python/sql-injection", &code).0, Some("parameter"));
}

#[test]
fn a_call_of_code_that_reads_and_uses_data_itself_is_not_reported() {
    let page = "<?php\nclass Page {\n    public function show() {\n        echo $_GET['name'];\n    }\n}\n";
    let before = "<?php\nfunction run($page) {\n    return 1;\n}\n";
    let calls = "<?php\nfunction run($page) {\n    $page = new Page();\n    $page->show();\n    return 1;\n}\n";
    let files = |page, run| [("src/Page.php", page), ("src/run.php", run)];
    assert_eq!(fired(&files(page, before), &files(page, calls)), Vec::<String>::new());
    let page =
        "<?php\nclass Page {\n    public function show($name) {\n        echo $name;\n    }\n}\n";
    let calls = "<?php\nfunction run($page) {\n    $page = new Page();\n    $page->show($_GET['name']);\n    return 1;\n}\n";
    assert_eq!(fired(&files(page, before), &files(page, calls)), ["php/html-from-request 4"]);
}

/// Returns a view of Flask that runs a body, with the value of a request in `given`.
fn view_of_flask(body: &[&str]) -> String {
    let lines: String = body.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "import configparser\nimport os\nimport subprocess\n\nfrom flask import request\n\n\n@app.get(\"/\")\ndef view():\n    given = request.args[\"a\"]\n{lines}    return \"done\"\n"
    )
}

#[test]
fn options_of_a_parser_of_configuration_keep_their_own_values() {
    let view = |option: &str| {
        view_of_flask(&[
            "settings = configparser.ConfigParser()",
            "settings.add_section(\"a\")",
            "settings.set(\"a\", \"fixed\", \"ls\")",
            "settings.set(\"a\", \"given\", given)",
            &format!("os.system(settings.get(\"a\", {option}))"),
        ])
    };
    for (option, fires) in [("\"fixed\"", false), ("\"given\"", true), ("load()", true)] {
        assert_eq!(!fired(&[], &[("a.py", &view(option))]).is_empty(), fires, "{option}");
    }
}

#[test]
fn only_the_cases_of_a_match_that_can_be_taken_carry_data() {
    let view = |letter: &str, first: &str| {
        view_of_flask(&[
            "letters = \"ABC\"",
            &format!("match letters[{letter}]:"),
            &format!("    case {first}:"),
            "        command = given",
            "    case _:",
            "        command = \"ls\"",
            "os.system(command)",
        ])
    };
    for (letter, first, fires) in [
        ("1", "\"A\"", false),
        ("1", "\"B\"", true),
        ("1", "\"A\" | \"B\"", true),
        ("1", "\"A\" | \"C\"", false),
        ("1", "other", true),
        ("1", "_ if ready()", true),
        ("place()", "\"A\"", true),
    ] {
        let text = view(letter, first);
        assert_eq!(!fired(&[], &[("a.py", &text)]).is_empty(), fires, "{letter} {first}");
    }
}

#[test]
fn the_command_in_a_list_of_arguments_of_a_shell_is_found() {
    let view = |list: &str| view_of_flask(&[&format!("subprocess.run({list})")]);
    for (list, fires) in [
        ("[\"sh\", \"-c\", given]", true),
        ("[\"/bin/bash\", \"-ec\", \"ls \" + given]", true),
        ("[\"ls\", \"-c\", given]", false),
        ("[\"sh\", given]", false),
        ("[\"sh\", \"-c\", \"ls\"]", false),
    ] {
        assert_eq!(!fired(&[], &[("a.py", &view(list))]).is_empty(), fires, "{list}");
    }
}

#[test]
fn an_unsafe_call_with_constant_data_is_not_reported() {
    for (value, fires) in [("given", true), ("\"a: 1\"", false)] {
        let line = format!("settings = yaml.load({value}, Loader=yaml.Loader)");
        let votes = review(&[], &[("a.py", &view_of_flask(&[&line]))]).report.votes;
        let rules = votes.iter().filter_map(|vote| vote.rule.as_deref());
        assert_eq!(rules.filter(|rule| rule.starts_with("python/")).count() > 0, fires, "{value}");
    }
}

#[test]
fn input_of_the_terminal_is_evidence_as_weak_as_a_parameter() {
    let code = "def main():\n    eval(input(\"Formula: \"))\n\n\nmain()\n";
    let found = evidence("python/code-from-console", code);
    assert_eq!(found.0, Some("parameter"));
}

#[test]
fn a_lead_that_follows_data_weakens_no_certain_pattern() {
    let code = "<?php\nfunction store($password) {\n    return md5($password);\n}\n";
    let votes = review(&[], &[("a.php", code)]).report.votes;
    let certain = votes.iter().find(|vote| vote.rule.as_deref() == Some("php/password-hash"));
    assert_eq!(certain.unwrap().tier, None);
}

#[test]
fn parts_of_formats_of_python_keep_their_places() {
    let view = |address: &str| {
        format!(
            "from django.http import HttpResponseRedirect\n\n\ndef view(request):\n    page = lookup()\n    return HttpResponseRedirect({address})\n"
        )
    };
    for (address, fires) in [
        ("\"%s?%s\" % (page, request.GET.urlencode())", false),
        ("\"%s/%s\" % (request.GET[\"a\"], page)", true),
        ("\"%(a)s\" % {\"a\": request.GET[\"a\"]}", true),
        ("\"/users/%s\" % request.GET[\"a\"]", false),
        ("\"{}?a={}\".format(page, request.GET[\"a\"])", false),
        ("\"{1}?a={0}\".format(page, request.GET[\"a\"])", true),
        ("\"{address}\".format(address=request.GET[\"a\"])", true),
        ("\"{0.a}?\".format(request.GET)", true),
        ("request.get_full_path()", false),
    ] {
        assert_eq!(!fired(&[], &[("a.py", &view(address))]).is_empty(), fires, "{address}");
    }
}

#[test]
fn a_number_of_a_route_is_no_text() {
    for (route, fires) in [("<int:page>", false), ("<page>", true), ("<path:page>", true)] {
        let text = format!(
            "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.route(\"/pages/{route}\")\ndef view(page):\n    return \"<h1>\" + page\n"
        );
        assert_eq!(!fired(&[], &[("a.py", &text)]).is_empty(), fires, "{route}");
    }
}

#[test]
fn the_result_of_another_function_is_no_page() {
    for (result, fires) in [("name", true), ("\"Hello \" + name", true), ("download(name)", false)]
    {
        let text = format!(
            "from flask import Flask, request\n\napp = Flask(__name__)\n\n\n@app.route(\"/\")\ndef view():\n    name = request.args[\"name\"]\n    return {result}\n\n\ndef download(name):\n    response = load(name)\n    response.headers[\"X-Name\"] = name\n    return response\n"
        );
        assert_eq!(!fired(&[], &[("a.py", &text)]).is_empty(), fires, "{result}");
    }
}
