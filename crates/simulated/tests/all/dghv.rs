//! Simulated accelerators of encryption over the integers against the software, through the driver.

use std::time::Instant;

use crate::common::{Fault, Shared};
use hearith_arith::Engine;
use hearith_device::dghv::{DGHV, Dghv, MemoryFault, Unfit};
use hearith_device::{Device, Error, ErrorKind, Exchange, IntegerEncryptingDevice, Marks, Transport, Trust};
use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Lengths, Parameters, PublicKey, Scheme, Size};
use hearith_golden::integer_fft::encryption::{Encryptor as Model, Lengths as ModelLengths, Step, Transforms};
use hearith_simulated::designs::{DGHV_LONG, DGHV_SMALL, DGHV_TINY};
use hearith_simulated::{PROVIDERS, Simulated};
use hearith_verilated::Design;
use hearith_verilated::bench::Lie;

fn accelerator(design: &'static Design) -> Dghv {
    Dghv::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

/// A key that is far too short for anything but tests.
fn tiny(scheme: Scheme, modulus: u32, elements: u32, coefficient: u32) -> KeyPair {
    let lengths = Lengths {
        security: 8,
        key_noise: 4,
        secret: 640,
        modulus,
        elements,
        coefficient,
        encryption_noise: coefficient,
    };
    key(&Parameters::custom(scheme, lengths).unwrap())
}

fn key(parameters: &Parameters) -> KeyPair {
    KeyPair::generate(parameters, Engine::best(), InsecureHistoricalParameters).unwrap()
}

/// Encrypts bits. Every number must equal the software's for the same coefficients and noise, and
/// the ciphertexts must decrypt.
fn encrypts(device: &mut Dghv, key: &KeyPair, bits: &[bool]) {
    let ciphertexts = key.public.encrypt_with(bits, &mut |request| {
        let numbers = device.encryptions(request)?;
        assert!(numbers == request.compute()?, "{request:?}");
        Ok::<_, Error>(numbers)
    });
    assert_eq!(key.private.decrypt(&ciphertexts.unwrap()).unwrap().as_slice(), bits);
}

fn fails(device: &mut Dghv, key: &PublicKey) -> ErrorKind {
    device.encrypt(key, &[true]).unwrap_err().kind().clone()
}

/// Both schemes, lengths around the boundaries of words, segments and rows, coefficients of zero
/// and of the greatest length; also with stalls everywhere.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn encrypts_as_the_software_does() {
    let shapes = [(1152, 1, 1), (1153, 3, 64), (1500, 4, 100), (4096, 2, 448), (4097, 5, 449), (15_872, 2, 300)];
    for (seed, (modulus, elements, coefficient)) in (1..).zip(shapes) {
        for scheme in [Scheme::Cnt, Scheme::Cmnt] {
            let key = tiny(scheme, modulus, elements, coefficient);
            encrypts(&mut accelerator(&DGHV_TINY), &key, &[true, false, true, true]);
            let stalling = Simulated::under_pressure(&DGHV_TINY, seed).unwrap();
            encrypts(&mut Dghv::open(Box::new(stalling)).unwrap(), &key, &[false, true]);
        }
    }
}

/// One device loads several keys in turn, including a shorter coefficient after a longer one.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn keys_follow_each_other() {
    let mut device = accelerator(&DGHV_TINY);
    for (scheme, coefficient) in [(Scheme::Cnt, 190), (Scheme::Cmnt, 20), (Scheme::Cnt, 128)] {
        encrypts(&mut device, &tiny(scheme, 2000, 3, coefficient), &[true, false]);
    }
}

/// The lengths of a key, in the form of the reference model.
fn model(parameters: &Parameters) -> ModelLengths {
    let lengths = parameters.lengths();
    ModelLengths {
        modulus: lengths.modulus.into(),
        elements: lengths.elements.into(),
        coefficient: lengths.coefficient.into(),
        correction: 64 * parameters.correction_limbs() as u64,
        excess: parameters.encryption_excess().into(),
    }
}

/// The published parameters, smallest first: an encryption, its products, and its cycles compared
/// with the model's.
fn published(scheme: Scheme, size: Size) {
    let key = key(&Parameters::historical(scheme, size));
    let mut device = accelerator(&DGHV_SMALL);
    device.load(&key.public).unwrap();
    let before = device.counters().unwrap();
    let start = Instant::now();
    encrypts(&mut device, &key, &[true]);
    let (model, after) = (model(key.public.parameters()), device.counters().unwrap());
    let steps = if scheme == Scheme::Cnt { Model::HALVES.cnt(&model) } else { Model::HALVES.cmnt(&model) };
    let products: u64 = steps.iter().map(|step| step.products(28)).sum();
    assert_eq!(after.products - before.products, products);
    let at_once = Model::HALVES.cycles(&steps, 0);
    let cycles = after.busy_cycles - before.busy_cycles;
    println!("{scheme} {size}: {cycles} cycles in {:?}, {at_once} of the steps alone", start.elapsed());
    // The rest: words transferred eight per command, zeros over everything, and delays of the
    // memory.
    assert!(at_once < cycles && cycles < at_once + at_once / 4, "{cycles}, {at_once} by the model");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn toy_keys_are_encrypted_with() {
    published(Scheme::Cnt, Size::Toy);
}

#[test]
#[ignore = "34 million cycles: in test-full"]
fn small_keys_are_encrypted_with() {
    published(Scheme::Cnt, Size::Small);
}

#[test]
#[ignore = "17 million cycles: in test-full"]
fn quadratic_toy_keys_are_encrypted_with() {
    published(Scheme::Cmnt, Size::Toy);
}

/// Users select the device by name. The smallest design that fits a key is used, and a key that
/// fits none is refused.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_fitting_design_is_chosen() {
    let provider = PROVIDERS.iter().find(|provider| provider.system() == &DGHV).unwrap();
    let encrypts = provider.encrypts_integers().unwrap();
    let open = |key: &KeyPair| encrypts.load_integers(&key.public, Trust::Checked);
    for (modulus, coefficient, name) in
        [(2000, 190, "dghv_tiny"), (15_872, 10, "dghv_tiny"), (60_000, 10, "dghv_small")]
    {
        let key = tiny(Scheme::Cnt, modulus, 3, coefficient);
        let mut device = open(&key).unwrap();
        assert_eq!(device.describe(), format!("simulated {name}"));
        let ciphertexts = device.encrypt(&key.public, &[true, false]).unwrap();
        assert_eq!(key.private.decrypt(&ciphertexts).unwrap().as_slice(), [true, false]);
    }
    let long = open(&tiny(Scheme::Cnt, 2_000_000, 1, 10)).err().unwrap();
    assert!(matches!(long.kind(), ErrorKind::MemoryTooSmall { words: 150_000.., largest: 131_072 }), "{long}");
    let mut small = accelerator(&DGHV_TINY);
    let long = fails(&mut small, &tiny(Scheme::Cnt, 60_000, 1, 10).public);
    assert!(matches!(long, ErrorKind::MemoryTooSmall { words: 4097.., largest: 4096 }), "{long}");
    let long = fails(&mut small, &tiny(Scheme::Cnt, 2000, 4, 193).public);
    assert!(matches!(long, ErrorKind::CoefficientTooLong { bits: 193, largest: 192 }), "{long}");
    encrypts_bit(&mut small);
}

/// Encrypts with a key that fits.
fn encrypts_bit(device: &mut Dghv) {
    encrypts(device, &tiny(Scheme::Cnt, 2000, 3, 100), &[true]);
}

/// A memory that does not answer, refuses accesses, lies or is missing causes an error that reports
/// it, and no ciphertext. The device works again when the memory does; after a violation of the
/// protocol, it needs a reset first.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_is_wrong_with_the_memory_is_reported() {
    let key = tiny(Scheme::Cnt, 3000, 3, 100);
    let cases = [
        (Lie::SilentReads, MemoryFault::Silent),
        (Lie::SilentWrites, MemoryFault::Silent),
        (Lie::Deaf, MemoryFault::Silent),
        (Lie::LastEarly, MemoryFault::Misplaced),
        (Lie::LastMissing, MemoryFault::Misplaced),
        (Lie::StrayBeat, MemoryFault::Unasked),
        (Lie::StrayResponse, MemoryFault::Unasked),
        (Lie::WrongId, MemoryFault::Unasked),
    ];
    for (lie, expected) in cases {
        let shared = Shared::new(&DGHV_TINY);
        let mut device = Dghv::open(Box::new(shared.clone())).unwrap();
        encrypts(&mut device, &key, &[true]);
        shared.simulated().set_external_lie(Some(lie));
        let error = fails(&mut device, &key.public);
        assert!(matches!(error, ErrorKind::MemoryFailed { fault, .. } if fault == expected), "{lie:?}: {error}");
        drop(device);
        shared.simulated().set_external_lie(None);
        shared.simulated().reset();
        let mut device = Dghv::open(Box::new(shared.clone())).unwrap();
        encrypts(&mut device, &key, &[true, false]);
    }
}

/// A reduction by CMNT uses transforms if the device has them, with the same result. A reduction by
/// CNT, whose quotient is short, does not.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn reductions_by_transforms_encrypt_as_the_software_does() {
    assert_eq!(accelerator(&DGHV_LONG).parameters().long_words, 40);
    let by_transforms = Model { transforms: Some(Transforms { least: 40, ..Transforms::LONG }), ..Model::HALVES };
    for (scheme, modulus, transforms) in
        [(Scheme::Cnt, 5000, 0), (Scheme::Cmnt, 2240, 0), (Scheme::Cmnt, 2496, 1), (Scheme::Cmnt, 5000, 2)]
    {
        let key = tiny(scheme, modulus, 2, 100);
        let lengths = model(key.public.parameters());
        let steps = [Model::HALVES, by_transforms].map(|design| match scheme {
            Scheme::Cnt => design.cnt(&lengths),
            Scheme::Cmnt => design.cmnt(&lengths),
        });
        let found = steps[1].iter().filter(|step| matches!(step, Step::Transforms { .. })).count();
        assert_eq!(found, transforms, "{scheme}, {modulus} bits");
        // The device counts products of blocks.
        let expected = steps.map(|steps| steps.iter().map(|step| step.products(28)).sum::<u64>());
        let counted = [&DGHV_SMALL, &DGHV_LONG].map(|design| {
            let mut device = accelerator(design);
            encrypts(&mut device, &key, &[true]);
            device.counters().unwrap().products
        });
        assert_eq!(counted, expected, "{scheme}, {modulus} bits");
    }
    let stalling = Simulated::under_pressure(&DGHV_LONG, 3).unwrap();
    let mut device = Dghv::open(Box::new(stalling)).unwrap();
    encrypts(&mut device, &tiny(Scheme::Cmnt, 2600, 2, 64), &[false, true]);
    encrypts(&mut device, &tiny(Scheme::Cnt, 2000, 3, 64), &[true]);
}

/// Interferes with the device before and after an exchange.
struct Meddling<B, A> {
    shared: Shared,
    /// Exchanges until the interference.
    left: usize,
    before: B,
    after: A,
}

impl<B: FnMut(&Shared) + Send, A: FnMut(&Shared) + Send> Transport for Meddling<B, A> {
    fn describe(&self) -> String {
        self.shared.describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.shared.read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.shared.write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let now = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        if now {
            (self.before)(&self.shared);
        }
        let result = self.shared.exchange(exchange);
        if now {
            (self.after)(&self.shared);
        }
        result
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.shared.synchronise(marks)
    }
}

/// Exchanges of an encryption after those that load a key: zeros over everything, modulus,
/// reciprocal, corrections.
const LOADS: usize = 4;
const WRITES: usize = LOADS;
const ENCRYPTS: usize = LOADS + 1;
const READS: usize = LOADS + 2;

/// Bits that change in the memory are found by the device, or else by the check. Without the check,
/// wrong numbers are returned. The words are those of a key of 3000 bits with three elements: the
/// modulus from 0 on, the reciprocal from 48, corrections from 56, coefficients from 96, noise from
/// 104, the result from 112, and after its 47 words the quotient.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wrong_numbers_are_not_given_out() {
    let key = tiny(Scheme::Cnt, 3000, 3, 100);
    let meddled = |exchange: usize, word: usize, bit: u32, trust: Trust| {
        let shared = Shared::new(&DGHV_TINY);
        let before =
            move |shared: &Shared| shared.simulated().external_mut()[8 * word + bit as usize / 8] ^= 1 << (bit % 8);
        let transport = Meddling { shared, left: exchange, before, after: |_: &Shared| () };
        Dghv::open(Box::new(transport)).unwrap().with_trust(trust)
    };
    let refused = |why| ErrorKind::EncryptionRefused { why };
    let cases = [
        (ENCRYPTS, 0, 1, ErrorKind::FailedCheck),
        (ENCRYPTS, 46, 55, refused(Unfit::Modulus)),
        (ENCRYPTS, 46, 56, refused(Unfit::Modulus)),
        (ENCRYPTS, 56, 3, ErrorKind::FailedCheck),
        (ENCRYPTS, 97, 9, ErrorKind::FailedCheck),
        (ENCRYPTS, 97, 63, refused(Unfit::Sum)),
        (ENCRYPTS, 104, 0, ErrorKind::FailedCheck),
        (READS, 112, 17, ErrorKind::FailedCheck),
        (READS, 112 + 47, 17, ErrorKind::FailedCheck),
    ];
    for (exchange, word, bit, expected) in cases {
        let mut device = meddled(exchange, word, bit, Trust::Checked);
        let found = fails(&mut device, &key.public);
        assert_eq!(found.to_string(), expected.to_string(), "bit {bit} of word {word}");
        // The driver writes the key again.
        encrypts(&mut device, &key, &[false]);
    }
    let mut believed = meddled(READS, 112, 17, Trust::Unchecked);
    assert!(believed.encrypt(&key.public, &[true]).is_ok());
}

/// The device's memories, including those for words in transit, and wide registers.
const MEMORIES: [&str; 9] = [
    "u_memory.u_reader.u_words.gen_memory.u_items.word_q",
    "u_memory.u_writer.u_words.gen_memory.u_items.word_q",
    "u_encryptor.u_product.u_operands.u_x.word_q",
    "u_encryptor.u_product.u_operands.u_y.word_q",
    "u_encryptor.u_product.u_sum.u_sum.word_q",
    "u_encryptor.u_sum.u_x.word_q",
    "u_encryptor.u_product.u_product.u_multiplier.sum_q",
    "u_encryptor.u_product.u_product.u_multiplier.u_point.u_product.a_q",
    "u_encryptor.u_product.u_product.u_multiplier.u_point.u_product.b_q",
];

/// Number of internal words that are not zero.
fn left(simulated: &Simulated) -> usize {
    MEMORIES
        .iter()
        .map(|name| simulated.memory(name).iter().filter(|word| word.iter().any(|&limb| limb != 0)).count())
        .sum()
}

/// Nothing of an encryption stays anywhere, even if the device is reset or the exchange is given up
/// in the middle of a product or a transfer. After success, only the public key stays.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn nothing_stays_behind() {
    let key = tiny(Scheme::Cnt, 3000, 20, 100);
    let faults = [
        (None, 0, false),
        (Some(Fault::GivenUp(40)), WRITES, false),
        (Some(Fault::Reset(40)), WRITES, false),
        (Some(Fault::Abandoned(60)), WRITES, false),
        (Some(Fault::CutInput(77)), WRITES, false),
        (Some(Fault::Ignored(3000)), ENCRYPTS, false),
        (Some(Fault::Ignored(9000)), ENCRYPTS, false),
        (Some(Fault::Ignored(8000)), ENCRYPTS, true),
        (Some(Fault::GivenUp(40)), READS, false),
        (Some(Fault::Reset(40)), READS, false),
    ];
    let mut most = 0;
    for (fault, exchange, resets) in faults {
        let shared = Shared::new(&DGHV_TINY);
        let inside = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = inside.clone();
        let before = move |shared: &Shared| fault.into_iter().for_each(|fault| shared.disturb(fault));
        let after = move |shared: &Shared| {
            counted.store(left(&shared.simulated()), std::sync::atomic::Ordering::Relaxed);
            if resets {
                shared.simulated().reset();
            }
        };
        let transport = Meddling { shared: shared.clone(), left: exchange, before, after };
        let mut device = Dghv::open(Box::new(transport)).unwrap();
        device.load(&key.public).unwrap();
        let loaded = shared.simulated().external().to_vec();
        match fault {
            None => encrypts(&mut device, &key, &[true]),
            Some(_) => _ = device.encrypt(&key.public, &[true]).unwrap_err(),
        }
        let mut simulated = shared.simulated();
        simulated.idle(20_000);
        let expected = if fault.is_none() { loaded } else { vec![0; loaded.len()] };
        assert!(simulated.external() == expected, "{fault:?}");
        assert_eq!(left(&simulated), 0, "{fault:?}");
        drop(simulated);
        encrypts(&mut device, &key, &[true]);
        most = most.max(inside.load(std::sync::atomic::Ordering::Relaxed));
    }
    assert!(most > 20, "there was something to wipe: {most} words");
}

/// Memories of the transforms of a reduction.
const TILES: [&str; 3] = [
    "u_encryptor.gen_long.u_long.u_product.gen_tile[0].u_tile.word_q",
    "u_encryptor.gen_long.u_long.u_product.gen_tile[1].u_tile.word_q",
    "u_encryptor.gen_long.u_long.u_product.gen_tile[2].u_tile.word_q",
];

/// A key whose reductions use transforms, and a moment in the middle of them during its encryption,
/// by the reference model.
fn in_transforms() -> (KeyPair, u64) {
    let key = tiny(Scheme::Cmnt, 2600, 2, 64);
    let lengths = model(key.public.parameters());
    let steps = Model::HALVES.cmnt(&lengths);
    let before = Model::HALVES.cycles(&steps[..steps.len() - Model::REDUCTION], 0);
    // A transform of the fewest points takes 40 000 cycles; blocks may wait, and the memory adds
    // delays.
    (key, before + before / 8 + 15_000)
}

/// A memory begins to break the protocol in the middle of transforms: the error reports it, and the
/// device works again after a reset.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_report_what_is_wrong_with_the_memory() {
    let (key, moment) = in_transforms();
    for (lie, expected) in [
        (Lie::SilentReads, MemoryFault::Silent),
        (Lie::SilentWrites, MemoryFault::Silent),
        (Lie::LastEarly, MemoryFault::Misplaced),
        (Lie::WrongId, MemoryFault::Unasked),
    ] {
        let shared = Shared::new(&DGHV_LONG);
        let before = move |shared: &Shared| shared.disturb(Fault::Lied(moment, lie));
        let transport = Meddling { shared: shared.clone(), left: ENCRYPTS, before, after: |_: &Shared| () };
        let mut device = Dghv::open(Box::new(transport)).unwrap();
        let error = fails(&mut device, &key.public);
        assert!(matches!(error, ErrorKind::MemoryFailed { fault, .. } if fault == expected), "{lie:?}: {error}");
        drop(device);
        shared.simulated().set_external_lie(None);
        shared.simulated().reset();
        encrypts(&mut Dghv::open(Box::new(shared.clone())).unwrap(), &key, &[true]);
    }
}

/// An encryption that is given up or reset in the middle of transforms leaves nothing in the memory
/// or inside the device.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_leave_nothing_behind() {
    let (key, moment) = in_transforms();
    let in_tiles = |simulated: &Simulated| {
        TILES.map(|name| simulated.memory(name).iter().filter(|word| word.iter().any(|&limb| limb != 0)).count())
    };
    for resets in [false, true] {
        let shared = Shared::new(&DGHV_LONG);
        let inside = std::sync::Arc::new(std::sync::Mutex::new([0; 3]));
        let counted = inside.clone();
        let before = move |shared: &Shared| shared.disturb(Fault::Ignored(moment));
        let after = move |shared: &Shared| {
            *counted.lock().unwrap() = in_tiles(&shared.simulated());
            if resets {
                shared.simulated().reset();
            }
        };
        let transport = Meddling { shared: shared.clone(), left: ENCRYPTS, before, after };
        let mut device = Dghv::open(Box::new(transport)).unwrap();
        device.load(&key.public).unwrap();
        device.encrypt(&key.public, &[true]).unwrap_err();
        assert!(inside.lock().unwrap().iter().any(|&words| words > 1000), "transforms were under way: {inside:?}");
        let mut simulated = shared.simulated();
        simulated.idle(1000);
        assert!(simulated.external().iter().all(|&byte| byte == 0), "nothing in the memory");
        assert_eq!(in_tiles(&simulated), [0; 3], "nothing inside");
        drop(simulated);
        encrypts(&mut device, &key, &[true]);
    }
}
