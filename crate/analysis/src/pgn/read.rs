//! Reads games.

use shakmaty::san::SanPlus;
use shakmaty::{CastlingSide, Chess, Move, Position as _};
use shelfish::position::Position;

use super::error::{PgnError, PgnErrorKind};
use super::moves::{self, DASHES, ENGLISH, FOREIGN, Letters};
use super::text::{begins_with_move, without_number};
use super::{Line, MAX_BYTES, MAX_DEPTH, MAX_MOVES, Note, PgnGame, Skipped, Step};
use crate::Game;

/// Signs after moves, and their numeric annotation glyphs.
const SIGNS: [(&str, u8); 30] = [
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
    ("+/=", 14),
    ("⩲", 14),
    ("=+", 15),
    ("=/+", 15),
    ("⩱", 15),
    ("±", 16),
    ("+/-", 16),
    ("∓", 17),
    ("-/+", 17),
    ("+-", 18),
    ("-+", 19),
    ("⨀", 22),
    ("⟳", 32),
    ("→", 36),
    ("⇆", 132),
    ("⊕", 138),
    ("N", 146),
    ("TN", 146),
];

/// Returns the standard spelling of a result: `1-0`, `0-1`, `1/2-1/2` or `*`. `1/2`, `½-½`, `0.5:0.5` and `1-0FF` are results too.
/// Returns `None` for other text.
pub fn result(written: &str) -> Option<&'static str> {
    let is_sign = |c: char| "*½/:".contains(c) || DASHES.contains(&c);
    if written.len() > 20
        || !written.starts_with(['0', '1', '½', '*', '.', 'O'])
        || !written.contains(is_sign)
    {
        return None;
    }
    let plain = written
        .trim_end_matches(['.', ',', 'F', 'f'])
        .replace(' ', "");
    let plain = plain
        .replace(DASHES, "-")
        .replace('½', "1/2")
        .replace('O', "0");
    match &*plain.replace(':', "-").replace(',', ".") {
        "1-0" | "1.0-0.0" => Some("1-0"),
        "0-1" | "0.0-1.0" => Some("0-1"),
        "1/2-1/2" | "1/2" | "0.5-0.5" | ".5-.5" => Some("1/2-1/2"),
        "*" => Some("*"),
        _ => None,
    }
}

/// Returns whether a value of the tag `Variant` names a game with the rules of chess.
pub fn is_chess(variant: &str) -> bool {
    let plain = variant.to_ascii_lowercase().replace([' ', '-'], "");
    matches!(
        plain.as_str(),
        "" | "?"
            | "standard"
            | "chess"
            | "normal"
            | "classical"
            | "chess960"
            | "fischerandom"
            | "fischerrandom"
            | "wild/fr"
            | "fromposition"
    )
}

/// Reads a game. `line` is the number of the text's first line, for errors.
///
/// Moves may have the letters of another language if all of them are then legal. An error in the main line ends it, and an illegal
/// move ends its variation. Remarks and broken tags are skipped and counted.
///
/// ```
/// use shelfish_analysis::pgn;
/// let game = pgn::read("[White \"Tal\"]\n\n1. e4 {[%eval 0.3]} e5 (1... c5 $1) 2. Sf3 *", 1);
/// assert_eq!((game.tag("White"), game.game.moves().len()), (Some("Tal"), 3));
/// let game = pgn::read("1. e4 e5\n2. Ke3 Nc6", 1);
/// assert_eq!(game.game.moves().len(), 2);
/// assert_eq!(game.error.unwrap().to_string(), "line 2, column 4: 2. Ke3 is not a legal move");
/// ```
pub fn read(text: &str, line: u64) -> PgnGame {
    in_any_language(text, line, false)
}

/// Reads tags and main line of a game, without annotations. This is faster than [`read()`].
pub fn read_main_line(text: &str, line: u64) -> PgnGame {
    in_any_language(text, line, true)
}

fn in_any_language(text: &str, line: u64, is_bare: bool) -> PgnGame {
    let english = Reading::new(text, line, ENGLISH, is_bare).read();
    let is_whole = english.error.is_none() && english.skipped.variations == 0;
    if is_whole || text.len() > MAX_BYTES || !moves::is_foreign(text) {
        return english;
    }
    // If no language has only legal moves, the moves before the error are those of the language that has most of them.
    let others = FOREIGN.map(|letters| Reading::new(text, line, letters, is_bare).read());
    let rank = |game: &PgnGame| {
        let cut = (game.error.is_none()).then_some(u32::MAX - game.skipped.variations);
        (cut, game.game.moves().len())
    };
    others
        .into_iter()
        .fold(english, |best, other| match rank(&other) > rank(&best) {
            true => other,
            false => best,
        })
}

/// The main line or an open variation.
struct Open {
    line: Line,
    /// Position before the last move, and after it. `None` after an illegal move of a variation.
    before: Option<Chess>,
    position: Option<Chess>,
    /// Whether the rest is left out, because it follows a word that is not SAN.
    is_cut: bool,
    /// Number of bytes from its bracket to the end of the text.
    begins: usize,
}

/// The state of a reader.
struct Reading<'a> {
    text: &'a str,
    /// Number of the first line.
    line: u64,
    /// The end of the text, from the next character on.
    rest: &'a str,
    /// Whether only blanks precede `rest` in its line.
    is_line_start: bool,
    letters: Letters,
    /// Whether only tags and the main line are read.
    is_bare: bool,
    tags: Vec<(String, String)>,
    skipped: Skipped,
    /// Position before the main line, once a move is read.
    start: Option<Chess>,
    fullmoves: u32,
    moves: Vec<Move>,
    /// Number of moves of the main line and of all variations.
    count: usize,
    /// The main line, and the open variations.
    open: Vec<Open>,
    /// Number of open variations that are skipped.
    ignored: usize,
    result: Option<&'static str>,
}

/// Returns whether a character separates words.
fn is_blank(c: char) -> bool {
    c <= ' ' || c > '\x7e' && (c.is_whitespace() || c.is_control())
}

/// Returns whether a character has no width: it belongs to no word, but separates none either.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{feff}')
}

impl<'a> Reading<'a> {
    fn new(text: &'a str, line: u64, letters: Letters, is_bare: bool) -> Reading<'a> {
        Reading {
            text,
            line,
            rest: text,
            is_line_start: true,
            letters,
            is_bare,
            tags: Vec::new(),
            skipped: Skipped::default(),
            start: None,
            fullmoves: 1,
            moves: Vec::new(),
            count: 0,
            open: vec![Open {
                line: Line::default(),
                before: None,
                position: None,
                is_cut: false,
                begins: text.len(),
            }],
            ignored: 0,
            result: None,
        }
    }

    fn read(mut self) -> PgnGame {
        let text = self.text;
        let mut error = if text.len() > MAX_BYTES {
            Some(self.error(text.len(), PgnErrorKind::TooLong))
        } else {
            self.read_all().err()
        };
        if error.is_none() && self.start.is_none() {
            let begun = self.begin();
            error = begun.err().map(|kind| self.error(self.rest.len(), kind));
        }
        if self.tags.is_empty() && self.moves.is_empty() {
            // Text has no control characters.
            if text.contains(|c: char| c < '\t' || c == '\u{fffd}') {
                error = Some(self.error(text.len(), PgnErrorKind::NotText));
            } else if error.is_none() && self.result.is_none() {
                error = Some(self.error(text.len(), PgnErrorKind::Empty));
            }
        }
        if let Some(open) = self.open.get(1).filter(|_| error.is_none()) {
            error = Some(self.error(open.begins, PgnErrorKind::Variation));
        }
        while self.open.len() > 1 {
            self.close();
        }
        let line = self.open.pop().map(|main| main.line).unwrap_or_default();
        PgnGame {
            tags: self.tags,
            line,
            result: self.result,
            game: Game::new(self.start.unwrap_or_default(), self.moves),
            fullmoves: self.fullmoves,
            error,
            skipped: self.skipped,
        }
    }

    /// Takes `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Returns an error at the place that is `rest` bytes before the end, or at the tag that is wrong.
    fn error(&self, rest: usize, kind: PgnErrorKind) -> PgnError {
        let tag = match kind {
            PgnErrorKind::Fen(_) => self.text.find("[FEN"),
            PgnErrorKind::Variant(_) => self.text.find("[Variant"),
            _ => None,
        };
        let before = &self.text[..tag.unwrap_or(self.text.len() - rest)];
        let column = before.chars().rev().take_while(|c| *c != '\n').count() as u64 + 1;
        let line = self.line + before.bytes().filter(|byte| *byte == b'\n').count() as u64;
        PgnError { line, column, kind }
    }

    fn line_end(&self) -> usize {
        self.rest.find('\n').unwrap_or(self.rest.len())
    }

    fn read_all(&mut self) -> Result<(), PgnError> {
        while let Some(c) = self.rest.chars().next() {
            let (is_line_start, rest) = (self.is_line_start, self.rest.len());
            if is_blank(c) || is_invisible(c) {
                self.is_line_start |= c == '\n';
                self.take(c.len_utf8());
                continue;
            }
            self.is_line_start = false;
            match c {
                // The standard reserves such lines for programs.
                '%' if is_line_start => {
                    self.take(self.line_end());
                }
                '[' if is_line_start => self.tags(),
                '{' => {
                    let end = self.rest.find('}');
                    let end = end.ok_or_else(|| self.error(rest, PgnErrorKind::Comment))?;
                    let text = self.take(end + 1);
                    self.comment(&text[1..end]);
                }
                ';' => {
                    let text = self.take(self.line_end());
                    self.comment(text.trim_start_matches(';'));
                }
                '(' => {
                    self.take(1);
                    self.open();
                }
                ')' => {
                    self.take(1);
                    self.close();
                }
                _ => {
                    let word = self.take(self.word_end(c));
                    let read = self.word(word);
                    read.map_err(|kind| self.error(rest, kind))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the length of the word that begins with a character. It includes a promotion in brackets or after a blank, and the
    /// blanks of `1 - 0`.
    fn word_end(&self, first: char) -> usize {
        if matches!(first, '0' | '1' | '½') {
            let mut results = ["1 - 0", "0 - 1", "1/2 - 1/2", "½ - ½"].into_iter();
            if let Some(result) = results.find(|result| self.rest.starts_with(result)) {
                return result.len();
            }
        }
        let is_end = |c| matches!(c, '{' | '}' | '(' | ')' | ';' | '$') || is_blank(c);
        let end = self.rest[first.len_utf8()..]
            .find(is_end)
            .map_or(self.rest.len(), |end| first.len_utf8() + end);
        let word = self.rest[..end].trim_end_matches('=');
        let is_last_rank = word.ends_with(['1', '8']) && moves::has_square(word);
        if !is_last_rank || !without_number(word).starts_with(|c: char| c.is_ascii_lowercase()) {
            return end;
        }
        let rest = &self.rest[word.len()..];
        let piece = rest.trim_start_matches([' ', '=', '(']);
        let (marks, mut chars) = (&rest[..rest.len() - piece.len()], piece.chars());
        let is_piece = |c: &char| "QRBNqrbnDTLSFCAP".contains(*c) || ('♔'..='♟').contains(c);
        match (chars.next().filter(is_piece), chars.next()) {
            (Some(piece), after)
                if marks.contains(['=', '(']) && !after.is_some_and(char::is_alphanumeric) =>
            {
                let end = word.len() + marks.len() + piece.len_utf8();
                let signs = self.rest[end..].bytes();
                end + signs.take_while(|sign| b")+#!?".contains(sign)).count()
            }
            _ => end,
        }
    }

    /// Reads the tags of a line. A line that is no tag is skipped.
    fn tags(&mut self) {
        let end = self.line_end();
        let line = &self.rest[..end];
        let mut at = 0;
        // Tags among the moves are those of another game.
        while let Some((name, value, length)) = tag(&line[at..]).filter(|_| self.start.is_none()) {
            self.tags.push((name.to_owned(), unescaped(value)));
            at += length;
            at += line[at..].len() - line[at..].trim_start().len();
            if !line[at..].starts_with('[') {
                self.take(at);
                return;
            }
        }
        self.skipped.tags += 1;
        let broken = self.rest;
        let moves = line.split_once(']').map_or("", |(_, moves)| moves);
        if begins_with_move(moves.trim_start().as_bytes(), true) {
            self.take(end - moves.len());
        } else {
            self.take(end);
        }
        // The value has several lines.
        let near = &self.rest[..self.rest.floor_char_boundary(512)];
        let value = near.split_once(']').map_or("[", |(value, _)| value);
        if !line.contains(']') && !value.contains('[') && value.matches('\n').count() <= 3 {
            self.take(value.len() + 1);
        }
        // Without these values, other people would have played the game, or from another position.
        let broken = broken[1..broken.len() - self.rest.len()].split(']').next();
        let broken = broken.and_then(|tag| tag.trim().split_once(char::is_whitespace));
        let Some((name, value)) = broken.filter(|_| self.start.is_none()) else {
            return;
        };
        let is_quote = |c: char| "\"'“”„‘’`".contains(c);
        let value = value.trim_matches(|c: char| c.is_whitespace() || is_quote(c));
        let is_known = ["White", "Black", "Result", "FEN", "Variant"].contains(&name);
        if is_known && !value.contains(['"', '“', '=']) {
            self.tags.push((name.to_owned(), value.replace('\n', " ")));
        }
    }

    /// Reads the tags that describe the first position.
    fn begin(&mut self) -> Result<(), PgnErrorKind> {
        let tag = |name| super::tag(&self.tags, name);
        if let Some(variant) = tag("Variant").filter(|variant| !is_chess(variant)) {
            return Err(PgnErrorKind::Variant(variant.to_owned()));
        }
        let fen = tag("FEN").map(|fen| fen.replace('_', " "));
        let fen = fen.filter(|fen| !matches!(fen.trim(), "" | "?"));
        let start = match &fen {
            Some(fen) => fen.parse::<Position>()?.chess().clone(),
            None => Chess::default(),
        };
        let counter = fen.and_then(|fen| fen.split_ascii_whitespace().nth(5)?.parse().ok());
        // Beyond this no game goes on.
        self.fullmoves = counter.unwrap_or(1).clamp(1, 1_000_000);
        self.open[0].position = Some(start.clone());
        self.start = Some(start);
        Ok(())
    }

    /// Returns the open variation, or the main line, unless it is left out.
    fn last(&mut self) -> Option<&mut Open> {
        let is_read = self.ignored == 0;
        self.open.last_mut().filter(|open| is_read && !open.is_cut)
    }

    fn comment(&mut self, text: &str) {
        if !self.is_bare {
            self.note(Note::Comment(text.replace('}', ")")));
        }
    }

    /// Notes something after the last move of the line that is open.
    fn note(&mut self, note: Note) {
        if let Some(Open { line, .. }) = self.last() {
            line.moves
                .last_mut()
                .map_or(&mut line.notes, |step| &mut step.notes)
                .push(note);
        }
    }

    fn open(&mut self) {
        let (begins, depth) = (self.rest.len() + 1, self.open.len());
        match self.last() {
            // A variation replaces a move.
            Some(open) if !open.line.moves.is_empty() && depth <= MAX_DEPTH => {
                let position = open.before.clone();
                self.open.push(Open {
                    line: Line::default(),
                    before: None,
                    position,
                    is_cut: false,
                    begins,
                });
            }
            _ => self.ignored += 1,
        }
    }

    fn close(&mut self) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else if self.open.len() == 1 {
            self.skipped.words += 1;
        } else if let Some(Open { mut line, .. }) = self.open.pop() {
            if line.moves.is_empty() {
                line.notes.retain(|note| matches!(note, Note::Comment(_)));
                line.notes.into_iter().for_each(|note| self.note(note));
            } else {
                self.note(Note::Variation(line));
            }
        }
    }

    /// Reads a word: a move number, a move with signs, glyphs or the result.
    fn word(&mut self, word: &str) -> Result<(), PgnErrorKind> {
        if !word.is_ascii() && word.contains(is_invisible) {
            return self.word(&word.replace(is_invisible, ""));
        }
        let is_main = self.open.len() == 1;
        if self.ignored > 0 || self.result.is_some() && is_main {
            return Ok(());
        }
        if let Some(result) = result(word) {
            // A result in a variation is that of a quoted game.
            if is_main {
                self.result = Some(result);
            }
            return Ok(());
        }
        if let Some(nag) = word.strip_prefix('$') {
            if let Ok(nag) = nag.parse() {
                self.note(Note::Nag(nag));
            }
            return Ok(());
        }
        let text = without_number(word);
        if let Some(nag) = sign_of(text.trim_end_matches([',', '.'])) {
            self.note(Note::Nag(nag));
            return Ok(());
        }
        let text = text.trim_start_matches(['!', '?', '"', '*', '_', '`', ',', '.']);
        if text.is_empty() {
            // In the notation of the ICCF, such a number is a move.
            return match is_number(word) && word.len() > 3 && is_main {
                true => Err(self.no_move(word)),
                false => Ok(()),
            };
        }
        let is_sign = |c: char| !(c.is_alphanumeric() || c == ')' || ('♔'..='♟').contains(&c));
        let (mut end, signs) = match text.trim_end_matches(is_sign).len() {
            0 => (text.len(), ""),
            end => (end, &text[end..]),
        };
        let after_check = signs.trim_start_matches(['+', '#']);
        let nag = sign_of(signs);
        if nag.is_none() {
            end += signs.len() - after_check.len();
        }
        self.step(&text[..end], word)?;
        if let Some(nag) = nag.or_else(|| sign_of(after_check)) {
            self.note(Note::Nag(nag));
        }
        Ok(())
    }

    /// Returns the number of plies before the next move of the main line, counted from the first move of a game.
    fn ply(&self) -> usize {
        let turn = self
            .start
            .as_ref()
            .map_or(0, |start| start.turn().fold_wb(0, 1));
        2 * (self.fullmoves as usize - 1) + turn + self.moves.len()
    }

    fn no_move(&self, word: &str) -> PgnErrorKind {
        PgnErrorKind::Word {
            ply: self.ply(),
            found: word.to_owned(),
        }
    }

    fn step(&mut self, text: &str, word: &str) -> Result<(), PgnErrorKind> {
        if self.start.is_none() {
            if !is_like_move(text) {
                self.skipped.words += 1;
                return Ok(());
            }
            self.begin()?;
        }
        let (is_main, is_bare, letters) = (self.open.len() == 1, self.is_bare, self.letters);
        let Some(open) = self.open.last_mut().filter(|open| !open.is_cut) else {
            return Ok(());
        };
        let found = open.position.as_ref();
        let found = found.and_then(|position| moves::legal(position, text, letters));
        if let (Some(m), Some(position)) = (found, &mut open.position) {
            if self.count == MAX_MOVES {
                if is_main {
                    return Err(PgnErrorKind::TooManyMoves);
                }
                open.is_cut = true;
                self.skipped.variations += 1;
                return Ok(());
            }
            self.count += 1;
            if !is_bare {
                let san = moves::san(position, m, text);
                open.before = Some(position.clone());
                open.line.moves.push(Step {
                    san,
                    m: Some(m),
                    notes: Vec::new(),
                });
            }
            position.play_unchecked(m);
            if is_main {
                self.moves.push(m);
            }
            return Ok(());
        }
        if !is_like_move(text) {
            self.skipped.words += 1;
            return Ok(());
        }
        if is_main {
            // Both players lost by default.
            let rest = self.rest.split(['{', ';']).next().unwrap_or_default();
            if text.starts_with('0')
                && moves::castling(text) == Some(CastlingSide::KingSide)
                && !moves::has_square(rest)
            {
                self.result = Some("*");
                return Ok(());
            }
            let is_move =
                moves::has_square(text) || moves::is_null(text) || moves::castling(text).is_some();
            return Err(match is_move {
                true => PgnErrorKind::Move {
                    ply: self.ply(),
                    found: text.to_owned(),
                },
                false => self.no_move(word),
            });
        }
        // The rest of the variation is kept as written.
        self.skipped.variations += u32::from(open.position.is_some());
        open.position = None;
        open.before = None;
        match SanPlus::from_ascii(text.as_bytes()) {
            Ok(san) => open.line.moves.push(Step {
                san,
                m: None,
                notes: Vec::new(),
            }),
            Err(_) => open.is_cut = true,
        }
        Ok(())
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn sign_of(text: &str) -> Option<u8> {
    // Most words are moves.
    if text.is_empty() || text.len() > 9 || text.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let plain = text.replace(DASHES, "-");
    SIGNS
        .into_iter()
        .find(|(sign, _)| *sign == plain)
        .map(|(_, nag)| nag)
}

/// Returns whether a word may be meant as a move: it has a digit that is not part of a time or of a score, or is castling, a capture
/// such as `ed` or `PxP`, or a null move.
fn is_like_move(word: &str) -> bool {
    let word = word.trim_end_matches(['+', '#']);
    let is_time = !moves::has_square(word) && word.contains(':');
    let is_figure = |c: char| c.is_ascii_digit() || "+-−.,#/%".contains(c);
    let is_score =
        word.chars().all(is_figure) && (word.len() < 4 || word.contains(['.', ',', '+', '#', '/']));
    word.contains(|c: char| c.is_ascii_digit()) && !is_time && !is_score
        || moves::castling(word).is_some()
        || moves::is_null(word)
        || matches!(word.as_bytes(), [b'A'..=b'Z' | b'a'..=b'h', b'x', ..] if word.len() < 5)
        || matches!(*word.replace(':', "").as_bytes(), [a @ b'a'..=b'h', b @ b'a'..=b'h'] if a.abs_diff(b) == 1)
}

/// Parses a tag at the beginning of a line. Returns its name, its value and its length.
fn tag(line: &str) -> Option<(&str, &str, usize)> {
    let (name, value) = line.strip_prefix('[')?.split_once('"')?;
    let start = line.len() - value.len();
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-+/#=:.".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let is_end = |at: usize| value[at + 1..].trim_start().starts_with(']');
    let mut escaped = false;
    let mut quotes = value.char_indices().filter_map(|(at, c)| {
        let is_quote = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_quote.then_some(at)
    });
    let found = quotes.find(|at| is_end(*at));
    // The last quote may be escaped by mistake, and some programs omit the bracket.
    let end = found.or_else(|| {
        value
            .rfind('"')
            .filter(|at| is_end(*at) || value[at + 1..].trim().is_empty())
    })?;
    let after = start + end + 1;
    let bracket = line[after..]
        .find(']')
        .map_or(line.len() - after, |at| at + 1);
    Some((name, &value[..end], after + bracket))
}

fn unescaped(value: &str) -> String {
    if !value.contains(['\\', '\r']) {
        return value.to_owned();
    }
    let mut escaped = false;
    let plain = value.chars().filter(|c| {
        escaped = *c == '\\' && !escaped;
        !escaped
    });
    // A value has one line, however it ends.
    plain.map(|c| if c == '\r' { ' ' } else { c }).collect()
}
