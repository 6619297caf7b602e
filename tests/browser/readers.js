// What a screen reader would not be told.
() => {
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (node) => (node.ariaLabel ?? node.textContent ?? "").trim()
    || document.getElementById(node.getAttribute("aria-labelledby"))?.textContent;
  for (const node of all("a, button, summary")) if (!name(node)) found.push(`no name: ${node.outerHTML}`);
  for (const node of all("input, select")) if (!node.labels.length) found.push(`no label: ${node.name}`);
  for (const node of all("nav, form, section, dialog[open], [role=region], [role=img], table#trials, meter"))
    if (!name(node) || !(node.ariaLabel || node.hasAttribute("aria-labelledby"))) found.push(`no label: ${node.outerHTML.slice(0, 80)}`);
  for (const node of all("th")) if (!node.scope) found.push(`no scope: ${node.textContent}`);
  for (const node of all("[tabindex]")) if (node.tabIndex > 0) found.push(`order forced: ${node.outerHTML}`);
  const ids = all("[id]").map((node) => node.id);
  if (new Set(ids).size < ids.length) found.push("an id twice");
  let level = 0;
  for (const node of all("h1, h2, h3, h4")) {
    const next = Number(node.tagName[1]);
    if (next > level + 1) found.push(`heading skips a level: ${node.textContent}`);
    level = next;
  }
  for (const landmark of ["header", "nav", "main"])
    if (all(`body > ${landmark}`).length !== 1) found.push(`not one ${landmark}`);
  if (all("h1").length !== 1) found.push("not one h1");
  if (!document.documentElement.lang || !document.title) found.push("no language or title");
  if (document.getElementById("shown").ariaLive !== "polite") found.push("the number of hits is not told");
  return found;
}
