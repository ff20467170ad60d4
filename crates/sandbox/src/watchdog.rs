//! Ends the commands of this process when the process is killed: [`Watchdog`].
//!
//! A signal that cannot be caught leaves no time to kill child processes. The watchdog is a shell
//! in a process group of its own, and is notified of each group that starts or ends. When this
//! process is gone, for whatever reason, the watchdog reads the end of its input. It then kills the
//! groups that are left, and every process that carries the marker of this process
//! ([`marker`](crate::marker)). So a process is found even if it started its own session, or if
//! this process was killed before it registered the group. A parent-death signal would reach only
//! the command itself, not its children, and would follow the thread that started it instead of the
//! process.
//!
//! A process that is about to become a command still holds the watchdog's input open, so at the end
//! of the input all of them carry their marker.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Stdio};

use rustix::process::Pid;

use crate::marker;

/// The script of the watchdog. It reads `+ GROUP:CAGE` and `- GROUP:CAGE`, and kills the groups
/// that are left at the end of the input. The first argument is the prefix of the markers. A
/// process may start another one during the search, so the script searches until it finds none.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
left=' '
while read -r verb entry; do
  case $verb in
  +) left="$left$entry " ;;
  -) case $left in
     *" $entry "*) left="${left%%" $entry "*} ${left#*" $entry "}" ;;
     esac ;;
  esac
done
set -f
for entry in $left; do
  kill -s KILL -- "-${entry%%:*}"
  cage=${entry#*:}
  if [ -n "$cage" ]; then
    echo 1 >"$cage/cgroup.kill" || kill -s KILL $(cat "$cage/cgroup.procs")
    rmdir "$cage"
  fi
done
set +f
round=0
while [ "$round" -lt 100 ]; do
  found=
  for file in $(grep -lsF -- "$1" /proc/[0-9]*/environ); do
    pid=${file#/proc/}
    pid=${pid%/environ}
    [ "$pid" = $$ ] || found="$found $pid"
  done
  [ -n "$found" ] || break
  kill -s KILL $found
  round=$((round + 1))
done
"#;

/// A process that outlives this one for as long as it takes to kill the commands.
#[derive(Debug)]
pub(crate) struct Watchdog(ChildStdin);

impl Watchdog {
    /// Starts a watchdog without groups, for the commands whose markers begin with `markers`.
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
    pub(crate) fn start(markers: &str) -> io::Result<Watchdog> {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", SCRIPT, "sh", markers]).current_dir("/").process_group(0);
        // An outer command that ends must not kill the watchdog before it has done its work.
        command.env_remove(marker::VARIABLE);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        Ok(Watchdog(child.stdin.take().expect("stdin is piped")))
    }

    /// Adds a process group, and its control group.
    pub(crate) fn add(&mut self, group: Pid, cgroup: Option<&Path>) -> io::Result<()> {
        self.send('+', group, cgroup)
    }

    /// Removes a process group that has ended.
    pub(crate) fn remove(&mut self, group: Pid, cgroup: Option<&Path>) -> io::Result<()> {
        self.send('-', group, cgroup)
    }

    fn send(&mut self, verb: char, group: Pid, cgroup: Option<&Path>) -> io::Result<()> {
        // A path that the shell would split is left out: its control group is swept by the next
        // process.
        let cgroup =
            cgroup.and_then(Path::to_str).filter(|cgroup| !cgroup.contains(char::is_whitespace));
        let entry = format!("{verb} {}:{}\n", group.as_raw_nonzero(), cgroup.unwrap_or_default());
        self.0.write_all(entry.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Child;

    use super::*;

    /// Starts a command with a child, and returns the pipe that both hold open.
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
    fn family() -> (Child, BufReader<std::process::ChildStdout>) {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "sleep 600 & echo started; wait"]).process_group(0);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        (child, stdout)
    }

    #[test]
    fn a_watchdog_kills_registered_groups_with_their_children_when_its_process_exits() {
        let mut watchdog = Watchdog::start("no process carries this:").unwrap();
        let (mut first, _) = family();
        let (mut second, mut stdout) = family();
        watchdog.add(Pid::from_child(&first), None).unwrap();
        watchdog.add(Pid::from_child(&second), Some(Path::new("/no/such/cage"))).unwrap();
        watchdog.remove(Pid::from_child(&first), None).unwrap();
        // The kernel closes the input of the watchdog in the same way when a process is killed.
        drop(watchdog);
        second.wait().unwrap();
        // The pipe ends when the child of the command is gone, too.
        assert_eq!(stdout.read_to_string(&mut String::new()).unwrap(), 0);
        assert!(first.try_wait().unwrap().is_none(), "a group that was removed is left alone");
        let _ = rustix::process::kill_process_group(
            Pid::from_child(&first),
            rustix::process::Signal::KILL,
        );
        first.wait().unwrap();
    }
}
