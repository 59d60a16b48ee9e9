//! `shelfish build`: inputs, results, unusable lines, and interruptions.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::*;

#[test]
fn an_export_returns_all_lines_of_the_dump() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", sample());
    fixture.build(&[&dump], &[]).succeeds();
    assert_eq!(fixture.export("db"), sorted(&sample()));
    fixture.verify("db").succeeds();
}

#[test]
fn the_bytes_do_not_depend_on_the_form_of_the_input() {
    let fixture = Fixture::new();
    let text = sample();
    let lines: Vec<&str> = text.lines().collect();
    let backwards: String = lines.iter().rev().map(|line| format!("{line}\n")).collect();
    let (some, others) = lines.split_at(600);
    let plain = fixture.file("plain", &text);
    fixture
        .build_to("plain-db", &[&plain], &["--threads", "1"])
        .succeeds();
    let expected = fixture.files("plain-db");
    let zst = fixture.file("a", zstd(&backwards));
    fixture
        .build_to(
            "zstd-db",
            &[&zst],
            &["--threads", "2", "--max-memory", "64MiB"],
        )
        .succeeds();
    assert_eq!(fixture.files("zstd-db"), expected);
    let parts = [
        fixture.file("b", gzip(&others.join("\n"))),
        fixture.file("c", zstd(&some.join("\r\n"))),
    ];
    fixture
        .build_to(
            "parts-db",
            &[&parts[0], &parts[1]],
            &["--threads", "5", "--max-memory", "2G"],
        )
        .succeeds();
    assert_eq!(fixture.files("parts-db"), expected);
    fixture
        .build_to("twice-db", &[&parts[0], &zst, &parts[1], &plain], &[])
        .succeeds();
    assert_eq!(
        fixture.files("twice-db"),
        expected,
        "identical evaluations are there once"
    );
    let out = fixture.path("stdin-db");
    shelfish_with(
        [
            "build".as_ref(),
            "-".as_ref(),
            "-o".as_ref(),
            out.as_os_str(),
        ],
        &zstd(&text),
    )
    .succeeds();
    assert_eq!(fixture.files("stdin-db"), expected);
    let exported = fixture.file("exported", fixture.export("plain-db").join("\n"));
    fixture.build_to("again-db", &[&exported], &[]).succeeds();
    assert_eq!(
        fixture.files("again-db"),
        expected,
        "an export builds the database that it came from"
    );
}

#[test]
fn evaluations_of_a_position_are_merged_for_all_spellings_of_its_fen() {
    let fixture = Fixture::new();
    let dump = fixture.file(
        "dump",
        [
            line(START, 20, "e2e4", 5, 10),
            line(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w kqKQ - 0 1",
                30,
                "d2d4",
                5,
                12,
            ),
            line(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha e6",
                20,
                "e2e4",
                5,
                10,
            ),
            line(START, 20, "e2e4", 6, 10),
        ]
        .join("\n"),
    );
    fixture.build(&[&dump], &[]).succeeds();
    let pv = |cp, moves, knodes, depth| {
        format!(r#"{{"pvs":[{{"cp":{cp},"line":"{moves}"}}],"knodes":{knodes},"depth":{depth}}}"#)
    };
    let evals = [
        pv(30, "d2d4", 5, 12),
        pv(20, "e2e4", 6, 10),
        pv(20, "e2e4", 5, 10),
    ]
    .join(",");
    assert_eq!(
        fixture.export("db"),
        [format!(r#"{{"fen":"{START}","evals":[{evals}]}}"#)]
    );
}

#[test]
fn unusable_lines_are_counted_and_written_to_the_rejects() {
    let fixture = Fixture::new();
    let long = format!("{{\"fen\":\"{}\"}}", "x".repeat(17 << 20));
    let bad = [
        ("broken JSON", "{\"fen\":".to_owned()),
        ("broken JSON", "[1,2]".to_owned()),
        ("broken JSON", "\u{1}\u{7f}binary".to_owned()),
        ("malformed FEN", line("rnbqkbnr/pppppppp", 1, "e2e4", 1, 1)),
        (
            "position without legal play",
            line("8/8/8/8/8/8/8/K7 w - -", 1, "a1a2", 1, 1),
        ),
        (
            "position without legal play",
            line("4k3/4R3/8/8/8/8/8/4K3 w - -", 1, "e1e2", 1, 1),
        ),
        ("illegal PV move", line(START, 1, "e2e5 e7e5", 1, 1)),
        (
            "score out of range",
            line(START, 1, "e2e4", 1, 1).replace("\"cp\":1", "\"cp\":3000000000"),
        ),
        (
            "score out of range",
            line(START, 1, "e2e4", 1, 1).replace("\"cp\":1", "\"mate\":0"),
        ),
        ("line over 16 MiB", long),
        (
            "no evaluation",
            format!("{{\"fen\":\"{START}\",\"evals\":[]}}"),
        ),
    ];
    let mut text = format!("{}\n\n", line(START, 7, "e2e4 e7e5 e4e5", 1, 1));
    for (_, line) in &bad {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&line("4k3/8/8/8/8/8/8/4K2R w KQkq -", 5, "e1g1", 1, 1));
    let dump = fixture.file("dump", text);
    let rejects = fixture.path("rejects");
    let summary = fixture
        .build(
            &[&dump],
            &["--json", "--rejects", rejects.to_str().unwrap()],
        )
        .succeeds();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["positions"], 2);
    assert_eq!(summary["input"]["lines"], bad.len() + 2);
    assert_eq!(summary["input"]["pvs_cut"], 1);
    for (reason, _) in &bad {
        assert_eq!(
            summary["input"]["rejects"][reason],
            bad.iter().filter(|(other, _)| other == reason).count()
        );
    }
    assert_eq!(
        fixture.export("db")[1],
        line(START, 7, "e2e4 e7e5", 1, 1),
        "kept up to the illegal move"
    );
    assert_eq!(
        fixture.export("db")[0],
        line("4k3/8/8/8/8/8/8/4K2R w K -", 5, "e1h1", 1, 1)
    );

    let rejects = fs::read_to_string(rejects).unwrap();
    let mut rows = rejects
        .lines()
        .map(|row| row.split('\t').collect::<Vec<_>>());
    assert_eq!(
        rows.next().unwrap(),
        ["source", "line", "reason", "fact", "beginning"]
    );
    for (n, (row, (reason, line))) in rows.by_ref().zip(&bad).enumerate() {
        assert_eq!(
            row[..3],
            [dump.to_str().unwrap(), &(n + 3).to_string(), reason]
        );
        assert!(n == 2 || line.starts_with(row[4]), "{row:?}");
        assert!(row[4].len() < 200);
    }
    assert_eq!(rejects.lines().count(), bad.len() + 1);
}

#[test]
fn many_lines_of_a_position_are_merged_within_limits_in_any_order() {
    let fixture = Fixture::new();
    // 300 evaluations of 40 moves in several lines. A record can contain 102 of these evaluations.
    let line = |n: usize| {
        line(
            START,
            n as i32,
            "g1f3 g8f6 f3g1 f6g8 ".repeat(10).trim(),
            n as u32,
            10 + (n % 50) as u16,
        )
    };
    let mut lines: Vec<String> = (0..300).map(line).collect();
    let ordered = fixture.file("ordered", lines.join("\n"));
    lines.reverse();
    lines.extend_from_within(..100);
    let again = fixture.file("again", lines.join("\n"));
    fixture
        .build_to("one", &[&ordered], &["--threads", "1"])
        .succeeds();
    fixture
        .build_to("two", &[&again], &["--threads", "3"])
        .succeeds();
    assert!(fixture.files("one") == fixture.files("two"));
    let (some, others) = (
        fixture.file("some", lines[..150].join("\n")),
        fixture.file("others", lines[150..].join("\n")),
    );
    fixture.build_to("base", &[&some], &[]).succeeds();
    let base = fixture.path("base");
    fixture
        .build_to("three", &[&others], &["--base", base.to_str().unwrap()])
        .succeeds();
    assert!(
        fixture.files("one") == fixture.files("three"),
        "a base that had no room for all makes no difference"
    );
    let kept = fixture.export("one").concat();
    assert_eq!(
        kept.matches("\"depth\"").count(),
        102,
        "as many as have 4,096 moves together"
    );
}

#[test]
fn evaluations_that_the_merge_drops_are_counted() {
    let fixture = Fixture::new();
    let other = "4k3/8/8/8/8/8/8/4K2R w K -";
    // 300 evaluations of the initial position, including 20 duplicates. The shallowest evaluations have two PVs.
    let text: Vec<String> = (0..320)
        .map(|n| match n % 300 {
            0 => line(START, 0, "e2e4", 5, 10)
                .replace(r#"e2e4"}"#, r#"e2e4"},{"cp":0,"line":"d2d4"}"#)
                .replace(r#""depth":10"#, r#""depth":1"#),
            n => line(START, n, "e2e4", 5, 100 + n as u16),
        })
        .chain([line(other, 5, "e1h1", 1, 1)])
        .collect();
    let dumps = [
        fixture.file("some", text[..150].join("\n")),
        fixture.file("others", text[150..].join("\n")),
    ];
    let sources = [dumps[0].as_path(), &dumps[1]];
    let summary = fixture.build(&sources, &["--json"]).succeeds();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(
        summary["over_limit"],
        serde_json::json!({"positions": 1, "evaluations": 44, "pvs": 45})
    );
    assert_eq!(summary["evaluations"], 257);
    assert_eq!(
        summary["input"]["rejects"],
        serde_json::json!({}),
        "all lines are usable"
    );
    let kept = &fixture.export("db")[1];
    assert!(
        kept.contains(r#""depth":399"#)
            && kept.contains(r#""depth":144"#)
            && !kept.contains(r#""depth":143"#)
    );
    let over_limit = |options: &[&str]| {
        let summary = fixture.build(&sources, options).succeeds();
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()["over_limit"].to_string()
    };
    let expected = r#"{"evaluations":44,"positions":1,"pvs":45}"#;
    assert_eq!(over_limit(&["--json"]), expected);
    // A selection is not a limit.
    let expected = r#"{"evaluations":0,"positions":0,"pvs":0}"#;
    assert_eq!(over_limit(&["--json", "--best-only"]), expected);
}

#[test]
fn selections_reduce_a_database() {
    let fixture = Fixture::new();
    let text = sample();
    let dump = fixture.file("dump", &text);
    // The first half again, one move shorter and once deeper. The selection applies after the merge.
    let half: String = text
        .lines()
        .take(700)
        .map(|line| line.replace("\"depth\":17", "\"depth\":21") + "\n")
        .collect();
    let half = fixture.file("half", half);
    let full = {
        fixture.build(&[&dump, &half], &[]).succeeds();
        fixture.export("db")
    };
    let expect = |change: &dyn Fn(&mut Vec<serde_json::Value>)| -> Vec<serde_json::Value> {
        let mut records: Vec<serde_json::Value> = full
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        records
            .iter_mut()
            .for_each(|record| change(record["evals"].as_array_mut().unwrap()));
        records.retain(|record| !record["evals"].as_array().unwrap().is_empty());
        records
    };
    let trim = |evals: &mut Vec<serde_json::Value>| {
        for eval in evals {
            let pvs = eval["pvs"].as_array_mut().unwrap();
            pvs.truncate(2);
            for pv in pvs {
                let line: Vec<&str> = pv["line"].as_str().unwrap().split(' ').take(3).collect();
                pv["line"] = line.join(" ").into();
            }
        }
    };
    let found = |options: &[&str]| -> Vec<serde_json::Value> {
        fixture.build(&[&half, &dump], options).succeeds();
        fixture
            .export("db")
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    assert_eq!(
        found(&["--min-depth", "20"]),
        expect(&|evals| evals.retain(|eval| eval["depth"].as_u64() >= Some(20)))
    );
    assert_eq!(found(&["--best-only"]), expect(&|evals| evals.truncate(1)));
    assert_eq!(
        found(&["--max-pvs", "2", "--max-plies", "3"]),
        expect(&|evals| trim(evals))
    );
    assert_eq!(
        found(&["--best-only", "--max-pvs", "2", "--max-plies", "3"]),
        expect(&|evals| {
            evals.truncate(1);
            trim(evals);
        })
    );
    let info = fs::read_to_string(fixture.path("db/manifest.json")).unwrap();
    assert!(
        info.contains("best_only"),
        "the manifest contains the selection"
    );
    fixture
        .build(&[&dump], &["--min-depth", "99"])
        .fails(&["nothing to write", "left out"]);
}

#[test]
fn a_failed_build_keeps_the_old_database() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", sample());
    fixture.build(&[&dump], &[]).succeeds();
    let before = fixture.files("db");
    let whole = zstd(&sample().repeat(3));
    let cut = fixture.file("cut", &whole[..whole.len() - 7]);
    fixture
        .build(&[&dump, &cut], &[])
        .fails(&["cut", "cannot read", "download it again"]);
    let whole = gzip(&sample());
    let cut = fixture.file("cut", &whole[..whole.len() - 9]);
    fixture.build(&[&cut], &[]).fails(&["cut", "cannot read"]);
    let empty = fixture.file("empty", "");
    fixture
        .build(&[&empty], &[])
        .fails(&["nothing to write", "0 lines"]);
    let rubbish = fixture.file("rubbish", "{}\nx\n");
    fixture
        .build(&[&rubbish], &[])
        .fails(&["none of 2 lines is an evaluation", "--rejects"]);
    fixture
        .build(&[&fixture.path("missing")], &[])
        .fails(&["missing", "cannot read"]);
    if Path::new("/dev/full").exists() {
        let other = fixture.file("other", line(START, 1, "e2e4", 5, 10) + "\n{}");
        fixture
            .build(&[&other], &["--rejects", "/dev/full"])
            .fails(&["rejects", "/dev/full"]);
    }
    assert_eq!(fixture.files("db"), before);

    fixture
        .build_to("never", &[&empty], &[])
        .fails(&["nothing to write"]);
    assert!(!fixture.path("never").exists());
    fixture.build_to("dump", &[&dump], &[]).fails(&["dump"]);
}

/// Starts a build that waits for the end of its standard input.
#[cfg(unix)]
fn slow_build(fixture: &Fixture, input: &[u8]) -> (std::process::Child, std::process::ChildStdin) {
    use std::io::Write;
    let out = fixture.path("db");
    let args = [
        "build".as_ref(),
        "-".as_ref(),
        "--quiet".as_ref(),
        "-o".as_ref(),
        out.as_os_str(),
    ];
    let mut child = command()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input).unwrap();
    until("the build has locked its directory", || {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the build ended before its input"
        );
        fixture.path("db/.shelfish-build/lock").exists()
    });
    (child, stdin)
}

#[cfg(unix)]
#[test]
fn signals_clean_up_and_a_concurrent_build_is_rejected() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", sample());
    fixture.build(&[&dump], &[]).succeeds();
    let before = fixture.files("db");
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let (mut child, _stdin) = slow_build(&fixture, sample().as_bytes());
        fixture.build(&[&dump], &[]).fails(&["another build"]);
        let kill = std::process::Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(fixture.files("db"), before);
    }
}
