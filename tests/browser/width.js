// What sticks out of the page on the right, where it cannot be scrolled within a part.
() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest(".scroll, nav ul"))
    .map((node) => node.outerHTML.slice(0, 120));
}
