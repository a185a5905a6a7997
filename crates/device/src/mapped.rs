//! A device on a board: registers mapped into memory, streams through file descriptors.
//!
//! Registers are a window that the kernel maps: `/dev/uioN` (Userspace I/O) or `/dev/xdmaN_user` (Xilinx's XDMA driver). Streams are
//! descriptors that take and give packets: `/dev/xdmaN_h2c_0` and `/dev/xdmaN_c2h_0`, where a write is one packet.
//!
//! This has been tested against a fake register file and pipes. **It has never run on silicon.**

use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::{Error, ErrorKind, Exchange, Marks, Transport};

/// Time given on top of the cycles that the device may take: for the bus, the driver and the scheduler.
const SLACK: Duration = Duration::from_secs(1);

/// A memory-mapped device. Never run on silicon: see the module.
pub struct MemoryMapped {
    name: String,
    registers: Registers,
    to_device: OwnedFd,
    from_device: OwnedFd,
    clock_hz: u64,
}

/// A mapped register window.
struct Registers {
    base: NonNull<u32>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and may be used from any thread.
unsafe impl Send for Registers {}

impl MemoryMapped {
    /// Opens a device by its files: the register window of `bytes` bytes at `offset`, and the streams to and from it. `clock_hz` is the
    /// device's clock, by which the time is measured that it may take.
    ///
    /// # Errors
    /// A file cannot be opened or mapped.
    pub fn open(
        window: &Path,
        (offset, bytes): (u64, usize),
        to_device: &Path,
        from_device: &Path,
        clock_hz: u64,
    ) -> Result<Self, Error> {
        let name = window.display().to_string();
        let open = |path: &Path, options: &OpenOptions| {
            let file = options.open(path).map_err(|error| failed(&path.display().to_string(), error))?;
            Ok::<_, Error>(OwnedFd::from(file))
        };
        let window = open(window, OpenOptions::new().read(true).write(true))?;
        let input = open(to_device, OpenOptions::new().write(true))?;
        let output = open(from_device, OpenOptions::new().read(true))?;
        Self::new(name, &window, (offset, bytes), input, output, clock_hz)
    }

    /// The same with files that are open.
    ///
    /// # Errors
    /// The window cannot be mapped.
    pub fn new(
        name: String,
        window: &impl AsFd,
        (offset, bytes): (u64, usize),
        to_device: OwnedFd,
        from_device: OwnedFd,
        clock_hz: u64,
    ) -> Result<Self, Error> {
        let registers = Registers::map(window, offset, bytes).map_err(|error| failed(&name, error.into()))?;
        for stream in [&to_device, &from_device] {
            let flags = fcntl_getfl(stream).map_err(|error| failed(&name, error.into()))?;
            fcntl_setfl(stream, flags | OFlags::NONBLOCK).map_err(|error| failed(&name, error.into()))?;
        }
        Ok(Self { name, registers, to_device, from_device, clock_hz: clock_hz.max(1) })
    }

    /// Waits until a stream can take or give something; not longer than until `end`.
    fn wait(&self, sending: bool, receiving: bool, end: Instant) -> Result<bool, Error> {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let wanted = |wanted: bool, flags| if wanted { flags } else { PollFlags::empty() };
        let mut streams = [
            PollFd::new(&self.from_device, wanted(receiving, PollFlags::IN)),
            PollFd::new(&self.to_device, wanted(sending, PollFlags::OUT)),
        ];
        let streams = if sending { &mut streams[..] } else { &mut streams[..1] };
        match poll(streams, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(failed(&self.name, error.into())),
        }
    }
}

impl Transport for MemoryMapped {
    fn describe(&self) -> String {
        self.name.clone()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        let register = self.registers.at(address).ok_or(ErrorKind::Refused { address })?;
        // SAFETY: `at` gives an aligned address inside the mapping, which lives as long as `self`.
        Ok(unsafe { ptr::read_volatile(register) })
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        let register = self.registers.at(address).ok_or(ErrorKind::Refused { address })?;
        // SAFETY: as in `read`.
        unsafe { ptr::write_volatile(register, value) };
        Ok(())
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let allowed = self.allowed(exchange.quiet_cycles);
        let (mut sent, mut received) = (0, 0);
        let mut end = Instant::now() + allowed;
        while received < exchange.output.len() {
            // A write is a packet, or the rest of one.
            let rest = exchange.input.get(sent..).unwrap_or_default();
            let put = self.put(rest)?;
            let got = match read(&self.from_device, &mut exchange.output[received..]) {
                Ok(0) => return Err(exchange.cut_short(received)),
                got => self.passed(got)?,
            };
            (sent, received) = (sent + put, received + got);
            if put + got > 0 {
                end = Instant::now() + allowed;
            } else if !self.wait(!rest.is_empty(), true, end)? || Instant::now() > end {
                return Err(exchange.stalled(sent, received));
            }
        }
        Ok(())
    }

    /// Bytes are all that comes here, without the ends of packets: whatever came before the echo is dropped.
    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        let (mut sent, mut last) = (0, Vec::new());
        let mut piece = [0; 4096];
        // Whatever comes: a device that goes on and on is given up as well.
        let end = Instant::now() + self.allowed(marks.quiet_cycles);
        while !last.ends_with(marks.echo) {
            // A write is a packet, or the rest of one.
            let packet = (sent / marks.packet + 1) * marks.packet;
            let rest = marks.input.get(sent..packet).unwrap_or_default();
            let put = self.put(rest)?;
            let got = match read(&self.from_device, &mut piece) {
                Ok(0) => return Err(marks.stalled(sent)),
                got => self.passed(got)?,
            };
            sent += put;
            last.extend_from_slice(&piece[..got]);
            last.drain(..last.len().saturating_sub(marks.echo.len()));
            let idle = put + got == 0;
            if (idle && !self.wait(!rest.is_empty(), true, end)?) || Instant::now() > end {
                return Err(marks.stalled(sent));
            }
        }
        Ok(())
    }
}

impl MemoryMapped {
    /// The time that the device may take without progress.
    fn allowed(&self, quiet_cycles: u64) -> Duration {
        Duration::from_secs_f64(quiet_cycles as f64 / self.clock_hz as f64) + SLACK
    }

    /// Sends what the stream takes of some bytes.
    fn put(&self, bytes: &[u8]) -> Result<usize, Error> {
        if bytes.is_empty() { Ok(0) } else { self.passed(write(&self.to_device, bytes)) }
    }

    /// The bytes that passed; none if the stream has to be waited for.
    fn passed(&self, result: Result<usize, Errno>) -> Result<usize, Error> {
        match result {
            Ok(bytes) => Ok(bytes),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(failed(&self.name, error.into())),
        }
    }
}

impl Registers {
    fn map(window: &impl AsFd, offset: u64, bytes: usize) -> rustix::io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let base = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, window, offset)? };
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { base, bytes })
    }

    /// The register at a byte address, if it is aligned and in the window.
    fn at(&self, address: u32) -> Option<*mut u32> {
        let address = address as usize;
        let inside = address.is_multiple_of(4) && address + 4 <= self.bytes;
        inside.then(|| self.base.as_ptr().wrapping_byte_add(address))
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        // SAFETY: nobody uses the mapping after this.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

impl fmt::Debug for MemoryMapped {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("MemoryMapped").field("name", &self.name).finish_non_exhaustive()
    }
}

fn failed(what: &str, error: io::Error) -> Error {
    ErrorKind::Io { what: what.to_owned(), source: Arc::new(error) }.into()
}
