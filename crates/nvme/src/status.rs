//! Status of completed commands (Base Specification, section "Status Field").

/// Status of a completed command: type and code, and whether the host may repeat the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmeStatus {
    /// Status code type in bits 10 to 8, status code in bits 7 to 0.
    code: u16,
    /// Bit DNR: the same command would fail again.
    do_not_retry: bool,
}

impl NvmeStatus {
    /// Success.
    pub const SUCCESS: Self = Self::may_retry(0x000);
    /// The opcode is not supported.
    pub const INVALID_OPCODE: Self = Self::new(0x001);
    /// A field has a value that is not supported.
    pub const INVALID_FIELD: Self = Self::new(0x002);
    /// Another command in flight has the same identifier.
    pub const ID_CONFLICT: Self = Self::new(0x003);
    /// The controller itself has failed.
    pub const INTERNAL: Self = Self::may_retry(0x006);
    /// There is no such namespace.
    pub const INVALID_NAMESPACE: Self = Self::new(0x00B);
    /// The command is not allowed at this point, such as one before Connect.
    pub const SEQUENCE_ERROR: Self = Self::new(0x00C);
    /// The descriptor's length is not that of the data.
    pub const SGL_LENGTH_INVALID: Self = Self::new(0x00F);
    /// The descriptor's type is not supported.
    pub const SGL_TYPE_INVALID: Self = Self::new(0x011);
    /// The offset into the capsule is not supported.
    pub const SGL_OFFSET_INVALID: Self = Self::new(0x016);
    /// The transport has damaged data; the command can be repeated.
    pub const TRANSIENT_TRANSPORT: Self = Self::may_retry(0x022);
    /// The namespace takes no writes.
    pub const WRITE_PROTECTED: Self = Self::new(0x020);
    /// The controller is not enabled for the command set of the namespace.
    pub const INVALID_COMMAND_SET: Self = Self::new(0x12C);
    /// Some block lies beyond the namespace.
    pub const LBA_OUT_OF_RANGE: Self = Self::new(0x080);
    /// The device has no power at present.
    pub const NOT_READY: Self = Self::may_retry(0x082);
    /// More events are asked for than the controller keeps requests for.
    pub const EVENT_LIMIT: Self = Self::new(0x105);
    /// There is no such log page.
    pub const INVALID_LOG_PAGE: Self = Self::new(0x109);
    /// The feature cannot be saved.
    pub const FEATURE_NOT_SAVEABLE: Self = Self::new(0x10D);
    /// The feature cannot be changed.
    pub const FEATURE_NOT_CHANGEABLE: Self = Self::new(0x10E);
    /// The feature is one of the controller, and not of a namespace.
    pub const FEATURE_NOT_OF_NAMESPACE: Self = Self::new(0x10F);
    /// Connect has a record format that is not supported.
    pub const CONNECT_FORMAT: Self = Self::new(0x180);
    /// A parameter of Connect is wrong.
    pub const CONNECT_PARAMETERS: Self = Self::new(0x182);
    /// The subsystem is not there at present, and may come back: its drive has no power.
    pub const CONNECT_NO_SUBSYSTEM: Self = Self::may_retry(0x182);
    /// Nothing is written there any more.
    pub const READ_ONLY: Self = Self::new(0x182);
    /// Copy asks for more than the limits of the namespace.
    pub const SIZE_LIMIT: Self = Self::new(0x183);
    /// A combination of command sets that the controller does not have.
    pub const COMBINATION_REJECTED: Self = Self::new(0x12B);
    /// A random write area that the zone cannot have, or an append to a zone that has one.
    pub const INVALID_ZONE_OPERATION: Self = Self::new(0x1B6);
    /// As many zones have a random write area as may.
    pub const NO_RANDOM_WRITE_AREA: Self = Self::new(0x1B7);
    /// A read crosses into the next zone, or a write goes beyond the capacity of its zone.
    pub const ZONE_BOUNDARY: Self = Self::new(0x1B8);
    /// The zone is full.
    pub const ZONE_FULL: Self = Self::new(0x1B9);
    /// The zone can be read only.
    pub const ZONE_READ_ONLY: Self = Self::new(0x1BA);
    /// The zone can be neither read nor written.
    pub const ZONE_OFFLINE: Self = Self::new(0x1BB);
    /// A write elsewhere than at the write pointer.
    pub const ZONE_INVALID_WRITE: Self = Self::new(0x1BC);
    /// One more zone would be active than may be.
    pub const TOO_MANY_ACTIVE: Self = Self::new(0x1BD);
    /// One more zone would be open than may be.
    pub const TOO_MANY_OPEN: Self = Self::new(0x1BE);
    /// The state of the zone does not allow the action.
    pub const INVALID_ZONE_TRANSITION: Self = Self::new(0x1BF);
    /// Data could not be written.
    pub const WRITE_FAULT: Self = Self::may_retry(0x280);
    /// Data could not be read, by no means that the device knows.
    pub const UNRECOVERED_READ: Self = Self::new(0x281);
    /// Data differs from that of Compare.
    pub const COMPARE_FAILURE: Self = Self::new(0x285);

    const fn new(code: u16) -> Self {
        Self { code, do_not_retry: true }
    }

    const fn may_retry(code: u16) -> Self {
        Self { code, do_not_retry: false }
    }

    /// True for success.
    pub fn is_success(self) -> bool {
        self.code == 0
    }

    /// The field as in bytes 14 and 15 of a completion, with the phase bit 0.
    pub fn field(self) -> u16 {
        self.code << 1 | u16::from(self.do_not_retry) << 15
    }
}
