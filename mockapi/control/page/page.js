// Asks the control for JSON once a second and shows it. All text from there goes in as text, never as markup.
const EVERY_MS = 1000;
const SAMPLES = 120;
const SHOWN = 50;
const WINDOW = 10;

const $ = (selector) => document.querySelector(selector);

const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

// --- the control

const token = {
  get: () => sessionStorage.getItem("mockapi token"),
  set: (value) => sessionStorage.setItem("mockapi token", value),
};

class Refused extends Error {
  constructor(status, problems) {
    super(`refused with ${status}`);
    this.status = status;
    this.problems = problems;
  }
}

const call = async (method, path, body) => {
  const headers = token.get() ? { Authorization: `Bearer ${token.get()}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method, headers, body, cache: "no-store" });
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  throw new Refused(answer.status, await answer.json().catch(() => []));
};

const rulePath = (name) => `rules/${encodeURIComponent(name)}`;

// --- words

const seconds = (value) =>
  value === null ? "—"
    : value < 0.0995 ? `${Math.round(value * 1000)} ms`
      : value < 9.95 ? `${value.toFixed(2)} s`
        : value < 120 ? `${value.toFixed(0)} s`
          : `${Math.floor(value / 60)} min`;

const bytes = (value) => {
  for (const [size, unit] of [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]])
    if (value >= size) return `${(value / size).toFixed(1)} ${unit}`;
  return `${value} B`;
};

const clock = (at) => `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;

const flow = (value) =>
  value === null || typeof value !== "object" ? String(value)
    : Array.isArray(value) ? `[${value.map(flow).join(", ")}]`
      : Object.entries(value).map(([key, inner]) =>
        `${key}: ${inner !== null && typeof inner === "object" && !Array.isArray(inner) ? `{${flow(inner)}}` : flow(inner)}`,
      ).join(", ");

const statusClass = (status) => (status === null ? "odd" : status < 400 ? "good" : "bad");

// --- load

const TILES = [
  { name: "requests a second", first: (look) => look.rate, text: (look) => (look.rate === null ? "—" : look.rate.toFixed(1)) },
  { name: "in flight", first: (look) => look.inFlight, text: (look) => look.inFlight },
  {
    name: "parses", first: (look) => look.busy, second: (look) => look.queued,
    text: (look) => look.busy, more: (look) => ` busy, ${look.queued} queued`,
  },
  {
    name: `latency, last ${WINDOW} s`, first: (look) => look.p50, second: (look) => look.p99,
    text: (look) => seconds(look.p50), more: (look) => ` p50, ${seconds(look.p99)} p99`,
  },
];

const looks = [];

const quantile = (bounds, counts, share) => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!total) return null;
  let below = 0;
  for (let n = 0; n < counts.length; n += 1) {
    below += counts[n];
    if (below >= share * total) return bounds[n];
  }
  return bounds[bounds.length - 1];
};

const remember = (counts) => {
  const at = performance.now() / 1000;
  const last = looks[looks.length - 1];
  const same = last !== undefined && counts.requests >= last.requests;
  const old = looks.findLast((look) => look.at <= at - WINDOW && look.requests <= counts.requests);
  const during = counts.latency.counts.map((count, n) => count - (old ? old.counts[n] : 0));
  looks.push({
    at,
    requests: counts.requests,
    counts: counts.latency.counts,
    rate: same ? (counts.requests - last.requests) / Math.max(0.1, at - last.at) : null,
    inFlight: counts.in_flight,
    busy: counts.upstream.busy,
    queued: counts.upstream.queued,
    p50: quantile(counts.latency.le_s, during, 0.5),
    p99: quantile(counts.latency.le_s, during, 0.99),
  });
  looks.splice(0, looks.length - SAMPLES);
};

const svg = (tag, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

const plot = (series) => {
  const most = Math.max(1e-9, ...series.flat().map((value) => value ?? 0));
  const points = series.map((values) =>
    values.map((value, n) => `${(SAMPLES - values.length + n).toFixed(0)},${(32 - (30 * (value ?? 0)) / most).toFixed(1)}`),
  );
  const drawing = svg("svg", { viewBox: `0 0 ${SAMPLES - 1} 32`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const [first] = points;
  drawing.append(svg("polygon", { points: [`${SAMPLES - first.length},32`, ...first, `${SAMPLES - 1},32`].join(" ") }));
  points.forEach((line, n) => drawing.append(svg("polyline", { points: line.join(" "), class: n ? "second" : "first" })));
  return drawing;
};

const showLoad = () => {
  const now = looks[looks.length - 1];
  $("#load").replaceChildren(...TILES.map((tile) => {
    const figure = make("b", {}, String(tile.text(now)));
    if (tile.more) figure.append(make("small", {}, tile.more(now)));
    const series = [tile.first, tile.second].filter(Boolean).map((of) => looks.map(of));
    return make("div", { className: "tile" }, make("h3", {}, tile.name), figure, plot(series));
  }));
};

// --- rules

const stands = (one) => {
  const remaining = [];
  if (one.phase === "effective" || one.phase === "switched off") {
    if (one.ttl_remaining_s !== null && one.ttl_remaining_s !== undefined) remaining.push(`${seconds(one.ttl_remaining_s)} remaining`);
    if (one.times_remaining !== null && one.times_remaining !== undefined) remaining.push(`${one.times_remaining} times remaining`);
  }
  return [one.phase, ...remaining].join(", ");
};

const ruleRow = (one, counts) => {
  const { name, when, do: faults } = one.rule;
  const on = one.rule.enabled !== false;
  const met = counts.rules[name];
  const toggle = make("button", { type: "button", onclick: () => act(() => call("PATCH", rulePath(name), JSON.stringify({ enabled: !on }))) });
  toggle.setAttribute("role", "switch");
  toggle.setAttribute("aria-checked", String(on));
  toggle.setAttribute("aria-label", name);
  const remove = make("button", {
    type: "button", className: "remove", title: `remove ${name}`, textContent: "✕", onclick: () => act(() => call("DELETE", rulePath(name))),
  });
  const answers = Object.entries(met?.by_status ?? {}).map(([status, count]) => `${status}: ${count}`).join(", ");
  const row = make("tr", { className: one.phase === "effective" ? "" : "over" },
    make("td", {}, toggle),
    make("td", { className: "name" }, make("b", {}, name), make("div", { className: "soft" },
      make("code", {}, `${when ? `when ${flow(when)} ` : ""}do ${flow(faults)}`))),
    make("td", { className: "stands" }, stands(one)),
    make("td", { className: "number met" }, String(one.fired)),
    make("td", { className: "answers" }, answers || "—"),
    make("td", { className: "remove" }, remove));
  row.dataset.rule = name;
  return row;
};

const showRules = (status, counts) => {
  // A row that the user is about to press or has in focus would be gone under the pointer.
  const focused = document.activeElement?.closest("#rules tr")?.dataset.rule;
  const kind = document.activeElement?.className;
  $("#rules tbody").replaceChildren(...status.map((one) => ruleRow(one, counts)));
  if (focused !== undefined) {
    const row = [...document.querySelectorAll("#rules tbody tr")].find((one) => one.dataset.rule === focused);
    row?.querySelector(kind === "remove" ? "button.remove" : "[role=switch]")?.focus();
  }
  const force = status.filter((one) => one.phase === "effective").length;
  $("#rules-count").textContent = status.length ? `${force} of ${status.length} effective` : "";
  $("#rules").hidden = !status.length;
  $("#no-rules").hidden = Boolean(status.length);
  const names = [...new Set([...status.map((one) => one.rule.name), ...Object.keys(counts.rules)])];
  fill($("#filter [name=rule]"), names);
  fill($("#filter [name=explain]"), status.map((one) => one.rule.name));
};

const fill = (select, names) => {
  const [none, ...options] = select.options;
  if (JSON.stringify(options.map((option) => option.value)) === JSON.stringify(names)) return;
  const chosen = select.value;
  select.replaceChildren(none, ...names.map((name) => make("option", { value: name }, name)));
  select.value = names.includes(chosen) ? chosen : "";
};

// --- requests

const rows = new Map();

const requestRow = (entry, explained) => {
  const facts = {
    "request id": entry.request_id, attempt: entry.attempt, client: entry.client, host: entry.host,
    page: [entry.wiki, entry.page].filter(Boolean).join(": ") || "—",
    revisions: entry.revisions.join(", ") || "—", draws: flow(entry.draws) || "—",
    "Content-Length": entry.content_length ?? "—", body: `${entry.real_bytes} bytes, ${entry.content_encoding ?? "not encoded"}`,
    completed: entry.completed ? "yes" : "no",
  };
  const list = make("dl", {}, ...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]));
  const address = `${entry.method} ${entry.path}${entry.query ? `?${entry.query}` : ""}`;
  const rules = make("td", { className: "rules" }, ...entry.rules.map((name) => make("span", { className: "chip" }, name)));
  if (explained) {
    const reasons = entry.why.flatMap((one) => [make("b", {}, one.key), ` wants ${one.wanted}, has ${one.got}. `]);
    rules.append(make("div", { className: "why" }, ...(reasons.length ? reasons : [entry.rules.includes(explained) ? "" : "no reason is known"])));
  }
  return make("tr", {},
    make("td", { className: "time" }, clock(new Date(entry.at))),
    make("td", { className: "request" }, make("details", {}, make("summary", {}, make("code", {}, address)), list)),
    make("td", { className: "answered" }, make("span", { className: `status ${statusClass(entry.status)}` }, String(entry.status ?? "none")),
      entry.completed ? "" : " cut"),
    rules,
    make("td", { className: "took" }, seconds(entry.duration_s)),
    make("td", { className: "number sent" }, bytes(entry.wire_bytes)));
};

const showRequests = (entries, explained) => {
  const wanted = new Set(entries.map((entry) => entry.n));
  for (const [n, row] of rows) if (!wanted.has(n)) { row.remove(); rows.delete(n); }
  const body = $("#requests tbody");
  // Newest first; a row that is there already stays as it is, so that what was opened stays open.
  for (const entry of entries) {
    if (rows.has(entry.n)) continue;
    const row = requestRow(entry, explained);
    rows.set(entry.n, row);
    body.prepend(row);
  }
  $("#requests").hidden = !entries.length;
  $("#no-requests").hidden = Boolean(entries.length);
  const filtered = [...new FormData($("#filter")).values()].some(Boolean);
  const hint = make("code", {}, `curl "${location.origin}/w/api.php?action=query&meta=siteinfo&format=json"`);
  $("#no-requests").replaceChildren(...(filtered ? ["No request fits the filter."] : ["None yet. One to begin with: ", hint]));
};

const journalPath = () => {
  const filter = new FormData($("#filter"));
  const query = new URLSearchParams({ limit: SHOWN });
  for (const name of ["rule", "status", "explain"]) if (filter.get(name)) query.set(name, filter.get(name));
  return { path: `journal?${query}`, explained: filter.get("explain") };
};

// --- the loop

const world = { text: "", at: 0 };

const showWorld = async () => {
  if (performance.now() - world.at < 5000 && world.text) return;
  const state = await call("GET", "state");
  world.at = performance.now();
  world.text = `seed ${state.seed}, ${state.pages.toLocaleString("en")} pages, ${state.revisions.toLocaleString("en")} revisions`;
  $("#world").textContent = world.text;
};

const tell = (name, text) => {
  $("#link").className = `link ${name}`;
  $("#link").textContent = text;
};

const look = async () => {
  try {
    const { path, explained } = journalPath();
    const valid = $("#filter").checkValidity();
    const [counts, status, entries] = await Promise.all([
      call("GET", "journal/counts"), call("GET", "status"), valid ? call("GET", path) : [], showWorld(),
    ]);
    remember(counts);
    showLoad();
    showRules(status, counts);
    if (path === journalPath().path) showRequests(entries, explained);
    $("#token").hidden = true;
    tell("live", "live");
  } catch (error) {
    if (error instanceof Refused && error.status === 401) $("#token").hidden = false;
    tell("lost", error instanceof Refused ? error.problems.map((one) => one.problem).join("; ") || error.message : "no answer");
  }
};

const act = async (action) => {
  $("#problems").replaceChildren();
  try {
    await action();
  } catch (error) {
    const problems = error instanceof Refused ? error.problems : [{ path: "", problem: String(error), hint: null }];
    $("#problems").replaceChildren(...problems.map((one) =>
      make("li", {}, [one.path && `${one.path}: `, one.problem, one.hint && `; ${one.hint}`].filter(Boolean).join(""))));
  }
  await look();
};

const again = () => {
  for (const row of rows.values()) row.remove();
  rows.clear();
  return look();
};

$("#token").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(new FormData(event.target).get("token"));
  look();
});
$("#add form").addEventListener("submit", (event) => {
  event.preventDefault();
  act(() => call("POST", "rules", new FormData(event.target).get("rule")));
});
$("#filter").addEventListener("submit", (event) => event.preventDefault());
$("#filter").addEventListener("input", again);
$("#empty").addEventListener("click", () => act(() => call("DELETE", "journal")).then(again));
document.addEventListener("visibilitychange", () => document.hidden || look());

for (;;) {
  if (!document.hidden) await look();
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
