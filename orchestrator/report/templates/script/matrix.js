// The matrix: a row for each case, a column for each path in each cell.

const shown = document.getElementById("shown");
const table = document.getElementById("trials");

let drawn = null; // the filters that the matrix was drawn for
let hits = new Set(); // the trials that they let through
let pending = []; // functions that make the rows still to come
let tabStop = null; // the one cell of the table that Tab stops at: keys move from there

function matches(trial, filters) {
  return FILTERS.every((field) => !filters[field] || trial[field] === filters[field]) && says(trial, filters.q);
}

function says(trial, q) {
  if (!q || trial.case.toLowerCase().includes(q)) return true;
  return trial.diagnostic !== null && data.diagnostics[trial.diagnostic].toLowerCase().includes(q);
}

function draw() {
  const filters = wanted();
  if (JSON.stringify(filters) === drawn) return;
  drawn = JSON.stringify(filters);
  hits = new Set(trials.filter((trial) => matches(trial, filters)));
  const rows = new Map();
  for (const trial of hits) rows.set(trial.case, new Map());
  // What else stands in these rows and columns is shown dimmed.
  const inColumn = (trial) =>
    ["cell", ...Object.keys(data.order)].every((field) => !filters[field] || trial[field] === filters[field]);
  const columns = new Map();
  for (const trial of trials) {
    if (!rows.has(trial.case) || !inColumn(trial)) continue;
    columns.set(trial.column, trial);
    rows.get(trial.case).set(trial.column, trial);
  }
  const ordered = [...columns.values()].sort(inOrder);
  setWidth(ordered);
  table.replaceChildren(heads(ordered), element("tbody"));
  pending = [...rows].map(([name, row]) => () => makeRow(name, row, ordered));
  makeRows(40);
  tabStop = table.querySelector("td[tabindex]");
  if (tabStop) tabStop.tabIndex = 0;
  const count = (number) => number.toLocaleString("en");
  shown.textContent =
    `${count(rows.size)} of ${count(data.names.case.length)} cases, ` +
    `${count(hits.size)} of ${count(trials.length)} trials` + (hits.size ? "" : ": nothing matches these filters");
}

// The first rows are made at once, the others while nothing else is to do.
function makeRows(number) {
  table.tBodies[0].append(...pending.splice(0, number).map((make) => make()));
  if (pending.length) whenIdle(drawn);
}

function whenIdle(filters) {
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 20));
  later(() => filters === drawn && pending.length && makeRows(30));
}

// Widths are fixed: a browser lays out ten thousand cells several times as fast as when it measures them.
function setWidth(columns) {
  const cells = new Set(columns.map((trial) => trial.cell)).size;
  const column = Math.max(36, (112 * cells) / Math.max(columns.length, 1));
  const corner = Math.min(260, innerWidth * 0.4);
  table.style.width = `${corner + column * columns.length}px`;
  table.style.setProperty("--corner", `${corner}px`);
}

// Columns by cell, then by path in the order in which people name them.
function inOrder(a, b) {
  if (a.cell !== b.cell) return a.cell < b.cell ? -1 : 1;
  const place = (trial) => Object.entries(data.order).reduce((sum, [field, names]) => 10 * sum + names.indexOf(trial[field]), 0);
  return place(a) - place(b);
}

function startsCell(columns, i) {
  return columns[i].cell !== columns[i - 1]?.cell;
}

function heads(columns) {
  const head = element("thead");
  const levels = ["cell", "from", "to"];
  levels.forEach((field, level) => {
    const row = element("tr");
    if (level === 0) row.append(element("th", { class: "corner", scope: "col", rowspan: levels.length }, "case"));
    let last = null;
    columns.forEach((trial, i) => {
      const key = levels.slice(0, level + 1).map((part) => trial[part]).join("/");
      if (key === last?.key) {
        last.th.colSpan += 1;
        return;
      }
      const classes = (level ? "leaf" : "") + (startsCell(columns, i) ? " first" : "");
      const th = element("th", { scope: level < 2 ? "colgroup" : "col", class: classes }, trial[field]);
      last = { key, th };
      row.append(th);
    });
    head.append(row);
  });
  return head;
}

function makeRow(name, row, columns) {
  const parts = name.split(/(?<=_)/).flatMap((part) => [part, element("wbr")]);
  const tr = element("tr", {}, element("th", { scope: "row", title: name }, ...parts));
  columns.forEach((column, i) => {
    const trial = row.get(column.column);
    const td = element("td", { class: "glyph" + (startsCell(columns, i) ? " first" : "") });
    if (trial) {
      td.append(element("span", { class: `g ${trial.verdict}` }, data.glyphs[trial.outcome]));
      td.ariaLabel = described(trial);
      td.tabIndex = -1;
      td.trial = trial;
      if (!hits.has(trial)) td.classList.add("dim");
    }
    tr.append(td);
  });
  return tr;
}

function focusCell(td) {
  tabStop.tabIndex = -1;
  tabStop = td;
  tabStop.tabIndex = 0;
  tabStop.focus();
}

function cellOf(trial) {
  makeRows(pending.length);
  return [...table.querySelectorAll("td[tabindex]")].find((td) => td.trial === trial);
}

const STEPS = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], k: [-1, 0], j: [1, 0],
  Home: [0, -Infinity], End: [0, Infinity], PageUp: [-15, 0], PageDown: [15, 0],
};

function move(td, [down, right]) {
  makeRows(pending.length);
  const rows = table.tBodies[0].rows;
  let [row, column] = [td.parentElement.sectionRowIndex, td.cellIndex];
  while (down || right) {
    row += Math.sign(down);
    column += Math.sign(right);
    const next = rows[row]?.cells[column];
    if (!next || column === 0) break;
    if (!next.trial) continue;
    td = next;
    down -= Math.sign(down);
    right -= Math.sign(right);
  }
  focusCell(td);
}

table.addEventListener("keydown", (event) => {
  const td = event.target.closest("td");
  if (!td?.trial || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in STEPS) move(td, STEPS[event.key]);
  else if (event.key === "Enter" || event.key === " ") show(td.trial);
  else return;
  event.preventDefault();
  event.stopPropagation();
});
table.addEventListener("click", (event) => {
  const td = event.target.closest("td");
  if (td?.trial) show(td.trial);
});
table.addEventListener("mouseover", (event) => {
  const td = event.target.closest("td");
  if (td?.trial) td.title = td.ariaLabel;
});
addEventListener("beforeprint", () => makeRows(pending.length));
