"""Records a program in a guest and checks its states in another, as an account without rights. Begun by a test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from outlast import _core, api
from outlast.errors import TortureError
from outlast.products.torture import mounts
from outlast.products.torture.guest_workload import GuestWorkload
from outlast.products.torture.workload import Job, Surroundings

SCRIPT = r"""
mark() { printf '%s\n' "$1" >&"$OUTLAST_MARK_FD"; read -r _ <&"$OUTLAST_MARK_FD"; }
cd "$OUTLAST_MOUNT" || exit 1
cat setup || exit 1
echo synced > synced && sync synced && mark synced
echo unsynced > unsynced && mark unsynced
"""
CHECK = """
for name in synced unsynced; do
  [ "$(cat "$OUTLAST_MOUNT/$name" 2>/dev/null)" = $name ] || echo "$name"
done
"""
STATES = 24


def record(folder: Path) -> Path:
    """A recording, in a new folder."""
    out = folder / "run.outlast"
    server = api.start_server(
        ["serve-drive"],
        [("device.ftl.capacity", "128MiB")],
        listen=f"unix:{folder / 'nbd'}",
        speed=1.0,
        image=str(out),
        keep_log=True,
    )
    while server.wait(0.1)[0] == "preparing":
        pass

    def note(text: str) -> None:
        answer = json.loads(server.note(text))
        assert "error" not in answer, answer

    workload = GuestWorkload(Job(["bash", "-c", SCRIPT], "ext4", setup='echo prepared > "$OUTLAST_MOUNT/setup"'))
    workload.check()
    print("backend:", workload.backend, flush=True)
    code = workload.run(Surroundings(server.uri, {}, None, note))  # type: ignore[arg-type] # no marks are made outside
    assert code == 0, code
    server.stop()
    while server.wait(0.1)[0] != "ended":
        pass
    return out


def main() -> None:
    recording = _core.Recording(str(record(Path(sys.argv[1]))))
    events = json.loads(recording.timeline())["events"]
    marked = [event["event"] for event in events if event["kind"] == "mark" and event["text"] == "synced"]
    flushed = [event for event in events if event["kind"] == "flush-done" and event["event"] < marked[0]]
    assert flushed, "no flush has reached the drive before the mark"
    try:
        mounts.choose("ext4", name="loop")
    except TortureError as error:
        print(error)
    plan = recording.plan(json.dumps({"models": ["contract"], "seed": 1, "tear": None, "states": None, "random": 2}))
    states = [plan[number] for number in range(len(plan))]
    # Those whose last mark promises something, and of the others none.
    promised = [state for state in states if state.mark in ("synced", "unsynced")][:STATES]
    missing = {"synced": 0, "unsynced": 0}
    with mounts.choose("ext4").worker() as worker:
        for state in promised:
            disk = mounts.Disk(state.size, state.write_to, None)
            ran = worker.run(disk, "ext4", ["sh", "-c", CHECK], {"OUTLAST_MARK": state.mark or ""}, 60, False)
            assert ran.stage == "done", ran
            for name in ran.output.split():
                if name == "synced" or state.mark == "unsynced":
                    missing[name] += 1
    for name, count in missing.items():
        print(f"{name}: missing in {count} of {len(promised)} states")


main()
