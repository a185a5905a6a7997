//! Parameters out of range are refused during the elaboration of a module, with the module's own
//! message. Parameters at the limits of their ranges are accepted.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The directories of modules.
const ROOMS: [&str; 10] = ["lib", "arith", "blocks", "mesa", "coproc", "links", "election", "ntt", "rns", "dghv"];

/// Parameter sets that must be refused: the module, the settings, and a part of the message after
/// the module's name. If a submodule reports first, its name precedes the message, with a colon.
const BAD: &[(&str, &[&str], &str)] = &[
    // rtl/lib
    ("axil_monitor", &["AddressBits=0"], "AddressBits must be at least 1"),
    ("axil_monitor", &["Pending=0"], "Pending must be at least 1"),
    ("bit_sync", &["Stages=1"], "Stages must be at least 2"),
    ("bit_sync", &["Value=2"], "Value is 0 or 1"),
    ("config_register", &["Bits=0"], "Bits must be at least 1"),
    ("config_register", &["Bits=65", "IndexBits=1"], "IndexBits cannot tell the words apart"),
    ("packet_in", &["StreamBits=48"], "StreamBits must be a multiple of 32"),
    ("packet_in", &["Gapless=2"], "Gapless is 0 or 1"),
    ("packet_in", &["Beats=1", "Gapless=2"], "Gapless is 0 or 1"),
    ("packet_in", &["Beats=0"], "Beats must be at least 1"),
    ("packet_tkeep_filter", &["StreamBits=48"], "StreamBits must be a multiple of 32"),
    ("packet_tkeep_filter", &["Beats=0"], "Beats must be at least 1"),
    ("packet_out", &["StreamBits=48"], "StreamBits must be a multiple of 32"),
    ("packet_out", &["Gapless=2"], "Gapless is 0 or 1"),
    ("packet_out", &["Beats=0"], "Beats must be at least 1"),
    ("pulse_sync", &["Stages=1"], "Stages must be at least 2"),
    ("ram_1r1w", &["Width=0"], "Width must be at least 1"),
    ("ram_1r1w", &["Depth=1"], "Depth must be at least 2"),
    ("ram_1r1w", &["Parity=2"], "Parity is 0 or 1"),
    ("ram_1r1w", &["Wiped=2"], "Wiped is 0 or 1"),
    ("ram_1r1w", &["AddressBits=8"], "AddressBits follows from Depth"),
    ("ram_2rw", &["Width=0"], "Width must be at least 1"),
    ("ram_2rw", &["Depth=1"], "Depth must be at least 2"),
    ("ram_2rw", &["Parity=2"], "Parity is 0 or 1"),
    ("ram_2rw", &["Wiped=2"], "Wiped is 0 or 1"),
    ("ram_2rw", &["AddressBits=8"], "AddressBits follows from Depth"),
    ("ram_wipe", &["Depth=1"], "Depth must be at least 2"),
    ("ram_wipe", &["Wiped=2"], "Wiped is 0 or 1"),
    ("ram_wipe", &["AddressBits=8"], "AddressBits follows from Depth"),
    ("reset_sync", &["Stages=1"], "Stages must be at least 2"),
    ("rom", &["Width=0"], "Width must be at least 1"),
    ("rom", &["Depth=1"], "Depth must be at least 2"),
    ("rom", &["Parity=2"], "Parity is 0 or 1"),
    ("rom", &["AddressBits=7"], "AddressBits follows from Depth"),
    ("stream_arbiter", &["Sources=1"], "Sources must be at least 2"),
    ("stream_arbiter", &["Width=0"], "Width must be at least 1"),
    ("stream_arbiter", &["IndexBits=3"], "IndexBits follows from Sources"),
    ("stream_cdc", &["Width=0"], "Width must be at least 1"),
    ("stream_cdc", &["Depth=2"], "Depth must be a power of two, at least 4"),
    ("stream_cdc", &["Depth=12"], "Depth must be a power of two, at least 4"),
    ("stream_cdc", &["Stages=1"], "Stages must be at least 2"),
    ("stream_demux", &["Takers=1"], "Takers must be at least 2"),
    ("stream_demux", &["SelectBits=3"], "SelectBits follows from Takers"),
    ("stream_fifo", &["Width=0"], "Width must be at least 1"),
    ("stream_fifo", &["Depth=1"], "Depth must be at least 2"),
    ("stream_fifo", &["Memory=2"], "Memory is 0 or 1"),
    ("stream_fifo", &["Wiped=2"], "Wiped is 0 or 1"),
    ("stream_fork", &["Takers=0"], "Takers must be at least 1"),
    ("stream_join", &["Sources=0"], "Sources must be at least 1"),
    ("stream_monitor", &["Width=0"], "Width must be at least 1"),
    ("stream_monitor", &["QuietValid=2"], "QuietValid is 0 or 1"),
    ("stream_monitor", &["QuietReady=2"], "QuietReady is 0 or 1"),
    ("aes_ctr", &["Rounds=3"], "Rounds is 1, 2, 5 or 10"),
    ("axi4_bursts", &["Width=48"], "Width is a power of two, 8 to 1024"),
    ("axi4_bursts", &["Beats=3"], "Beats is a power of two up to 256"),
    ("axi4_bursts", &["Width=1024", "Beats=64"], "Beats words are more than 4 KiB"),
    ("axi4_bursts", &["AddrWidth=57"], "AddrWidth is 9 to 56"),
    ("axi4_bursts", &["CountWidth=33"], "CountWidth is 1 to 32"),
    ("axi4_monitor", &["Trusting=2"], "Trusting is 0 or 1"),
    ("axi4_reader", &["Bursts=1"], "Bursts must be at least 2"),
    ("axi4_reader", &["Depth=8"], "Depth must be at least Beats and 2"),
    ("axi4_watch", &["Timeout=1"], "Timeout must be at least 2"),
    ("axi4_writer", &["Bursts=1"], "Bursts must be at least 2"),
    ("axi4_writer", &["Depth=8"], "Depth must be at least Beats and 2"),
    ("dghv", &["Rounds=3"], "aes_ctr: Rounds is 1, 2, 5 or 10"),
    ("dghv", &["MemoryWords=0"], "MemoryWords is 1 to 2^AddrWidth"),
    ("dghv", &["MemoryWords=65537", "AddrWidth=16"], "MemoryWords is 1 to 2^AddrWidth"),
    ("dghv", &["MemoryWords=256", "AddrWidth=8"], "axi4_bursts: AddrWidth is 9 to 56"),
    ("dghv", &["AddrWidth=33"], "dghv_encryptor: AddrWidth is 1 to 32"),
    ("dghv", &["Beats=3"], "axi4_bursts: Beats is a power of two up to 256"),
    ("dghv", &["Bursts=1"], "axi4_reader: Bursts must be at least 2"),
    ("dghv", &["Depth=8"], "axi4_writer: Depth must be at least Beats and 2"),
    ("dghv", &["Timeout=1"], "axi4_watch: Timeout must be at least 2"),
    ("dghv", &["StreamBits=48"], "packet_in: StreamBits must be a multiple of 32"),
    ("dghv", &["LongWords=16777216"], "transform_product: LongWords is a length"),
    ("dghv_control", &["AddrWidth=33"], "AddrWidth is at most 32"),
    ("dghv_control", &["CountWidth=3"], "CountWidth is at least 4"),
    ("element_rows", &["RowWidth=63"], "RowWidth is 1 to 62"),
    ("element_rows", &["CountWidth=63"], "CountWidth is 1 to 62"),
    ("memory_port", &["Beats=512"], "axi4_bursts: Beats is a power of two up to 256"),
    ("stream_mux", &["Sources=1"], "Sources must be at least 2"),
    ("stream_mux", &["Width=0"], "Width must be at least 1"),
    ("stream_mux", &["SelectBits=3"], "SelectBits follows from Sources"),
    ("stream_narrow", &["Width=0"], "Width must be at least 1"),
    ("stream_narrow", &["Beats=1"], "Beats must be at least 2"),
    ("stream_narrow", &["Gapless=2"], "Gapless is 0 or 1"),
    ("stream_skid", &["Width=0"], "Width must be at least 1"),
    ("stream_skid", &["Wiped=2"], "Wiped is 0 or 1"),
    ("stream_stage", &["Width=0"], "Width must be at least 1"),
    ("stream_stage", &["Present=2"], "Present is 0 or 1"),
    ("stream_round_robin", &["Takers=0"], "Takers must be at least 1"),
    ("stream_widen", &["Width=0"], "Width must be at least 1"),
    ("stream_widen", &["Beats=1"], "Beats must be at least 2"),
    ("stream_widen", &["Gapless=2"], "Gapless is 0 or 1"),
    ("key_slot", &["RegionWords=320'd513"], "a region has at most 512 words"),
    ("key_slot", &["RegionWords=320'd4", "Optional=32'd2"], "an optional region has words"),
    ("accelerator_registers", &["CountBits=0"], "CountBits is 1 to 32"),
    ("accelerator_registers", &["CountBits=33"], "CountBits is 1 to 32"),
    ("accelerator_registers", &["Branches=256"], "Branches is 1 to 255"),
    ("accelerator_registers", &["Table=2"], "Table is 0 or 1"),
    ("accelerator_shell", &["StreamBits=48"], "packet_in: StreamBits must be a multiple of 32"),
    ("accelerator_shell", &["InBits=0"], "packet_in: Beats must be at least 1"),
    ("accelerator_shell", &["OutBits=0"], "packet_out: Beats must be at least 1"),
    ("accelerator_shell", &["CountBits=33"], "accelerator_registers: CountBits is 1 to 32"),
    ("accelerator_shell", &["InBits=64", "Gapless=2"], "packet_in: Gapless is 0 or 1"),
    ("accelerator_shell", &["Tags=1"], "stream_fifo: Depth must be at least 2"),
    ("accelerator_shell", &["Table=2"], "accelerator_registers: Table is 0 or 1"),
    ("accelerator_shell", &["RegionWords=320'd513"], "key_slot: a region has at most 512 words"),
    ("accelerator_shell", &["Optional=32'd1"], "key_slot: an optional region has words"),
    ("accelerator_shell", &["Branches=0"], "accelerator_registers: Branches is 1 to 255"),
    // rtl/links
    ("link", &["Words=1"], "Words must be from 2 to 65535"),
    ("link", &["Words=65536"], "Words must be from 2 to 65535"),
    ("link", &["Timeout=15"], "Timeout must be at least 16"),
    ("link", &["Retries=0"], "Retries must be at least 1"),
    ("spi_controller", &["SckHalfPeriod=2"], "SckHalfPeriod must be at least 3"),
    ("spi_controller_link", &["Burst=0"], "Burst must be at least 1"),
    ("spi_peripheral", &["Stages=1"], "bit_sync: Stages must be at least 2"),
    ("spi_controller_link", &["SckHalfPeriod=2"], "spi_controller: SckHalfPeriod must be at least 3"),
    ("spi_controller_link", &["Words=1"], "link: Words must be from 2 to 65535"),
    ("spi_controller_link", &["Timeout=15"], "link: Timeout must be at least 16"),
    ("spi_controller_link", &["Retries=0"], "link: Retries must be at least 1"),
    ("spi_peripheral_link", &["Words=1"], "link: Words must be from 2 to 65535"),
    ("spi_peripheral_link", &["Timeout=15"], "link: Timeout must be at least 16"),
    ("spi_peripheral_link", &["Retries=0"], "link: Retries must be at least 1"),
    ("uart_link", &["BaudDivisor=7"], "uart_tx: BaudDivisor must be at least 8"),
    ("uart_link", &["Words=1"], "link: Words must be from 2 to 65535"),
    ("uart_link", &["Timeout=15"], "link: Timeout must be at least 16"),
    ("uart_link", &["Retries=0"], "link: Retries must be at least 1"),
    ("uart_rx", &["BaudDivisor=7"], "BaudDivisor must be at least 8"),
    ("uart_tx", &["BaudDivisor=7"], "BaudDivisor must be at least 8"),
    // rtl/election
    ("encryptor_board", &["N=544"], "N must be a multiple of 64"),
    ("encryptor_board", &["N=0"], "N must be a multiple of 64"),
    ("encryptor_board", &["ABits=32"], "ABits must be a multiple of 32, at least 64"),
    ("encryptor_board", &["Digit=40"], "digit_mac: Tile must divide Width, Width must divide Digit"),
    ("encryptor_board", &["Voters=0"], "vote_processor: Voters must be from 1 to 2^24"),
    ("encryptor_board", &["BaudDivisor=7"], "uart_tx: BaudDivisor must be at least 8"),
    ("encryptor_board", &["SckHalfPeriod=2"], "spi_controller: SckHalfPeriod must be at least 3"),
    ("encryptor_board", &["FlashSckHalfPeriod=2"], "spi_controller: SckHalfPeriod must be at least 3"),
    ("encryptor_board", &["FlashTimeout=0"], "spi_flash: FlashTimeout must be at least 1"),
    ("encryptor_board", &["Timeout=15"], "link: Timeout must be at least 16"),
    ("encryptor_board", &["Retries=0"], "link: Retries must be at least 1"),
    ("encryptor_board", &["Samples=40"], "noise_source_port: Samples must be a multiple of 32, and not 0"),
    ("encryptor_board", &["NoiseTimeout=1"], "noise_source_port: NoiseTimeout must be at least 2"),
    ("encryptor_board", &["Contests=11"], "Contests must be from 1 to 10, Candidates to 9"),
    ("encryptor_board", &["N=64", "Candidates=10"], "Contests must be from 1 to 10, Candidates to 9"),
    // A ballot uses 11 of the 24 address bits, and this log fills no sector.
    (
        "encryptor_board",
        &["N=4096", "ABits=1024", "Slots=16384"],
        "vote_log: Slots must fill sectors, and have 24 bits",
    ),
    ("encryptor_board", &["Slots=24"], "vote_log: Slots must fill sectors"),
    ("health_tests", &["Repetition=1"], "Repetition must be at least 2"),
    ("health_tests", &["Proportion=1"], "Proportion must be from 2 to Window"),
    ("health_tests", &["Proportion=1025"], "Proportion must be from 2 to Window"),
    ("mark_prover", &["N=0"], "N must be a multiple of 64, ABits of 32, at least 64"),
    ("mark_prover", &["N=96"], "N must be a multiple of 64, ABits of 32, at least 64"),
    ("mark_prover", &["ABits=72"], "N must be a multiple of 64, ABits of 32, at least 64"),
    ("mark_prover", &["ABits=32"], "N must be a multiple of 64, ABits of 32, at least 64"),
    ("mark_prover", &["More=0"], "More must be from 1 to 31"),
    ("mark_prover", &["More=32"], "More must be from 1 to 31"),
    ("noise_source_port", &["Samples=0"], "Samples must be a multiple of 32, and not 0"),
    ("noise_source_port", &["Samples=1000"], "Samples must be a multiple of 32, and not 0"),
    ("noise_source_port", &["StartUp=0"], "StartUp must be at least 1"),
    ("noise_source_port", &["NoiseTimeout=1"], "NoiseTimeout must be at least 2"),
    ("piece_hash", &["Bytes=3"], "Bytes must be at least 4"),
    ("proof_challenge", &["N=0"], "N must be a multiple of 64"),
    ("proof_challenge", &["N=96"], "N must be a multiple of 64"),
    ("share_challenge", &["N=0"], "N must be a multiple of 64"),
    ("share_challenge", &["N=96"], "N must be a multiple of 64"),
    ("share_prover", &["N=0"], "N must be a multiple of 64"),
    ("share_prover", &["N=96"], "N must be a multiple of 64"),
    ("share_prover", &["N=128", "ShareBits=127"], "ShareBits must be at least N"),
    ("spi_flash", &["FlashTimeout=0"], "FlashTimeout must be at least 1"),
    ("spi_flash", &["Longest=0"], "Longest must be from 1 to 2^22"),
    ("spi_flash", &["SckHalfPeriod=2"], "spi_controller: SckHalfPeriod must be at least 3"),
    ("tally_board", &["N=544"], "N must be a multiple of 64"),
    ("tally_board", &["N=0"], "N must be a multiple of 64"),
    ("tally_board", &["N=128", "ShareBits=127"], "ShareBits must be at least N"),
    ("tally_board", &["EBits=0"], "EBits must be at least 1"),
    ("tally_board", &["Digit=40"], "digit_mac: Tile must divide Width, Width must divide Digit"),
    ("tally_board", &["BaudDivisor=7"], "uart_tx: BaudDivisor must be at least 8"),
    ("tally_board", &["Timeout=15"], "link: Timeout must be at least 16"),
    ("tally_board", &["Retries=0"], "link: Retries must be at least 1"),
    ("tally_board", &["Samples=40"], "noise_source_port: Samples must be a multiple of 32, and not 0"),
    ("tally_board", &["NoiseTimeout=1"], "noise_source_port: NoiseTimeout must be at least 2"),
    ("tally_board", &["Contests=11"], "Contests must be from 1 to 10"),
    ("tally_board", &["Candidates=1"], "Candidates must be from 2 to 9"),
    ("tally_board", &["Candidates=10"], "Candidates must be from 2 to 9"),
    ("tally_board", &["N=64", "Contests=8", "Candidates=9"], "Contests times Candidates must be at most 64"),
    ("tally_board", &["Slots=1"], "Slots must be at least 2"),
    ("vote_log", &["Attempts=0"], "Attempts must be at least 1"),
    ("vote_log", &["SckHalfPeriod=2"], "spi_controller: SckHalfPeriod must be at least 3"),
    ("vote_log", &["FlashTimeout=0"], "spi_flash: FlashTimeout must be at least 1"),
    ("vote_log", &["Body=0"], "Body must be at least 1"),
    ("vote_log", &["Body=63", "SlotLog=8"], "a slot must hold a record"),
    ("vote_log", &["Body=255", "SlotLog=10", "Slots=4"], "a slot must hold a record"),
    ("vote_log", &["Slots=1000"], "Slots must fill sectors"),
    ("vote_log", &["SlotLog=12", "Slots=8192"], "24 bits of address"),
    ("vote_processor", &["Voters=0"], "Voters must be from 1 to 2^24"),
    ("vote_processor", &["Contests=0"], "Contests must be from 1 to 256"),
    ("vote_processor", &["Contests=257"], "Contests must be from 1 to 256"),
    ("vote_processor", &["Candidates=65"], "Candidates must be from 1 to 64"),
    // rtl/arith
    ("adder_tree", &["Count=1"], "Count must be at least 2, Bits at least 1"),
    ("adder_tree", &["Bits=0"], "Count must be at least 2, Bits at least 1"),
    ("carry_resolve", &["B=15"], "B must be W to 2 W - 1"),
    ("carry_resolve", &["B=32"], "B must be W to 2 W - 1"),
    ("cond_sub", &["N=0"], "N and Limb must be at least 1"),
    ("cond_sub", &["Limb=0"], "N and Limb must be at least 1"),
    ("digit_mac", &["Width=120"], "Tile must divide Width, Width must divide Digit"),
    ("digit_mac", &["Digit=192"], "Tile must divide Width, Width must divide Digit"),
    ("digit_mac", &["Tile=4"], "Tile is too small for so many columns"),
    ("digit_register", &["W=0"], "W must be at least 1"),
    ("digit_tile", &["Bits=0"], "Bits must be at least 1"),
    ("div_exact", &["DBits=1"], "DBits and QBits must be at least 2, Minus 0 or 1, Word at least 4"),
    ("div_exact", &["QBits=1"], "DBits and QBits must be at least 2, Minus 0 or 1, Word at least 4"),
    ("div_exact", &["Minus=2"], "DBits and QBits must be at least 2, Minus 0 or 1, Word at least 4"),
    ("div_exact", &["Word=3"], "DBits and QBits must be at least 2, Minus 0 or 1, Word at least 4"),
    ("digit_select", &["Digits=33"], "an index of IndexBits must reach all digits"),
    ("div_restoring", &["XBits=560"], "XBits must be QBits to DBits + QBits"),
    ("div_restoring", &["XBits=2000"], "XBits must be QBits to DBits + QBits"),
    ("div_restoring", &["Limb=1"], "QBits and Limb at least 2"),
    ("dual_lane", &["N=15"], "N must be even and at least 16"),
    ("dual_lanes", &["N=15"], "dual_lane: N must be even and at least 16"),
    ("dual_lanes", &["Lanes=0"], "stream_round_robin: Takers must be at least 1"),
    ("dual_lanes", &["W=33"], "dual_row: W must be 4 to 32"),
    ("dual_lanes", &["V=17"], "dual_row: W must be 4 to 32, V at least W"),
    ("dual_lanes", &["D=5"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4"),
    ("dual_mul", &["H=17"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4, H at least W"),
    ("dual_mul", &["H=48", "W=3"], "dual_row: W must be 4 to 32"),
    ("dual_mul", &["H=48", "V=17"], "dual_row: W must be 4 to 32, V at least W"),
    ("dual_mul", &["H=48", "D=1"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4"),
    ("dual_row", &["Fold=0"], "Fold is 1 or 2"),
    ("dual_row", &["H=17"], "H at least W"),
    ("dual_row", &["W=3"], "W must be 4 to 32"),
    ("dual_row", &["V=15"], "V at least W"),
    ("dual_row", &["D=1"], "D 2 to 4"),
    ("dual_row", &["D=5"], "D 2 to 4"),
    ("limb_reader", &["Limb=0"], "Limb and Limbs must be at least 1"),
    ("limb_reader", &["Limbs=0"], "Limb and Limbs must be at least 1"),
    ("limb_sequencer", &["Steps=0"], "Steps must be at least 1"),
    ("mod_add", &["N=0"], "N and Limb must be at least 1"),
    ("mod_add", &["Limb=0"], "N and Limb must be at least 1"),
    ("mod_exp_ladder", &["N=16"], "mont_row: N must be at least W"),
    ("mod_exp_ladder", &["W=3"], "mont_row: W must be 4 to 32"),
    ("mod_exp_ladder", &["V=34"], "mont_row: V must be W to 2 W - 1"),
    ("mod_exp_ladder", &["D=1"], "mont_row: D must be 2 + 2 Near to 6"),
    ("mod_exp_ladder", &["Near=1"], "mont_row: D must be 2 + 2 Near to 6"),
    ("mod_exp_pair", &["N=1"], "digit_product: N must be at least 2"),
    ("mod_exp_pair", &["Digit=192"], "digit_mac: Tile must divide Width, Width must divide Digit"),
    ("mod_exp_pair", &["Width=120"], "digit_mac: Tile must divide Width, Width must divide Digit"),
    ("mod_exp_pair", &["Tile=4"], "digit_mac: Tile is too small for so many columns"),
    ("mont_mul_cios", &["N=16"], "mont_row: N must be at least W"),
    ("mont_mul_cios", &["W=33", "V=33"], "mont_row: W must be 4 to 32"),
    ("mont_mul_cios", &["V=16"], "mont_row: V must be W to 2 W - 1"),
    ("mont_mul_cios", &["D=7"], "mont_row: D must be 2 + 2 Near to 6"),
    ("mont_mul_cios", &["Near=2", "D=6"], "mont_row: Near must be 0 or 1"),
    ("mont_mul_cios", &["PerCycle=0"], "PerCycle must be so large that carries are resolved"),
    ("mont_mul_digit", &["N=1"], "digit_product: N must be at least 2"),
    ("mont_mul_digit", &["Digit=192"], "digit_mac: Tile must divide Width, Width must divide Digit"),
    ("mont_mul_digit", &["Width=120"], "digit_mac: Tile must divide Width, Width must divide Digit"),
    ("mont_mul_digit", &["Tile=4"], "digit_mac: Tile is too small for so many columns"),
    ("mod_exp_ladder", &["Bits=0"], "Bits must be at least 1, Exit 0 or 1"),
    ("mod_exp_ladder", &["Exit=2"], "Bits must be at least 1, Exit 0 or 1"),
    ("mont_mul_radix2", &["N=1"], "N must be at least 2"),
    ("mont_mul_radix2", &["XBits=0"], "XBits at least 1"),
    ("mont_mul_radix2", &["Word=3"], "Word at least 4"),
    ("mont_row", &["W=3"], "W must be 4 to 32"),
    ("mont_row", &["D=1"], "D must be 2 + 2 Near to 6"),
    ("mont_row", &["D=7"], "D must be 2 + 2 Near to 6"),
    ("mont_row", &["Near=2"], "Near must be 0 or 1"),
    ("mont_row", &["N=15"], "N must be at least W"),
    ("wide_add", &["N=0"], "N and Limb must be at least 1"),
    ("wide_add", &["Limb=0"], "limb_sequencer: Steps must be at least 1"),
    ("wide_add", &["Sub=2"], "Sub must be 0 or 1"),
    // rtl/blocks
    ("block_accumulate", &["Blocks=1"], "Blocks must be at least 2"),
    ("block_add", &["Sub=2"], "Sub is 0 or 1"),
    ("block_add", &["Bits=0"], "block_pair: Bits must be at least 1"),
    ("block_below", &["Blocks=1"], "Blocks must be at least 2"),
    ("block_columns", &["Lanes=3"], "Lanes is a power of two, Blocks a multiple of it, at least 2 Lanes"),
    ("block_columns", &["Blocks=6", "Lanes=4"], "Lanes is a power of two, Blocks a multiple of it, at least 2 Lanes"),
    ("block_columns", &["Blocks=4", "Lanes=4"], "Lanes is a power of two, Blocks a multiple of it, at least 2 Lanes"),
    ("block_columns", &["Low=2"], "Low and Square are 0 or 1, Bits at least 2"),
    ("block_compare", &["Bits=0"], "block_pair: Bits must be at least 1"),
    ("block_distribute", &["Takers=1"], "Takers must be at least 2"),
    ("block_divide", &["ShiftBits=5"], "ShiftBits follows from Blocks and Bits"),
    ("block_encryptor", &["Blocks=9", "Lanes=1"], "Blocks must be even"),
    ("block_encryptor", &["Blocks=4", "Lanes=4"], "block_columns: Lanes is a power of two"),
    ("block_encryptor", &["Blocks=12", "Lanes=3"], "block_columns: Lanes is a power of two"),
    ("block_encryptor", &["Bits=1", "Blocks=8"], "block_columns: Low and Square are 0 or 1, Bits at least 2"),
    ("block_karatsuba", &["Blocks=1"], "Bits and Blocks must be at least 2"),
    ("block_modmul", &["Lanes=3"], "block_columns: Lanes is a power of two"),
    ("block_mul", &["Lanes=3"], "block_columns: Lanes is a power of two"),
    ("block_pair", &["Bits=0"], "Bits must be at least 1"),
    ("block_power", &["Lanes=3"], "block_columns: Lanes is a power of two"),
    ("block_reduce", &["Lanes=3"], "block_columns: Lanes is a power of two"),
    ("block_repeat", &["Blocks=1"], "Blocks must be at least 2"),
    ("block_select", &["Bits=1"], "Bits must be at least 2, CountBits at least 1"),
    ("block_shift", &["Left=2"], "Left is 0 or 1"),
    ("block_shift", &["Bits=1"], "Bits must be at least 2, AmountBits at least 1"),
    ("block_square", &["Lanes=3"], "block_columns: Lanes is a power of two"),
    ("dual_encryptor", &["N=72"], "N must be a multiple of 32, at least 64"),
    ("dual_encryptor", &["N=64", "Exponent=0"], "Teeth is 0 to 8, Exponent at least 1"),
    ("dual_encryptor", &["N=64", "V=15"], "dual_row: W must be 4 to 32, V at least W"),
    ("dual_encryptor", &["N=64", "D=5"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4"),
    ("dual_encryptor", &["N=64", "Fold=3"], "dual_row: Fold is 1 or 2"),
    ("dual_encryptor", &["N=64", "Teeth=9"], "Teeth is 0 to 8, Exponent at least 1"),
    ("dual_mul", &["H=48", "Fold=3"], "dual_row: Fold is 1 or 2"),
    // rtl/mesa
    ("mesa", &["N=62"], "mesa_shell: N must be a multiple of 4"),
    ("mesa", &["N=130", "StreamBits=32"], "mesa_shell: N must be a multiple of 4"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=64"], "mesa_shell: StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=24"], "mesa_shell: StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa", &["N=64", "Stages=0", "StreamBits=32"], "Stages is 1 to N / 4"),
    ("mesa", &["N=64", "Stages=17", "StreamBits=32"], "Stages is 1 to N / 4"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "Exact=2"], "Exact is 0 or 1"),
    ("mesa", &["N=64", "Stages=15", "StreamBits=32"], "too many stages for the exponent"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "W=3"], "mont_row: W must be 4 to 32"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "V=34"], "mont_row: V must be W to 2 W - 1"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "D=7", "W=8", "V=8"], "mont_row: D must be 2 + 2 Near to 6"),
    // A quotient longer than the multiplier's scan would be truncated.
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "W=32", "V=32", "D=3"], "W (D + 1) must be at most 3 N / 2 + 1"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "W=32", "V=63"], "V must be less, or W (D + 2) a multiple of it"),
    ("mesa_branch", &["N=64", "Stages=1", "W=32", "V=63"], "V must be less, or W (D + 2) a multiple of it"),
    ("mesa", &["N=16384", "Stages=1"], "N in whole digits must be at most 16384"),
    ("mesa_branch", &["N=64", "Stages=1", "W=32", "V=32", "D=3"], "W (D + 1) must be at most 3 N / 2 + 1"),
    ("mesa_shell", &["N=62"], "N must be a multiple of 4, 64 to 16384"),
    ("mesa_shell", &["N=64"], "StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa_branch", &["N=64", "Stages=0"], "Stages is 1 to N / 4"),
    ("mesa_branch", &["N=64", "Stages=1", "Exact=2"], "Exact is 0 or 1"),
    ("mesa_branch", &["N=64", "Stages=15"], "too many stages for the exponent"),
    ("mesa_dual", &["N=64", "W=16", "StreamBits=32", "Lanes=0"], "stream_round_robin: Takers must be at least 1"),
    ("mesa_dual", &["N=64", "W=16", "StreamBits=64"], "mesa_shell: StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa_dual", &["N=62", "W=16", "StreamBits=32", "Lanes=1"], "mesa_shell: N must be a multiple of 4"),
    ("mesa_dual", &["N=64", "W=3", "StreamBits=32", "Lanes=1"], "dual_row: W must be 4 to 32"),
    ("mesa_dual", &["N=64", "V=256", "StreamBits=32", "Lanes=1"], "V is at most 255"),
    ("mesa_dual", &["N=64", "V=17", "StreamBits=32", "Lanes=1"], "dual_row: W must be 4 to 32, V at least W"),
    ("mesa_dual", &["N=64", "D=5", "StreamBits=32", "Lanes=1"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4"),
    ("mesa_dual_branch", &["N=64", "W=16", "Lanes=0"], "stream_round_robin: Takers must be at least 1"),
    ("mesa_mont_mul", &["N=64", "XBits=0"], "mont_mul_radix2: N must be at least 2, XBits at least 1"),
    // rtl/ntt
    ("block_multiplier", &["K=8", "Base=8", "Group=4"], "Group is a power of two, 2 to K / 4"),
    ("block_multiplier", &["K=16", "Group=3"], "Group is a power of two, 2 to K / 4"),
    ("block_rows", &["Half=1"], "Half and Width must be at least 2, WordBits at least Width"),
    ("block_rows", &["WordBits=47"], "Half and Width must be at least 2, WordBits at least Width"),
    ("convolution_parallel", &["K=8", "Base=16"], "Base is too large for the modulus"),
    ("delay_line", &["Width=0"], "Width must be at least 1"),
    ("folded_butterfly", &["Span=3"], "Span is a power of two"),
    ("folded_multiplier", &["Base=27"], "Base is too large for the modulus"),
    ("folded_flow_control", &["Latency=0"], "Log and Latency must be at least 1"),
    ("folded_rotator", &["Rank=0"], "Rank is more than Low, at most Low + log2(B)"),
    ("folded_rotator", &["Rank=6"], "Rank is more than Low, at most Low + log2(B)"),
    ("folded_rotator", &["Inverse=2"], "Inverse is 0 or 1"),
    ("folded_twiddle", &["High=1", "Low=1"], "2^(High+Low) more than 2 B"),
    ("folded_twiddle", &["Root=66'd7"], "Root is not of the order of the transform, or of another kind"),
    ("folded_twiddle", &["Halves=1"], "Halves is 0, or 1 where Root is 2^(3/2)"),
    ("folded_twiddle", &["Start=1"], "Inverse is 0 or 1, Start at least 2"),
    ("lengths_twiddle", &["Low=1", "High=5"], "High and Low are at least 1, and more than 6 together"),
    ("lengths_twiddle", &["Root=66'd7"], "Root is not of the order of the transform, or of another kind"),
    ("lengths_twiddle", &["Start=1"], "Start is at least 2"),
    ("modular_pair", &["B=1"], "A is 2 to 64, B is 0 or 2 to A - 2"),
    ("modular_pair", &["A=65", "B=0"], "A is 2 to 64, B is 0 or 2 to A - 2"),
    ("modular_product", &["B=63"], "A is 2 to 64, B is 0 or 2 to A - 2"),
    ("modular_product", &["Barrett=2"], "Barrett is 0 or 1"),
    ("ntt_folded", &["High=7"], "High and Low are 1 to log2(2 B)"),
    ("ntt_folded", &["Inverse=2"], "Inverse is 0 or 1"),
    ("ntt_lengths", &["High=7"], "High is 2 to 6, Low 1 to 6"),
    ("ntt_parallel", &["K=12"], "K is a power of two"),
    ("ntt_parallel", &["A=65", "K=8"], "modular_pair: A is 2 to 64"),
    ("ntt_parallel", &["B=31", "K=8"], "modular_pair: A is 2 to 64, B is 0 or 2 to A - 2"),
    // The powers of two contain no roots of this modulus.
    ("ntt_parallel", &["B=20", "K=8", "Root=66'd0"], "twiddle: Root is not of order K"),
    ("ntt_parallel", &["B=20", "K=8", "Barrett=2"], "modular_product: Barrett is 0 or 1"),
    ("convolution_parallel", &["A=65", "K=8", "Base=8"], "modular_pair: A is 2 to 64"),
    ("convolution_parallel", &["B=31", "K=8", "Base=8"], "modular_pair: A is 2 to 64, B is 0 or 2 to A - 2"),
    ("convolution_parallel", &["K=12", "Base=8"], "ntt_parallel: K is a power of two"),
    ("convolution_parallel", &["K=8", "Base=8", "B=20", "Root=66'd0"], "twiddle: Root is not of order K"),
    ("convolution_parallel", &["K=8", "Base=8", "Barrett=2"], "modular_product: Barrett is 0 or 1"),
    ("convolution_parallel", &["K=8", "Base=8", "ATile=0"], "wide_product: Bits, ATile and BTile must be at least 1"),
    ("ntt_parallel", &["K=8", "Inverse=2"], "Inverse is 0 or 1"),
    ("pair_sums", &["Group=3"], "Group is a power of two, at least 2, that divides K"),
    ("pair_sums", &["Bound=11"], "Bound must be at least Base, Base at least 1"),
    ("pipe_flow_control", &["Stages=0"], "Stages must be at least 1"),
    ("place_counter", &["Count=6"], "Count is a power of two, at least 2"),
    ("ram_delay", &["Cycles=1"], "Cycles must be at least 2"),
    ("reduce_barrett", &["M=31"], "P must have M bits, 5 to 65"),
    ("reduce_barrett", &["M=4", "P=66'd13"], "P must have M bits, 5 to 65"),
    ("reduce_fermat", &["A=1"], "A must be at least 2"),
    ("reduce_solinas", &["B=0"], "A is 4 to 64, B is 2 to A - 2"),
    ("reduce_solinas", &["A=32", "B=31"], "A is 4 to 64, B is 2 to A - 2"),
    ("root_product", &["Log=7"], "Log is 8 to 24"),
    ("root_product", &["Log=21"], "Root is not of order 2^Log, or of another kind"),
    ("row_words", &["Words=6"], "Words is a power of two, at least 2, CountBits at least 1"),
    ("shift_product", &["Shift=192"], "Shift must be below 2 T"),
    ("shift_product", &["A=32", "B=20"], "A is 2 to 64, B is 0 or A / 2"),
    ("twiddle", &["A=32", "B=20", "K=8", "Root=66'd1"], "Root is not of order K"),
    ("twiddle", &["K=96"], "K is a power of two that divides 4 T"),
    ("twiddle", &["K=256"], "K is a power of two that divides 4 T"),
    ("twiddle", &["Exponent=64"], "Exponent is below K, Halvings at most 2 T"),
    ("variable_shift", &["B=20"], "B is a power of two, 4 to 32"),
    ("wide_product", &["ATile=0"], "Bits, ATile and BTile must be at least 1"),
    // rtl/dghv
    ("block_operands", &["Block=1"], "Block must be at least 2, CountWidth enough for it"),
    ("block_operands", &["CountWidth=5"], "Block must be at least 2, CountWidth enough for it"),
    ("block_product", &["Width=32"], "Width must be at least 2 Base"),
    ("block_product", &["Width=60"], "Width must divide Base 2^(High+Low) / 2"),
    ("coefficient_carry", &["Columns=24"], "Columns is a power of two, at least 2, below 2^CountWidth"),
    ("coefficient_carry", &["Base=64"], "Base is 1 to Width - 1"),
    ("column_sum", &["Block=1"], "Block must be at least 2"),
    ("column_writer", &["Block=1"], "Block must be at least 2"),
    ("dghv_encryptor", &["Chunk=3"], "super_sum: Chunk is a power of two, at least 2, below 2^CountWidth"),
    ("dghv_encryptor", &["AddrWidth=33"], "AddrWidth is 1 to 32"),
    ("dghv_encryptor", &["Width=32", "LongWords=1"], "transforms take words of 64 bits"),
    ("four_step", &["Base=24"], "Base is too large for the modulus"),
    ("four_step", &["Base=19"], "tile_loader: Width must divide Columns Base, Base is below it"),
    ("four_step_multiplier", &["AddrWidth=33"], "AddrWidth is 1 to 32"),
    ("memory_isolate", &["CountWidth=1"], "AddrWidth must be at least 1, CountWidth at least 2"),
    ("product_pairs", &["Block=1"], "Block must be at least 2"),
    ("gearbox", &["From=0"], "From, To and Sides must be at least 1"),
    ("super_product", &["Width=32"], "block_product: Width must be at least 2 Base"),
    ("transform_product", &["LongWords=0"], "LongWords is a length"),
    ("transform_product", &["LongWords=16777216"], "LongWords is a length"),
    ("transform_product", &["Columns=128"], "a row must have a tile's columns"),
    ("super_reduce", &["Width=24"], "Width is a power of two, 8 to 64"),
    ("super_sum", &["Chunk=12"], "Chunk is a power of two, at least 2, below 2^CountWidth"),
    ("tile_loader", &["Columns=2", "Base=32"], "Columns is a power of two, at least 4"),
    ("tile_loader", &["CountWidth=4"], "CountWidth is too small for a row"),
    ("tile_writer", &["Columns=2"], "Columns is a power of two, at least 4"),
    ("tile_writer", &["CountWidth=4"], "CountWidth is too small for a row"),
    ("tile_compute", &["Columns=128"], "Columns is a power of two, 4 to 2^(Low+1)"),
    ("tile_compute", &["High=1", "Low=5"], "High + Low is 7 to 12"),
    // rtl/rns
    ("flexible_barrett", &["Q=1"], "Q must have 2 to 62 bits"),
    ("flexible_barrett", &["K=30"], "K must be more than V, at most 2 V + 16"),
    ("flexible_barrett", &["K=77"], "K must be more than V, at most 2 V + 16"),
    ("flexible_barrett", &["Tiled=2"], "Truncated and Tiled are 0 or 1"),
    ("constant_product", &["XBits=0"], "FactorBits and XBits must be at least 1"),
    ("constant_product", &["Spare=32"], "FTile must be at least 1, Spare at most 31"),
    ("fold_barrett", &["XBits=31"], "XBits must be more than V + 1"),
    ("fold_barrett", &["Fold=2"], "Truncated, Tiled, Product and Fold are 0 or 1"),
    ("pair_words", &["Words=1"], "Words must be at least 2"),
    ("residue_array", &["Primes=128'h1ffffffd000000003ffc0001"], "every prime must have V bits"),
    ("residue_array", &["Count=0"], "Count must be at least 1"),
    ("residue_array", &["V=29"], "every prime must have V bits"),
    ("residue_array", &["Architecture=4"], "Architecture is 0, 1, 2 or 3"),
    ("residue_array", &["Words=1"], "Words must be at least 2"),
    ("residue_array", &["Stages=8"], "Stages is 0 to 7"),
    // rtl/coproc
    ("coproc_loader", &["N=32"], "N must be a multiple of 32, 64 to 4096"),
    ("coproc_loader", &["N=100"], "N must be a multiple of 32, 64 to 4096"),
    ("coproc_sequencer", &["Contexts=3"], "Contexts is 2, 4, 8 or 16"),
    ("coproc_sequencer", &["Groups=6"], "Groups is a power of two, 2 to 32768"),
    ("coproc_sequencer", &["Teeth=5"], "Teeth is 4 or 8"),
    ("coproc_cores", &["Count=17"], "Count is 1 to 16"),
    ("coproc_cores", &["Core=3"], "Core is 0, 1 or 2"),
    ("coproc", &["N=64", "StreamBits=48"], "StreamBits must be a multiple of 32"),
    ("coproc", &["N=64", "Core=3"], "coproc_cores: Core is 0, 1 or 2"),
    ("coproc", &["N=32"], "coproc_loader: N must be a multiple of 32, 64 to 4096"),
    ("coproc", &["N=64", "Cores=0"], "coproc_cores: Count is 1 to 16"),
    ("coproc", &["N=64", "Contexts=3"], "coproc_sequencer: Contexts is 2, 4, 8 or 16"),
    ("coproc", &["N=64", "Groups=6"], "coproc_sequencer: Groups is a power of two, 2 to 32768"),
    ("coproc", &["N=64", "Teeth=5"], "coproc_sequencer: Teeth is 4 or 8"),
    ("coproc", &["N=64", "W=3", "V=5"], "mont_row: W must be 4 to 32"),
    ("coproc", &["N=64", "V=16"], "mont_row: V must be W to 2 W - 1"),
    ("coproc", &["N=64", "D=7"], "mont_row: D must be 2 + 2 Near to 6"),
    ("coproc", &["N=64", "Core=2", "V=4096"], "Digit and V are at most 4095"),
    ("coproc", &["N=64", "Core=1", "Digit=40", "Width=16"], "digit_mac: Tile must divide Width, Width must divide"),
    ("coproc", &["N=64", "Core=1", "Digit=64", "Width=24"], "digit_mac: Tile must divide Width, Width must divide"),
    ("coproc", &["N=64", "Core=1", "Digit=64", "Width=32", "Tile=1"], "digit_mac: Tile is too small"),
    ("coproc", &["N=64", "Core=2", "D=5"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4, H at least W"),
    ("residue_bank", &["Stages=8"], "Stages is 0 to 7"),
    ("residue_bank", &["StreamBits=40"], "StreamBits must be a multiple of 32"),
    ("residue_bank", &["Words=1"], "Words must be at least 2"),
    ("residue_bank", &["Gapless=2"], "Gapless is 0 or 1"),
    ("residue_bank", &["Count=0"], "Count is 1 to 256, or 128 of more than 31 bits"),
    ("residue_bank", &["Count=257", "Primes={257{64'd1073692673}}"], "Count is 1 to 256, or 128 of more than 31 bits"),
    (
        "residue_bank",
        &["Count=129", "V=32", "Primes={129{64'd4294967291}}"],
        "Count is 1 to 256, or 128 of more than 31 bits",
    ),
    ("residue_bank", &["Primes=128'h1ffffffd000000003ffc0001"], "residue_array: every prime must have V bits"),
    ("residue_bank", &["Architecture=4"], "residue_array: Architecture is 0, 1, 2 or 3"),
    ("residue_bank", &["V=63"], "V is 2 to 62"),
    ("residue_unit", &["Words=1"], "Words must be at least 2"),
    ("residue_unit", &["Stages=9"], "Stages must be at most 8"),
    ("residue_unit_deep", &["Words=1"], "Words must be at least 2"),
    ("residue_unit_deep", &["Paired=2"], "Paired is 0 or 1"),
    ("residue_unit_deep", &["Q=64'd9223372036854775809"], "Q must have 2 to 62 bits"),
    ("residue_unit_deep", &["XTile=0"], "XTile and FTile must be at least 1"),
    ("add_all", &["Count=0"], "Count and Bits must be at least 1"),
    ("constant_parts", &["XBits=0"], "FactorBits and XBits must be at least 1"),
    ("residue_unit_roy", &["Words=1"], "Words must be at least 2"),
    ("residue_unit_roy", &["Stages=8"], "Stages must be at most 7"),
    ("residue_unit_tan", &["Words=1"], "Words must be at least 2"),
    ("residue_unit_tan", &["Stages=10"], "Stages must be at most 9"),
    ("shift_add", &["Factor=0"], "Factor must be below 2^63 and not 0"),
    ("shift_add", &["InBits=0"], "InBits and OutBits must be at least 1"),
    ("weighted_sum", &["Items=0"], "Items and XBits must be at least 1"),
];

/// Parameter sets at the limits of the valid ranges.
const GOOD: &[(&str, &[&str])] = &[
    ("block_encryptor", &["Blocks=2", "Lanes=1"]),
    ("block_encryptor", &["Blocks=4", "Lanes=2"]),
    ("key_slot", &["RegionWords=320'd1", "Optional=32'd1"]),
    ("key_slot", &["RegionWords=320'd512"]),
    ("bit_sync", &["Value=1"]),
    ("config_register", &["Bits=1", "IndexBits=1"]),
    ("config_register", &["Bits=64", "IndexBits=1"]),
    ("ram_1r1w", &["Width=1", "Depth=2", "Parity=1"]),
    ("ram_2rw", &["Width=1", "Depth=2", "Wiped=0"]),
    ("rom", &["Width=1", "Depth=2"]),
    ("stream_arbiter", &["Sources=2", "Width=1"]),
    ("stream_arbiter", &["Sources=5"]),
    ("stream_cdc", &["Width=1", "Depth=4"]),
    ("stream_demux", &["Takers=5"]),
    ("stream_fifo", &["Width=1", "Depth=2"]),
    ("stream_fifo", &["Width=1", "Depth=2", "Memory=1", "Wiped=0"]),
    ("stream_fork", &["Takers=1"]),
    ("stream_join", &["Sources=1"]),
    ("stream_mux", &["Sources=5", "Width=1"]),
    ("stream_narrow", &["Width=1", "Beats=2", "Gapless=1"]),
    ("stream_skid", &["Width=1", "Wiped=0"]),
    ("stream_stage", &["Width=1", "Present=0"]),
    ("stream_round_robin", &["Takers=1"]),
    ("stream_widen", &["Width=1", "Beats=2", "Gapless=1"]),
    ("adder_tree", &["Count=2", "Bits=1"]),
    ("carry_resolve", &["B=16", "PerCycle=1"]),
    ("carry_resolve", &["B=31"]),
    ("cond_sub", &["N=1", "Limb=1"]),
    ("mod_add", &["N=1", "Limb=1"]),
    ("wide_add", &["N=1", "Limb=1"]),
    ("block_mul", &["Bits=2", "Blocks=2"]),
    ("block_mul", &["Blocks=16", "Lanes=8", "Low=1"]),
    ("dual_encryptor", &["N=96", "D=2", "Fold=1"]),
    ("dual_encryptor", &["N=64", "Teeth=1", "Exponent=1"]),
    ("limb_reader", &["Limbs=1", "Limb=1"]),
    ("cond_sub", &["N=3"]),
    ("mod_add", &["N=3"]),
    ("wide_add", &["N=3", "Sub=1"]),
    ("dual_encryptor", &["N=64", "V=32", "D=3", "Exponent=65"]),
    ("block_encryptor", &["Bits=2", "Blocks=8", "Lanes=2"]),
    ("block_encryptor", &["Bits=17", "Blocks=6", "Lanes=1"]),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32"]),
    ("mesa", &["N=68", "Stages=4", "W=4", "V=7", "D=6", "StreamBits=32"]),
    ("mesa", &["N=64", "Stages=11", "W=32", "V=43", "D=2", "Exact=0", "StreamBits=32"]),
    ("mesa", &["N=1024", "Stages=2", "StreamBits=512"]),
    ("mesa_dual", &["N=64", "Lanes=1", "StreamBits=32"]),
    ("mesa_dual", &["N=68", "Lanes=3", "W=4", "V=4", "D=4", "StreamBits=32"]),
    ("mesa_dual", &["N=128", "Lanes=2", "W=32", "V=255", "D=3", "StreamBits=64"]),
    // The longest key on each core: registers of any width can be reset.
    ("coproc", &["N=4096"]),
    ("coproc", &["N=4096", "Core=1"]),
    ("coproc", &["N=64", "Core=2", "W=18"]),
    ("coproc", &["N=96", "Core=2", "W=32", "V=32", "D=4"]),
    ("coproc", &["N=4096", "Core=2"]),
    ("coproc", &["N=64", "Cores=16", "Contexts=16", "Groups=2", "W=4", "V=7", "D=6", "StreamBits=32"]),
    ("coproc", &["N=96", "Cores=2", "Contexts=2", "Groups=32768", "Teeth=8", "W=32", "V=63", "StreamBits=96"]),
    ("coproc", &["N=64", "Core=1", "Cores=3", "Digit=16", "Width=16", "Tile=16", "StreamBits=1024"]),
    ("coproc", &["N=160", "Core=1", "Digit=64", "Width=32", "Tile=8", "Contexts=8", "Teeth=8", "Groups=4"]),
    ("coproc", &["N=64", "Core=2", "Cores=2", "W=4", "V=4095", "D=3", "Teeth=8"]),
    ("folded_multiplier", &["High=1", "Low=6", "Root=66'd18446741870424883713", "Base=28"]),
    ("folded_flow_control", &["Log=1", "Latency=1"]),
    ("reduce_fermat", &["A=2"]),
    ("reduce_solinas", &["A=4", "B=2"]),
    ("twiddle", &["K=128", "Exponent=127", "Halvings=192"]),
    ("link", &["Words=2", "Timeout=16", "Retries=1"]),
    ("aes_ctr", &["Rounds=10"]),
    ("dghv", &["Rounds=10", "StreamBits=32"]),
    (
        "dghv",
        &[
            "Rounds=1",
            "MemoryWords=512",
            "AddrWidth=9",
            "Beats=1",
            "Bursts=2",
            "Depth=2",
            "Timeout=2",
            "StreamBits=640",
        ],
    ),
    ("dghv", &["Rounds=5", "MemoryWords=4294967295", "Beats=256", "Depth=256", "LongWords=1"]),
    ("memory_port", &["Width=8", "AddrWidth=9", "CountWidth=1", "Beats=1", "Bursts=2", "Depth=2", "Timeout=2"]),
    ("memory_port", &["Width=1024", "Beats=32", "Depth=32"]),
    ("uart_link", &["BaudDivisor=8", "Words=2", "Timeout=16", "Retries=1"]),
    ("uart_link", &["BaudDivisor=9", "Words=65535"]),
    ("spi_controller_link", &["SckHalfPeriod=3", "Burst=1", "Words=2", "Timeout=16", "Retries=1"]),
    ("spi_peripheral_link", &["Words=2", "Timeout=16", "Retries=1"]),
    ("mod_exp_ladder", &["N=4", "W=4", "V=4", "Bits=1", "Exit=1"]),
    ("mod_exp_ladder", &["N=64", "W=32", "V=63", "D=4", "Near=1", "Bits=7"]),
    ("mod_exp_pair", &["N=8", "Digit=4", "Width=4", "Tile=4"]),
    ("mont_mul_cios", &["N=4", "W=4", "V=4", "PerCycle=9"]),
    ("mont_mul_cios", &["N=64", "W=32", "V=63", "D=6", "Near=1"]),
    ("mont_mul_digit", &["N=8", "Digit=4", "Width=4", "Tile=4"]),
    ("mont_mul_radix2", &["N=2", "XBits=1", "Word=4"]),
    ("dual_lanes", &["N=16", "Lanes=1", "W=4", "V=4"]),
    ("dual_lanes", &["N=68", "Lanes=5", "W=32", "V=63", "D=4"]),
    ("dual_mul", &["H=4", "W=4", "V=9", "D=3", "Fold=2"]),
    ("ntt_parallel", &["A=16", "K=4", "Inverse=1"]),
    ("convolution_parallel", &["A=16", "K=8", "Base=6", "ATile=8"]),
    ("convolution_parallel", &["A=32", "B=20", "K=4", "Root=66'd37101870", "Barrett=1", "Base=8"]),
    ("residue_array", &["Count=1", "Primes=64'd3", "V=2", "Words=2", "Stages=0", "Architecture=0"]),
    ("residue_array", &["Stages=7", "Architecture=3"]),
    ("ntt_parallel", &["A=32", "B=20", "K=4", "Root=66'd37101870", "Barrett=1"]),
    (
        "encryptor_board",
        &[
            "N=128",
            "ABits=64",
            "Digit=16",
            "Voters=1",
            "Contests=10",
            "Candidates=1",
            "Slots=16",
            "Samples=32",
            "NoiseTimeout=2",
        ],
    ),
    (
        "encryptor_board",
        &[
            "N=64",
            "Candidates=9",
            "Slots=64",
            "BaudDivisor=8",
            "SckHalfPeriod=3",
            "FlashSckHalfPeriod=3",
            "FlashTimeout=1",
            "Timeout=16",
            "Retries=1",
        ],
    ),
    ("tally_board", &["N=64", "EBits=1", "Contests=7", "Candidates=9", "Slots=2", "BaudDivisor=8", "Timeout=16"]),
    ("tally_board", &["N=128", "ShareBits=301", "Digit=16", "Retries=1", "Samples=32", "NoiseTimeout=2"]),
    ("residue_bank", &["Count=1", "Primes=64'd3", "V=2", "Words=2", "Stages=0", "Architecture=0", "StreamBits=32"]),
    ("residue_bank", &["Stages=7", "Architecture=2", "StreamBits=32", "Gapless=1"]),
    ("residue_bank", &["Stages=7", "Architecture=3", "StreamBits=384"]),
    ("residue_bank", &["Count=1", "V=62", "Primes=64'd4611686018427387847", "Words=3"]),
    ("vote_processor", &["Voters=1", "Candidates=1"]),
    ("vote_processor", &["Contests=256", "Candidates=64"]),
    ("vote_log", &["Body=62", "SlotLog=8", "Slots=16"]),
    ("vote_log", &["Body=63", "SlotLog=9", "Slots=8"]),
    ("vote_log", &["Body=1154", "SlotLog=13", "Slots=2"]),
    ("spi_flash", &["Longest=1"]),
    ("flexible_barrett", &["K=31"]),
    ("flexible_barrett", &["K=76"]),
    ("residue_unit", &["Words=2", "Stages=0"]),
    ("residue_unit_deep", &["Words=2", "Paired=0", "XTile=1", "FTile=64"]),
];

/// A module and its settings.
type Case = (&'static str, &'static [&'static str]);

/// Verilator's messages for these modules and settings. All are under one top module, so that it
/// reads each source once. `None` if it accepts them all.
fn elaborate(cases: &[Case]) -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("every_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let mut text = format!("// verilator lint_off PINMISSING\nmodule {name};\n");
    for (number, (module, settings)) in cases.iter().enumerate() {
        let settings = settings.iter().map(|setting| {
            let (parameter, value) = setting.split_once('=').expect("a setting is NAME=VALUE");
            format!(".{parameter}({value})")
        });
        text += &format!("    {module} #({}) u_{number} ();\n", settings.collect::<Vec<_>>().join(", "));
    }
    text += "endmodule\n";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.sv"));
    std::fs::write(&path, text).expect("a file in the folder for tests");

    let program = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let mut command = Command::new(program);
    command.args(["--lint-only", "--assert", "-Wall", "--error-limit", "100000", "--top-module", &name, "+libext+.sv"]);
    for room in ROOMS {
        command.args(["-y", room, &format!("+incdir+{room}")]);
    }
    let packages = [
        "lib/axi4_pkg.sv",
        "lib/accelerator_pkg.sv",
        "coproc/coproc_pkg.sv",
        "links/link_pkg.sv",
        "election/ballot_pkg.sv",
        "ntt/ntt_pkg.sv",
        "rns/rns_pkg.sv",
        "dghv/aes_pkg.sv",
        "dghv/dghv_pkg.sv",
        "dghv/four_step_pkg.sv",
    ];
    command.args(packages).arg(&path);
    let output =
        command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("Verilator was there when this was built");
    std::fs::remove_file(&path).expect("the file that was written");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then_some(text)
}

/// A row of `BAD`: the case, the module that reports, and a part of its message.
#[derive(Clone, Copy)]
struct Bad {
    case: Case,
    speaker: &'static str,
    message: &'static str,
}

impl Bad {
    fn new((module, settings, message): (&'static str, &'static [&'static str], &'static str)) -> Self {
        let inside = message.split_once(": ").filter(|(name, _)| !name.contains(' '));
        let (speaker, message) = inside.unwrap_or((module, message));
        Self { case: (module, settings), speaker, message }
    }

    /// Whether the message refers to instance `number`. Verilator names one instance for each place
    /// in a source.
    fn is_refused(&self, number: usize, said: &str) -> bool {
        let start = format!("{}: ", self.speaker);
        let instance = format!(".u_{number}");
        let mut lines = said.lines();
        while let Some(line) = lines.next() {
            let is_said = line.starts_with("%Warning-USERERROR")
                && line.split_once(&start).is_some_and(|(_, rest)| rest.contains(self.message));
            let place = if is_said { lines.next().and_then(|next| next.split_once("In instance ")) } else { None };
            if let Some((_, path)) = place
                && path
                    .match_indices(&instance)
                    .any(|(at, _)| path[at + instance.len()..].starts_with(['.', ' ']) || path.ends_with(&instance))
            {
                return true;
            }
        }
        false
    }
}

/// Cases without a refusal of their own. If another case ended the run, or the message referred to
/// another instance, the case is tried again with fewer others.
fn not_refused(cases: &[Bad]) -> Vec<String> {
    let said = elaborate(&cases.iter().map(|bad| bad.case).collect::<Vec<_>>()).unwrap_or_default();
    let left: Vec<Bad> =
        (0..).zip(cases).filter(|(number, bad)| !bad.is_refused(*number, &said)).map(|(_, bad)| *bad).collect();
    match left[..] {
        [] => Vec::new(),
        [Bad { case: (module, settings), .. }] if cases.len() == 1 => vec![format!("{module} {settings:?}: {said}")],
        _ if left.len() < cases.len() => not_refused(&left),
        _ => {
            let (first, second) = left.split_at(left.len() / 2);
            [not_refused(first), not_refused(second)].concat()
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bad_parameters_are_refused_by_the_modules_own_message() {
    let mut rounds: Vec<Vec<Bad>> = Vec::new();
    for bad in BAD.iter().copied().map(Bad::new) {
        let free = |round: &&mut Vec<Bad>| {
            round.iter().all(|other| other.speaker != bad.speaker && other.case.0 != bad.case.0)
        };
        match rounds.iter_mut().find(free) {
            Some(round) => round.push(bad),
            None => rounds.push(vec![bad]),
        }
    }
    let wrong: Vec<String> = rounds.iter().flat_map(|round| not_refused(round)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn good_parameters_are_taken() {
    let refused = elaborate(GOOD);
    assert!(refused.is_none(), "{}", refused.unwrap_or_default());
}

/// Modules that take seconds each with their default parameters. `GOOD` has most of them at small
/// sizes.
const WIDE: [&str; 26] = [
    "block_divide",
    "block_encryptor",
    "block_multiplier",
    "block_power",
    "convolution_parallel",
    "coproc",
    "coproc_core_cios",
    "coproc_core_dual",
    "coproc_cores",
    "dghv",
    "dghv_encryptor",
    "dual_encryptor",
    "dual_lanes",
    "encryptor_board",
    "folded_multiplier",
    "four_step",
    "four_step_multiplier",
    "long_product",
    "mesa",
    "mesa_branch",
    "mesa_dual",
    "mesa_dual_branch",
    "mod_exp_pair",
    "ntt_parallel",
    "tally_board",
    "transform_product",
];

fn with_defaults(wanted: impl Fn(&str) -> bool) -> Option<String> {
    let names: Vec<&'static str> =
        modules().into_iter().map(|(name, _)| &*name.leak()).filter(|name| wanted(name)).collect();
    assert!(names.len() > 20);
    elaborate(&names.into_iter().map(|name| (name, &[][..])).collect::<Vec<Case>>())
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn modules_with_their_defaults_have_no_warning() {
    let refused = with_defaults(|name| !WIDE.contains(&name));
    assert!(refused.is_none(), "{}", refused.unwrap_or_default());
}

#[test]
#[ignore = "takes a minute, with Verilator"]
fn wide_modules_with_their_defaults_have_no_warning() {
    let refused = with_defaults(|name| WIDE.contains(&name));
    assert!(refused.is_none(), "{}", refused.unwrap_or_default());
}

/// Designs that users instantiate. Each of their parameters needs a bad value in the table, and a
/// good value other than its default.
const TOPS: [&str; 22] = [
    "block_encryptor",
    "convolution_parallel",
    "coproc",
    "dghv",
    "dual_encryptor",
    "dual_lanes",
    "dual_mul",
    "encryptor_board",
    "mesa",
    "mesa_dual",
    "mod_exp_ladder",
    "mod_exp_pair",
    "mont_mul_cios",
    "mont_mul_digit",
    "mont_mul_radix2",
    "ntt_parallel",
    "residue_array",
    "residue_bank",
    "spi_controller_link",
    "spi_peripheral_link",
    "tally_board",
    "uart_link",
];

#[test]
fn every_parameter_of_a_top_is_swept() {
    let sets = |settings: &[&str], name: &str| {
        settings.iter().any(|setting| setting.split_once('=').is_some_and(|(set, _)| set == name))
    };
    let modules = modules();
    for top in TOPS {
        let (_, text) = modules.iter().find(|(name, _)| name == top).expect("a top is a module");
        let header = text.split_once(") (").expect("a module with parameters has ports").0;
        let parameters = header.lines().filter(|line| line.starts_with("    parameter "));
        for line in parameters {
            let name =
                line.split('=').next().and_then(|text| text.split_whitespace().last()).expect("a parameter has a name");
            let bad = BAD.iter().any(|(module, settings, _)| *module == top && sets(settings, name));
            let good = GOOD.iter().any(|(module, settings)| *module == top && sets(settings, name));
            assert!(bad && good, "{top}: {name}: a bad value: {bad}, a good one: {good}");
        }
    }
}

/// The name and the source of every module whose file has its name, sorted.
pub fn modules() -> Vec<(String, String)> {
    let mut modules = Vec::new();
    for room in ROOMS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(room);
        for entry in std::fs::read_dir(directory).expect("a room of the hardware") {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a file that can be read");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let starts = [format!("module {name} "), format!("module {name};")];
            if text.lines().any(|line| starts.iter().any(|start| line.starts_with(start))) {
                modules.push((name, text));
            }
        }
    }
    modules.sort();
    modules
}

/// Every module with a parameter that can be out of range must be in the table, so that new modules
/// are not forgotten.
#[test]
fn every_module_with_parameters_is_in_the_table() {
    // Submodules whose parameters come from a module that checks them.
    let parts = [
        "axil_port",
        "butterfly",
        "coproc_core_cios",
        "coproc_core_digit",
        "coproc_core_dual",
        "packet_port",
        "dual_digits",
        "digit_product",
        "dual_lanes",
        "dual_mul",
        "dual_sequencer",
        "dual_source",
        "dual_word",
        "mod_exp_pair",
        "mont_digits",
        "mont_mul_cios",
        "mont_mul_digit",
        "mont_sequencer",
        "mont_word",
        "mesa_shell",
        "long_product",
        "secret_power",
        "lockstep_power",
    ];
    let known: BTreeSet<&str> = BAD.iter().map(|(module, ..)| *module).chain(parts).collect();
    for (name, text) in modules() {
        if text.contains("    parameter ") {
            assert!(known.contains(&*name), "{name} has parameters, and no set of bad ones in {}", file!());
        }
    }
}
