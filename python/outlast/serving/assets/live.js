// The live page of a served machine. It is told everything anew five times a second; what it shows as rates are differences of sums.
const $ = (id) => document.getElementById(id);
const SPAN_S = 60; // of the charts
const BEHIND_S = 1; // the rates are of so long

const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token");
if (token) sessionStorage.setItem("token", token);
history.replaceState(null, "", location.pathname); // so that nobody reads it over a shoulder or in the history

const past = []; // what was told in the last minute, as { at, ... }
let latest = null;
let chosen = null; // { device, die }
let shade = "activity";

// --- words and numbers

const SI = ["", " k", " M", " G", " T"];
const number = (value) => {
  if (value === null || !Number.isFinite(value)) return "–";
  let power = 0;
  while (Math.abs(value) >= 9999.5 && power < SI.length - 1) { value /= 1000; power += 1; }
  return value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1000 ? 4 : 3 }) + SI[power];
};
const bytes = (value) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let power = 0;
  while (value >= 1024 && power < units.length - 1) { value /= 1024; power += 1; }
  return `${value.toLocaleString("en", { maximumSignificantDigits: 3 })} ${units[power]}`;
};
const micros = (value) => (value === null ? "–" : value >= 9999.5 ? `${number(value / 1000)} ms` : `${number(value)} µs`);
const ratio = (value) => (value === null || !Number.isFinite(value) ? "–" : value.toFixed(2));
const clockTime = (ns) => {
  const seconds = ns / 1e9;
  return seconds < 3600 ? `${seconds.toFixed(2)} s` : `${(seconds / 3600).toFixed(2)} h`;
};
const words = (text) => text.replaceAll("-", " ").replaceAll("_", " ");

// Texts from the server only ever become text nodes.
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
};

// --- rates

const operation = (told, name) => told.figures.operations.find((each) => each.op === name);
const units = (told) => {
  const sums = { host: 0, all: 0 };
  for (const drive of told.state.machine.drives) {
    for (const [cause, count] of Object.entries(drive.units)) {
      sums.all += count;
      if (cause === "host") sums.host += count;
    }
  }
  return sums;
};

// The quantile of what happened between two looks, from counts below powers of two; within a bucket evenly spread.
const quantile = (now, before, share) => {
  const counts = now.map((count, index) => count - before[index]);
  const total = counts[counts.length - 1];
  if (total <= 0) return null;
  const wanted = share * total;
  const bucket = counts.findIndex((count) => count >= wanted);
  const below = bucket > 0 ? counts[bucket - 1] : 0;
  const low = bucket > 0 ? 2 ** (bucket - 1) : 0;
  return low + ((wanted - below) / (counts[bucket] - below)) * (2 ** bucket - low);
};

const rates = (told, before) => {
  const seconds = told.at - before.at;
  const per = (name, field) => (operation(told, name)[field] - operation(before, name)[field]) / seconds;
  const slow = (name, share) => quantile(operation(told, name).below, operation(before, name).below, share);
  const [now, then] = [units(told), units(before)];
  const programmed = now.host > then.host ? (now.all - then.all) / (now.host - then.host) : null;
  return {
    reads: per("read", "count"), writes: per("write", "count"), read_bytes: per("read", "bytes"), written_bytes: per("write", "bytes"),
    read_p50: slow("read", 0.5), read_p99: slow("read", 0.99), write_p50: slow("write", 0.5), write_p99: slow("write", 0.99),
    late_p99: quantile(told.figures.lateness.below, before.figures.lateness.below, 0.99), amplification: programmed,
  };
};

// --- what is shown

const badge = (text, kind = "") => make("span", { class: `badge ${kind}` }, text);

const showHead = ({ state, figures }) => {
  const { machine, clock } = state;
  document.title = `${machine.name} – Outlast`;
  $("name").textContent = machine.name;
  $("about").textContent = `${machine.model}, ${bytes(machine.capacity)}`;
  const condition = machine.array?.condition;
  const good = condition === undefined || condition === "healthy";
  const time = clock.mode === "virtual" ? "virtual clock" : `wall clock${clock.speed === 1 ? "" : ` at ${clock.speed}×`}`;
  const badges = [
    machine.powered ? badge("power on", "good") : badge("power off", "bad"),
    condition === undefined ? null : badge(words(condition), good ? "good" : condition === "failed" ? "bad" : "warn"),
    machine.read_only ? badge("read-only", "bad") : null,
    machine.drives.some((drive) => drive.ready_at_ns !== null) ? badge("mounting", "warn") : null,
    badge(clock.paused ? `${time}, paused` : time),
    badge(`${state.clients} ${state.clients === 1 ? "client" : "clients"}`),
    figures.lateness.late_share > 0.5 ? badge("behind the clock", "warn") : null,
  ].filter((each) => each !== null);
  const text = badges.map((each) => each.textContent).join();
  if ($("badges").dataset.text !== text) { // a live region speaks when it changes
    $("badges").dataset.text = text;
    $("badges").replaceChildren(...badges);
  }
};

const tile = (label, value, note = "") => make("div", { class: "tile" }, make("dt", {}, label), make("dd", {}, value, make("small", {}, note)));

const showTiles = (told, rate) => {
  const { machine, clock } = told.state;
  const sum = (of) => machine.drives.reduce((total, drive) => total + of(drive), 0);
  const all = units(told);
  const used = sum((drive) => drive.buffer.used) / Math.max(1, sum((drive) => drive.buffer.bytes));
  $("tiles").replaceChildren(
    tile("Simulated time", clockTime(clock.now_ns)),
    tile("Reads a second", number(rate.reads), `${bytes(rate.read_bytes)}/s`),
    tile("Writes a second", number(rate.writes), `${bytes(rate.written_bytes)}/s`),
    tile("Read latency", micros(rate.read_p50), `99 %: ${micros(rate.read_p99)}`),
    tile("Write latency", micros(rate.write_p50), `99 %: ${micros(rate.write_p99)}`),
    tile("Write ampl.", ratio(rate.amplification), all.host ? `in all ${ratio(all.all / all.host)}` : ""),
    tile("Write buffer", `${(100 * used).toFixed(0)} %`, `of ${bytes(sum((drive) => drive.buffer.bytes))}`),
    tile("Free superblocks", number(sum((drive) => drive.superblocks.free)), `of ${number(sum((drive) => drive.superblocks.total))}`),
    tile("Lateness, 99 %", micros(rate.late_p99), `${(100 * told.figures.lateness.late_share).toFixed(1)} % late`),
  );
};

// Members come first in the list of devices, and spares behind them.
const isSpare = (device, told) => device >= (told.state.machine.array?.members.length ?? Infinity);
const driveName = (device, told) => (told.state.machine.array ? `${isSpare(device, told) ? "Spare" : "Drive"} ${device}` : "Channels × dies");
const label = ({ device, die }, told = latest) => (told.state.machine.array ? `die ${die} of ${driveName(device, told).toLowerCase()}` : `die ${die}`);

const buildDrive = (drive) => {
  const grid = make("div", { class: "dies", role: "group" });
  grid.style.gridTemplateColumns = `repeat(${drive.dies_per_channel}, 20px)`;
  drive.dies.forEach((_, die) => {
    const cell = make("button", { class: "die", type: "button", tabindex: "-1", "aria-pressed": "false" });
    cell.dataset.device = drive.device ?? "";
    cell.dataset.die = die;
    grid.append(cell);
  });
  return make("div", { class: "drive" }, make("h3", {}), grid);
};

const showDies = (told, before) => {
  const drives = told.state.machine.drives.filter((drive) => drive.device !== null);
  const shape = JSON.stringify(drives.map((drive) => [drive.device, drive.channels, drive.dies_per_channel]));
  if ($("drives").dataset.shape !== shape) {
    $("drives").dataset.shape = shape;
    $("drives").replaceChildren(...drives.map(buildDrive));
    $("drives").querySelector(".die")?.setAttribute("tabindex", "0");
  }
  const span = told.state.machine.now_ns - before.state.machine.now_ns;
  const wear = drives.flatMap((drive) => drive.dies.map((die) => die.pe_cycles));
  const [least, most] = [Math.min(...wear), Math.max(...wear)];
  drives.forEach((drive, index) => {
    const box = $("drives").children[index];
    const earlier = before.state.machine.drives.find((each) => each.device === drive.device);
    const gone = drive.dies.filter((die) => die.state !== "good").length;
    box.firstChild.textContent = driveName(drive.device, told) + (gone ? `, ${gone} ${gone === 1 ? "die" : "dies"} failed or failing` : "");
    box.lastChild.setAttribute("aria-label", box.firstChild.textContent);
    drive.dies.forEach((die, at) => {
      const cell = box.lastChild.children[at];
      const busy = span > 0 && earlier ? (die.busy_ns - earlier.dies[at].busy_ns) / span : 0;
      const worn = most > least ? (die.pe_cycles - least) / (most - least) : 0.5;
      const level = die.state === "given-up" ? 1 : 0.3 + 0.7 * Math.min(1, Math.max(0, shade === "wear" ? worn : Math.sqrt(busy)));
      const place = label({ device: drive.device, die: at }, told);
      cell.dataset.state = die.state;
      cell.style.opacity = level.toFixed(2);
      cell.title = `${place}, channel ${Math.floor(at / drive.dies_per_channel)}: ${words(die.state)}, busy ${(100 * busy).toFixed(0)} %, ` +
        `${number(die.pe_cycles)} P/E cycles, ${die.bad_blocks} bad blocks`;
      cell.setAttribute("aria-label", cell.title);
      const isChosen = chosen !== null && chosen.device === drive.device && chosen.die === at;
      cell.setAttribute("aria-pressed", String(isChosen));
      if (isChosen) $("chosen").textContent = cell.title;
    });
  });
  const state = chosen && drives.find((drive) => drive.device === chosen.device)?.dies[chosen.die]?.state;
  $("kill").disabled = !token || !["good", "failing"].includes(state) || !told.state.machine.powered;
};

// --- map of the superblocks, of each drive an image with a text

const MAP_WORDS = { retired: "given up", free: "free", sealed: "full", open: "open", victim: "victim of collection" };

const mapText = (drive) => {
  const { total, free, open, sealed, collecting, retired } = drive.superblocks;
  const { valid, states, slc, per_cell: each } = drive.superblock_map;
  const full = valid.filter((_, cell) => states[cell] === "sealed");
  const mean = full.length ? `, on average ${(full.reduce((sum, share) => sum + share, 0) / full.length).toFixed(0)} % valid` : "";
  const cached = slc.length ? `, ${number(slc.length)} ${each > 1 ? "cells" : "superblocks"} in SLC mode` : "";
  return `${number(total)} superblocks: ${number(sealed)} full${mean}, ${number(open)} open, ${number(collecting)} ${collecting === 1 ? "victim" : "victims"} of collection, ` +
    `${number(free)} free${retired ? `, ${number(retired)} given up` : ""}${cached}` + (each > 1 ? `; ${each} in each cell` : "");
};

const showMaps = (told) => {
  const drives = told.state.machine.drives.filter((drive) => drive.device !== null);
  const shape = JSON.stringify(drives.map((drive) => [drive.device, drive.superblock_map.states.length]));
  if ($("maps").dataset.shape !== shape) {
    $("maps").dataset.shape = shape;
    $("maps").replaceChildren(...drives.map((drive) => {
      const map = make("div", { class: "map", role: "img" });
      map.append(...drive.superblock_map.states.map(() => make("i", { class: "cell" })));
      return make("div", { class: "drive" }, make("h3", {}), map);
    }));
  }
  drives.forEach((drive, index) => {
    const [heading, map] = $("maps").children[index].children;
    const { states, valid, slc } = drive.superblock_map;
    const text = mapText(drive);
    heading.textContent = told.state.machine.array ? `${driveName(drive.device, told)}: ${text}` : text;
    map.setAttribute("aria-label", heading.textContent);
    const cached = new Set(slc);
    states.forEach((state, at) => {
      // Only what has changed is written: a drive has a thousand cells.
      const look = `${state} ${valid[at]} ${cached.has(at)}`;
      const cell = map.children[at];
      if (cell.look === look) return;
      cell.look = look;
      cell.dataset.state = state;
      cell.toggleAttribute("data-slc", cached.has(at));
      cell.style.setProperty("--valid", `${valid[at]}%`);
      cell.title = `${MAP_WORDS[state]}${cached.has(at) ? ", SLC mode" : ""}, ${valid[at]} % valid`;
    });
  });
};

const showZones = ({ state }) => {
  const zones = state.machine.drives.find((drive) => drive.zones)?.zones;
  $("zones").hidden = !zones;
  if (!zones) return;
  const { states, written, per_cell: each } = zones.map;
  const counts = Object.entries(zones.by_state).map(([name, count]) => `${count} ${words(name)}`).join(", ");
  const scale = each > 1 ? `; ${each} to a cell` : "";
  $("zones-text").textContent = `${counts}; ${zones.active} of ${zones.max_active} active, ${zones.open} of ${zones.max_open} open${scale}`;
  const map = $("zone-map");
  map.setAttribute("aria-label", $("zones-text").textContent);
  if (map.children.length !== states.length) map.replaceChildren(...states.map(() => make("i", { class: "cell" })));
  states.forEach((name, at) => {
    const cell = map.children[at];
    const look = `${name} ${written[at]}`;
    if (cell.look === look) return;
    cell.look = look;
    cell.dataset.state = name;
    cell.style.setProperty("--valid", `${written[at]}%`);
    const first = each * at;
    cell.title = `zone${each > 1 ? `s ${first} to ${first + each - 1}` : ` ${first}`}: ${words(name)}, ${written[at]} % written`;
  });
};

const rows = (body, table) => $(body).replaceChildren(...table.map((row) => make("tr", {}, ...row.map((text) => make("td", {}, text)))));

const showNamespaces = ({ figures }) => {
  $("namespaces").hidden = !figures.namespaces.length;
  const of = (own, name) => own.operations.find((each) => each.op === name);
  rows("namespace-rows", figures.namespaces.map((own) => [
    `${own.namespace}${own.read_only ? ", read-only" : ""}`, bytes(own.capacity), number(of(own, "read").count), bytes(of(own, "write").bytes),
    micros(of(own, "read").p99_us), micros(of(own, "write").p99_us),
  ]));
  const handles = figures.placement?.handles ?? [];
  $("handles").hidden = !handles.length;
  rows("handle-rows", handles.map((own, index) => [
    String(index), bytes(own.host_bytes), bytes(own.moved_bytes),
    own.host_bytes ? ratio((own.host_bytes + own.moved_bytes) / own.host_bytes) : "–", bytes(own.remaining_bytes),
  ]));
};

const showPass = (what, pass) => make("p", { class: "pass" },
  `${what}: ${words(pass.kind)}, ${bytes(pass.done)} of ${bytes(pass.total)} `,
  make("progress", { value: pass.done, max: Math.max(1, pass.total), "aria-label": what }));

const showArray = ({ state }) => {
  const { array } = state.machine;
  $("array").hidden = !array;
  if (!array) return;
  $("array-title").textContent = `Array: ${array.level}, ${words(array.condition)}`;
  const repairing = array.repairs.filter((repair) => repair.finished_ns === null);
  const passes = array.pass ? [showPass("The array", array.pass)] : [];
  for (const repair of repairing) {
    const how = repair.started_ns === null ? "waits" : `under way for ${clockTime(state.machine.now_ns - repair.started_ns)}`;
    passes.push(make("p", { class: "pass" }, `Member ${repair.member}: repair of die ${repair.die} ${how}`));
  }
  const lost = array.lost_sectors ? make("p", { class: "pass" }, badge(`${number(array.lost_sectors)} sectors of data are lost`, "bad")) : null;
  $("passes").replaceChildren(...passes, ...(lost ? [lost] : []));
  $("members").replaceChildren(...array.members.map((member, index) => {
    const mends = repairing.some((repair) => repair.member === index);
    const how = !member.present ? "missing" : !member.in_sync ? "being rebuilt" : mends ? "being repaired" : "whole";
    return make("tr", {}, make("td", {}, String(index)), make("td", {}, how), make("td", {}, number(member.read_errors)), make("td", {}, number(member.bad_sectors)));
  }));
};

const showEvents = ({ state }) => {
  const last = state.events.at(-1)?.number ?? -1;
  if ($("events").dataset.last === String(last)) return;
  $("events").dataset.last = last;
  const line = (event) => make("li", {}, make("time", {}, clockTime(event.at_ns)), make("span", {}, event.text));
  $("events").replaceChildren(...[...state.events].reverse().map(line));
};

// --- charts: two curves from zero to their maximum, over the last minute

const CHARTS = [
  ["Requests a second", "reads", "read", "writes", "write", number],
  ["Median latency", "read_p50", "read", "write_p50", "write", micros],
  ["99th percentile of latency", "read_p99", "read", "write_p99", "write", micros],
  ["Write amplification", "amplification", "units programmed for each unit that the host wrote", null, "", ratio],
  ["Lateness of answers", "late_p99", "99th percentile", null, "", micros],
];
for (const [title, , first, second, other] of CHARTS) {
  const key = (text, kind) => [make("span", { class: `key ${kind}` }), text];
  const caption = make("p", {}, title, ...key(first, "first"), ...(second ? key(other, "second") : []), " ", make("b", {}));
  $("charts").append(make("div", { class: "chart" }, caption, make("canvas", { role: "img", "aria-label": title })));
}

const draw = (canvas, curves, end, style, format) => {
  const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
  if (canvas.width !== Math.round(width * scale)) [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const top = Math.max(...curves.flatMap(({ values }) => values.map(([, value]) => value ?? 0)), 0) || 1;
  context.strokeStyle = style.getPropertyValue("--grid");
  context.fillStyle = style.getPropertyValue("--muted");
  context.font = "11px system-ui, sans-serif";
  // Before the first request there is no scale.
  canvas.dataset.empty = String(!curves.some(({ values }) => values.some(([, value]) => value > 0)));
  if (canvas.dataset.empty === "true") {
    context.fillText("no requests in the last minute", 2, height / 2);
    return;
  }
  for (const share of [0, 0.5, 1]) {
    const y = height - 3 - share * (height - 18);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    if (share) context.fillText(format(share * top), 2, y - 3);
  }
  context.lineWidth = 1.6;
  for (const { values, colour } of curves) {
    context.strokeStyle = style.getPropertyValue(colour);
    context.beginPath();
    let pen = false;
    for (const [at, value] of values) {
      if (value === null) { pen = false; continue; }
      const [x, y] = [width * (1 - (end - at) / SPAN_S), height - 3 - (value / top) * (height - 18)];
      if (pen) context.lineTo(x, y); else context.moveTo(x, y);
      pen = true;
    }
    context.stroke();
  }
};

const showCharts = (told) => {
  const style = getComputedStyle(document.documentElement);
  CHARTS.forEach(([, first, , second, , format], index) => {
    const figure = $("charts").children[index];
    const values = (name) => past.filter((each) => each.rate).map((each) => [each.at, each.rate[name]]);
    const curves = [{ values: values(first), colour: "--read" }];
    if (second) curves.push({ values: values(second), colour: "--write" });
    draw(figure.querySelector("canvas"), curves, told.at, style, format);
    figure.querySelector("b").textContent = [first, second].filter(Boolean).map((name) => format(told.rate[name])).join(" / ");
  });
};

// What was told a moment before, as far as it is still there.
const earlier = (told) => {
  const kept = past.filter((each) => each.state !== null);
  return kept.findLast((each) => each.at <= told.at - BEHIND_S) ?? kept[0];
};

const show = (told) => {
  told.at = performance.now() / 1000;
  past.push(told);
  while (past[0].at < told.at - SPAN_S) past.shift();
  const before = earlier(told);
  told.rate = before === told ? null : rates(told, before);
  latest = told;
  showHead(told);
  showDies(told, before);
  showMaps(told);
  showZones(told);
  showNamespaces(told);
  showArray(told);
  showEvents(told);
  if (told.rate) {
    showTiles(told, told.rate);
    showCharts(told);
  }
  // The charts need the rates of the last minute only, the rates the sums of the last seconds.
  for (const each of past) if (each.at < told.at - 3 * BEHIND_S) each.state = each.figures = null;
  $("cut").disabled = !token;
  $("cut").textContent = told.state.machine.powered ? "Cut the power…" : "Switch the power on";
  $("footer").textContent = `${told.state.exports.filter((each) => !each.read_only).map((each) => each.uri).join(", ")}` + (token ? "" : " – to change anything, open the address that the server printed, with its token");
  document.documentElement.dataset.shown = String(Number(document.documentElement.dataset.shown ?? 0) + 1);
};

// --- what is asked for

const trouble = (text) => {
  $("trouble").hidden = !text;
  $("trouble").textContent = text;
};

const post = async (path, body) => {
  try {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    trouble(answer.ok ? "" : (await answer.json()).error);
  } catch {
    trouble("The server does not answer.");
  }
};

// Asks twice: what is done cannot be undone.
const ask = (title, questions, yes) => new Promise((resolve) => {
  let question = 0;
  const put = () => {
    $("ask-title").textContent = title;
    $("ask-text").textContent = questions[question];
    $("ask-yes").textContent = question + 1 < questions.length ? "Go on…" : yes;
    $("ask-no").focus();
  };
  $("ask-yes").onclick = () => {
    question += 1;
    if (question < questions.length) put(); else { $("ask").close(); resolve(true); }
  };
  $("ask-no").onclick = () => $("ask").close();
  $("ask").onclose = () => resolve(false);
  put();
  $("ask").showModal();
});

$("kill").addEventListener("click", async () => {
  const target = { ...chosen };
  const name = label(target);
  const questions = [`Every operation on ${name} will fail from now on.`, "Data without parity or another copy is lost. A failed die cannot be restored."];
  if (await ask(`Kill ${name}?`, questions, `Kill ${name}`)) {
    await post("/v1/faults", { kind: "die", die: target.die, ...(latest.state.machine.array ? { device: target.device } : {}) });
  }
});

$("cut").addEventListener("click", async () => {
  if (!latest.state.machine.powered) {
    await post("/v1/power", { action: "on" });
    return;
  }
  const questions = ["Power fails and is back at once. Clients lose their connections without an answer.", "What was only in a volatile buffer is lost."];
  if (await ask("Cut the power?", questions, "Cut the power")) await post("/v1/power", { action: "cut" });
});

$("drives").addEventListener("click", (event) => {
  const cell = event.target.closest(".die");
  if (!cell || cell.dataset.device === "") return;
  chosen = { device: Number(cell.dataset.device), die: Number(cell.dataset.die) };
  showDies(latest, earlier(latest));
});

// One die is in the order of tabs; the arrows move among all.
$("drives").addEventListener("keydown", (event) => {
  const cell = event.target.closest(".die");
  if (!cell) return;
  const columns = cell.parentElement.style.gridTemplateColumns.match(/\d+/)[0];
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: Number(columns) }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const cells = [...$("drives").querySelectorAll(".die")];
  const next = cells[cells.indexOf(cell) + step];
  if (!next) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

for (const choice of document.querySelectorAll("input[name=shade]")) {
  choice.addEventListener("change", () => { shade = choice.value; });
}

const stream = new EventSource("/v1/events");
stream.onmessage = (event) => {
  trouble("");
  show(JSON.parse(event.data));
};
stream.addEventListener("refused", (event) => trouble(JSON.parse(event.data).error));
stream.onerror = () => trouble("The server does not answer; trying again.");
