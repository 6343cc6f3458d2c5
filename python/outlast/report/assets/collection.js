"use strict";
(() => {
  // The states of cells are letters, large for SLC mode, and their valid shares two hexadecimal digits of per cent.
  const EACH_MS = 160;
  const shareOf = (valid, cell) => parseInt(valid.slice(2 * cell, 2 * cell + 2), 16) || 0;
  const card = document.currentScript.parentElement;
  const drives = JSON.parse(card.querySelector("script[type='application/json']").textContent);
  const [button, slider, output] = ["button", "input", "output"].map((name) => card.querySelector(name));
  const maps = [...card.querySelectorAll(".sbmap")], said = [...card.querySelectorAll(".said")];
  const times = drives.map((drive) => drive.at).reduce((most, own) => (own.length > most.length ? own : most));
  const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

  const words = (states, valid, each) => {
    const kinds = [...states.toLowerCase()];
    const of = (letter) => kinds.filter((kind) => kind === letter).length;
    const full = kinds.map((_, cell) => shareOf(valid, cell)).filter((_, cell) => kinds[cell] === "s");
    const mean = full.length ? `, on average ${Math.round(full.reduce((sum, share) => sum + share, 0) / full.length)} % valid` : "";
    const slc = [...states].filter((letter) => letter < "a").length;
    return `${count(states.length, "cell")} of ${count(each, "superblock")}: ${of("s")} full${mean}, ${of("o")} open, ${of("v")} victims, ` +
      `${of("f")} free${of("r") ? `, ${of("r")} given up` : ""}${slc ? `, ${slc} in SLC mode` : ""}`;
  };

  const show = (moment) => {
    output.textContent = `${Number(times[moment].toPrecision(6))} s`;
    slider.setAttribute("aria-valuetext", output.textContent);
    drives.forEach((drive, index) => {
      // A drive that joined later or left has fewer moments: the one closest to this.
      const at = drive.at.length === times.length ? moment : drive.at.reduce((best, time, each) => (time <= times[moment] ? each : best), 0);
      const [states, valid] = [drive.states[at], drive.valid[at]];
      [...maps[index].children].forEach((cell, place) => {
        const letter = states[place] || "f";
        const share = "fr".includes(letter.toLowerCase()) ? 0 : shareOf(valid, place);
        cell.dataset.state = letter.toLowerCase();
        cell.toggleAttribute("data-slc", letter < "a");
        cell.style.setProperty("--valid", `${share}%`);
      });
      said[index].textContent = words(states, valid, drive.each);
      maps[index].setAttribute("aria-label", said[index].parentElement.textContent);
    });
  };

  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  };
  const step = () => {
    if (Number(slider.value) === times.length - 1) return stop();
    slider.value = Number(slider.value) + 1;
    return show(Number(slider.value));
  };
  button.addEventListener("click", () => {
    if (timer !== null) return stop();
    if (Number(slider.value) === times.length - 1) slider.value = 0;
    show(Number(slider.value));
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    timer = setInterval(step, EACH_MS);
    return undefined;
  });
  slider.addEventListener("input", () => {
    stop();
    show(Number(slider.value));
  });
})();
