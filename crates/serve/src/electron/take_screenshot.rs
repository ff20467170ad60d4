//! `take_screenshot`: what can be seen of a window.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::App;
use crate::mcp::{Effect, Png, Refusal, Tool};

/// The most bytes of a picture that is shown; a larger one is only kept.
const MOST_SHOWN: usize = 4 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What the picture is called.
    #[serde(default)]
    #[schemars(length(max = 60))]
    name: String,
    /// The window, by its id; the one that was used before, or the first, where it is left out.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    window: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The file that the picture is kept in.
    file: String,
    /// How wide it is.
    width: u32,
    /// How high it is.
    height: u32,
    /// Whether it comes with this answer; one that is too large is only kept.
    shown: bool,
}

pub(super) fn tool(app: &Arc<App>) -> Tool {
    let app = Arc::clone(app);
    Tool::showing(
        "take_screenshot",
        "Takes a picture of what can be seen of a window, shows it and keeps it in a file.",
        Effect::Adds,
        move |input| take(&app, &input),
    )
}

fn take(app: &App, input: &Input) -> Result<(Output, Option<Png>), Refusal> {
    let picture = app.with_page(input.window.as_deref(), |page| page.screenshot())?;
    let file = {
        // Two pictures at a time would take the same number.
        let _alone = app.kept();
        picture.keep(&app.screenshots, &input.name).map_err(|it| Refusal::of(&it))?
    };
    let (width, height) = picture.size();
    let shown = picture.png().len() <= MOST_SHOWN;
    let file = app.screenshots.join(file).display().to_string();
    let png = shown.then(|| Png(picture.png().to_vec()));
    Ok((Output { file, width, height, shown }, png))
}
