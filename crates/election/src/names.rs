//! Names of people and things: the permitted characters, and which names look identical.
//!
//! The tables are those of one Unicode version, the same in every verifier
//! (`scripts/name_tables.py`). Normalisation may use a library of this version or a later one,
//! since all of them give the same result for the characters of this version.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

/// Zero-width non-joiner and joiner, which the spelling of some languages requires.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

const TABLES: &str = include_str!("names.tables");
static ALLOWED: LazyLock<Characters> = LazyLock::new(|| Characters::of("allowed"));
static JOINED: LazyLock<Characters> = LazyLock::new(|| Characters::of("joined"));

/// A set of characters, as alternating starts and ends of its runs.
struct Characters(Vec<u32>);

impl Characters {
    /// Reads the set of this name. The tables store alternating lengths, in base 36, of runs
    /// outside and inside the set.
    fn of(name: &str) -> Self {
        let line = TABLES.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let lengths = line.split_ascii_whitespace().filter_map(|run| u32::from_str_radix(run, 36).ok());
        let bounds = lengths.scan(0, |bound, length| {
            *bound += length;
            Some(*bound)
        });
        Self(bounds.collect())
    }

    fn contains(&self, character: char) -> bool {
        self.0.partition_point(|&bound| bound <= u32::from(character)) % 2 == 1
    }
}

/// The reason why a text is not a valid name of at most `most` bytes, if there is one.
pub(crate) fn fault(text: &str, most: usize) -> Option<&'static str> {
    if text.is_empty() {
        return Some("a name is empty");
    }
    if text.len() > most {
        return Some("a name is too long");
    }
    let (mut before, mut rest) = (None, text.chars());
    while let Some(character) = rest.next() {
        if JOINERS.contains(&character) {
            let joins = |beside: Option<char>| beside.is_some_and(|beside| JOINED.contains(beside));
            if !joins(before) || !joins(rest.clone().next()) {
                return Some("a name has a joiner that is not between two letters");
            }
        } else if !ALLOWED.contains(character) {
            return Some("a name has a control character, or one that is invisible or not in Unicode 14.0.0");
        }
        before = Some(character);
    }
    None
}

/// Maximum length of a description, in bytes.
const MAX_ABOUT: usize = 4000;
/// Maximum length of a link, in bytes.
const MAX_LINK: usize = 1000;

/// The reason why a text is not a valid description, if there is one. A description consists of
/// lines, each empty or made of the characters of names.
pub(crate) fn about_fault(text: &str) -> Option<&'static str> {
    if text.is_empty() || text.len() > MAX_ABOUT {
        return Some("a description must have 1 to 4000 bytes");
    }
    text.split('\n').filter(|line| !line.is_empty()).find_map(|line| fault(line, MAX_ABOUT))
}

/// The reason why a text is not a valid link, if there is one. A link is an `https` URL made of the
/// characters that RFC 3986 permits.
pub(crate) fn link_fault(link: &str) -> Option<&'static str> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let rest = link
        .strip_prefix("https://")
        .filter(|rest| rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()));
    let good = rest.is_some() && link.len() <= MAX_LINK && link.bytes().all(known);
    (!good).then_some("a link is not an https URL of at most 1000 bytes")
}

/// A key that names share if they look identical: the NFKC form without joiners.
pub(crate) fn alike(name: &str) -> String {
    name.chars().filter(|character| !JOINERS.contains(character)).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Hash;

    fn is_name(text: &str) -> bool {
        fault(text, 400).is_none()
    }

    #[test]
    fn names_of_all_languages_are_names() {
        for name in [
            "Ada Lovelace",
            "Zoë O’Brien-Müller",
            "Łukasz Żółć",
            "Ελένη",
            "Борис",
            "שָׂרָה",
            "فاطمة الزهراء",
            // A joiner that separates letters, in Persian, and one that joins them, in Hindi,
            // Sinhala and Bengali.
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "ශ්\u{200d}රී",
            "র\u{200d}্যাব",
            "王秀英",
            "𠮷野家",
            "김철수",
            "Nguyễn Thị Minh",
            "🌻 Sunflowers",
            "½ m²",
        ] {
            assert_eq!(fault(name, 400), None, "{name}");
        }
        assert!(fault("", 400).is_some() && fault("abc", 2).is_some());
    }

    #[test]
    fn what_is_not_seen_is_in_no_name() {
        let controls = ['\0', '\t', '\n', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}'];
        let bidirectional =
            ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').chain(['\u{61c}', '\u{200e}', '\u{200f}']);
        let invisible = [
            '\u{ad}',
            '\u{34f}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{2060}',
            '\u{2064}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{e01ef}',
        ];
        // Unassigned, private use, non-characters, and characters added in Unicode 15.0.0.
        let unknown =
            ['\u{378}', '\u{e000}', '\u{f0000}', '\u{fdd0}', '\u{ffff}', '\u{10ffff}', '\u{1fae8}', '\u{31350}'];
        for character in controls.into_iter().chain(bidirectional).chain(invisible).chain(unknown) {
            for name in [format!("A{character}b"), format!("{character}"), format!("א{character}ב")] {
                assert!(!is_name(&name), "U+{:04X}", u32::from(character));
            }
        }
        for joiner in JOINERS {
            for text in ["{}Ada", "Ada{}", "A {}b", "A{} b", "1{}2", "a{}{}b", "{}", "🏳{}🌈"] {
                assert!(!is_name(&text.replace("{}", &joiner.to_string())), "{text}");
            }
        }
    }

    #[test]
    fn names_that_look_alike_are_alike() {
        let same = [
            ("Zoë", "Zoe\u{308}"),
            ("Ångström", "Å\u{6e}gström"),
            ("Ada", "Ａｄａ"),
            ("fi", "ﬁ"),
            ("No 1", "№ 1"),
            ("a b", "a\u{a0}b"),
            ("كتاب", "ﻛﺘﺎﺏ"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("각", "각"),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"),
        ];
        for (one, other) in same {
            assert_eq!(alike(one), alike(other), "{one} and {other}");
        }
        for (one, other) in [("Ada", "ADA"), ("Ada", "Adá"), ("1", "l"), ("Ada", "Аda")] {
            assert_ne!(alike(one), alike(other), "{one} and {other}");
        }
    }

    /// The digest of all normal forms equals that of the other verifiers.
    #[test]
    fn normal_forms_are_those_of_the_tables() {
        assert!(unicode_normalization::UNICODE_VERSION >= (14, 0, 0));
        let every: Vec<String> =
            ('\0'..=char::MAX).filter(|&one| ALLOWED.contains(one)).map(|one| one.nfkc().collect()).collect();
        let digest = format!("nfkc {}", Hash::of(&[every.join("\n").as_bytes()]));
        assert!(TABLES.lines().any(|line| line == digest), "{digest}");
    }
}
