//! Dates and timestamps as text, exactly: days, and seconds with all fractional digits.

use num_bigint::BigInt;

use super::number::Exact;

/// Days from 1970-01-01 to a date `YYYY-MM-DD`.
pub(super) fn days(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut field = |length: usize| -> Option<i64> {
        let part = parts.next()?;
        (part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse().ok())?
    };
    let (year, month, day) = (field(4)?, field(2)?, field(2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if parts.next().is_some() || !(1..=length).contains(&day) {
        return None;
    }
    // Years start in March, in eras of 400 years.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, in_era) = (year.div_euclid(400), year.rem_euclid(400));
    Some(era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + (153 * month + 2) / 5 + day - 719_469)
}

/// Seconds of a time `HH:MM[:SS[.fraction]]`.
pub(super) fn seconds(text: &str) -> Option<Exact> {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let parts: Vec<&str> = whole.split(':').collect();
    if !(2..=3).contains(&parts.len()) || fraction.is_some_and(|fraction| parts.len() == 2 || fraction.is_empty()) {
        return None;
    }
    let field =
        |part: &&str| (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok())?;
    let parts: Vec<i64> = parts.iter().map(field).collect::<Option<_>>()?;
    let second = parts.get(2).copied().unwrap_or(0);
    if parts[0] > 23 || parts[1] > 59 || second > 59 {
        return None;
    }
    let seconds = parts[0] * 3600 + parts[1] * 60 + second;
    Exact::parse(&format!("{seconds}.{}", fraction.unwrap_or("0")))
}

/// Seconds since 1970 of a date, or of a date and a time separated by a space or `T`. A final `Z`
/// or `+HH:MM` gives a zone.
pub(super) fn timestamp(text: &str, zoned: bool) -> Option<Exact> {
    let (date, time) = text.split_once([' ', 'T']).map_or((text, None), |(date, time)| (date, Some(time)));
    let day = days(date)?;
    let (time, offset) = match time {
        None => (None, None),
        Some(time) => match (time.strip_suffix(['Z', 'z']), time.rfind(['+', '-'])) {
            (Some(time), _) => (Some(time), Some(0)),
            (None, Some(at)) => (Some(&time[..at]), Some(offset(&time[at..])?)),
            (None, None) => (Some(time), None),
        },
    };
    if offset.is_some() != zoned {
        return None;
    }
    let start = day * 86_400 - offset.unwrap_or(0);
    let seconds = time.map_or_else(|| Some(Exact::decimal(BigInt::ZERO, 0)), seconds)?;
    Some(seconds.plus(start))
}

fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = text.split_at(1);
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "00"));
    let two = |part: &str| (part.len() == 2).then(|| part.parse::<u8>().ok())?.map(i64::from);
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    let seconds = (hours <= 18 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
    Some(if sign == "-" { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_the_gregorian_calendar() {
        for (text, expected) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2024-03-01", 19_783),
            ("1900-03-01", -25_508),
        ] {
            assert_eq!(days(text), Some(expected), "{text}");
        }
        for text in ["1900-02-29", "2024-13-01", "2024-00-01", "2024-1-01", "2024-01-32", "24-01-01", "2024-01-01-1"] {
            assert_eq!(days(text), None, "{text}");
        }
    }

    #[test]
    fn timestamps_keep_their_fraction_and_zone() {
        let of = |text: &str| Exact::parse(text);
        assert_eq!(timestamp("1970-01-01 00:00:01.0005", false), of("1.0005"));
        assert_eq!(timestamp("1969-12-31T23:59:59.5", false), of("-0.5"));
        assert_eq!(timestamp("1970-01-01T01:00:00+01:00", true), of("0"));
        assert_eq!(timestamp("1970-01-01", false), of("0"));
        for (text, zoned) in [("1970-01-01 24:00", false), ("1970-01-01 00:00:00Z", false), ("1970-01-01 00:00", true)]
        {
            assert_eq!(timestamp(text, zoned), None, "{text}");
        }
    }
}
