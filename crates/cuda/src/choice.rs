//! The users' choice of cards: `cuda`, `cuda:1`, `cuda:all` and `auto`.

use std::fmt;

use hearith_arith::Engine;

use crate::card::check_age;
use crate::driver::Driver;
use crate::fault::Fault;

/// Set to 1 to allow `auto` to use a card. Keys then leave this process's memory.
pub const ALLOW_VARIABLE: &str = "HEARITH_ALLOW_CARD";
/// Rows from which [`Choice::Auto`] sends a batch to a card.
///
/// One H200 overtook 16 threads of its host's CPU between 1 024 and 4 096 rows with standard and
/// DJN keys, and between 4 096 and 16 384 with subgroup keys (`bench/results/gpu.md`).
pub const AUTO_ROWS: usize = 1 << 13;

/// A user's choice of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first card that has kernels: `cuda`. The driver honours `CUDA_VISIBLE_DEVICES`, which
    /// changes which card is first.
    First,
    /// One card by its number, counted from 0: `cuda:1`.
    Number(usize),
    /// All cards that have kernels. They share the rows of a batch: `cuda:all`.
    All,
    /// The first card, if there is one, for batches of at least [`AUTO_ROWS`] rows, and the CPU for
    /// others: `auto`.
    Auto,
}

impl Choice {
    /// Parses the name of an engine. `None` if it does not name a card. `auto` names a card only if
    /// `HEARITH_ALLOW_CARD` is 1.
    ///
    /// # Errors
    /// [`Fault::Choice`] if `cuda:` is followed by anything but a number or `all`.
    pub fn named(name: &str) -> Result<Option<Self>, Fault> {
        match name.split_once(':') {
            None if name == "cuda" => Ok(Some(Choice::First)),
            None if name == "auto" => Ok(is_allowed().then_some(Choice::Auto)),
            Some(("cuda", which)) => Self::part(which).map(Some),
            _ => Ok(None),
        }
    }

    /// Parses the text after the colon.
    ///
    /// # Errors
    /// [`Fault::Choice`] if it is neither a number nor `all`.
    pub fn part(which: &str) -> Result<Self, Fault> {
        if which == "all" {
            return Ok(Choice::All);
        }
        let number = which.parse().ok().filter(|_| which.bytes().all(|byte| byte.is_ascii_digit()));
        let wrong = || Fault::Choice {
            variable: "the engine",
            value: format!("cuda:{which}"),
            choices: "expected 'cuda', 'cuda:all', 'cuda:0' and so on",
        };
        number.map(Choice::Number).ok_or_else(wrong)
    }

    /// The numbers of the selected cards.
    ///
    /// # Errors
    /// The reason why there are none.
    pub(crate) fn cards(self, driver: &Driver) -> Result<Vec<usize>, Fault> {
        if let Choice::Number(number) = self {
            // Checks that the card exists and has kernels.
            check_age(&driver.properties(number)?)?;
            return Ok(vec![number]);
        }
        let (mut found, mut why) = (Vec::new(), Fault::NoCard);
        for number in 0..driver.count()? {
            match check_age(&driver.properties(number)?) {
                Ok(()) => found.push(number),
                Err(fault) => why = fault,
            }
            if self != Choice::All && !found.is_empty() {
                break;
            }
        }
        if found.is_empty() { Err(why) } else { Ok(found) }
    }
}

impl fmt::Display for Choice {
    /// Writes the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::First => f.write_str("cuda"),
            Choice::Number(number) => write!(f, "cuda:{number}"),
            Choice::All => f.write_str("cuda:all"),
            Choice::Auto => f.write_str("auto"),
        }
    }
}

/// The CPU engine and the cards for a name, or without one for the value of `HEARITH_ENGINE`.
/// Without either the name is `auto`. For front ends where a key specifies its engine.
///
/// # Errors
/// [`Fault::Choice`], or [`Fault::Engine`] if no engine has that name or this machine lacks it.
pub fn engine(name: Option<&str>) -> Result<(Engine, Option<Choice>), Fault> {
    let named = name.map(str::to_owned).or_else(|| std::env::var(Engine::VARIABLE).ok());
    let named = named.filter(|name| !name.is_empty()).unwrap_or_else(|| "auto".to_owned());
    let choice = Choice::named(&named)?;
    let engine = if choice.is_none() && named != "auto" { Engine::named(&named)? } else { Engine::best() };
    Ok((engine, choice))
}

/// Whether the environment allows `auto` to use a card.
pub fn is_allowed() -> bool {
    std::env::var(ALLOW_VARIABLE).is_ok_and(|value| value == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_cards() {
        for choice in [Choice::First, Choice::Number(0), Choice::Number(12), Choice::All] {
            assert_eq!(Choice::named(&choice.to_string()).unwrap(), Some(choice));
        }
        for other in ["serial", "mesa", "", "cud", "cuda1"] {
            assert_eq!(Choice::named(other).unwrap(), None);
        }
        assert_eq!(engine(Some("serial")).unwrap(), (Engine::Serial, None));
        assert_eq!(engine(Some("cuda:1")).unwrap(), (Engine::best(), Some(Choice::Number(1))));
        assert!(matches!(engine(Some("mesa")).unwrap_err(), Fault::Engine(_)));
        for wrong in ["cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda:1:2", "cuda:99999999999999999999"] {
            let text = Choice::named(wrong).unwrap_err().to_string();
            assert!(text.starts_with(&format!("the engine is '{wrong}': expected 'cuda'")), "{text}");
        }
    }
}
