//! `assay demo`: makes a small flawed change, reviews it, and shows the next commands.

use std::path::PathBuf;

use assay_base::shutdown::Shutdown;
use assay_base::text::shell_word;
use assay_change::{Scope, Selection};
use assay_engine::models::{CachePolicy, ModelOptions, ReviewOptions};
use assay_engine::review_session::ReviewSession;
use assay_engine::throwaway_repository::ThrowawayRepository;
use assay_findings::gate::ReviewMode;

use super::print;
use crate::exit::Exit;
use crate::process::environment;
use crate::progress::Progress;
use crate::terminal::{self, PrintOptions};

/// A file of the throw-away repository: its path, and its text before and after the change.
struct DemoFile {
    path: &'static str,
    before: &'static str,
    after: fn() -> String,
}

const FILES: [DemoFile; 3] = [
    DemoFile {
        path: "shop/payments.py",
        before: "import os\n\n\ndef charge(client, order):\n    token = os.environ[\"PAYMENTS_TOKEN\"]\n    return client.post(\"/charges\", token=token, amount=order.total)\n",
        after: payments,
    },
    DemoFile {
        path: "shop/cart.test.js",
        before: "describe('cart', () => {\n  it('adds up', () => {\n    expect(total([1, 2])).toBe(3);\n  });\n});\n",
        after: cart_test,
    },
    DemoFile {
        path: "shop/rates.rs",
        before: "pub fn rate(country: &str) -> u32 {\n    match country {\n        \"de\" => 19,\n        _ => 0,\n    }\n}\n",
        after: rates,
    },
];

fn payments() -> String {
    // Assembled at run time, so that no scanner reports this file as a leak.
    let token = ["sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"].concat();
    format!(
        "def charge(client, order):\n    token = \"{token}\"\n    print(\"DEBUG charging\", order)\n    return client.post(\"/charges\", token=token, amount=order.total)\n"
    )
}

fn cart_test() -> String {
    "describe('cart', () => {\n  it.only('adds up', () => {\n    expect(total([1, 2])).toBe(3);\n  });\n});\n".to_owned()
}

fn rates() -> String {
    "pub fn rate(country: &str) -> u32 {\n    match country {\n<<<<<<< HEAD\n        \"de\" => 19,\n=======\n        \"de\" => 21,\n>>>>>>> rates-2027\n        _ => 0,\n    }\n}\n".to_owned()
}

pub(crate) fn run() -> anyhow::Result<Exit> {
    let folder = make_repository()?;
    let prepared = ReviewSession::open(
        environment(),
        &folder,
        &Scope::Automatic,
        &Selection::default(),
        ReviewOptions {
            models: &ModelOptions::default(),
            cache_policy: CachePolicy::Off,
            model_session: None,
            also: None,
        },
    )?;
    let reviewed =
        prepared.review(ReviewMode::ReportOnly, None, &Progress::new(), &Shutdown::default());
    reviewed.save(&prepared)?;
    terminal::print(&prepared.change, &reviewed.synthesis, &PrintOptions::default())?;
    let (shown, word) = (folder.display(), shell_word(&folder));
    print(&format!(
        "\nThe repository is {shown}. Next commands:\n\n  \
         Remove the debug output:\n    \
         assay fix -C {word}\n  \
         Print the review as Markdown:\n    \
         assay review -C {word} --format markdown\n  \
         Review your own repository:\n    \
         assay review\n"
    ))?;
    Ok(Exit::Ready)
}

/// Creates the repository, which is kept so that the user can look at it.
fn make_repository() -> anyhow::Result<PathBuf> {
    let repository = ThrowawayRepository::new("assay-demo-")?;
    for file in &FILES {
        repository.write(file.path, file.before.as_bytes())?;
    }
    repository.commit("A small shop")?;
    repository.git(&["switch", "--quiet", "--create", "faster-checkout"])?;
    for file in &FILES {
        repository.write(file.path, (file.after)().as_bytes())?;
    }
    repository.commit("Faster checkout")?;
    Ok(repository.keep())
}
