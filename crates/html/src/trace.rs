//! The way of a value through the code, from its source to its sink: [`trace`].

use assay_findings::trace::TraceStep;
use maud::{Markup, html};

/// Renders the steps of a value in their order; nothing without steps.
pub fn trace(steps: &[TraceStep]) -> Markup {
    html! {
        @if !steps.is_empty() {
            p.by { "Way of the value" }
            ol {
                @for step in steps {
                    li {
                        (step.role.as_str()) " "
                        span.mono { (step.file) ":" (step.line) } " "
                        code { (step.code) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_findings::path::RepoPath;
    use assay_findings::trace::TraceRole;

    use super::*;

    #[test]
    fn steps_are_listed_in_their_order_and_escaped() {
        let step = |role, line, code: &str| TraceStep {
            role,
            file: RepoPath::parse("a.py", None).unwrap(),
            line,
            code: code.to_owned(),
        };
        let steps =
            [step(TraceRole::Source, 3, "read()"), step(TraceRole::Sink, 7, "run(\"<b>\")")];
        assert_eq!(
            trace(&steps).into_string(),
            "<p class=\"by\">Way of the value</p><ol>\
             <li>source <span class=\"mono\">a.py:3</span> <code>read()</code></li>\
             <li>sink <span class=\"mono\">a.py:7</span> <code>run(&quot;&lt;b&gt;&quot;)</code></li>\
             </ol>"
        );
        assert_eq!(trace(&[]).into_string(), "");
    }
}
