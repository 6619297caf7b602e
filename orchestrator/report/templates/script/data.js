"use strict";
// The trials of the report. All text comes from JSON and is set as text, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);

const trials = [...data.rows, ...data.missing].map((values) => {
  const trial = {};
  data.fields.forEach((field, i) => {
    const names = data.names[field];
    trial[field] = names ? names[values[i]] : values[i];
  });
  trial.from = trial.frontend + (trial.export === "plain" ? "" : ` ${trial.export}`);
  trial.to = trial.target + (trial.device === "cpu" ? "" : ` on ${trial.device}`);
  trial.path = `${trial.from} → ${trial.to}`;
  trial.column = [trial.cell, trial.from, trial.to].join("/");
  const words = [trial.cell, trial.case, trial.frontend, trial.target, trial.device];
  trial.id = (trial.export === "plain" ? words : [...words, trial.export]).join("/");
  trial.total = trial.times.reduce((sum, time) => sum + (time ?? 0), 0);
  return trial;
});
if (data.missing.length) trials.sort((a, b) => (a.case < b.case ? -1 : a.case > b.case ? 1 : 0));
const byId = new Map(trials.map((trial) => [trial.id, trial]));

function what(trial) {
  return trial.outcome.replace("_", " ") + (trial.stage ? ` at ${trial.stage}` : "");
}

function described(trial) {
  return `${trial.case}, ${trial.cell}, ${trial.path}: ${what(trial)}, ${trial.verdict}`;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
