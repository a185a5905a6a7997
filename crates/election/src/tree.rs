//! The Merkle tree over the board's lines (RFC 6962, section 2.1), whose root commits to all of
//! them.

use crate::canonical::Hash;

/// The leaf hash of a line.
pub fn leaf_hash(line: &str) -> Hash {
    Hash::of(&[&[0], line.as_bytes()])
}

fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Hash::of(&[&[1], &left.0, &right.0])
}

/// A Merkle tree that grows leaf by leaf. It stores only the roots of the full subtrees, largest
/// first, one for each set bit of its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    full: Vec<Hash>,
}

impl Tree {
    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf.
    pub fn push(&mut self, leaf: Hash) {
        let mut node = leaf;
        // Merges as many full subtrees as the size has trailing one bits.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.full.pop() {
                node = node_hash(&left, &node);
            }
        }
        self.full.push(node);
        self.size += 1;
    }

    /// The root of the tree.
    pub fn root(&self) -> Hash {
        let mut subtrees = self.full.iter().rev();
        match subtrees.next() {
            None => Hash::of(&[]),
            Some(&last) => subtrees.fold(last, |right, left| node_hash(left, &right)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition in RFC 6962: the largest power of two below the size separates left from
    /// right.
    fn defined(leaves: &[Hash]) -> Hash {
        match leaves.len() {
            0 => Hash::of(&[b""]),
            1 => leaves[0],
            size => {
                let left = size.next_power_of_two() / 2;
                node_hash(&defined(&leaves[..left]), &defined(&leaves[left..]))
            }
        }
    }

    #[test]
    fn roots_are_those_of_the_definition() {
        let leaves: Vec<Hash> = (0..70).map(|line| leaf_hash(&format!("line {line}"))).collect();
        let mut tree = Tree::default();
        for size in 0..leaves.len() {
            assert_eq!((tree.size(), tree.root()), (size as u64, defined(&leaves[..size])));
            tree.push(leaves[size]);
        }
    }

    #[test]
    fn known_roots() {
        // The first inputs of the Certificate Transparency project's own tests: leaves "" and 0x00.
        let mut tree = Tree::default();
        assert_eq!(tree.root().to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        tree.push(leaf_hash(""));
        assert_eq!(tree.root().to_string(), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        tree.push(leaf_hash("\0"));
        assert_eq!(tree.root().to_string(), "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
    }
}
