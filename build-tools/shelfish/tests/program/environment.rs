//! Variables of the environment that configure stores, and messages about credentials.

use std::process::Command;

use crate::common::stores::{Do, Line, Protocol, Store, run};
use crate::common::*;

const LOOKUP: [&str; 4] = ["lookup", "-d", "s3://shelf/evals", START];

/// Creates a command without variables of stores.
fn clean() -> Command {
    let mut command = command();
    for (name, _) in std::env::vars() {
        if ["AWS_", "GOOGLE_", "AZURE_", "AZURITE_"]
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
    for (protocol, empty) in [
        (
            Protocol::Azure,
            [
                "AZURE_STORAGE_ENDPOINT",
                "AZURE_STORAGE_SAS_KEY",
                "AZURE_STORAGE_ACCOUNT_NAME",
            ],
        ),
        (
            Protocol::Google,
            [
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_BASE_URL",
                "GOOGLE_BEARER_TOKEN",
            ],
        ),
    ] {
        let Some(store) = Store::start(protocol) else {
            continue;
        };
        let mut command = store.command();
        command.envs(empty.map(|name| (name, "")));
        run(command.args(["publish", "-q", db.to_str().unwrap(), &store.url("evals")])).succeeds();
    }
}

#[test]
fn a_malformed_variable_is_wrong_usage_with_its_name() {
    let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
    for (url, name, value) in [
        ("s3://shelf/x", "AWS_ENDPOINT", "localhost:9000"),
        ("s3://shelf/x", "AWS_ENDPOINT", "not a URL"),
        ("s3://shelf/x", "AWS_ENDPOINT_URL", "shelf.example.org"),
        ("s3://shelf/x", "AWS_SECRET_ACCESS_KEY", "s\n"),
        ("s3://shelf/x", "AWS_SESSION_TOKEN", "t\n"),
        ("s3://shelf/x", "AWS_CHECKSUM_ALGORITHM", "md4"),
        ("s3://shelf/x", "AWS_SKIP_SIGNATURE", "perhaps"),
        ("gs://shelf/x", "GOOGLE_BASE_URL", "nothing"),
        ("gs://shelf/x", "GOOGLE_SERVICE_ACCOUNT_KEY", "{"),
        ("gs://shelf/x", "GOOGLE_SERVICE_ACCOUNT", "/no/key.json"),
        ("az://shelf/x", "AZURE_STORAGE_ENDPOINT", "nothing"),
        ("az://shelf/x", "AZURE_STORAGE_ACCOUNT_KEY", "?"),
        ("az://shelf/x", "AZURE_STORAGE_USE_EMULATOR", "perhaps"),
    ] {
        let mut command = command_with(&keys);
        command
            .env("AZURE_STORAGE_ACCOUNT_NAME", "me")
            .env(name, value);
        let run = run(command.args(["stats", "-d", url]));
        assert_eq!(run.code, 2, "{name}: {}", run.err);
        assert!(
            run.err.contains(name) && run.err.starts_with("shelfish: "),
            "{name}: {}",
            run.err
        );
    }
    for (url, set, unset) in [
        (
            "s3://shelf/x",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY is not set",
        ),
        (
            "s3://shelf/x",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID is not set",
        ),
        (
            "az://shelf/x",
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_ACCOUNT_NAME is not set",
        ),
    ] {
        let run = run(command_with(&[(set, "c2VjcmV0")]).args(["stats", "-d", url]));
        assert!(run.code == 2 && run.err.contains(unset), "{}", run.err);
    }
}

#[test]
fn missing_credentials_are_reported_with_the_names_of_their_variables() {
    let fixture = Fixture::of_sample();
    let db = fixture.path("db");
    let closed = "http://127.0.0.1:1";
    for (url, variables, words) in [
        (
            "s3://shelf/x",
            vec![("AWS_METADATA_ENDPOINT", closed)],
            "no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ),
        (
            "az://shelf/x",
            vec![
                ("AZURE_STORAGE_ACCOUNT_NAME", "me"),
                ("IDENTITY_ENDPOINT", closed),
            ],
            "no credentials for Azure: set AZURE_STORAGE_ACCOUNT_KEY",
        ),
    ] {
        let publish = ["publish", "-q", db.to_str().unwrap(), url];
        run(command_with(&variables).args(publish)).fails(&[words]);
        run(command_with(&variables).args(["stats", "-d", url])).fails(&[words]);
    }
}

#[test]
fn rejected_credentials_are_reported_without_xml() {
    let fixture = Fixture::of_sample();
    let db = fixture.path("db");
    for (protocol, code) in [
        (Protocol::S3, "SignatureDoesNotMatch"),
        (Protocol::Azure, "AuthenticationFailed"),
    ] {
        let Some(store) = Store::start(protocol) else {
            continue;
        };
        let line = Line::new(store.at, move |_, _| {
            let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>".to_owned() + code;
            Do::AnswerWith(
                "403 Forbidden",
                body + "</Code><Message>The signature is wrong.</Message><StringToSign>GET</StringToSign></Error>",
            )
        });
        let command = || store.command_at(line.at);
        let url = store.url("evals");
        for args in [
            vec!["publish", "-q", db.to_str().unwrap(), &url],
            vec!["stats", "-d", &url],
        ] {
            let err = run(command().args(args)).fails(&[
                code,
                "The signature is wrong.",
                "check the credentials",
            ]);
            assert!(!err.contains('<'), "{err}");
        }
    }
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let line = Line::new(store.at, |_, _| Do::Answer("403 Forbidden"));
    run(store.command_at(line.at).args(LOOKUP))
        .fails(&["status 403: the bucket is not public, or the path is wrong"]);
}
