//! The network that benchmarks emulate.

/// Its options, the same for every benchmark.
#[derive(clap::Args)]
pub struct Network {
    /// Milliseconds that every request takes
    #[arg(long, default_value_t = 50)]
    latency_ms: u32,
    /// Bandwidth in Mbit/s
    #[arg(long, default_value_t = 20.0)]
    bandwidth_mbit: f64,
}

impl Network {
    /// The options as the scripts in JavaScript take them.
    pub fn options(&self) -> [String; 4] {
        ["--latency".into(), self.latency_ms.to_string(), "--mbit".into(), self.bandwidth_mbit.to_string()]
    }
}
