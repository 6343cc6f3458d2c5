//! Exports, and the limits of a server.

use std::collections::BTreeSet;
use std::ops::BitOr;

use outlast_units::Bytes;

use crate::context::MetaContexts;
use crate::error::ServerError;
use crate::wire::{STRING_MAX, export_flag};

/// Operations that clients may use: those of the section "Transmission flags" that the server chooses. `SEND_DF` and `BLOCK_STATUS_PAYLOAD` follow
/// from the negotiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportFeatures(u16);

impl ExportFeatures {
    /// Reads only.
    pub const NONE: Self = Self(0);
    /// Writes, trims and zeroes are refused with `EPERM`, and none of them is advertised.
    pub const READ_ONLY: Self = Self(1 << 1);
    /// `NBD_CMD_FLUSH`.
    pub const FLUSH: Self = Self(1 << 2);
    /// `NBD_CMD_FLAG_FUA`.
    pub const FUA: Self = Self(1 << 3);
    /// The medium rotates.
    pub const ROTATIONAL: Self = Self(1 << 4);
    /// `NBD_CMD_TRIM`.
    pub const TRIM: Self = Self(1 << 5);
    /// `NBD_CMD_WRITE_ZEROES`, with and without holes.
    pub const WRITE_ZEROES: Self = Self(1 << 6);
    /// A flush on any connection covers writes of all connections.
    pub const MULTI_CONN: Self = Self(1 << 8);
    /// `NBD_CMD_CACHE`.
    pub const CACHE: Self = Self(1 << 10);
    /// `NBD_CMD_FLAG_FAST_ZERO`.
    pub const FAST_ZERO: Self = Self(1 << 11);

    const WRITING: u16 = Self::TRIM.0 | Self::WRITE_ZEROES.0 | Self::FAST_ZERO.0;

    /// True if all of `other` are included.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Transmission flags for these features.
    pub(crate) fn flags(self) -> u16 {
        let hidden = if self.has(Self::READ_ONLY) { Self::WRITING } else { 0 };
        export_flag::HAS_FLAGS | self.0 & !hidden
    }
}

impl BitOr for ExportFeatures {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Limits on offsets and lengths of requests: the section "Size constraints".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Offsets and lengths are multiples of this.
    pub minimum: Bytes,
    /// Multiples of this need no read-modify-write.
    pub preferred: Bytes,
    /// Longest read or write.
    pub maximum: Bytes,
    /// Refuses clients that have not asked for these sizes. Off by default, so that more clients can connect; requests that break the sizes are
    /// refused in any case.
    pub required: bool,
}

impl Default for BlockSizes {
    /// Sectors of 512 bytes, 4 KiB preferred, up to 32 MiB.
    fn default() -> Self {
        Self { minimum: Bytes(512), preferred: Bytes::kib(4), maximum: Bytes::mib(32), required: false }
    }
}

/// A device that clients may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NbdExport {
    /// Name by which clients open it. A client without a name gets the export with an empty name, or else the first.
    pub name: String,
    /// Description for people, one sentence; may be empty.
    pub description: String,
    /// Size in bytes.
    pub size: Bytes,
    /// Limits on offsets and lengths.
    pub blocks: BlockSizes,
    /// Operations that clients may use.
    pub features: ExportFeatures,
    /// Contexts that clients may query.
    pub contexts: MetaContexts,
    /// Hides the export from clients without TLS, and refuses to open it for them.
    pub tls_only: bool,
}

/// Encryption of sessions: the section "TLS support".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// `NOTLS`: never.
    #[default]
    Off,
    /// `SELECTIVETLS`: if the client asks for it, and for exports that need it.
    Allowed,
    /// `FORCEDTLS`: without TLS, the client learns nothing.
    Required,
}

/// Limits on the memory that one client can make a server use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Most requests in flight.
    pub requests: u32,
    /// Most bytes of requests in flight and unsent replies. A single request is accepted whatever its size.
    pub bytes: Bytes,
    /// Most options, after which the session ends.
    pub options: u32,
    /// Most extents of one context in one answer.
    pub extents: u32,
    /// Bytes read ahead of the current request.
    pub read_ahead: Bytes,
}

impl Default for ConnectionLimits {
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

/// Exports and limits for every client that connects. Checked when created, never changed, and shared by all connections (`Arc<NbdServer>`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NbdServer {
    exports: Vec<NbdExport>,
    tls: TlsMode,
    limits: ConnectionLimits,
}

impl NbdServer {
    /// A server of `exports`. The first is the default export.
    ///
    /// # Errors
    /// A setting that does not suit the protocol.
    pub fn new(exports: Vec<NbdExport>, tls: TlsMode, limits: ConnectionLimits) -> Result<Self, ServerError> {
        let mut names = BTreeSet::new();
        for export in &exports {
            check_export(export)?;
            if export.tls_only && tls == TlsMode::Off {
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
    pub fn exports(&self) -> &[NbdExport] {
        &self.exports
    }

    /// Encryption of sessions.
    pub fn tls(&self) -> TlsMode {
        self.tls
    }

    /// Limits of each connection.
    pub fn limits(&self) -> &ConnectionLimits {
        &self.limits
    }

    /// Index of the export named `name`.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        let named = self.exports.iter().position(|export| export.name.as_bytes() == name);
        // The empty name stands for the default export, unless an export has it.
        named.or_else(|| (name.is_empty() && !self.exports.is_empty()).then_some(0))
    }
}

fn check_export(export: &NbdExport) -> Result<(), ServerError> {
    let name = || export.name.clone();
    for (field, text) in [("name", &export.name), ("description", &export.description)] {
        if text.len() > STRING_MAX || text.contains('\0') {
            return Err(ServerError::Text { name: name(), field, length: text.len() });
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
    if export.features.has(ExportFeatures::FAST_ZERO) && !export.features.has(ExportFeatures::WRITE_ZEROES) {
        return Err(ServerError::FastZero(name()));
    }
    Ok(())
}
