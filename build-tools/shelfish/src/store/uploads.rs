//! Incomplete uploads of S3's protocol. A process that is killed leaves them, and the store charges for their parts.
//!
//! Azure removes incomplete uploads after a week. Google needs a rule for the bucket.

use std::fmt;

use axum::http::{Request, StatusCode};
use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpError, HttpRequestBody};
use object_store::multipart::MultipartStore;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use shelfish::table::is_shard_name;

use super::bucket::S3;
use super::client::Expected;

/// Characters that signatures of S3 encode.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// An incomplete upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Name of the shard.
    pub shard: String,
    /// Time of the beginning by RFC 3339, by the clock of the store.
    pub begun: String,
    /// Name of the upload.
    id: String,
}

/// Reasons why incomplete uploads are unknown or remain.
#[derive(Debug)]
pub enum UploadsError {
    /// The store answers with this status.
    Status(StatusCode),
    /// The credentials cannot be read, or the store cannot remove an upload.
    Store(object_store::Error),
    /// The request is invalid.
    Request(axum::http::Error),
    /// The store does not answer, or its answer exceeds a limit.
    Answer(HttpError),
}

impl fmt::Display for UploadsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UploadsError::Status(status) => write!(f, "the store answered with status {status}"),
            UploadsError::Store(error) => f.write_str(&super::brief(error)),
            UploadsError::Request(error) => error.fmt(f),
            UploadsError::Answer(error) => error.fmt(f),
        }
    }
}

impl S3 {
    /// Lists the incomplete uploads of shards in a folder, at most a thousand.
    pub(super) async fn uploads(&self, folder: &str) -> Result<Vec<Upload>, UploadsError> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let url = format!("{}?prefix={}&uploads=", self.bucket_url, utf8_percent_encode(&prefix, ENCODED));
        let request = Request::builder().uri(&url).body(HttpRequestBody::from(String::new()));
        let mut request = request.map_err(UploadsError::Request)?;
        let credential = self.store.credentials().get_credential().await.map_err(UploadsError::Store)?;
        let signed = AwsAuthorizer::new(&credential, "s3", &self.region).try_authorize(&mut request, None);
        signed.map_err(UploadsError::Store)?;
        let answer = self.execute(request, Expected::Page).await.map_err(UploadsError::Answer)?;
        if !answer.status().is_success() {
            return Err(UploadsError::Status(answer.status()));
        }
        let body = answer.into_body().bytes().await.map_err(UploadsError::Answer)?;
        Ok(parse(&String::from_utf8_lossy(&body), &prefix))
    }

    /// Removes the parts of an incomplete upload.
    pub(super) async fn remove_upload(&self, folder: &str, upload: &Upload) -> Result<(), UploadsError> {
        let parts = folder.split('/').filter(|part| !part.is_empty());
        let path = object_store::path::Path::from_iter(parts.chain([upload.shard.as_str()]));
        match self.store.abort_multipart(&path, &upload.id).await {
            // Another process has completed or removed it.
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(UploadsError::Store),
        }
    }
}

/// Parses a page of `ListMultipartUploads`. Ignores all but the shards of the folder.
fn parse(page: &str, prefix: &str) -> Vec<Upload> {
    let element = |upload: &str, name: &str| {
        let (_, rest) = upload.split_once(&format!("<{name}>"))?;
        let (text, _) = rest.split_once('<')?;
        Some(unescaped(text))
    };
    let each = |upload: &str| {
        let upload = upload.split_once("</Upload>")?.0;
        let shard = element(upload, "Key")?.strip_prefix(prefix)?.to_owned();
        let (id, begun) = (element(upload, "UploadId")?, element(upload, "Initiated")?);
        is_shard_name(&shard).then_some(Upload { shard, begun, id })
    };
    page.split("<Upload>").skip(1).filter_map(each).collect()
}

/// Replaces the references to characters that XML requires.
fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_parsed_and_other_files_are_ignored() {
        let shard = shelfish::table::shard_name(&[7; 32]);
        let upload = |key: &str| {
            format!(
                "<Upload><Key>{key}</Key><UploadId>a&amp;b</UploadId><Owner><ID>1</ID></Owner>\
                 <Initiated>2026-01-31T00:00:00.000Z</Initiated></Upload>"
            )
        };
        let keys = [&format!("R&amp;D/{shard}"), "R&amp;D/letter", &format!("other/{shard}"), &shard];
        let page = format!("<ListMultipartUploadsResult>{}<Upload><Key>", keys.map(upload).concat());
        let found = Upload { shard, begun: "2026-01-31T00:00:00.000Z".to_owned(), id: "a&b".to_owned() };
        for prefix in ["R&D/", ""] {
            assert_eq!(parse(&page, prefix), std::slice::from_ref(&found), "{prefix:?}");
        }
        assert_eq!(parse("<Error/>", ""), []);
    }
}
