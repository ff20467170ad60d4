//! Commands that people write in comments on pull requests of GitHub: `/assay review`,
//! `/assay explain ID`, `/assay dismiss ID REASON` and `/assay help`.
//!
//! A [`CommentRequest`] is read from the payload of the event `issue_comment`, by the webhook or by
//! the command line; `command` decides which lines of a comment are commands. A [`CommandSession`]
//! checks that the author may write to the repository, carries the commands out and posts one
//! answer. The answer has the id of the comment, so that a comment is not answered twice, and is the
//! record that its commands were carried out.
//!
//! [`CommentCommandHandler`] does the task that the webhook queues. The text of a comment is data:
//! it is never a part of a prompt, and is escaped in the answer.

mod command;
mod request;
mod session;
mod task_handler;

pub use self::command::CommentCommand;
pub(crate) use self::request::TASK_KIND;
pub use self::request::{CommandComment, CommentRejection, CommentRequest};
pub use self::session::{CommandOutcome, CommandSession, ReviewStart};
pub use self::task_handler::CommentCommandHandler;
