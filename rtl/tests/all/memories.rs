//! The memories of `rtl/lib` and their contract: a word follows a cycle after its request and stays
//! until the next; wiping proceeds word by word; parity.

use hearith_rtl::{RAM_1R1W_12X6, RAM_1R1W_72X16, RAM_1R1W_FAULT, RAM_2RW_12X6, RAM_2RW_40X16, ROM_16X12};
use hearith_verilated::bench::Random;
use hearith_verilated::{Design, Model};

/// Cycles until the memory is ready. It must report no error during that time.
fn wait(model: &mut Model) -> u64 {
    let mut cycles = 0;
    model.settle();
    while !model.bit("ready_o") {
        assert_eq!(model.get("error_o"), [0]);
        model.clock();
        model.settle();
        cycles += 1;
        assert!(cycles < 1000);
    }
    cycles
}

fn zeros(width: usize) -> Vec<u64> {
    vec![0; width.div_ceil(64)]
}

/// Random writes and reads compared with a model in Rust. `wiped` states whether words are 0
/// initially and after `wipe_i`.
fn one_write_one_read(design: &'static Design, width: usize, depth: u64, wiped: bool) {
    let (mut model, mut random) = (design.model(), Random::new(1));
    model.reset();
    let wipe = if wiped { depth + 1 } else { 0 };
    assert_eq!(wait(&mut model), wipe);
    let mut words: Vec<Option<Vec<u64>>> = vec![wiped.then(|| zeros(width)); depth as usize];
    let mut shown: Option<Vec<u64>> = wiped.then(|| zeros(width));
    for round in 0..4000 {
        if round % 500 == 499 {
            model.set("wipe_i", true);
            model.set("write_i", false);
            model.set("read_i", false);
            model.clock();
            model.set("wipe_i", false);
            // Accesses during the wipe have no effect.
            model.set("write_i", true);
            model.set("read_i", true);
            model.set_limbs("write_data_i", &random.bits(width));
            let cycles = wait(&mut model);
            assert_eq!(cycles, wipe);
            if wiped {
                words.fill(Some(zeros(width)));
                shown = Some(zeros(width));
            } else {
                shown = None;
            }
            model.set("write_i", false);
            model.set("read_i", false);
            model.settle();
        } else {
            let (write, read) = (random.below(2) == 1, random.below(2) == 1);
            let (into, from, data) = (random.below(depth), random.below(depth), random.bits(width));
            model.set("write_i", write);
            model.set("write_address_i", into);
            model.set_limbs("write_data_i", &data);
            model.set("read_i", read);
            model.set("read_address_i", from);
            model.clock();
            if read {
                // The result of reading a word while it is written is undefined.
                shown = if write && into == from { None } else { words[from as usize].clone() };
            }
            if write {
                words[into as usize] = Some(data);
            }
        }
        if let Some(shown) = &shown {
            assert_eq!(&model.get("read_data_o"), shown, "round {round}");
            assert!(!model.bit("error_o"));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_with_a_port_to_write_and_one_to_read() {
    one_write_one_read(&RAM_1R1W_12X6, 12, 6, true);
    one_write_one_read(&RAM_1R1W_72X16, 72, 16, false);
}

fn two_ports(design: &'static Design, width: usize, depth: u64, wiped: bool) {
    let (mut model, mut random) = (design.model(), Random::new(1));
    let bits = u64::from(design.ports().iter().find(|port| port.name == "address_i").expect("a port").width / 2);
    model.reset();
    let wipe = if wiped { depth + 1 } else { 0 };
    assert_eq!(wait(&mut model), wipe);
    let mut words = vec![wiped.then_some(0); depth as usize];
    let mut shown = [wiped.then_some(0); 2];
    for round in 0..4000 {
        if round % 500 == 499 {
            model.set("enable_i", 0);
            model.set("wipe_i", true);
            model.clock();
            model.set("wipe_i", false);
            // Accesses during the wipe have no effect.
            model.set("enable_i", 3);
            model.set("write_i", random.below(4));
            assert_eq!(wait(&mut model), wipe);
            if wiped {
                words.fill(Some(0));
                shown = [Some(0); 2];
            }
            model.set("enable_i", 0);
            model.settle();
        } else {
            let [enable, write] = [random.below(4), random.below(4)];
            let mut address = [random.below(depth), random.below(depth)];
            if enable & write == 3 && address[0] == address[1] {
                address[1] = (address[1] + 1) % depth;
            }
            let data = [random.bits(width)[0], random.bits(width)[0]];
            let both = u128::from(data[1]) << width | u128::from(data[0]);
            model.set("enable_i", enable);
            model.set("write_i", write);
            model.set("address_i", address[1] << bits | address[0]);
            model.set("write_data_i", [both as u64, (both >> 64) as u64]);
            model.clock();
            let writes = [0, 1].map(|port| (enable & write) >> port & 1 == 1);
            for port in [0, 1] {
                if enable >> port & 1 == 1 && !writes[port] {
                    let disturbed = writes[1 - port] && address[0] == address[1];
                    shown[port] = if disturbed { None } else { words[address[port] as usize] };
                }
            }
            for port in [0, 1] {
                if writes[port] {
                    words[address[port] as usize] = Some(data[port]);
                }
            }
        }
        let both = model.get("read_data_o").iter().rev().fold(0_u128, |all, &limb| all << 64 | u128::from(limb));
        for port in [0, 1] {
            if let Some(shown) = shown[port] {
                assert_eq!((both >> (width * port)) as u64 & ((1 << width) - 1), shown, "round {round}");
                assert_eq!(model.get_u64("error_o") >> port & 1, 0);
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_with_two_ports_for_both() {
    two_ports(&RAM_2RW_12X6, 12, 6, true);
    two_ports(&RAM_2RW_40X16, 40, 16, false);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn constant_words() {
    let (mut model, mut random) = (ROM_16X12.model(), Random::new(1));
    let mut shown = None;
    for _ in 0..500 {
        let (read, address) = (random.below(2) == 1, random.below(12));
        model.set("read_i", read);
        model.set("read_address_i", address);
        model.clock();
        if read {
            shown = Some((17 * address * address + 3 * address + 5) % (1 << 16));
        }
        if let Some(shown) = shown {
            assert_eq!(model.get_u64("read_data_o"), shown);
            assert!(!model.bit("error_o"));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn parity_shows_a_flipped_bit() {
    let (mut model, mut random) = (RAM_1R1W_FAULT.model(), Random::new(2));
    model.reset();
    wait(&mut model);
    for bit in 0..9 {
        let word = random.below(256);
        model.set("write_address_i", 3);
        model.set("write_data_i", word);
        model.set("write_i", true);
        model.clock();
        model.set("write_i", false);
        model.set("read_address_i", 3);
        model.set("read_i", true);
        model.clock();
        assert!(model.get_u64("read_data_o") == word && !model.bit("error_o"));
        // One flip is detected. A second flip restores the word.
        for flips in [1, 2] {
            model.set("flip_bit_i", bit);
            model.set("flip_i", true);
            model.set("read_i", false);
            model.clock();
            model.set("flip_i", false);
            model.set("read_i", true);
            model.clock();
            assert_eq!(model.bit("error_o"), flips == 1, "bit {bit}");
            assert_eq!(model.get_u64("read_data_o"), if flips == 1 { word ^ 1 << bit & 0xff } else { word });
        }
    }
}
