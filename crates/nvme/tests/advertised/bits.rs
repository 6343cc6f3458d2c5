//! Bits of Identify that tell what is supported.

use std::collections::BTreeSet;

/// Fields of Identify Controller: name, offset, bytes.
const CONTROLLER: [(&str, usize, usize); 14] = [
    ("CMIC", 76, 1),
    ("OAES", 92, 4),
    ("CTRATT", 96, 4),
    ("OACS", 256, 2),
    ("FRMW", 260, 1),
    ("LPA", 261, 1),
    ("SANICAP", 328, 4),
    ("ANACAP", 343, 1),
    ("ONCS", 520, 2),
    ("FUSES", 522, 2),
    ("FNA", 524, 1),
    ("VWC", 525, 1),
    ("OCFS", 534, 2),
    ("SGLS", 536, 4),
];

/// Those of Identify Namespace.
const NAMESPACE: [(&str, usize, usize); 7] = [
    ("NSFEAT", 24, 1),
    ("MC", 27, 1),
    ("DPC", 28, 1),
    ("NMIC", 30, 1),
    ("RESCAP", 31, 1),
    ("FPI", 32, 1),
    ("DLFEAT", 33, 1),
];

/// Those of Identify Namespace of the command set of zones.
const ZONES: [(&str, usize, usize); 3] = [("ZOC", 0, 2), ("OZCS", 2, 2), ("ZRWACAP", 52, 1)];

/// Bits that are set, by field and number, in the pages of a controller, of a namespace, and of its zones.
pub(super) fn told(controller: &[u8], namespace: Option<&[u8]>, zones: Option<&[u8]>) -> BTreeSet<String> {
    let pages = [(Some(controller), &CONTROLLER[..]), (namespace, &NAMESPACE), (zones, &ZONES)];
    let fields = pages.into_iter().flat_map(|(page, fields)| {
        page.into_iter().flat_map(move |page| fields.iter().map(move |field| (page, field)))
    });
    fields
        .flat_map(|(page, &(name, at, bytes))| {
            let set = move |&bit: &usize| page[at + bit / 8] >> (bit % 8) & 1 != 0;
            (0..bytes * 8).filter(set).map(move |bit| format!("{name} {bit}"))
        })
        .collect()
}
