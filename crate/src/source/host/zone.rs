//! The zone of an address: public, or private to a machine or a network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Zone of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// An address of the Internet.
    Public,
    /// An address that only this machine, its network or its provider can reach, or that no host has.
    Private,
}

impl Zone {
    /// Returns the zone of an address.
    pub(super) fn of(address: IpAddr) -> Zone {
        let is_private = match address {
            IpAddr::V4(address) => is_private_v4(address),
            IpAddr::V6(address) => is_private_v6(address),
        };
        if is_private {
            Zone::Private
        } else {
            Zone::Public
        }
    }
}

/// Follows the IANA IPv4 Special-Purpose Address Registry. The networks for documentation count as public.
fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // 0/8 is this machine, and 224/3 has groups and reserved addresses.
    matches!(a, 0 | 127 | 224..)
        || address.is_private()
        // 169.254.169.254 has the credentials of a virtual machine.
        || address.is_link_local()
        // Carriers share 100.64/10 among their customers.
        || (a == 100 && b & 0xc0 == 64)
        || (a, b, c) == (192, 0, 0)
        // Benchmarks of networks.
        || (a == 198 && b & 0xfe == 18)
}

/// Only global unicast addresses can be public. An address that contains an IPv4 address has its zone.
fn is_private_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // Mapped addresses, and translation by NAT64.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // 6to4.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo, whose servers are gone.
        [0x2001, 0, ..] => true,
        [first, ..] => first & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_machine_a_network_or_a_provider_are_private()
    -> Result<(), std::net::AddrParseError> {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::5db8:d822",
            "100::1",
            "2001::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert_eq!(Zone::of(address.parse()?), Zone::Private, "{address}");
        }
        Ok(())
    }

    #[test]
    fn addresses_of_the_internet_are_public() -> Result<(), std::net::AddrParseError> {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.113.7",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:81b::200e",
            "::ffff:93.184.216.34",
            "64:ff9b::93.184.216.34",
            "2002:5db8:d822::1",
        ] {
            assert_eq!(Zone::of(address.parse()?), Zone::Public, "{address}");
        }
        Ok(())
    }
}
