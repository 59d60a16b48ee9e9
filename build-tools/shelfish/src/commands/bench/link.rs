//! Model of the time that requests take on a network. A model gives the same results on all machines.
//!
//! A request first takes a round trip, during which no data arrives; then its bytes arrive. A reader limits the number
//! of requests in flight: when one request ends, the next request of the round begins. Requests whose bytes arrive
//! share the bandwidth evenly. A round begins when all requests of the previous round have ended.
//!
//! Connections are open (no TCP or TLS handshake, no slow start). Hosts answer at once. Heads of requests and answers,
//! and decoding, take no time.

use std::collections::VecDeque;

use serde::Serialize;

/// Network with a latency and a bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Time from a request to the first byte of its answer, in milliseconds.
    #[serde(rename = "round_trip_ms")]
    pub round_trip: f64,
    /// Bandwidth in Mbit/s.
    pub mbit: f64,
}

impl Link {
    /// Returns networks from good to poor: each round trip at each bandwidth.
    pub fn all() -> impl Iterator<Item = Link> {
        let round_trips = [20.0, 50.0, 150.0];
        round_trips
            .into_iter()
            .flat_map(|round_trip| [100.0, 20.0, 5.0].map(|mbit| Link { round_trip, mbit }))
    }

    /// Returns the duration of rounds in milliseconds, with at most `at_a_time` requests in flight.
    ///
    /// A round contains the number of bytes of each request.
    pub fn time(&self, rounds: &[Vec<u64>], at_a_time: usize) -> f64 {
        rounds
            .iter()
            .map(|round| self.round(round, at_a_time))
            .sum()
    }

    fn round(&self, requests: &[u64], at_a_time: usize) -> f64 {
        let bytes_a_millisecond = self.mbit * 125.0;
        let mut waiting: VecDeque<f64> = requests.iter().map(|&bytes| bytes as f64).collect();
        // Time when the first byte arrives, and number of bytes still to come.
        let mut flying: Vec<(f64, f64)> = Vec::new();
        let mut now = 0.0;
        loop {
            while flying.len() < at_a_time.max(1)
                && let Some(bytes) = waiting.pop_front()
            {
                flying.push((now + self.round_trip, bytes));
            }
            if flying.is_empty() {
                return now;
            }
            let arriving = flying.iter().filter(|(first, _)| *first <= now);
            let (count, least) = arriving
                .fold((0.0, f64::INFINITY), |(count, least), (_, left)| {
                    (count + 1.0, left.min(least))
                });
            let rate = bytes_a_millisecond / f64::max(count, 1.0);
            let next_first = flying
                .iter()
                .map(|(first, _)| *first)
                .filter(|first| *first > now);
            let next_first = next_first.fold(f64::INFINITY, f64::min);
            let is_end = now + least / rate <= next_first;
            // When a request ends, every request has received its remaining bytes exactly. This avoids rests from
            // rounding.
            let (next, got) = if is_end {
                (now + least / rate, least)
            } else {
                (next_first, rate * (next_first - now))
            };
            flying.retain_mut(|(first, left)| {
                if *first <= now {
                    *left -= got;
                }
                *first > now || !is_end || *left > 0.0
            });
            now = next;
        }
    }
}

/// Formats a network like `50 ms, 20 Mbit/s`.
impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ms, {} Mbit/s", self.round_trip, self.mbit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Network that transfers 1,000 bytes per millisecond.
    const LINK: Link = Link {
        round_trip: 50.0,
        mbit: 8.0,
    };

    #[track_caller]
    fn takes(rounds: &[Vec<u64>], at_a_time: usize, milliseconds: f64) {
        let found = LINK.time(rounds, at_a_time);
        assert!(
            (found - milliseconds).abs() < 1e-6,
            "{found} ms, expected {milliseconds}"
        );
    }

    #[test]
    fn a_request_takes_a_round_trip_and_its_bytes() {
        takes(&[vec![10_000]], 6, 60.0);
        takes(&[vec![0]], 6, 50.0);
        takes(&[], 6, 0.0);
    }

    #[test]
    fn rounds_follow_each_other() {
        takes(&[vec![1_000], vec![2_000], vec![3_000]], 6, 156.0);
    }

    #[test]
    fn requests_of_a_round_share_the_bandwidth() {
        takes(&[vec![10_000; 6]], 6, 110.0);
        // The short requests end first. Then the long request has the whole bandwidth.
        takes(&[vec![1_000, 1_000, 10_000]], 6, 62.0);
    }

    #[test]
    fn a_request_beyond_the_limit_begins_when_another_request_ends() {
        // Two requests share the bandwidth until 52 ms. Then 8,000 bytes remain, while the third request waits until
        // 102 ms.
        takes(&[vec![1_000, 9_000, 5_000]], 2, 107.0);
        takes(&[vec![1_000; 3]], 1, 153.0);
        // Two requests arrive from 102 ms on. By then 50 kB of the long request have arrived.
        takes(&[vec![1_000, 59_000, 5_000]], 2, 115.0);
    }

    #[test]
    fn requests_of_all_sizes_end_and_no_byte_is_lost() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1_000 {
            let round: Vec<u64> = (0..random.usize(1..60))
                .map(|_| random.u64(0..20_000))
                .collect();
            for link in Link::all() {
                let time = link.time(std::slice::from_ref(&round), 6);
                let bytes = round.iter().sum::<u64>() as f64 / (link.mbit * 125.0);
                let round_trips = round.len().div_ceil(6) as f64 * link.round_trip;
                assert!(
                    time >= bytes.max(link.round_trip)
                        && time <= bytes + round.len() as f64 * link.round_trip
                );
                assert!(
                    round.len() > 6 || (time - bytes - round_trips).abs() < 1e-6,
                    "{link}: {time} ms"
                );
            }
        }
    }
}
