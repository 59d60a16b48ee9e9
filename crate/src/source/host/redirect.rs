//! Redirects. A redirect from a public host to a private address, or from HTTPS to HTTP, is an error.
//!
//! A host chooses the targets of its redirects. Without a rule, it could make a server request addresses that only the
//! server reaches, such as the credentials of its virtual machine. Redirects between private addresses are followed.

use std::net::{IpAddr, Ipv4Addr};

use reqwest::{Url, redirect::Policy};
use thiserror::Error;

use super::super::redaction::redacted;
use crate::quoted::Quoted;

/// Maximum number of redirects of a request.
pub const MAX_REDIRECTS: usize = 5;

/// Reasons why a redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RedirectError {
    /// A public host redirects to a private address.
    #[error(
        "a public host redirects to {}, whose address {address} is private, and such redirects are not followed; if you \
         trust that address, use it directly",
        Quoted(.to)
    )]
    Private {
        /// URL of the target, without secrets.
        to: String,
        /// Private address of the target.
        address: IpAddr,
    },
    /// A host redirects from HTTPS to plain HTTP.
    #[error(
        "the host redirects from https to {}, and such redirects are not followed; if you trust that address, use it \
         directly",
        Quoted(.to)
    )]
    Downgrade {
        /// URL of the target, without secrets.
        to: String,
    },
    /// There are too many redirects.
    #[error("the host redirects more than {MAX_REDIRECTS} times")]
    Many,
}

/// Returns the policy of HTTP clients.
pub(super) fn policy() -> Policy {
    Policy::custom(|attempt| {
        let checked = match attempt.previous() {
            hosts if hosts.len() > MAX_REDIRECTS => Err(RedirectError::Many),
            hosts => hosts
                .last()
                .map_or(Ok(()), |from| check(from, attempt.url())),
        };
        match checked {
            Ok(()) => attempt.follow(),
            Err(error) => attempt.error(error),
        }
    })
}

/// Checks a redirect.
///
/// # Errors
///
/// The redirect must not be followed.
#[doc(hidden)]
pub fn check(from: &Url, to: &Url) -> Result<(), RedirectError> {
    let shown = || redacted(to.as_str());
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err(RedirectError::Downgrade { to: shown() });
    }
    match private_address(to) {
        Some(address) if private_address(from).is_none() => Err(RedirectError::Private {
            to: shown(),
            address,
        }),
        _ => Ok(()),
    }
}

/// Returns an address of a URL that only this machine, its network or its provider reaches. A name that the system cannot
/// resolve counts as public, because a proxy may resolve it.
fn private_address(url: &Url) -> Option<IpAddr> {
    let addresses = url.socket_addrs(|| None).unwrap_or_default();
    addresses
        .iter()
        .map(std::net::SocketAddr::ip)
        .find(is_private)
}

fn is_private(address: &IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            // 0/8 is this machine, 224/3 has groups and reserved addresses, and carriers share 100.64/10. The addresses
            // of a link have the credentials of a virtual machine.
            matches!(a, 0 | 127 | 224..)
                || address.is_private()
                || address.is_link_local()
                || (a == 100 && b & 0xc0 == 64)
        }
        IpAddr::V6(address) => match address.segments() {
            // NAT64 translates to the IPv4 address at the end.
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                is_private(&Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)).into())
            }
            // Only global unicast addresses can be public.
            [first, ..] => first & 0xe000 != 0x2000,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_from_public_hosts_to_private_addresses_are_errors()
    -> Result<(), Box<dyn std::error::Error>> {
        let private = [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.31.255.255",
            "192.168.1.1",
            "224.0.0.1",
            "2130706433",
            "[::1]",
            "[::ffff:169.254.169.254]",
            "[64:ff9b::a00:1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "localhost",
        ];
        let public = [
            "1.1.1.1",
            "100.128.0.0",
            "172.32.0.0",
            "[2606:4700::1111]",
            "[64:ff9b::5db8:d822]",
        ];
        let url = |host: &str| Url::parse(&format!("http://{host}/a"));
        for to in private {
            let checked = check(&url("1.1.1.1")?, &url(to)?);
            assert!(
                matches!(checked, Err(RedirectError::Private { .. })),
                "{to}: {checked:?}"
            );
            assert_eq!(check(&url("10.1.1.1")?, &url(to)?), Ok(()), "{to}");
        }
        for to in public {
            assert_eq!(check(&url("1.1.1.1")?, &url(to)?), Ok(()), "{to}");
            assert_eq!(check(&url("127.0.0.1")?, &url(to)?), Ok(()), "{to}");
        }
        Ok(())
    }

    #[test]
    fn a_redirect_from_https_to_http_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
        let [safe, plain] = ["https://1.1.1.1/a", "http://1.1.1.1/a"].map(Url::parse);
        let (safe, plain) = (safe?, plain?);
        let downgrade = RedirectError::Downgrade {
            to: plain.to_string(),
        };
        assert_eq!(check(&safe, &plain), Err(downgrade));
        assert_eq!(
            (check(&plain, &safe), check(&safe, &safe)),
            (Ok(()), Ok(()))
        );
        Ok(())
    }
}
