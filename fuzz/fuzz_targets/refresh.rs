//! Any configuration of `shelfish refresh` is read, or is an error that names the file. Its build has its sources.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use shelfish_cli::commands::refresh::Config;

fuzz_target!(|text: &str| {
    let path = Path::new("folder/refresh.toml");
    match Config::parse(path, text) {
        Ok(config) => {
            assert!(!config.sources.is_empty() && (0.0..=100.0).contains(&config.max_loss));
            assert!(
                config
                    .build(path, None)
                    .is_ok_and(|build| build.reads().len() >= config.sources.len())
            );
        }
        Err(error) => assert!(error.to_string().starts_with("folder/refresh.toml")),
    }
});
