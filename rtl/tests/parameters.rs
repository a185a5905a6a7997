//! Parameters out of range are refused while a module is elaborated, by the module's own message; those at the edges of their ranges are taken.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The directories of modules.
const ROOMS: [&str; 10] = ["lib", "arith", "blocks", "mesa", "coproc", "links", "election", "ntt", "rns", "dghv"];

/// Parameter sets that must be refused: the module, the settings, a part of the message after the module's name. Where a module inside speaks first,
/// its name stands before a colon.
const BAD: &[(&str, &[&str], &str)] = &[
    // rtl/lib
    ("axil_monitor", &["AddressBits=0"], "AddressBits must be at least 1"),
    ("axil_monitor", &["Pending=0"], "Pending must be at least 1"),
    ("bit_sync", &["Stages=1"], "Stages must be at least 2"),
    ("bit_sync", &["Value=2"], "Value is 0 or 1"),
    ("config_register", &["Bits=0"], "Bits must be at least 1"),
    ("config_register", &["Bits=65", "IndexBits=1"], "IndexBits cannot tell the words apart"),
    ("packet_in", &["StreamBits=48"], "StreamBits must be a multiple of 32"),
    ("packet_in", &["Beats=0"], "Beats must be at least 1"),
    ("packet_keep", &["StreamBits=48"], "StreamBits must be a multiple of 32"),
    ("packet_keep", &["Beats=0"], "Beats must be at least 1"),
    ("packet_out", &["StreamBits=48"], "StreamBits must be a multiple of 32"),
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
    ("stream_turns", &["Takers=0"], "Takers must be at least 1"),
    ("stream_widen", &["Width=0"], "Width must be at least 1"),
    ("stream_widen", &["Beats=1"], "Beats must be at least 2"),
    ("stream_widen", &["Gapless=2"], "Gapless is 0 or 1"),
    ("accelerator_registers", &["CountBits=0"], "CountBits is 1 to 32"),
    ("accelerator_registers", &["CountBits=33"], "CountBits is 1 to 32"),
    ("accelerator_registers", &["Branches=256"], "Branches is 1 to 255"),
    ("accelerator_registers", &["Table=2"], "Table is 0 or 1"),
    ("accelerator_frame", &["StreamBits=48"], "packet_in: StreamBits must be a multiple of 32"),
    ("accelerator_frame", &["Branches=0"], "accelerator_registers: Branches is 1 to 255"),
    // rtl/links
    ("link", &["Words=1"], "Words must be from 2 to 65535"),
    ("link", &["Words=65536"], "Words must be from 2 to 65535"),
    ("link", &["Timeout=15"], "Timeout must be at least 16"),
    ("link", &["Retries=0"], "Retries must be at least 1"),
    ("spi_controller", &["Half=2"], "Half must be at least 3"),
    ("spi_controller_link", &["Burst=0"], "Burst must be at least 1"),
    ("spi_peripheral", &["Stages=1"], "bit_sync: Stages must be at least 2"),
    ("spi_peripheral_link", &["Words=1"], "link: Words must be from 2 to 65535"),
    ("uart_link", &["Period=7"], "uart_tx: Period must be at least 8"),
    ("uart_rx", &["Period=7"], "Period must be at least 8"),
    ("uart_tx", &["Period=7"], "Period must be at least 8"),
    // rtl/election
    ("encryptor_board", &["N=520"], "N and ABits must be multiples of 32, ABits at least 64"),
    ("encryptor_board", &["ABits=32"], "N and ABits must be multiples of 32, ABits at least 64"),
    ("encryptor_board", &["Candidates=4"], "a ballot must fit a page"),
    ("health_tests", &["Repetition=1"], "Repetition must be at least 2"),
    ("health_tests", &["Proportion=1"], "Proportion must be from 2 to Window"),
    ("health_tests", &["Proportion=1025"], "Proportion must be from 2 to Window"),
    ("noise_source_port", &["Samples=0"], "Samples must be a multiple of 32, and not 0"),
    ("noise_source_port", &["Samples=1000"], "Samples must be a multiple of 32, and not 0"),
    ("noise_source_port", &["StartUp=0"], "StartUp must be at least 1"),
    ("noise_source_port", &["Quiet=1"], "Quiet must be at least 2"),
    ("spi_flash", &["Half=2"], "spi_controller: Half must be at least 3"),
    ("tally_board", &["N=520"], "N must be a multiple of 32"),
    ("tally_board", &["Candidates=1"], "Candidates must be at least 2"),
    ("tally_board", &["Slots=1"], "Slots must be at least 2"),
    ("vote_log", &["Body=0"], "Body must be at least 1"),
    ("vote_log", &["Body=63", "SlotLog=8"], "a slot must hold a record, and be at most a page"),
    ("vote_log", &["SlotLog=9"], "a slot must hold a record, and be at most a page"),
    ("vote_log", &["Slots=1000"], "Slots must fill sectors"),
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
    ("cond_sub", &["Limb=0"], "limb_steps: Steps must be at least 1"),
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
    ("dual_row", &["W=3"], "W must be 4 to 32"),
    ("dual_row", &["V=15"], "V at least W"),
    ("dual_row", &["D=1"], "D 2 to 4"),
    ("dual_row", &["D=5"], "D 2 to 4"),
    ("limb_steps", &["Steps=0"], "Steps must be at least 1"),
    ("mod_add", &["N=0"], "N and Limb must be at least 1"),
    ("mod_add", &["Limb=0"], "limb_steps: Steps must be at least 1"),
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
    ("wide_add", &["Limb=0"], "limb_steps: Steps must be at least 1"),
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
    ("block_deal", &["Takers=1"], "Takers must be at least 2"),
    ("block_divide", &["ShiftBits=5"], "ShiftBits follows from Blocks and Bits"),
    ("block_encryptor", &["Blocks=9", "Lanes=1"], "Blocks must be even"),
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
    ("dual_encryptor", &["N=64", "Teeth=9"], "Teeth is 0 to 8, Exponent at least 1"),
    ("dual_mul", &["H=48", "Fold=3"], "dual_row: Fold is 1 or 2"),
    // rtl/mesa
    ("mesa", &["N=62"], "mesa_frame: N must be a multiple of 4"),
    ("mesa", &["N=130", "StreamBits=32"], "mesa_frame: N must be a multiple of 4"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=64"], "mesa_frame: StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=24"], "mesa_frame: StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa", &["N=64", "Stages=0", "StreamBits=32"], "Stages is 1 to N / 4"),
    ("mesa", &["N=64", "Stages=17", "StreamBits=32"], "Stages is 1 to N / 4"),
    ("mesa", &["N=64", "Stages=1", "StreamBits=32", "Exact=2"], "Exact is 0 or 1"),
    ("mesa_branch", &["N=64", "Stages=0"], "Stages is 1 to N / 4"),
    ("mesa_branch", &["N=64", "Stages=1", "Exact=2"], "Exact is 0 or 1"),
    ("mesa_branch", &["N=64", "Stages=15"], "too many stages for the exponent"),
    ("mesa_dual", &["N=64", "W=16", "StreamBits=32", "Lanes=0"], "stream_turns: Takers must be at least 1"),
    ("mesa_dual", &["N=64", "W=16", "StreamBits=64"], "mesa_frame: StreamBits must be a multiple of 32, at most N / 2"),
    ("mesa_dual_branch", &["N=64", "W=16", "Lanes=0"], "stream_turns: Takers must be at least 1"),
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
    ("folded_pace", &["Latency=0"], "Log and Latency must be at least 1"),
    ("folded_turn", &["Rank=0"], "Rank is more than Low, at most Low + log2(B)"),
    ("folded_turn", &["Rank=6"], "Rank is more than Low, at most Low + log2(B)"),
    ("folded_turn", &["Inverse=2"], "Inverse is 0 or 1"),
    ("folded_twiddle", &["High=1", "Low=1"], "2^(High+Low) more than 2 B"),
    ("folded_twiddle", &["Root=66'd7"], "Root is not of the order of the transform, or of another kind"),
    ("folded_twiddle", &["Halves=1"], "Halves is 0, or 1 where Root is 2^(3/2)"),
    ("folded_twiddle", &["Start=1"], "Inverse is 0 or 1, Start at least 2"),
    ("modular_pair", &["B=1"], "A is 2 to 64, B is 0 or 2 to A - 2"),
    ("modular_pair", &["A=65", "B=0"], "A is 2 to 64, B is 0 or 2 to A - 2"),
    ("modular_product", &["B=63"], "A is 2 to 64, B is 0 or 2 to A - 2"),
    ("modular_product", &["Barrett=2"], "Barrett is 0 or 1"),
    ("ntt_folded", &["High=7"], "High and Low are 1 to log2(2 B)"),
    ("ntt_folded", &["Inverse=2"], "Inverse is 0 or 1"),
    ("ntt_parallel", &["K=12"], "K is a power of two"),
    ("ntt_parallel", &["K=8", "Inverse=2"], "Inverse is 0 or 1"),
    ("pair_sums", &["Group=3"], "Group is a power of two, at least 2, that divides K"),
    ("pair_sums", &["Bound=11"], "Bound must be at least Base, Base at least 1"),
    ("pipe_pace", &["Stages=0"], "Stages must be at least 1"),
    ("place_counter", &["Count=6"], "Count is a power of two, at least 2"),
    ("ram_delay", &["Cycles=1"], "Cycles must be at least 2"),
    ("reduce_barrett", &["M=31"], "P must have M bits, 5 to 65"),
    ("reduce_barrett", &["M=4", "P=66'd13"], "P must have M bits, 5 to 65"),
    ("reduce_fermat", &["A=1"], "A must be at least 2"),
    ("reduce_solinas", &["B=0"], "A is 4 to 64, B is 2 to A - 2"),
    ("reduce_solinas", &["A=32", "B=31"], "A is 4 to 64, B is 2 to A - 2"),
    ("row_words", &["Words=6"], "Words is a power of two, at least 2, CountBits at least 1"),
    ("shift_product", &["Shift=192"], "Shift must be below 2 T"),
    ("shift_product", &["A=32", "B=20"], "A is 2 to 64, B is 0 or A / 2"),
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
    ("column_sum", &["Block=1"], "Block must be at least 2"),
    ("column_writer", &["Block=1"], "Block must be at least 2"),
    ("dghv_encryptor", &["Chunk=3"], "super_sum: Chunk is a power of two, at least 2, below 2^CountWidth"),
    ("dghv_encryptor", &["AddrWidth=33"], "AddrWidth is 1 to 32"),
    ("memory_gate", &["CountWidth=1"], "AddrWidth must be at least 1, CountWidth at least 2"),
    ("product_pairs", &["Block=1"], "Block must be at least 2"),
    ("regroup", &["From=0"], "From, To and Sides must be at least 1"),
    ("super_product", &["Width=32"], "block_product: Width must be at least 2 Base"),
    ("super_reduce", &["Width=24"], "Width is a power of two, 8 to 64"),
    ("super_sum", &["Chunk=12"], "Chunk is a power of two, at least 2, below 2^CountWidth"),
    // rtl/rns
    ("barrett_flex", &["Q=1"], "Q must have 2 to 31 bits"),
    ("barrett_flex", &["K=30"], "K must be more than V, at most 2 V + 16"),
    ("barrett_flex", &["K=77"], "K must be more than V, at most 2 V + 16"),
    ("barrett_flex", &["Tiled=2"], "Truncated and Tiled are 0 or 1"),
    ("constant_product", &["XBits=0"], "FactorBits and XBits must be at least 1"),
    ("constant_product", &["Spare=32"], "FTile must be at least 1, Spare at most 31"),
    ("fold_barrett", &["XBits=31"], "XBits must be more than V + 1"),
    ("fold_barrett", &["Fold=2"], "Truncated, Tiled, Product and Fold are 0 or 1"),
    ("pair_words", &["Words=1"], "Words must be at least 2"),
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
    ("coproc", &["N=64", "Core=2", "D=5"], "dual_row: W must be 4 to 32, V at least W, D 2 to 4, H at least W"),
    ("residue_bank", &["Stages=8"], "Stages is 0 to 7"),
    ("residue_bank", &["StreamBits=40"], "StreamBits must be a multiple of 32"),
    ("residue_bank", &["Words=1"], "Words must be at least 2"),
    ("residue_bank", &["Gapless=2"], "Gapless is 0 or 1"),
    ("residue_unit", &["Words=1"], "Words must be at least 2"),
    ("residue_unit", &["Stages=9"], "Stages must be at most 8"),
    ("residue_unit_roy", &["Words=1"], "Words must be at least 2"),
    ("residue_unit_roy", &["Stages=8"], "Stages must be at most 7"),
    ("residue_unit_tan", &["Words=1"], "Words must be at least 2"),
    ("residue_unit_tan", &["Stages=10"], "Stages must be at most 9"),
    ("shift_add", &["Factor=0"], "Factor must be below 2^31 and not 0"),
    ("shift_add", &["InBits=0"], "InBits and OutBits must be at least 1"),
    ("weighted_sum", &["Items=0"], "Items and XBits must be at least 1"),
];

/// Parameter sets at the edges of what is allowed.
const GOOD: &[(&str, &[&str])] = &[
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
    ("stream_turns", &["Takers=1"]),
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
    ("mesa", &["N=64", "Stages=1", "StreamBits=32"]),
    // Keys of every usual length, and the other core: registers of any width can be reset.
    ("coproc", &["N=512"]),
    ("coproc", &["N=3072"]),
    ("coproc", &["N=4096"]),
    ("coproc", &["N=512", "Core=1"]),
    ("coproc", &["N=4096", "Core=1"]),
    ("coproc", &["N=64", "Core=2", "W=18"]),
    ("coproc", &["N=96", "Core=2", "W=32", "V=32", "D=4"]),
    ("coproc", &["N=512", "Core=2"]),
    ("coproc", &["N=4096", "Core=2"]),
    ("folded_multiplier", &["High=1", "Low=6", "Root=66'd18446741870424883713", "Base=28"]),
    ("folded_pace", &["Log=1", "Latency=1"]),
    ("reduce_fermat", &["A=2"]),
    ("reduce_solinas", &["A=4", "B=2"]),
    ("twiddle", &["K=128", "Exponent=127", "Halvings=192"]),
    ("link", &["Words=2", "Timeout=16", "Retries=1"]),
    ("uart_link", &["Period=8"]),
    ("vote_processor", &["Voters=1", "Candidates=1"]),
    ("vote_processor", &["Contests=256", "Candidates=64"]),
    ("vote_log", &["Body=62", "SlotLog=8", "Slots=16"]),
    ("barrett_flex", &["K=31"]),
    ("barrett_flex", &["K=76"]),
    ("residue_unit", &["Words=2", "Stages=0"]),
];

/// What Verilator says to a module with these settings; nothing if it takes it.
fn elaborate(module: &str, settings: &[&str]) -> Option<String> {
    let program = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let mut command = Command::new(program);
    command.args(["--lint-only", "--assert", "-Wall", "--top-module", module, "+libext+.sv"]);
    for room in ROOMS {
        command.args(["-y", room, &format!("+incdir+{room}")]);
    }
    command.args(settings.iter().map(|setting| format!("-G{setting}")));
    let packages = [
        "lib/accelerator_pkg.sv",
        "coproc/coproc_pkg.sv",
        "links/link_pkg.sv",
        "election/ballot_pkg.sv",
        "ntt/ntt_pkg.sv",
        "rns/rns_pkg.sv",
        "dghv/dghv_pkg.sv",
    ];
    command.args(packages).arg(format!("{module}.sv"));
    let output =
        command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("Verilator was there when this was built");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then_some(text)
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bad_parameters_are_refused_by_the_modules_own_message() {
    let mut wrong = Vec::new();
    for (module, settings, message) in BAD {
        let own = message.split_once(": ").is_none_or(|(name, _)| name.contains(' '));
        let start = if own { format!("{module}: ") } else { (*message).to_owned() };
        match elaborate(module, settings) {
            None => wrong.push(format!("{module} {settings:?} is taken")),
            Some(text) if !(text.contains(&start) && text.contains(message)) => {
                wrong.push(format!("{module} {settings:?}: {text}"))
            }
            Some(_) => (),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn good_parameters_are_taken() {
    for (module, settings) in GOOD {
        let refused = elaborate(module, settings);
        assert!(refused.is_none(), "{module} {settings:?}: {}", refused.unwrap_or_default());
    }
}

/// Every module with a parameter that can be out of range is in the table, so that a new one is not forgotten.
#[test]
fn every_module_with_parameters_is_in_the_table() {
    // Parts of others, which have their parameters from a module that checks them.
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
        "dual_pace",
        "dual_source",
        "dual_word",
        "mark_encryptor",
        "mod_exp_pair",
        "mont_digits",
        "mont_mul_cios",
        "mont_mul_digit",
        "mont_steps",
        "mont_word",
        "mesa_frame",
        "long_product",
        "twin_encryptor",
    ];
    let known: BTreeSet<&str> = BAD.iter().map(|(module, ..)| *module).chain(parts).collect();
    for room in ROOMS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(room);
        for entry in std::fs::read_dir(directory).expect("a room of the hardware") {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a file that can be read");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let module = text.lines().any(|line| line.starts_with(&format!("module {name}")));
            if module && text.contains("    parameter ") {
                assert!(known.contains(&*name), "{name} has parameters, and no set of bad ones in {}", file!());
            }
        }
    }
}
