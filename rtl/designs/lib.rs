//! `rtl/lib`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("stream_widen_8x3", "stream_widen").parameter("Width", 8).parameter("Beats", 3),
        Design::new("stream_widen_64x8", "stream_widen").parameter("Width", 64).parameter("Beats", 8),
        Design::new("stream_narrow_8x3", "stream_narrow").parameter("Width", 8).parameter("Beats", 3),
        Design::new("stream_narrow_64x8", "stream_narrow").parameter("Width", 64).parameter("Beats", 8),
        Design::new("stream_fork", "stream_fork"),
        Design::new("config_register_70", "config_register").parameter("Bits", 70).parameter("IndexBits", 3),
        Design::new("axil_port_8", "axil_port").parameter("AddressBits", 8),
    ]
}
