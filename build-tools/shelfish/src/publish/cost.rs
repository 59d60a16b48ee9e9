//! What stores ask for publishing, by their list prices.

use serde::Serialize;

use super::plan::Plan;
use crate::store::{Address, Kind, Settings};

/// Dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// For the requests of this run, which sends nothing that is charged by its bytes.
    pub requests_usd: f64,
    /// For keeping the database a month, past ones aside.
    pub month_usd: f64,
}

/// Dollars of a million requests that write, of a million that read, and of a GB (10^9 bytes) a month: standard storage in
/// one region of the United States; what readers fetch is charged besides, except by R2. Compared on 2026-11-22 with
/// developers.cloudflare.com/r2/pricing, cloud.google.com/storage/pricing-examples and, for S3, whose own list is drawn by a
/// script, devnotes.tech/understanding-aws-s3-pricing-a-complete-cost-breakdown-with-examples. For Azure (hot, LRS) no page was
/// found that says them: they are unconfirmed.
struct Prices {
    write: f64,
    read: f64,
    month: f64,
}

/// The cost of a plan, where there is one.
pub(super) fn cost(to: &Address, (plan, settings): (&Plan, Settings), changed: bool, bytes: u64) -> Option<Cost> {
    let Prices { write, read, month } = match to.kind {
        Kind::S3 => Prices { write: 5.0, read: 0.4, month: 0.023 },
        Kind::R2 => Prices { write: 4.5, read: 0.36, month: 0.015 },
        Kind::Google => Prices { write: 5.0, read: 0.4, month: 0.020 },
        Kind::Azure => Prices { write: 6.5, read: 0.5, month: 0.0184 },
        Kind::Folder => return None,
    };
    let requests = (plan.writes(changed, settings) as f64 * write + (plan.asked + 1) as f64 * read) / 1e6;
    Some(Cost { requests_usd: requests, month_usd: bytes as f64 / 1e9 * month })
}
