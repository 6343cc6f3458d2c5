//! Are requests refused with the field, its value and the limit, in words of users?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a server needs sockets, threads and time")]

use crate::support;

use outlast_serve::{
    ClockMode, ContentsIn, DeviceServer, ListenAddress, ServeConfig, ServeError, ServerHandle,
};
use serde_json::{Value, json};
use std::path::Path;
use support::raw::{StartedServer, socket};
use support::{DRIVE, scenario};

fn start(socket: &Path, export: &str) -> Result<ServerHandle, ServeError> {
    DeviceServer::start(ServeConfig {
        contents: ContentsIn::Memory,
        scenario: Some(scenario(DRIVE)),
        image: None,
        listen: ListenAddress::Unix(socket.to_owned()),
        nvme: None,
        insecure: false,
        tls: None,
        clock: ClockMode::Virtual,
        spin: false,
        export: Some(export.to_owned()),
    })
}

fn refusal(served: &StartedServer, request: Value) -> String {
    let answer = served.handle.request(request);
    let error = answer["error"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let words = ["u16", "u32", "u64", "usize", "f64", "invalid type", "invalid value", "struct", "enum"];
    assert!(!words.iter().any(|word| error.contains(word)) && !error.contains('\n'), "{error}");
    error.to_owned()
}

#[test]
fn a_number_that_is_none_is_refused_with_field_value_and_limit() {
    let socket = socket("fields");
    let served = StartedServer::of(start(&socket, "drive").unwrap(), socket);
    let die = "must be a whole number from 0 to 65535";
    for (value, shown) in [
        (json!("abc"), "\"abc\""),
        (json!(3.5), "3.5"),
        (json!(70_000), "70000"),
        (json!(-1), "-1"),
        (json!(true), "true"),
        (json!([3]), "a list"),
        (json!({"number": 3}), "a table"),
    ] {
        let fault = json!({"kind": "die", "die": value});
        assert_eq!(
            refusal(&served, json!({"do": "fault", "fault": fault})),
            format!("fault.die = {shown}: {die}")
        );
    }
}

#[test]
fn faults_and_losses_of_power_are_refused_with_field_and_limit() {
    let socket = socket("losses");
    let served = StartedServer::of(start(&socket, "drive").unwrap(), socket);
    for (request, expected) in [
        (
            json!({"do": "fault", "fault": {"kind": "block", "block": -1}}),
            "fault.block = -1: must be a whole number from 0 to 4294967295",
        ),
        (json!({"do": "fault", "fault": {"kind": 3}}), "fault.kind = 3: must be text"),
        (
            json!({"do": "fault", "fault": {"kind": "power", "force": 1}}),
            "fault.force = 1: must be true or false",
        ),
        (json!({"do": "fault", "fault": {"die": 3}}), "fault: missing field `kind`"),
        (json!({"do": "power", "action": "cut", "for": "-1s"}), "for = \"-1s\" is negative; the least is 0"),
        (json!({"do": "power", "action": "cut", "for": "10m"}), "for = \"10m\": did you mean 10ms or 10min?"),
        (json!({"do": "power", "action": "cut", "for": 5}), "for = 5 has no unit; write for example \"5us\""),
        (
            json!({"do": "power", "action": "cut", "shorn": "9/8"}),
            "shorn = \"9/8\": must be a part of a whole such as \"3/8\", more than 0 and less than 1",
        ),
        (json!({"do": "power", "action": "cut", "torn": "-1"}), "torn = \"-1\" is negative; the least is 0"),
        (
            json!({"do": "power", "action": "cut", "torn": -1}),
            "torn = -1: must be a size such as \"4KiB\" or a whole number of bytes, of at least 0",
        ),
        (json!({"do": "power", "action": "cut", "force": "no"}), "force = \"no\": must be true or false"),
        (json!({"do": "power", "action": 3}), "action = 3: must be text"),
    ] {
        assert_eq!(refusal(&served, request), expected);
    }
}

#[test]
fn questions_and_changes_of_the_clock_are_refused_with_field_and_limit() {
    let socket = socket("questions");
    let served = StartedServer::of(start(&socket, "drive").unwrap(), socket);
    for (request, expected) in [
        (json!({"do": "smart", "device": -1}), "device = -1: must be a whole number of at least 0"),
        (json!({"do": "smart", "device": null}), "device = null: must be a whole number of at least 0"),
        (json!({"do": "lba_status", "offset": 0.5}), "offset = 0.5: must be a whole number of at least 0"),
        (json!({"do": "lba_status", "length": -512}), "length = -512: must be a whole number of at least 0"),
        (
            json!({"do": "replace", "member": 65_536}),
            "member = 65536: must be a whole number from 0 to 65535",
        ),
        (json!({"do": "clock", "speed": "fast"}), "speed = \"fast\": must be a number within 0.001 to 1000"),
        (json!({"do": "clock", "speed": 0}), "speed = 0: must be a number within 0.001 to 1000"),
        (json!({"do": "clock", "advance": "-2s"}), "advance = \"-2s\" is negative; the least is 0"),
        (
            json!({"do": "clock", "advance": -2}),
            "advance = -2: must be a time with its unit, such as \"3.5ms\" or \"2s\", of at least 0",
        ),
        (json!({"do": "clock", "pause": "yes"}), "pause = \"yes\": must be true or false"),
        (json!({"do": "mark", "text": 3}), "text = 3: must be text"),
        (json!({"do": "mark", "text": "a\u{202e}b", "more": 1}), "unknown field `more`, expected `text`"),
        (json!({"do": "fork"}), "missing field `export`"),
        (json!({"do": 3}), "do = 3: must be text"),
        (json!({}), "missing field `do`"),
        (json!([1, 2]), "a request must be a JSON object, such as {\"do\": \"state\"}"),
    ] {
        assert_eq!(refusal(&served, request), expected);
    }
}

#[test]
fn a_word_that_is_not_known_is_refused_with_its_field_and_what_is_absent_may_be_null() {
    let socket = socket("words");
    let served = StartedServer::of(start(&socket, "drive").unwrap(), socket);
    for (request, expected) in [
        (json!({"do": "power", "action": "away"}), "action: unknown variant `away`, expected one of `cut`"),
        (json!({"do": "smart", "format": "xml"}), "format: unknown variant `xml`, expected one of `json`"),
        (json!({"do": "clock", "mode": "sun"}), "mode: unknown variant `sun`, expected `wall` or `virtual`"),
        (
            json!({"do": "fault", "fault": {"kind": "flood"}}),
            "fault.kind: unknown variant `flood`, expected one of",
        ),
        (json!({"do": "dance"}), "do: unknown variant `dance`, expected one of `state`"),
    ] {
        let text = refusal(&served, request);
        assert!(text.starts_with(expected), "{text}");
    }
    // What stands for nothing is taken as before.
    for request in [
        json!({"do": "clock", "speed": null, "mode": null, "pause": null, "advance": null}),
        json!({"do": "lba_status", "length": null}),
        json!({"do": "power", "action": "cut", "for": null, "shorn": null, "torn": null}),
        json!({"do": "clock", "advance": 0}),
    ] {
        let answer = served.handle.request(request);
        assert!(answer["error"].is_null(), "{answer}");
    }
}

#[test]
fn a_name_of_an_export_has_no_control_characters_and_that_of_a_fork_is_not_empty() {
    let socket = socket("names");
    let tab = "must be one line without control characters; it has U+0009";
    let refused = start(&socket, "a\tb").map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("export = a\\tb: ") && refused.contains(tab), "{refused}");
    let served = StartedServer::of(start(&socket, "drive").unwrap(), socket);
    let text = refusal(&served, json!({"do": "fork", "export": "a\tb"}));
    assert!(text.starts_with("export = a\\tb: ") && text.contains(tab), "{text}");
    let text = refusal(&served, json!({"do": "mark", "text": "a\tb"}));
    assert!(text.starts_with("text = a\\tb: ") && text.contains(tab), "{text}");
    let uri = served.handle.uri().to_owned();
    assert_eq!(
        refusal(&served, json!({"do": "fork", "export": ""})),
        "export = \"\": must be a name, since the empty one stands for the main device"
    );
    let state = served.handle.request(json!({"do": "state"}));
    assert_eq!(state["ok"]["exports"].as_array().unwrap().len(), 1);
    assert_eq!(served.handle.uri(), uri);
}
