//! Counts of the encrypted values in each total of a column, and of their weights.
//!
//! A total of few values reveals them, however large their weights are. Values are therefore
//! counted separately from additions. A total of many values can also reveal single ones, if few of
//! them share a weight: with weights 1 and 10^6, the low digits reveal one value and the high
//! digits the other. Values are therefore counted for each weight.

use std::collections::HashMap;

/// The values in the totals of one column, by groups.
#[derive(Debug)]
pub(super) struct Values {
    /// Values with a weight other than 0.
    all: Vec<u64>,
    /// Values with weight 1.
    ones: Vec<u64>,
    /// For each group and weight other than 0 and 1, the number of values.
    weighted: HashMap<(u32, i64), u64>,
    /// Largest number of entries in `weighted`.
    limit: usize,
    /// Lower bound on the values of the rarest weight, where weights are not counted individually.
    bounds: Vec<Option<u64>>,
}

impl Values {
    /// No values. Up to `limit` weights are counted individually.
    pub(super) fn new(limit: usize) -> Self {
        Self { all: vec![], ones: vec![], weighted: HashMap::new(), limit, bounds: vec![] }
    }

    /// Allocates entries for groups.
    pub(super) fn grow(&mut self, groups: usize) {
        self.all.resize(groups, 0);
        self.ones.resize(groups, 0);
        self.bounds.resize(groups, None);
    }

    /// Counts one value with its weight.
    pub(super) fn count(&mut self, group: u32, weight: i64) {
        let at = group as usize;
        self.all[at] = self.all[at].saturating_add(u64::from(weight != 0));
        let known = self.weighted.len() < self.limit || self.weighted.contains_key(&(group, weight));
        match weight {
            0 => {}
            1 => self.ones[at] = self.ones[at].saturating_add(1),
            _ if known => *self.weighted.entry((group, weight)).or_default() += 1,
            _ => self.bounds[at] = Some(1),
        }
    }

    /// Counts the values of a total. Either all have weight 1, or `rarest` of them have the rarest
    /// weight.
    pub(super) fn merge(&mut self, group: u32, values: u64, rarest: Option<u64>) {
        let at = group as usize;
        if values == 0 {
            return;
        }
        self.all[at] = self.all[at].saturating_add(values);
        match rarest {
            None => self.ones[at] = self.ones[at].saturating_add(values),
            Some(rarest) => self.bounds[at] = Some(self.bounds[at].map_or(rarest, |bound| bound.min(rarest))),
        }
    }

    /// The number of values in each group. Unless all have weight 1, also the number with the
    /// rarest weight.
    pub(super) fn finish(self) -> Vec<(u64, Option<u64>)> {
        let mut rarest = self.bounds;
        for ((group, _), count) in self.weighted {
            let rarest = &mut rarest[group as usize];
            *rarest = Some(rarest.map_or(count, |bound| bound.min(count)));
        }
        for (rarest, &ones) in rarest.iter_mut().zip(&self.ones).filter(|(_, ones)| **ones > 0) {
            *rarest = rarest.map(|bound| bound.min(ones));
        }
        self.all.into_iter().zip(rarest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(limit: usize, weights: &[i64]) -> (u64, Option<u64>) {
        let mut values = Values::new(limit);
        values.grow(2);
        weights.iter().for_each(|&weight| values.count(1, weight));
        let found = values.finish();
        assert_eq!(found[0], (0, None));
        found[1]
    }

    #[test]
    fn each_weight_has_its_values() {
        assert_eq!(counted(9, &[]), (0, None));
        assert_eq!(counted(9, &[0, 0]), (0, None));
        assert_eq!(counted(9, &[1, 1, 0]), (2, None));
        assert_eq!(counted(9, &[5]), (1, Some(1)));
        assert_eq!(counted(9, &[3, 3, 1, 1, 1]), (5, Some(2)));
        assert_eq!(counted(9, &[3, 3, -3, 1, 1, 1]), (6, Some(1)));
        assert_eq!(counted(9, &[3, 3, 3, 1, 1]), (5, Some(2)));
    }

    #[test]
    fn weights_beyond_the_limit_count_as_ones_that_occur_once() {
        assert_eq!(counted(1, &[3, 3, 4, 4, 3]), (5, Some(1)));
        assert_eq!(counted(1, &[3, 3, 1, 1]), (4, Some(2)));
    }

    #[test]
    fn totals_keep_what_is_known_of_them() {
        let mut values = Values::new(9);
        values.grow(4);
        for (group, count, rarest) in [(0, 2, None), (0, 3, None), (1, 7, Some(3)), (1, 5, Some(4)), (2, 2, None)] {
            values.merge(group, count, rarest);
        }
        values.merge(2, 9, Some(6));
        values.merge(3, 0, Some(0));
        assert_eq!(values.finish(), [(5, None), (12, Some(3)), (11, Some(2)), (0, None)]);
    }
}
