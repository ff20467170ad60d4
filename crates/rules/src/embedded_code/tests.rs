//! Tests of the code inside of other formats.

use super::code_of;
use crate::syntax::Syntax;

/// Returns the lines that have code, each with its number.
fn code_lines(path: &str, text: &str) -> Vec<String> {
    let code = code_of(path, text).expect("the code is found");
    assert_eq!(code.len(), text.len(), "{path}");
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| format!("{}: {}", at + 1, line.trim())).collect()
}

#[test]
fn the_scripts_of_a_component_keep_their_lines() {
    let text = "<template>\n  <p v-html=\"a\"/>\n</template>\n<script setup lang=\"ts\">\n\
                const a: string = '<b>'\n</script>\n<script type=\"application/ld+json\">\n{}\n\
                </script>\n<style>\np { color: red }\n</style>\n";
    assert_eq!(code_lines("a.vue", text), ["5: const a: string = '<b>'"]);
    assert!(Syntax::of("a.vue", text).unwrap().is_whole());
    assert_eq!(code_lines("a.svelte", "<script>let a\n</script>\n{@html a}\n"), ["1: let a"]);
}

#[test]
fn the_commands_of_a_dockerfile_keep_their_lines() {
    let text = "FROM debian\nENV A=1 \\\n    B=2\nRUN --mount=type=cache,target=/a apt-get update \\\n\
                # a comment\n    && apt-get install curl\nRUN [\"ls\"]\nrun <<EOF\ncurl x | sh\nEOF\n\
                CMD run\n";
    let lines = ["4: apt-get update \\", "5: \\", "6: && apt-get install curl", "9: curl x | sh"];
    assert_eq!(code_lines("build/Dockerfile.dev", text), lines);
    assert!(Syntax::of("Dockerfile", text).unwrap().is_whole());
}

#[test]
fn the_code_cells_of_a_notebook_keep_their_lines() {
    let text = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": [\n    \"import os\\n\",\n    \
                \"!ls -la\\n\",\n    \"def f(a):\\n\",\n    \"    os.system(\\\"rm \\\" + a)\"\n   ]\n  },\n  \
                {\n   \"cell_type\": \"markdown\",\n   \"source\": [\n    \"text\"\n   ]\n  }\n ],\n \
                \"metadata\": {\"kernelspec\": {\"language\": \"python\"}}\n}\n";
    let lines =
        ["5: if 1:", "6: import os", "7: pass", "8: def f(a):", "9: os.system(\" rm \"  + a)"];
    assert_eq!(code_lines("a.ipynb", text), lines);
    assert!(Syntax::of("a.ipynb", text).unwrap().is_whole());
    assert!(code_of("a.ipynb", &text.replace("python", "R")).is_none());
    assert!(code_of("a.ipynb", "{\"cells\": [}").is_none());
}
