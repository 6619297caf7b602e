// The filters and the open trial stand in the address, so that a copied address shows the same.

const FILTERS = ["suite", "verdict", "outcome", "cell", "frontend", "export", "target", "device"];
const form = document.getElementById("filters");

for (const field of FILTERS) {
  const names = data.names[field].filter(Boolean);
  if (names.length < 2) continue;
  const select = element("select", { name: field }, element("option", { value: "" }, "all"));
  for (const name of [...names].sort()) select.append(element("option", { value: name }, name.replace("_", " ")));
  form.lastElementChild.before(element("label", {}, field, select));
}
form.hidden = false;

function controls() {
  return [...form.elements].filter((control) => control.name);
}

function address(trial) {
  const state = new URLSearchParams(controls().filter(({ value }) => value).map(({ name, value }) => [name, value]));
  if (trial) state.set("trial", trial.id);
  return `#${state}`;
}

function wanted() {
  const values = Object.fromEntries(controls().map(({ name, value }) => [name, value]));
  return { ...values, q: values.q.trim().toLowerCase() };
}

// A link to a section, or from a list of the page to a trial, leaves the filters as they are.
function readAddress() {
  const hash = location.hash.slice(1);
  const state = new URLSearchParams(hash);
  const id = state.get("trial");
  const trial = byId.get(id);
  const isState = !hash || hash.includes("=");
  const isTrialAlone = trial && [...state.keys()].length === 1;
  if (isState && !isTrialAlone) for (const control of controls()) control.value = state.get(control.name) ?? "";
  draw();
  if (id && !trial) shown.textContent = `This report has no trial ${id}. ${shown.textContent}`;
  if (trial) open(trial);
  else if (dialog.open) dialog.close();
  else if (hash && isState) document.getElementById("matrix").scrollIntoView();
}
