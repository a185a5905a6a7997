//! Measures the cycles of the simulated accelerators and prints them as JSON: for each, the latency
//! of a single decryption and the average interval between plaintexts when the device is full. The
//! tables in `bench/results/mesa.md` are made from the output.
//!
//! Arguments are names of designs, such as `mesa_1024` (default: all). Designs of 1024 bits are
//! also measured with a subgroup key of that size, whose exponents have 161 bits: `mesa_1024_161`.

use hearith_arith::natural::bit_length;
use hearith_device::mesa::{Mesa, MesaDual};
use hearith_device::{Counters, Error};
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, PrivateKey, Variant};
use hearith_simulated::Simulated;
use hearith_simulated::designs::{MESA_1024, MESA_2048, MESA_DUAL_1024, MESA_DUAL_2048};
use hearith_verilated::Design;

/// Latency and interval of a decryptor with `depth` ciphertexts in flight.
fn measure(depth: usize, mut busy_cycles: impl FnMut(usize) -> Result<u64, Error>) -> Result<String, Error> {
    let (alone, few, many) = (busy_cycles(1)?, busy_cycles(2 * depth)?, busy_cycles(3 * depth)?);
    let interval = (many - few) as f64 / depth as f64;
    Ok(format!("\"latency\": {alone}, \"interval\": {interval}"))
}

fn mesa(design: &'static Design, variant: Variant) -> Result<String, Error> {
    let mut device = Mesa::open(Box::new(Simulated::new(design)?))?;
    let key = key(design, variant);
    device.load_key(&key)?;
    let stages = device.parameters().stages;
    let figures = measure(stages as usize + 2, |count| {
        let before = device.counters()?;
        device.decrypt(&ciphertexts(&key, count))?;
        Ok(elapsed(before, device.counters()?))
    })?;
    Ok(format!("  \"{}\": {{{figures}, \"stages\": {stages}}}", name(design, &key)))
}

fn mesa_dual(design: &'static Design, variant: Variant) -> Result<String, Error> {
    let mut device = MesaDual::open(Box::new(Simulated::new(design)?))?;
    let key = key(design, variant);
    device.load_key(&key)?;
    let lanes = device.parameters().lanes;
    let figures = measure(lanes as usize, |count| {
        let before = device.counters()?;
        device.decrypt(&ciphertexts(&key, count))?;
        Ok(elapsed(before, device.counters()?))
    })?;
    Ok(format!("  \"{}\": {{{figures}, \"lanes\": {lanes}}}", name(design, &key)))
}

fn elapsed(before: Counters, after: Counters) -> u64 {
    after.busy_cycles - before.busy_cycles
}

fn key(design: &Design, variant: Variant) -> PrivateKey {
    let bits = design.parameter("N");
    PrivateKey::generate(bits, variant, KeyPolicy::AllowInsecure, Engine::best()).expect("a random key")
}

/// The name of the design, with the bits of the exponents if they are short.
fn name(design: &Design, key: &PrivateKey) -> String {
    match key.subgroup_primes() {
        // The exponent is twice a prime.
        Some([prime, _]) => format!("{}_{}", design.name(), bit_length(prime) + 1),
        None => design.name().to_owned(),
    }
}

fn ciphertexts(key: &PrivateKey, count: usize) -> Ciphertexts {
    key.public().zeros(count)
}

/// Measures a design and formats a line of output.
type Measure = fn(&'static Design, Variant) -> Result<String, Error>;

/// The measured designs, with the function for each.
static MEASURED: [(&Design, Measure); 4] =
    [(&MESA_1024, mesa), (&MESA_2048, mesa), (&MESA_DUAL_1024, mesa_dual), (&MESA_DUAL_2048, mesa_dual)];

fn main() -> Result<(), Error> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let chosen =
        MEASURED.iter().filter(|(design, _)| names.is_empty() || names.iter().any(|name| name == design.name()));
    let variants = |design: &Design| match design.parameter("N") {
        1024 => &[Variant::Standard, Variant::Subgroup][..],
        _ => &[Variant::Standard],
    };
    let runs =
        chosen.flat_map(|(design, measure)| variants(design).iter().map(move |&variant| measure(design, variant)));
    let lines = runs.collect::<Result<Vec<_>, _>>()?;
    println!("{{\n{}\n}}", lines.join(",\n"));
    Ok(())
}
