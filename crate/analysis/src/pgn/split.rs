//! Splits a file into games.

/// Finds the first line of each game in the lines of a file: tags after moves, or moves after a result.
///
/// ```
/// use shelfish_analysis::pgn::Splitter;
/// let mut splitter = Splitter::default();
/// let lines = ["[White \"Tal\"]", "", "1. e4 { a", "[comment] } e5 1-0", "", "[White \"Fischer\"]", "", "1. d4 *", "1. c4 *"];
/// let begins: Vec<bool> = lines.iter().map(|line| splitter.begins_game(line.as_bytes())).collect();
/// assert_eq!(begins, [true, false, false, false, false, true, false, false, true]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    state: State,
    /// Number of open variations.
    depth: usize,
    is_in_comment: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Only blank lines so far.
    #[default]
    Before,
    Tags,
    Moves,
    /// After a result.
    Over,
}

impl Splitter {
    /// Returns whether a game begins with this line, the next line of the file.
    pub fn begins_game(&mut self, line: &[u8]) -> bool {
        let line = line
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(line)
            .trim_ascii();
        // An unfinished comment ends with its game.
        let is_event = line.starts_with(b"[Event \"");
        let is_tag = line.starts_with(b"[") && !self.is_in_comment || is_event;
        let is_blank = line.is_empty() || line.starts_with(b"%") && !self.is_in_comment;
        let begins = match self.state {
            State::Before => !is_blank,
            State::Tags => false,
            State::Moves => is_tag,
            State::Over => {
                !is_blank && (is_tag || !line.starts_with(b"{") && !line.starts_with(b";"))
            }
        };
        if begins {
            *self = Splitter::default();
        }
        if is_tag {
            self.state = State::Tags;
        } else if !is_blank {
            self.read_moves(line);
        }
        begins
    }

    /// Reads a line of moves.
    fn read_moves(&mut self, line: &[u8]) {
        if self.state != State::Over {
            self.state = State::Moves;
        }
        let mut rest = line;
        while let Some((first, next)) = rest.split_first() {
            if self.is_in_comment {
                let Some(end) = rest.iter().position(|byte| *byte == b'}') else {
                    return;
                };
                self.is_in_comment = false;
                rest = &rest[end + 1..];
                continue;
            }
            match first {
                b'{' => self.is_in_comment = true,
                b';' => return,
                b'(' => self.depth += 1,
                b')' => self.depth = self.depth.saturating_sub(1),
                first if first.is_ascii_whitespace() => {}
                _ => {
                    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"{}();".contains(byte);
                    let end = rest.iter().position(is_end).unwrap_or(rest.len()).max(1);
                    let is_result = matches!(&rest[..end], b"1-0" | b"0-1" | b"1/2-1/2" | b"*");
                    if is_result && self.depth == 0 {
                        self.state = State::Over;
                    }
                    rest = &rest[end..];
                    continue;
                }
            }
            rest = next;
        }
    }
}
