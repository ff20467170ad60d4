//! A killed agent leaves no running process, and no byte of a killed attempt is committed.

use std::fs::File;
use std::io::Write;

use super::*;

/// The variable with the number of kills, which a soak run increases.
const KILLS: &str = "ASSAY_SOAK_KILLS";

/// The variable with the seed of the order of kills.
const SEED: &str = "ASSAY_SOAK_SEED";

/// The program of an engineer. Until the file `go` exists, the program and two children, one of
/// them in its own session and without the terminal's signals, write to its work tree until they
/// are killed.
const PROGRAM: &str = r#"
if [ -e "$ASIDE/go" ]; then echo right > right.txt; echo implemented; exit 0; fi
tree=$PWD
export tree
write='exec 3<"$ASIDE/alive-$(cat "$ASIDE/attempt")"
trap "" HUP INT TERM
while :; do mkdir -p "$tree"; echo foreign >> "$tree/shop.py"; echo foreign > "$tree/foreign.txt"; done'
setsid sh -c "$write" >/dev/null 2>&1 &
sh -c "$write" &
eval "$write"
"#;

/// A repository whose engineer runs the program, and a folder that both use.
struct OrphanFixture {
    repository: Repository,
    aside: tempfile::TempDir,
}

impl OrphanFixture {
    fn new() -> OrphanFixture {
        let configuration = format!("{QUICK}  max_retries: 1000\n");
        let repository =
            with_change(&configuration, "shop.py", "def total(prices):\n    return 0\n");
        let aside = tempfile::tempdir().unwrap();
        let program = aside.path().join("program.sh");
        fs::write(&program, PROGRAM.replace("$ASIDE", &aside.path().display().to_string()))
            .unwrap();
        let agents = format!(
            "- id: engineer\n  permissions: [read, edit]\n  command: {}\n",
            json!(["sh", program])
        );
        repository.write("config/agents.yaml", agents);
        repository.commit("an engineer");
        OrphanFixture { repository, aside }
    }

    /// Creates the pipe that all processes of the next attempt hold open.
    fn expect_attempt(&self, number: usize) {
        let fifo = self.aside.path().join(format!("alive-{number}"));
        assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
        fs::write(self.aside.path().join("attempt"), number.to_string()).unwrap();
    }

    /// Waits until the program of an attempt runs.
    fn alive(&self, number: usize) -> File {
        let fifo = self.aside.path().join(format!("alive-{number}"));
        File::options().write(true).open(fifo).unwrap()
    }

    /// Kills attempts at a task, lets one succeed, and checks its commit.
    fn kill_attempts(&self, task: &str, first: usize, kills: usize) {
        let go = self.aside.path().join("go");
        let _ = fs::remove_file(&go);
        self.expect_attempt(first);
        let mut agents = Agents::start(&self.repository, &["engineer"]);
        let mut implement = review_task(task, &json!({ "branch_name": format!("work-{task}") }));
        implement["type"] = json!("implementation");
        drop_in(&self.repository, "engineer", &implement);
        for number in first..first + kills {
            let alive = self.alive(number);
            match number + 1 < first + kills {
                true => self.expect_attempt(number + 1),
                false => fs::write(&go, "").unwrap(),
            }
            agents.kill_at_work("engineer", task);
            // The program and both of its children hold the pipe, so all of them are gone when it
            // breaks.
            wait_until_gone(alive);
        }
        agents.wait_for_line("Implementation completed (");
        self.check_commit(task);
        assert_eq!(agents.stop(), 0);
        let trees = self.repository.git(&["worktree", "list"]);
        assert_eq!(trees.lines().count(), 1, "{trees}");
        let left = fs::read_dir(self.repository.path().join(".assay/worktrees/engineer")).unwrap();
        assert_eq!(left.count(), 0, "folders of attempts are left behind");
    }

    fn check_commit(&self, task: &str) {
        let branch = format!("work-{task}");
        let changed = self.repository.git(&["diff", "--name-only", &format!("main...{branch}")]);
        assert_eq!(changed, "right.txt", "a foreign byte was committed");
        let commits = self.repository.git(&["log", "--format=%s", &format!("main..{branch}")]);
        assert_eq!(commits.lines().count(), 1, "{commits}");
    }
}

/// Waits until no process holds the pipe. No process reads from it, so it stays full until then.
fn wait_until_gone(mut alive: File) {
    while alive.write_all(&[0; 4096]).is_ok() {}
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn agents_killed_with_running_commands_leave_no_process_and_no_stray_write() {
    let (kills, seed) = (number(KILLS, 3), number(SEED, 1));
    let fixture = OrphanFixture::new();
    let (mut done, mut round) = (0, 0);
    while done < kills {
        // An agent that exits eight times in a row is given up, so a task is killed at most three
        // times.
        let now = (1 + (seed + round * 7) % 3).min(kills - done);
        fixture.kill_attempts(&format!("t{round}"), done, now);
        done += now;
        round += 1;
    }
}

#[test]
fn background_processes_of_a_command_end_before_its_work_is_committed() {
    let fixture = OrphanFixture::new();
    let script = "echo right > right.txt; \
        setsid sh -c 'exec 3<\"$ASIDE/alive-0\"; while :; do echo x > foreign.txt; done' >/dev/null 2>&1 & \
        while [ ! -e foreign.txt ]; do :; done; rm -f foreign.txt; echo implemented";
    let script = script.replace("$ASIDE", &fixture.aside.path().display().to_string());
    fs::write(fixture.aside.path().join("program.sh"), script).unwrap();
    fixture.expect_attempt(0);
    let mut agents = Agents::start(&fixture.repository, &["engineer"]);
    let mut task = review_task("t", &json!({ "branch_name": "work-t" }));
    task["type"] = json!("implementation");
    drop_in(&fixture.repository, "engineer", &task);
    wait_until_gone(fixture.alive(0));
    agents.wait_for_line("Implementation completed (");
    let tree = fixture.repository.git(&["show", "work-t:right.txt"]);
    assert_eq!(tree, "right");
    assert_eq!(agents.stop(), 0);
}
