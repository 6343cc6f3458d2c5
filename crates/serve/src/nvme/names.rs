//! Names of exports as `NVMe` has them.

use outlast_nvme::NQN_BYTES;

use crate::net::ListenAddress;
use crate::protocol::OfferError;

/// What all `NVMe` Qualified Names of this program begin with.
const PREFIX: &str = "nqn.2026-11.org.outlast:";

/// `NVMe` Qualified Name of an export.
pub(super) fn nqn(export: &str) -> Result<String, OfferError> {
    let name = format!("{PREFIX}{export}");
    if name.len() > NQN_BYTES {
        let longest = NQN_BYTES - PREFIX.len();
        return Err(OfferError::Protocol(format!(
            "export {export:?}: an NVMe Qualified Name has at most {NQN_BYTES} bytes, which leaves {longest} for the export's"
        )));
    }
    if !export.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(OfferError::Protocol(format!(
            "export {export:?}: an NVMe Qualified Name has neither spaces nor other than ASCII characters"
        )));
    }
    Ok(name)
}

/// Identifier of an export: the same whenever it is served, and by all likelihood that of no other name.
pub(super) fn identity(export: &str) -> [u8; 16] {
    // FNV-1a with 128 bits.
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = export.bytes().fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    hash.to_be_bytes()
}

/// Serial number: the end of the identifier.
pub(super) fn serial(identity: [u8; 16]) -> String {
    identity[6..].iter().fold(String::new(), |text, byte| text + &format!("{byte:02X}"))
}

/// URI of an export of a server that listens at `address`, in the form of the `NVMe` Boot Specification.
pub(super) fn uri(address: &ListenAddress, export: &str) -> String {
    match address {
        ListenAddress::Unix(path) => format!("nvme+unix:{}/{PREFIX}{export}", path.display()),
        ListenAddress::Tcp(socket) => format!("nvme+tcp://{socket}/{PREFIX}{export}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_qualified_and_words() {
        assert_eq!(nqn("demo").unwrap(), "nqn.2026-11.org.outlast:demo");
        assert!(nqn("two words").is_err() && nqn("ü").is_err());
        assert_eq!((nqn(&"n".repeat(199)).is_ok(), nqn(&"n".repeat(200)).is_ok()), (true, false));
        let tcp = ListenAddress::Tcp("127.0.0.1:4420".parse().unwrap());
        assert_eq!(uri(&tcp, "e"), "nvme+tcp://127.0.0.1:4420/nqn.2026-11.org.outlast:e");
        assert_eq!(serial(identity("e")).len(), 20);
        assert_ne!(identity("a"), identity("b"));
    }
}
