//! Any text is a game or an error, at any cut. A game stays the same when it is written and read again, and annotation loses nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish_analysis::pgn::{PgnGame, Splitter, read, read_main_line};
use shelfish_analysis::{KnownEval, annotate};

fuzz_target!(|text: &str| {
    let mut splitter = Splitter::default();
    let begins = text
        .lines()
        .filter(|line| splitter.begins_game(line.as_bytes()))
        .count();
    assert!(begins <= text.lines().count());
    let line = read_main_line(text, 1);
    let Ok(mut game) = read(text, 1) else { return };
    assert_eq!(
        (line.tags, line.game, line.result, line.error),
        (game.tags.clone(), game.game.clone(), game.result, None)
    );
    let written = game.to_string();
    let again = read(&written, 1).expect("a game that was written is read");
    assert_eq!(
        PgnGame {
            result: again.result,
            ..game.clone()
        },
        again
    );
    let score = |n: usize| KnownEval::cp((n as i32 * 7919) % 1500 - 750, 20);
    let known: Vec<Option<KnownEval>> = (0..=game.game.moves().len())
        .map(|n| Some(score(n)))
        .collect();
    annotate(&mut game, &known).expect("as many as positions");
    assert_eq!(
        read(&game.to_string(), 1)
            .expect("an annotated game is read")
            .game,
        again.game
    );
});
