//! The address of a client: that of the connection, or the one that a trusted proxy reports.
//!
//! Every proxy appends the address of its peer to a header. Entries that a client made up precede
//! those, so the header is read from the end, as long as the entries come from trusted proxies.
//! Only one of the two headers is read: proxies forward unknown headers, so a client could fill in
//! the other one.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, header};
use hearith_serving::networks::Networks;

/// The header in which proxies report the addresses of their clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyHeader {
    /// `X-Forwarded-For: 192.0.2.7, 198.51.100.1`.
    #[default]
    XForwardedFor,
    /// `Forwarded: for=192.0.2.7;proto=https, for=198.51.100.1` (RFC 7239).
    Forwarded,
}

/// The proxies that are trusted to report the addresses of their clients. None by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The addresses of the proxies.
    pub networks: Networks,
    /// The header that the proxies write.
    pub header: ProxyHeader,
}

impl Proxies {
    /// The client's address, given the address of the peer. An unreadable entry counts as the
    /// address of the proxy that added it.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        let mut names = self.names(headers).into_iter().rev();
        while self.networks.contains(client) {
            match names.next() {
                Some(Some(named)) => client = named,
                _ => break,
            }
        }
        client
    }

    /// All entries in the order in which they were added. `None` for entries that are not
    /// addresses.
    fn names(&self, headers: &HeaderMap) -> Vec<Option<IpAddr>> {
        let name = match self.header {
            ProxyHeader::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            ProxyHeader::Forwarded => header::FORWARDED,
        };
        let read = |line: &str| match self.header {
            ProxyHeader::XForwardedFor => listed(line),
            ProxyHeader::Forwarded => elements(line),
        };
        let values = headers.get_all(name);
        values.iter().flat_map(|value| value.to_str().map_or(vec![None], read)).collect()
    }
}

/// The addresses in a line of `X-Forwarded-For`.
fn listed(line: &str) -> Vec<Option<IpAddr>> {
    line.split(',').map(|name| address(name.trim())).collect()
}

/// The addresses in a line of `Forwarded`. An unterminated quote comes from a client that tries to
/// enclose what a proxy appended.
fn elements(line: &str) -> Vec<Option<IpAddr>> {
    match split(line, ',') {
        Some(elements) => elements.into_iter().map(of_forwarded).collect(),
        None => vec![None],
    }
}

/// Splits a text at separators outside quotes. `None` if a quote is unterminated.
fn split(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut quoted, mut escaped) = (false, false);
    let parts = text.split(|character: char| {
        let literal = escaped;
        escaped = quoted && !literal && character == '\\';
        quoted ^= character == '"' && !literal;
        character == separator && !quoted
    });
    let parts = parts.map(str::trim).collect();
    (!quoted).then_some(parts)
}

/// An address, with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = match bare {
        Some(bare) => bare.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip())),
    };
    address.map(|address| address.to_canonical())
}

/// The address after `for=` in an element of `Forwarded`.
fn of_forwarded(element: &str) -> Option<IpAddr> {
    let mut pairs = split(element, ';')?.into_iter().filter_map(|pair| pair.split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(node.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(header: ProxyHeader, trusted: &[&str], peer: &str, values: &[&str]) -> String {
        let networks = trusted.iter().map(|text| text.parse().unwrap()).collect();
        let name = if header == ProxyHeader::Forwarded { "forwarded" } else { "x-forwarded-for" };
        let mut headers = HeaderMap::new();
        values.iter().for_each(|value| _ = headers.append(name, value.parse().unwrap()));
        Proxies { networks, header }.client(peer.parse().unwrap(), &headers).to_string()
    }

    /// Peer, header lines and expected client, with 10.0.0.0/8 and one IPv6 address trusted.
    const NAMED: [(&str, &[&str], &str); 16] = [
        ("10.0.0.1", &["192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", &[], "10.0.0.1"),
        ("192.0.2.9", &["192.0.2.7"], "192.0.2.9"),
        ("10.0.0.1", &["192.0.2.6, 192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", &["192.0.2.6", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", &["192.0.2.7, 10.0.0.2"], "192.0.2.7"),
        ("10.0.0.1", &["192.0.2.7, 10.0.0.3, 10.0.0.2"], "192.0.2.7"),
        ("10.0.0.1", &["192.0.2.7, nobody, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", &["192.0.2.7, "], "10.0.0.1"),
        ("10.0.0.1", &["unknown"], "10.0.0.1"),
        ("10.0.0.1", &["192.0.2.7:4711"], "192.0.2.7"),
        ("::ffff:10.0.0.1", &["::ffff:192.0.2.7"], "192.0.2.7"),
        ("2001:db8::1", &["2001:db8::2"], "2001:db8::2"),
        ("2001:db8::1", &["[2001:db8::2]"], "2001:db8::2"),
        ("2001:db8::1", &["[2001:db8::2]:4711"], "2001:db8::2"),
    ];

    #[test]
    fn names_are_believed_from_the_end_as_far_as_proxies_gave_them() {
        for (peer, values, expected) in NAMED {
            let found = client(ProxyHeader::XForwardedFor, &["10.0.0.0/8", "2001:db8::1"], peer, values);
            assert_eq!(found, expected, "{peer} {values:?}");
            // The same entries in the other header.
            let element = |name: &str| match name.trim() {
                "" => String::new(),
                name if name.contains(':') => format!("proto=https;For=\"{name}\""),
                name => format!("for={name} ; by=_x"),
            };
            let lines = values.iter().map(|value| value.split(',').map(element).collect::<Vec<_>>().join(", "));
            let lines: Vec<String> = lines.collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let found = client(ProxyHeader::Forwarded, &["10.0.0.0/8", "2001:db8::1"], peer, &lines);
            assert_eq!(found, expected, "{peer} {lines:?}");
        }
        assert_eq!(client(ProxyHeader::XForwardedFor, &[], "10.0.0.1", &["192.0.2.7"]), "10.0.0.1");
    }

    /// A client that writes quotes cannot hide what the proxy appends.
    #[test]
    fn quotes_of_a_client_hide_nothing() {
        let forwarded = |values: &[&str]| client(ProxyHeader::Forwarded, &["10.0.0.1"], "10.0.0.1", values);
        assert_eq!(forwarded(&["for=192.0.2.6;x=\"a, for=192.0.2.5\", for=192.0.2.7"]), "192.0.2.7");
        assert_eq!(forwarded(&["for=\"192.0.2.6", "for=192.0.2.7"]), "192.0.2.7");
        // Text that a client wrote before the proxy appended to the same line.
        for begun in ["for=\"192.0.2.6", "for=192.0.2.6;x=\"", "for=192.0.2.6;x=\"\\", "for=192.0.2.6;x=\"a\"\""] {
            for added in ["for=192.0.2.7", "for=\"[2001:db8::2]:4711\";by=\"_x\""] {
                assert_eq!(forwarded(&[&format!("{begun}, {added}")]), "10.0.0.1", "{begun}, {added}");
            }
        }
        assert_eq!(forwarded(&["x=\"\\\", for=192.0.2.6\", for=192.0.2.7"]), "192.0.2.7");
        assert_eq!(forwarded(&["for=_hidden"]), "10.0.0.1");
        // The other header is not read.
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "192.0.2.6".parse().unwrap());
        let networks = ["10.0.0.1".parse().unwrap()].into_iter().collect();
        let proxies = Proxies { networks, header: ProxyHeader::Forwarded };
        assert_eq!(proxies.client("10.0.0.1".parse().unwrap(), &headers).to_string(), "10.0.0.1");
    }
}
