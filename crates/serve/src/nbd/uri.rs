//! URIs of NBD exports, by the NBD URI specification.

use crate::net::ListenAddress;

/// URI of an export of a server that listens at `address`. `is_secure` is set if clients must encrypt.
pub(super) fn build(address: &ListenAddress, is_secure: bool, export: &str) -> String {
    let (export, s) = (escaped(export, b"-._~"), if is_secure { "s" } else { "" });
    match address {
        ListenAddress::Unix(path) => {
            format!("nbd{s}+unix:///{export}?socket={}", escaped(&path.display().to_string(), b"-._~/"))
        }
        ListenAddress::Tcp(socket) => format!("nbd{s}://{socket}/{export}"),
    }
}

/// Percent-encodes all bytes but letters, digits and those of `plain`.
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
        let unix = ListenAddress::Unix("/tmp/a b".into());
        let tcp = ListenAddress::Tcp("[::1]:10809".parse().unwrap());
        assert_eq!(build(&unix, false, "e"), "nbd+unix:///e?socket=/tmp/a%20b");
        assert_eq!(build(&unix, true, ""), "nbds+unix:///?socket=/tmp/a%20b");
        assert_eq!(build(&tcp, false, "a/b"), "nbd://[::1]:10809/a%2Fb");
        assert_eq!(build(&tcp, true, "e"), "nbds://[::1]:10809/e");
    }
}
