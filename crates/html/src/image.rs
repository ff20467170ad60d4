//! Images inside of a page: [`png_address`] embeds a picture, so that the page needs no other file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the `data:` address of a PNG.
pub fn png_address(bytes: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(bytes))
}
