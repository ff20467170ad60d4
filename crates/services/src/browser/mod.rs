//! A browser or an Electron app, driven over the Chrome DevTools Protocol.
//!
//! An [`Endpoint`] is a debugging port of this machine; no other machine is ever called. It lists
//! its windows, and [`Page::attach`] takes one of them. A [`Command`] is what a user or a tester
//! does with a page ([`Page::perform`]); clicks and keys are real ones, and everything that is
//! looked at in a page is looked at from a world of its own that the page cannot reach.
//! [`flow`] writes commands down as steps and replays them.
//!
//! A page is somebody else's: all it says is cut to a size, and letters that nobody sees are shown.
//! Everything has a time ([`Patience`]). Frames inside a page are left to the page; open
//! shadow trees are looked through.

mod act;
mod command;
mod connection;
mod console;
mod element;
mod endpoint;
mod error;
mod evaluate;
pub mod flow;
mod keys;
mod nearest;
mod page;
mod read;
mod screenshot;
mod scripts;

pub use command::{Command, Fill, Select};
pub use console::{Entry, Kind};
pub use endpoint::{Endpoint, Product, Window};
pub use error::{Gone, PageError, ReachError};
pub use keys::{BadShortcut, Shortcut};
pub use page::{Opened, Page, Patience};
pub use screenshot::Screenshot;
