//! `rtl/lib`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("stream_widen_8x3", "stream_widen").parameter("Width", 8).parameter("Beats", 3),
        Design::new("stream_widen_64x8", "stream_widen").parameter("Width", 64).parameter("Beats", 8),
        Design::new("stream_narrow_8x3", "stream_narrow").parameter("Width", 8).parameter("Beats", 3),
        Design::new("stream_narrow_64x8", "stream_narrow").parameter("Width", 64).parameter("Beats", 8),
        Design::new("stream_widen_gapless_8x3", "stream_widen")
            .parameter("Width", 8)
            .parameter("Beats", 3)
            .parameter("Gapless", 1),
        Design::new("stream_widen_gapless_64x2", "stream_widen")
            .parameter("Width", 64)
            .parameter("Beats", 2)
            .parameter("Gapless", 1),
        Design::new("stream_narrow_gapless_8x3", "stream_narrow")
            .parameter("Width", 8)
            .parameter("Beats", 3)
            .parameter("Gapless", 1),
        Design::new("stream_narrow_gapless_64x2", "stream_narrow")
            .parameter("Width", 64)
            .parameter("Beats", 2)
            .parameter("Gapless", 1),
        Design::new("packet_keep_32x3", "packet_keep").parameter("StreamBits", 32).parameter("Beats", 3),
        Design::new("packet_keep_64x1", "packet_keep").parameter("StreamBits", 64).parameter("Beats", 1),
        Design::new("packet_keep_128x2", "packet_keep").parameter("StreamBits", 128).parameter("Beats", 2),
        Design::new("stream_skid_72", "stream_skid").parameter("Width", 72),
        Design::new("stream_fifo_16x2", "stream_fifo").parameter("Width", 16).parameter("Depth", 2),
        Design::new("stream_fifo_16x5", "stream_fifo").parameter("Width", 16).parameter("Depth", 5),
        Design::new("stream_fork_1", "stream_fork").parameter("Takers", 1),
        Design::new("stream_fork_3", "stream_fork").parameter("Takers", 3),
        Design::new("stream_join_3", "stream_join").parameter("Sources", 3),
        Design::new("reset_sync", "reset_sync"),
        Design::new("bit_sync_3", "bit_sync").parameter("Stages", 3).parameter("Value", 1),
        Design::new("config_register_70", "config_register").parameter("Bits", 70).parameter("IndexBits", 3),
        Design::new("axil_port_8", "axil_port").parameter("AddressBits", 8),
    ]
}
