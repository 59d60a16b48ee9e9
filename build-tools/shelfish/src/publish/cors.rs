//! Permission for pages of other sites to read a bucket.

use std::fmt;

use axum::http::Request;
use base64ct::{Base64, Encoding};
use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpError, HttpRequestBody};
use sha2::{Digest, Sha256};

use crate::store::{Address, Kind, S3, Store};

/// Rules for S3: any page may read ranges and the headers that verify them.
const S3_RULES: &str = "<CORSConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><CORSRule>\
<ID>shelfish</ID><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedMethod>HEAD</AllowedMethod>\
<AllowedHeader>*</AllowedHeader><ExposeHeader>Content-Length</ExposeHeader><ExposeHeader>Content-Range</ExposeHeader>\
<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>86400</MaxAgeSeconds></CORSRule></CORSConfiguration>";

/// Sets the rules if the API of the store supports this. Returns a message about the result or the manual steps.
pub(super) async fn allow(store: &Store, to: &Address) -> String {
    let by_hand = cors_by_hand(to);
    let Some(s3) = store.objects().and_then(|objects| objects.s3()) else {
        return by_hand;
    };
    match set(s3).await {
        Ok(true) => format!("pages of every site may read the bucket {}", to.bucket),
        Ok(false) => format!(
            "the bucket {} has other rules, which were not changed; if pages cannot read it, {by_hand}",
            to.bucket
        ),
        Err(error) => format!(
            "the rules of the bucket {} were not set ({error}); {by_hand}",
            to.bucket
        ),
    }
}

/// Reasons why the rules of a bucket were not set.
#[derive(Debug)]
enum RulesError {
    /// The store answers with this status.
    Status(u16),
    /// The credentials cannot be read, or cannot sign the request.
    Signature(object_store::Error),
    /// The request is invalid.
    Request(axum::http::Error),
    /// The store does not answer, or its answer exceeds a limit.
    Answer(HttpError),
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RulesError::Status(status) => write!(f, "the store answered with status {status}"),
            RulesError::Signature(error) => error.fmt(f),
            RulesError::Request(error) => error.fmt(f),
            RulesError::Answer(error) => error.fmt(f),
        }
    }
}

/// Sets the rules unless the bucket has other rules. Returns whether the rules are set.
async fn set(s3: &S3) -> Result<bool, RulesError> {
    let (status, body) = call(s3, "GET", "").await?;
    if status == 200 {
        return Ok(body.contains("<ID>shelfish</ID>"));
    }
    if status != 404 {
        return Err(RulesError::Status(status));
    }
    match call(s3, "PUT", S3_RULES).await? {
        (200..=299, _) => Ok(true),
        (status, _) => Err(RulesError::Status(status)),
    }
}

async fn call(s3: &S3, method: &str, body: &'static str) -> Result<(u16, String), RulesError> {
    let url = format!("{}?cors=", s3.bucket_url);
    let mut request = Request::builder().method(method).uri(&url);
    if !body.is_empty() {
        request = request.header(
            "x-amz-checksum-sha256",
            Base64::encode_string(&Sha256::digest(body)),
        );
    }
    let mut request = request
        .body(HttpRequestBody::from(body.to_owned()))
        .map_err(RulesError::Request)?;
    let credential = s3
        .store
        .credentials()
        .get_credential()
        .await
        .map_err(RulesError::Signature)?;
    let signed =
        AwsAuthorizer::new(&credential, "s3", &s3.region).try_authorize(&mut request, None);
    signed.map_err(RulesError::Signature)?;
    let answer = s3
        .execute_for_rules(request)
        .await
        .map_err(RulesError::Answer)?;
    let status = answer.status().as_u16();
    let body = answer
        .into_body()
        .bytes()
        .await
        .map_err(RulesError::Answer)?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// Describes the manual steps that let pages of other sites read a bucket.
pub fn cors_by_hand(to: &Address) -> String {
    let (bucket, headers) = (&to.bucket, "Content-Length,Content-Range,ETag");
    match to.kind {
        Kind::S3 | Kind::R2 => format!(
            "let pages of other sites read it:\n  aws s3api put-bucket-cors --bucket {bucket} --cors-configuration \
             '{{\"CORSRules\":[{{\"AllowedOrigins\":[\"*\"],\"AllowedMethods\":[\"GET\",\"HEAD\"],\"AllowedHeaders\":[\"*\"],\
             \"ExposeHeaders\":[\"Content-Length\",\"Content-Range\",\"ETag\"],\"MaxAgeSeconds\":86400}}]}}'"
        ),
        Kind::Google => format!(
            "let pages of other sites read it:\n  echo '[{{\"origin\":[\"*\"],\"method\":[\"GET\",\"HEAD\"],\"responseHeader\":\
             [\"Content-Length\",\"Content-Range\",\"ETag\",\"Range\"],\"maxAgeSeconds\":86400}}]' > cors.json\n  \
             gcloud storage buckets update gs://{bucket} --cors-file=cors.json"
        ),
        Kind::Azure => format!(
            "let pages of other sites read it (the rules are those of the whole account):\n  az storage cors add --services b \
             --origins '*' --methods GET HEAD --allowed-headers '*' --exposed-headers {headers} --max-age 86400"
        ),
        Kind::Folder => {
            "a folder has no rules: the host that serves it has to send Access-Control-Allow-Origin: *, as \
             GitHub Pages does"
                .to_owned()
        }
    }
}
