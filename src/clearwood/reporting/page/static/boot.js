// The page as a whole: theme, contents, paper; and everything else is started here.

const root = document.documentElement;

const isDark = () => root.dataset.theme === "dark";

/** @param {string} theme light or dark */
function setTheme(theme) {
  root.dataset.theme = theme;
  document.getElementById("dark")?.setAttribute("aria-pressed", String(isDark()));
  redrawCharts();
  document.dispatchEvent(new Event("clearwood-theme"));
}

/** Keep the reader's choice; a sandboxed frame has no storage, there it lasts as long as the page. */
function keepTheme() {
  try {
    localStorage.setItem("clearwood-theme", root.dataset.theme ?? "");
  } catch {
    return;
  }
}

function startTools() {
  const switchTheme = () => {
    setTheme(isDark() ? "light" : "dark");
    keepTheme();
  };
  const print = async () => {
    await drawAll();
    window.print();
  };
  const pressed = { id: "dark", "aria-pressed": String(isDark()) };
  document.getElementById("tools")?.append(
    el(
      "button",
      { type: "button", class: "quiet", ...pressed, on: { click: switchTheme } },
      "Dark",
    ),
    // a sandboxed frame may not print
    window.self === window.top
      ? el("button", { type: "button", class: "quiet", on: { click: print } }, "Print")
      : "",
  );
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (wish) =>
    setTheme(wish.matches ? "dark" : "light"),
  );
}

/** Mark the chapter that is being read in the contents. */
function followReading() {
  const contents = document.querySelector(".contents");
  const links = new Map(all(".contents a").map((link) => [link.getAttribute("href"), link]));
  const mark = (/** @type {HTMLElement | undefined} */ link) => {
    for (const other of links.values()) other.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "true");
    contents?.scrollTo({ left: (link?.offsetLeft ?? 0) - 24 }); // where it is a bar
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) mark(links.get(`#${entry.target.id}`));
      }
    },
    { rootMargin: "-15% 0px -80% 0px" },
  );
  mark(links.values().next().value);
  all(".chapter").forEach((chapter) => observer.observe(chapter));
}

/** Paper is light, and nobody can scroll on it. */
function prepareForPaper() {
  /** @type {string | undefined} */
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    if (theme === "dark") setTheme("light");
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    if (theme === "dark") setTheme(theme);
  });
}

/** @param {HTMLElement} widget */
function startWidget(widget) {
  const start = widgets[widget.dataset.widget ?? ""];
  const live = /** @type {HTMLElement | null} */ (widget.querySelector(".widget-live"));
  if (!start || !live) return;
  widget.classList.add("started");
  whenNear(widget, () => start(live, readData(widget.id)));
}

function boot() {
  all(".choice").forEach(startChoice);
  all("figure.sheet").forEach((figure) => startSheet(figure));
  all("figure.chart").forEach(startChart);
  all(".widget").forEach(startWidget);
  startTools();
  followReading();
  prepareForPaper();
  Object.assign(outside, { number, count, percent, csvLine, drawAll });
  Object.assign(window, { clearwood: outside });
}
