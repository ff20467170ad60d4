//! A browser or an Electron app, driven over the Chrome DevTools Protocol.
//!
//! An [`Endpoint`] is a debugging port of this machine; other machines are never called. It lists
//! its windows, and [`Page::attach`] attaches to one of them. The oldest version that is supported
//! is [`Product::MIN_CHROME_VERSION`]; older ones are refused. A [`PageCommand`] is an action of a
//! user or a tester on a page ([`Page::perform`]): clicks and keys are real input events, and
//! scripts that read the page run in an isolated world that the page cannot reach. [`flow`] stores
//! commands as steps and replays them.
//!
//! All text of a page is untrusted: it is truncated, and invisible characters are escaped. Every
//! call has a deadline ([`Timeouts`]). Frames inside a page are not queried; open shadow trees are.
//! [`PageError::is_environment_error`] distinguishes faults of an app from all other failures of a
//! command.
//!
//! A new command is a line in [`PageCommand`] with its implementation. A command that reads a page
//! is also a script, and a step in `cargo xtask conformance browser`, which runs all of them on
//! Chromium and on Electron 9. Scripts use nothing newer than Chrome 83.

mod actions;
mod command;
mod connection;
mod console;
mod element;
mod endpoint;
mod error;
mod evaluate;
pub mod flow;
mod navigation;
mod network;
#[cfg(test)]
#[cfg(unix)]
mod on_chromium;
mod page;
mod read;
mod screenshot;
mod scripts;
mod shortcut;
mod suggestions;
mod untrusted;

pub use command::{Fill, PageCommand, Select};
pub use console::{ConsoleEntry, EntryKind};
pub use endpoint::{Endpoint, Product, Window};
pub use error::{AttachError, GoneReason, PageError};
pub use navigation::{LoadResult, SettleResult};
pub use page::{Page, Timeouts};
pub use screenshot::Screenshot;
pub use shortcut::{InvalidShortcut, Shortcut};
