//! Products over memory by four-step transforms \[Bailey90\], as `rtl/dghv/four_step.sv` makes
//! them: their cycles, and the words that they move.

/// How `four_step` is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourStep {
    /// Logarithm of the longest transform of a column or row.
    pub log: u64,
    /// Columns of a tile.
    pub columns: u64,
    /// Bits of a digit.
    pub base: u64,
    /// Bits of a word.
    pub word: u64,
}

/// A matrix of so many points: logarithms of its rows and of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Of its rows, the length of its columns.
    pub rows: u64,
    /// Of its columns, the length of its rows.
    pub columns: u64,
}

impl Shape {
    /// Points.
    pub const fn points(self) -> u64 {
        1 << (self.rows + self.columns)
    }
}

/// Cycles of the way through `root_product`, and of what is before it and behind.
const PRODUCT: u64 = 19;
const LEAD: u64 = 3;
/// Of the carry's way, from the beginning of its pass to the last word of a product that fills its
/// shape.
const CARRY: u64 = 7;

impl FourStep {
    /// That of 2048 points and digits of 20 bits, for products of up to 84 million bits.
    pub const LONG: FourStep = FourStep { log: 11, columns: 16, base: 20, word: 64 };

    /// The shape of the fewest points that hold a product of so many bits, as square as can be,
    /// columns rather than rows; none if there is none. `shortest` is the logarithm of the shortest
    /// transform.
    pub fn shape(&self, shortest: u64, product: u64) -> Option<Shape> {
        let points = (2 * shortest..=2 * self.log).find(|&log| self.base << log >= product)?;
        Some(Shape { rows: points / 2, columns: points.div_ceil(2) })
    }

    /// Cycles of a transform of `2^log` items by the one for the longest: its memories, its
    /// butterflies, its powers of two, its product.
    pub const fn transform(&self, log: u64) -> u64 {
        (1 << log) - 1 + 2 * self.log + 4 * (self.log - 2) + 4 + 3 + 4
    }

    /// Cycles of a round of `tile_compute`, so many blocks of `2^log` items.
    const fn round(&self, blocks: u64, log: u64) -> u64 {
        (blocks << log) + self.transform(log) + PRODUCT + LEAD + 1
    }

    /// Cycles of a tile's work between two beats: columns of `2^log` items.
    const fn column_work(&self, log: u64) -> u64 {
        self.round(self.columns, log) + 2
    }

    /// Of rows of both factors, and of their products.
    const fn row_work(&self, log: u64) -> u64 {
        self.round(self.columns, log) + self.round(self.columns / 2, log) + 2
    }

    /// Cycles of a pass over `tiles` tiles: the first is loaded, each worked on while others are
    /// loaded and stored, the last stored.
    fn pass(tiles: u64, load: u64, work: u64, store: u64) -> u64 {
        let beat = |tile: u64| {
            let loads = if tile < tiles { load } else { 0 };
            let works = if 0 < tile && tile <= tiles { work } else { 0 };
            let stores = if tile > 1 { store } else { 0 };
            loads.max(works).max(stores)
        };
        // One to begin, one in which all that was written is in memory.
        2 + (0..tiles + 2).map(beat).sum::<u64>()
    }

    /// Cycles from the start of a product to its end, both included, for a memory that answers at
    /// once: the passes of x, of y, of both by rows, back, and of the carry. One that does not fill
    /// its shape takes two fewer.
    pub fn cycles(&self, shape: Shape) -> u64 {
        let [column, row, points] = [shape.rows, shape.columns, shape.points()];
        let (tiles, items) = ((1 << row) / self.columns, self.columns << column);
        let [load, digits, store] = [items + 3, items + 4, items + 3];
        let factor = Self::pass(tiles, digits, self.column_work(column), store);
        let back = Self::pass(tiles, load, self.column_work(column), store);
        let (tiles, items) = ((2 << column) / self.columns, self.columns << row);
        let rows = Self::pass(tiles, items + 3, self.row_work(row), items / 2 + 3);
        2 * factor + rows + back + points + CARRY
    }

    /// Words read and written, numbers included.
    pub fn moved(&self, shape: Shape, x: u64, y: u64, z: u64) -> (u64, u64) {
        let matrix = shape.points();
        (x + y + 4 * matrix, 4 * matrix + z)
    }

    /// Words of the scratch.
    pub fn scratch(&self, shape: Shape) -> u64 {
        2 * shape.points()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products fill shapes to the last bit, and no longer ones than they must.
    #[test]
    fn shapes_hold_their_products() {
        let long = FourStep::LONG;
        for (product, rows, columns) in
            [(1, 6, 6), (20 << 12, 6, 6), ((20 << 12) + 1, 6, 7), (2 * 19_350_000, 10, 11), (20 << 22, 11, 11)]
        {
            assert_eq!(long.shape(6, product), Some(Shape { rows, columns }), "{product} bits");
        }
        assert_eq!(long.shape(6, (20 << 22) + 1), None);
    }

    /// Seven times the points, and what tiles add to it, less than a sixth at every size of
    /// Table 6.
    #[test]
    fn cycles_are_quasi_linear() {
        let long = FourStep::LONG;
        for bits in [150_000, 830_000, 4_200_000, 19_350_000] {
            let shape = long.shape(6, 2 * bits).unwrap();
            let over = long.cycles(shape) as f64 / (7 * shape.points()) as f64;
            assert!((1.0..1.35).contains(&over), "{bits} bits: {over}");
        }
    }
}
