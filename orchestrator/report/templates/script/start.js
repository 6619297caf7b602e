// What the filters and the keys do, and the first look at the address.

let frame = 0;
form.addEventListener("input", () => {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    history.replaceState(null, "", address(null));
    draw();
  });
});
form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("input"))));
form.addEventListener("submit", (event) => event.preventDefault());

function enterMatrix() {
  if (tabStop) focusCell(tabStop);
}

const search = form.elements.q;
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") enterMatrix();
  else if (event.key !== "Escape") return;
  else if (!search.value) search.blur();
  else form.reset();
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (dialog.open || event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") search.focus();
  else if (event.key === "j" || event.key === "k") enterMatrix();
  else return;
  event.preventDefault();
});
addEventListener("hashchange", readAddress);

readAddress();
