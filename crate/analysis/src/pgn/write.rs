//! Writing a game.

use core::fmt;

use super::{Line, Note, PgnGame};

/// The game as PGN: tags, an empty line, and the moves in one line.
impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.tags {
            write!(f, "[{name} \"")?;
            for c in value.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    // Tags are public: a caller may have put a line end into one.
                    '\n' | '\r' => f.write_str(" ")?,
                    c => write!(f, "{c}")?,
                }
            }
            f.write_str("\"]\n")?;
        }
        if !self.tags.is_empty() {
            f.write_str("\n")?;
        }
        let turn = shakmaty::Position::turn(self.start());
        let ply = 2 * (self.fullmoves as usize - 1) + turn.fold_wb(0, 1);
        let mut text = String::new();
        push(&mut text, &self.line, ply);
        text.push_str(self.result.unwrap_or("*"));
        writeln!(f, "{text}")
    }
}

/// A line, whose first move has so many plies before it, with a blank at the end of each word. How deep lines are nested is
/// bounded by what reads them.
fn push(text: &mut String, line: &Line, ply: usize) {
    push_notes(text, &line.notes, ply);
    let mut is_numbered = true;
    for (ply, step) in (ply..).zip(&line.moves) {
        match ply % 2 {
            0 => text.push_str(&format!("{}. ", ply / 2 + 1)),
            _ if is_numbered => text.push_str(&format!("{}... ", ply / 2 + 1)),
            _ => {}
        }
        step.san.append_to_string(text);
        text.push(' ');
        push_notes(text, &step.notes, ply);
        // After anything else than a move the number is repeated.
        is_numbered = step.notes.iter().any(|note| !matches!(note, Note::Nag(_)));
    }
}

/// What is written after the move before which there are so many plies.
fn push_notes(text: &mut String, notes: &[Note], ply: usize) {
    for note in notes {
        match note {
            Note::Nag(nag) => text.push_str(&format!("${nag} ")),
            Note::Comment(comment) => text.push_str(&format!("{{{comment}}} ")),
            Note::Variation(line) => {
                text.push_str("( ");
                push(text, line, ply);
                text.push_str(") ");
            }
        }
    }
}
