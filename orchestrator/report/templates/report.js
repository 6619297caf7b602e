"use strict";
// The matrix with its filters, and the detail of a trial. All text is set as text, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);

const trials = data.rows.map((values) => {
  const trial = {};
  data.fields.forEach((field, i) => {
    const names = data.names[field];
    trial[field] = names ? names[values[i]] : values[i];
  });
  trial.id = [trial.cell, trial.case, trial.frontend, trial.target, trial.device].join("/");
  trial.path = path(trial);
  trial.total = trial.times.reduce((sum, time) => sum + (time ?? 0), 0);
  return trial;
});
const byId = new Map(trials.map((trial) => [trial.id, trial]));

function path(trial) {
  return `${trial.frontend} → ${trial.target}` + (trial.device === "cpu" ? "" : ` on ${trial.device}`);
}

function what(trial) {
  return trial.outcome.replace("_", " ") + (trial.stage ? ` at ${trial.stage}` : "");
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// --- State: filters and the open trial stand in the address, so that a link shows the same.

const FILTERS = ["suite", "verdict", "outcome", "cell", "frontend", "target", "device"];
const form = document.getElementById("filters");
const shown = document.getElementById("shown");
const table = document.getElementById("trials");
const dialog = document.getElementById("detail");

for (const field of FILTERS) {
  const names = data.names[field].filter(Boolean);
  if (names.length < 2) continue;
  const select = element("select", { name: field }, element("option", { value: "" }, "all"));
  for (const name of [...names].sort()) {
    const text = field === "outcome" ? name.replace("_", " ") : name;
    select.append(element("option", { value: name }, text));
  }
  form.lastElementChild.before(element("label", {}, field, select));
}
form.hidden = false;

function readAddress() {
  const hash = location.hash.slice(1);
  const state = new URLSearchParams(hash);
  const trial = byId.get(state.get("trial"));
  const isSection = hash && !hash.includes("=");
  const isTrialAlone = trial && [...state.keys()].length === 1; // a link of this page's lists
  if (!isSection && !isTrialAlone)
    for (const control of form.elements) if (control.name) control.value = state.get(control.name) ?? "";
  draw();
  if (trial) open(trial);
  else if (dialog.open) dialog.close();
  if (!trial && hash && !isSection) document.getElementById("matrix").scrollIntoView();
}

function address(trial) {
  const state = new URLSearchParams();
  for (const control of form.elements) if (control.name && control.value) state.set(control.name, control.value);
  if (trial) state.set("trial", trial.id);
  return "#" + state;
}

// --- The matrix: a row for each case, a column for each path in each cell.

function filters() {
  const wanted = Object.fromEntries(FILTERS.map((field) => [field, form.elements[field]?.value ?? ""]));
  return { ...wanted, q: form.elements.q.value.trim().toLowerCase() };
}

function matches(trial, wanted) {
  return FILTERS.every((field) => !wanted[field] || trial[field] === wanted[field]) && says(trial, wanted.q);
}

function says(trial, q) {
  if (!q || trial.case.toLowerCase().includes(q)) return true;
  return trial.diagnostic !== null && data.diagnostics[trial.diagnostic].toLowerCase().includes(q);
}

let drawn = null;

function draw() {
  const wanted = filters();
  if (JSON.stringify(wanted) === drawn) return;
  drawn = JSON.stringify(wanted);
  const hits = new Set(trials.filter((trial) => matches(trial, wanted)));
  const columns = new Map(); // of those, and what else stands in their rows, dimmed
  const rows = new Map();
  const inColumns = (trial) =>
    ["cell", "frontend", "target", "device"].every((field) => !wanted[field] || trial[field] === wanted[field]);
  for (const trial of hits) rows.set(trial.case, new Map());
  for (const trial of trials) {
    if (!rows.has(trial.case) || !inColumns(trial)) continue;
    const key = [trial.cell, trial.frontend, trial.target, trial.device].join("/");
    columns.set(key, trial);
    rows.get(trial.case).set(key, trial);
  }
  const keys = [...columns.keys()].sort(inOrder);
  setWidth(keys);
  table.replaceChildren(heads(keys.map((key) => columns.get(key))), body(keys, rows, hits));
  shown.textContent = `${rows.size} of ${data.names.case.length} cases, ${hits.size} of ${trials.length} trials`;
}

// Widths are fixed: a browser lays out ten thousand cells several times as fast as when it measures them.
function setWidth(keys) {
  const cells = new Set(keys.map((key) => key.split("/")[0])).size;
  const column = Math.max(36, (110 * cells) / Math.max(keys.length, 1));
  const corner = Math.min(250, innerWidth * 0.4);
  table.style.width = `${corner + column * keys.length}px`;
  table.style.setProperty("--corner", `${corner}px`);
}

// Columns by cell, then by path in the order in which people name them.
function inOrder(left, right) {
  const [a, b] = [left, right].map((key) => key.split("/"));
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  const place = (key) => Object.values(data.order).reduce((sum, names, i) => 10 * sum + names.indexOf(key[i + 1]), 0);
  return place(a) - place(b);
}

function heads(columns) {
  const head = element("thead");
  const levels = [(t) => t.cell, (t) => t.frontend, (t) => t.target + (t.device === "cpu" ? "" : ` ${t.device}`)];
  levels.forEach((name, level) => {
    const row = element("tr");
    if (level === 0) row.append(element("th", { class: "corner", scope: "col", rowspan: levels.length }, "case"));
    let last = null;
    for (const trial of columns) {
      const key = levels.slice(0, level + 1).map((part) => part(trial)).join("/");
      if (last && last.key === key) last.th.colSpan += 1;
      else {
        const first = level === 0 || trial.cell !== last?.cell;
        const th = element("th", { scope: "col", class: (level ? "leaf " : "") + (first ? "first" : "") }, name(trial));
        last = { key, th, cell: trial.cell };
        row.append(th);
      }
    }
    head.append(row);
  });
  return head;
}

function body(keys, rows, hits) {
  const body = element("tbody");
  const firsts = new Set(keys.filter((key, i) => i === 0 || key.split("/")[0] !== keys[i - 1].split("/")[0]));
  for (const [name, row] of rows) {
    const tr = element("tr", {}, element("th", { scope: "row", title: name }, name));
    for (const key of keys) {
      const trial = row.get(key);
      const td = element("td", { class: "glyph" + (firsts.has(key) ? " first" : "") });
      if (trial) {
        const label = `${trial.case}, ${trial.cell}, ${trial.path}: ${what(trial)}, ${trial.verdict}`;
        td.append(element("span", { class: `g ${trial.verdict}` }, data.glyphs[trial.outcome]));
        td.ariaLabel = label;
        td.tabIndex = -1;
        td.trial = trial;
        if (!hits.has(trial)) td.classList.add("dim");
      } else td.classList.add("empty");
      tr.append(td);
    }
    body.append(tr);
  }
  const first = body.querySelector("td[tabindex]");
  if (first) first.tabIndex = 0;
  return body;
}

// One cell of the table is in the tab order; arrows move from there.
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-15, 0], PageDown: [15, 0] };

function move(td, [down, right]) {
  const rows = [...td.closest("tbody").rows];
  let row = rows.indexOf(td.parentElement);
  let column = td.cellIndex;
  do {
    row += Math.sign(down);
    column += Math.sign(right);
    if (!rows[row]?.cells[column]?.trial) continue;
    td = rows[row].cells[column];
    down -= Math.sign(down);
    right -= Math.sign(right);
  } while ((down || right) && rows[row] && column > 0 && column < rows[row].cells.length);
  table.querySelectorAll("td[tabindex='0']").forEach((old) => (old.tabIndex = -1));
  td.tabIndex = 0;
  td.focus();
}

table.addEventListener("keydown", (event) => {
  const td = event.target.closest("td");
  if (!td?.trial) return;
  if (event.key in STEPS) move(td, STEPS[event.key]);
  else if (event.key === "Enter" || event.key === " ") show(td.trial);
  else return;
  event.preventDefault();
});
table.addEventListener("click", (event) => {
  const td = event.target.closest("td");
  if (td?.trial) show(td.trial);
});

table.addEventListener("mouseover", (event) => {
  const td = event.target.closest("td");
  if (td?.trial) td.title = td.ariaLabel;
});

// --- The detail of a trial.

function show(trial) {
  history.pushState(null, "", address(trial));
  open(trial);
}

function open(trial) {
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const parts = [
    element("header", {},
      element("div", {},
        element("h2", { id: "detail-title" }, trial.case),
        element("p", { class: "where" }, `${trial.path} in ${trial.cell}`)),
      close),
    element("p", { class: "verdictline" },
      element("span", { class: `badge ${trial.verdict}` }, trial.verdict), " ",
      trial.verdict === "expected" ? `${what(trial)}: ${trial.why}` : trial.why || what(trial)),
  ];
  if (trial.expectation) parts.push(element("p", { class: "where" }, `Expectation: ${trial.expectation}`));
  if (/^https?:/.test(trial.link))
    parts.push(element("p", {}, element("a", { href: trial.link, rel: "noreferrer" }, trial.link)));
  if (trial.diagnostic !== null)
    parts.push(element("h3", {}, "Diagnostic"),
      element("pre", { tabindex: "0", dir: "auto" }, data.diagnostics[trial.diagnostic]));
  parts.push(element("h3", {}, `Stages, ${seconds(trial.total)}`), stages(trial));
  parts.push(element("h3", {}, "Run it again"), element("pre", { class: "command", tabindex: "0" }, command(trial)));
  parts.push(element("h3", {}, "Where it ran"), facts(trial));
  dialog.replaceChildren(element("div", { class: "detail" }, ...parts));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function seconds(milliseconds) {
  return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

function stages(trial) {
  const list = element("div", { class: "stages" });
  const longest = Math.max(...trial.times, 0.001);
  trial.times.forEach((time, i) => {
    if (time === null) return;
    const ended = data.stages[i] === trial.stage;
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * time) / longest}%`;
    list.append(
      element("span", { class: ended ? "ended" : "" }, data.stages[i] + (ended ? " (ended here)" : "")),
      bar, element("span", { class: "time" }, seconds(time)));
  });
  if (!list.children.length) list.append("none was reached");
  return list;
}

function command(trial) {
  const cell = trial.cell.split("@")[0];
  return `pnnx-parity run --cell ${cell} -k ${trial.case} --frontend ${trial.frontend} --target ${trial.target} --device ${trial.device}`;
}

function facts(trial) {
  const known = { run: trial.run, ...data.versions[trial.cell] };
  if (trial.attempts > 1) known.attempts = `${trial.attempts} (its runner died before)`;
  if (trial.peak) known["peak memory"] = `${trial.peak} MB`;
  const list = element("dl", { class: "run" });
  for (const [name, value] of Object.entries(known)) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

dialog.addEventListener("close", () => {
  if (location.hash.includes("trial=")) history.replaceState(null, "", address(null));
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // outside of its content
});

// --- Controls.

let pending = 0;
form.addEventListener("input", () => {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => {
    history.replaceState(null, "", address(null));
    draw();
  });
});
form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("input"))));
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || dialog.open || event.target.matches("input, select")) return;
  form.elements.q.focus();
  event.preventDefault();
});
addEventListener("hashchange", readAddress);
addEventListener("popstate", readAddress);

readAddress();
