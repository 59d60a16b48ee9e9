//! `shelfish lookup --json -` as a process that other programs ask.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::common::*;
use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/lookup.py");

#[test]
fn each_line_has_an_answer_before_the_next_line_is_sent() {
    let fixture = Fixture::of_sample();
    let mut lookup = command();
    lookup.args([
        "lookup",
        "--json",
        "-",
        "-d",
        fixture.path("db").to_str().unwrap(),
    ]);
    let mut child = lookup
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    let sample = sample();
    let known: Vec<Value> = sample
        .lines()
        .step_by(90)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut ask = |text: &str| -> Value {
        writeln!(input, "{text}").unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    for line in &known {
        let fen = line["fen"].as_str().unwrap();
        let answer = ask(fen);
        assert_eq!(
            (&answer["fen"], &answer["found"]),
            (&Value::from(fen), &Value::from(true))
        );
        let error = ask("8/8/8");
        assert!(
            error["error"].as_str().unwrap().contains("FEN has 1 field")
                && error.get("found").is_none(),
            "{error}"
        );
    }
    // An empty line has no answer.
    let absent = ask("\n8/8/8/3k4/8/8/3K4/N7 w - -");
    assert_eq!(absent["found"], false);
    drop(input);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(1), "a line was no FEN");
}

/// Returns the program of Python 3.
fn python() -> Option<&'static str> {
    let is_python = |name: &&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("Python 3"))
    };
    ["python3", "python"].into_iter().find(is_python)
}

/// Runs the example in Python with a database and lines of input.
fn example(database: &str, input: &str) -> Option<Run> {
    let Some(python) = python() else {
        println!("NOT TESTED: Python 3 was not found");
        return None;
    };
    let mut command = Command::new(python);
    command
        .arg(EXAMPLE)
        .arg(database)
        .env("SHELFISH", env!("CARGO_BIN_EXE_shelfish"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut out = String::new();
    for line in input.lines() {
        writeln!(stdin, "{line}").unwrap();
        // The example answers each line at once.
        let Some(Ok(answer)) = lines.next() else {
            break;
        };
        out += &(answer + "\n");
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(Run {
        code: output.status.code().unwrap(),
        out,
        err,
    })
}

#[test]
fn the_example_in_python_prints_the_evaluations_of_the_dump() {
    let fixture = Fixture::of_sample();
    let sample = sample();
    let lines: Vec<Value> = sample
        .lines()
        .step_by(120)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let fens: Vec<&str> = lines
        .iter()
        .map(|line| line["fen"].as_str().unwrap())
        .collect();
    let input = format!(
        "{}\n8/8/8/3k4/8/8/3K4/N7 w - -\n8/8\n{START}\n",
        fens.join("\n")
    );
    let Some(run) = example(fixture.path("db").to_str().unwrap(), &input) else {
        return;
    };
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let answers: Vec<&str> = run.out.lines().collect();
    assert_eq!(answers.len(), fens.len() + 3, "{}", run.out);
    for (answer, line) in answers.iter().zip(&lines) {
        let evals = line["evals"].as_array().unwrap();
        let depth = evals
            .iter()
            .map(|eval| eval["depth"].as_u64().unwrap())
            .max()
            .unwrap();
        let deepest = evals
            .iter()
            .filter(|eval| eval["depth"] == depth)
            .map(|eval| &eval["pvs"][0]);
        let score = |pv: &Value| match pv["mate"].as_i64() {
            Some(mate) => format!("#{mate}"),
            None => format!("{:+.2}", pv["cp"].as_i64().unwrap() as f64 / 100.0),
        };
        let expected: Vec<String> = deepest
            .map(|pv| format!("{} at depth {depth}: ", score(pv)))
            .collect();
        assert!(
            expected.iter().any(|start| answer.starts_with(start)),
            "{answer}: {expected:?}"
        );
    }
    assert_eq!(answers[fens.len()], "not in the database");
    assert!(
        answers[fens.len() + 1].starts_with("error: line "),
        "{}",
        answers[fens.len() + 1]
    );
}
