//! Reads games.

use shakmaty::san::{San, SanPlus};
use shakmaty::{Chess, Move, Position as _, Role};
use shelfish::position::Position;

use super::error::{PgnError, PgnErrorKind};
use super::token::{Token, Tokens};
use super::{Line, MAX_BYTES, MAX_DEPTH, MAX_MOVES, Note, PgnGame, Step};
use crate::Game;

/// Signs after moves, and their numeric annotation glyphs.
const SIGNS: [(&str, u8); 22] = [
    ("!", 1),
    ("?", 2),
    ("!!", 3),
    ("??", 4),
    ("!!!", 3),
    ("???", 4),
    ("!?", 5),
    ("?!", 6),
    ("□", 7),
    ("=", 10),
    ("∞", 13),
    ("+=", 14),
    ("⩲", 14),
    ("=+", 15),
    ("⩱", 15),
    ("±", 16),
    ("+/-", 16),
    ("∓", 17),
    ("-/+", 17),
    ("+-", 18),
    ("-+", 19),
    ("N", 146),
];

/// Spellings of results, and their standard spelling.
const RESULTS: [(&str, &str); 9] = [
    ("1-0", "1-0"),
    ("0-1", "0-1"),
    ("1/2-1/2", "1/2-1/2"),
    ("1/2", "1/2-1/2"),
    ("½-½", "1/2-1/2"),
    ("1–0", "1-0"),
    ("0–1", "0-1"),
    ("½–½", "1/2-1/2"),
    ("*", "*"),
];

/// Returns the standard spelling of a result: `1-0`, `0-1`, `1/2-1/2` or `*`. `1/2` and `½-½` are draws too. Returns `None` for
/// other text.
pub fn result(written: &str) -> Option<&'static str> {
    RESULTS
        .into_iter()
        .find_map(|(other, result)| (other == written).then_some(result))
}

/// Returns whether a value of the tag `Variant` names a game with the rules of chess.
pub fn is_chess(variant: &str) -> bool {
    let variant: String = variant
        .chars()
        .filter(|c| !matches!(c, ' ' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    matches!(
        variant.as_str(),
        "" | "?"
            | "standard"
            | "chess"
            | "normal"
            | "chess960"
            | "fischerandom"
            | "fischerrandom"
            | "fromposition"
    )
}

/// Reads a game. `line` is the number of the text's first line, for errors.
///
/// ```
/// use shelfish_analysis::pgn;
/// let game = pgn::read("[White \"Tal\"]\n\n1. e4 {[%eval 0.3]} e5 (1... c5 $1) 2. Nf3 *", 1)?;
/// assert_eq!((game.tag("White"), game.game.moves().len()), (Some("Tal"), 3));
/// let error = pgn::read("1. e4 e5\n2. Sf3", 1).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: expected a move in English letters, found Sf3");
/// # Ok::<(), pgn::PgnError>(())
/// ```
///
/// # Errors
///
/// The text has no game, a move of the main line is not legal, a word is not part of PGN, or the game exceeds [`MAX_BYTES`],
/// [`MAX_MOVES`] or [`MAX_DEPTH`].
pub fn read(text: &str, line: u64) -> Result<PgnGame, PgnError> {
    if text.len() > MAX_BYTES {
        return Err(PgnError {
            line,
            kind: PgnErrorKind::TooLong,
        });
    }
    let mut reading = Reading::default();
    let last = take_all(&mut reading, text, line)?;
    reading
        .finish()
        .map_err(|kind| PgnError { line: last, kind })
}

/// Reads all tokens of a text. Returns the number of its last line.
fn take_all(reading: &mut Reading, text: &str, line: u64) -> Result<u64, PgnError> {
    let mut tokens = Tokens::new(text, line);
    // An error of a comment names the line of its beginning, not of its end.
    loop {
        let start = tokens.line();
        let Some(token) = tokens.next() else {
            return Ok(tokens.line());
        };
        let at = |kind| PgnError {
            line: if matches!(kind, PgnErrorKind::Comment) {
                start
            } else {
                tokens.line()
            },
            kind,
        };
        reading.take(token?).map_err(at)?;
    }
}

/// Tags and the main line of a game.
#[derive(Debug)]
pub struct MainLine {
    /// Names and values of the tags, in order.
    pub tags: Vec<(String, String)>,
    /// The main line as legal moves, up to the error, if there is an error.
    pub game: Game,
    /// The result at the end, if present: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: Option<&'static str>,
    /// The error that ends the line. After an error in a tag, a FEN or a variant there are no moves.
    pub error: Option<PgnError>,
}

impl MainLine {
    /// Returns the value of the first tag of this name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        super::tag(&self.tags, name)
    }
}

/// Reads tags and main line of a game, without annotations. This is faster than [`read()`], and keeps the moves before an error.
///
/// ```
/// use shelfish_analysis::pgn;
/// let line = pgn::read_main_line("[White \"Tal\"]\n\n1. e4 {good} e5 (1... c5)\n2. Sf3 Nc6", 1);
/// assert_eq!((line.tag("White"), line.game.moves().len()), (Some("Tal"), 2));
/// assert_eq!(line.error.map(|error| error.line), Some(4));
/// ```
pub fn read_main_line(text: &str, line: u64) -> MainLine {
    let mut reading = Reading {
        is_bare: true,
        ..Reading::default()
    };
    let error = match text.len() > MAX_BYTES {
        true => Some(PgnError {
            line,
            kind: PgnErrorKind::TooLong,
        }),
        false => take_all(&mut reading, text, line).err(),
    };
    let begun = reading.begin().err().map(|kind| PgnError { line, kind });
    let start = reading
        .position
        .map_or_else(Chess::default, |(start, _)| start);
    let game = Game::new(start, reading.moves);
    MainLine {
        tags: reading.tags,
        game,
        result: reading.result,
        error: error.or(begun),
    }
}

#[derive(Default)]
struct Reading {
    /// Whether only tags and the main line are read.
    is_bare: bool,
    tags: Vec<(String, String)>,
    /// Position before and after the main line, once the tags are read.
    position: Option<(Chess, Chess)>,
    fullmoves: u32,
    moves: Vec<Move>,
    /// The main line, and the open variations.
    lines: Vec<Line>,
    result: Option<&'static str>,
}

impl Reading {
    fn take(&mut self, token: Token) -> Result<(), PgnErrorKind> {
        if let Token::Tag(name, value) = token {
            return self.tag(name, value);
        }
        self.begin()?;
        match token {
            Token::Tag(..) => {}
            Token::Comment(_) if self.is_bare => {}
            Token::Comment(text) => self.note(Note::Comment(text.replace('}', ")"))),
            Token::Open => {
                let is_empty = match self.is_bare {
                    true => self.moves.is_empty(),
                    false => self.lines.last().is_none_or(|line| line.moves.is_empty()),
                };
                if is_empty || self.lines.len() > MAX_DEPTH {
                    return Err(if is_empty {
                        PgnErrorKind::Parenthesis
                    } else {
                        PgnErrorKind::TooDeep
                    });
                }
                self.lines.push(Line::default());
            }
            Token::Close => {
                let line = if self.lines.len() > 1 {
                    self.lines.pop()
                } else {
                    None
                };
                self.note(Note::Variation(line.ok_or(PgnErrorKind::Parenthesis)?));
            }
            Token::Word(word) => self.word(word)?,
        }
        Ok(())
    }

    fn tag(&mut self, name: &str, value: &str) -> Result<(), PgnErrorKind> {
        if self.position.is_some() {
            return Err(PgnErrorKind::Tag(format!("[{name} among the moves")));
        }
        let mut escaped = false;
        let plain = value.chars().filter(|c| {
            escaped = *c == '\\' && !escaped;
            !escaped
        });
        // A value has one line, however it ends.
        let plain = plain.map(|c| if c == '\r' { ' ' } else { c });
        self.tags.push((name.to_owned(), plain.collect()));
        Ok(())
    }

    /// Tags are over.
    fn begin(&mut self) -> Result<(), PgnErrorKind> {
        if self.position.is_some() {
            return Ok(());
        }
        let tag = |name| super::tag(&self.tags, name);
        if let Some(variant) = tag("Variant").filter(|variant| !is_chess(variant)) {
            return Err(PgnErrorKind::Variant(variant.to_owned()));
        }
        let fen = tag("FEN").filter(|fen| !fen.trim().is_empty());
        let start = match fen {
            Some(fen) => fen
                .parse::<Position>()
                .map_err(PgnErrorKind::Fen)?
                .chess()
                .clone(),
            None => Chess::default(),
        };
        let counter = fen.and_then(|fen| fen.split_ascii_whitespace().nth(5)?.parse().ok());
        // Beyond this no game goes on.
        self.fullmoves = counter.unwrap_or(1).clamp(1, 1_000_000);
        self.position = Some((start.clone(), start));
        self.lines.push(Line::default());
        Ok(())
    }

    /// Notes something after the last move of the line that is open.
    fn note(&mut self, note: Note) {
        if let Some(line) = self.lines.last_mut().filter(|_| !self.is_bare) {
            line.moves
                .last_mut()
                .map_or(&mut line.notes, |step| &mut step.notes)
                .push(note);
        }
    }

    /// Reads a word: a move number, a move with signs after it, glyphs or the result.
    fn word(&mut self, word: &str) -> Result<(), PgnErrorKind> {
        if self.is_bare && self.lines.len() > 1 {
            return Ok(());
        }
        if let Some(result) = result(word) {
            if self.lines.len() > 1 {
                // The result of a quoted game in a variation.
                return Ok(());
            }
            self.result = Some(result);
            return Ok(());
        }
        if let Some(nag) = word.strip_prefix('$') {
            self.note(Note::Nag(
                nag.parse()
                    .map_err(|_| PgnErrorKind::Word(word.to_owned()))?,
            ));
            return Ok(());
        }
        let text = without_number(word).trim_end_matches([',', '.']);
        if text.is_empty() || matches!(text, "ep" | "e.p") {
            return Ok(());
        }
        let end = text
            .trim_end_matches(['!', '?', '□', '∞', '⩲', '⩱', '±', '∓'])
            .len();
        let (text, sign) = text.split_at(end);
        if !text.is_empty() && sign_of(text).is_none() {
            self.step(text, word)?;
        } else if let Some(nag) = sign_of(text) {
            self.note(Note::Nag(nag));
        }
        if !sign.is_empty() {
            self.note(Note::Nag(
                sign_of(sign).ok_or_else(|| PgnErrorKind::Word(word.to_owned()))?,
            ));
        }
        Ok(())
    }

    fn step(&mut self, text: &str, word: &str) -> Result<(), PgnErrorKind> {
        let san = san(text).ok_or_else(|| PgnErrorKind::Word(word.to_owned()))?;
        if self.lines.len() == 1 {
            if self.result.is_some() {
                return Err(PgnErrorKind::AfterResult(word.to_owned()));
            }
            if self.moves.len() == MAX_MOVES {
                return Err(PgnErrorKind::TooManyMoves);
            }
            let Some((_, position)) = &mut self.position else {
                return Ok(());
            };
            let illegal = |_| PgnErrorKind::Move {
                ply: self.moves.len(),
                found: text.to_owned(),
            };
            let played = san.san.to_move(position).map_err(illegal)?;
            position.play_unchecked(played);
            self.moves.push(played);
        }
        if let Some(line) = self.lines.last_mut().filter(|_| !self.is_bare) {
            line.moves.push(Step {
                san,
                notes: Vec::new(),
            });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<PgnGame, PgnErrorKind> {
        if self.tags.is_empty() && self.position.is_none() {
            return Err(PgnErrorKind::Empty);
        }
        self.begin()?;
        match (self.position, self.lines.len(), self.lines.pop()) {
            (Some((start, _)), 1, Some(line)) => {
                let game = Game::new(start, self.moves);
                Ok(PgnGame {
                    tags: self.tags,
                    line,
                    result: self.result,
                    game,
                    fullmoves: self.fullmoves,
                })
            }
            _ => Err(PgnErrorKind::Parenthesis),
        }
    }
}

fn sign_of(text: &str) -> Option<u8> {
    SIGNS
        .into_iter()
        .find(|(sign, _)| *sign == text)
        .map(|(_, nag)| nag)
}

/// Removes a move number such as `12.` or `12...` from the beginning of a word, except from castling with zeros.
fn without_number(word: &str) -> &str {
    if word.starts_with("0-0") {
        return word;
    }
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.trim_start_matches(['.', '…'])
}

/// Parses a move in English letters or figurines.
fn san(text: &str) -> Option<SanPlus> {
    let san = SanPlus::from_ascii(text.as_bytes())
        .ok()
        .or_else(|| nonstandard(text))?;
    // Drops belong to variants. A pawn with a rank but no file looks like a move number.
    let is_odd = match san.san {
        San::Normal {
            role, file, rank, ..
        } => role == Role::Pawn && file.is_none() && rank.is_some(),
        San::Put { .. } => true,
        _ => false,
    };
    (!is_odd).then_some(san)
}

/// Parses a move in a nonstandard spelling.
fn nonstandard(text: &str) -> Option<SanPlus> {
    let plain = text.chars().map(|c| match c {
        '♔' | '♚' => 'K',
        '♕' | '♛' => 'Q',
        '♖' | '♜' => 'R',
        '♗' | '♝' => 'B',
        '♘' | '♞' => 'N',
        // A pawn's letter is removed below.
        '♙' | '♟' => 'P',
        '–' | '—' => '-',
        '×' => 'x',
        c => c,
    });
    let plain: String = plain
        .filter(|c| *c != '\u{fe0e}' && *c != '\u{fe0f}')
        .collect();
    let plain = plain.strip_prefix('P').unwrap_or(&plain);
    if matches!(plain, "--" | "Z0" | "null" | "@@@@") {
        return Some(SanPlus {
            san: San::Null,
            suffix: None,
        });
    }
    // Some programs write `++` for check or mate. The meaning follows from the position.
    let plain = plain.trim_end_matches("e.p").trim_end_matches("++");
    let plain = match plain.as_bytes().first()? {
        b'0' => plain.replace('0', "O"),
        b'O' => plain.to_owned(),
        // Long notation: `Ng1-f3`.
        _ => plain.replace('-', ""),
    };
    // A promotion without `=`.
    let bare = plain.trim_end_matches(['+', '#']);
    let plain = match bare.as_bytes() {
        [b'a'..=b'h', .., b'1' | b'8', b'Q' | b'R' | b'B' | b'N'] => {
            let (square, rest) = plain.split_at(bare.len() - 1);
            [square, "=", rest].concat()
        }
        _ => plain,
    };
    SanPlus::from_ascii(plain.as_bytes()).ok()
}
