//! Decrypts a file of ciphertexts on a board that has a MESA. **This has never run on a board.**
//!
//! The board's files, with the names of Xilinx's XDMA driver and the kernel's UIO:
//!
//! - the registers, a window of 128 KiB: `/dev/xdma0_user`, or `/dev/uio0` (whose map number M
//!   begins at M pages);
//! - a stream of packets in each direction: `/dev/xdma0_h2c_0` and `/dev/xdma0_c2h_0`, on the
//!   channels that are wired to `s_axis_*` and `m_axis_*`, where a write is a packet with TLAST at
//!   its end;
//! - the interrupt, if `irq_o` is wired: `/dev/uio0`, or `/dev/xdma0_events_0`. It is awaited
//!   together with the streams and uses UIO's protocol: reading returns four bytes after an
//!   interrupt, and writing four bytes enables the next.
//!
//! ```sh
//! cargo run -p hearith-device --example board -- \
//!     /dev/xdma0_user /dev/xdma0_h2c_0 /dev/xdma0_c2h_0 100000000 private.json ciphertexts.bin plaintexts.bin [/dev/uio0]
//! ```
//!
//! The files hold ciphertexts and plaintexts one after another, big-endian, in as many bytes as
//! `n^2` and `n` have. Every batch is checked before it is written. A design whose DMA engine is
//! programmed by registers of its own (AXI DMA, say) needs its own `Transport`.

use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("board: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(unix)]
fn run(arguments: &[String]) -> Result<String, Box<dyn Error>> {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use hearith_device::mesa::Mesa;
    use hearith_device::{ErrorKind, MemoryMapped};
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey};
    use zeroize::Zeroizing;

    /// Bytes of the register window.
    const WINDOW: usize = 0x2_0000;
    /// Rows to decrypt at a time: enough that filling the pipeline and the check cost little.
    const ROWS: usize = 1024;

    const USAGE: &str = "board WINDOW TO_DEVICE FROM_DEVICE CLOCK_HZ PRIVATE_KEY CIPHERTEXTS PLAINTEXTS [INTERRUPT]";
    let [window, to_device, from_device, clock, key, input, output, interrupt @ ..] = arguments else {
        return Err(USAGE.into());
    };
    let clock: u64 = clock.parse().map_err(|_| format!("the clock is a number of Hz, not '{clock}'"))?;
    let in_file = |file: &str, error: &dyn Error| format!("{file}: {error}");

    let text = Zeroizing::new(fs::read_to_string(key).map_err(|error| in_file(key, &error))?);
    let private = PrivateKey::from_jwk(&text, KeyPolicy::Secure, Engine::from_env()?);
    let private = private.map_err(|error| in_file(key, &error))?;
    let bytes = fs::read(input).map_err(|error| in_file(input, &error))?;
    let ciphertexts = private.public().ciphertexts_from_be(&bytes).map_err(|error| in_file(input, &error))?;

    // Opening synchronises where packets begin; loading compares the checksum of each constant.
    let path = Path::new;
    let board = MemoryMapped::open(path(window), (0, WINDOW), path(to_device), path(from_device), clock)?;
    let board = match interrupt {
        [] => board,
        [file] => board.with_interrupt_at(path(file))?,
        _ => return Err(USAGE.into()),
    };
    let mut device = Mesa::open(Box::new(board))?;
    device.load_key(&private)?;

    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(output);
    let file = file.as_mut().map_err(|error| in_file(output, error))?;
    for start in (0..ciphertexts.len()).step_by(ROWS) {
        let batch = ciphertexts.range(start..ciphertexts.len().min(start + ROWS))?;
        let mut decrypted = device.decrypt(&batch);
        // One retry, with the key reloaded if it is gone. A device that fails twice needs an
        // operator.
        if let Err(error) = &decrypted
            && !matches!(error.kind(), ErrorKind::Scheme(_))
        {
            eprintln!("board: row {start} and on: {error}; trying again");
            if !device.has_key() {
                device.load_key(&private)?;
            }
            decrypted = device.decrypt(&batch);
        }
        let plaintexts = decrypted.map_err(|error| error.offset_rows(start))?;
        file.write_all(&plaintexts.to_be_bytes()).map_err(|error| in_file(output, &error))?;
    }
    let counters = device.counters()?;
    device.wipe()?;
    Ok(format!("{}: {} ciphertexts, {} cycles", device.describe(), ciphertexts.len(), counters.busy_cycles))
}

#[cfg(not(unix))]
fn run(_arguments: &[String]) -> Result<String, Box<dyn Error>> {
    Err("a board is reached through files that only Unix has".into())
}
