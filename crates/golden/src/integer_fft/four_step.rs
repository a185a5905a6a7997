//! Products over memory by four-step transforms \[Bailey90\], as in `rtl/dghv/four_step.sv`: their
//! cycles, and the words that they move.

/// The configuration of `four_step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourStep {
    /// Logarithm of the longest transform of a column or row.
    pub log: u64,
    /// Number of columns of a tile.
    pub columns: u64,
    /// Length of a digit in bits.
    pub base: u64,
    /// Length of a word in bits.
    pub word: u64,
}

/// A matrix of points, given by the logarithms of its numbers of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Logarithm of the number of rows, which is the length of a column.
    pub rows: u64,
    /// Logarithm of the number of columns, which is the length of a row.
    pub columns: u64,
}

impl Shape {
    /// The number of points.
    pub const fn points(self) -> u64 {
        1 << (self.rows + self.columns)
    }
}

/// Latency of `root_product` in cycles, and cycles before and after it.
const PRODUCT: u64 = 19;
const LEAD: u64 = 3;
/// Cycles of the carry, from the start of its pass to the last word of a product that fills its
/// shape.
const CARRY: u64 = 7;

impl FourStep {
    /// The configuration with 2048 points and digits of 20 bits, for products of up to 84 million
    /// bits.
    pub const LONG: FourStep = FourStep { log: 11, columns: 16, base: 20, word: 64 };

    /// The shape with the fewest points that holds a product of `product` bits.
    ///
    /// It is as square as possible, with more columns than rows if they differ. `None` if no shape
    /// is large enough. `shortest` is the logarithm of the shortest transform.
    pub fn shape(&self, shortest: u64, product: u64) -> Option<Shape> {
        let points = (2 * shortest..=2 * self.log).find(|&log| self.base << log >= product)?;
        Some(Shape { rows: points / 2, columns: points.div_ceil(2) })
    }

    /// Cycles of a transform of `2^log` items on the unit for the longest transform: its memories,
    /// butterflies, powers of two, and product.
    pub const fn transform(&self, log: u64) -> u64 {
        (1 << log) - 1 + 2 * self.log + 4 * (self.log - 2) + 4 + 3 + 4
    }

    /// Cycles of a round of `tile_compute` over `blocks` blocks of `2^log` items.
    const fn round(&self, blocks: u64, log: u64) -> u64 {
        (blocks << log) + self.transform(log) + PRODUCT + LEAD + 1
    }

    /// Cycles of a tile's work between two beats, for columns of `2^log` items.
    const fn column_work(&self, log: u64) -> u64 {
        self.round(self.columns, log) + 2
    }

    /// Cycles of a tile's work for rows of both factors and of their products.
    const fn row_work(&self, log: u64) -> u64 {
        self.round(self.columns, log) + self.round(self.columns / 2, log) + 2
    }

    /// Cycles of a pass over `tiles` tiles. The first tile is loaded, each is processed while
    /// others are loaded and stored, and the last is stored.
    fn pass(tiles: u64, load: u64, work: u64, store: u64) -> u64 {
        let beat = |tile: u64| {
            let loads = if tile < tiles { load } else { 0 };
            let works = if 0 < tile && tile <= tiles { work } else { 0 };
            let stores = if tile > 1 { store } else { 0 };
            loads.max(works).max(stores)
        };
        // One cycle to start, and one until all written words are in memory.
        2 + (0..tiles + 2).map(beat).sum::<u64>()
    }

    /// Cycles from the start of a product to its end, including both, with a memory that responds
    /// immediately.
    ///
    /// They cover the passes of x, of y, of both by rows, of the inverse, and of the carry. A
    /// product that does not fill its shape takes two fewer.
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

    /// Numbers of words read and written, including the factors and the result.
    pub fn moved(&self, shape: Shape, x: u64, y: u64, z: u64) -> (u64, u64) {
        let matrix = shape.points();
        (x + y + 4 * matrix, 4 * matrix + z)
    }

    /// Number of words of scratch memory.
    pub fn scratch(&self, shape: Shape) -> u64 {
        2 * shape.points()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products fill shapes to the last bit, and shapes are no larger than necessary.
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

    /// Cycles are seven per point, plus less than 35 % for tiles at every size of Table 6.
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
