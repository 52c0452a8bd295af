"use strict";
// The pointer reads all plots at one moment. Without it nothing is lost: each plot says its extremes in words.
(() => {
  const plots = [...document.querySelectorAll("[data-plot]")].map((node) => {
    const plane = node.querySelector(".plane");
    const data = JSON.parse(node.dataset.plot);
    const make = (kind) => {
      const made = document.createElement("div");
      made.className = kind;
      made.hidden = true;
      node.append(made);
      return made;
    };
    return { node, plane, data, cursor: make("cursor"), readout: make("readout") };
  });
  const duration = Number(document.querySelector("[data-duration]")?.dataset.duration);
  const short = (value) => {
    if (Math.abs(value) >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
    return String(Number(value.toPrecision(3)));
  };
  const figure = (value, unit) => {
    if (unit === "seconds") return Math.abs(value) < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`;
    if (unit === "percent") return `${short(value * 100)} %`;
    return short(value) + ({ "per second": "/s", MiB: " MiB" }[unit] ?? "");
  };
  // A point holds until the next; the last one, and a batch, no longer than it took.
  const at = (points, time, bars) => {
    let found = null;
    for (const point of points) {
      if (point[0] > time + 1e-6) break;
      found = point;
    }
    if (found === null) return null;
    const [x, y] = found;
    const until = bars ? x + y : found === points[points.length - 1] ? x + 1.5 : Infinity;
    return time <= until ? y : null;
  };
  const show = (share) => {
    for (const { node, plane, data, cursor, readout } of plots) {
      cursor.hidden = readout.hidden = share === null;
      if (share === null) continue;
      const time = share * duration;
      const box = plane.getBoundingClientRect();
      cursor.style.left = `${box.left - node.getBoundingClientRect().left + share * box.width}px`;
      cursor.style.height = `${box.height}px`;
      const read = data.lines.map(({ label, points }) => {
        const value = at(points, time, data.bars);
        return `${label} ${value === null ? "—" : figure(value, data.unit)}`;
      });
      readout.textContent = `${time.toFixed(1)} s: ${read.join(", ")}`;
    }
  };
  for (const { plane } of plots) {
    plane.addEventListener("pointermove", (event) => {
      const box = plane.getBoundingClientRect();
      show(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
    });
    plane.addEventListener("pointerleave", () => show(null));
  }
  const folded = [...document.querySelectorAll("details:not([open])")];
  window.addEventListener("beforeprint", () => folded.forEach((node) => { node.open = true; }));
  window.addEventListener("afterprint", () => folded.forEach((node) => { node.open = false; }));
})();
