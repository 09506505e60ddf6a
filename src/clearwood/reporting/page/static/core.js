// What every part of the script uses: elements, numbers, data, files to save.

/** @typedef {string | number | boolean | null} Cell */
/** @typedef {(element: HTMLElement, data: any) => void} Start */

/**
 * Parts of the page that come to life when they are scrolled near, by their kind.
 * @type {Record<string, Start>}
 */
const widgets = {};

/**
 * Pure functions that tests call from outside.
 * @type {Record<string, any>}
 */
const outside = {};

/**
 * Set an element's attributes, listeners and children. A text is always text, never markup.
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, any>} attributes `on` holds listeners by event; null and false are left out
 * @param {(Node | string | null)[]} children
 * @returns {E}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, /** @type {EventListener} */ (listener));
      }
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * Make an element: `el("button", { type: "button", on: { click: go } }, "Go")`.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Make an element of a drawing, as `el` does for the page.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {SVGElementTagNameMap[T]}
 */
function svgEl(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * Every element that a selector finds.
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement[]}
 */
function all(selector, within = document) {
  return Array.from(within.querySelectorAll(selector));
}

/**
 * Write a number with four digits that count, as the library does; whole ones from 1,000 on.
 * @param {number} value
 * @returns {string}
 */
function number(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1000)
    return value.toLocaleString("en", { maximumFractionDigits: 0 }).replace("-", "−");
  if (size > 0 && size < 1e-4)
    return value
      .toExponential(3)
      .replace(/\.?0*e/, "e")
      .replaceAll("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/**
 * The data of a part of the page.
 * @param {string} id
 * @returns {any}
 */
function readData(id) {
  return JSON.parse(document.getElementById(`data-${id}`)?.textContent ?? "null");
}

/**
 * One line of a CSV file; a cell is quoted where it must be.
 * @param {Cell[]} cells
 * @returns {string}
 */
function csvLine(cells) {
  return cells
    .map((cell) => {
      const text = cell === null ? "" : String(cell);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(",");
}

/**
 * Offer a table as a CSV file to save.
 * @param {string} name of the file, without its ending
 * @param {string[]} columns
 * @param {Cell[][]} rows
 */
function saveCsv(name, columns, rows) {
  const text = [columns, ...rows].map(csvLine).join("\r\n") + "\r\n";
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = el("a", { href: address, download: `${name}.csv`, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** @param {HTMLElement} element @returns {boolean} whether it is laid out, on the window or off it */
function isShown(element) {
  return element.clientWidth > 0 && (element.checkVisibility?.() ?? true);
}

/**
 * What has not come near yet, with what to do then.
 * @type {Map<HTMLElement, () => Promise<void> | void>}
 */
const waiting = new Map();

/**
 * Do something once an element comes near the window; elements that are not shown wait.
 * @param {HTMLElement} element
 * @param {() => Promise<void> | void} action
 */
function whenNear(element, action) {
  waiting.set(element, action);
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      if (waiting.delete(element)) action();
    },
    { rootMargin: "300px 0px" },
  );
  observer.observe(element);
}

/** Do now what waits for elements that are shown to come near: nobody scrolls on paper. */
async function drawAll() {
  const shown = Array.from(waiting).filter(([element]) => isShown(element));
  await Promise.all(shown.map(([element, action]) => waiting.delete(element) && action()));
}

/**
 * Call a function once things have been quiet for a moment.
 * @param {() => void} action
 * @param {number} milliseconds
 * @returns {() => void}
 */
function settled(action, milliseconds) {
  /** @type {number | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(action, milliseconds);
  };
}
