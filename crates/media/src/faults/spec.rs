//! Faults that a scenario schedules.

use super::{DieDamage, DriveFault, ShornShare, UnitTear};
use crate::{ConfigError, DieAddress, Geometry};
use outlast_units::{Bytes, ChannelId, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kinds of faults. The fields that each kind needs are named; all others are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A page: `die`, `plane`, `block`, `page`.
    Page,
    /// The wordline of a page, that is, all page types that share its cells: `die`, `plane`, `block`, `page`.
    Wordline,
    /// A block: `die`, `plane`, `block`.
    Block,
    /// A plane: `die`, `plane`.
    Plane,
    /// A die: `die`.
    Die,
    /// All dies of a chip: `channel`, `chip`.
    Chip,
    /// The next `reads` sensings fail once each, the data being whole: `die`, `reads`, and `plane` with `block` for one block
    /// only.
    TransientRead,
    /// The next program of a block: `die`, `plane`, `block`.
    Program,
    /// The next erasure of a block: `die`, `plane`, `block`.
    Erase,
    /// The power fails and is back at once, of the drive, or of an array and all its devices: no place. With `device`, that of one device
    /// of an array; with `force`, an array starts although parity is in doubt and a member missing. With `shorn` or `torn`, programs under way
    /// leave data that the drive accepts as valid.
    Power,
    /// The non-volatile parity cache loses its contents (`device.protection.partial.place = "cache"`): no further field.
    ParityCache,
    /// A member of an array as a whole: `device`.
    Device,
    /// No fault: a member of an array is exchanged for a new drive, which is rebuilt: `device`, and `force` where the old one holds the
    /// only copy of something.
    Replace,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A fault at a time and a place: one `[[faults]]` of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// When, from the start of the measurement.
    pub at: Nanos,
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Channel of a chip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u16>,
    /// Chip on the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip: Option<u16>,
    /// Die, counted over the drive: channel by channel, chip by chip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<u16>,
    /// Plane of the die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u16>,
    /// Block of the plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Page of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Number of sensings that fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
    /// Member of the array, counted from 0; its spares follow, which kinds `device` and `replace` do not take. Needed wherever there is an array, except for `power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u16>,
    /// For kind `replace`: whether a member is exchanged even though data is lost with it. For `power` of an array: whether it starts even
    /// though what a missing member held may come back wrong. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// For kind `power`, where the buffer is not protected: of each mapping unit whose program operation was under way so much is new, the rest
    /// old, and the drive reports it as good: `"3/8"` and `"7/8"` have been seen. Nothing that a flush has covered is among them. Default:
    /// such units are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shorn: Option<ShornShare>,
    /// The same, but each run of so many bytes is new or old by itself: 512 for sectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<Bytes>,
}

impl FaultSpec {
    /// A fault of `kind` at `at` without a place.
    pub fn new(at: Nanos, kind: FaultKind) -> Self {
        let (channel, chip, die, plane, block, page, reads) = (None, None, None, None, None, None, None);
        let (device, force, shorn, torn) = (None, None, None, None);
        Self { at, kind, channel, chip, die, plane, block, page, reads, device, force, shorn, torn }
    }

    /// True of a fault that concerns an array as a whole, if there is one.
    pub fn is_of_array(&self) -> bool {
        self.kind == FaultKind::Power && self.device.is_none()
    }

    /// True of a fault that concerns a member of an array as a whole, not its flash.
    pub fn is_of_device(&self) -> bool {
        matches!(self.kind, FaultKind::Device | FaultKind::Replace)
    }

    /// Checks the fault's place in an array of `devices` devices (none: there is no array), of which the first `members` hold data, and
    /// gives the device; of what concerns the array as a whole, 0.
    ///
    /// # Errors
    /// A device that is not there, or none given where there is an array, or a field that the kind does not take.
    pub fn resolve_device(
        &self,
        field: &str,
        members: u16,
        devices: Option<u16>,
    ) -> Result<u16, ConfigError> {
        let check = FieldCheck { field, kind: self.kind };
        let of_array = devices.is_some() && self.is_of_array();
        let forced = of_array || self.kind == FaultKind::Replace;
        let force = if forced { FieldUse::Optional } else { FieldUse::Refused };
        check.present("force", self.force, force)?;
        let Some(devices) = devices else {
            if self.is_of_device() {
                let limit = "needs an array: there is no [array]";
                return Err(ConfigError::new(&format!("{field}.kind"), self.kind, limit));
            }
            if let Some(device) = self.device {
                let limit = "must be absent: there is no [array]";
                return Err(ConfigError::new(&format!("{field}.device"), device, limit));
            }
            return Ok(0);
        };
        let needed = if of_array { FieldUse::Optional } else { FieldUse::Needed };
        let device = check.present("device", self.device, needed)?.unwrap_or(0);
        let is_spare = self.is_of_device() && (members..devices).contains(&device);
        if is_spare || device >= devices {
            let spare =
                format!("is a spare; kind = \"{}\" is for members, which are less than {members}", self.kind);
            let limit =
                if is_spare { spare } else { format!("must be less than {devices}, members and spares") };
            return Err(ConfigError::new(&format!("{field}.device"), device, limit));
        }
        let flash = [
            ("channel", self.channel.map(u32::from)),
            ("chip", self.chip.map(u32::from)),
            ("die", self.die.map(u32::from)),
            ("plane", self.plane.map(u32::from)),
            ("block", self.block),
            ("page", self.page),
            ("reads", self.reads),
        ];
        for (name, value) in flash.into_iter().filter(|_| self.is_of_device() || of_array) {
            check.present(name, value, FieldUse::Refused)?;
        }
        Ok(device)
    }

    /// Tear of a fault of kind `power`, in a drive with mapping units of `unit`.
    ///
    /// # Errors
    /// Something that cannot be, or of a fault of another kind.
    pub fn tear(&self, field: &str, unit: Bytes) -> Result<UnitTear, ConfigError> {
        if self.kind != FaultKind::Power {
            let check = FieldCheck { field, kind: self.kind };
            check.present("shorn", self.shorn, FieldUse::Refused)?;
            check.present("torn", self.torn, FieldUse::Refused)?;
        }
        UnitTear::of(field, self.shorn, self.torn, unit)
    }

    /// Checks the fault against the drive's flash; `field` is its dotted name, such as `faults[3]`.
    ///
    /// # Errors
    /// A field that the kind needs and lacks, or has and does not take, or one beyond the drive.
    pub fn resolve(&self, field: &str, geometry: &Geometry) -> Result<DriveFault, ConfigError> {
        use FaultKind::{
            Block, Chip, Die, Erase, Page, ParityCache, Plane, Power, Program, TransientRead, Wordline,
        };
        let kind = self.kind;
        let (page, block) = match kind {
            Page | Wordline => (FieldUse::Needed, FieldUse::Needed),
            Block | Program | Erase => (FieldUse::Refused, FieldUse::Needed),
            TransientRead => (FieldUse::Refused, FieldUse::Optional),
            Plane | Die | Chip | Power | ParityCache => (FieldUse::Refused, FieldUse::Refused),
            FaultKind::Device | FaultKind::Replace => {
                let limit = "is not a fault of flash";
                return Err(ConfigError::new(&format!("{field}.kind"), kind, limit));
            }
        };
        let plane = if kind == Plane { FieldUse::Needed } else { block };
        let (chip, die) = match kind {
            Chip => (FieldUse::Needed, FieldUse::Refused),
            Power | ParityCache => (FieldUse::Refused, FieldUse::Refused),
            _ => (FieldUse::Refused, FieldUse::Needed),
        };
        let reads = if kind == TransientRead { FieldUse::Needed } else { FieldUse::Refused };

        let check = FieldCheck { field, kind };
        let channel = check.below("channel", self.channel, geometry.channels, chip)?;
        let chip = check.below("chip", self.chip, geometry.chips_per_channel, chip)?;
        let die = check.below("die", self.die, geometry.dies(), die)?;
        let plane = check.below("plane", self.plane, geometry.planes_per_die, plane)?;
        let block = check.below("block", self.block, geometry.blocks_per_plane, block)?;
        let page = check.below("page", self.page, geometry.pages_per_block, page)?;
        let reads = check.present("reads", self.reads, reads)?;
        if reads == Some(0) {
            return Err(ConfigError::new(&format!("{field}.reads"), 0, "must be at least 1"));
        }
        if plane.is_some() != block.is_some() && kind == TransientRead {
            let name = if plane.is_none() { "plane" } else { "block" };
            let limit = "plane and block are given together, or neither for the whole die";
            return Err(ConfigError::new(&format!("{field}.{name}"), "absent", limit));
        }
        let damage = match (kind, plane, block, page) {
            (Page, Some(plane), Some(block), Some(page)) => DieDamage::Page { plane, block, page },
            (Wordline, Some(plane), Some(block), Some(page)) => DieDamage::Wordline { plane, block, page },
            (Block, Some(plane), Some(block), _) => DieDamage::Block { plane, block },
            (Program, Some(plane), Some(block), _) => DieDamage::Program { plane, block },
            (Erase, Some(plane), Some(block), _) => DieDamage::Erase { plane, block },
            (Plane, Some(plane), ..) => DieDamage::Plane { plane },
            (TransientRead, plane, block, _) => {
                DieDamage::TransientRead { block: plane.zip(block), reads: reads.unwrap_or(1) }
            }
            (Chip, ..) => DieDamage::Chip,
            (Power, ..) => DieDamage::Power(UnitTear::Nothing),
            (ParityCache, ..) => DieDamage::ParityCache,
            (Die, ..) => DieDamage::Die,
            (
                Page | Wordline | Block | Program | Erase | Plane | FaultKind::Device | FaultKind::Replace,
                ..,
            ) => {
                unreachable!("needed fields were checked")
            }
        };
        let first_of_chip = channel.zip(chip).map(|(channel, chip)| {
            geometry.die_at(DieAddress { channel: ChannelId(channel), chip, die: 0 }).0
        });
        Ok(DriveFault { die: die.or(first_of_chip).unwrap_or(0), damage })
    }
}

/// Rule of a kind of fault for a field.
#[derive(Clone, Copy, PartialEq)]
enum FieldUse {
    Needed,
    Optional,
    Refused,
}

struct FieldCheck<'a> {
    field: &'a str,
    kind: FaultKind,
}

impl FieldCheck<'_> {
    fn present<T: Copy + fmt::Display>(
        &self,
        name: &str,
        value: Option<T>,
        usage: FieldUse,
    ) -> Result<Option<T>, ConfigError> {
        let field = format!("{}.{name}", self.field);
        match (value, usage) {
            (None, FieldUse::Needed) => {
                Err(ConfigError::new(&field, "absent", format!("is needed by kind = \"{}\"", self.kind)))
            }
            (Some(value), FieldUse::Refused) => {
                Err(ConfigError::new(&field, value, format!("kind = \"{}\" takes none", self.kind)))
            }
            _ => Ok(value),
        }
    }

    fn below<T: Copy + fmt::Display + PartialOrd>(
        &self,
        name: &str,
        value: Option<T>,
        count: T,
        usage: FieldUse,
    ) -> Result<Option<T>, ConfigError> {
        match self.present(name, value, usage)? {
            Some(value) if value >= count => {
                let limit = format!("must be less than {count}, the number there are");
                Err(ConfigError::new(&format!("{}.{name}", self.field), value, limit))
            }
            value => Ok(value),
        }
    }
}
