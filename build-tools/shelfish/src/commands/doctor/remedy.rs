//! Settings of hosts that solve problems.

use reqwest::Url;

use super::server::Server;
use crate::publish::cors_by_hand;
use crate::store::{Address, Role};

/// Headers that a page should be able to read.
pub const EXPOSED: &str = "Content-Length, Content-Range, ETag, Retry-After";

/// A missing property of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Answers to range requests.
    Ranges,
    /// Shards without compression.
    Compression,
    /// Permission for pages of other sites.
    Cors,
    /// Headers that pages of other sites may read.
    Exposed,
    /// Permission to send the header `Range`.
    Preflight,
    /// A short life of the manifest in caches.
    ManifestAge,
    /// A long life of shards in caches.
    ShardAge,
    /// An entity tag or a time of the manifest.
    Validator,
    /// Status 404 for missing files.
    Missing,
    /// Encryption.
    Https,
    /// Answers to many requests in a short time.
    Throttled,
}

/// Returns the setting that solves a problem on a host. `url` is the URL of the manifest.
pub fn remedy(server: Server, need: Need, url: &Url) -> String {
    if need == Need::Throttled {
        return throttled(server);
    }
    match server {
        Server::GitHubPages
        | Server::GitHubReleases
        | Server::GitHubRaw
        | Server::HuggingFace
        | Server::JsDelivr => without_settings(server, need),
        Server::S3 | Server::R2 | Server::Google | Server::Azure => store(server, need, url),
        Server::Python => {
            format!("Python's http.server cannot do this; use a different server: {SERVE}")
        }
        Server::Netlify | Server::CloudflarePages => headers_file(server, need, url),
        Server::Nginx => format!("nginx, {}", nginx(need, url)),
        Server::Apache => format!("Apache, {}", apache(need, url)),
        Server::Caddy => format!("Caddy, {}", caddy(need, url)),
        Server::Cloudflare => cloudflare(need, url),
        Server::Other => match plain(need) {
            Some(header) => format!("send the header {header}\nnginx, {}", nginx(need, url)),
            None => format!("nginx, {}", nginx(need, url)),
        },
    }
}

/// Returns the advice for a host that limits requests.
fn throttled(server: Server) -> String {
    let advice = match server {
        Server::Nginx => "raise rate and burst of limit_req",
        Server::R2 => "r2.dev is limited; connect a domain of your own to the bucket",
        Server::Cloudflare => "Security > WAF > Rate limiting rules: an exception for the folder",
        Server::GitHubRaw | Server::GitHubReleases => {
            "use GitHub Pages (shelfish publish FOLDER SITE --pages)"
        }
        _ => "wait, raise the limit of the host, or use a different host",
    };
    format!("{server} limits requests: {advice}")
}

const SERVE: &str = "`shelfish serve FOLDER` during development, nginx or Caddy in public";

/// Returns the header that a need is about.
fn header(need: Need) -> Option<(&'static str, &'static str)> {
    match need {
        Need::Cors => Some(("Access-Control-Allow-Origin", "*")),
        Need::Exposed => Some(("Access-Control-Expose-Headers", EXPOSED)),
        Need::Preflight => Some(("Access-Control-Allow-Headers", "Range")),
        Need::ManifestAge => Some(("Cache-Control", "no-cache")),
        Need::ShardAge => Some(("Cache-Control", Role::Shard.cache_control())),
        Need::Ranges
        | Need::Compression
        | Need::Validator
        | Need::Missing
        | Need::Https
        | Need::Throttled => None,
    }
}

fn plain(need: Need) -> Option<String> {
    header(need).map(|(name, value)| format!("{name}: {value}"))
}

/// Returns the folder of the manifest, with slashes around it.
fn folder(url: &Url) -> &str {
    let path = url.path();
    &path[..path.rfind('/').map_or(0, |slash| slash + 1)]
}

/// Returns a directive of nginx and its place.
///
/// A location with its own `add_header` loses the headers of the server. `expires` does not have this effect.
fn nginx(need: Need, url: &Url) -> String {
    let (folder, path) = (folder(url), url.path());
    let add_header = |name: &str, value: &str| {
        format!(
            "in `server`, and in each location that has its own add_header: add_header {name} \"{value}\" always;"
        )
    };
    match (need, header(need)) {
        (Need::ManifestAge, _) => format!("in `location = {path}`: expires epoch;"),
        (Need::ShardAge, _) => "in `location ~ \\.silo$`: expires 1y;".to_owned(),
        (Need::Preflight, Some((name, value))) => {
            format!("{} if ($request_method = OPTIONS) {{ return 204; }}", add_header(name, value))
        }
        (_, Some((name, value))) => add_header(name, value),
        (Need::Compression, _) => {
            "in `location ~ \\.silo$`: gzip off; (and brotli off; zstd off; if these modules are loaded)".to_owned()
        }
        (Need::Ranges, _) => {
            "in `location ~ \\.silo$`: max_ranges 1; (in front of another server: proxy_force_ranges on;)".to_owned()
        }
        (Need::Validator, _) => format!("in `location = {path}`: etag on;"),
        (Need::Missing, _) => format!("in `location {folder}`: try_files $uri =404;"),
        _ => "in the server of port 80: return 301 https://$host$request_uri; in that of port 443: listen 443 ssl;"
            .to_owned(),
    }
}

fn apache(need: Need, url: &Url) -> String {
    let folder = folder(url);
    if let Some((name, value)) = header(need) {
        let place = match need {
            Need::ManifestAge => "<Files manifest.json>".to_owned(),
            Need::ShardAge => "<FilesMatch \"\\.silo$\">".to_owned(),
            _ => format!("<Location {folder}>"),
        };
        return format!("in `{place}`: Header always set {name} \"{value}\"");
    }
    match need {
        Need::Compression => "SetEnvIf Request_URI \"\\.silo$\" no-gzip no-brotli".to_owned(),
        Need::Ranges => "MaxRanges default, and no output filter for \"\\.silo$\"".to_owned(),
        // Compression adds a suffix to the tag, with which a later request does not match.
        Need::Validator => {
            "FileETag MTime Size, and with compression: BrotliAlterETag NoChange, DeflateAlterETag NoChange".to_owned()
        }
        Need::Missing => format!("in `<Location {folder}>`: FallbackResource disabled"),
        _ => "in the virtual host of port 80: Redirect permanent / https://HOST/".to_owned(),
    }
}

fn caddy(need: Need, url: &Url) -> String {
    let (folder, path) = (folder(url), url.path());
    if let Some((name, value)) = header(need) {
        let place = match need {
            Need::ManifestAge => path.to_owned(),
            Need::ShardAge => format!("{folder}*.silo"),
            _ => format!("{folder}*"),
        };
        let line = format!("header {place} {name} \"{value}\"");
        return match need {
            Need::Preflight => {
                format!("{line}, and: @preflight method OPTIONS, respond @preflight 204")
            }
            _ => line,
        };
    }
    match need {
        Need::Compression => "@packed not path *.silo, and: encode @packed zstd gzip".to_owned(),
        Need::Missing => {
            format!(
                "handle {folder}* {{ file_server }}, next to a handle with the try_files of the application"
            )
        }
        Need::Ranges | Need::Validator => format!("handle {folder}* {{ file_server }}"),
        _ => "a site address without http:// and without a port".to_owned(),
    }
}

/// Returns the line of the file `_headers` that Netlify and Cloudflare Pages read.
fn headers_file(server: Server, need: Need, url: &Url) -> String {
    let folder = folder(url);
    if let Some(header) = plain(need) {
        let place = match need {
            Need::ManifestAge => url.path().to_owned(),
            Need::ShardAge => format!("{folder}*.silo"),
            _ => format!("{folder}*"),
        };
        return format!("{server}, in the file `_headers` of the site:\n{place}\n  {header}");
    }
    match need {
        Need::Missing => format!(
            "{server}: add a file 404.html to the site, and remove the rule /* /index.html 200"
        ),
        Need::Compression | Need::Ranges => format!(
            "{server} has no setting for this; names with the ending .silo keep the type model/mesh, otherwise put the \
             database on R2, S3 or GitHub Pages: shelfish publish FOLDER s3://BUCKET/FOLDER"
        ),
        _ => format!("{server} has no setting for this"),
    }
}

fn cloudflare(need: Need, url: &Url) -> String {
    let folder = folder(url);
    if let Some(header) = plain(need) {
        return format!(
            "Cloudflare, Rules > Transform Rules > Modify Response Header, for paths that start with {folder}: set {header}"
        );
    }
    let rule = match need {
        Need::Compression => {
            "Rules > Compression Rules, for paths that end with .silo: no compression"
        }
        Need::Ranges => {
            "Rules > Cache Rules, for paths that end with .silo: eligible for cache; the origin must send Content-Length"
        }
        Need::Https => "SSL/TLS > Edge Certificates: Always Use HTTPS",
        _ => return format!("the server behind Cloudflare; nginx, {}", nginx(need, url)),
    };
    format!("Cloudflare, {rule}")
}

/// Returns the setting of a bucket.
fn store(server: Server, need: Need, url: &Url) -> String {
    match need {
        Need::Cors | Need::Exposed | Need::Preflight => match address(server, url).filter(|_| server != Server::Azure) {
            Some(to) => cors_by_hand(&to),
            None => format!("{server}: a rule for cross-origin requests in the settings of the bucket"),
        },
        Need::ManifestAge | Need::ShardAge => format!(
            "`shelfish publish` sets Cache-Control; by hand, the metadata of the object: Cache-Control: {}",
            if need == Need::ShardAge { Role::Shard } else { Role::Manifest }.cache_control()
        ),
        Need::Compression | Need::Ranges => {
            "`shelfish publish` stores files without Content-Encoding; by hand, remove Content-Encoding from the metadata \
             of the objects and disable compression in the network in front of the bucket"
                .to_owned()
        }
        Need::Validator => format!("{server} sends ETag; a server in front of it must not remove ETag"),
        Need::Missing => format!("{server}: the error document of the website must keep status 404"),
        Need::Https | Need::Throttled => "the https:// address of the bucket".to_owned(),
    }
}

/// Returns the address of the bucket that a URL names. The public address of R2 does not contain the name of the bucket.
fn address(server: Server, url: &Url) -> Option<Address> {
    let host = url.host_str()?;
    let first = || {
        url.path_segments()
            .and_then(|mut path| path.next())
            .filter(|first| !first.is_empty())
    };
    let bucket = match server {
        Server::S3 if host.starts_with("s3.") || host.starts_with("s3-") => first()?,
        Server::S3 => host
            .split_once(".s3")
            .map_or("BUCKET", |(bucket, _)| bucket),
        Server::Google => host
            .strip_suffix(".storage.googleapis.com")
            .or_else(first)?,
        _ => "BUCKET",
    };
    let scheme = match server {
        Server::Google => "gs",
        _ => "s3",
    };
    // A bucket is an argument of a shell command.
    let is_plain = bucket
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    Address::parse(&format!(
        "{scheme}://{}",
        if is_plain { bucket } else { "BUCKET" }
    ))
    .ok()
}

/// Returns the advice for a host that has no settings.
fn without_settings(server: Server, need: Need) -> String {
    let elsewhere =
        "a host with settings, such as R2 or S3: shelfish publish FOLDER s3://BUCKET/FOLDER --cors";
    match (server, need) {
        (_, Need::Exposed | Need::Preflight | Need::ShardAge | Need::Validator) => {
            format!("{server} has no setting for this, and the database works without it")
        }
        (Server::JsDelivr, Need::ManifestAge) => {
            "jsDelivr: the address of a branch is kept for days, and that of a version for ever; a database that changes \
             needs another host"
                .to_owned()
        }
        (Server::GitHubPages, Need::Https) => "GitHub Pages: Settings > Pages > Enforce HTTPS".to_owned(),
        (Server::GitHubPages, Need::Missing) => "GitHub Pages: add a file 404.html instead of a redirect".to_owned(),
        (Server::GitHubReleases, _) => {
            format!("{server} has no setting for this; use GitHub Pages (shelfish publish FOLDER SITE --pages), or {elsewhere}")
        }
        _ => format!("{server} has no setting for this; use {elsewhere}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn a_remedy_is_a_line_of_the_configuration_of_the_host() -> Test {
        let url = Url::parse("https://example.org/evals/manifest.json")?;
        for (server, need, expected) in [
            (
                Server::Nginx,
                Need::Cors,
                "add_header: add_header Access-Control-Allow-Origin \"*\" always;",
            ),
            (
                Server::Nginx,
                Need::Compression,
                "`location ~ \\.silo$`: gzip off;",
            ),
            (
                Server::Nginx,
                Need::ManifestAge,
                "`location = /evals/manifest.json`: expires epoch;",
            ),
            (
                Server::Apache,
                Need::Cors,
                "Header always set Access-Control-Allow-Origin \"*\"",
            ),
            (
                Server::Caddy,
                Need::Cors,
                "header /evals/* Access-Control-Allow-Origin \"*\"",
            ),
            (
                Server::Netlify,
                Need::Cors,
                "/evals/*\n  Access-Control-Allow-Origin: *",
            ),
            (
                Server::Other,
                Need::Cors,
                "send the header Access-Control-Allow-Origin: *\nnginx, ",
            ),
            (
                Server::R2,
                Need::Cors,
                "aws s3api put-bucket-cors --bucket BUCKET",
            ),
            (Server::Python, Need::Ranges, "`shelfish serve FOLDER`"),
            (Server::GitHubReleases, Need::Cors, "use GitHub Pages"),
        ] {
            let found = remedy(server, need, &url);
            assert!(found.contains(expected), "{server}, {need:?}: {found}");
        }
        Ok(())
    }

    #[test]
    fn every_host_has_a_remedy_for_every_need() -> Test {
        use Need::*;
        let url = Url::parse("https://example.org/manifest.json")?;
        let servers = [
            Server::Nginx,
            Server::Apache,
            Server::Caddy,
            Server::S3,
            Server::R2,
            Server::CloudflarePages,
            Server::Cloudflare,
            Server::GitHubPages,
            Server::GitHubReleases,
            Server::GitHubRaw,
            Server::Netlify,
            Server::Google,
            Server::Azure,
            Server::HuggingFace,
            Server::JsDelivr,
            Server::Python,
            Server::Other,
        ];
        for server in servers {
            for need in [
                Ranges,
                Compression,
                Cors,
                Exposed,
                Preflight,
                ManifestAge,
                ShardAge,
                Validator,
                Missing,
                Https,
                Throttled,
            ] {
                let found = remedy(server, need, &url);
                assert!(
                    found.len() > 10 && !found.ends_with(": "),
                    "{server}, {need:?}: {found}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn the_command_for_a_bucket_contains_its_name() -> Test {
        for (server, url, expected) in [
            (
                Server::S3,
                "https://my.s3.eu-west-1.amazonaws.com/evals/manifest.json",
                "--bucket my ",
            ),
            (
                Server::S3,
                "https://s3.eu-west-1.amazonaws.com/my/evals/manifest.json",
                "--bucket my ",
            ),
            (
                Server::Google,
                "https://storage.googleapis.com/my/evals/manifest.json",
                "gs://my ",
            ),
            (
                Server::Google,
                "https://my.storage.googleapis.com/evals/manifest.json",
                "gs://my ",
            ),
            (
                Server::S3,
                "https://s3.amazonaws.com/$(reboot)/manifest.json",
                "--bucket BUCKET ",
            ),
        ] {
            let found = remedy(server, Need::Cors, &Url::parse(url)?);
            assert!(found.contains(expected), "{url}: {found}");
        }
        Ok(())
    }
}
