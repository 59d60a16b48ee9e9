//! Writes games.

use core::fmt;

use super::{Line, Note, PgnGame};

/// Writes the game as PGN: tags, an empty line, and the moves in one line.
impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.tags {
            write!(f, "[{name} \"")?;
            for c in value.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    // Tags are public: a caller may have put a line end into a tag.
                    '\n' | '\r' => f.write_str(" ")?,
                    c => write!(f, "{c}")?,
                }
            }
            f.write_str("\"]\n")?;
        }
        if !self.tags.is_empty() {
            f.write_str("\n")?;
        }
        let mut text = String::new();
        push(&mut text, &self.line, self.first_ply());
        text.push_str(self.result.unwrap_or("*"));
        writeln!(f, "{text}")
    }
}

/// Appends a line, with a blank after each word. `ply` is the number of plies before its first move. The reader limits the
/// depth of the recursion.
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
        // The move number is repeated after a comment or a variation.
        is_numbered = step.notes.iter().any(|note| !matches!(note, Note::Nag(_)));
    }
}

/// Appends the annotations of the move that has `ply` plies before it.
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
