//! `rtl/blocks`.

use hearith_verilated::build::{Design, coverage};

/// A module for numbers of `blocks` blocks of `bits` bits.
fn sized(name: &str, top: &str, bits: u32, blocks: u32) -> Design {
    Design::new(name, top).parameter("Bits", bits).parameter("Blocks", blocks)
}

fn lanes(name: &str, top: &str, [bits, blocks, lanes]: [u32; 3]) -> Design {
    sized(name, top, bits, blocks).parameter("Lanes", lanes)
}

pub fn designs() -> Vec<Design> {
    // Blocks of 4096 bits. Coverage records a point for every bit of every memory. With coverage
    // such designs are therefore small, and their tests are left out.
    let wide = if coverage() { 8 } else { 128 };
    vec![
        Design::new("block_add_2", "block_add").parameter("Bits", 2),
        Design::new("block_sub_2", "block_add").parameter("Bits", 2).parameter("Sub", 1),
        Design::new("block_add_32", "block_add"),
        Design::new("block_compare_2", "block_compare").parameter("Bits", 2),
        Design::new("block_shift_4", "block_shift").parameter("Bits", 4),
        Design::new("block_shift_left_4", "block_shift").parameter("Bits", 4).parameter("Left", 1),
        Design::new("block_select_4", "block_select").parameter("Bits", 4),
        sized("block_repeat_8", "block_repeat", 8, 3),
        sized("block_accumulate_4", "block_accumulate", 4, 3),
        lanes("block_mul_2", "block_mul", [2, 3, 1]),
        lanes("block_mul_low_8", "block_mul", [8, 8, 2]).parameter("Low", 1),
        lanes("block_mul_4096", "block_mul", [32, wide, 1]),
        lanes("block_mul_4096_parallel", "block_mul", [32, wide, 4]),
        lanes("block_square_2", "block_square", [2, 4, 2]),
        lanes("block_square_4096", "block_square", [32, wide, 1]),
        sized("block_karatsuba_2", "block_karatsuba", 2, 3),
        sized("block_karatsuba_4096", "block_karatsuba", 32, wide),
        lanes("block_reduce_2", "block_reduce", [2, 2, 1]),
        lanes("block_reduce_4096", "block_reduce", [32, wide, 1]),
        lanes("block_reduce_4096_parallel", "block_reduce", [32, wide, 4]),
        lanes("block_divide_4", "block_divide", [4, 4, 2]),
        lanes("block_divide_4096", "block_divide", [32, wide, 1]),
        lanes("block_power_4", "block_power", [4, 4, 1]),
        lanes("block_power_4096_parallel", "block_power", [32, wide, 4]),
        lanes("block_encryptor_64", "block_encryptor", [32, 2, 1]),
        lanes("block_encryptor_512", "block_encryptor", [32, 16, 4]),
        Design::new("dual_encryptor_64", "dual_encryptor").parameter("N", 64),
        Design::new("dual_encryptor_comb_64", "dual_encryptor")
            .parameter("N", 64)
            .parameter("Teeth", 3)
            .parameter("Exponent", 40),
    ]
}
