//! Agents whose queue's database is unreachable.

use assay_testenv::postgres::{PrivatePostgres, ServerDurability};

use super::*;

/// Returns a server whose address is not reused once it has stopped.
fn server() -> PrivatePostgres {
    PrivatePostgres::start(&std::env::temp_dir(), ServerDurability::No).unwrap()
}

/// Returns a repository whose queue is in the database that `URL_OF_THE_QUEUE` names.
fn in_a_database(server: &PrivatePostgres) -> Repository {
    let repository = Repository::new();
    let configuration = format!("{QUICK}queue:\n  url: ${{URL_OF_THE_QUEUE}}\n");
    repository.write("config/agent-framework.yaml", configuration);
    let migrated = with_url(&repository, &["queue", "migrate"], &server.url());
    assert_eq!(migrated.code, 0, "{}", migrated.stderr);
    repository
}

fn with_url(repository: &Repository, args: &[&str], url: &str) -> AssayRun {
    assay_with(repository.path(), args, b"", &[("URL_OF_THE_QUEUE", url)])
}

#[test]
fn agent_status_and_stop_work_while_postgres_is_down() {
    let mut server = server();
    let repository = in_a_database(&server);
    let url = server.url();
    let variables = [("URL_OF_THE_QUEUE", url.as_str())];
    let mut agents = Agents::start_with(&repository, &["qa", "--replicas", "2"], &variables);
    agents.wait_for_line("Polling queue: ");
    server.kill().unwrap();

    let status = with_url(&repository, &["agent", "status"], &url);
    assert_eq!(status.code, 3, "{}", status.stderr);
    let status = status.json();
    let names = status["supervisor"]["agents"].as_array().unwrap();
    let workers = status["workers"].as_array().unwrap().iter();
    let here: Vec<&Value> = workers.clone().map(|worker| &worker["name"]).collect();
    assert_eq!(here, names.iter().collect::<Vec<_>>());
    assert!(workers.clone().all(|worker| worker["agent"] == "qa" && worker["pid"].is_u64()));
    let why = status["unreadable"].as_str().unwrap();
    assert!(why.starts_with("cannot connect to the queue database: "), "{why}");
    assert!(status.get("agents").is_none(), "nobody knows who else works: {status}");
    let table = with_url(&repository, &["agent", "status", "--once"], &url);
    assert_eq!(table.code, 3);
    assert!(table.stdout.contains("cannot read the queue: cannot connect"), "{}", table.stdout);
    assert!(names.iter().all(|name| table.stdout.contains(name.as_str().unwrap())));

    let second = names[1].as_str().unwrap();
    let stopped = with_url(&repository, &["agent", "stop", second], &url);
    assert_eq!((stopped.code, stopped.stdout), (0, format!("stopped {second}\n")));
    // Stopping does not even need the address of the database.
    let stopped = assay(&repository, &["agent", "stop"]);
    let all = names.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>().join(", ");
    assert_eq!((stopped.code, stopped.stdout), (0, format!("stopped {all}\n")));
    assert!(stopped.stderr.contains("URL_OF_THE_QUEUE"), "{}", stopped.stderr);
    assert_eq!(agents.supervisor.wait().unwrap().code(), Some(0));
}

#[test]
fn commands_wait_for_a_postgres_that_restarts() {
    let mut server = server();
    let repository = in_a_database(&server);
    let url = server.url();
    server.stop().unwrap();
    let mut command = crate::command_in(repository.path(), &["queue", "stats", "--json"]);
    let mut child = command.env("URL_OF_THE_QUEUE", &url).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut warning = String::new();
    stderr.read_line(&mut warning).unwrap();
    assert!(warning.contains("retrying for up to 20 s"), "{warning}");
    server.resume().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{warning}");
}

#[test]
fn agents_wait_for_a_read_only_postgres_and_report_the_reason() {
    let server = server();
    let repository = in_a_database(&server);
    let url = server.url();
    let variables = [("URL_OF_THE_QUEUE", url.as_str())];
    let read_only = format!("{url}?options=-c%20default_transaction_read_only%3Don");
    let refused = with_url(&repository, &["queue", "cancel", "t"], &read_only);
    assert_ne!(refused.code, 0);
    let push = ["queue", "push", "--queue", "qa", "--type", "review", "--title", "t"];
    let refused = with_url(&repository, &push, &read_only);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("accepts no writes now"), "{}", refused.stderr);
    let variables_read_only = [("URL_OF_THE_QUEUE", read_only.as_str())];
    let mut agents = Agents::launch(&repository, &["qa"], &variables_read_only);
    agents.wait_for_line("accepts no writes now");
    let waits = until("a worker that says why it waits", || {
        let status = with_url(&repository, &["agent", "status"], &url).json();
        status["workers"][0]["waits_because"].as_str().map(str::to_owned)
    });
    assert!(waits.contains("accepts no writes now"), "{waits}");
    let table = with_url(&repository, &["agent", "status", "--once"], &url).stdout;
    assert!(table.contains(" is waiting for the queue: the queue database"), "{table}");
    assert_eq!(agents.stop(), 0);
    let agents = Agents::start_with(&repository, &["qa"], &variables);
    assert_eq!(agents.stop(), 0);
}
