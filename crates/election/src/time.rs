//! Times in the format of heads: RFC 3339 in UTC to the second, with `T` and `Z`, years 0001
//! to 9999.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The current time in UTC to the second: `2026-11-22T20:15:00Z`.
pub fn now() -> String {
    let second = OffsetDateTime::now_utc().truncate_to_second();
    // A clock beyond the year 9999.
    second.format(&Rfc3339).unwrap_or_else(|_| "9999-12-31T23:59:59Z".into())
}

/// The current time, or an earlier head's time if that is later. The clock may have been set back,
/// and heads must not go back in time.
pub fn now_after(earlier: Option<&str>) -> String {
    let now = now();
    // Times in this format sort chronologically as strings.
    match earlier {
        Some(earlier) if earlier > now.as_str() => earlier.to_owned(),
        _ => now,
    }
}

/// Whether a text is a calendar time in the format of heads.
pub(crate) fn is_time(text: &str) -> bool {
    let read = OffsetDateTime::parse(text, &Rfc3339).ok().filter(|time| time.year() >= 1);
    // Offsets, fractions and leap seconds change the text or its length when written back.
    text.len() == "2026-11-22T20:15:00Z".len()
        && read.and_then(|time| time.format(&Rfc3339).ok()).as_deref() == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for time in [
            "0001-01-01T00:00:00Z",
            "1970-01-01T00:00:00Z",
            "2000-02-29T00:00:00Z",
            "2024-02-29T23:59:59Z",
            "2026-11-22T20:15:00Z",
            "9999-12-31T23:59:59Z",
        ] {
            assert!(is_time(time), "{time}");
        }
        for time in [
            "0000-01-01T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-02-31T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-13-10T00:00:00Z",
            "2026-11-00T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T20:60:00Z",
            "2026-11-22T20:15:60Z",
            "2016-12-31T23:59:60Z",
            "2026-11-22 20:15:00Z",
            "2026-11-22t20:15:00Z",
            "2026-11-22T20:15:00z",
            "2026-11-22T20:15:00+00:00",
            "2026-11-22T20:15:00.5Z",
            "2026-11-22T20:15:00.Z",
            "",
        ] {
            assert!(!is_time(time), "{time}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_stands_still() {
        let now = now();
        assert!(is_time(&now));
        assert_eq!(now_after(Some("9998-01-01T00:00:00Z")), "9998-01-01T00:00:00Z");
        assert!(now_after(Some("1999-01-01T00:00:00Z")) >= now);
        assert!(now_after(None) >= now);
    }
}
