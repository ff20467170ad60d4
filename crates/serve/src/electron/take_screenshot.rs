//! `take_screenshot`: a picture of the visible part of a window.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ElectronTools;
use crate::mcp::{Effect, Png, Refusal, Tool};

/// The maximum size in bytes of a picture in an answer; a larger one is only stored.
const MAX_PICTURE_BYTES: usize = 4 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A name for the picture.
    #[serde(default)]
    #[schemars(length(max = 60))]
    name: String,
    /// The id of the window; by default the window used last, or else the first one.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    window: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The path of the file with the picture.
    file: String,
    /// The width of the picture in pixels.
    width: u32,
    /// The height of the picture in pixels.
    height: u32,
    /// True if the answer contains the picture; one that is too large is only stored.
    shown: bool,
}

pub(super) fn tool(tools: &Arc<ElectronTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::with_picture(
        "take_screenshot",
        "Takes a screenshot of the visible part of a window, returns it and stores it in a file.",
        Effect::Adds,
        move |input| take(&tools, &input),
    )
}

fn take(tools: &ElectronTools, input: &Input) -> Result<(Output, Option<Png>), Refusal> {
    let picture = tools.with_page(input.window.as_deref(), |page| page.screenshot())?;
    let file = {
        // Two pictures that are stored at the same time would get the same number.
        let _alone = tools.lock_page();
        picture.save(&tools.screenshots, &input.name).map_err(|it| Refusal::of(&it))?
    };
    let (width, height) = picture.size();
    let shown = picture.png().len() <= MAX_PICTURE_BYTES;
    let file = tools.screenshots.join(file).display().to_string();
    let png = shown.then(|| Png(picture.png().to_vec()));
    Ok((Output { file, width, height, shown }, png))
}
