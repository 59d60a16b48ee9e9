//! Redirects. A redirect from a public host to a private address is an error.
//!
//! A host chooses the targets of its redirects. Without a rule, it could make a server request addresses that only the
//! server reaches, such as the credentials of its virtual machine. The zone of a host is that of the address that
//! answered, and names are resolved before they are judged. Redirects between private addresses are followed.

use core::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, LOCATION, PROXY_AUTHORIZATION};
use reqwest::{ClientBuilder, Method, Request, Response, Url, redirect};

use super::super::redaction::redacted;
use super::zone::Zone;
use crate::quoted::Quoted;

/// Maximum number of redirects of a request.
pub const MAX_REDIRECTS: usize = 10;

/// Reasons why a redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectError {
    /// A public host redirects to a private address.
    Private {
        /// URL of the target, without secrets.
        to: String,
        /// Private address of the target.
        address: IpAddr,
    },
    /// A host redirects from HTTPS to plain HTTP.
    Downgrade {
        /// URL of the target, without secrets.
        to: String,
    },
    /// A host redirects to another scheme than HTTP.
    Scheme {
        /// Scheme of the target.
        found: String,
    },
    /// There are too many redirects.
    Many {
        /// Maximum number of redirects.
        max: usize,
    },
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedirectError::Private { to, address } => write!(
                f,
                "a public host redirects to {}, whose address {address} is private, and such redirects are not followed; if \
                 you trust that address, use it directly",
                Quoted(to)
            ),
            RedirectError::Downgrade { to } => write!(
                f,
                "the host redirects from https to {}, and such redirects are not followed; if you trust that address, \
                 use it directly",
                Quoted(to)
            ),
            RedirectError::Scheme { found } => {
                write!(
                    f,
                    "the host redirects to {}://, expected http:// or https://",
                    Quoted(found)
                )
            }
            RedirectError::Many { max } => write!(f, "the host redirects more than {max} times"),
        }
    }
}

impl core::error::Error for RedirectError {}

/// Errors of a request that may be redirected.
#[derive(Debug)]
pub enum SendError {
    /// The request failed.
    Http(reqwest::Error),
    /// The host redirected the request to an address that is not requested.
    Redirect(RedirectError),
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> SendError {
        SendError::Http(error)
    }
}

impl From<RedirectError> for SendError {
    fn from(error: RedirectError) -> SendError {
        SendError::Redirect(error)
    }
}

/// Error of a name with a private address in a redirect of a public host.
#[derive(Debug)]
struct PrivateName(IpAddr);

impl fmt::Display for PrivateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the address {} is private", self.0)
    }
}

impl core::error::Error for PrivateName {}

/// Addresses of names, and zones of addresses. Tests replace both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network {
    pub(super) zone_of: fn(IpAddr) -> Zone,
    /// Returns the address of a name, or `None` to ask the system.
    pub(super) address_of: fn(&str) -> Option<IpAddr>,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            zone_of: Zone::of,
            address_of: |_| None,
        }
    }
}

/// Resolver of names.
struct Resolver {
    network: Network,
    /// Whether private addresses are errors.
    only_public: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let Resolver {
            network,
            only_public,
        } = *self;
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = match (network.address_of)(name.as_str()) {
                Some(address) => vec![(address, 0).into()],
                None => tokio::net::lookup_host((name.as_str(), 0)).await?.collect(),
            };
            let is_private =
                |address: &&SocketAddr| (network.zone_of)(address.ip()) == Zone::Private;
            match addresses.iter().find(is_private) {
                Some(found) if only_public => Err(PrivateName(found.ip()).into()),
                _ => Ok(Box::new(addresses.into_iter()) as Addrs),
            }
        })
    }
}

/// Clients for the requests of a chain of redirects.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Client {
    network: Network,
    /// Client for addresses of any zone.
    any: reqwest::Client,
    /// Client that requests public addresses only.
    public: reqwest::Client,
    proxies: Arc<Matcher>,
}

/// Last host of a chain of redirects.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Hop {
    url: Url,
    zone: Zone,
}

/// Returns the target of an answer that is a redirect.
#[doc(hidden)]
pub fn target(url: &Url, status: u16, headers: &HeaderMap) -> Option<Url> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    let mut target = url
        .join(location)
        .ok()
        .filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308))?;
    if target.fragment().is_none() {
        target.set_fragment(url.fragment());
    }
    Some(target)
}

impl Client {
    /// Creates clients whose options `build` sets.
    ///
    /// # Errors
    ///
    /// The system has no certificates.
    pub fn new(build: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Client> {
        Client::on(Network::default(), build)
    }

    pub(super) fn on(
        network: Network,
        build: impl Fn(ClientBuilder) -> ClientBuilder,
    ) -> reqwest::Result<Client> {
        let client = |only_public| {
            let resolver = Arc::new(Resolver {
                network,
                only_public,
            });
            build(super::client_builder())
                .dns_resolver(resolver)
                .redirect(redirect::Policy::none())
                .build()
        };
        Ok(Client {
            network,
            any: client(false)?,
            public: client(true)?,
            proxies: Arc::new(Matcher::from_env()),
        })
    }

    /// Judges whether `url` may be requested after the hop `from`, and returns the client for it.
    ///
    /// # Errors
    ///
    /// The redirect must not be followed.
    pub fn judge(&self, from: Option<&Hop>, url: &Url) -> Result<&reqwest::Client, RedirectError> {
        let Some(from) = from else {
            return Ok(&self.any);
        };
        let to = || redacted(url.as_str());
        match (from.url.scheme(), url.scheme()) {
            ("https", "http") => return Err(RedirectError::Downgrade { to: to() }),
            (_, "http" | "https") => {}
            (_, found) => {
                return Err(RedirectError::Scheme {
                    found: found.to_owned(),
                });
            }
        }
        if from.zone == Zone::Private {
            return Ok(&self.any);
        }
        match literal(url) {
            Some(address) if (self.network.zone_of)(address) == Zone::Private => {
                Err(RedirectError::Private { to: to(), address })
            }
            // The proxy resolves the name, and the resolver of the client would judge the address of the proxy.
            _ if self.is_proxied(url) => Ok(&self.any),
            _ => Ok(&self.public),
        }
    }

    /// Returns the hop of an answer from `peer`. A host behind a proxy counts as public, unless its URL has an address.
    pub fn hop(&self, url: &Url, peer: Option<SocketAddr>) -> Hop {
        let address =
            literal(url).or_else(|| peer.map(|peer| peer.ip()).filter(|_| !self.is_proxied(url)));
        Hop {
            url: url.clone(),
            zone: address.map_or(Zone::Public, self.network.zone_of),
        }
    }

    /// Converts the error of a request for `url`.
    pub fn refused(url: &Url, error: &(dyn core::error::Error + 'static)) -> Option<RedirectError> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(PrivateName(address)) = error.downcast_ref() {
                return Some(RedirectError::Private {
                    to: redacted(url.as_str()),
                    address: *address,
                });
            }
            cause = error.source();
        }
        None
    }

    fn is_proxied(&self, url: &Url) -> bool {
        url.as_str()
            .parse()
            .is_ok_and(|url| self.proxies.intercept(&url).is_some())
    }

    /// Creates a request.
    pub fn request(&self, method: Method, url: &str) -> reqwest::RequestBuilder {
        self.any.request(method, url)
    }

    /// Creates a request for a file.
    pub fn get(&self, url: &str) -> reqwest::RequestBuilder {
        self.request(Method::GET, url)
    }

    /// Sends a request without following redirects. `from` is the hop that redirected to it.
    ///
    /// # Errors
    ///
    /// The request failed, or its URL must not be requested.
    pub async fn send_once(
        &self,
        request: Request,
        from: Option<&Hop>,
    ) -> Result<(Response, Hop), SendError> {
        let url = request.url().clone();
        let client = self.judge(from, &url)?;
        let response =
            client
                .execute(request)
                .await
                .map_err(|error| match Client::refused(&url, &error) {
                    Some(refused) => SendError::Redirect(refused),
                    None => SendError::Http(error),
                })?;
        let hop = self.hop(&url, response.remote_addr());
        Ok((response, hop))
    }

    /// Sends a request without a body and follows its redirects.
    ///
    /// # Errors
    ///
    /// A request failed, or a redirect must not be followed.
    pub async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, SendError> {
        let mut request = request.build()?;
        let mut from: Option<Hop> = None;
        for _ in 0..=MAX_REDIRECTS {
            let next = request.try_clone();
            let (response, hop) = self.send_once(request, from.as_ref()).await?;
            let target = target(&hop.url, response.status().as_u16(), response.headers());
            let (Some(target), Some(mut next)) = (target, next) else {
                return Ok(response);
            };
            if !same_host(&hop.url, &target) {
                remove_secrets(next.headers_mut());
            }
            *next.url_mut() = target;
            (request, from) = (next, Some(hop));
        }
        Err(RedirectError::Many { max: MAX_REDIRECTS }.into())
    }
}

/// Returns whether two URLs have the same scheme, host and port, so that the same headers may be sent.
#[doc(hidden)]
pub fn same_host(one: &Url, other: &Url) -> bool {
    let parts = |url: &Url| {
        (
            url.scheme().to_owned(),
            url.host_str().map(str::to_owned),
            url.port_or_known_default(),
        )
    };
    parts(one) == parts(other)
}

/// Removes the headers that are meant for one host.
#[doc(hidden)]
pub fn remove_secrets(headers: &mut HeaderMap) {
    for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
        headers.remove(name);
    }
}

/// Returns the address that a URL contains instead of a name. A local name counts as its address.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let name = host.strip_suffix('.').unwrap_or(host);
    if name == "localhost" || name.ends_with(".localhost") {
        return Some(IpAddr::from([127, 0, 0, 1]));
    }
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}
