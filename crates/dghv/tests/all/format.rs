//! Tests of key and ciphertext files: they are read back as written, and any modified file is
//! rejected.

use hearith_arith::Engine;
use hearith_dghv::format::{
    CiphertextReader, CiphertextWriter, FileKind, FormatError, FormatErrorKind, HEADER_BYTES, Header,
    MOST_HEADER_BYTES, Published, VERSION, ciphertext_file_bytes,
};
use hearith_dghv::{
    Ciphertext, InsecureHistoricalParameters, KeyPair, Ladder, Lengths, Parameters, PrivateKey, PrivateKeys,
    PublicKeys, RecryptionKey, Scheme, Size,
};
use sha2::{Digest, Sha256};

const INSECURE: InsecureHistoricalParameters = InsecureHistoricalParameters;
const CHECKSUM: usize = 32;

/// Far smaller than any published set, with lengths that are not multiples of 8 bits.
fn tiny(scheme: Scheme) -> Parameters {
    let lengths = Lengths {
        security: 9,
        key_noise: 3,
        secret: 125,
        modulus: 701,
        elements: 4,
        coefficient: 10,
        encryption_noise: 20,
    };
    Parameters::custom(scheme, lengths).unwrap()
}

struct Files {
    secret: PrivateKey,
    file: PublicKeys,
    public: Vec<u8>,
    private: Vec<u8>,
    rows: Vec<u8>,
}

const BITS: [bool; 5] = [true, false, true, true, false];

fn files(parameters: &Parameters, recryption: bool) -> Files {
    let pair = KeyPair::generate(parameters, Engine::Serial, INSECURE).unwrap();
    let (mut public, mut private) = (Vec::new(), Vec::new());
    let recryption = recryption.then(|| RecryptionKey::generate(&pair.private, &pair.public, INSECURE).unwrap());
    let file = PublicKeys { key: pair.public, recryption, ladder: None };
    file.write_to(&mut public).unwrap();
    PrivateKeys::from(pair.private.clone()).write_to(&mut private).unwrap();
    let encrypted = file.key.encrypt(&BITS).unwrap();
    let mut rows = CiphertextWriter::new(Vec::new(), parameters, file.key.id(), 5).unwrap();
    rows.write(&encrypted[..2]).unwrap();
    rows.write(&encrypted[2..]).unwrap();
    let rows = rows.finish().unwrap();
    Files { secret: pair.private, file, public, private, rows }
}

fn read_public(bytes: &[u8]) -> Result<PublicKeys, FormatError> {
    PublicKeys::read_from(bytes, Engine::Serial, INSECURE)
}

fn read_private(bytes: &[u8]) -> Result<PrivateKey, FormatError> {
    PrivateKeys::read_from(bytes, INSECURE).map(|keys| keys.key)
}

fn read_rows(bytes: &[u8]) -> Result<Vec<Ciphertext>, FormatError> {
    let mut reader = CiphertextReader::new(bytes)?;
    let mut rows = Vec::new();
    while (rows.len() as u64) < reader.rows() {
        rows.extend(reader.read(2)?);
    }
    assert!(reader.read(2)?.is_empty());
    reader.finish()?;
    Ok(rows)
}

/// The same bytes with a matching checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - CHECKSUM);
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

#[test]
fn files_come_back_as_they_were() {
    let toy = Scheme::ALL.iter().map(|&scheme| Parameters::historical(scheme, Size::Toy));
    for parameters in Scheme::ALL.iter().map(|&scheme| tiny(scheme)).chain(toy) {
        let recrypts = parameters.size().is_some();
        let Files { secret: made, file, public, private, rows } = files(&parameters, recrypts);
        let read = read_public(&public).unwrap();
        let key = &read.key;
        assert_eq!((key.id(), key.parameters()), (file.key.id(), &parameters));
        assert_eq!((key.seed(), key.modulus()), (file.key.seed(), file.key.modulus()));
        assert_eq!(key.corrections(), file.key.corrections());
        assert_eq!(read.recryption.is_some(), recrypts);
        if let (Some(read), Some(written)) = (&read.recryption, &file.recryption) {
            assert_eq!((read.key_id(), read.seed()), (key.id(), written.seed()));
            assert_eq!((read.first(), read.corrections()), (written.first(), written.corrections()));
        }
        let secret = read_private(&private).unwrap();
        assert_eq!((secret.id(), secret.parameters()), (made.id(), &parameters));
        secret.check(key).unwrap();
        assert_eq!(rows.len() as u64, ciphertext_file_bytes(&parameters, 5));
        let read = read_rows(&rows).unwrap();
        assert!(read.iter().all(|row| row.noise() == parameters.fresh_noise()));
        assert_eq!(secret.decrypt(&read).unwrap(), BITS);
        for (file, kind) in
            [(&public, FileKind::PublicKey), (&private, FileKind::PrivateKey), (&rows, FileKind::Ciphertexts)]
        {
            let header = Header { kind, parameters: parameters.clone(), key: key.id() };
            assert_eq!(Header::read(&file[..]).unwrap(), header);
        }
        let expected = 16 + 701_u64.div_ceil(8) + 4 * (125 + 9 + 1_u64).div_ceil(8) + 1 + 32;
        if parameters == tiny(Scheme::Cnt) {
            assert_eq!(public.len() as u64, HEADER_BYTES + expected);
        }
    }
}

/// A key with a ladder of two rungs, and bits at the first rung.
fn laddered() -> (PublicKeys, PrivateKeys, Files) {
    let lengths = Lengths { secret: 340, modulus: 1101, ..*tiny(Scheme::Cnt).lengths() };
    let parameters = Parameters::custom(Scheme::Cnt, lengths).unwrap();
    let mut files = files(&parameters, false);
    let (ladder, rungs) = Ladder::generate(&files.secret, &files.file.key, 2, INSECURE).unwrap();
    let bits = files.file.key.encrypt(&BITS).unwrap();
    let KeyPair { public, .. } = KeyPair::generate(&parameters, Engine::Serial, INSECURE).unwrap();
    let public =
        PublicKeys { key: std::mem::replace(&mut files.file.key, public), recryption: None, ladder: Some(ladder) };
    let private = PrivateKeys { key: files.secret.clone(), rungs };
    (files.public, files.private) = (Vec::new(), Vec::new());
    public.write_to(&mut files.public).unwrap();
    private.write_to(&mut files.private).unwrap();
    let below = public.switch(&bits, 1).unwrap();
    let rung = public.at_level(1).unwrap();
    let mut rows = CiphertextWriter::new(Vec::new(), rung.parameters(), rung.id(), 5).unwrap();
    rows.write(&below).unwrap();
    files.rows = rows.finish().unwrap();
    (public, private, files)
}

#[test]
fn ladders_come_back_as_they_were() {
    let (public, private, files) = laddered();
    let (read, secret) =
        (read_public(&files.public).unwrap(), PrivateKeys::read_from(&files.private[..], INSECURE).unwrap());
    secret.check(&read).unwrap();
    private.check(&read).unwrap();
    let [written, found] = [&public, &read].map(|keys| keys.ladder.as_ref().unwrap().rungs());
    assert_eq!(found.len(), 2);
    for (written, found) in written.iter().zip(found) {
        assert_eq!((written.key.id(), written.key.parameters()), (found.key.id(), found.key.parameters()));
        assert_eq!(written.switching.first(), found.switching.first());
        assert_eq!(written.switching.corrections(), found.switching.corrections());
        assert_eq!(written.switching.seed(), found.switching.seed());
    }
    let rung = &found[0].key;
    assert_eq!(files.rows.len() as u64, ciphertext_file_bytes(rung.parameters(), 5));
    let rows = read_rows(&files.rows).unwrap();
    assert_eq!(secret.decrypt(&rows).unwrap(), BITS);
    assert_eq!(secret.decrypt(&read.switch(&rows, 2).unwrap()).unwrap(), BITS);
    let header = Header::read(&files.rows[..MOST_HEADER_BYTES as usize]).unwrap();
    assert_eq!((header.parameters.level(), header.key), (1, rung.id()));
    // Files without a ladder use version 1, which older programs read.
    for (file, version) in [(&files.public, 2), (&files.private, 2), (&files.rows, 2)] {
        assert_eq!(file[8..10], [version, 0]);
    }
    let Files { public, private, rows, .. } = self::files(&tiny(Scheme::Cnt), false);
    assert!([public, private, rows].iter().all(|file| file[8..10] == [1, 0]));
}

#[test]
fn ladders_that_are_wrong_are_refused() {
    let (_, _, files) = laddered();
    let said = |file: &[u8]| match file[10] {
        1 => read_public(file).map(drop).unwrap_err().to_string(),
        2 => PrivateKeys::read_from(file, INSECURE).map(drop).unwrap_err().to_string(),
        _ => read_rows(file).map(drop).unwrap_err().to_string(),
    };
    let level = HEADER_BYTES as usize;
    for file in [&files.public, &files.private, &files.rows] {
        for length in (11..file.len()).step_by(1 + file.len() / 400) {
            let expected = "truncated: the file ends in the middle of its content";
            assert!(said(&file[..length]).ends_with(expected), "{length}");
        }
        for bit in (8 * 12..8 * file.len()).step_by(1 + file.len() / 40) {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!said(&flipped).is_empty(), "bit {bit}");
        }
    }
    let with = |file: &[u8], at: usize, byte: u8| {
        let mut file = file.to_vec();
        file[at] = byte;
        sealed(file)
    };
    // A level that must not appear in version 2, one that the key does not have, and impossible
    // numbers of rungs.
    assert_eq!(said(&with(&files.rows, level, 0)), "the level has an invalid value");
    assert!(said(&with(&files.public, level, 1)).contains("its ID"));
    let secret = 340_usize.div_ceil(8);
    let count = level + 1 + secret;
    assert_eq!(files.private[count], 2);
    assert_eq!(said(&with(&files.private, count, 0)), "the number of rungs has an invalid value");
    assert_eq!(said(&with(&files.private, count, 3)), "the number of rungs has an invalid value");
    assert_eq!(
        said(&with(&files.private, count, 1)),
        "damaged or tampered with: the checksum does not match the content"
    );
    let even = with(&files.private, count + 1 + 16, files.private[count + 1 + 16] & !1);
    assert!(said(&even).starts_with("the key is malformed: the prime is even"));
}

#[test]
fn any_changed_bit_is_found() {
    let Files { public, private, rows, .. } = files(&tiny(Scheme::Cmnt), false);
    let flipped = |file: &[u8], bit: usize| {
        let mut file = file.to_vec();
        file[bit / 8] ^= 1 << (bit % 8);
        file
    };
    for bit in 0..8 * public.len() {
        assert!(read_public(&flipped(&public, bit)).is_err(), "public key, bit {bit}");
    }
    for bit in 0..8 * private.len() {
        assert!(read_private(&flipped(&private, bit)).is_err(), "private key, bit {bit}");
    }
    for bit in 0..8 * rows.len() {
        assert!(read_rows(&flipped(&rows, bit)).is_err(), "ciphertexts, bit {bit}");
    }
}

#[test]
fn any_shorter_file_is_truncated() {
    let Files { public, private, rows, .. } = files(&tiny(Scheme::Cnt), false);
    let expected = |length: usize, error: &FormatError| match length {
        0..8 => assert!(matches!(error.kind(), FormatErrorKind::NotOurs), "{length}: {error}"),
        _ => assert!(matches!(error.kind(), FormatErrorKind::Truncated), "{length}: {error}"),
    };
    (0..public.len()).for_each(|length| expected(length, &read_public(&public[..length]).unwrap_err()));
    (0..private.len()).for_each(|length| expected(length, &read_private(&private[..length]).unwrap_err()));
    (0..rows.len()).for_each(|length| expected(length, &read_rows(&rows[..length]).unwrap_err()));
    let cut = read_rows(&rows[..rows.len() - CHECKSUM - 1]).unwrap_err();
    assert_eq!(
        (cut.row(), cut.to_string().as_str()),
        (Some(4), "row 4: truncated: the file ends in the middle of its content")
    );
}

#[test]
fn mistakes_are_told_apart() {
    let Files { public, private, rows, .. } = files(&tiny(Scheme::Cnt), false);
    let with = |file: &[u8], at: usize, bytes: &[u8]| {
        let mut file = file.to_vec();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        sealed(file)
    };
    let said = |error: FormatError| error.to_string();
    assert_eq!(said(read_rows(b"PAR1 and more").unwrap_err()), "not a file of FHE over the integers");
    let newer = with(&rows, 8, &(VERSION + 1).to_le_bytes());
    assert_eq!(
        said(read_rows(&newer).unwrap_err()),
        "version 3 of the format is not supported: this program reads versions 1 to 2"
    );
    assert_eq!(said(read_public(&private).unwrap_err()), "holds a private key, not a public key");
    assert_eq!(said(read_private(&rows).unwrap_err()), "holds encrypted bits, not a private key");
    assert_eq!(said(read_rows(&public).unwrap_err()), "holds a public key, not encrypted bits");
    assert_eq!(said(read_rows(&with(&rows, 10, &[9])).unwrap_err()), "the kind of file has an invalid value");
    assert_eq!(said(read_rows(&with(&rows, 11, &[0])).unwrap_err()), "the scheme has an invalid value");
    // A modulus of 2^32 - 1 bits, for which no memory is allocated.
    let huge = with(&rows, 12 + 3 * 4, &[255; 4]);
    assert!(said(read_rows(&huge).unwrap_err()).starts_with("parameters: the modulus"));
    let many = with(&rows, HEADER_BYTES as usize, &u64::MAX.to_le_bytes());
    assert_eq!(said(read_rows(&many).unwrap_err()), "row 5: truncated: the file ends in the middle of its content");
    let noise = |bits: f64| with(&rows, HEADER_BYTES as usize + 8, &bits.to_bits().to_le_bytes());
    for bits in [-1.0, 123.5, f64::NAN, f64::INFINITY] {
        assert_eq!(said(read_rows(&noise(bits)).unwrap_err()), "row 0: the noise has an invalid value");
    }
    read_rows(&noise(123.0)).unwrap();
    let top = with(&rows, HEADER_BYTES as usize + 8 + 8 + 701 / 8, &[0xff]);
    assert_eq!(said(read_rows(&top).unwrap_err()), "row 0: a number is longer than the parameters allow");
    let mut longer = rows.clone();
    longer.push(0);
    assert_eq!(said(read_rows(&longer).unwrap_err()), "there is data after the content");
    let mut damaged = rows.clone();
    damaged[HEADER_BYTES as usize + 20] ^= 1;
    assert!(said(read_rows(&damaged).unwrap_err()).starts_with("damaged or tampered with"));
    // With a matching checksum, the changed key no longer has its ID.
    assert!(said(read_public(&sealed(with(&public, HEADER_BYTES as usize, &[1; 16]))).unwrap_err()).contains("its ID"));
    let mark = public.len() - CHECKSUM - 1;
    let marked = said(read_public(&with(&public, mark, &[2])).unwrap_err());
    assert_eq!(marked, "the mark of a recryption key has an invalid value");
    let promised = said(read_public(&with(&public, mark, &[1])).unwrap_err());
    assert_eq!(promised, "truncated: the file ends in the middle of its content");
    let even = with(&private, HEADER_BYTES as usize, &[0]);
    assert!(said(read_private(&even).unwrap_err()).starts_with("the key is malformed: the prime is even"));
}

#[test]
fn failures_to_read_are_kept_apart() {
    #[derive(Debug)]
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(5))
        }
    }
    let error = CiphertextReader::new(Broken).unwrap_err();
    assert_eq!(error.into_io().unwrap().raw_os_error(), Some(5));
    assert!(read_rows(b"x").unwrap_err().into_io().is_err());
}

#[test]
fn published_parameters_are_the_historical_ones() {
    // The four sets of the published program, as it prints them.
    let sets = [
        (Size::Toy, "{'ty':\"toy\",'lam':42,'rho':26,'eta':988,'gam':147456,'alpha':936,'tau':158}"),
        (Size::Small, "{'ty':\"small\",'lam':52,'rho':41,'eta':1558,'gam':843033,'alpha':1476,'tau':572}"),
        (Size::Medium, "{'ty':\"medium\",'lam':62,'rho':56,'eta':2128,'gam':4251866,'alpha':2016,'tau':2110}"),
        (Size::Large, "{'ty':\"large\",'lam':72,'rho':71,'eta':2698,'gam':19575950,'alpha':2556,'tau':7659}"),
    ];
    for (size, text) in sets {
        let read = Published::parse(text).unwrap().parameters().unwrap();
        assert_eq!(read, Parameters::historical(Scheme::Cnt, size));
    }
    let noisy = sets[0].1.replace("936", "988");
    assert!(Published::parse(&noisy).unwrap().parameters().is_err());
}
