//! A device on a board: memory-mapped registers, and streams through file descriptors.
//!
//! - Registers are a window that the kernel maps: `/dev/uioN` (Userspace I/O) or `/dev/xdmaN_user`
//!   (Xilinx's XDMA driver).
//! - Streams are descriptors of packets: `/dev/xdmaN_h2c_0` and `/dev/xdmaN_c2h_0`, where a write
//!   is one packet.
//! - An interrupt is a descriptor that returns four bytes after each interrupt: `/dev/uioN` or
//!   `/dev/xdmaN_events_0`.
//!
//! This has been tested against a device in software, files and pipes. **It has never run on
//! silicon.**

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
use zeroize::Zeroizing;

use crate::registers::{ERROR, INTERRUPT, INTERRUPT_ENABLE, interrupt};
use crate::{Error, ErrorKind, Exchange, Marks, Transport};

/// Added to the time of the device's cycles, for the bus, the driver and the scheduler.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(1);
/// Most margins in total while there is progress.
const MAX_MARGINS: u32 = 10;
/// Bytes per read of data that is dropped.
const IO_CHUNK: usize = 4096;

/// The registers of a board: a mapped file ([`Mapping`]), or another access path.
///
/// Writes may be posted, so they return no status. The device's register ERROR shows whether it
/// refused one, and the drivers read it.
pub trait Window: Send {
    /// Reads the register at a byte address; `None` if it is not in the window.
    fn read(&mut self, address: u32) -> Option<u32>;

    /// Writes the register at a byte address; `None` if it is not in the window.
    fn write(&mut self, address: u32, value: u32) -> Option<()>;
}

/// A memory-mapped device. It has never run on silicon: see the module.
pub struct MemoryMapped<W = Mapping> {
    name: String,
    window: W,
    to_device: OwnedFd,
    from_device: OwnedFd,
    interrupt: Option<OwnedFd>,
    clock_hz: u64,
}

/// A register window that the kernel has mapped.
pub struct Mapping {
    base: NonNull<u32>,
    bytes: usize,
}

// SAFETY: this value alone owns the mapping, which may be used from any thread.
unsafe impl Send for Mapping {}

impl MemoryMapped {
    /// Opens a device by its files: the register window of `bytes` bytes at `offset`, and the
    /// streams to and from it.
    ///
    /// `clock_hz` is the frequency of the device's clock, which converts limits in cycles to time.
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
        let window = opened(window, OpenOptions::new().read(true).write(true))?;
        let input = opened(to_device, OpenOptions::new().write(true))?;
        let output = opened(from_device, OpenOptions::new().read(true))?;
        Self::new(name, &window, (offset, bytes), input, output, clock_hz)
    }

    /// Opens a device by files that are already open.
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
        let window = Mapping::new(window, offset, bytes).map_err(|error| failed(&name, error))?;
        Self::with_window(name, window, to_device, from_device, clock_hz)
    }
}

impl<W: Window> MemoryMapped<W> {
    /// Opens a device whose registers are reached through `window`.
    ///
    /// # Errors
    /// The streams cannot be set to non-blocking mode.
    pub fn with_window(
        name: String,
        window: W,
        to_device: OwnedFd,
        from_device: OwnedFd,
        clock_hz: u64,
    ) -> Result<Self, Error> {
        let device = Self { name, window, to_device, from_device, interrupt: None, clock_hz: clock_hz.max(1) };
        device.do_not_wait(&device.to_device)?;
        device.do_not_wait(&device.from_device)?;
        Ok(device)
    }

    /// Adds an interrupt: a descriptor that returns four bytes after each interrupt, such as that
    /// of a UIO device.
    ///
    /// Writing four bytes enables the next interrupt. With an interrupt, errors of the device are
    /// noticed at once. Without it, they are noticed when the time limit without progress has
    /// passed.
    ///
    /// # Errors
    /// The descriptor cannot be set to non-blocking mode, or the registers are not in the window.
    pub fn with_interrupt(mut self, interrupt: OwnedFd) -> Result<Self, Error> {
        self.do_not_wait(&interrupt)?;
        self.interrupt = Some(interrupt);
        Transport::write(&mut self, INTERRUPT_ENABLE, interrupt::ERROR)?;
        self.acknowledge()?;
        Ok(self)
    }

    /// [`MemoryMapped::with_interrupt`] with a file that is not open yet.
    ///
    /// # Errors
    /// The file cannot be opened, or as [`MemoryMapped::with_interrupt`].
    pub fn with_interrupt_at(self, path: &Path) -> Result<Self, Error> {
        // Unlike a UIO file, an events file cannot be written.
        let both = opened(path, OpenOptions::new().read(true).write(true));
        let interrupt = both.or_else(|_| opened(path, OpenOptions::new().read(true)))?;
        self.with_interrupt(interrupt)
    }

    fn do_not_wait(&self, file: &OwnedFd) -> Result<(), Error> {
        let flags = fcntl_getfl(file).map_err(|error| failed(&self.name, error))?;
        fcntl_setfl(file, flags | OFlags::NONBLOCK).map_err(|error| failed(&self.name, error))
    }

    /// Acknowledges interrupts and enables the next. Returns whether the device's register ERROR is
    /// set.
    fn acknowledge(&mut self) -> Result<bool, Error> {
        let Some(file) = &self.interrupt else { return Ok(false) };
        // The number of interrupts does not matter, even if it is 0.
        let _ = read(file, &mut [0_u8; 4]);
        let happened = Transport::read(self, INTERRUPT)?;
        Transport::write(self, INTERRUPT, happened)?;
        // Any later event raises the line again, and this write enables its interrupt. Not every
        // file accepts the write.
        if let Some(file) = &self.interrupt {
            let _ = write(file, &1_u32.to_ne_bytes());
        }
        Ok(Transport::read(self, ERROR)? != 0)
    }

    /// Waits until a stream is ready, at most until `end`. Returns false if the time is over or the
    /// device has recorded an error.
    fn wait(&mut self, sending: bool, end: Instant) -> Result<bool, Error> {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut files = vec![PollFd::new(&self.from_device, PollFlags::IN)];
        if sending {
            files.push(PollFd::new(&self.to_device, PollFlags::OUT));
        }
        let streams = files.len();
        files.extend(self.interrupt.iter().map(|file| PollFd::new(file, PollFlags::IN)));
        let ready = match poll(&mut files, Some(&timeout)) {
            Ok(ready) => ready > 0,
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(failed(&self.name, error)),
        };
        let alarm = files[streams..].iter().any(|file| !file.revents().is_empty());
        let moves = files[..streams].iter().any(|file| !file.revents().is_empty());
        drop(files);
        // Received data comes first: it may be the complete answer.
        Ok(if alarm && !moves { !self.acknowledge()? } else { ready })
    }

    /// The time limit without progress.
    fn allowed(&self, quiet_cycles: u64) -> Duration {
        Duration::from_secs_f64(quiet_cycles as f64 / self.clock_hz as f64) + TIMEOUT_MARGIN
    }

    /// Sends as many of the bytes as the stream accepts and returns their number.
    fn put(&self, bytes: &[u8]) -> Result<usize, Error> {
        if bytes.is_empty() { Ok(0) } else { self.passed(write(&self.to_device, bytes)) }
    }

    /// The number of bytes transferred; 0 if the stream would block.
    fn passed(&self, result: Result<usize, Errno>) -> Result<usize, Error> {
        match result {
            Ok(bytes) => Ok(bytes),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(failed(&self.name, error)),
        }
    }
}

impl<W: Window> Transport for MemoryMapped<W> {
    fn describe(&self) -> String {
        self.name.clone()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        Ok(self.window.read(address).ok_or(ErrorKind::Refused { address })?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        Ok(self.window.write(address, value).ok_or(ErrorKind::Refused { address })?)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let items = (exchange.input.len() / exchange.input_item) as u64;
        let mut time = Deadline::new(self.allowed(exchange.quiet_cycles), self.most(exchange.quiet_cycles, items));
        let (mut sent, mut received) = (0, 0);
        while received < exchange.output.len() {
            // A write is a packet, or the rest of one.
            let rest = exchange.input.get(sent..).unwrap_or_default();
            let put = self.put(rest)?;
            let got = match read(&self.from_device, &mut exchange.output[received..]) {
                Ok(0) => return Err(exchange.cut_short(received)),
                got => self.passed(got)?,
            };
            (sent, received) = (sent + put, received + got);
            // A device that records an error returns nothing more; its register ERROR holds the
            // cause.
            if !time.may_continue_after(put + got) || put + got == 0 && !self.wait(!rest.is_empty(), time.end)? {
                return Err(exchange.stalled(sent, received));
            }
        }
        Ok(())
    }

    /// The stream shows bytes without packet boundaries: everything before the echo is dropped.
    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        // Total limit: a device that never stops sending is given up too.
        let allowed = self.allowed(marks.quiet_cycles);
        let mut time = Deadline::new(allowed, allowed);
        // Dropped data may contain plaintexts. The capacity is reserved up front, since a growing
        // vector leaves copies behind.
        let mut piece = Zeroizing::new([0; IO_CHUNK]);
        let mut last = Zeroizing::new(Vec::with_capacity(marks.echo.len() + IO_CHUNK));
        let mut sent = 0;
        while !last.ends_with(marks.echo) {
            // A write is a packet, or the rest of one.
            let packet = (sent / marks.packet + 1) * marks.packet;
            let rest = marks.input.get(sent..packet).unwrap_or_default();
            let put = self.put(rest)?;
            let got = match read(&self.from_device, &mut piece[..]) {
                Ok(0) => return Err(marks.stalled(sent)),
                got => self.passed(got)?,
            };
            sent += put;
            last.extend_from_slice(&piece[..got]);
            let dropped = last.len().saturating_sub(marks.echo.len());
            last.drain(..dropped);
            // Errors are expected here: the rest of a truncated packet is one.
            if !time.may_continue_after(put + got)
                || put + got == 0 && !self.wait(!rest.is_empty(), time.end)? && time.is_over()
            {
                return Err(marks.stalled(sent));
            }
        }
        Ok(())
    }
}

impl<W: Window> MemoryMapped<W> {
    /// Total time limit for a packet of `items` items, whatever the progress. It stops a device
    /// that only sends a beat now and then.
    fn most(&self, quiet_cycles: u64, items: u64) -> Duration {
        let cycles = quiet_cycles as f64 * (items + 2) as f64;
        Duration::from_secs_f64(cycles / self.clock_hz as f64) + MAX_MARGINS * TIMEOUT_MARGIN
    }
}

/// Time limits of an operation.
struct Deadline {
    allowed: Duration,
    /// Limit without progress.
    end: Instant,
    /// Limit in total.
    last: Instant,
}

impl Deadline {
    fn new(allowed: Duration, most: Duration) -> Self {
        let now = Instant::now();
        Self { allowed, end: now + allowed, last: now + most }
    }

    /// Records the transfer of `bytes` bytes and returns whether the operation may go on.
    fn may_continue_after(&mut self, bytes: usize) -> bool {
        if bytes > 0 {
            self.end = self.last.min(Instant::now() + self.allowed);
        }
        !self.is_over()
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

impl Mapping {
    /// Maps the window of `bytes` bytes at `offset` of a file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn new(window: &impl AsFd, offset: u64, bytes: usize) -> rustix::io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let base = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, window, offset)? };
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { base, bytes })
    }

    /// Pointer to the register at a byte address, if it is aligned and in the window.
    fn at(&self, address: u32) -> Option<*mut u32> {
        let address = address as usize;
        let inside = address.is_multiple_of(4) && address + 4 <= self.bytes;
        inside.then(|| self.base.as_ptr().wrapping_byte_add(address))
    }
}

impl Window for Mapping {
    fn read(&mut self, address: u32) -> Option<u32> {
        // SAFETY: `at` returns an aligned address inside the mapping, which lives as long as
        // `self`.
        self.at(address).map(|register| unsafe { ptr::read_volatile(register) })
    }

    fn write(&mut self, address: u32, value: u32) -> Option<()> {
        // SAFETY: as in `read`.
        self.at(address).map(|register| unsafe { ptr::write_volatile(register, value) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is not used after this.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

impl<W> fmt::Debug for MemoryMapped<W> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("MemoryMapped").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Mapping").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

fn opened(path: &Path, options: &OpenOptions) -> Result<OwnedFd, Error> {
    let file = options.open(path).map_err(|error| io_error(&path.display().to_string(), error))?;
    Ok(OwnedFd::from(file))
}

fn failed(what: &str, error: Errno) -> Error {
    io_error(what, error.into())
}

fn io_error(what: &str, error: io::Error) -> Error {
    ErrorKind::Io { what: what.to_owned(), source: Arc::new(error) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Progress extends the time limit, but not for ever.
    #[test]
    fn a_beat_now_and_then_is_not_enough() {
        let mut time = Deadline::new(Duration::from_millis(40), Duration::from_millis(100));
        let start = Instant::now();
        while time.may_continue_after(1) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(time.is_over() && start.elapsed() >= Duration::from_millis(100));
        let mut time = Deadline::new(Duration::from_millis(40), Duration::from_secs(100));
        let start = Instant::now();
        while time.may_continue_after(0) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(start.elapsed() >= Duration::from_millis(40));
    }
}
