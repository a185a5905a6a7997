//! Tables in Markdown.

use crate::statistics::Spread;

/// A table with aligned cells: the first column to the left, the others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        Table { rows: vec![headings.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row with as many cells as there are headings.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.rows[0].len(), "one cell a heading");
        self.rows.push(cells);
    }

    /// The lines of the table.
    pub fn to_markdown(&self) -> String {
        let widths: Vec<usize> = (0..self.rows[0].len())
            .map(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column == 0 { format!(" {cell:<width$} |") } else { format!(" {cell:>width$} |") }
            });
            format!("|{}\n", cells.collect::<String>())
        };
        let rule = widths.iter().enumerate().map(|(column, &width)| {
            let dashes = "-".repeat(width);
            if column == 0 { format!(" {dashes} |") } else { format!(" {}: |", &dashes[1.min(dashes.len())..]) }
        });
        let rule = format!("|{}\n", rule.collect::<String>());
        self.rows
            .iter()
            .enumerate()
            .map(|(row, cells)| if row == 0 { line(cells) + &rule } else { line(cells) })
            .collect()
    }
}

/// A rate with three significant digits and grouped thousands.
pub fn rate(per_second: f64) -> String {
    let magnitude = per_second.log10().floor() as i32;
    if magnitude < 2 {
        return format!("{per_second:.0$}", (2 - magnitude).clamp(0, 3) as usize);
    }
    let unit = 10f64.powi(magnitude - 2);
    grouped(&format!("{:.0}", (per_second / unit).round() * unit))
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A ratio with three significant digits.
pub fn ratio(value: f64) -> String {
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 2) as usize;
    format!("{value:.decimals$}")
}

/// The median of ratios, with the minimum and the maximum in brackets.
pub fn spread(spread: Spread) -> String {
    format!("{} ({}..{})", ratio(spread.median), ratio(spread.min), ratio(spread.max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_readable() {
        assert_eq!(rate(1_234_567.0), "1 230 000");
        assert_eq!(rate(1234.0), "1 230");
        assert_eq!(rate(123.4), "123");
        assert_eq!(rate(12.34), "12.3");
        assert_eq!(rate(3.7), "3.70");
        assert_eq!(rate(0.01234), "0.012");
        assert_eq!(ratio(1.234), "1.23");
        assert_eq!(ratio(12.34), "12.3");
        assert_eq!(ratio(1234.0), "1234");
    }

    #[test]
    fn tables_are_aligned() {
        let mut table = Table::new(["what", "n"]);
        table.row(["one", "100"]);
        assert_eq!(table.to_markdown(), "| what |   n |\n| ---- | --: |\n| one  | 100 |\n");
    }
}
