//! Pages to print: lines of text, codes, QR codes.
//!
//! Western European letters use the fonts that every PDF reader has. Other letters need a font
//! file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use qrcodegen::{QrCode, QrCodeEcc};
use ttf_parser::Face;

use crate::failure::{CliError, name};

/// A4, in points.
const PAPER: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 71.0;
/// Width in modules of the white margin that readers need around a QR code.
const QUIET: i32 = 4;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const TEXT: Ref = Ref::new(3);
const CODE: Ref = Ref::new(4);
const CID: Ref = Ref::new(5);
const DESCRIPTOR: Ref = Ref::new(6);
const FILE: Ref = Ref::new(7);
const CMAP: Ref = Ref::new(8);
const INFO: Ref = Ref::new(9);
const FIRST_PAGE: i32 = 10;

/// A document that is being written.
pub(super) struct Document {
    pdf: Pdf,
    pages: i32,
    font: Font,
    /// The content of the current page, and the top of the next line.
    content: Content,
    top: f32,
}

enum Font {
    Helvetica,
    /// A font to embed, with its used glyphs.
    Embedded {
        data: Vec<u8>,
        used: BTreeMap<u16, char>,
    },
}

impl Document {
    /// Creates an empty document in Helvetica, or in a TrueType font from a file.
    pub(super) fn new(font: Option<&Path>) -> Result<Self, CliError> {
        let font = match font {
            None => Font::Helvetica,
            Some(path) => {
                let data = fs::read(path).map_err(|error| CliError::reading(&name(path), error))?;
                let fits = Face::parse(&data, 0).is_ok_and(|face| face.tables().glyf.is_some());
                if !fits {
                    return Err(CliError::at(name(path), "not a TrueType font"));
                }
                Font::Embedded { data, used: BTreeMap::new() }
            }
        };
        Ok(Document { pdf: Pdf::new(), pages: 0, font, content: Content::new(), top: PAPER.1 - MARGIN })
    }

    /// Ends the page.
    pub(super) fn end_page(&mut self) {
        let content = std::mem::replace(&mut self.content, Content::new()).finish();
        let page = self.page(self.pages);
        let stream = Ref::new(page.get() + 1);
        self.pdf.stream(stream, &content);
        let mut written = self.pdf.page(page);
        written.media_box(Rect::new(0.0, 0.0, PAPER.0, PAPER.1)).parent(PAGES).contents(stream);
        written.resources().fonts().pair(Name(b"F1"), TEXT).pair(Name(b"F2"), CODE);
        written.finish();
        self.pages += 1;
        self.top = PAPER.1 - MARGIN;
    }

    fn page(&self, number: i32) -> Ref {
        Ref::new(FIRST_PAGE + 2 * number)
    }

    /// Leaves vertical space, in points.
    pub(super) fn space(&mut self, points: f32) {
        self.top -= points;
    }

    /// Ensures space for a height in points. Begins a new page if this one has too little.
    fn ensure_space(&mut self, points: f32) {
        if self.top - points < MARGIN {
            self.end_page();
        }
    }

    /// Adds a paragraph of a size in points. Breaks it at line feeds and wraps long lines.
    pub(super) fn text(&mut self, text: &str, size: f32) -> Result<(), CliError> {
        for line in text.lines() {
            for part in self.wrapped(line, size)? {
                self.line(&part, size, 0.0)?;
            }
        }
        Ok(())
    }

    /// Adds texts on one line. Each starts at an offset in points from the left margin.
    pub(super) fn row(&mut self, cells: &[(&str, f32)], size: f32) -> Result<(), CliError> {
        for (number, (text, left)) in cells.iter().enumerate() {
            self.line(text, size, *left)?;
            if number + 1 < cells.len() {
                self.top += 1.4 * size;
            }
        }
        Ok(())
    }

    fn line(&mut self, text: &str, size: f32, left: f32) -> Result<(), CliError> {
        self.ensure_space(1.4 * size);
        let bytes = self.font.encoded(text)?;
        self.show(Name(b"F1"), &bytes, size, left);
        Ok(())
    }

    /// Adds a code in a font whose letters are easy to distinguish.
    pub(super) fn code(&mut self, code: &str, size: f32) {
        self.ensure_space(1.4 * size);
        let bytes: Vec<u8> = code.bytes().filter(u8::is_ascii).collect();
        self.show(Name(b"F2"), &bytes, size, 0.0);
    }

    fn show(&mut self, font: Name<'_>, bytes: &[u8], size: f32, left: f32) {
        self.top -= 1.4 * size;
        let (x, y) = (MARGIN + left, self.top + 0.3 * size);
        self.content.begin_text().set_font(font, size).next_line(x, y).show(Str(bytes)).end_text();
    }

    /// Adds a QR code with a side length in points.
    pub(super) fn qr(&mut self, text: &str, points: f32) -> Result<(), CliError> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium)
            .map_err(|_| CliError::new("a link is too long for a QR code"))?;
        self.ensure_space(points);
        let module = points / (code.size() + 2 * QUIET) as f32;
        for y in 0..code.size() {
            for x in (0..code.size()).filter(|&x| code.get_module(x, y)) {
                let left = MARGIN + (x + QUIET) as f32 * module;
                let bottom = self.top - (y + QUIET + 1) as f32 * module;
                self.content.rect(left, bottom, module, module);
            }
        }
        self.content.fill_nonzero();
        self.top -= points;
        Ok(())
    }

    /// Wraps a text into lines.
    fn wrapped(&self, text: &str, size: f32) -> Result<Vec<String>, CliError> {
        let most = PAPER.0 - 2.0 * MARGIN;
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            let last = lines.len() - 1;
            let joined = if lines[last].is_empty() { word.to_owned() } else { format!("{} {word}", lines[last]) };
            if lines[last].is_empty() || self.font.width(&joined) * size <= most {
                lines[last] = joined;
            } else {
                lines.push(word.to_owned());
            }
        }
        Ok(lines)
    }

    /// Returns the file.
    pub(super) fn finish(mut self, title: &str) -> Vec<u8> {
        self.pdf.catalog(CATALOG).pages(PAGES);
        self.pdf.document_info(INFO).title(TextStr(title));
        let kids: Vec<Ref> = (0..self.pages).map(|number| self.page(number)).collect();
        self.pdf.pages(PAGES).kids(kids).count(self.pages);
        self.pdf.type1_font(CODE).base_font(Name(b"Courier-Bold"));
        match &self.font {
            Font::Helvetica => {
                let mut font = self.pdf.type1_font(TEXT);
                font.base_font(Name(b"Helvetica")).encoding_predefined(Name(b"WinAnsiEncoding"));
            }
            Font::Embedded { data, used } => embed(&mut self.pdf, data, used),
        }
        self.pdf.finish()
    }
}

/// Embeds a font, with the widths and characters of the used glyphs.
fn embed(pdf: &mut Pdf, data: &[u8], used: &BTreeMap<u16, char>) {
    let Ok(face) = Face::parse(data, 0) else { return };
    let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
    let scale = 1000.0 / f32::from(face.units_per_em());
    let called = Name(b"Given");
    let mut font = pdf.type0_font(TEXT);
    font.base_font(called).encoding_predefined(Name(b"Identity-H")).descendant_font(CID).to_unicode(CMAP);
    font.finish();
    let mut cid = pdf.cid_font(CID);
    cid.subtype(CidFontType::Type2).base_font(called).system_info(system).font_descriptor(DESCRIPTOR);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    for &glyph in used.keys() {
        let width = face.glyph_hor_advance(ttf_parser::GlyphId(glyph)).unwrap_or(0);
        widths.consecutive(glyph, [f32::from(width) * scale]);
    }
    widths.finish();
    cid.finish();
    let bounds = face.global_bounding_box();
    let [left, bottom, right, top] =
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|edge| f32::from(edge) * scale);
    let mut descriptor = pdf.font_descriptor(DESCRIPTOR);
    descriptor.name(called).flags(FontFlags::SYMBOLIC).bbox(Rect::new(left, bottom, right, top)).italic_angle(0.0);
    descriptor.ascent(f32::from(face.ascender()) * scale).descent(f32::from(face.descender()) * scale);
    descriptor.cap_height(f32::from(face.capital_height().unwrap_or(face.ascender())) * scale).stem_v(80.0);
    descriptor.font_file2(FILE);
    descriptor.finish();
    pdf.stream(FILE, data).pair(Name(b"Length1"), data.len() as i32);
    let mut cmap = UnicodeCmap::new(Name(b"Given"), system);
    used.iter().for_each(|(&glyph, &character)| cmap.pair(glyph, character));
    let cmap = cmap.finish();
    pdf.cmap(CMAP, &cmap);
}

impl Font {
    /// Encodes a text for the font.
    fn encoded(&mut self, text: &str) -> Result<Vec<u8>, CliError> {
        match self {
            Font::Helvetica => text.chars().map(|one| win_ansi(one).ok_or_else(|| missing(one, "Helvetica"))).collect(),
            Font::Embedded { data, used } => {
                let face = Face::parse(data, 0).map_err(|_| CliError::new("not a TrueType font"))?;
                let mut bytes = Vec::with_capacity(2 * text.len());
                for character in text.chars() {
                    if takes_shaping(character) {
                        return Err(shaped(character));
                    }
                    let glyph = face.glyph_index(character).ok_or_else(|| missing(character, "the font"))?.0;
                    used.insert(glyph, character);
                    bytes.extend(glyph.to_be_bytes());
                }
                Ok(bytes)
            }
        }
    }

    /// The width of a text at a size of one point. For accented letters of Helvetica, this is an
    /// upper estimate.
    fn width(&self, text: &str) -> f32 {
        match self {
            Font::Helvetica => text.chars().map(|one| helvetica(one) / 1000.0).sum(),
            Font::Embedded { data, .. } => {
                let Ok(face) = Face::parse(data, 0) else { return 0.0 };
                let of = |one| face.glyph_index(one).and_then(|glyph| face.glyph_hor_advance(glyph)).unwrap_or(0);
                text.chars().map(|one| f32::from(of(one)) / f32::from(face.units_per_em())).sum()
            }
        }
    }
}

fn missing(character: char, font: &str) -> CliError {
    let code = u32::from(character);
    CliError::new(format!(
        "'{character}' (U+{code:04X}) is not in {font}: choose a TrueType font that has it with --font"
    ))
}

fn shaped(character: char) -> CliError {
    let code = u32::from(character);
    let what =
        "a letter whose shape depends on its neighbours, which is not supported here: print from the organiser's page";
    CliError::new(format!("'{character}' (U+{code:04X}) is {what}"))
}

/// Whether a character's script shapes or positions letters depending on their neighbours, which is
/// not supported.
fn takes_shaping(character: char) -> bool {
    matches!(u32::from(character), 0x0300..=0x036f | 0x0590..=0x109f | 0x1780..=0x18af | 0x1a00..=0x1cff
        | 0x200c..=0x200d | 0xa800..=0xabff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff | 0x1_0800..=0x1_1fff)
}

/// The byte of a character in `WinAnsiEncoding` (ISO 32000-1, D.2).
fn win_ansi(character: char) -> Option<u8> {
    const FROM_80: [char; 32] = [
        '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”',
        '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
    ];
    match u32::from(character) {
        code @ (0x20..=0x7e | 0xa0..=0xff) => Some(code as u8),
        0 => None,
        _ => FROM_80.iter().position(|&one| one == character).map(|at| 0x80 + at as u8),
    }
}

/// Widths of Helvetica's letters from space to tilde, from Adobe's metrics, in thousandths.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

fn helvetica(character: char) -> f32 {
    let at = u32::from(character).checked_sub(0x20).and_then(|at| WIDTHS.get(at as usize));
    at.map_or(778.0, |&width| f32::from(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_western_europe_have_their_bytes() {
        for (character, byte) in
            [('A', 0x41), ('é', 0xe9), ('ß', 0xdf), ('€', 0x80), ('Ÿ', 0x9f), ('’', 0x92), ('–', 0x96)]
        {
            assert_eq!(win_ansi(character), Some(byte), "{character}");
        }
        for character in ['Ł', '王', 'я', '\n', '\0', '\u{7f}', '\u{85}'] {
            assert_eq!(win_ansi(character), None, "{character:?}");
        }
    }

    #[test]
    fn lines_are_no_wider_than_the_paper() {
        let document = Document::new(None).unwrap();
        let text = "Everybody who is a member may vote until Sunday, by phone or at home. ".repeat(5);
        let lines = document.wrapped(text.trim(), 11.0).unwrap();
        assert!(lines.len() > 3 && lines.iter().all(|line| document.font.width(line) * 11.0 <= PAPER.0 - 2.0 * MARGIN));
        assert_eq!(lines.join(" "), text.trim());
        let mut other = Document::new(None).unwrap();
        assert!(other.text("Łukasz", 11.0).is_err());
        (0..200).for_each(|_| other.text("a line", 11.0).unwrap());
        assert!(other.pages > 2);
    }
}
