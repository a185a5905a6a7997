//! The packets and registers that all devices share (`docs/reference/registers.md`), on each
//! device: sequences that a correct driver never causes.

use crate::common::{EPOCH, Fault, Shared, decrypts, header, is, key, random_ciphertexts};
use hearith_device::mesa::Mesa;
use hearith_device::{ErrorKind, Transport, Trust};
use hearith_simulated::Simulated;
use hearith_simulated::designs::{MESA_64, MESA_DUAL_64, RESIDUE_BANK_60, RESIDUE_BANK_60_WIDE};
use hearith_verilated::bench::Random;
use hearith_verilated::{Design, Direction};

const IDENTITY: u32 = 0x00;
const CAPABILITY: u32 = 0x08;
const CONTROL: u32 = 0x10;
const STATUS: u32 = 0x14;
const ERROR: u32 = 0x18;
const INTERRUPT_ENABLE: u32 = 0x1c;
const INTERRUPT: u32 = 0x20;
const KEY_CHECK: u32 = 0x28;
const INDEX: u32 = 0x2c;
const BUSY: u32 = 0x40;
const DISCARDED: u32 = 0x60;
const LATENCY: u32 = 0x94;
const KEY: u32 = 0x1_0000;
const READY: u32 = 1;
const FLUSH: u32 = 2;
const WIPE: u32 = 4;
const UNKNOWN: u32 = 1;
const UNALIGNED: u32 = 2;
const PARTIAL: u32 = 4;
const READ_ONLY: u32 = 8;
const WRITE_ONLY: u32 = 16;
const BEYOND: u32 = 32;
const LOCKED: u32 = 64;
const FOREIGN: u32 = 256;
const BROKEN: u32 = 512;

/// The top modules, the smallest of each kind.
static TOPS: [&Design; 4] = [&MESA_64, &MESA_DUAL_64, &RESIDUE_BANK_60, &RESIDUE_BANK_60_WIDE];
/// The banks, which are fast and need no key.
static BANKS: [&Design; 2] = [&RESIDUE_BANK_60, &RESIDUE_BANK_60_WIDE];
/// The primes of the banks.
const PRIMES: [u64; 3] = [59, 47, 37];

/// A started bank under pressure.
fn bank(design: &'static Design, seed: u64) -> Simulated {
    let mut bank = Simulated::under_pressure(design, seed).unwrap();
    bank.write(CONTROL, READY).unwrap();
    bank
}

/// Bytes, padded to whole beats.
fn padded(mut bytes: Vec<u8>, beat: usize) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(beat), 0);
    bytes
}

/// A packet of numbers for a bank, and the answer to it.
fn packet(beat: usize, epoch: u32, sequence: u16, numbers: &[u64]) -> [Vec<u8>; 2] {
    let header = padded(header(epoch, sequence, numbers.len() as u16), beat);
    let [mut input, mut output] = [header.clone(), header];
    for number in numbers {
        input.extend(padded(number.to_le_bytes().to_vec(), beat));
        let residues = PRIMES.iter().flat_map(|prime| ((number % prime) as u32).to_le_bytes());
        output.extend(padded(residues.collect(), beat));
    }
    [input, output]
}

fn mark(beat: usize, epoch: u32, sequence: u16) -> Vec<u8> {
    padded(header(epoch, sequence, 0), beat)
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn packets_and_marks_come_back_in_order() {
    for (design, seed) in BANKS.into_iter().zip(0..) {
        let mut bank = bank(design, seed);
        let mut random = Random::new(seed);
        let mut expected = Vec::new();
        for sequence in 0..40 {
            let numbers: Vec<u64> = (0..random.below(5)).map(|_| random.next() >> 4).collect();
            let [input, output] = packet(bank.beat(), 0, sequence, &numbers);
            bank.queue(&input, true, random.below(20));
            expected.push(output);
        }
        assert_eq!(bank.drain(20_000), expected, "{}", design.name());
        assert_eq!(bank.read(ERROR).unwrap(), 0);
    }
}

/// The first beat of residues follows the last beat of its coefficient after the number of cycles
/// in PARAMETER 5.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_bank_takes_the_time_that_it_says() {
    for design in BANKS {
        let mut bank = Simulated::new(design).unwrap();
        bank.write(CONTROL, READY).unwrap();
        let [input, _] = packet(bank.beat(), 0, 1, &[77]);
        bank.queue(&input, true, 0);
        while bank.queued() > 0 {
            bank.idle(1);
        }
        let taken = bank.cycles();
        // The header of the answer has been sent by now.
        bank.take(mark(bank.beat(), 0, 0).len() / bank.beat(), 50);
        bank.take(1, 50);
        assert_eq!(bank.cycles() - taken, u64::from(bank.read(LATENCY).unwrap()), "{}", design.name());
    }
}

/// A flush at any point of an answer: the beat on offer stays (the simulation checks this), the
/// packet is ended with a length that shows that it is incomplete, and the next epoch begins clean.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_flush_ends_the_answer_that_has_begun() {
    for design in BANKS {
        let beat = design.parameter("StreamBits") as usize / 8;
        let [input, output] = packet(beat, 0, 5, &[123_456_789, 2, (1 << 60) - 1]);
        for taken in 0..output.len() / beat {
            for (command, idle) in [(FLUSH, 0), (WIPE, 0), (FLUSH, 7)] {
                let mut bank = bank(design, taken as u64);
                bank.queue(&input, true, 200);
                let begun = bank.take(taken, 500);
                assert_eq!(begun, output[..taken * beat], "{} {taken}", design.name());
                bank.write(CONTROL, command).unwrap();
                // For a while, the beat on offer is not accepted.
                bank.queue(&mark(beat, 1, 9), true, idle);
                let mut packets = bank.drain(500);
                assert_eq!(packets.pop().unwrap(), mark(beat, 1, 9));
                let rest = packets.pop().unwrap_or_default();
                assert_eq!(packets.len(), 0);
                let whole = [begun, rest].concat();
                let complete = taken + 1 == output.len() / beat;
                assert_eq!(whole.len() == output.len(), complete, "{} {taken}: {} bytes", design.name(), whole.len());
                // The beat on offer is unchanged, and only zeros follow.
                let offered = (taken + 1) * beat;
                assert_eq!(whole[..offered], output[..offered]);
                assert!(whole[offered..].iter().all(|&byte| byte == 0));
                assert_eq!(bank.read(STATUS).unwrap(), u32::from(command == FLUSH));
                assert_eq!((bank.read(EPOCH).unwrap(), bank.read(ERROR).unwrap()), (1, 0));
            }
        }
    }
}

/// Marks of two epochs are sent while a flush occurs at any time. Those of the old epoch are echoed
/// until the flush, those of the new one from the first that begins after it, and none is accepted
/// partly.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_packet_that_begins_during_a_flush_is_not_taken() {
    for design in TOPS {
        let beat = design.parameter("StreamBits") as usize / 8;
        for delay in 0..30 {
            let mut device = Simulated::new(design).unwrap();
            for sequence in 0..60 {
                device.queue(&mark(beat, u32::from(sequence % 2), sequence), true, 0);
            }
            let mut packets = device.drain(delay);
            device.write(CONTROL, FLUSH).unwrap();
            let mut rest = device.drain(600);
            // A mark with a beat already received continues.
            if packets.last().is_some_and(|packet| packet.len() < mark(beat, 0, 0).len()) {
                rest[0] = [packets.pop().unwrap(), rest[0].clone()].concat();
            }
            packets.extend(rest);
            let epochs = packets.iter().map(|packet| usize::from(packet[2])).collect::<Vec<_>>();
            let first = epochs.iter().position(|&epoch| epoch == 1).unwrap();
            // All marks of the new epoch, from the first complete one on.
            let sequences = packets[first..].iter().map(|packet| packet[4]).collect::<Vec<_>>();
            let expected = (sequences[0]..60).step_by(2).collect::<Vec<_>>();
            assert_eq!(sequences, expected, "{} {delay}", design.name());
            assert!(packets[first..].iter().all(|packet| packet.len() == mark(beat, 1, 0).len()));
            // The marks before the flush. It may have truncated the last, which then has another
            // length.
            for (sequence, packet) in (0..).step_by(2).zip(&packets[..first]) {
                let cut = usize::from(sequence) / 2 + 1 == first && packet.len() != mark(beat, 0, 0).len();
                assert!(cut || *packet == mark(beat, 0, sequence), "{} {delay}", design.name());
            }
        }
    }
}

/// A packet offered before the device has left reset is accepted from its first beat on, but not
/// before the reset is over.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_packet_that_is_offered_in_reset_is_not_taken() {
    for design in TOPS {
        let beat = design.parameter("StreamBits") as usize / 8;
        let mut model = design.model();
        model.reset();
        (0..10).for_each(|_| model.clock());
        model.set("rst_ni", false);
        (0..4).for_each(|_| model.clock());
        let packet = mark(beat, 0, 77);
        let beats: Vec<&[u8]> = packet.chunks(beat).collect();
        let limbs = |bytes: &[u8]| -> Vec<u64> {
            bytes.chunks(8).map(|limb| limb.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte))).collect()
        };
        let (mut at, mut echo) = (0, Vec::new());
        model.set("m_axis_tready_i", true);
        for cycle in 0..40 {
            model.set("rst_ni", cycle >= 10);
            model.set("s_axis_tvalid_i", cycle >= 10 && at < beats.len());
            model.set("s_axis_tdata_i", limbs(beats[at.min(beats.len() - 1)]));
            model.set("s_axis_tlast_i", at + 1 == beats.len());
            model.settle();
            let ready = model.bit("s_axis_tready_o");
            assert!(!ready || cycle > 11, "{} is ready in reset", design.name());
            if model.bit("m_axis_tvalid_o") {
                echo.extend(model.get("m_axis_tdata_o"));
            }
            at += usize::from(ready && at < beats.len());
            model.edge();
        }
        assert_eq!(echo, beats.iter().flat_map(|beat| limbs(beat)).collect::<Vec<_>>(), "{}", design.name());
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn packets_of_another_epoch_or_without_the_mark_are_discarded_and_counted() {
    for design in BANKS {
        let mut bank = bank(design, 3);
        bank.write(CONTROL, FLUSH).unwrap();
        let beat = bank.beat();
        let numbers = [5, 6, 7];
        let mut strays =
            vec![packet(beat, 0, 1, &numbers)[0].clone(), packet(beat, 2, 1, &[])[0].clone(), vec![0x48; beat]];
        let mut unmarked = packet(beat, 1, 1, &numbers)[0].clone();
        unmarked[0] ^= 1;
        // A mark that is too long.
        strays.extend([unmarked, [mark(beat, 1, 4), vec![0; beat]].concat()]);
        for stray in &strays {
            bank.queue(stray, true, 0);
        }
        let [input, output] = packet(beat, 1, 2, &numbers);
        bank.queue(&input, true, 0);
        assert_eq!(bank.drain(1000), [output], "{}", design.name());
        assert_eq!(bank.read(DISCARDED).unwrap() as usize, strays.len());
        assert_eq!(bank.read(ERROR).unwrap(), FOREIGN | BROKEN);
        // Causes stay until they are cleared one by one.
        bank.write(ERROR, FOREIGN).unwrap();
        assert_eq!(bank.read(ERROR).unwrap(), BROKEN);
        assert_eq!(bank.read(STATUS).unwrap(), 9);
        bank.write(ERROR, BROKEN).unwrap();
        assert_eq!((bank.read(ERROR).unwrap(), bank.read(STATUS).unwrap()), (0, 1));
    }
}

/// A packet with a length other than its header states gets an answer of the wrong length, and the
/// next packet is answered normally.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn broken_packets_have_answers_of_the_wrong_length() {
    for design in BANKS {
        let mut bank = bank(design, 4);
        let beat = bank.beat();
        let numbers = [1 << 59, 58, 59 * 47 * 37 + 3];
        let [input, output] = packet(beat, 0, 1, &numbers);
        let header = mark(beat, 0, 1).len();
        let mut broken: Vec<Vec<u8>> = (header..input.len()).step_by(beat).map(|end| input[..end].to_vec()).collect();
        broken.extend((1..7).map(|more| [input.clone(), vec![0x55; more * beat]].concat()));
        for (at, packet_in) in broken.iter().enumerate() {
            bank.queue(packet_in, true, 0);
            let [next, answer] = packet(beat, 0, 2, &numbers[..at % 3]);
            bank.queue(&next, true, 0);
            let packets = bank.drain(1000);
            assert_eq!(packets.len(), 2, "{} {at}", design.name());
            assert_eq!(packets[1], answer);
            assert_eq!(packets[0][..header], output[..header]);
            assert_ne!(packets[0].len(), output.len(), "{} {at}", design.name());
            assert_eq!(bank.read(ERROR).unwrap(), BROKEN);
            bank.write(ERROR, BROKEN).unwrap();
        }
    }
}

/// A host that gives up leaves packets queued before the device and answers after it. The next
/// batch still gets its own plaintexts. The driver's checks are off, so that they cannot hide a
/// fault.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_is_queued_over_a_flush_is_never_answered() {
    let shared = Shared::new(&MESA_64);
    let mut device = Mesa::open(Box::new(shared.clone())).unwrap().with_trust(Trust::Unchecked);
    let key = key(64);
    device.load_key(&key).unwrap();
    let (ciphertexts, _) = random_ciphertexts(&key, 20);
    for cycles in [0, 3, 100, 800, 3000, 9000] {
        shared.disturb(Fault::Ignored(cycles));
        is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::Stalled { sent: 0, received: 0, expected: 22 });
        // The same number of other ciphertexts.
        decrypts(&mut device, &key, 20);
    }
}

/// Fills every region with words that are no valid key, and lets the device use them.
fn fill(device: &mut Simulated) {
    for region in (KEY..2 * KEY).step_by(0x800) {
        let words = (region..).step_by(4).take_while(|&address| device.write(address, 1).is_ok()).count();
        assert!(words <= 512);
    }
    assert_eq!(device.read(ERROR).unwrap(), BEYOND);
    device.write(ERROR, BEYOND).unwrap();
    device.write(CONTROL, READY).unwrap();
}

/// Expects a refusal with this cause alone.
#[track_caller]
fn refused(device: &mut Simulated, result: Result<(), hearith_device::Error>, address: u32, cause: u32) {
    is(&result.unwrap_err(), ErrorKind::Refused { address });
    assert_eq!(device.read(ERROR).unwrap(), cause, "at {address:#x}");
    device.write(ERROR, cause).unwrap();
    assert_eq!(device.read(ERROR).unwrap(), 0);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_cannot_be_is_refused_and_noted() {
    let device = &mut Simulated::under_pressure(&MESA_64, 8).unwrap();
    assert_eq!(device.read(CAPABILITY).unwrap(), 16 | 2 << 8 | 1 << 17);
    for strobes in 0..15 {
        for address in [CONTROL, INTERRUPT_ENABLE, IDENTITY, KEY, KEY + 0x1ffc] {
            let result = device.write_strobed(address, !0, strobes);
            refused(device, result, address, PARTIAL);
        }
    }
    for address in [CONTROL + 1, CONTROL + 2, KEY + 3, 0x71] {
        let result = device.write(address, !0);
        refused(device, result, address, UNALIGNED);
        let result = device.read(address).map(drop);
        refused(device, result, address, UNALIGNED);
    }
    for address in [0x34, 0x3c, 0x68, 0x7c, 0xa0, 0x1000, 0xfffc] {
        let result = device.write(address, 0);
        refused(device, result, address, UNKNOWN);
        let result = device.read(address).map(drop);
        refused(device, result, address, UNKNOWN);
    }
    for address in [IDENTITY, CAPABILITY, EPOCH, STATUS, KEY_CHECK, BUSY, BUSY + 4, 0x80, 0x9c] {
        device.read(address).unwrap();
        let result = device.write(address, 0);
        refused(device, result, address, READ_ONLY);
    }
    for address in [CONTROL, KEY, KEY + 0x1_0000 - 4] {
        let result = device.read(address).map(drop);
        refused(device, result, address, WRITE_ONLY);
    }
    // Region 0 has 68 bits (four digits of 17), region 1 has 64, region 4 has 32, region 16 none.
    for (last, beyond) in [(KEY + 8, KEY + 12), (KEY + 0x804, KEY + 0x808), (KEY + 0x2000, KEY + 0x2004)] {
        device.write(last, 1).unwrap();
        let result = device.write(beyond, 1);
        refused(device, result, beyond, BEYOND);
    }
    let nothing = KEY + 16 * 0x800;
    let result = device.write(nothing, 1);
    refused(device, result, nothing, BEYOND);
    // None of this had any effect: no epoch has begun, no constants are complete, no interrupt is
    // enabled.
    assert_eq!(
        (device.read(EPOCH).unwrap(), device.read(STATUS).unwrap(), device.read(INTERRUPT_ENABLE).unwrap()),
        (0, 0, 0)
    );
    // Constants are locked while something is in flight.
    fill(device);
    device.queue(&[header(0, 1, 1), vec![1; 16]].concat(), true, 100);
    let result = device.write(KEY, 1);
    refused(device, result, KEY, LOCKED);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn epochs_are_never_0_again() {
    let mut bank = bank(&RESIDUE_BANK_60, 1);
    for epoch in 1..5 {
        bank.write(CONTROL, if epoch % 2 == 0 { FLUSH } else { WIPE | FLUSH }).unwrap();
        assert_eq!(bank.read(EPOCH).unwrap(), epoch);
    }
    // All 65536, without stalls.
    let mut bank = Simulated::new(&RESIDUE_BANK_60).unwrap();
    (0..65535).for_each(|_| bank.write(CONTROL, FLUSH).unwrap());
    assert_eq!(bank.read(EPOCH).unwrap(), 65535);
    bank.write(CONTROL, FLUSH).unwrap();
    assert_eq!(bank.read(EPOCH).unwrap(), 1);
}

/// The values for these bytes are those of zlib.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_key_check_is_the_crc_of_what_was_written() {
    let mut device = Simulated::under_pressure(&MESA_64, 2).unwrap();
    let mut check = |address: u32, value: u32| {
        device.write(address, value).unwrap();
        device.read(KEY_CHECK).unwrap()
    };
    assert_eq!(check(INDEX, 5), 0);
    let [first, second] = [*b"1234", *b"5678"].map(u32::from_le_bytes);
    // Each region starts a new checksum.
    for region in [0, 3, 14] {
        let address = KEY + 0x800 * region;
        check(address, first);
        assert_eq!(check(address + 4, second), 0x9ae0_daaf, "crc32(b\"12345678\")");
        assert_ne!(check(address + 4, second), 0x9ae0_daaf);
    }
    assert_eq!(check(KEY, 0), 0x2144_df1c, "crc32(bytes(4))");
    assert_eq!(check(CONTROL, FLUSH), 0x2144_df1c);
    check(KEY, 1);
    assert_eq!(check(CONTROL, WIPE), 0);
    fill(&mut device);
    assert_eq!(device.read(KEY_CHECK).unwrap(), 0);
    // The first word of another key, but not the first of its region.
    device.write(KEY + 4, 0).unwrap();
    assert_eq!(device.read(KEY_CHECK).unwrap(), 0x2144_df1c);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn interrupts_are_raised_and_cleared() {
    let mut bank = Simulated::new(&RESIDUE_BANK_60).unwrap();
    bank.write(CONTROL, READY).unwrap();
    let [input, output] = packet(4, 0, 1, &[1, 2]);
    // Causes: 1 an error, 2 an answer, 4 nothing in flight.
    let mut run = |enabled: u32| {
        bank.write(INTERRUPT_ENABLE, enabled).unwrap();
        bank.queue(&input, true, 0);
        let raised_before = bank.interrupt();
        assert_eq!(bank.drain(200), std::slice::from_ref(&output));
        let raised = bank.interrupt();
        let causes = bank.read(INTERRUPT).unwrap();
        bank.write(INTERRUPT, causes).unwrap();
        assert_eq!(bank.read(INTERRUPT).unwrap(), 0);
        (raised_before, raised, bank.interrupt(), causes)
    };
    assert_eq!(run(0), (false, false, false, 6));
    assert_eq!(run(2), (false, true, false, 6));
    assert_eq!(run(4), (false, true, false, 6));
    assert_eq!(run(1), (false, false, false, 6));
    bank.read(0x34).unwrap_err();
    assert!(bank.interrupt());
    assert_eq!(bank.read(INTERRUPT).unwrap(), 1);
    // Clearing the others leaves it.
    bank.write(INTERRUPT, 6).unwrap();
    assert!(bank.interrupt());
    bank.write(INTERRUPT, 1).unwrap();
    assert!(!bank.interrupt());
    // The cause in ERROR is separate.
    assert_eq!(bank.read(ERROR).unwrap(), UNKNOWN);
}

/// The channels into a device: valid, ready, and data.
const CHANNELS: [(&str, &str, &[&str]); 4] = [
    ("s_axis_tvalid_i", "s_axis_tready_o", &["s_axis_tdata_i", "s_axis_tlast_i"]),
    ("axil_awvalid_i", "axil_awready_o", &["axil_awaddr_i"]),
    ("axil_wvalid_i", "axil_wready_o", &["axil_wdata_i", "axil_wstrb_i"]),
    ("axil_arvalid_i", "axil_arready_o", &["axil_araddr_i"]),
];

/// Random data to offer, sometimes flushes and packets of the current epoch.
fn offered(random: &mut Random, port: &str, width: u32) -> Vec<u64> {
    match port {
        "axil_awaddr_i" => vec![[0x10, 0x10, 0x20, 0x1_0000][random.below(4) as usize]],
        "axil_wstrb_i" => vec![0xf],
        "axil_wdata_i" => vec![[1, 1, 1, 2][random.below(4) as usize]],
        "s_axis_tdata_i" if random.below(2) == 0 => {
            let mut limbs = random.bits(width as usize);
            limbs[0] = limbs[0] & 0x3_0000 | 0x4548;
            limbs
        }
        _ => random.bits(width as usize),
    }
}

/// No output depends on an input within the cycle in any state, least of all `tready`.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_output_follows_an_input_within_the_cycle() {
    for design in TOPS {
        let mut model = design.model();
        let mut random = Random::new(6);
        model.reset();
        let ports = |direction: Direction| design.ports().iter().filter(move |port| port.direction == direction);
        let inputs: Vec<_> = ports(Direction::Input).filter(|port| port.name != "clk_i").collect();
        for _ in 0..2000 {
            // Data on offer stays until it is accepted.
            for (valid, _, fields) in CHANNELS {
                if !model.bit(valid) {
                    model.set(valid, random.below(2) == 0);
                    for field in fields {
                        let bits = offered(&mut random, field, model.width(field));
                        model.set_limbs(field, &bits);
                    }
                }
            }
            for ready in ["m_axis_tready_i", "axil_bready_i", "axil_rready_i"] {
                model.set(ready, random.below(2) == 0);
            }
            model.settle();
            let outputs: Vec<_> = ports(Direction::Output).map(|port| model.get(port.name)).collect();
            for port in &inputs {
                let before = model.get(port.name);
                model.set_limbs(port.name, &random.bits(port.width as usize));
                model.settle();
                for (output, value) in ports(Direction::Output).zip(&outputs) {
                    let now = model.get(output.name);
                    assert_eq!(&now, value, "{}: {} follows {}", design.name(), output.name, port.name);
                }
                model.set_limbs(port.name, &before);
            }
            model.settle();
            let taken = CHANNELS.map(|(valid, ready, _)| model.bit(valid) && model.bit(ready));
            model.edge();
            for ((valid, ..), taken) in CHANNELS.into_iter().zip(taken) {
                if taken {
                    model.set(valid, false);
                }
            }
        }
    }
}
