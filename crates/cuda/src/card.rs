//! One card, opened: kernels by name, and memory that is overwritten before it is given back.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::driver::{Address, Context, Driver, Handle, Properties};
use crate::fault::{Fault, OLDEST_CARD};
use crate::images;
use crate::job::Job;
use crate::shape::{Arithmetic, Kernel, Operation, Size};

/// Chooses the kernels instead of the card's properties: `wide` or `narrow`.
pub const KERNEL_VARIABLE: &str = "HEARITH_CUDA_KERNEL";

/// Threads of a block, and blocks of a multiprocessor: `LAUNCH` in `kernels/kernels.cuh`.
const BLOCK: usize = 128;
const BLOCKS: usize = 2;
/// Blocks that a multiprocessor can hold of a kernel that needs little.
const RESIDENT: usize = 16;

/// What a piece of a card's memory is for: one piece each, as large as it was ever needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Words,
    Input,
    Second,
    Output,
    Scratch,
    Key,
    Exponents,
    Index,
}

#[derive(Clone, Copy)]
struct Piece {
    address: Address,
    bytes: usize,
}

/// A card that is open in this process. When dropped, all that it held is overwritten first.
pub(crate) struct Card {
    context: Context,
    properties: Properties,
    arithmetic: Arithmetic,
    functions: HashMap<Kernel, Handle>,
    memory: HashMap<Place, Piece>,
    /// Whether its memory may hold what no one should find.
    used: bool,
    /// How long kernels ran.
    busy: Duration,
}

// SAFETY: handles of functions are the driver's, valid in every thread while the module is loaded.
unsafe impl Send for Card {}

impl Card {
    /// Opens card `number` of the driver, with the kernels that suit it or that
    /// `HEARITH_CUDA_KERNEL` names.
    pub(crate) fn open(driver: &Driver, number: usize) -> Result<Self, Fault> {
        Self::open_with(driver, number, chosen()?)
    }

    pub(crate) fn open_with(driver: &Driver, number: usize, chosen: Option<Arithmetic>) -> Result<Self, Fault> {
        let properties = driver.properties(number)?;
        check_age(&properties)?;
        let arithmetic = chosen.unwrap_or(images::suited(properties.capability));
        let image = images::image(arithmetic, properties.capability)?;
        let context = Context::open(driver, number, &image)?;
        let (functions, memory) = (HashMap::new(), HashMap::new());
        Ok(Card { context, properties, arithmetic, functions, memory, used: false, busy: Duration::ZERO })
    }

    pub(crate) fn properties(&self) -> &Properties {
        &self.properties
    }

    pub(crate) fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// How long kernels ran, from their start until this process knew of their end.
    pub(crate) fn busy(&self) -> Duration {
        self.busy
    }

    /// Threads that are resident at a time, of which each computes until no row is left.
    fn threads(&self) -> usize {
        self.properties.multiprocessors * BLOCKS * BLOCK
    }

    /// Numbers that are computed at a time.
    pub(crate) fn groups(&self, size: Size) -> usize {
        self.threads() / size.threads
    }

    /// Numbers that a block of threads computes at a time: launches are whole blocks.
    pub(crate) fn block(&self, size: Size) -> usize {
        BLOCK / size.threads
    }

    /// Memory of at least so many bytes; what it held before is no longer of use.
    pub(crate) fn at_least(&mut self, place: Place, bytes: usize) -> Result<Address, Fault> {
        self.used = true;
        if let Some(piece) = self.memory.get(&place).copied() {
            if piece.bytes >= bytes {
                return Ok(piece.address);
            }
            self.memory.remove(&place);
            self.give_back(piece)?;
        }
        let bytes = bytes.max(1);
        let address = self.context.allocate(bytes)?;
        self.memory.insert(place, Piece { address, bytes });
        Ok(address)
    }

    /// Memory with these bytes in it.
    pub(crate) fn put(&mut self, place: Place, bytes: &[u8]) -> Result<Address, Fault> {
        let address = self.at_least(place, bytes.len())?;
        self.context.write(address, bytes)?;
        Ok(address)
    }

    /// The first bytes of a place.
    pub(crate) fn get(&self, place: Place, bytes: &mut [u8]) -> Result<(), Fault> {
        let address = self.memory.get(&place).map_or(0, |piece| piece.address);
        self.context.read(address, bytes)
    }

    /// Runs a kernel to its end, with threads for `rows` numbers, or as many as there are.
    ///
    /// # Safety
    /// Addresses in the job are of memory as long as the kernel takes it for.
    pub(crate) unsafe fn run(&mut self, kernel: Kernel, job: &Job) -> Result<(), Fault> {
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
            _ => self.threads() / BLOCK,
        };
        let blocks = wanted.clamp(1, most) as u32;
        let start = Instant::now();
        // SAFETY: every kernel takes a job, and the caller promises its addresses.
        let done = unsafe { self.context.launch(function, blocks, BLOCK as u32, job) };
        self.busy += start.elapsed();
        done
    }

    /// Overwrites everything that earlier work left: the memory that this card was asked for, and
    /// what threads keep beside their registers.
    pub(crate) fn wipe(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.used) {
            return Ok(());
        }
        for piece in self.memory.values() {
            self.context.zero(piece.address, piece.bytes)?;
        }
        let Some(words) = self.memory.get(&Place::Output).or(self.memory.values().next()).copied() else {
            return Ok(());
        };
        let kernel = self.arithmetic.kernel(Operation::Wipe, Size { limbs: 0, threads: 1 });
        let rows = (self.properties.multiprocessors * RESIDENT * BLOCK) as u64;
        let job = Job { rows, output: words.address, ..Job::default() };
        // SAFETY: it writes nothing there unless local memory does not hold what was just written.
        let wiped = unsafe { self.run(kernel, &job) };
        self.used = false;
        wiped
    }

    fn give_back(&self, piece: Piece) -> Result<(), Fault> {
        self.context.zero(piece.address, piece.bytes)?;
        self.context.free(piece.address)
    }
}

/// Whether the card is one that has kernels.
pub(crate) fn check_age(properties: &Properties) -> Result<(), Fault> {
    let (major, minor) = properties.capability;
    if properties.capability >= OLDEST_CARD {
        return Ok(());
    }
    Err(Fault::CardTooOld { name: properties.name.clone(), major, minor })
}

/// The kernels that the environment asks for.
fn chosen() -> Result<Option<Arithmetic>, Fault> {
    let Some(value) = std::env::var(KERNEL_VARIABLE).ok().filter(|value| !value.is_empty()) else { return Ok(None) };
    let found = Arithmetic::ALL.into_iter().find(|arithmetic| arithmetic.name() == value);
    found.map(Some).ok_or(Fault::Choice { variable: KERNEL_VARIABLE, value, choices: "it may be 'wide' or 'narrow'" })
}

impl Drop for Card {
    fn drop(&mut self) {
        // Nothing overwrites a context that died of an error (docs/explanation/gpu.md), and a child
        // of fork has none.
        let _ = self.wipe();
        for piece in std::mem::take(&mut self.memory).into_values() {
            let _ = self.give_back(piece);
        }
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Card({}, {})", self.properties, self.arithmetic)
    }
}
