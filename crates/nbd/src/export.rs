//! What a server offers.

use std::collections::BTreeSet;
use std::ops::BitOr;

use outlast_units::Bytes;

use crate::context::Contexts;
use crate::error::ServerError;
use crate::wire::{STRING_MAX, export_flag};

/// What clients may do with an export: the flags of the section "Transmission flags" that are the server's to choose. `SEND_DF`
/// and `BLOCK_STATUS_PAYLOAD` follow from what was negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u16);

impl Features {
    /// Reading only.
    pub const NONE: Self = Self(0);
    /// Writes, trims and zeroes are refused with `EPERM`, and none of them is advertised.
    pub const READ_ONLY: Self = Self(1 << 1);
    /// `NBD_CMD_FLUSH`.
    pub const FLUSH: Self = Self(1 << 2);
    /// `NBD_CMD_FLAG_FUA`.
    pub const FUA: Self = Self(1 << 3);
    /// The medium turns.
    pub const ROTATIONAL: Self = Self(1 << 4);
    /// `NBD_CMD_TRIM`.
    pub const TRIM: Self = Self(1 << 5);
    /// `NBD_CMD_WRITE_ZEROES`, with and without holes.
    pub const WRITE_ZEROES: Self = Self(1 << 6);
    /// A flush on any connection covers what any connection has written.
    pub const MULTI_CONN: Self = Self(1 << 8);
    /// `NBD_CMD_CACHE`.
    pub const CACHE: Self = Self(1 << 10);
    /// `NBD_CMD_FLAG_FAST_ZERO`.
    pub const FAST_ZERO: Self = Self(1 << 11);

    const WRITING: u16 = Self::TRIM.0 | Self::WRITE_ZEROES.0 | Self::FAST_ZERO.0;

    /// Whether all of `other` are in it.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The transmission flags that follow from it.
    pub(crate) fn flags(self) -> u16 {
        let hidden = if self.has(Self::READ_ONLY) { Self::WRITING } else { 0 };
        export_flag::HAS_FLAGS | self.0 & !hidden
    }
}

impl BitOr for Features {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Sizes that requests keep to: the section "Size constraints".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Offsets and lengths are multiples of it.
    pub minimum: Bytes,
    /// Multiples of it cost no read-modify-write.
    pub preferred: Bytes,
    /// The longest read or write.
    pub maximum: Bytes,
    /// Whether a client that has not asked for these sizes is turned away. Off for the widest choice of clients: what does not
    /// keep to the sizes is refused request by request anyway.
    pub required: bool,
}

impl Default for BlockSizes {
    /// Sectors of 512 bytes, 4 KiB preferred, up to 32 MiB.
    fn default() -> Self {
        Self { minimum: Bytes(512), preferred: Bytes::kib(4), maximum: Bytes::mib(32), required: false }
    }
}

/// One device that clients may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// What clients call it. A client that gives no name gets the export of the empty name, or else the first.
    pub name: String,
    /// A sentence for people; may be empty.
    pub description: String,
    /// How large it is.
    pub size: Bytes,
    /// Sizes of requests.
    pub blocks: BlockSizes,
    /// What may be done with it.
    pub features: Features,
    /// What may be asked about ranges of it.
    pub contexts: Contexts,
    /// Whether it is neither shown nor opened without TLS.
    pub tls_only: bool,
}

/// Whether sessions are encrypted: the section "TLS support".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// `NOTLS`: never.
    #[default]
    Off,
    /// `SELECTIVETLS`: where the client wishes, and for exports that demand it.
    Allowed,
    /// `FORCEDTLS`: nothing is said without.
    Required,
}

/// What one client can make a server hold for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests in flight.
    pub requests: u32,
    /// Bytes of requests in flight and of replies that are not sent. One request is always let in, whatever its size.
    pub bytes: Bytes,
    /// Options before the session ends.
    pub options: u32,
    /// Extents of one context in one answer.
    pub extents: u32,
    /// Bytes read ahead of the request that is being looked at.
    pub read_ahead: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 1024,
            bytes: Bytes::mib(64),
            options: 1024,
            extents: 8192,
            read_ahead: Bytes::kib(256),
        }
    }
}

/// What is offered to every client that connects. Checked when it is made, the same for a connection's whole life, and shared by all
/// of them (`Arc<Server>`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    exports: Vec<Export>,
    tls: Tls,
    limits: Limits,
}

impl Server {
    /// A server of `exports`; the first is the default one.
    ///
    /// # Errors
    /// What the protocol has no place for.
    pub fn new(exports: Vec<Export>, tls: Tls, limits: Limits) -> Result<Self, ServerError> {
        let mut names = BTreeSet::new();
        for export in &exports {
            check(export)?;
            if export.tls_only && tls == Tls::Off {
                return Err(ServerError::NoTls(export.name.clone()));
            }
            if !names.insert(&export.name) {
                return Err(ServerError::Twice(export.name.clone()));
            }
        }
        let limited = [
            ("requests", u64::from(limits.requests)),
            ("bytes", limits.bytes.0),
            ("options", u64::from(limits.options)),
            ("extents", u64::from(limits.extents)),
            ("read_ahead", limits.read_ahead.0),
        ];
        match limited.into_iter().find(|&(_, value)| value == 0) {
            Some((name, _)) => Err(ServerError::Limit(name)),
            None => Ok(Self { exports, tls, limits }),
        }
    }

    /// All exports.
    pub fn exports(&self) -> &[Export] {
        &self.exports
    }

    /// Whether sessions are encrypted.
    pub fn tls(&self) -> Tls {
        self.tls
    }

    /// What one client can make it hold.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The number of the export that a client calls `name`.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        let named = self.exports.iter().position(|export| export.name.as_bytes() == name);
        named.or_else(|| (name.is_empty() && !self.exports.is_empty()).then_some(0))
    }
}

fn check(export: &Export) -> Result<(), ServerError> {
    let name = || export.name.clone();
    for (what, text) in [("name", &export.name), ("description", &export.description)] {
        if text.len() > STRING_MAX || text.contains('\0') {
            return Err(ServerError::Text { name: name(), what, length: text.len() });
        }
    }
    let BlockSizes { minimum: Bytes(minimum), preferred: Bytes(preferred), maximum: Bytes(maximum), .. } =
        export.blocks;
    if !minimum.is_power_of_two()
        || minimum > 1 << 16
        || !preferred.is_power_of_two()
        || preferred < minimum.max(512)
        || maximum < preferred
        || maximum > 1 << 26
        || !maximum.is_multiple_of(minimum)
    {
        return Err(ServerError::BlockSizes { name: name(), minimum, preferred, maximum });
    }
    if !export.size.0.is_multiple_of(minimum) || export.size.0 >= 1 << 63 {
        return Err(ServerError::Size { name: name(), size: export.size.0, minimum });
    }
    if export.features.has(Features::FAST_ZERO) && !export.features.has(Features::WRITE_ZEROES) {
        return Err(ServerError::FastZero(name()));
    }
    Ok(())
}
