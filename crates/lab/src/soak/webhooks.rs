//! Many deliveries to `assay serve`, which is killed twice meanwhile: each accepted delivery is a
//! task, once.

use anyhow::anyhow;
use assay_testkit::storm::{self, StormSize};

use crate::bench::configured;
use crate::workspace::assay;

/// The size of the storm, a fiftieth of which is a test.
const SIZE: StormSize = StormSize { deliveries: 10_000, in_flight: 64, kills: 2 };

/// Runs the suite.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== webhooks, seed {seed}");
    let told = check(seed);
    match &told {
        Ok(told) => println!("{told}"),
        Err(error) => println!("{error:#}"),
    }
    Ok(vec![("ten thousand deliveries, two kills".to_owned(), told.is_ok())])
}

fn check(seed: u64) -> anyhow::Result<String> {
    let folder = configured("soak/webhooks")?;
    let outcome = storm::storm(&assay()?, &folder, SIZE, seed)?;
    let tasks = storm::check(&folder, SIZE, &outcome).map_err(|why| anyhow!(why))?;
    let StormSize { deliveries, in_flight, kills } = SIZE;
    let again = outcome.again;
    Ok(format!(
        "{deliveries} deliveries, {in_flight} at once, {kills} kills, {again} came again: {tasks} \
         tasks, each once"
    ))
}
