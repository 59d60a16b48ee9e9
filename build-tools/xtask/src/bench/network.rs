//! The emulated network of benchmarks.

/// Options of the network, the same for every benchmark.
#[derive(clap::Args)]
pub struct Network {
    /// Latency of every request, in milliseconds
    #[arg(long, default_value_t = 50)]
    latency_ms: u32,
    /// Bandwidth in Mbit/s
    #[arg(long, default_value_t = 20.0)]
    bandwidth_mbit: f64,
}

impl Network {
    /// Returns the options of the scripts in JavaScript.
    pub fn options(&self) -> [String; 4] {
        [
            "--latency".into(),
            self.latency_ms.to_string(),
            "--mbit".into(),
            self.bandwidth_mbit.to_string(),
        ]
    }
}
