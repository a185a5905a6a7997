//! The compiled kernels, embedded.
//!
//! They are compiled ahead of time, not by NVRTC at run time. That library is 100 MB for users to
//! install, it compiles for minutes, and its code would differ from the tested code. The driver
//! compiles the PTX for cards that are newer than this program.

use crate::Arithmetic;
use crate::fault::{Fault, OLDEST_CARD};

/// An image: its compute capability, and its bytes, compressed with Zstandard.
struct Image {
    arithmetic: Arithmetic,
    capability: (i32, i32),
    bytes: &'static [u8],
}

macro_rules! image {
    ($arithmetic:ident, $major:literal, $minor:literal, $file:literal) => {
        Image {
            arithmetic: Arithmetic::$arithmetic,
            capability: ($major, $minor),
            bytes: include_bytes!(concat!("../images/", $file, ".zst")),
        }
    };
}

/// Cubins run on cards with the same major number and an equal or higher minor number.
static CUBINS: &[Image] = &[
    image!(Wide, 8, 0, "wide_sm_80"),
    image!(Wide, 9, 0, "wide_sm_90"),
    image!(Wide, 10, 0, "wide_sm_100"),
    image!(Narrow, 8, 6, "narrow_sm_86"),
    image!(Narrow, 8, 9, "narrow_sm_89"),
    image!(Narrow, 12, 0, "narrow_sm_120"),
];

/// For every card of this capability or a higher one.
static PTX: &[Image] = &[image!(Wide, 8, 0, "wide_ptx"), image!(Narrow, 8, 0, "narrow_ptx")];

/// An upper bound of the size of an image.
const LONGEST: usize = 1 << 26;

/// The image for a card, in the driver's format.
pub(crate) fn image(arithmetic: Arithmetic, capability: (i32, i32)) -> Result<Vec<u8>, Fault> {
    debug_assert!(capability >= OLDEST_CARD);
    let fits = |image: &&Image| {
        image.arithmetic == arithmetic && image.capability.0 == capability.0 && image.capability.1 <= capability.1
    };
    let newest = CUBINS.iter().filter(fits).max_by_key(|image| image.capability);
    let ptx = || PTX.iter().find(|image| image.arithmetic == arithmetic);
    let chosen = newest.or_else(ptx).ok_or(Fault::Images)?;
    let mut bytes = zstd::bulk::decompress(chosen.bytes, LONGEST).map_err(|_| Fault::Images)?;
    // PTX is text that ends in a zero.
    bytes.push(0);
    Ok(bytes)
}

/// The best arithmetic for a card: double precision if it runs at half the rate of single precision
/// (1/64 elsewhere).
pub(crate) fn suited(capability: (i32, i32)) -> Arithmetic {
    match capability {
        (8, 0) | (9, 0) | (10, 0) => Arithmetic::Wide,
        _ => Arithmetic::Narrow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::collections::HashSet;

    const CARDS: [(i32, i32); 9] = [(8, 0), (8, 6), (8, 7), (8, 9), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)];

    /// The names of an image's kernels.
    fn names(image: &[u8], arithmetic: Arithmetic) -> HashSet<String> {
        let prefix = format!("{arithmetic}_");
        let starts = image.windows(prefix.len()).enumerate().filter(|(_, part)| *part == prefix.as_bytes());
        let name = |(start, _)| {
            let rest: &[u8] = &image[start..];
            let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            String::from_utf8(rest[..end.unwrap_or(rest.len())].to_vec()).unwrap()
        };
        starts.map(name).collect()
    }

    #[test]
    fn every_image_has_every_kernel() {
        for image in CUBINS.iter().chain(PTX) {
            let whole = zstd::bulk::decompress(image.bytes, LONGEST).unwrap();
            let names = names(&whole, image.arithmetic);
            for kernel in image.arithmetic.kernels() {
                assert!(names.contains(&kernel.to_string()), "{kernel} for {:?}", image.capability);
            }
        }
    }

    #[test]
    fn every_card_has_an_image_of_both_kinds() {
        for capability in CARDS {
            for arithmetic in Arithmetic::ALL {
                assert_eq!(image(arithmetic, capability).unwrap().pop(), Some(0));
            }
        }
        assert_eq!(CARDS.map(suited).iter().filter(|suited| **suited == Arithmetic::Wide).count(), 3);
    }

    /// `make gpu-kernels-check` checks that they are what the sources compile to.
    #[test]
    fn images_are_of_these_sources() {
        let written = include_str!("../images/sources.sha256");
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let mut files = 0;
        for line in written.lines() {
            let (expected, name) = line.split_once("  ").unwrap();
            let found = Sha256::digest(std::fs::read(folder.join(name)).unwrap());
            let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, expected, "{name} was changed: run `make gpu-kernels`");
            files += 1;
        }
        assert_eq!(files, 10);
    }

    /// The wiping kernel overwrites at least as much local memory as any kernel uses.
    #[test]
    fn local_memory_is_overwritten_whole() {
        let table = include_str!("../images/registers.tsv");
        let local = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            (fields[1].ends_with("_wipe"), fields[3].parse::<usize>().unwrap())
        };
        let lines: Vec<_> = table.lines().skip(1).map(local).collect();
        let (wiping, computing): (Vec<_>, Vec<_>) = lines.iter().partition(|(wipes, _)| *wipes);
        let least = wiping.iter().map(|(_, bytes)| *bytes).min().unwrap();
        assert!(computing.iter().all(|(_, bytes)| *bytes <= least));
        assert_eq!((wiping.len(), computing.len()), (CUBINS.len(), 23 * CUBINS.len()));
    }

    /// The size matters for every program and wheel, and for the repository.
    #[test]
    fn images_are_small() {
        let compressed: usize = CUBINS.iter().chain(PTX).map(|image| image.bytes.len()).sum();
        assert!(compressed < 3 << 20, "{compressed}");
        let whole: usize =
            CUBINS.iter().chain(PTX).map(|image| zstd::bulk::decompress(image.bytes, LONGEST).unwrap().len()).sum();
        assert!(whole < 15 << 20, "{whole}");
    }
}
