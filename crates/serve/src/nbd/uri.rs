//! NBD URIs.

use crate::net::Listen;

/// The URI of an export of a server that listens at `place`, where clients encrypt if it `is_secure`.
pub(super) fn of(place: &Listen, is_secure: bool, export: &str) -> String {
    let (export, s) = (escaped(export, b"-._~"), if is_secure { "s" } else { "" });
    match place {
        Listen::Unix(path) => {
            format!("nbd{s}+unix:///{export}?socket={}", escaped(&path.display().to_string(), b"-._~/"))
        }
        Listen::Tcp(address) => format!("nbd{s}://{address}/{export}"),
    }
}

/// A text as a part of a URI: letters, digits and `plain` as they are.
fn escaped(text: &str, plain: &[u8]) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_escaped() {
        assert_eq!(escaped("a b/ü", b"-"), "a%20b%2F%C3%BC");
        assert_eq!(escaped("/tmp/x-1", b"-/"), "/tmp/x-1");
    }

    #[test]
    fn a_uri_names_the_place_the_export_and_encryption() {
        let unix = Listen::Unix("/tmp/a b".into());
        let tcp = Listen::Tcp("[::1]:10809".parse().unwrap());
        assert_eq!(of(&unix, false, "e"), "nbd+unix:///e?socket=/tmp/a%20b");
        assert_eq!(of(&unix, true, ""), "nbds+unix:///?socket=/tmp/a%20b");
        assert_eq!(of(&tcp, false, "a/b"), "nbd://[::1]:10809/a%2Fb");
        assert_eq!(of(&tcp, true, "e"), "nbds://[::1]:10809/e");
    }
}
