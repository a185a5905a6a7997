//! `rtl/lib`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("stream_register_8", "stream_register").parameter("Width", 8),
        Design::new("stream_register_100", "stream_register").parameter("Width", 100),
    ]
}
