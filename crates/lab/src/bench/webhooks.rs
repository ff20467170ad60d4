//! `assay serve` compared with a handler that only stores deliveries.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use assay_testenv::workspace::target_folder;
use assay_testkit::storm::{self, ResponseTimes, SECRET, Server, StormSize};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::sync::oneshot;

use super::Row;
use crate::repository::Repository;
use crate::workspace::assay;

/// The number of deliveries in a round.
const DELIVERIES: usize = 2_000;

/// The number of rounds, in each of which both servers are timed.
const ROUNDS: usize = 5;

/// The numbers of concurrent deliveries.
const CONCURRENCIES: [usize; 2] = [1, 64];

pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let (assay, own) = (assay()?, std::env::current_exe()?);
    let mut rows = Vec::new();
    for in_flight in CONCURRENCIES {
        let folder = configured(&format!("bench/webhooks-{in_flight}"))?;
        let variables = [("GITHUB_WEBHOOK_SECRET", SECRET)];
        let args = ["--listen", "127.0.0.1:0"];
        let serve = Server::start(&assay, &folder, &args, &variables)?;
        let bare =
            Server::launch(Command::new(&own).arg("bare-webhooks").arg(folder.join("kept")))?;
        rows.extend(compare_servers(in_flight, &serve, &bare)?);
    }
    Ok(rows)
}

/// Creates a repository below the target folder whose queue accepts all deliveries.
pub(crate) fn configured(name: &str) -> anyhow::Result<PathBuf> {
    let repository = Repository::new(target_folder(name)?)?;
    repository.write("config/agent-framework.yaml", storm::CONFIGURATION.as_bytes())?;
    Ok(repository.folder().to_owned())
}

/// Times both servers in turns.
fn compare_servers(in_flight: usize, serve: &Server, bare: &Server) -> anyhow::Result<Vec<Row>> {
    let size = StormSize {
        deliveries: DELIVERIES / if in_flight == 1 { 4 } else { 1 },
        in_flight,
        kills: 0,
    };
    let mut taken: [Vec<(Duration, Duration)>; 2] = Default::default();
    for round in 0..ROUNDS {
        for (server, taken) in [bare, serve].into_iter().zip(&mut taken) {
            let (all, mut each): (Duration, ResponseTimes) =
                storm::time(server.address(), size, round * size.deliveries)
                    .context("a delivery was not taken")?;
            taken.push((all, each.p99()));
        }
    }
    let [bare, serve] = taken.map(|rounds| {
        let (all, p99): (Vec<Duration>, Vec<Duration>) = rounds.into_iter().unzip();
        (super::middle(all), super::middle(p99))
    });
    let rate = |all: Duration| size.deliveries as f64 / all.as_secs_f64();
    let what = |what: &str| format!("webhooks, {in_flight} at once: {what}");
    Ok(vec![
        Row::count(what("a bare handler"), rate(bare.0), "/s"),
        Row::count(what("assay serve"), rate(serve.0), "/s"),
        Row::ratio(what("throughput beside the bare handler"), rate(serve.0) / rate(bare.0)),
        Row::time(what("p99 of the bare handler"), bare.1),
        Row::time(what("p99 of assay serve"), serve.1),
        Row::ratio(
            what("p99 beside the bare handler"),
            serve.1.as_secs_f64() / bare.1.as_secs_f64(),
        ),
    ])
}

/// A body, and the sender that is notified when the body is on disk.
type PendingBody = (Bytes, oneshot::Sender<()>);

/// Serves the bare handler: it validates nothing, appends each body to a file, fsyncs once for all
/// bodies that arrived meanwhile, and answers.
pub(crate) fn serve_bare(file: &Path) -> anyhow::Result<bool> {
    let file = fs::OpenOptions::new().create(true).append(true).open(file)?;
    let (way, coming) = sync_channel(256);
    thread::spawn(move || keep(file, &coming));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stderr(), "listening on http://{}", listener.local_addr()?)?;
        let routes = Router::new().route("/webhooks/github", post(take)).with_state(way);
        axum::serve(listener, routes).await
    })?;
    Ok(true)
}

async fn take(State(way): State<SyncSender<PendingBody>>, body: Bytes) -> StatusCode {
    let (done, told) = oneshot::channel();
    match way.try_send((body, done)) {
        Ok(()) if told.await.is_ok() => StatusCode::ACCEPTED,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn keep(mut file: fs::File, coming: &Receiver<PendingBody>) {
    while let Ok(first) = coming.recv() {
        let all: Vec<PendingBody> = std::iter::once(first).chain(coming.try_iter()).collect();
        let kept = all.iter().try_for_each(|(body, _)| file.write_all(body));
        if kept.and_then(|()| file.sync_data()).is_ok() {
            for (_, done) in all {
                // The client may have disconnected.
                let _ = done.send(());
            }
        }
    }
}
