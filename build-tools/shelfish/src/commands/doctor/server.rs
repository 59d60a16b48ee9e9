//! Recognition of hosts by their names and headers.

use std::fmt;

use reqwest::Url;
use serde::{Serialize, Serializer};

use super::client::Step;

/// A kind of host, which decides where a setting is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// nginx.
    Nginx,
    /// Apache HTTP Server.
    Apache,
    /// Caddy.
    Caddy,
    /// Amazon S3, or a store with the same protocol.
    S3,
    /// The public address of a bucket of Cloudflare R2.
    R2,
    /// Cloudflare Pages.
    CloudflarePages,
    /// Cloudflare in front of a different host.
    Cloudflare,
    /// GitHub Pages.
    GitHubPages,
    /// Files of a release on GitHub.
    GitHubReleases,
    /// `raw.githubusercontent.com`.
    GitHubRaw,
    /// Netlify.
    Netlify,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// Hugging Face.
    HuggingFace,
    /// jsDelivr.
    JsDelivr,
    /// `python3 -m http.server`.
    Python,
    /// Any other host.
    Other,
}

impl Server {
    /// Recognises a host by the requested URL and the first answer.
    pub fn of(url: &Url, answer: Option<&Step>) -> Server {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let is_within = |domain: &str| {
            host == domain
                || host
                    .strip_suffix(domain)
                    .is_some_and(|sub| sub.ends_with('.'))
        };
        let by_name = [
            ("github.io", Server::GitHubPages),
            ("raw.githubusercontent.com", Server::GitHubRaw),
            ("github.com", Server::GitHubReleases),
            ("huggingface.co", Server::HuggingFace),
            ("hf.co", Server::HuggingFace),
            ("cdn.jsdelivr.net", Server::JsDelivr),
            ("r2.dev", Server::R2),
            ("r2.cloudflarestorage.com", Server::R2),
            ("pages.dev", Server::CloudflarePages),
            ("netlify.app", Server::Netlify),
            ("storage.googleapis.com", Server::Google),
            ("amazonaws.com", Server::S3),
            ("blob.core.windows.net", Server::Azure),
        ];
        if let Some((_, server)) = by_name.into_iter().find(|(domain, _)| is_within(domain)) {
            return server;
        }
        let Some(answer) = answer else {
            return Server::Other;
        };
        // A host behind a network such as Cloudflare still sends its own headers.
        let by_header = [
            ("x-github-request-id", Server::GitHubPages),
            ("x-nf-request-id", Server::Netlify),
            ("x-amz-request-id", Server::S3),
            ("x-goog-generation", Server::Google),
            ("x-ms-blob-type", Server::Azure),
        ];
        if let Some((_, server)) = by_header
            .into_iter()
            .find(|(name, _)| answer.headers.contains_key(*name))
        {
            return server;
        }
        let name = answer
            .header("server")
            .unwrap_or_default()
            .to_ascii_lowercase();
        let by_server = [
            ("nginx", Server::Nginx),
            ("openresty", Server::Nginx),
            ("apache", Server::Apache),
            ("caddy", Server::Caddy),
            ("cloudflare", Server::Cloudflare),
            ("netlify", Server::Netlify),
            ("simplehttp", Server::Python),
        ];
        by_server
            .into_iter()
            .find(|(word, _)| name.starts_with(word))
            .map_or(Server::Other, |(_, server)| server)
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Server::Nginx => "nginx",
            Server::Apache => "Apache",
            Server::Caddy => "Caddy",
            Server::S3 => "S3",
            Server::R2 => "Cloudflare R2",
            Server::CloudflarePages => "Cloudflare Pages",
            Server::Cloudflare => "Cloudflare",
            Server::GitHubPages => "GitHub Pages",
            Server::GitHubReleases => "GitHub Releases",
            Server::GitHubRaw => "raw.githubusercontent.com",
            Server::Netlify => "Netlify",
            Server::Google => "Google Cloud Storage",
            Server::Azure => "Azure Blob Storage",
            Server::HuggingFace => "Hugging Face",
            Server::JsDelivr => "jsDelivr",
            Server::Python => "Python's http.server",
            Server::Other => "an unknown host",
        })
    }
}

impl Serialize for Server {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Version;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    fn recognised(
        url: &str,
        header: Option<(&'static str, &'static str)>,
    ) -> Result<Server, Box<dyn std::error::Error>> {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let url = Url::parse(url)?;
        let step = Step {
            url: url.clone(),
            origin: String::new(),
            status: 200,
            headers,
            version: Version::HTTP_11,
        };
        Ok(Server::of(&url, Some(&step)))
    }

    #[test]
    fn hosts_are_recognised_by_their_names() -> Test {
        for (url, expected) in [
            (
                "https://me.github.io/evals/manifest.json",
                Server::GitHubPages,
            ),
            (
                "https://github.com/me/x/releases/download/v1/manifest.json",
                Server::GitHubReleases,
            ),
            (
                "https://RAW.githubusercontent.com/me/x/main/manifest.json",
                Server::GitHubRaw,
            ),
            ("https://pub-0.r2.dev/manifest.json", Server::R2),
            (
                "https://b.s3.eu-west-1.amazonaws.com/manifest.json",
                Server::S3,
            ),
            (
                "https://storage.googleapis.com/b/manifest.json",
                Server::Google,
            ),
            (
                "https://me.blob.core.windows.net/c/manifest.json",
                Server::Azure,
            ),
            (
                "https://huggingface.co/datasets/me/x/resolve/main/manifest.json",
                Server::HuggingFace,
            ),
            ("https://notgithub.io/manifest.json", Server::Other),
            ("https://github.io.example.org/manifest.json", Server::Other),
        ] {
            assert_eq!(recognised(url, None)?, expected, "{url}");
        }
        Ok(())
    }

    #[test]
    fn hosts_with_their_own_domain_are_recognised_by_headers() -> Test {
        for (name, value, expected) in [
            ("server", "nginx/1.27.0", Server::Nginx),
            ("server", "Apache/2.4.62 (Debian)", Server::Apache),
            ("server", "Caddy", Server::Caddy),
            ("server", "cloudflare", Server::Cloudflare),
            ("server", "SimpleHTTP/0.6 Python/3.12.1", Server::Python),
            ("x-amz-request-id", "1", Server::S3),
            ("x-nf-request-id", "1", Server::Netlify),
            ("server", "other", Server::Other),
        ] {
            assert_eq!(
                recognised("https://example.org/manifest.json", Some((name, value)))?,
                expected,
                "{value}"
            );
        }
        Ok(())
    }
}
