//! Checksums that a host publishes in a list, `sha256sums.txt` next to the files.

/// The name of the list.
const LIST: &str = "sha256sums.txt";

/// A checksum that a host publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The URL of the list.
    pub sums: String,
}

/// Returns the URL of the list that would contain the checksum of a file.
pub fn sums_url(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rfind('/').map_or(path, |slash| &path[..=slash]);
    format!("{folder}{LIST}")
}

/// Finds the checksum of a file in a list of `sha256sum`.
pub fn listed(list: &[u8], file: &str) -> Option<String> {
    let list = String::from_utf8_lossy(list);
    let digits = checksums(&list)
        .find(|(name, _)| *name == file)
        .map(|(_, digits)| digits)?;
    Some(digits.to_ascii_lowercase())
}

/// Returns the names and checksums of a list of `sha256sum`: 64 digits, a space, a space or `*`, and the name.
pub fn checksums(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.lines().filter_map(|line| {
        let (digits, name) = line.trim_end().split_once(' ')?;
        let name = name.trim_start_matches([' ', '*']).trim_start_matches("./");
        let is_sum = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_sum && !name.is_empty()).then_some((name, digits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_found_in_the_list_next_to_the_file() {
        assert_eq!(
            sums_url("https://x/y/a.zst?b=c/d"),
            "https://x/y/sha256sums.txt"
        );
        let (one, two) = ("A1".repeat(32), "b2".repeat(32));
        let list = format!(
            "{one}  a.zst\r\n{two} *./b c.zst\nnonsense\n{}  d.zst\n\n{two}  a.zst\n",
            &one[1..]
        );
        for (file, sum) in [
            ("a.zst", Some(one.to_lowercase())),
            ("b c.zst", Some(two)),
            ("d.zst", None),
            ("", None),
        ] {
            assert_eq!(listed(list.as_bytes(), file), sum, "{file}");
        }
        assert_eq!(listed(b"\xff\0 \n  \n", "a"), None);
    }
}
