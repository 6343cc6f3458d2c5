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

  const axisDefaults = {
    gridcolor: "var:--grid", linecolor: "var:--line", zerolinecolor: "var:--line", tickcolor: "var:--line",
    ticks: "outside", ticklen: 4, automargin: true, zeroline: false, nticks: 8,
  };

  const layoutOf = (own, style) => {
    const font = { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: "var:--muted" };
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font,
      margin: { l: 56, r: 16, t: 30, b: 42 },
      legend: { orientation: "h", x: 0, y: 1.0, yanchor: "bottom", traceorder: "normal", font: { size: 12.5, color: "var:--ink" } },
      hoverlabel: { bgcolor: "var:--card", bordercolor: "var:--line", font: { color: "var:--ink", size: 12.5 } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "var:--muted", activecolor: "var:--ink" },
      dragmode: "zoom",
    };
    const axes = Object.fromEntries(["xaxis", "yaxis"].map((name) => {
      const mine = own[name] || {};
      const title = { font: { size: 12.5 }, standoff: 8, ...(mine.title || {}) };
      // Without a format plotly labels a logarithmic axis by digits alone: 5, 2, 10, 5, 2, 1.
      const labels = mine.type === "log" && !mine.tickvals ? { tickformat: "~g" } : {};
      return [name, { ...axisDefaults, ...labels, ...mine, title }];
    }));
    return coloured({ ...base, ...own, ...axes }, style);
  };

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    for (const figure of document.querySelectorAll("figure.chart")) {
      const spec = JSON.parse(figure.querySelector("script").textContent);
      const data = coloured(spec.data, style);
      const options = { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "resetScale2d"]] };
      Plotly.react(figure.querySelector(".plot"), data, layoutOf(spec.layout, style), options);
    }
    document.documentElement.dataset.drawn = "yes";
  };

  draw();
  dark.addEventListener("change", draw);
})();
