//! Moves as people and programs write them.

use shakmaty::san::{San, SanPlus};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, Chess, File, Move, Position as _, Rank, Role, Square};

/// Letters of king, queen, rook, bishop and knight, and the pawn's letter if no piece has it.
pub type Letters = &'static str;

/// Letters of the PGN standard.
pub const ENGLISH: Letters = "KQRBNP";
/// Letters of German, French, Spanish or Italian, and Dutch. A letter has one meaning in all of them, but may have another in English.
pub const FOREIGN: [Letters; 4] = ["KDTLS", "RDTFC", "RDTAC", "KDTLP"];

/// Characters that stand for a hyphen or a minus sign.
pub const DASHES: [char; 8] = ['-', '‐', '‑', '‒', '–', '—', '―', '−'];

/// Pieces in the order of the letters.
const ROLES: [Role; 6] = [
    Role::King,
    Role::Queen,
    Role::Rook,
    Role::Bishop,
    Role::Knight,
    Role::Pawn,
];

/// Returns the legal move that a word names, without signs such as `!`: SAN, long notation or UCI, also with a missing or needless
/// `x`, with needless squares, `0-0`, `e:d5`, `ed`, `a8(Q)` and figurines.
pub fn legal(position: &Chess, word: &str, letters: Letters) -> Option<Move> {
    // Drops belong to variants.
    if letters == ENGLISH
        && let Ok(plain) = San::from_ascii(word.trim_end_matches(['+', '#']).as_bytes())
        && !matches!(plain, San::Put { .. } | San::Null)
        && let Ok(m) = plain.to_move(position)
    {
        return Some(m);
    }
    let mut text = word.trim_end_matches(['+', '#', '†', '‡', '.']);
    let lower = text.to_ascii_lowercase();
    for remark in ["mate", "ch", "e.p", "ep"] {
        if let Some(rest) = lower.strip_suffix(remark) {
            text = text[..rest.len()].trim_end_matches(['+', '#', '/', '_']);
        }
    }
    if let Some(side) = castling(text) {
        return San::Castle(side).to_move(position).ok();
    }
    // Castling may be written as the king's move.
    let squares = text.strip_prefix('K').unwrap_or(text);
    let squares = squares.replace(|c| DASHES.contains(&c) || is_capture(c), "");
    if let Ok(uci) = squares.to_ascii_lowercase().parse::<UciMove>()
        && squares.starts_with(|c: char| c.is_ascii_lowercase())
        && !matches!(uci, UciMove::Null | UciMove::Put { .. })
        && let Ok(m) = uci.to_move(position)
        && (m.is_castle() || !text.starts_with('K'))
    {
        return Some(m);
    }
    let written = Written::parse(text, letters)?;
    let moves = position.legal_moves();
    let mut found = moves.iter().filter(|m| written.is(m));
    match (found.next(), found.next()) {
        (Some(m), None) => Some(*m),
        _ => None,
    }
}

/// Returns the legal move that a person typed: a move as in a PGN, also with a piece in lower case, or with the letters of another
/// language if only one move is possible.
///
/// ```
/// use shelfish_analysis::pgn::find_move;
/// let start = shakmaty::Chess::default();
/// assert_eq!(find_move(&start, "nf3"), find_move(&start, "Sf3"));
/// assert_eq!(find_move(&start, "Ke2"), None);
/// ```
pub fn find_move(position: &Chess, text: &str) -> Option<Move> {
    let text = text.trim().trim_end_matches(['!', '?']);
    let capital = |text: &str| {
        let mut chars = text.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    let lower = text.to_ascii_lowercase();
    let spellings = [text, &capital(text), &capital(&lower), &lower];
    let mut english = spellings.into_iter();
    if let Some(m) = english.find_map(|text| legal(position, text, ENGLISH)) {
        return Some(m);
    }
    let mut foreign = FOREIGN.into_iter();
    let m = foreign.find_map(|letters| legal(position, text, letters))?;
    let is_same = |letters| legal(position, text, letters).is_none_or(|other| other == m);
    (!text.starts_with(['K', 'Q', 'R', 'B', 'N']) && FOREIGN.into_iter().all(is_same)).then_some(m)
}

/// Parses castling, with the letter of any alphabet or the digit, with any dash or none.
pub fn castling(text: &str) -> Option<CastlingSide> {
    let is_letter = |c: char| matches!(c, 'O' | 'o' | '0' | 'О' | 'о' | 'Ο' | 'ο');
    let is_part = |c: char| is_letter(c) || DASHES.contains(&c);
    if !text.starts_with(is_letter) || !text.ends_with(is_letter) || !text.chars().all(is_part) {
        return None;
    }
    match text.chars().filter(|c| is_letter(*c)).count() {
        2 => Some(CastlingSide::KingSide),
        3 => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

/// Returns whether a word stands for no move at all, as in `1. e4 --`.
pub fn is_null(word: &str) -> bool {
    word.trim_matches(DASHES).is_empty() && word.chars().count() > 1
        || ["z0", "0000", "@@@@", "null", "pass", "<>"].contains(&&*word.to_ascii_lowercase())
}

fn is_capture(c: char) -> bool {
    matches!(c, 'x' | ':' | '×')
}

/// The parts of a move as written.
struct Written {
    role: Role,
    from: (Option<File>, Option<Rank>),
    /// The target. Only a pawn's capture such as `ed` has no rank.
    to: (File, Option<Rank>),
    promotion: Option<Role>,
    /// Whether it is a capture as written.
    takes: bool,
}

impl Written {
    fn parse(text: &str, letters: Letters) -> Option<Written> {
        let mut rest: Vec<char> = text.chars().collect();
        let first = *rest.first()?;
        let role = role(first, letters);
        if role.is_some() {
            rest.remove(0);
        }
        // A promotion is `=Q`, `/Q`, `(Q)`, `[Q]`, `(=Q)`, `Q` or `q`.
        let mut promotion = None;
        rest.pop_if(|c| matches!(c, ')' | ']'));
        if let Some(last) = rest.last().filter(|c| !c.is_ascii_digit()).copied()
            && rest.len() > 2
            && !(last.is_ascii_lowercase()
                && File::from_char(last).is_some()
                && !rest.contains(&'='))
        {
            promotion = Some(self::role(last.to_ascii_uppercase(), letters)?);
            rest.pop();
            while rest
                .last()
                .is_some_and(|c| matches!(c, '=' | '/' | '(' | '[' | ' '))
            {
                rest.pop();
            }
        }
        let takes = rest.iter().any(|c| is_capture(*c));
        rest.retain(|c| !DASHES.contains(c) && !is_capture(*c));
        let file = |c: &char| File::from_char(*c);
        let rank = |c: &char| Rank::from_char(*c);
        let (from, to) = match &rest[..] {
            [c, d]
                if role.is_none()
                    && file(c)
                        .zip(file(d))
                        .is_some_and(|(a, b)| a.distance(b) == 1) =>
            {
                ((file(c), None), (file(d)?, None))
            }
            [before @ .., c, d] => {
                let from = match before {
                    [] => (None, None),
                    [c] => match file(c) {
                        Some(file) => (Some(file), None),
                        None => (None, Some(rank(c)?)),
                    },
                    [c, d] => (Some(file(c)?), Some(rank(d)?)),
                    _ => return None,
                };
                (from, (file(c)?, Some(rank(d)?)))
            }
            _ => return None,
        };
        Some(Written {
            role: role.unwrap_or(Role::Pawn),
            from,
            to,
            promotion,
            takes,
        })
    }

    fn is(&self, m: &Move) -> bool {
        let is = |square: Square, (file, rank): (Option<File>, Option<Rank>)| {
            file.is_none_or(|file| file == square.file())
                && rank.is_none_or(|rank| rank == square.rank())
        };
        !m.is_castle()
            && m.role() == self.role
            && m.promotion() == self.promotion
            && is(m.to(), (Some(self.to.0), self.to.1))
            && m.from().is_some_and(|from| is(from, self.from))
            && (self.to.1.is_some() || m.is_capture())
            // A pawn that takes names its file, because a pawn of the other side may move there.
            && (self.role != Role::Pawn || self.from.0.is_some() || self.takes || !m.is_capture())
    }
}

/// Returns the piece of a letter or a figurine.
fn role(c: char, letters: Letters) -> Option<Role> {
    let at = match c {
        '♔'..='♙' => c as usize - '♔' as usize,
        '♚'..='♟' => c as usize - '♚' as usize,
        c => letters.chars().position(|letter| letter == c)?,
    };
    ROLES.get(at).copied()
}

/// Returns whether a text has a move that begins or promotes with a letter of another language.
pub fn is_foreign(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '.' | '(' | '='));
    words.any(|word| {
        word.starts_with(['D', 'T', 'L', 'S', 'F', 'C', 'A', 'P'])
            && (word.len() == 1 || has_square(word))
    })
}

/// Returns whether a word names a square.
pub fn has_square(word: &str) -> bool {
    word.as_bytes()
        .windows(2)
        .any(|pair| matches!(pair, [b'a'..=b'h', b'1'..=b'8']))
}

/// Returns a legal move in SAN as written, if it is SAN, or else in the standard spelling. After a move number, the rank of `2e4`
/// would read as a part of the number.
pub fn san(position: &Chess, m: Move, word: &str) -> SanPlus {
    match SanPlus::from_ascii(word.as_bytes()) {
        Ok(san)
            if !word.starts_with(|c: char| c.is_ascii_digit())
                && san.san.to_move(position).is_ok_and(|same| same == m) =>
        {
            san
        }
        _ => SanPlus::from_move(position.clone(), m),
    }
}
