//! Any file is games up to an error. A game stays the same when it is written and read again, and annotation loses nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish_analysis::pgn::{GameTexts, read, read_main_line};
use shelfish_analysis::{KnownEval, annotate};

fuzz_target!(|file: &[u8]| {
    for text in GameTexts::new(file) {
        let text = text.expect("memory is read").text;
        let (line, mut game) = (read_main_line(&text, 1), read(&text, 1));
        assert_eq!(
            (line.tags, line.game, line.result),
            (game.tags.clone(), game.game.clone(), game.result)
        );
        if game.error.is_some() {
            continue;
        }
        let again = read(&game.to_string(), 1);
        assert_eq!(
            (&again.tags, &again.line, &again.game),
            (&game.tags, &game.line, &game.game)
        );
        let score = |n: usize| KnownEval::cp((n as i32 * 7919) % 1500 - 750, 20);
        let known: Vec<Option<KnownEval>> = (0..=game.game.moves().len())
            .map(|n| Some(score(n)))
            .collect();
        annotate(&mut game, &known).expect("as many as positions");
        assert_eq!(read(&game.to_string(), 1).game, again.game);
    }
});
