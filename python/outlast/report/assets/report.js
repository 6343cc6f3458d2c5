"use strict";
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // "var:--read" in a figure stands for the page's colour of that name, which differs between light and dark.
  const coloured = (value, style) => {
    if (typeof value === "string") {
      return value.startsWith("var:") ? style.getPropertyValue(value.slice(4)).trim() : value;
    }
    if (Array.isArray(value)) return value.map((item) => coloured(item, style));
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
    }
    return value;
  };

  // What every chart has; "logarithmic" is for axes without ticks of their own, which plotly labels 5, 2, 10, 5, 2, 1.
  const frame = JSON.parse(document.getElementById("frame").textContent);

  const layoutOf = (own, style) => {
    const font = { ...frame.layout.font, family: getComputedStyle(document.body).fontFamily };
    const axes = Object.fromEntries(["xaxis", "yaxis", ...Object.keys(own).filter((name) => /^[xy]axis\d+$/.test(name))].map((name) => {
      const mine = own[name] || {};
      const title = { ...frame.title, ...(mine.title || {}) };
      const labels = mine.type === "log" && !mine.tickvals ? frame.logarithmic : {};
      return [name, { ...frame.axis, ...labels, ...mine, title }];
    }));
    return coloured({ ...frame.layout, font, ...own, ...axes }, style);
  };

  // What plotly would write as 1.2e-7 under the pointer is written as everywhere else.
  const raised = (exponent) => String(exponent).replace(/[-0-9]/g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);
  const power = (value) => {
    if (!(value > 0)) return value === 0 ? "0" : "–";
    const exponent = Math.floor(Math.log10(value));
    if (exponent >= -3 && exponent <= 1) return String(Number(value.toPrecision(3)));
    return `${(value / 10 ** exponent).toFixed(2)} · 10${raised(exponent)}`;
  };
  const legible = (trace) => {
    const inExponents = /%\{([xy]):[^}]*~e\}/.exec(trace.hovertemplate || "");
    if (inExponents === null || trace.text) return trace;
    const text = trace[inExponents[1]].map(power);
    return { ...trace, text, hovertemplate: trace.hovertemplate.replace(inExponents[0], "%{text}") };
  };

  // A chart's points as a table, and its drawing without pixels, for a paper or another program.
  const quoted = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell ?? ""));
  const tableOf = (traces) => {
    const rows = [["series", "x", "y", "z"]];
    for (const { name = "", x = [], y = [], z } of traces) {
      if (z) y.forEach((row, at) => x.forEach((column, across) => rows.push([name, column, row, z[at][across]])));
      else Array.from(x, (value, at) => rows.push([name, value, y[at], ""]));
    }
    return `${rows.map((row) => row.map(quoted).join(",")).join("\n")}\n`;
  };
  const save = (name, content, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const buttons = (name, traces) => [
    ["toImage",
      { name: "svg", title: "Download as SVG", icon: Plotly.Icons["camera-retro"],
        click: (plot) => Plotly.downloadImage(plot, { format: "svg", filename: name }) },
      { name: "csv", title: "Download the points as CSV", icon: Plotly.Icons.disk,
        click: () => save(`${name}.csv`, tableOf(traces), "text/csv") },
      "resetScale2d"],
  ];

  const printing = () => document.documentElement.classList.contains("printing");

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    for (const figure of document.querySelectorAll("figure.chart")) {
      const spec = JSON.parse(figure.querySelector("script").textContent);
      const data = coloured(spec.data, style).map(legible);
      const options = { responsive: true, displaylogo: false, modeBarButtons: buttons(figure.id, spec.data) };
      const plot = figure.querySelector(".plot");
      const layout = layoutOf(spec.layout, style);
      // On a telephone labels of several lines stand closer to each other.
      if (plot.clientWidth < 420 && layout.xaxis.tickfont) layout.xaxis.tickfont.size = 9;
      // On paper a chart cannot follow the width of its card afterwards.
      if (printing()) layout.width = plot.clientWidth;
      Plotly.react(plot, data, layout, options);
    }
    document.documentElement.dataset.drawn = "yes";
  };

  // The library is in the page, packed.
  const unpacked = async () => {
    const packed = Uint8Array.from(atob(document.getElementById("library").textContent), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  };

  const start = () => {
    draw();
    for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) {
      window.addEventListener(event, () => {
        document.documentElement.classList.toggle("printing", on);
        draw();
        // Back on the screen charts follow the width of their cards again.
        if (!on) for (const plot of document.querySelectorAll(".plot")) Plotly.Plots.resize(plot);
      });
    }
    dark.addEventListener("change", draw);
  };

  unpacked().then(start);
})();
