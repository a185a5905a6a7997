//! Contests and their voting methods: the marks of a ballot, the values of a mark, and the limits
//! on sums of marks.

use crate::body::is_false;
use crate::canonical::to_text;
use crate::error::ErrorKind;
use crate::names;
use hearith_paillier::{Plaintexts, PublicKey};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Range;
use zeroize::Zeroizing;

/// Bits of a digit of a plurality contest's total. No sum of weights is longer.
pub const DIGIT_BITS: u32 = 48;
/// Maximum number of candidates in a contest.
pub const MAX_CANDIDATES: usize = 256;
/// Maximum number of contests in an election.
pub const MAX_CONTESTS: usize = 64;
/// Maximum number of marks in a ballot.
pub const MAX_MARKS: usize = 512;
/// Maximum number of points of a rank.
pub const MAX_POINTS: u64 = (1 << 16) - 1;
/// Maximum number of points that all voters together can give one candidate: the largest number in
/// canonical JSON.
const ALL_POINTS: u64 = (1 << 53) - 1;
/// Maximum length of a title or a candidate's name, in bytes.
const MAX_NAME: usize = 400;

/// One question of the ballot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contest {
    /// Information for voters about the contest: at most 4000 bytes, possibly on several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Whether the last candidate is the blank vote, which excludes votes for other candidates.
    /// Only for `Choose` and `Plurality`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blank: bool,
    /// The candidates or options.
    pub candidates: Vec<String>,
    /// Information for voters about each candidate, in the order of `candidates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<Detail>>,
    /// The voting method.
    pub method: Method,
    /// Whether web pages show the candidates to each voter in an individual order. The record does
    /// not depend on it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shuffled: bool,
    /// The title of the contest.
    pub title: String,
}

/// Information for voters about a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detail {
    /// A description: at most 4000 bytes, possibly on several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// A link to a web page: an `https` URL of at most 1000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// A voting method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Method {
    /// Any number of candidates: one mark for each candidate.
    Approval,
    /// A limited number of candidates: one mark for each candidate, and a proof of their sum.
    Choose(Limit),
    /// One candidate: a single mark, whose total has one digit for each candidate.
    Plurality,
    /// A ranking: one mark for each rank and candidate. Proofs show that each rank has one
    /// candidate and each candidate at most one rank.
    Rank {
        /// The points of each rank, first rank first: from 1 to [`MAX_POINTS`], strictly
        /// decreasing. Its length is the number of ranks.
        points: Vec<u64>,
    },
    /// Two candidates, yes and no, in one mark.
    YesNo,
}

/// The number of candidates that a voter chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At most this many.
    AtMost(u32),
    /// Exactly this many.
    Exactly(u32),
}

/// Provable sums of a ballot's marks: several sums of the same form over different marks.
pub(crate) struct Sums {
    /// The limit of each sum.
    pub(crate) limit: Limit,
    /// The marks of each sum, numbered from the contest's first mark. A mark that counts several
    /// times is repeated.
    pub(crate) groups: Vec<Vec<u32>>,
}

impl Sums {
    /// The number of summands of each sum.
    pub(crate) fn factors(&self) -> usize {
        self.groups[0].len()
    }

    /// The sums of several ballots that are rows of one batch, with `marks` marks each.
    pub(crate) fn groups_of(&self, ballots: Range<usize>, marks: usize) -> Vec<Vec<u32>> {
        let shifted = |ballot: usize| {
            let shift = move |&mark: &u32| (ballot * marks) as u32 + mark;
            self.groups.iter().map(move |group| group.iter().map(shift).collect())
        };
        ballots.flat_map(shifted).collect()
    }

    /// The value of each sum for marks of these values. Constant time in the values.
    pub(crate) fn of(&self, values: &[usize]) -> Zeroizing<Vec<usize>> {
        let sum = |group: &Vec<u32>| group.iter().map(|&mark| values[mark as usize]).sum();
        Zeroizing::new(self.groups.iter().map(sum).collect())
    }

    /// Whether totals of marks over ballots of this weight are consistent with the proven limits.
    fn allow(&self, totals: &[u64], weight: u64) -> bool {
        self.groups.iter().all(|group| {
            let sum: u128 = group.iter().map(|&mark| u128::from(totals[mark as usize])).sum();
            match self.limit {
                Limit::AtMost(k) => sum <= u128::from(k) * u128::from(weight),
                Limit::Exactly(k) => sum == u128::from(k) * u128::from(weight),
            }
        })
    }
}

impl Contest {
    /// A contest without optional parts.
    pub fn new(title: impl Into<String>, candidates: Vec<String>, method: Method) -> Self {
        let title = title.into();
        Contest { about: None, blank: false, candidates, details: None, method, shuffled: false, title }
    }

    /// Checks that the contest is valid under a key of `bits` bits.
    pub(crate) fn check(&self, bits: u32) -> Result<(), &'static str> {
        let count = self.candidates.len();
        if !(1..=MAX_CANDIDATES).contains(&count) {
            return Err("a contest must have 1 to 256 candidates");
        }
        if let Some(fault) = self.candidates.iter().chain([&self.title]).find_map(|name| names::fault(name, MAX_NAME)) {
            return Err(fault);
        }
        let mut known = HashSet::new();
        if !self.candidates.iter().all(|name| known.insert(names::alike(name))) {
            return Err("two candidates have the same name, or names that look alike");
        }
        self.check_details()?;
        if let Method::Rank { points } = &self.method {
            check_points(points, count)?;
            if self.blank {
                return Err("a ranked contest cannot have a blank vote");
            }
        }
        if self.blank && (count < 2 || matches!(self.method, Method::Approval | Method::YesNo)) {
            return Err("a blank vote needs another candidate and the method 'choose' or 'plurality'");
        }
        match self.method {
            Method::Approval => Ok(()),
            Method::Choose(Limit::AtMost(k) | Limit::Exactly(k))
                if (1..=(count - usize::from(self.blank)) as u64).contains(&u64::from(k)) =>
            {
                Ok(())
            }
            Method::Choose(_) => Err(
                "the number of choices must be between 1 and the number of candidates (not counting the blank vote)",
            ),
            Method::YesNo if count != 2 => Err("a yes-or-no contest needs two candidates"),
            Method::Plurality | Method::Rank { .. } | Method::YesNo => Ok(()),
        }?;
        // Proofs hold modulo the larger prime factor of n, which exceeds the square root of n.
        if self.total_bits() < bits as usize / 2 {
            Ok(())
        } else {
            Err("the key is too short: the tally's numbers must have fewer than half of its bits")
        }
    }

    /// Checks descriptions and links.
    fn check_details(&self) -> Result<(), &'static str> {
        let details = self.details.as_deref().unwrap_or_default();
        if self.details.is_some() && details.len() != self.candidates.len() {
            return Err("the number of details differs from the number of candidates");
        }
        let texts = self.about.iter().chain(details.iter().filter_map(|one| one.about.as_ref()));
        let links = details.iter().filter_map(|one| one.link.as_ref());
        let fault = texts
            .filter_map(|text| names::about_fault(text))
            .chain(links.filter_map(|link| names::link_fault(link)))
            .next();
        fault.map_or(Ok(()), Err)
    }

    /// The number of bits that any total of the tally fits in.
    fn total_bits(&self) -> usize {
        DIGIT_BITS as usize * if self.method == Method::Plurality { self.candidates.len() } else { 1 }
    }

    /// The number of ciphertexts of this contest in a ballot.
    pub fn marks(&self) -> usize {
        match &self.method {
            Method::Approval | Method::Choose(_) => self.candidates.len(),
            Method::Plurality | Method::YesNo => 1,
            Method::Rank { points } => points.len() * self.candidates.len(),
        }
    }

    /// The number of candidates times the number of ranks, which counts towards [`MAX_MARKS`] of
    /// the election.
    pub(crate) fn size(&self) -> usize {
        self.candidates.len().saturating_mul(self.points().map_or(1, |points| points.len().max(1)))
    }

    /// The points of each rank, first rank first, if candidates are ranked.
    pub fn points(&self) -> Option<&[u64]> {
        match &self.method {
            Method::Rank { points } => Some(points),
            _ => None,
        }
    }

    /// The number of numbers in this contest's result: the votes of each candidate. For ranked
    /// candidates, points, followed by the number of times each candidate holds each rank, rank by
    /// rank.
    pub fn results(&self) -> usize {
        self.candidates.len() + self.points().map_or(0, |_| self.marks())
    }

    /// The maximum total weight of all voters for which a candidate's points fit in a record.
    pub(crate) fn most_weight(&self) -> u64 {
        let first = self.points().and_then(|points| points.first().copied()).unwrap_or(1);
        ALL_POINTS / first.max(1)
    }

    /// The number of permitted values of a mark.
    pub fn values(&self) -> usize {
        match self.method {
            Method::Plurality => self.candidates.len(),
            _ => 2,
        }
    }

    /// The sums of marks that proofs cover. For `Choose`, one sum of all marks, in which the blank
    /// vote counts as often as the voter has votes. For `Rank`, the sum of each rank and then of
    /// each candidate. With a single rank, each mark is a candidate's sum, so only the rank's sum
    /// is needed.
    pub(crate) fn sums(&self) -> Vec<Sums> {
        match &self.method {
            &Method::Choose(limit) => {
                let (Limit::AtMost(k) | Limit::Exactly(k)) = limit;
                let marks = self.marks() as u32;
                let more = if self.blank { k - 1 } else { 0 };
                let group = (0..marks).chain(std::iter::repeat_n(marks - 1, more as usize)).collect();
                vec![Sums { limit, groups: vec![group] }]
            }
            Method::Rank { points } => {
                let (ranks, candidates) = (points.len() as u32, self.candidates.len() as u32);
                let rank = |rank| (rank * candidates..(rank + 1) * candidates).collect();
                let of_ranks = Sums { limit: Limit::Exactly(1), groups: (0..ranks).map(rank).collect() };
                if ranks == 1 {
                    return vec![of_ranks];
                }
                let limit = if ranks == candidates { Limit::Exactly(1) } else { Limit::AtMost(1) };
                let candidate = |one| (0..ranks).map(|rank| rank * candidates + one).collect();
                vec![of_ranks, Sums { limit, groups: (0..candidates).map(candidate).collect() }]
            }
            Method::Approval | Method::Plurality | Method::YesNo => Vec::new(),
        }
    }

    /// The context of a sum's proof, with the sum's index among all sums of the contest.
    pub(crate) fn sum_context(&self, voter: &str, contest: usize, sum: usize) -> String {
        match self.method {
            Method::Rank { .. } => to_text(&(voter, contest, "sum", sum)),
            _ => to_text(&(voter, contest, "sum")),
        }
    }

    /// The permitted plaintexts of a mark: 0 and 1, or a digit's unit for each candidate.
    pub(crate) fn set(&self, key: &PublicKey) -> Result<Plaintexts, ErrorKind> {
        let every: Vec<usize> = (0..self.values()).collect();
        self.encode(key, &every)
    }

    /// The plaintext of each value, which is its index in the set. Constant time in the values.
    pub(crate) fn encode(&self, key: &PublicKey, values: &[usize]) -> Result<Plaintexts, ErrorKind> {
        let width = key.plaintext_bytes();
        let mut bytes = Zeroizing::new(vec![0_u8; width * values.len()]);
        for (row, &value) in bytes.chunks_exact_mut(width).zip(values) {
            match self.method {
                Method::Plurality => (0..self.values()).for_each(|digit| {
                    // 1 for the chosen digit, without a branch.
                    row[width - 1 - digit * DIGIT_BITS as usize / 8] =
                        (((digit ^ value) as u64).wrapping_sub(1) >> 63) as u8;
                }),
                _ => row[width - 1] = value as u8,
            }
        }
        Ok(key.plaintexts_from_be(&bytes)?)
    }

    /// The values of the marks for the candidates that a voter chose, in order of rank if they are
    /// ranked.
    ///
    /// # Errors
    /// An unknown or repeated candidate, or a number of candidates that the contest does not
    /// permit.
    pub fn choose(&self, chosen: &[usize]) -> Result<Vec<usize>, &'static str> {
        let count = self.candidates.len();
        if chosen.iter().any(|&one| one >= count) {
            return Err("no such candidate");
        }
        let mut set = Zeroizing::new(vec![0; count]);
        chosen.iter().for_each(|&one| set[one] += 1);
        if set.iter().any(|&times| times > 1) {
            return Err("a candidate is chosen twice");
        }
        let sum = || self.sums().iter().map(|sums| sums.of(&set)[0]).sum::<usize>();
        match &self.method {
            Method::Approval => Ok(set.to_vec()),
            Method::Choose(Limit::AtMost(k)) if sum() <= *k as usize => Ok(set.to_vec()),
            Method::Choose(Limit::Exactly(k)) if sum() == *k as usize => Ok(set.to_vec()),
            Method::Rank { points } if chosen.len() == points.len() => {
                let mut marks = vec![0; self.marks()];
                chosen.iter().enumerate().for_each(|(rank, &one)| marks[rank * count + one] = 1);
                Ok(marks)
            }
            Method::Plurality if chosen.len() == 1 => Ok(chosen.to_vec()),
            // The first candidate is yes, whose value is 1.
            Method::YesNo if chosen.len() == 1 => Ok(vec![1 - chosen[0]]),
            _ => Err("the contest does not allow this number of choices"),
        }
    }

    /// The candidates of a ballot's values, as a challenged ballot shows them, in order of rank if
    /// they are ranked.
    pub fn chosen(&self, values: &[usize]) -> Vec<usize> {
        match self.method {
            Method::Plurality => values.to_vec(),
            Method::YesNo => values.iter().map(|value| 1 - value).collect(),
            Method::Rank { .. } => {
                let count = self.candidates.len();
                (0..values.len()).filter(|&mark| values[mark] == 1).map(|mark| mark % count).collect()
            }
            _ => (0..values.len()).filter(|&candidate| values[candidate] == 1).collect(),
        }
    }

    /// The contest's result ([`Contest::results`]) from the plaintexts of the tally's marks
    /// (big-endian) and the weight of all counted ballots.
    pub(crate) fn votes(&self, plaintexts: &[&[u8]], weight: u64) -> Option<Vec<u64>> {
        let votes = match self.method {
            Method::Plurality => {
                let digit = |digit: usize| {
                    let end = plaintexts[0].len() - digit * DIGIT_BITS as usize / 8;
                    number(&plaintexts[0][end - DIGIT_BITS as usize / 8..end])
                };
                let top = plaintexts[0].len() - self.values() * DIGIT_BITS as usize / 8;
                number(&plaintexts[0][..top]).filter(|&rest| rest == 0)?;
                (0..self.values()).map(digit).collect::<Option<Vec<u64>>>()?
            }
            Method::YesNo => {
                let yes = number(plaintexts[0])?;
                vec![yes, weight.checked_sub(yes)?]
            }
            _ => plaintexts.iter().map(|plaintext| number(plaintext)).collect::<Option<_>>()?,
        };
        let each = votes.iter().all(|&votes| votes <= weight);
        let all = match self.method {
            // One vote per voter, in one mark for all candidates.
            Method::Plurality | Method::YesNo => {
                votes.iter().map(|&votes| u128::from(votes)).sum::<u128>() == u128::from(weight)
            }
            _ => self.sums().iter().all(|sums| sums.allow(&votes, weight)),
        };
        if !(each && all) {
            return None;
        }
        match self.points() {
            Some(points) => Some([self.points_of(points, &votes)?, votes].concat()),
            None => Some(votes),
        }
    }

    /// The points of each candidate, from the number of times each candidate holds each rank, rank
    /// by rank.
    fn points_of(&self, points: &[u64], counts: &[u64]) -> Option<Vec<u64>> {
        let ranks = || counts.chunks_exact(self.candidates.len()).zip(points);
        let of = |candidate: usize| {
            ranks().try_fold(0_u64, |sum, (counts, &points)| sum.checked_add(counts[candidate].checked_mul(points)?))
        };
        (0..self.candidates.len()).map(of).collect()
    }
}

/// Checks the points of ranks.
fn check_points(points: &[u64], candidates: usize) -> Result<(), &'static str> {
    if !(1..=candidates).contains(&points.len()) {
        return Err("the number of ranks must be between 1 and the number of candidates");
    }
    let fall = points.windows(2).all(|two| two[0] > two[1]);
    match points.iter().all(|points| (1..=MAX_POINTS).contains(points)) && fall {
        true => Ok(()),
        false => Err("the points of ranks must be whole numbers from 1 to 65535, each less than the one before"),
    }
}

/// A big-endian number, if it fits in a word.
fn number(be: &[u8]) -> Option<u64> {
    let zeros = be.iter().take_while(|&&byte| byte == 0).count();
    let digits = &be[zeros..];
    (digits.len() <= 8).then(|| digits.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn contest(method: Method, candidates: usize) -> Contest {
        let candidates = (0..candidates).map(|one| format!("candidate {one}")).collect();
        Contest::new("a contest", candidates, method)
    }

    #[test]
    fn contests_that_cannot_be_are_refused() {
        for (method, candidates, good) in [
            (Method::Approval, 0, false),
            (Method::Approval, 256, true),
            (Method::Approval, 257, false),
            (Method::Choose(Limit::AtMost(3)), 3, true),
            (Method::Choose(Limit::AtMost(4)), 3, false),
            (Method::Choose(Limit::Exactly(0)), 3, false),
            (Method::Plurality, 5, true),
            (Method::Plurality, 6, false),
            (Method::YesNo, 2, true),
            (Method::YesNo, 3, false),
        ] {
            assert_eq!(contest(method.clone(), candidates).check(512).is_ok(), good, "{method:?}, {candidates}");
        }
        for name in ["", "two\nlines", "zero\u{200b}width", &"x".repeat(401)] {
            let candidate = Contest { candidates: vec![name.into()], ..contest(Method::Approval, 1) };
            let title = Contest { title: name.into(), ..contest(Method::Approval, 1) };
            assert!(candidate.check(512).is_err() && title.check(512).is_err());
        }
        // Half of 2048 bits is 1024: 21 candidates of 48 bits need 1008.
        assert!(
            contest(Method::Plurality, 21).check(2048).is_ok() && contest(Method::Plurality, 22).check(2048).is_err()
        );
        assert!(contest(Method::YesNo, 2).check(98).is_ok() && contest(Method::YesNo, 2).check(96).is_err());
        for (one, other) in [("a", "a"), ("é", "e\u{301}"), ("a", "ａ"), ("نام\u{200c}ها", "نامها")] {
            let twice = Contest { candidates: vec![one.into(), other.into()], ..contest(Method::Approval, 1) };
            assert_eq!(twice.check(512), Err("two candidates have the same name, or names that look alike"));
        }
    }

    #[test]
    fn ranks_are_worth_less_and_less() {
        let rank = |points: &[u64], candidates| contest(Method::Rank { points: points.to_vec() }, candidates);
        for (points, good) in [
            (&[3, 2, 1][..], true),
            (&[65535, 1], true),
            (&[1], true),
            (&[], false),
            (&[4, 3, 2, 1], false),
            (&[2, 2, 1], false),
            (&[1, 2], false),
            (&[1, 0], false),
            (&[65536], false),
        ] {
            assert_eq!(rank(points, 3).check(512).is_ok(), good, "{points:?}");
        }
        let blank = Contest { blank: true, ..rank(&[3, 2, 1], 3) };
        assert_eq!(blank.check(512), Err("a ranked contest cannot have a blank vote"));
        let two = rank(&[5, 2], 3);
        assert_eq!((two.marks(), two.size(), two.results(), two.values()), (6, 6, 9, 2));
        assert_eq!((two.most_weight(), rank(&[1], 1).most_weight()), (((1 << 53) - 1) / 5, (1 << 53) - 1));
    }

    #[test]
    fn sums_are_of_ranks_and_then_of_candidates() {
        let sums = |points: &[u64], candidates| {
            let contest = contest(Method::Rank { points: points.to_vec() }, candidates);
            contest.sums().into_iter().map(|sums| (sums.limit, sums.groups)).collect::<Vec<_>>()
        };
        let ranks = vec![vec![0, 1, 2], vec![3, 4, 5]];
        let candidates = vec![vec![0, 3], vec![1, 4], vec![2, 5]];
        assert_eq!(sums(&[2, 1], 3), [(Limit::Exactly(1), ranks), (Limit::AtMost(1), candidates)]);
        let (ranks, candidates) = (vec![vec![0, 1], vec![2, 3]], vec![vec![0, 2], vec![1, 3]]);
        assert_eq!(sums(&[2, 1], 2), [(Limit::Exactly(1), ranks), (Limit::Exactly(1), candidates)]);
        // With one rank, each mark is a candidate's sum.
        assert_eq!(sums(&[7], 3), [(Limit::Exactly(1), vec![vec![0, 1, 2]])]);
        assert_eq!(sums(&[7], 1), [(Limit::Exactly(1), vec![vec![0]])]);
        let blank = Contest { blank: true, ..contest(Method::Choose(Limit::AtMost(2)), 4) };
        assert_eq!(blank.sums()[0].groups, [[0, 1, 2, 3, 3]]);
        let ranked = contest(Method::Rank { points: vec![2, 1] }, 2);
        assert_eq!(ranked.sum_context("ann", 4, 3), r#"["ann",4,"sum",3]"#);
        assert_eq!(blank.sum_context("ann", 4, 0), r#"["ann",4,"sum"]"#);
        let two = &ranked.sums()[1];
        assert_eq!(two.groups_of(1..3, 4), [[4, 6], [5, 7], [8, 10], [9, 11]]);
        assert_eq!(*two.of(&[1, 0, 0, 1]), [1, 1]);
    }

    #[test]
    fn choices_become_values_and_back() {
        for (method, chosen, values) in [
            (Method::Approval, vec![0, 2], Some(vec![1, 0, 1])),
            (Method::Approval, vec![], Some(vec![0, 0, 0])),
            (Method::Approval, vec![1, 1], None),
            (Method::Approval, vec![3], None),
            (Method::Choose(Limit::AtMost(2)), vec![], Some(vec![0, 0, 0])),
            (Method::Choose(Limit::AtMost(2)), vec![0, 1, 2], None),
            (Method::Choose(Limit::Exactly(2)), vec![0, 1], Some(vec![1, 1, 0])),
            (Method::Choose(Limit::Exactly(2)), vec![0], None),
            (Method::Plurality, vec![2], Some(vec![2])),
            (Method::Plurality, vec![], None),
            (Method::Rank { points: vec![2, 1] }, vec![2, 0], Some(vec![0, 0, 1, 1, 0, 0])),
            (Method::Rank { points: vec![2, 1] }, vec![0, 2], Some(vec![1, 0, 0, 0, 0, 1])),
            (Method::Rank { points: vec![2, 1] }, vec![0], None),
            (Method::Rank { points: vec![2, 1] }, vec![0, 0], None),
            (Method::Rank { points: vec![2, 1] }, vec![0, 1, 2], None),
        ] {
            let contest = contest(method.clone(), 3);
            assert_eq!(contest.choose(&chosen).ok(), values, "{method:?}");
            if let Some(values) = values {
                assert_eq!(contest.chosen(&values), chosen, "{method:?}");
            }
        }
        let contest = contest(Method::YesNo, 2);
        assert_eq!((contest.choose(&[0]), contest.choose(&[1])), (Ok(vec![1]), Ok(vec![0])));
        assert_eq!((contest.chosen(&[1]), contest.chosen(&[0])), (vec![0], vec![1]));
    }

    #[test]
    fn totals_become_votes_or_nothing() {
        let total = |number: u64| [vec![0; 24], number.to_be_bytes().to_vec()].concat();
        let votes = |contest: &Contest, numbers: &[Vec<u8>], weight| {
            contest.votes(&numbers.iter().map(Vec::as_slice).collect::<Vec<_>>(), weight)
        };
        let choose = contest(Method::Choose(Limit::Exactly(1)), 3);
        assert_eq!(votes(&choose, &[total(2), total(0), total(3)], 5), Some(vec![2, 0, 3]));
        assert_eq!(votes(&choose, &[total(2), total(0), total(3)], 6), None);
        let approval = contest(Method::Approval, 2);
        assert_eq!(votes(&approval, &[total(5), total(5)], 5), Some(vec![5, 5]));
        assert_eq!(votes(&approval, &[total(5), total(6)], 5), None);
        let mut huge = total(1);
        huge[0] = 1;
        assert_eq!(votes(&approval, &[huge.clone(), total(0)], 5), None);
        let yes = contest(Method::YesNo, 2);
        assert_eq!(votes(&yes, &[total(2)], 5), Some(vec![2, 3]));
        assert_eq!(votes(&yes, &[total(6)], 5), None);
        // Digits of 48 bits: 3 + 4 M + 5 M^2.
        let mut digits = vec![0; 32];
        (digits[31], digits[25], digits[19]) = (3, 4, 5);
        let plurality = contest(Method::Plurality, 3);
        assert_eq!(votes(&plurality, &[digits.clone()], 12), Some(vec![3, 4, 5]));
        assert_eq!(votes(&plurality, &[digits.clone()], 13), None);
        digits[13] = 1;
        assert_eq!(votes(&plurality, &[digits], 12), None);
        // Points, followed by the counts: 5 a + 2 b.
        let ranked = contest(Method::Rank { points: vec![5, 2] }, 3);
        let counts = |counts: [u64; 6]| counts.map(total);
        let good = [12, 6, 10, 2, 0, 2, 1, 3, 0];
        assert_eq!(votes(&ranked, &counts([2, 0, 2, 1, 3, 0]), 4), Some(good.to_vec()));
        assert_eq!(votes(&ranked, &counts([2, 0, 2, 1, 3, 0]), 5), None);
        // The right number at each rank, but one candidate more often than there are ballots.
        assert_eq!(votes(&ranked, &counts([3, 0, 1, 3, 1, 0]), 4), None);
        assert_eq!(votes(&ranked, &counts([2, 0, 2, 1, 2, 0]), 4), None);
    }

    #[test]
    fn methods_are_written_as_the_page_says() {
        for (method, text) in [
            (Method::Choose(Limit::AtMost(2)), r#"{"choose":{"at_most":2}}"#),
            (Method::Choose(Limit::Exactly(1)), r#"{"choose":{"exactly":1}}"#),
            (Method::Approval, r#""approval""#),
            (Method::Plurality, r#""plurality""#),
            (Method::Rank { points: vec![3, 2, 1] }, r#"{"rank":{"points":[3,2,1]}}"#),
            (Method::YesNo, r#""yes_no""#),
        ] {
            assert_eq!(crate::canonical::to_text(&method), text);
        }
    }
}
