//! Results of measurements as text, Markdown or JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

/// Options for the output format.
#[derive(clap::Args, Debug)]
pub struct Style {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Results of a measurement. The fields are the members of the JSON output.
pub trait Finding: Serialize {
    /// Formats the results for people.
    fn report(&self) -> Report;
}

impl Style {
    /// Prints results to standard output.
    pub fn print(&self, finding: &impl Finding) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string(finding)?)
        } else if self.markdown {
            out.write_all(finding.report().markdown().as_bytes())
        } else {
            out.write_all(finding.report().text().as_bytes())
        }
    }
}

/// Notes and tables.
#[derive(Debug, Default)]
pub struct Report {
    /// Descriptions of the measurement, a sentence each.
    pub notes: Vec<String>,
    /// Tables of the results.
    pub tables: Vec<Table>,
}

/// Table whose first column contains the names of the rows.
#[derive(Debug)]
pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows. `columns` lists all columns after the first.
    pub fn new(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = impl Into<String>>,
    ) -> Table {
        let head = std::iter::once(String::new())
            .chain(columns.into_iter().map(Into::into))
            .collect();
        Table {
            title: title.into(),
            rows: vec![head],
        }
    }

    /// Appends a row.
    pub fn row(
        &mut self,
        name: impl Into<String>,
        cells: impl IntoIterator<Item = impl Into<String>>,
    ) {
        self.rows.push(
            std::iter::once(name.into())
                .chain(cells.into_iter().map(Into::into))
                .collect(),
        );
    }

    /// Returns the width of each column in characters.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |n: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(n))
                .map(|cell| cell.chars().count())
                .max()
        };
        (0..columns).map(|n| width(n).unwrap_or_default()).collect()
    }
}

impl Report {
    fn text(&self) -> String {
        let mut text: String = self.notes.iter().map(|note| format!("{note}\n")).collect();
        for table in &self.tables {
            let widths = table.widths();
            let _ = writeln!(text, "\n{}", table.title);
            for row in &table.rows {
                let cells =
                    row.iter()
                        .zip(&widths)
                        .enumerate()
                        .map(|(n, (cell, &width))| match n {
                            0 => format!("  {cell:<width$}"),
                            _ => format!("  {cell:>width$}"),
                        });
                let _ = writeln!(text, "{}", cells.collect::<String>().trim_end());
            }
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text: String = self
            .notes
            .iter()
            .map(|note| format!("- {note}\n"))
            .collect();
        for table in &self.tables {
            let _ = writeln!(text, "\n**{}**\n", table.title);
            for (n, row) in table.rows.iter().enumerate() {
                let _ = writeln!(text, "| {} |", row.join(" | "));
                if n == 0 {
                    let _ = writeln!(text, "|---|{}", "---:|".repeat(row.len().saturating_sub(1)));
                }
            }
        }
        text
    }
}

/// Formats a number with thousands separators and three significant digits.
pub fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        size if size < 1.0 => 3,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut grouped = String::new();
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if part.is_empty() {
        format!("{sign}{grouped}")
    } else {
        format!("{sign}{grouped}.{part}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut table = Table::new("Tea", ["cups", "price"]);
        table.row("green", ["12", "3.50"]);
        table.row("black", ["1", "12.00"]);
        Report {
            notes: vec!["Two teas.".to_owned()],
            tables: vec![table],
        }
    }

    #[test]
    fn text_aligns_numbers_to_the_right() {
        assert_eq!(
            report().text(),
            "Two teas.\n\nTea\n         cups  price\n  green    12   3.50\n  black     1  12.00\n"
        );
    }

    #[test]
    fn markdown_is_a_table() {
        let expected = "- Two teas.\n\n**Tea**\n\n|  | cups | price |\n|---|---:|---:|\n| green | 12 | 3.50 |\n| black | 1 | 12.00 |\n";
        assert_eq!(report().markdown(), expected);
    }

    #[test]
    fn numbers_have_their_significant_digits() {
        let figures = [0.0, 0.0456, 1.239, 12.34, 123.4, -1234.5, 1_234_567.0].map(figure);
        assert_eq!(
            figures,
            ["0", "0.046", "1.24", "12.3", "123", "-1,234", "1,234,567"]
        );
    }
}
