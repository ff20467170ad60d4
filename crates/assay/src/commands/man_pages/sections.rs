//! The sections of manual pages that do not follow from the options: exit status, environment,
//! files and examples.

use std::io::{self, Write};

/// An exit code with its meaning.
type ExitCode = (&'static str, &'static str);

const EXIT_CODES: [ExitCode; 6] = [
    ("0", "ready, ready with fixes, nothing to review, or the requested output is printed"),
    ("1", "not ready, or a check that was asked for does not hold"),
    ("2", "wrong usage or configuration"),
    ("3", "incomplete: a reviewer or check that had to answer did not, or state cannot be read"),
    ("4", "handed to a person"),
    ("70", "a bug in assay"),
];

const VARIABLES: [(&str, &str); 7] = [
    ("ANTHROPIC_API_KEY, OPENAI_API_KEY", "keys of models, for --models"),
    ("GITHUB_TOKEN", "the token for GitHub"),
    ("NO_COLOR", "no colours; --color has precedence"),
    ("XDG_CONFIG_HOME", "the folder of assay/config.yaml, the settings of the user"),
    ("XDG_STATE_HOME", "the folder of assay/, the state outside of work trees"),
    ("ASSAY_LEDGER_URL", "the PostgreSQL database of a shared ledger"),
    ("ASSAY_LOG", "the level of diagnostics on stderr, such as debug"),
];

const FILES: [(&str, &str); 5] = [
    (
        "assay.yaml, .assay.yaml, .assay/config.yaml, config/agent-framework.yaml",
        "the configuration of the repository, one of them",
    ),
    ("$XDG_CONFIG_HOME/assay/config.yaml", "the settings of the user"),
    (
        ".assay/rules/, .assay/personas/, .assay/templates/",
        "rules, personas and templates of the repository",
    ),
    (".assay/baseline.json", "accepted findings"),
    (".assay/runs/, .assay/ledger.db", "stored reviews and the history of findings"),
];

/// The examples of a page: the command line, and its effect.
type Example = (&'static str, &'static str);

/// The examples by the start of the page's name. The longest start applies.
const EXAMPLES: [(&str, &[Example]); 29] = [
    (
        "assay",
        &[
            ("assay demo", "Review a small flawed change in a throw-away repository."),
            ("assay review", "Review the branch and the work tree."),
        ],
    ),
    (
        "assay-review",
        &[
            ("assay review --staged", "Review what is staged."),
            (
                "assay review --base main --format sarif=results.sarif",
                "Review a branch, and write SARIF as well.",
            ),
            ("assay review --all src", "Review all files of a folder."),
            ("assay review --mode interactive", "Decide on each finding."),
            ("assay review --watch", "Review again whenever a file changes."),
            (
                "assay review --models --effort high",
                "Let each persona read the change with a model.",
            ),
        ],
    ),
    (
        "assay-fix",
        &[
            ("assay fix --check", "Print the safe fixes of the last review."),
            ("assay fix --staged", "Fix what is staged."),
        ],
    ),
    (
        "assay-rules",
        &[
            ("assay rules list", "List all rules."),
            ("assay rules explain python/sql-built-from-text", "Explain a rule."),
        ],
    ),
    (
        "assay-config",
        &[
            ("assay config show --origin", "Show each value with its file and line."),
            ("assay config check", "Check the configuration."),
        ],
    ),
    ("assay-replay", &[("assay replay", "Replay the last run without a network.")]),
    ("assay-report", &[("assay report --html review.html", "Write the last review as a page.")]),
    ("assay-diff", &[("assay diff RUN1 RUN2", "Compare two runs.")]),
    (
        "assay-agent",
        &[
            ("assay agent start --detach", "Start the configured agents."),
            ("assay agent status", "Show them."),
        ],
    ),
    (
        "assay-gate",
        &[
            ("assay gate verify --phase impl-code", "Verify the items of a gate."),
            ("assay gate status", "Show all gates."),
        ],
    ),
    (
        "assay-qa",
        &[
            ("assay qa --spec 001", "Validate the implementation of a spec."),
            ("assay qa --spec 001 --status", "Show the status of its loop."),
        ],
    ),
    ("assay-init", &[("assay init --hook", "Write a configuration and a git hook.")]),
    ("assay-doctor", &[("assay doctor", "Show what is installed and what is missing.")]),
    ("assay-eval", &[("assay eval compare first second", "Compare the results of two reviewers.")]),
    ("assay-demo", &[("assay demo", "Review a small flawed change.")]),
    (
        "assay-findings",
        &[
            ("assay findings list", "List the open findings."),
            ("assay findings show 1a2b3c", "Show the history of a finding."),
            ("assay findings dismiss 1a2b3c --reason intended", "Dismiss a finding."),
            ("assay findings parse < review.txt", "Read the findings of a review in prose."),
        ],
    ),
    ("assay-ledger", &[("assay ledger export --format csv", "Print the ledger as CSV.")]),
    ("assay-lsp", &[("assay lsp", "Serve an editor, which starts this command.")]),
    (
        "assay-mcp",
        &[
            ("assay mcp review", "Serve reviews to an agent, which starts this command."),
            ("assay mcp review --http 127.0.0.1:8700", "Serve them over HTTP."),
        ],
    ),
    (
        "assay-queue",
        &[
            ("assay queue list", "List the tasks."),
            ("assay queue push --queue qa --type review --title Review", "Queue a task."),
        ],
    ),
    ("assay-serve", &[("assay serve", "Serve the dashboard and the HTTP API.")]),
    ("assay-watch-prs", &[("assay watch-prs --repo OWNER/REPO", "Poll a repository.")]),
    (
        "assay-github-command",
        &[(
            "assay github-command --event \"$GITHUB_EVENT_PATH\"",
            "Carry out the commands of the comment that started a workflow.",
        )],
    ),
    (
        "assay-github-token",
        &[(
            "assay github-token --app 12345 --private-key app.pem --repo OWNER/REPO",
            "Print a token of a GitHub App.",
        )],
    ),
    ("assay-schema", &[("assay schema configuration", "Print the schema of the configuration.")]),
    ("assay-completions", &[("assay completions bash > assay.bash", "Write a completion script.")]),
    (
        "assay-man",
        &[
            ("assay man review", "Print the page of a command."),
            ("assay man --dir man", "Write all pages."),
        ],
    ),
    ("assay-findings-templates", &[("assay findings templates list", "List the templates.")]),
    ("assay-rules-test", &[("assay rules test", "Test the rules of the repository.")]),
];

/// Returns the command lines of all examples.
#[cfg(test)]
pub(super) fn example_commands() -> Vec<&'static str> {
    EXAMPLES.iter().flat_map(|(_, examples)| examples.iter().map(|(command, _)| *command)).collect()
}

/// Appends the sections to the page of a command.
pub(super) fn write_sections(out: &mut impl Write, name: &str) -> io::Result<()> {
    write_list(out, "EXIT STATUS", &EXIT_CODES)?;
    write_list(out, "ENVIRONMENT", &VARIABLES)?;
    write_list(out, "FILES", &FILES)?;
    writeln!(out, ".SH EXAMPLES")?;
    for (command, effect) in examples(name) {
        writeln!(out, ".PP\n{}\n.PP\n.RS\n.nf\n$ {}\n.fi\n.RE", escape(effect), escape(command))?;
    }
    writeln!(out, ".SH \"SEE ALSO\"\n\\fBassay\\fR(1), and \\fBassay man\\fR COMMAND")
}

/// Returns the examples for a page: those of the command, or of the one that it belongs to.
fn examples(name: &str) -> &'static [Example] {
    let belongs = |start: &str| {
        name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let known = EXAMPLES.iter().filter(|(start, _)| belongs(start));
    known.max_by_key(|(start, _)| start.len()).map_or(&[], |(_, examples)| examples)
}

fn write_list(out: &mut impl Write, title: &str, entries: &[(&str, &str)]) -> io::Result<()> {
    writeln!(out, ".SH \"{title}\"")?;
    for (term, meaning) in entries {
        writeln!(out, ".TP\n\\fB{}\\fR\n{}", escape(term), escape(meaning))?;
    }
    Ok(())
}

/// Escapes text for roff. A line that begins with a dot would be a request.
fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    match escaped.starts_with(['.', '\'']) {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}
