// Runs before the page is painted, so that it never flashes in the other theme.
(() => {
  "use strict";
  let theme = null;
  try {
    theme = localStorage.getItem("clearwood-theme");
  } catch {
    // a sandboxed frame has no storage
  }
  if (theme !== "light" && theme !== "dark") {
    theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.dataset.theme = theme;
  document.documentElement.classList.add("live");
})();
