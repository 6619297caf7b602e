// The detail of a trial, in a dialog.

const dialog = document.getElementById("detail");

let current = null; // the open trial
let hasMoved = false; // to a trial beside the one that was opened

function show(trial) {
  history.pushState(null, "", address(trial));
  open(trial);
}

function open(trial) {
  hasMoved = dialog.open;
  current = trial;
  const focused = document.activeElement.title;
  dialog.replaceChildren(element("div", { class: "detail" }, ...parts(trial)));
  if (!dialog.open) dialog.showModal();
  const buttons = [...dialog.querySelectorAll("button")];
  (buttons.find(({ title }) => title === focused) ?? dialog.querySelector(".close")).focus();
  dialog.scrollTop = 0;
}

// The trials that the filters let through follow each other as in the matrix.
function step(by) {
  const list = hits.has(current) ? [...hits] : trials;
  const next = list[list.indexOf(current) + by];
  if (!next) return;
  history.replaceState(null, "", address(next));
  open(next);
}

function button(text, label, work, kind = "") {
  const made = element("button", { type: "button", class: kind, "aria-label": label, title: label }, text);
  made.addEventListener("click", work);
  return made;
}

function* parts(trial) {
  yield element("header", {},
    element("div", {},
      element("h2", { id: "detail-title" }, trial.case),
      element("p", { class: "where" }, `${trial.path} in ${trial.cell}`)),
    element("div", { class: "buttons" },
      button("‹", "Previous trial (k)", () => step(-1)),
      button("›", "Next trial (j)", () => step(1)),
      button("Close", "Close (Esc)", () => dialog.close(), "close")));
  yield element("p", { class: "verdictline" },
    element("span", { class: `badge ${trial.verdict}` }, trial.verdict), " ",
    trial.verdict === "expected" ? `${what(trial)}: ${trial.why}` : trial.why || what(trial));
  if (trial.verdict === "missing") yield element("p", {}, "continue with ", element("code", {}, `pnnx-parity run --resume ${trial.run}`));
  if (trial.expectation) yield element("p", { class: "where" }, `Expectation: ${trial.expectation}`);
  if (/^https?:/.test(trial.link))
    yield element("p", {}, element("a", { href: trial.link, rel: "noreferrer" }, trial.link));
  if (trial.diagnostic !== null) {
    yield element("h3", {}, "Diagnostic");
    yield element("pre", { tabindex: "0", dir: "auto" }, data.diagnostics[trial.diagnostic]);
    yield element("p", { class: "where" }, "whole, as it was written, in ", element("code", {}, `${trial.run}/results.jsonl`));
  }
  yield element("h3", {}, `Stages, ${duration(trial.total)}`);
  yield stages(trial);
  yield element("h3", {}, "Run it again");
  const words = commandOf(trial).flatMap((word) => [" ", element("span", {}, word)]).slice(1);
  const command = element("pre", { class: "command", tabindex: "0" }, ...words);
  yield element("div", { class: "again" }, command, button("Copy", "Copy the command", (event) => copy(command, event.target)));
  yield element("h3", {}, "Where it ran");
  yield facts(trial);
}

function duration(milliseconds) {
  return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

function stages(trial) {
  const list = element("div", { class: "stages" });
  const longest = Math.max(...trial.times, 0.001);
  trial.times.forEach((time, i) => {
    if (time === null) return;
    const isEnd = data.stages[i] === trial.stage;
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * time) / longest}%`;
    list.append(
      element("span", { class: isEnd ? "ended" : "" }, data.stages[i] + (isEnd ? " (ended here)" : "")),
      bar, element("span", { class: "time" }, duration(time)));
  });
  if (!list.children.length) list.append("none was reached");
  return list;
}

function commandOf(trial) {
  const options = { cell: trial.cell.split("@")[0], frontend: trial.frontend, target: trial.target, device: trial.device };
  if (trial.export !== "plain") options.export = trial.export;
  if (data.onRequest.includes(trial.suite)) options.suite = trial.suite;
  const words = Object.entries(options).map(([name, value]) => `--${name} ${value}`);
  return ["pnnx-parity run", `--case ${trial.case}`, ...words];
}

// Some browsers give a page that was opened as a file no clipboard: there the selection is copied.
async function copy(source, told) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    told.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    told.textContent = document.execCommand("copy") ? "Copied" : "Selected";
  }
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
  if (hasMoved) cellOf(current)?.focus();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // outside of its content
});
dialog.addEventListener("keydown", (event) => {
  const by = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  step(by);
  event.preventDefault();
});
