//! Lists of incomplete uploads, as S3 sends them.

use shelfish::table::is_shard_name;

/// An incomplete upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Name of the shard.
    pub shard: String,
    /// Time of the beginning by RFC 3339, by the clock of the store.
    pub begun: String,
    /// Name of the upload.
    pub id: String,
}

/// Parses a page of `ListMultipartUploads`. Ignores all but the shards of the folder.
pub fn parse(page: &str, prefix: &str) -> Vec<Upload> {
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
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
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
        let keys = [
            &format!("R&amp;D/{shard}"),
            "R&amp;D/letter",
            &format!("other/{shard}"),
            &shard,
        ];
        let page = format!(
            "<ListMultipartUploadsResult>{}<Upload><Key>",
            keys.map(upload).concat()
        );
        let found = Upload {
            shard,
            begun: "2026-01-31T00:00:00.000Z".to_owned(),
            id: "a&b".to_owned(),
        };
        for prefix in ["R&D/", ""] {
            assert_eq!(
                parse(&page, prefix),
                std::slice::from_ref(&found),
                "{prefix:?}"
            );
        }
        assert_eq!(parse("<Error/>", ""), []);
    }
}
