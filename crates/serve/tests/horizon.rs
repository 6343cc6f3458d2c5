//! Does a server end in order where its simulated time does?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "real clients need a real server: sockets, threads and time")]

use crate::support;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use outlast_serve::{
    ClockMode, ContentsIn, DeviceInput, DeviceServer, ImageConfig, ImageOptions, InputRecorder,
    ListenAddress, ServeConfig, ServedDevice, ServerHandle, ServerStatus,
};
use outlast_units::Nanos;
use serde_json::{Value, json};
use support::load::{folder, open};
use support::raw::{READ, RawClient, StartedServer, WRITE, request, socket};
use support::{ARRAY, DRIVE, bytes, scenario};

const DAY: u64 = 86_400_000_000_000;

/// Starts to serve the image in `image`, of a drive if it is new, or as it was at a time.
fn start(socket: &Path, image: &Path, clock: ClockMode, at: Option<Nanos>) -> ServerHandle {
    let own = ImageConfig { folder: image.to_owned(), options: ImageOptions::default(), at };
    let config = ServeConfig {
        contents: ContentsIn::Memory,
        scenario: (!image.exists()).then(|| scenario(DRIVE)),
        image: Some(own),
        listen: ListenAddress::Unix(socket.to_owned()),
        nvme: None,
        insecure: false,
        tls: None,
        clock,
        spin: false,
        export: Some(String::new()),
    };
    DeviceServer::start(config).unwrap()
}

/// Serves the image in `image`.
fn serve(test: &str, image: &Path, clock: ClockMode, at: Option<Nanos>) -> StartedServer {
    let socket = socket(test);
    StartedServer::of(start(&socket, image, clock, at), socket)
}

fn advance(served: &StartedServer, span: &str) -> Value {
    served.handle.request(json!({ "do": "clock", "advance": span, "pause": false }))
}

/// Reason for which a request is refused.
fn refusal(served: &StartedServer, request: Value) -> String {
    let answer = served.handle.request(request);
    answer["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Writes and reads a unit.
fn use_device(served: &StartedServer, seed: u64) {
    let mut client = RawClient::open(&served.socket);
    let data = bytes(8, seed);
    client.0.write_all(&[request(WRITE, 1, 4096, 4096), data.clone()].concat()).unwrap();
    assert_eq!(client.reply(0).0, 1);
    client.0.write_all(&request(READ, 2, 4096, 4096)).unwrap();
    assert!(client.reply(4096) == (2, data));
}

/// Days that a refusal of an advance names as those that are simulated.
fn days_simulated(served: &StartedServer) -> u64 {
    let refused = refusal(served, json!({ "do": "clock", "advance": "200000d" }));
    let until = refused.split_once("simulated until ").unwrap().1;
    until.strip_suffix('d').unwrap().parse().unwrap()
}

/// Error with which a server ends.
fn ended(handle: &ServerHandle) -> Option<String> {
    loop {
        match handle.status() {
            ServerStatus::Ended(error) => return error,
            status => drop(handle.wait(&status, Duration::from_secs(10))),
        }
    }
}

#[test]
fn an_advance_beyond_what_is_simulated_is_refused_and_changes_nothing() {
    for (name, text) in [("drive", DRIVE.to_owned()), ("array", format!("{DRIVE}{ARRAY}"))] {
        let served = StartedServer::new(&format!("far-{name}"), &text, ClockMode::Virtual, false);
        let before = served.ask("clock");
        for span in ["200000d", "1000000000d", "99999999999999999999999999999999999999999d"] {
            let request = json!({ "do": "clock", "advance": span, "pause": true, "speed": 2.0 });
            let refused = refusal(&served, request);
            let named = format!("advance = \"{span}\": it is {}", Nanos(before["now_ns"].as_u64().unwrap()));
            assert!(refused.starts_with(&named) && refused.contains("simulated until"), "{refused}");
        }
        assert_eq!(served.ask("clock"), before);
        assert!(refusal(&served, json!({ "do": "clock", "advance": "3 years" })).contains("is not a time"));
        assert!(refusal(&served, json!({ "do": "clock", "advance": 7 })).contains("has no unit"));
        use_device(&served, 1);
    }
}

#[test]
fn a_device_at_the_end_of_what_is_simulated_takes_commands_and_an_image_keeps_them() {
    let image = folder("horizon");
    let served = serve("horizon", &image, ClockMode::Virtual, None);
    let days = days_simulated(&served);
    assert!(days > 4 * 365, "{days} days");
    use_device(&served, 1);
    let left = days * DAY - served.ask("clock")["now_ns"].as_u64().unwrap();
    assert_eq!(advance(&served, &format!("{left}ns"))["ok"]["now_ns"], days * DAY);
    use_device(&served, 2);
    assert!(refusal(&served, json!({ "do": "clock", "advance": "1ns" })).contains("simulated until"));
    let cut = served.handle.request(json!({ "do": "power", "action": "cut" }));
    assert!(cut["ok"] != Value::Null, "{cut}");
    use_device(&served, 3);
    let handle = served.handle.clone();
    handle.stop();
    assert_eq!(ended(&handle), None);
    drop(served);
    for seed in [4, 5] {
        let served = serve("horizon", &image, ClockMode::Virtual, None);
        use_device(&served, seed);
    }
}

#[test]
fn power_that_would_return_beyond_what_is_simulated_is_not_cut() {
    let served = StartedServer::new("far-power", DRIVE, ClockMode::Virtual, false);
    let mut client = RawClient::open(&served.socket);
    for action in ["cut", "off"] {
        let request = json!({ "do": "power", "action": action, "for": "200000d", "shorn": "1/8" });
        let refused = refusal(&served, request);
        assert!(refused.starts_with("for = \"200000d\": it is "), "{refused}");
        assert!(refused.contains("this machine is simulated until "), "{refused}");
    }
    client.0.write_all(&request(READ, 1, 4096, 4096)).unwrap();
    assert_eq!(client.reply(4096).0, 1, "it has power, and its client");
}

/// The latest time that a device takes.
fn latest_input(device: &ServedDevice) -> Nanos {
    let (mut taken, mut refused) = (device.latest().0, device.latest().0 + 3 * DAY);
    while taken + 1 < refused {
        let between = u64::midpoint(taken, refused);
        let is_taken = device.fork().apply(Nanos(between), &DeviceInput::Advance).is_ok();
        *(if is_taken { &mut taken } else { &mut refused }) = between;
    }
    Nanos(taken)
}

#[test]
fn a_clock_that_runs_out_ends_its_server_with_a_message_and_its_image_can_be_served_as_it_was_before() {
    let image = folder("runs-out");
    let (mut recorder, mut device) = open(&image, Some(DRIVE));
    let latest = device.latest();
    // A server ends a quarter of a day before nothing is taken any more; some milliseconds are left.
    let almost = latest_input(&device).saturating_sub(Nanos(DAY / 4 + 50_000_000));
    assert!(latest < almost && almost < latest + Nanos(2 * DAY), "{latest} {almost}");
    for now in [latest, almost] {
        recorder.record(now, &DeviceInput::Advance);
        device.apply(now, &DeviceInput::Advance).unwrap();
    }
    recorder.shut_down(&mut device, almost).unwrap();
    for clock in [ClockMode::Wall { speed: 1.0 }, ClockMode::Virtual] {
        let handle = start(&socket("runs-out"), &image, clock, None);
        // A virtual clock stands still, and its server looks at it when somebody asks.
        let _ = handle.request(json!({ "do": "state" }));
        let error = ended(&handle).unwrap();
        assert!(error.contains("time has come to ") && error.contains("simulated until"), "{error}");
    }
    let served = serve("runs-out", &image, ClockMode::Virtual, Some(latest));
    use_device(&served, 1);
}
