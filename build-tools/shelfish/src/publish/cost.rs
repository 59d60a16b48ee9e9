//! Costs of a publication by the list prices of stores.

use serde::Serialize;

use super::plan::Plan;
use crate::store::{Address, Kind, Settings};

/// Costs in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Cost of the requests of this run. Incoming data is free.
    pub requests_usd: f64,
    /// Monthly cost of storing the database, without past versions.
    pub month_usd: f64,
}

/// Prices in dollars: of a million write requests, of a million read requests, and of a GB (10^9 bytes) per month.
///
/// The prices are for standard storage in one region of the United States. Outgoing data costs extra, except on R2.
/// Sources, checked on 2026-11-22: developers.cloudflare.com/r2/pricing and cloud.google.com/storage/pricing-examples.
/// For S3, whose price list needs a script:
/// devnotes.tech/understanding-aws-s3-pricing-a-complete-cost-breakdown-with-examples. The prices of Azure (hot, LRS)
/// are unconfirmed, because no static page lists them.
struct Prices {
    write: f64,
    read: f64,
    month: f64,
}

/// Returns the cost of a plan, unless the destination is a folder.
pub(super) fn cost(
    to: &Address,
    (plan, settings): (&Plan, Settings),
    changed: bool,
    bytes: u64,
) -> Option<Cost> {
    let Prices { write, read, month } = match to.kind {
        Kind::S3 => Prices {
            write: 5.0,
            read: 0.4,
            month: 0.023,
        },
        Kind::R2 => Prices {
            write: 4.5,
            read: 0.36,
            month: 0.015,
        },
        Kind::Google => Prices {
            write: 5.0,
            read: 0.4,
            month: 0.020,
        },
        Kind::Azure => Prices {
            write: 6.5,
            read: 0.5,
            month: 0.0184,
        },
        Kind::Folder => return None,
    };
    let requests =
        (plan.writes(changed, settings) as f64 * write + (plan.asked + 1) as f64 * read) / 1e6;
    Some(Cost {
        requests_usd: requests,
        month_usd: bytes as f64 / 1e9 * month,
    })
}
