//! Networks in operators' notation: `192.0.2.7`, or `192.0.2.0/24`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// A network. An address is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpNet);

/// The error for text that is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkError;

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an address or a network, like 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32")
    }
}

impl std::error::Error for NetworkError {}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self(address.to_canonical().into()));
        }
        let network: IpNet = text.parse().map_err(|_| NetworkError)?;
        // 192.0.2.7/24 is probably a mistake: it may mean the address or the network.
        if network.trunc() == network { Ok(Self(network)) } else { Err(NetworkError) }
    }
}

/// A set of networks, empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

impl Networks {
    /// Whether one of the networks contains an address. IPv4 addresses mapped into IPv6 count as
    /// IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|Network(network)| network.contains(&address))
    }
}

impl FromIterator<Network> for Networks {
    fn from_iter<I: IntoIterator<Item = Network>>(networks: I) -> Self {
        Self(networks.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_networks() {
        let networks: Networks = ["192.0.2.7", "198.51.100.0/24", "2001:db8::/32", "::1"]
            .map(|text| text.parse().unwrap())
            .into_iter()
            .collect();
        let has = |text: &str| networks.contains(text.parse().unwrap());
        for own in ["192.0.2.7", "::ffff:192.0.2.7", "198.51.100.255", "2001:db8:1::2", "::1"] {
            assert!(has(own), "{own}");
        }
        for other in ["192.0.2.8", "198.51.101.0", "2001:db9::", "::2", "127.0.0.1", "::"] {
            assert!(!has(other), "{other}");
        }
        assert!(!Networks::default().contains("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn what_is_no_network_is_none() {
        for text in
            ["", "localhost", "192.0.2", "192.0.2.7/24", "192.0.2.0/33", "2001:db8::1/32", "192.0.2.7:80", " ::1"]
        {
            assert_eq!(text.parse::<Network>(), Err(NetworkError), "{text}");
        }
    }
}
