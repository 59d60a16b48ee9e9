//! Kinds of hosts, and the settings that solve problems on them.

use reqwest::Url;

use super::client::Step;

/// A kind of host.
#[derive(Debug, PartialEq)]
pub struct Host {
    pub name: &'static str,
    family: Family,
}

/// The place where a setting is made: a column of [`SETTINGS`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    Nginx,
    Apache,
    Caddy,
    /// The file `_headers` of a site.
    HeadersFile,
    /// Cloudflare in front of a different host.
    Cloudflare,
    Bucket,
    /// A host without settings.
    Fixed,
}

use Family::*;

/// Names of hosts, with their subdomains.
const BY_NAME: [(&str, Host); 13] = [
    ("github.io", PAGES),
    (
        "raw.githubusercontent.com",
        host("raw.githubusercontent.com", Fixed),
    ),
    ("github.com", host("GitHub Releases", Fixed)),
    ("huggingface.co", host("Hugging Face", Fixed)),
    ("hf.co", host("Hugging Face", Fixed)),
    ("cdn.jsdelivr.net", host("jsDelivr", Fixed)),
    ("r2.dev", host("Cloudflare R2", Bucket)),
    ("r2.cloudflarestorage.com", host("Cloudflare R2", Bucket)),
    ("pages.dev", host("Cloudflare Pages", HeadersFile)),
    ("netlify.app", NETLIFY),
    ("storage.googleapis.com", GOOGLE),
    ("amazonaws.com", S3),
    ("blob.core.windows.net", AZURE),
];

/// Headers of hosts, and the beginnings of their values. A host behind a network such as Cloudflare still sends its own
/// headers, so that they come first.
const BY_HEADER: [(&str, &str, Host); 11] = [
    ("x-github-request-id", "", PAGES),
    ("x-nf-request-id", "", NETLIFY),
    ("x-amz-request-id", "", S3),
    ("x-goog-generation", "", GOOGLE),
    ("x-ms-blob-type", "", AZURE),
    ("server", "nginx", host("nginx", Nginx)),
    ("server", "openresty", host("nginx", Nginx)),
    ("server", "apache", host("Apache", Apache)),
    ("server", "caddy", host("Caddy", Caddy)),
    ("server", "cloudflare", host("Cloudflare", Cloudflare)),
    ("server", "simplehttp", host("Python's http.server", Fixed)),
];

const PAGES: Host = host("GitHub Pages", Fixed);
const NETLIFY: Host = host("Netlify", HeadersFile);
const S3: Host = host("S3", Bucket);
const GOOGLE: Host = host("Google Cloud Storage", Bucket);
const AZURE: Host = host("Azure Blob Storage", Bucket);

/// Any other host. Its remedies are lines for nginx.
const OTHER: Host = host("an unknown host", Nginx);

const fn host(name: &'static str, family: Family) -> Host {
    Host { name, family }
}

/// A missing property of a host: a row of [`SETTINGS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
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
    /// Answers to range requests.
    Ranges,
    /// Shards without compression.
    Compression,
    /// An entity tag or a time of the manifest.
    Validator,
    /// Status 404 for missing files.
    Missing,
    /// Encryption.
    Https,
    /// Answers to many requests in a short time.
    Throttled,
}

const OPTIONAL: &str = "{host} has no setting for this, and the database works without it";
const ELSEWHERE: &str = "{host} has no setting for this; use a host with settings, such as R2 or S3: shelfish publish FOLDER s3://BUCKET/FOLDER --cors; during development: shelfish serve FOLDER";
const RULES: &str = "`shelfish publish --cors` sets the rules of a bucket; by hand, a rule for cross-origin requests in its settings";
const METADATA: &str = "`shelfish publish` sets Cache-Control and stores files without Content-Encoding; by hand, change the metadata of the objects";
const LIMIT: &str = "{host} limits requests: wait, raise the limit of the host (in nginx rate and burst of limit_req), or use a different host";
const ORIGIN: &str = "the server behind Cloudflare: see the documentation of its program";

/// Settings by need and family. A location of nginx with its own `add_header` loses the headers of the server; `expires` does
/// not have this effect. Compression in Apache adds a suffix to the tag, with which a later request does not match.
const SETTINGS: [[&str; 7]; 11] = [
    [
        "nginx, in `server`, and in each location that has its own add_header: add_header Access-Control-Allow-Origin \"*\" always;",
        "Apache, in `<Location {folder}>`: Header always set Access-Control-Allow-Origin \"*\"",
        "Caddy, header {folder}* Access-Control-Allow-Origin \"*\"",
        "{host}, in the file `_headers` of the site:\n{folder}*\n  Access-Control-Allow-Origin: *",
        "Cloudflare, Rules > Transform Rules > Modify Response Header, for paths that start with {folder}: set Access-Control-Allow-Origin: *",
        RULES,
        ELSEWHERE,
    ],
    [
        "nginx, in `server`, and in each location that has its own add_header: add_header Access-Control-Expose-Headers \"Content-Length, Content-Range, ETag, Retry-After\" always;",
        "Apache, in `<Location {folder}>`: Header always set Access-Control-Expose-Headers \"Content-Length, Content-Range, ETag, Retry-After\"",
        "Caddy, header {folder}* Access-Control-Expose-Headers \"Content-Length, Content-Range, ETag, Retry-After\"",
        "{host}, in the file `_headers` of the site:\n{folder}*\n  Access-Control-Expose-Headers: Content-Length, Content-Range, ETag, Retry-After",
        "Cloudflare, Rules > Transform Rules > Modify Response Header, for paths that start with {folder}: set Access-Control-Expose-Headers: Content-Length, Content-Range, ETag, Retry-After",
        RULES,
        OPTIONAL,
    ],
    [
        "nginx, in `server`, and in each location that has its own add_header: add_header Access-Control-Allow-Headers \"Range\" always; if ($request_method = OPTIONS) { return 204; }",
        "Apache, in `<Location {folder}>`: Header always set Access-Control-Allow-Headers \"Range\"",
        "Caddy, header {folder}* Access-Control-Allow-Headers \"Range\", and: @preflight method OPTIONS, respond @preflight 204",
        "{host}, in the file `_headers` of the site:\n{folder}*\n  Access-Control-Allow-Headers: Range",
        "Cloudflare, Rules > Transform Rules > Modify Response Header, for paths that start with {folder}: set Access-Control-Allow-Headers: Range",
        RULES,
        OPTIONAL,
    ],
    [
        "nginx, in `location = {path}`: expires epoch;",
        "Apache, in `<Files manifest.json>`: Header always set Cache-Control \"no-cache\"",
        "Caddy, header {path} Cache-Control \"no-cache\"",
        "{host}, in the file `_headers` of the site:\n{path}\n  Cache-Control: no-cache",
        "Cloudflare, Rules > Transform Rules > Modify Response Header, for the path {path}: set Cache-Control: no-cache",
        METADATA,
        ELSEWHERE,
    ],
    [
        "nginx, in `location ~ \\.silo$`: expires 1y;",
        "Apache, in `<FilesMatch \"\\.silo$\">`: Header always set Cache-Control \"public, max-age=31536000, immutable\"",
        "Caddy, header {folder}*.silo Cache-Control \"public, max-age=31536000, immutable\"",
        "{host}, in the file `_headers` of the site:\n{folder}*.silo\n  Cache-Control: public, max-age=31536000, immutable",
        "Cloudflare, Rules > Transform Rules > Modify Response Header, for paths that end with .silo: set Cache-Control: public, max-age=31536000, immutable",
        METADATA,
        OPTIONAL,
    ],
    [
        "nginx, in `location ~ \\.silo$`: max_ranges 1; (in front of another server: proxy_force_ranges on;)",
        "Apache, MaxRanges default, and no output filter for \"\\.silo$\"",
        "Caddy, handle {folder}* { file_server }",
        ELSEWHERE,
        "Cloudflare, Rules > Cache Rules, for paths that end with .silo: eligible for cache; the origin must send Content-Length",
        METADATA,
        ELSEWHERE,
    ],
    [
        "nginx, in `location ~ \\.silo$`: gzip off; (and brotli off; zstd off; if these modules are loaded)",
        "Apache, SetEnvIf Request_URI \"\\.silo$\" no-gzip no-brotli",
        "Caddy, @packed not path *.silo, and: encode @packed zstd gzip",
        ELSEWHERE,
        "Cloudflare, Rules > Compression Rules, for paths that end with .silo: no compression",
        METADATA,
        ELSEWHERE,
    ],
    [
        "nginx, in `location = {path}`: etag on;",
        "Apache, FileETag MTime Size, and with compression: BrotliAlterETag NoChange, DeflateAlterETag NoChange",
        "Caddy, handle {folder}* { file_server }",
        OPTIONAL,
        ORIGIN,
        "{host} sends ETag; a server in front of it must not remove ETag",
        OPTIONAL,
    ],
    [
        "nginx, in `location {folder}`: try_files $uri =404;",
        "Apache, in `<Location {folder}>`: FallbackResource disabled",
        "Caddy, handle {folder}* { file_server }, next to a handle with the try_files of the application",
        "{host}: add a file 404.html to the site, and remove the rule /* /index.html 200",
        ORIGIN,
        "{host}: the error document of the website must keep status 404",
        "{host}: add a file 404.html to the site instead of a redirect",
    ],
    [
        "nginx, in the server of port 80: return 301 https://$host$request_uri; in that of port 443: listen 443 ssl;",
        "Apache, in the virtual host of port 80: Redirect permanent / https://HOST/",
        "Caddy, a site address without http:// and without a port",
        ELSEWHERE,
        "Cloudflare, SSL/TLS > Edge Certificates: Always Use HTTPS",
        "the https:// address of the bucket",
        "{host}: name the address with https://, and enforce it in the settings of the site",
    ],
    [LIMIT, LIMIT, LIMIT, LIMIT, LIMIT, LIMIT, LIMIT],
];

/// Returns the setting that solves a problem on a host. `url` is the URL of the manifest.
pub fn setting(host: &Host, need: Need, url: &Url) -> String {
    let path = url.path();
    let folder = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
    SETTINGS[need as usize][host.family as usize]
        .replace("{host}", host.name)
        .replace("{path}", path)
        .replace("{folder}", folder)
}

/// Recognises a host by the requested URL and the first answer.
pub fn recognise(url: &Url, answer: Option<&Step>) -> &'static Host {
    let name = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let is_within = |domain: &str| {
        let sub = name.strip_suffix(domain);
        sub.is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
    };
    let is_sent = |header: &str, value: &str| {
        let found = answer.and_then(|answer| answer.header(header));
        found.is_some_and(|found| found.to_ascii_lowercase().starts_with(value))
    };
    let by_name = BY_NAME.iter().find(|(domain, _)| is_within(domain));
    let by_header = || {
        let mut hosts = BY_HEADER.iter();
        hosts.find(|(header, value, _)| is_sent(header, value))
    };
    by_name
        .map(|(_, host)| host)
        .or_else(|| by_header().map(|(_, _, host)| host))
        .unwrap_or(&OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_recognised_by_their_names() -> Result<(), Box<dyn std::error::Error>> {
        for (url, expected) in [
            ("https://me.github.io/evals/manifest.json", "GitHub Pages"),
            ("https://b.s3.eu-west-1.amazonaws.com/manifest.json", "S3"),
            ("https://notgithub.io/manifest.json", "an unknown host"),
            ("https://github.io.example.org/x.json", "an unknown host"),
        ] {
            let found = recognise(&Url::parse(url)?, None);
            assert_eq!(found.name, expected, "{url}");
        }
        Ok(())
    }
}
