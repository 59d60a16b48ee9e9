//! Texts of the games of a file, read one at a time.

use std::io::{self, BufRead, BufReader, Read};

use shakmaty::san::San;

use super::moves::{castling, has_square, is_null};
use super::{MAX_BYTES, result};

/// Number of bytes of a game in which its tags are compared with a tag after a blank line.
const MAX_TAGS: usize = 1 << 13;

/// Text of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameText {
    /// Number of the game in the file, from 1.
    pub number: u64,
    /// Number of the line in which the game begins, from 1.
    pub line: u64,
    /// Text of the game. If it exceeds [`MAX_BYTES`], it is truncated, but still exceeds the limit. Lines end with `\n`.
    pub text: String,
}

/// Iterator over the texts of the games of a file in UTF-8, UTF-16 or Windows-1252, with any line ends. The text of a file that is no
/// text is its beginning.
///
/// A game begins with tags after moves, with a tag that the tags before a blank line have already, and with a move after a result.
///
/// ```
/// use shelfish_analysis::pgn::GameTexts;
/// let file = "[White \"Tal\"]\n\n1. e4 {a\n[comment]} e5 1-0\n\n[White \"Fischer\"]\n\n1. d4 *\n1. c4 *";
/// let lines: Vec<u64> = GameTexts::new(file.as_bytes()).map(|text| text.map(|text| text.line)).collect::<Result<_, _>>()?;
/// assert_eq!(lines, [1, 6, 9]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct GameTexts<R: Read> {
    input: BufReader<R>,
    /// Decodes two bytes of UTF-16.
    unit: Option<fn([u8; 2]) -> u16>,
    /// Text that was read too far and is read again, and the number of its bytes that were read again.
    again: (Vec<u8>, usize),
    /// The current line, and the number of its bytes that belong to games that are over.
    line: Vec<u8>,
    at: usize,
    /// Whether the last line ended with `\r`, which may be half of a line end.
    is_after_cr: bool,
    /// Number of lines read.
    lines: u64,
    number: u64,
    is_over: bool,
    /// Text of the current game.
    text: Vec<u8>,
    /// Number of its first line.
    first: u64,
    section: Section,
    is_after_blank: bool,
    /// Number of open variations.
    depth: usize,
    is_in_comment: bool,
    /// Offset and line of a tag `Event` or of a tag that the game has already in an open comment. It begins a game if the comment has no end.
    quoted: Option<(usize, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Only blank lines so far.
    Before,
    Tags,
    Moves,
    /// After a result.
    Over,
}

/// Where a game ends that is longer than it seemed.
enum Cut {
    /// At this offset of the line.
    Line(usize),
    /// At the tag in the comment, which has no end.
    Quoted,
}

impl<R: Read> GameTexts<R> {
    /// Creates an iterator over the games of a text.
    pub fn new(input: R) -> GameTexts<R> {
        GameTexts {
            input: BufReader::with_capacity(1 << 17, input),
            unit: None,
            again: (Vec::new(), 0),
            line: Vec::new(),
            at: 0,
            is_after_cr: false,
            lines: 0,
            number: 0,
            is_over: false,
            text: Vec::new(),
            first: 1,
            section: Section::Before,
            is_after_blank: true,
            depth: 0,
            is_in_comment: false,
            quoted: None,
        }
    }

    fn next_game(&mut self) -> io::Result<Option<GameText>> {
        if self.lines == 0 && !self.is_over {
            self.read_mark()?;
            let head = [&self.again.0, self.input.buffer()].concat();
            if self.unit.is_none() && is_binary(&head) {
                self.is_over = true;
                (self.number, self.text) = (1, head);
                self.text.truncate(4096);
                return Ok(self.finish());
            }
        }
        while !self.is_over {
            if self.at == self.line.len() {
                self.read_line()?;
            }
            let line = std::mem::take(&mut self.line);
            let rest = &line[self.at..];
            if rest.is_empty() {
                let game = self.cut_quoted();
                self.is_over = game.is_none();
                return Ok(game.or_else(|| self.finish()));
            }
            let trimmed = trim(rest);
            let mut game = None;
            if self.begins_game(trimmed) {
                game = self.finish();
                self.number += 1;
                self.first = self.lines;
                (self.section, self.depth) = (Section::Tags, 0);
                (self.is_in_comment, self.quoted) = (false, None);
            }
            self.is_after_blank = trimmed.is_empty();
            let is_skipped = trimmed.is_empty() || trimmed.starts_with(b"%") && !self.is_in_comment;
            let cut = if is_skipped {
                None
            } else {
                self.read_words(rest)
            };
            let end = match cut {
                Some(Cut::Line(end)) => end,
                _ => rest.len(),
            };
            // A game that exceeds the limit is an error, so the rest of its text is not needed.
            if self.number > 0 && self.text.len() <= MAX_BYTES {
                self.text.extend_from_slice(&rest[..end]);
            }
            self.at += end;
            self.line = line;
            if game.is_none() && (matches!(cut, Some(Cut::Quoted)) || self.text.len() > MAX_BYTES) {
                game = self.cut_quoted();
            }
            if game.is_some() {
                return Ok(game);
            }
        }
        Ok(None)
    }

    /// Returns whether a game begins with this line.
    fn begins_game(&mut self, line: &[u8]) -> bool {
        let is_tag = is_tag(line);
        if self.is_in_comment {
            let is_event = is_tag && line.starts_with(b"[Event \"");
            if self.quoted.is_none()
                && (is_event || is_tag && self.is_after_blank && self.has_tag(line))
            {
                self.quoted = Some((self.text.len(), self.lines));
            }
            // Nothing of a comment that long is kept.
            return is_event && self.text.len() > MAX_BYTES;
        }
        match self.section {
            Section::Before => !line.is_empty() && !line.starts_with(b"%"),
            Section::Tags => {
                is_tag
                    && (self.is_after_blank || line.starts_with(b"[Event "))
                    && self.has_tag(line)
            }
            Section::Moves if is_tag => true,
            // As in python-chess, this ends open variations.
            Section::Moves => {
                self.is_after_blank && line.starts_with(b"1") && begins_with_move(line, true)
            }
            Section::Over => is_tag || begins_with_move(line, false),
        }
    }

    /// Returns whether the current game begins with the tag of this line.
    fn has_tag(&self, line: &[u8]) -> bool {
        let end = line.iter().position(|byte| *byte == b'"');
        let name = &line[..end.map_or(line.len(), |end| end + 1)];
        self.text[..self.text.len().min(MAX_TAGS)]
            .split(|byte| *byte == b'\n')
            .any(|line| trim(line).starts_with(name))
    }

    /// Reads a line with tags or moves. Returns where the game ends, if it ends before the end of the line.
    fn read_words(&mut self, line: &[u8]) -> Option<Cut> {
        let mut at = 0;
        while !self.is_in_comment && self.section != Section::Moves && is_tag(trim(&line[at..])) {
            let end = line[at..].windows(2).position(|pair| pair == b"\"]");
            let last = || line.iter().rposition(|byte| *byte == b']');
            at = match end {
                Some(end) => at + end + 2,
                None => last().map_or(line.len(), |end| at.max(end + 1)),
            };
            if end.is_none() {
                break;
            }
        }
        while at < line.len() {
            let rest = &line[at..];
            if self.is_in_comment {
                let end = rest.iter().position(|byte| matches!(byte, b'{' | b'}'))?;
                if rest[end] == b'}' {
                    (self.is_in_comment, self.quoted) = (false, None);
                } else if self.quoted.is_some() {
                    return Some(Cut::Quoted);
                }
                at += end + 1;
                continue;
            }
            match rest[0] {
                b'{' => self.is_in_comment = true,
                b';' => return None,
                b'(' => self.depth += 1,
                b')' => self.depth = self.depth.saturating_sub(1),
                byte if byte <= b' ' => {}
                _ => {
                    let is_end = |byte: &u8| *byte <= b' ' || b"{}();".contains(byte);
                    let end = rest.iter().position(is_end).unwrap_or(rest.len()).max(1);
                    let is_next = at > 0 && self.section == Section::Over;
                    let near = &rest[..rest.len().min(100)];
                    if is_next
                        && (rest[0] == b'1' && begins_with_move(rest, true)
                            || is_tag(rest) && near.contains(&b'"'))
                    {
                        return Some(Cut::Line(at));
                    }
                    self.read_word(&rest[..end]);
                    at += end;
                    continue;
                }
            }
            at += 1;
        }
        None
    }

    fn read_word(&mut self, word: &[u8]) {
        let is_result = self.depth == 0;
        if is_result && str::from_utf8(word).is_ok_and(|word| result(word.trim()).is_some()) {
            self.section = Section::Over;
        } else if self.section == Section::Tags
            && str::from_utf8(word).is_ok_and(|word| {
                has_square(word) || castling(without_number(word)).is_some() || is_null(word)
            })
        {
            self.section = Section::Moves;
        }
    }

    /// Returns the current game.
    fn finish(&mut self) -> Option<GameText> {
        let text = std::mem::take(&mut self.text);
        (!text.is_empty()).then(|| GameText {
            number: self.number,
            line: self.first,
            text: String::from_utf8(text).unwrap_or_else(|error| windows_1252(error.as_bytes())),
        })
    }

    /// Ends the current game before the tag in its comment, if there is one.
    fn cut_quoted(&mut self) -> Option<GameText> {
        let (at, line) = self.quoted.take()?;
        let (again, read) = &self.again;
        let rest = [&self.text[at..], &again[*read..]].concat();
        self.again = (rest, 0);
        self.text.truncate(at);
        self.lines = line - 1;
        let game = self.finish();
        (self.section, self.is_in_comment) = (Section::Before, false);
        game
    }

    /// Reads a line, with `\n` at its end, and truncates it a little above the limit for a game. The line is empty at the end of
    /// the input.
    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        (self.at, self.lines) = (0, self.lines + 1);
        let (again, read) = &mut self.again;
        let rest = &again[*read..];
        let end = rest.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(rest.len(), |end| end + 1);
        self.line.extend_from_slice(&rest[..length]);
        *read += length;
        if end.is_some() {
            return Ok(());
        }
        if let Some(unit) = self.unit {
            return self.read_utf16(unit);
        }
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if std::mem::take(&mut self.is_after_cr) && bytes.first() == Some(&b'\n') {
                self.input.consume(1);
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(bytes.len());
            if self.line.len() <= MAX_BYTES {
                self.line.extend_from_slice(&bytes[..length]);
            }
            let is_last = bytes.is_empty();
            if let Some(end) = end {
                self.is_after_cr = bytes[end] == b'\r';
                self.line.push(b'\n');
            }
            self.input.consume(length + usize::from(end.is_some()));
            if end.is_some() || is_last {
                return Ok(());
            }
        }
    }

    /// Reads the first two bytes, which are a mark if the text is UTF-16.
    fn read_mark(&mut self) -> io::Result<()> {
        let mut start = Vec::new();
        self.input.by_ref().take(2).read_to_end(&mut start)?;
        match start[..] {
            [0xff, 0xfe] => self.unit = Some(u16::from_le_bytes),
            [0xfe, 0xff] => self.unit = Some(u16::from_be_bytes),
            [letter @ 1..128, 0] | [0, letter @ 1..128] => {
                let is_little = start[1] == 0;
                self.unit = Some(if is_little {
                    u16::from_le_bytes
                } else {
                    u16::from_be_bytes
                });
                self.again.0.push(letter);
            }
            _ => self.again.0 = start,
        }
        Ok(())
    }

    fn read_utf16(&mut self, unit: fn([u8; 2]) -> u16) -> io::Result<()> {
        let (mut units, mut pair) = (Vec::new(), [0; 2]);
        loop {
            match self.input.read_exact(&mut pair) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                read => read?,
            }
            let found = unit(pair);
            if std::mem::take(&mut self.is_after_cr) && found == u16::from(b'\n') {
                continue;
            }
            self.is_after_cr = found == u16::from(b'\r');
            if self.is_after_cr || found == u16::from(b'\n') {
                units.push(b'\n'.into());
                break;
            }
            if units.len() <= MAX_BYTES {
                units.push(found);
            }
        }
        self.line.extend(String::from_utf16_lossy(&units).bytes());
        Ok(())
    }
}

impl<R: Read> Iterator for GameTexts<R> {
    type Item = io::Result<GameText>;

    fn next(&mut self) -> Option<io::Result<GameText>> {
        let game = self.next_game();
        self.is_over |= game.is_err();
        game.transpose()
    }
}

/// Removes blanks, characters without width, and byte order marks.
fn trim(mut line: &[u8]) -> &[u8] {
    while let [0..=b' ', rest @ ..]
    | [0xc2, 0xa0, rest @ ..]
    | [0xe2, 0x80, 0x80..=0x8f, rest @ ..]
    | [0xef, 0xbb, 0xbf, rest @ ..] = line
    {
        line = rest;
    }
    line.trim_ascii_end()
}

/// Returns whether the beginning of a file has as many control characters as no text has.
fn is_binary(head: &[u8]) -> bool {
    let end = head.iter().rposition(|byte| !matches!(byte, 0 | 0x1a));
    let text = &head[..end.map_or(0, |end| end + 1)];
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 14..=25 | 28..=31);
    text.is_empty() && head.contains(&0) || 16 * text.iter().filter(is_control).count() > text.len()
}

fn is_tag(line: &[u8]) -> bool {
    line.starts_with(b"[")
        && line[1..]
            .iter()
            .find(|byte| **byte > b' ')
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)
}

/// Removes a move number such as `12.` or `12...` from the beginning of a word, except from castling with zeros.
pub(super) fn without_number(word: &str) -> &str {
    match word.as_bytes().first() {
        Some(b'0') if castling(word.trim_end_matches(|c: char| !c.is_alphanumeric())).is_some() => {
            return word;
        }
        Some(b'0'..=b'9' | b'.' | 0x80..) => {}
        _ => return word,
    }
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.trim_start_matches(['.', '…', '．', '·'])
}

/// Returns whether a line begins with a move in SAN, with or without a number; `is_first` requires the number `1.`.
pub(super) fn begins_with_move(line: &[u8], is_first: bool) -> bool {
    let line = &line[..line.len().min(40)];
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = line[digits..].trim_ascii_start();
    let move_text = match rest.strip_prefix(b".") {
        Some(rest) if digits > 0 && !rest.trim_ascii_start().starts_with(b".") => {
            rest.trim_ascii_start()
        }
        None if !is_first && digits == 0 => line,
        _ => return false,
    };
    let end = move_text
        .iter()
        .position(|byte| *byte <= b' ' || b"{}();!?$".contains(byte))
        .unwrap_or(move_text.len());
    let word = move_text[..end].trim_ascii_end();
    (!is_first || &line[..digits] == b"1")
        && str::from_utf8(word).is_ok_and(|word| {
            let is_san = San::from_ascii(word.trim_end_matches(['+', '#']).as_bytes())
                .is_ok_and(|san| !matches!(san, San::Null | San::Put { .. }));
            is_san || has_square(word) && digits > 0 || castling(word).is_some()
        })
}

/// Decodes Windows-1252, which has the letters of Latin-1, the encoding of the PGN standard.
fn windows_1252(bytes: &[u8]) -> String {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    let decode = |byte: &u8| match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(decode).collect()
}
