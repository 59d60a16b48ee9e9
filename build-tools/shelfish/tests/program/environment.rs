//! Variables of the environment that configure stores, and messages about credentials.

use std::process::Command;

use crate::common::stores::{Do, Line, Protocol, Store, run};
use crate::common::*;

const LOOKUP: [&str; 4] = ["lookup", "-d", "s3://shelf/evals", START];

/// Creates a command without variables of stores.
fn clean() -> Command {
    let mut command = command();
    for (name, _) in std::env::vars() {
        if ["AWS_", "GOOGLE_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    command
}

fn command_with(variables: &[(&str, &str)]) -> Command {
    let mut command = clean();
    command.envs(variables.iter().copied());
    command
}

#[test]
fn empty_variables_count_as_unset() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = Fixture::of_sample();
    let endpoint = format!("http://{}", store.at);
    let variables = [
        ("AWS_ACCESS_KEY_ID", "k"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_ENDPOINT", &endpoint),
        ("AWS_REGION", ""),
        ("AWS_ENDPOINT_URL_S3", ""),
        ("AWS_SESSION_TOKEN", ""),
        ("AWS_CHECKSUM_ALGORITHM", ""),
        ("AWS_SKIP_SIGNATURE", ""),
    ];
    let db = fixture.path("db");
    let publish = ["publish", "-q", db.to_str().unwrap(), "s3://shelf/evals"];
    run(command_with(&variables).args(publish)).succeeds();
    run(command_with(&variables).args(LOOKUP)).succeeds();
    // Without an endpoint the store is Amazon's. A closed port replaces its services.
    let amazon = [
        ("AWS_ENDPOINT", ""),
        ("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1"),
        ("AWS_ACCESS_KEY_ID", ""),
    ];
    run(command_with(&amazon).args(LOOKUP)).fails(&["no credentials for S3"]);
    if let Some(store) = Store::start(Protocol::Google) {
        let mut command = store.command();
        command.envs([("GOOGLE_SERVICE_ACCOUNT", ""), ("GOOGLE_BEARER_TOKEN", "")]);
        run(command.args(["publish", "-q", db.to_str().unwrap(), &store.url("evals")])).succeeds();
    }
}

#[test]
fn a_malformed_variable_is_wrong_usage() {
    let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
    for (url, name, value, words) in [
        (
            "s3://shelf/x",
            "AWS_ENDPOINT",
            "localhost:9000",
            "AWS_ENDPOINT is invalid",
        ),
        (
            "s3://shelf/x",
            "AWS_SESSION_TOKEN",
            "t\u{e9}",
            "AWS_SESSION_TOKEN is invalid",
        ),
        (
            "s3://shelf/x",
            "AWS_SECRET_ACCESS_KEY",
            "",
            "SecretAccessKey",
        ),
        (
            "gs://shelf/x",
            "GOOGLE_BASE_URL",
            "nothing",
            "GOOGLE_BASE_URL is invalid",
        ),
        (
            "gs://shelf/x",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "{",
            "environment",
        ),
    ] {
        let run = run(command_with(&keys)
            .env(name, value)
            .args(["stats", "-d", url]));
        assert!(
            run.code == 2 && run.err.contains(words),
            "{name}: {}",
            run.err
        );
    }
}

#[test]
fn missing_credentials_are_reported_with_the_names_of_their_variables() {
    let fixture = Fixture::of_sample();
    let db = fixture.path("db");
    let variables = [("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")];
    let words = "no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    let url = "s3://shelf/x";
    let publish = ["publish", "-q", db.to_str().unwrap(), url];
    run(command_with(&variables).args(publish)).fails(&[words]);
    run(command_with(&variables).args(["stats", "-d", url])).fails(&[words]);
}

#[test]
fn a_store_that_denies_access_may_lack_the_file() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let line = Line::new(store.at, |_, _| Do::Answer("403 Forbidden"));
    run(store.command_at(line.at).args(LOOKUP))
        .fails(&["status 403: the bucket is not public, or the path is wrong"]);
}
