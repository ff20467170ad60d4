//! Values that templates insert without escaping: [`from_request`] and [`unescaped`].
//!
//! Templates are read line by line, with the patterns of their engine, which is known by the name
//! of the file.

use std::sync::LazyLock;

use regex::Regex;

use super::AddedLines;
use crate::foreign_code;
use crate::rule_match::RuleMatch;

/// The patterns of values that an engine does not escape, by the ends of names of its files.
struct TemplateEngine {
    endings: &'static [&'static str],
    /// The first group is the value.
    pattern: LazyLock<Regex>,
}

macro_rules! engine {
    ($endings:expr, $pattern:literal) => {
        TemplateEngine {
            endings: $endings,
            pattern: LazyLock::new(|| Regex::new($pattern).expect("the pattern is valid")),
        }
    };
}

static ENGINES: [TemplateEngine; 9] = [
    // Jinja, Django, Twig, Nunjucks.
    engine!(
        &[".html", ".htm", ".jinja", ".jinja2", ".j2", ".twig", ".njk"],
        r"\{\{-?\s*([^{}]*?)\|\s*(?:safe|raw)\s*(?:\|[^{}]*)?-?\}\}"
    ),
    // Thymeleaf.
    engine!(&[".html"], r#"\bth:utext\s*=\s*"([^"]*)""#),
    // ERB.
    engine!(
        &[".erb", ".rhtml"],
        r"<%==\s*(.*?)-?%>|<%=\s*raw[ (]\s*(.*?)-?%>|<%=\s*([^%]*?)\.html_safe\s*-?%>"
    ),
    engine!(&[".blade.php"], r"\{!!\s*(.*?)\s*!!\}"),
    engine!(&[".ejs"], r"<%-\s*(.*?)-?%>"),
    engine!(&[".hbs", ".handlebars", ".mustache"], r"\{\{\{\s*([^{}>#/]*?)\s*\}\}\}"),
    engine!(&[".vue"], r#"\bv-html\s*=\s*"([^"]*)""#),
    engine!(&[".svelte"], r"\{@html\s+([^{}]*)\}"),
    engine!(&[".cshtml", ".razor"], r"@\(?(?:Html\.Raw\(|\(\(MarkupString\))(.*?)\)"),
];

/// Values of requests in the languages of templates.
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        \brequest\.get(?:Parameter|Header|QueryString)\(
        | \brequest\.(?:args|form|values|cookies|headers|GET|POST|COOKIES|query_params|query|params|body)\b
        | \b(?:params|cookies)\[\s*[:'"a-z] | \brequest\.(?:query_string|params|original_url|referer)\b
        | \$_(?:GET|POST|REQUEST|COOKIE)\b | \brequest\(\s*['"] | \brequest\(\)->(?:input|get|query)\(
        | \breq\.(?:query|params|body|cookies)\b
        | \$route\.(?:query|params)\b
        | \$page\.url\.searchParams\b | \bpage\.url\.searchParams\b
        | \bRequest\.(?:Query|Form|QueryString|Cookies|Params)\b | \bRequest\[
        "#,
    )
    .expect("the pattern is valid")
});

/// Text in a page of JSP, which the server does not escape.
static JSP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<%=\s*(request\.get(?:Parameter|Header|QueryString)\([^%]*?)%>")
        .expect("the pattern is valid")
});

/// Values that are constant, escaped or markup of the program itself.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        ^\s*(?:"[^"{}\#$]*"|'[^'{}$]*'|`[^`$]*`|\d+)?\s*$
        | (?i:sanit|purif|escape|bleach|nh3|htmlent|htmlspecial|markdown|linkify|urlize|tojson|to_json
              |json|csrf|nonce|svg|icon|translat|\btrans\b|i18n|locale|gettext|paginat|links\(
              |yield|content_for|include|partial|layout|render|component|asset|stylesheet|javascript
              |\bbody\b|form\b|form[_.(]|field|widget|errors?\b|slot|highlight|katex|mathjax)
        | ^\s*_\(
        | \|\s*(?:e|json|date|length|number_format|int|float|linebreaks\w*|striptags|u\.\w+)\b
        | ^\s*\$?(?:t|te|tc|__|_t|lang|trans)\(
        "#,
    )
    .expect("the pattern is valid")
});

/// Finds values of requests that a template inserts without escaping.
pub(super) fn from_request(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    find(added, &|value| REQUEST.is_match(value) && !is_cleaned(value))
}

/// Finds other values that a template inserts without escaping.
pub(super) fn unescaped(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    find(added, &|value| !REQUEST.is_match(value) && !HARMLESS.is_match(value))
}

/// Returns true if a function cleans the value.
fn is_cleaned(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let cleans = ["sanit", "purif", "escape", "bleach", "htmlspecial", "htmlent", "strip_tags"];
    cleans.iter().any(|word| lower.contains(word))
}

fn find(added: &AddedLines<'_>, is_wanted: &dyn Fn(&str) -> bool) -> Vec<RuleMatch> {
    let path = added.path.to_ascii_lowercase();
    let engines: Vec<&Regex> = ENGINES
        .iter()
        .filter(|engine| engine.endings.iter().any(|end| path.ends_with(end)))
        .map(|engine| &*engine.pattern)
        .chain(path.ends_with(".jsp").then_some(&*JSP))
        .collect();
    let is_foreign = || foreign_code::reason(added.path, added.text, || false).is_some();
    if engines.is_empty() || is_foreign() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in &added.lines {
        for pattern in &engines {
            for whole in pattern.captures_iter(line) {
                let value = (1..whole.len()).find_map(|at| whole.get(at));
                if value.is_some_and(|value| is_wanted(value.as_str())) {
                    let code = whole.get(0).map_or("", |all| all.as_str());
                    found.extend(RuleMatch::on_line(*number, code));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_findings::vote::LineRange;

    type Find = fn(&AddedLines<'_>) -> Vec<RuleMatch>;

    fn count(find: Find, path: &str, text: &str) -> usize {
        let all = LineRange::range(1, text.lines().count() as u32).unwrap();
        find(&AddedLines::new(path, text, std::iter::once(all))).len()
    }

    #[test]
    fn values_of_requests_are_found_in_the_markup_of_every_engine() {
        for (path, text) in [
            ("a.html", "<p>{{ request.args.get('q')|safe }}</p>"),
            ("a.html.twig", "{{ app.request.query.get('q')|raw }}"),
            ("a.html.erb", "<%== params[:q] %>"),
            ("a.html.erb", "<%= raw params[:q] %>"),
            ("a.html.erb", "<%= params[:q].html_safe %>"),
            ("a.blade.php", "{!! request('q') !!}"),
            ("a.blade.php", "{!! $_GET['q'] !!}"),
            ("a.ejs", "<%- req.query.q %>"),
            ("a.vue", "<p v-html=\"$route.query.q\"/>"),
            ("a.svelte", "{@html $page.url.searchParams.get('q')}"),
            ("a.cshtml", "@Html.Raw(Request.Query[\"q\"])"),
            ("a.jsp", "<b><%= request.getParameter(\"q\") %></b>"),
        ] {
            assert_eq!(count(from_request, path, text), 1, "{path}: {text}");
            assert_eq!(count(unescaped, path, text), 0, "{path}: {text}");
        }
    }

    #[test]
    fn other_values_are_found_unless_they_are_constant_escaped_or_markup() {
        for (path, text) in [
            ("a.html", "{{ comment.text|safe }}"),
            ("a.twig", "{{ routine.params[].html|raw }}"),
            ("a.html.erb", "<%= @comment.text.html_safe %>"),
            ("a.blade.php", "{!! $comment->text !!}"),
            ("a.ejs", "<%- comment.text %>"),
            ("a.hbs", "{{{comment.text}}}"),
            ("a.vue", "<p v-html=\"comment.text\"/>"),
            ("a.svelte", "{@html comment.text}"),
            ("a.cshtml", "@Html.Raw(Model.Text)"),
            ("a.html", "<p th:utext=\"${comment.text}\"></p>"),
        ] {
            assert_eq!(count(unescaped, path, text), 1, "{path}: {text}");
        }
        for (path, text) in [
            ("a.html", "{{ comment.text }}"),
            ("a.html", "{{ data|tojson|safe }}"),
            ("a.html", "{{ '<br>'|safe }}"),
            ("a.html.erb", "<%= @comment.text %>"),
            ("a.html.erb", "<%== yield %>"),
            ("a.blade.php", "{{ $comment->text }} {!! csrf_field() !!}"),
            ("a.ejs", "<%- include('head') %>"),
            ("a.vue", "<p v-html=\"DOMPurify.sanitize(text)\"/>"),
            ("a.svelte", "{@html '<hr>'}"),
            ("vendor/a.html", "{{ comment.text|safe }}"),
            ("a.py", "text = '{{ comment.text|safe }}'"),
        ] {
            assert_eq!(count(unescaped, path, text), 0, "{path}: {text}");
            assert_eq!(count(from_request, path, text), 0, "{path}: {text}");
        }
    }
}
