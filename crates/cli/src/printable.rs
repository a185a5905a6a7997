//! Escapes text from keys, tables and files for a terminal: characters that would control it, or
//! reorder or hide text.

use std::fmt::{self, Write};

/// A text on one line. Control and format characters appear as `\n`, `\u{1b}` and the like, all
/// others unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

/// A text of several lines: like [`Printable`], but line feeds stay.
#[derive(Clone, Copy, Debug)]
pub struct PrintableLines<'a>(pub &'a str);

/// JSON without line breaks between its parts. Escapes the same characters, which only strings can
/// contain, as JSON's `\u001b`, so the value stays the same. (JSON itself requires this only below
/// U+0020.)
#[derive(Clone, Copy, Debug)]
pub struct PrintableJson<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| write_char(f, c))
    }
}

impl fmt::Display for PrintableLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| if c == '\n' { f.write_char(c) } else { write_char(f, c) })
    }
}

impl fmt::Display for PrintableJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match steers(c) {
            false => f.write_char(c),
            true => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}")),
        })
    }
}

fn write_char(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match steers(c) {
        true => write!(f, "{}", c.escape_default()),
        false => f.write_char(c),
    }
}

/// Whether a character affects its surroundings instead of representing itself.
///
/// These are Unicode's control characters (Cc), format characters (Cf: direction overrides,
/// invisible ones, tags), and line and paragraph separators (Zl, Zp), as of Unicode 16.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        let shown = |text: &str| Printable(text).to_string();
        assert_eq!(shown("a\u{1b}[31mb\r\n\tc"), "a\\u{1b}[31mb\\r\\n\\tc");
        assert_eq!(shown("\u{9b}2J \u{7f} \u{0}"), "\\u{9b}2J \\u{7f} \\u{0}");
        assert_eq!(shown("csv\u{202e}fdp.\u{2066}x\u{2069}"), "csv\\u{202e}fdp.\\u{2066}x\\u{2069}");
        assert_eq!(shown("a\u{200b}b\u{feff}\u{2028}\u{e0041}"), "a\\u{200b}b\\u{feff}\\u{2028}\\u{e0041}");
    }

    #[test]
    fn letters_of_any_script_stay() {
        for text in
            ["naïve, Ünïcode", "e\u{301}", "हिन्दी", "עברית", "日本語\u{3000}", "C:\\dir \"q\" 'a'", "😀", "\u{a0}"]
        {
            assert_eq!(Printable(text).to_string(), text);
        }
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(PrintableLines("a\nb\u{7}\r\n").to_string(), "a\nb\\u{7}\\r\n");
    }

    #[test]
    fn json_keeps_its_value() {
        for text in ["a\u{1b}[0m\n", "\u{9b}1m\u{202e}", "\u{e0041}\u{7f}", "\\ \" é"] {
            let json = serde_json::to_string(&[text]).unwrap();
            let printed = PrintableJson(&json).to_string();
            assert!(!printed.chars().any(steers), "{printed:?}");
            assert_eq!(serde_json::from_str::<Vec<String>>(&printed).unwrap(), [text]);
        }
    }
}
