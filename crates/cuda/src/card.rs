//! One open card: kernels by name, streams, and memory that is overwritten before it is freed.
//!
//! A card processes rows in chunks. There are two lanes, each with its own memory for copies. One
//! chunk is computed while the next one arrives, the previous one leaves, and the CPU prepares and
//! reads others. Kernels share one stream and run one after the other, so the memory that only they
//! use exists once. The size of a chunk bounds the memory in use:
//!
//! ```text
//! arriving   copy 0   copy 1            copy 2 ...
//! computing           kernels 0  kernels 1       kernels 2 ...
//! leaving                        copy 0    copy 1 ...
//! ```

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use crate::driver::{Address, Context, Driver, Event, Handle, Pinned, Properties, Stream};
use crate::fault::{Fault, OLDEST_CARD};
use crate::images;
use crate::job::Job;
use crate::limbs;
use crate::shape::{Arithmetic, Kernel, Operation, Size};

/// Selects the kernels, `wide` or `narrow`, regardless of the card's properties.
pub const KERNEL_VARIABLE: &str = "HEARITH_CUDA_KERNEL";

/// Rows of a chunk: enough to fill a card, and at most 200 MB per lane.
pub(crate) const ROWS: usize = 1 << 16;
/// Threads of a block: `kernels/lanes.cuh`.
const BLOCK: usize = 128;
/// Blocks per multiprocessor of a kernel with few registers.
const RESIDENT: usize = 16;

/// Chunks in progress at a time.
pub(crate) const LANES: usize = 2;

/// The uses of a card's memory. Each has one allocation, as large as the largest request so far.
/// Buffers that are copied while kernels run have one allocation per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Buffer {
    /// The first and the second operand as words.
    Words(usize),
    SecondWords(usize),
    /// One exponent per row.
    RowExponents(usize),
    Index(usize),
    Output(usize),
    /// The operands in limbs.
    Input,
    Second,
    Scratch,
    Key,
    /// An exponent that all rows share.
    Exponent,
}

#[derive(Clone, Copy)]
struct Allocation {
    address: Address,
    bytes: usize,
}

/// The streams, and the events of each lane.
struct Streams {
    arriving: Stream,
    computing: Stream,
    leaving: Stream,
    lanes: [Events; LANES],
}

/// The progress of a lane's chunk.
#[derive(Clone, Copy)]
struct Events {
    arrived: Event,
    started: Event,
    computed: Event,
    left: Event,
}

impl Streams {
    fn new(context: &Context) -> Result<Self, Fault> {
        let events = || {
            let event = || context.event();
            Ok::<_, Fault>(Events { arrived: event()?, started: event()?, computed: event()?, left: event()? })
        };
        let stream = || context.stream();
        Ok(Streams { arriving: stream()?, computing: stream()?, leaving: stream()?, lanes: [events()?, events()?] })
    }

    fn end(&self, context: &Context) {
        let events = self.lanes.map(|Events { arrived, started, computed, left }| [arrived, started, computed, left]);
        context.end(&[self.arriving, self.computing, self.leaving], &events.concat());
    }
}

/// A card that is open in this process. Dropping it overwrites all its memory first.
pub(crate) struct Card {
    context: Context,
    properties: Properties,
    arithmetic: Arithmetic,
    functions: HashMap<Kernel, Handle>,
    memory: HashMap<Buffer, Allocation>,
    /// Pinned memory for copies to or from the same buffer of the card.
    pinned: HashMap<Buffer, Pinned>,
    streams: Streams,
    /// Rows of a chunk.
    rows: usize,
    /// Whether its memory may hold confidential data.
    used: bool,
    /// Total run time of kernels.
    busy: Duration,
}

// SAFETY: function handles belong to the driver and are valid in every thread while the module is
// loaded.
unsafe impl Send for Card {}

impl Card {
    /// Opens card `number` of the driver, with the kernels that `HEARITH_CUDA_KERNEL` names, or
    /// else those that suit the card.
    pub(crate) fn open(driver: &Driver, number: usize) -> Result<Self, Fault> {
        Self::open_with(driver, number, chosen()?)
    }

    pub(crate) fn open_with(driver: &Driver, number: usize, chosen: Option<Arithmetic>) -> Result<Self, Fault> {
        let properties = driver.properties(number)?;
        check_age(&properties)?;
        let arithmetic = chosen.unwrap_or(images::suited(properties.capability));
        let image = images::image(arithmetic, properties.capability)?;
        let context = Context::open(driver, number, &image)?;
        let streams = Streams::new(&context)?;
        let (functions, memory, pinned) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (rows, used, busy) = (ROWS, false, Duration::ZERO);
        Ok(Card { context, properties, arithmetic, functions, memory, pinned, streams, rows, used, busy })
    }

    pub(crate) fn properties(&self) -> &Properties {
        &self.properties
    }

    pub(crate) fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Most rows of a chunk.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows of a chunk for a kernel that assigns a row to each group of threads: a multiple of the
    /// number of groups if possible, so that all groups are busy to the end.
    pub(crate) fn chunk(&self, kernel: Kernel) -> usize {
        let groups = self.groups(kernel);
        if self.rows < groups { self.rows } else { self.rows - self.rows % groups }
    }

    /// The same card with chunks of `rows` rows.
    #[cfg(all(test, feature = "emulated"))]
    pub(crate) fn with_rows(self, rows: usize) -> Self {
        // The card must stay whole, because `Card` implements `Drop`.
        let mut card = self;
        card.rows = rows;
        card
    }

    /// Total run time of kernels, by the card's own clock.
    pub(crate) fn busy(&self) -> Duration {
        self.busy
    }

    /// Numbers that a kernel computes at a time. Each thread computes until no row is left.
    pub(crate) fn groups(&self, kernel: Kernel) -> usize {
        self.properties.multiprocessors * kernel.blocks() * BLOCK / kernel.threads
    }

    /// Numbers that a block of threads computes at a time. Launches consist of whole blocks.
    pub(crate) fn block(&self, size: Size) -> usize {
        BLOCK / size.threads
    }

    /// Returns memory of at least `bytes` bytes. Its previous content may be lost.
    pub(crate) fn reserve(&mut self, buffer: Buffer, bytes: usize) -> Result<Address, Fault> {
        self.used = true;
        if let Some(allocation) = self.memory.get(&buffer).copied() {
            if allocation.bytes >= bytes {
                return Ok(allocation.address);
            }
            // Running kernels may still use it.
            self.context.synchronise()?;
            self.memory.remove(&buffer);
            self.zero_and_free(allocation)?;
        }
        let bytes = bytes.max(1);
        let address = self.context.allocate(bytes)?;
        self.memory.insert(buffer, Allocation { address, bytes });
        Ok(address)
    }

    /// Writes bytes to memory that all following chunks use.
    pub(crate) fn put(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<Address, Fault> {
        let address = self.reserve(buffer, bytes.len())?;
        self.context.write(address, bytes)?;
        Ok(address)
    }

    /// Starts to copy bytes to a buffer of an idle lane.
    pub(crate) fn send(
        &mut self,
        buffer: Buffer,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Address, Fault> {
        let address = self.reserve(buffer, bytes)?;
        let stream = self.streams.arriving;
        let pinned = self.pinned(buffer, bytes)?;
        fill(&mut pinned.bytes_mut()[..bytes]);
        let pinned = &self.pinned[&buffer];
        // SAFETY: the lane's memory is not touched before its chunk has left.
        unsafe { self.context.send(address, pinned, bytes, stream) }?;
        Ok(address)
    }

    /// Makes all kernels started from here on wait for everything sent so far.
    pub(crate) fn begin(&self, lane: usize) -> Result<(), Fault> {
        let Streams { arriving, computing, lanes, .. } = &self.streams;
        self.context.mark(lanes[lane].arrived, *arriving)?;
        self.context.follow(*computing, lanes[lane].arrived)?;
        self.context.mark(lanes[lane].started, *computing)
    }

    /// Starts to copy a lane's output to this machine, as soon as the kernels started so far have
    /// ended.
    pub(crate) fn leave(&mut self, lane: usize, bytes: usize) -> Result<(), Fault> {
        let buffer = Buffer::Output(lane);
        let address = self.memory.get(&buffer).map_or(0, |allocation| allocation.address);
        self.pinned(buffer, bytes)?;
        let Streams { computing, leaving, lanes, .. } = &self.streams;
        self.context.mark(lanes[lane].computed, *computing)?;
        self.context.follow(*leaving, lanes[lane].computed)?;
        // SAFETY: the lane's memory is not touched before its chunk has left.
        unsafe { self.context.fetch(&self.pinned[&buffer], address, bytes, *leaving) }?;
        self.context.mark(lanes[lane].left, *leaving)
    }

    /// Waits until a lane's chunk has left, and returns its output.
    pub(crate) fn collect(&mut self, lane: usize, bytes: usize) -> Result<&[u8], Fault> {
        let Events { started, computed, left, .. } = self.streams.lanes[lane];
        self.context.reach(left)?;
        self.busy += self.context.between(started, computed)?;
        Ok(&self.pinned[&Buffer::Output(lane)].bytes()[..bytes])
    }

    /// Waits for everything in progress, after an error.
    pub(crate) fn abandon(&self) {
        // The failure is known already, and a dead context has nothing in progress.
        let _ = self.context.synchronise();
    }

    /// Pinned memory of at least `bytes` bytes for an idle lane.
    fn pinned(&mut self, buffer: Buffer, bytes: usize) -> Result<&mut Pinned, Fault> {
        self.used = true;
        if self.pinned.get(&buffer).is_none_or(|pinned| pinned.len() < bytes) {
            if let Some(pinned) = self.pinned.remove(&buffer) {
                self.context.unpin(pinned)?;
            }
            self.pinned.insert(buffer, self.context.pin(bytes.max(1))?);
        }
        Ok(self.pinned.get_mut(&buffer).expect("it is there now"))
    }

    /// Starts a kernel after the previous ones, with enough threads for `rows` numbers, or with the
    /// most threads that fit.
    ///
    /// # Safety
    /// Each address in the job refers to memory of the size that the kernel assumes.
    pub(crate) unsafe fn run(&mut self, kernel: Kernel, job: &Job) -> Result<(), Fault> {
        let stream = Some(self.streams.computing);
        // SAFETY: the caller guarantees the addresses; memory is freed only after everything has
        // ended.
        unsafe { self.launch(kernel, job, stream) }
    }

    /// # Safety
    /// Like [`Card::run`].
    unsafe fn launch(&mut self, kernel: Kernel, job: &Job, stream: Option<Stream>) -> Result<(), Fault> {
        let function = match self.functions.get(&kernel) {
            Some(function) => *function,
            None => {
                let function = self.context.function(&kernel.to_string())?;
                self.functions.insert(kernel, function);
                function
            }
        };
        let wanted = (job.rows as usize).saturating_mul(kernel.threads).div_ceil(BLOCK);
        let most = match kernel.operation {
            Operation::Wipe => self.properties.multiprocessors * RESIDENT,
            _ => self.properties.multiprocessors * kernel.blocks(),
        };
        let blocks = wanted.clamp(1, most) as u32;
        // SAFETY: every kernel takes a job, and the caller guarantees its addresses.
        unsafe { self.context.launch(function, (blocks, BLOCK as u32), job, stream) }
    }

    /// Overwrites everything that earlier work left: the card's memory, the local memory of
    /// threads, and pinned memory.
    pub(crate) fn wipe(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.used) {
            return Ok(());
        }
        // Pinned memory is wiped even if this fails: a dead context does not continue its copies.
        let ended = self.context.synchronise();
        if matches!(ended, Err(Fault::Forked)) {
            return ended;
        }
        self.pinned.values_mut().for_each(|pinned| limbs::wipe(pinned.bytes_mut()));
        ended?;
        for allocation in self.memory.values() {
            self.context.zero(allocation.address, allocation.bytes)?;
        }
        let Some(words) = self.memory.values().next().copied() else { return Ok(()) };
        let kernel = self.arithmetic.kernel(Operation::Wipe, Size { limbs: 0, threads: 1 });
        let rows = (self.properties.multiprocessors * RESIDENT * BLOCK) as u64;
        let job = Job { rows, output: words.address, ..Job::default() };
        // SAFETY: it writes nothing there unless local memory does not hold what was just written.
        let wiped = unsafe { self.launch(kernel, &job, None) };
        self.used = false;
        wiped
    }

    fn zero_and_free(&self, allocation: Allocation) -> Result<(), Fault> {
        self.context.zero(allocation.address, allocation.bytes)?;
        self.context.free(allocation.address)
    }
}

/// Fails unless there are kernels for the card.
pub(crate) fn check_age(properties: &Properties) -> Result<(), Fault> {
    let (major, minor) = properties.capability;
    if properties.capability >= OLDEST_CARD {
        return Ok(());
    }
    Err(Fault::CardTooOld { name: properties.name.clone(), major, minor })
}

/// The kernels that the environment selects.
fn chosen() -> Result<Option<Arithmetic>, Fault> {
    let Some(value) = std::env::var(KERNEL_VARIABLE).ok().filter(|value| !value.is_empty()) else { return Ok(None) };
    let found = Arithmetic::ALL.into_iter().find(|arithmetic| arithmetic.name() == value);
    found.map(Some).ok_or(Fault::Choice { variable: KERNEL_VARIABLE, value, choices: "expected 'wide' or 'narrow'" })
}

impl Drop for Card {
    fn drop(&mut self) {
        // A context that died of an error cannot be overwritten (docs/explanation/gpu.md), and a
        // child of fork has no context.
        let _ = self.wipe();
        for allocation in std::mem::take(&mut self.memory).into_values() {
            let _ = self.zero_and_free(allocation);
        }
        for pinned in std::mem::take(&mut self.pinned).into_values() {
            let _ = self.context.unpin(pinned);
        }
        self.streams.end(&self.context);
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Card({}, {})", self.properties, self.arithmetic)
    }
}
