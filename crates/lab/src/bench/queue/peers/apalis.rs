//! Times apalis-postgres: `peer URL JOBS single|batch`, prints seconds as JSON.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use apalis::prelude::*;
use apalis_postgres::*;
use futures::stream::{self, StreamExt};
use tokio::sync::Notify;

const WORKERS: usize = 8;

#[derive(Clone)]
struct RemainingJobs {
    jobs: Arc<AtomicUsize>,
    none: Arc<Notify>,
}

async fn noop(_: usize, left: Data<RemainingJobs>) -> Result<(), BoxDynError> {
    if left.jobs.fetch_sub(1, Ordering::SeqCst) == 1 {
        left.none.notify_one();
    }
    Ok(())
}

/// Returns the number of jobs that would run again after a crash now.
async fn unacknowledged(pool: &PgPool) -> i64 {
    let count = "SELECT count(*) FROM apalis.jobs WHERE status <> 'Done'";
    sqlx::query_scalar(count).fetch_one(pool).await.unwrap()
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (url, jobs, batch) = (&args[1], args[2].parse::<usize>().unwrap(), args[3] == "batch");
    let pool = PgPool::connect(url).await.unwrap();
    PostgresStorage::setup(&pool).await.unwrap();
    let config = Config::default().queue("noop").batch_size(if batch { 100 } else { 1 });
    let strategy = || Strategy::new().interval(Duration::from_millis(1));
    let backend = || {
        PostgresStorage::<usize>::new(&pool).with_config(config.clone()).poll_with_strategy(strategy())
    };

    let start = Instant::now();
    let pushing = (0..WORKERS).map(|_| {
        let mut backend = backend();
        tokio::spawn(async move {
            let mine = jobs / WORKERS;
            if batch {
                for _ in 0..mine / 50 {
                    let mut some = stream::iter((0..50).map(|n| TaskBuilder::new(n).build())).boxed();
                    backend.push_all(&mut some).await.unwrap();
                }
                for n in 0..mine % 50 {
                    backend.push(n).await.unwrap();
                }
            } else {
                for n in 0..mine {
                    backend.push(n).await.unwrap();
                }
            }
        })
    });
    for pushed in pushing.collect::<Vec<_>>() {
        pushed.await.unwrap();
    }
    let push = start.elapsed();

    let left = RemainingJobs { jobs: Arc::new(AtomicUsize::new(jobs)), none: Arc::new(Notify::new()) };
    let start = Instant::now();
    for worker in 0..WORKERS {
        let worker = WorkerBuilder::new(format!("worker-{worker}"))
            .backend(backend())
            .data(left.clone())
            .build(noop);
        tokio::spawn(async move { worker.run().await.unwrap() });
    }
    left.none.notified().await;
    // A job is reported as done before the database has stored it.
    while unacknowledged(&pool).await > 0 {}
    let work = start.elapsed();
    println!("{}", serde_json::json!({ "push": push.as_secs_f64(), "work": work.as_secs_f64() }));
    std::process::exit(0);
}
