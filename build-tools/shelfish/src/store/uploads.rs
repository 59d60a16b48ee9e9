//! Incomplete uploads of S3's protocol. A process that is killed leaves them, and the store charges for their parts.
//!
//! Azure removes incomplete uploads after a week. Google needs a rule for the bucket.

use std::fmt;

use axum::http::{Request, StatusCode};
use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpError, HttpRequestBody};
use object_store::multipart::MultipartStore;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::bucket::S3;
use super::client::Expected;
use super::upload_list::{Upload, parse};

/// Characters that signatures of S3 encode.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

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
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let url = format!(
            "{}?prefix={}&uploads=",
            self.bucket_url,
            utf8_percent_encode(&prefix, ENCODED)
        );
        let request = Request::builder()
            .uri(&url)
            .body(HttpRequestBody::from(String::new()));
        let mut request = request.map_err(UploadsError::Request)?;
        let credential = self
            .store
            .credentials()
            .get_credential()
            .await
            .map_err(UploadsError::Store)?;
        let signed =
            AwsAuthorizer::new(&credential, "s3", &self.region).try_authorize(&mut request, None);
        signed.map_err(UploadsError::Store)?;
        let answer = self
            .execute(request, Expected::Page)
            .await
            .map_err(UploadsError::Answer)?;
        if !answer.status().is_success() {
            return Err(UploadsError::Status(answer.status()));
        }
        let body = answer
            .into_body()
            .bytes()
            .await
            .map_err(UploadsError::Answer)?;
        Ok(parse(&String::from_utf8_lossy(&body), &prefix))
    }

    /// Removes the parts of an incomplete upload.
    pub(super) async fn remove_upload(
        &self,
        folder: &str,
        upload: &Upload,
    ) -> Result<(), UploadsError> {
        let parts = folder.split('/').filter(|part| !part.is_empty());
        let path = object_store::path::Path::from_iter(parts.chain([upload.shard.as_str()]));
        match self.store.abort_multipart(&path, &upload.id).await {
            // Another process has completed or removed it.
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(UploadsError::Store),
        }
    }
}
