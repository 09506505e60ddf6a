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

/** Significant digits in sentences, in tables, and of a column's own values. */
const IN_SENTENCES = 3;
const IN_TABLES = 4;
const OF_VALUES = 6;

/**
 * Write a number as the library does: significant digits, thousands apart, an exponent only if long.
 * @param {number} value
 * @param {number} [digits]
 * @returns {string}
 */
function number(value, digits = IN_TABLES) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "" : value > 0 ? "∞" : "−∞";
  const rounded = Number(value.toPrecision(digits));
  if (rounded === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(rounded)) + 1e-12);
  const text =
    power > -6 && power < 12
      ? rounded.toLocaleString("en", { maximumFractionDigits: Math.max(0, digits - 1 - power) })
      : String(Number(rounded.toExponential().split("e")[0])) + `e${power}`;
  return text.replaceAll("-", "−");
}

/**
 * Write how many there are of something.
 * @param {number} n
 * @param {string} noun
 * @param {string} [plural]
 */
function count(n, noun, plural = `${noun}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
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
  saveText(`${name}.csv`, [columns, ...rows].map(csvLine).join("\r\n") + "\r\n");
}

/**
 * Offer a text as a file to save.
 * @param {string} name of the file
 * @param {string} text
 */
function saveText(name, text) {
  const type = `text/${name.endsWith(".csv") ? "csv" : "plain"};charset=utf-8`;
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: address, download: name, hidden: true });
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
