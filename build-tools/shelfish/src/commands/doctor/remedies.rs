//! Hosts, and the settings that solve problems on them.

use reqwest::Url;

use super::client::Step;

/// A remedy for all hosts, or one for each [`Family`].
pub type Remedy = &'static [&'static str];

/// The place where a setting is made: a column of the remedies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    Nginx,
    Apache,
    Caddy,
    Bucket,
    /// A host without settings.
    Fixed,
}

use Family::*;

/// Beginnings of the names of headers and of their values, or ends of the names of hosts; the host, and its family.
const HOSTS: [(&str, &str, &str, Family); 13] = [
    ("", "github.io", "GitHub Pages", Fixed),
    ("", "huggingface.co", "Hugging Face", Fixed),
    ("", "r2.dev", "Cloudflare R2", Bucket),
    ("", "amazonaws.com", "S3", Bucket),
    ("", "storage.googleapis.com", "Google Cloud Storage", Bucket),
    ("x-github-request-id", "", "GitHub Pages", Fixed),
    ("x-amz-request-id", "", "S3", Bucket),
    ("x-goog-generation", "", "Google Cloud Storage", Bucket),
    ("server", "nginx", "nginx", Nginx),
    ("server", "apache", "Apache", Apache),
    ("server", "caddy", "Caddy", Caddy),
    ("server", "cloudflare", "Cloudflare", Bucket),
    ("server", "simplehttp", "Python's http.server", Fixed),
];

/// A kind of host.
pub struct Host {
    pub name: &'static str,
    family: Family,
}

impl Host {
    /// Recognises a host by the requested URL and the first answer. The remedies of an unknown host are lines for nginx.
    pub fn of(url: &Url, answer: Option<&Step>) -> Host {
        let domain = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let is_it = |header: &str, text: &str| match answer {
            _ if header.is_empty() => domain
                .strip_suffix(text)
                .is_some_and(|sub| sub.is_empty() || sub.ends_with('.')),
            None => false,
            Some(answer) => answer
                .header(header)
                .is_some_and(|found| found.to_ascii_lowercase().starts_with(text)),
        };
        let mut hosts = HOSTS.iter();
        let known = hosts.find(|(header, text, ..)| is_it(header, text));
        let (name, family) = known.map_or(("an unknown host", Nginx), |host| (host.2, host.3));
        Host { name, family }
    }

    /// Returns the remedy for this host. `url` is the URL of the manifest.
    pub fn remedy(&self, remedy: Remedy, url: &Url) -> String {
        let path = url.path();
        let folder = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
        let text = remedy.get(self.family as usize).unwrap_or(&remedy[0]);
        text.replace("{host}", self.name)
            .replace("{path}", path)
            .replace("{folder}", folder)
    }
}

pub const PUBLISH: Remedy = &[
    "name the folder that contains manifest.json, or publish the database: shelfish publish FOLDER URL",
];
pub const PUBLISH_AGAIN: Remedy = &[
    "publish the files again: shelfish publish FOLDER URL; if the checksum is still wrong, the host changes bytes",
];
pub const PERMISSIONS: Remedy =
    &["let the public read the files: the permissions of the folder or bucket"];
pub const CONNECTION: Remedy = &[
    "check the name, the port, the certificate and the connection; SHELFISH_TIMEOUT=60 allows more time",
];
pub const VERSION: Remedy =
    &["use a newer shelfish and a newer npm package, or build the database again"];
pub const SAME_FOLDER: Remedy = &[
    "do not redirect the manifest, or redirect to a folder that also contains the shards: browsers read shards next to the \
     manifest after its redirects",
];
pub const DIRECT: Remedy = &["name the final address, without redirects and without a signature"];
pub const LOG: Remedy = &["read the log of the host"];
pub const NO_USER: Remedy = &["an address without a user and a password"];
pub const LIMIT: Remedy = &[
    "{host} limits requests: wait, raise the limit of the host (in nginx rate and burst of limit_req), or use a different host",
];

const ELSEWHERE: &str = "{host} has no setting for this; use a host with settings, such as R2 or S3: shelfish publish FOLDER s3://BUCKET/FOLDER --cors; during development: shelfish serve FOLDER";
const METADATA: &str = "`shelfish publish` sets Cache-Control and stores files without Content-Encoding; by hand, change the metadata of the objects";

// A location of nginx with its own `add_header` loses the headers of the server; `expires` does not have this effect. Compression
// in Apache adds a suffix to the tag, with which a later request does not match.

pub const CORS: Remedy = &[
    "nginx, in `server`, and in each location that has its own add_header: add_header Access-Control-Allow-Origin \"*\" always;",
    "Apache, in `<Location {folder}>`: Header always set Access-Control-Allow-Origin \"*\"",
    "Caddy, header {folder}* Access-Control-Allow-Origin \"*\"",
    "`shelfish publish --cors` prints the command for the rules of a bucket; by hand, a rule for cross-origin requests in its settings",
    ELSEWHERE,
];
pub const MANIFEST_AGE: Remedy = &[
    "nginx, in `location = {path}`: expires epoch;",
    "Apache, in `<Files manifest.json>`: Header always set Cache-Control \"no-cache\"",
    "Caddy, header {path} Cache-Control \"no-cache\"",
    METADATA,
    ELSEWHERE,
];
pub const RANGES: Remedy = &[
    "nginx, in `location ~ \\.silo$`: max_ranges 1; (in front of another server: proxy_force_ranges on;)",
    "Apache, MaxRanges default, and no output filter for \"\\.silo$\"",
    "Caddy, handle {folder}* { file_server }",
    METADATA,
    ELSEWHERE,
];
pub const COMPRESSION: Remedy = &[
    "nginx, in `location ~ \\.silo$`: gzip off; (and brotli off; zstd off; if these modules are loaded)",
    "Apache, SetEnvIf Request_URI \"\\.silo$\" no-gzip no-brotli",
    "Caddy, @packed not path *.silo, and: encode @packed zstd gzip",
    METADATA,
    ELSEWHERE,
];
pub const VALIDATOR: Remedy = &[
    "nginx, in `location = {path}`: etag on;",
    "Apache, FileETag MTime Size, and with compression: BrotliAlterETag NoChange, DeflateAlterETag NoChange",
    "Caddy, handle {folder}* { file_server }",
    "{host} sends ETag; a server in front of it must not remove ETag",
    ELSEWHERE,
];
pub const MISSING: Remedy = &[
    "nginx, in `location {folder}`: try_files $uri =404;",
    "Apache, in `<Location {folder}>`: FallbackResource disabled",
    "Caddy, handle {folder}* { file_server }, next to a handle with the try_files of the application",
    "{host}: the error document of the website must keep status 404",
    "{host}: add a file 404.html to the site instead of a redirect",
];
pub const HTTPS: Remedy = &[
    "nginx, in the server of port 80: return 301 https://$host$request_uri; in that of port 443: listen 443 ssl;",
    "Apache, in the virtual host of port 80: Redirect permanent / https://HOST/",
    "Caddy, a site address without http:// and without a port",
    "name the https:// address of the bucket",
    "name the address with https://, and enforce it in the settings of the site",
];
