// The list of rows to choose from: searched, sorted, walked with the arrow keys.

const ROWS_AT_ONCE = 50;
const COLUMNS_LISTED = 4;

/**
 * @typedef {object} RowList
 * @property {HTMLElement} element
 * @property {() => void} redraw
 * @property {(row: number) => void} mark
 */

/**
 * @typedef {object} RowOrder
 * @property {string} name
 * @property {string} words what the order means
 * @property {(row: number) => number} key rows with the largest come first
 */

/**
 * What is listed of a row beside its values.
 * @typedef {{head: string, text: (row: number) => string, number: boolean, isError?: boolean}} RowFact
 */

/** @param {RowColumn} column */
function isNumeric(column) {
  return column.kind === "number" || column.kind === "whole";
}

/**
 * @param {any} data
 * @param {any[][]} rows
 * @param {RowOrder[]} orders
 * @param {() => RowFact[]} factsNow
 * @param {(row: number) => void} choose
 * @param {string} id
 * @returns {RowList}
 */
function makeRowList(data, rows, orders, factsNow, choose, id) {
  let facts = factsNow();
  /** @type {RowColumn[]} */
  const columns = data.columns;
  const listed = data.order.slice(0, COLUMNS_LISTED);
  let open = ROWS_AT_ONCE;
  let order = 0;
  let chosen = -1;
  let wanted = "";
  /** @type {number[]} */
  let found = [];
  /** @type {string[] | null} */
  let texts = null;

  const search = el("input", { type: "search", id: `${id}-find`, placeholder: "Find a row", "aria-label": "Find rows: any value, or column=value", on: { input: () => { wanted = search.value.trim().toLocaleLowerCase(); open = ROWS_AT_ONCE; redraw(); } } });
  const select = el("select", { id: `${id}-order`, on: { change: () => { order = select.selectedIndex; open = ROWS_AT_ONCE; redraw(); } } },
    ...orders.map(({ name }, k) => el("option", { value: k }, name)));
  const status = el("span", { class: "count", role: "status" });
  const words = el("p", { class: "rows-words" });
  const body = el("tbody", { on: { keydown: move } });
  const head = el("tr");
  const table = el("table", {}, el("thead", {}, head), body);
  const more = el("button", { type: "button", class: "quiet", on: { click: () => { open += 4 * ROWS_AT_ONCE; redraw(); } } });
  const element = el("div", { class: "rows-choose" },
    el("div", { class: "rows-tools" }, search, el("label", { for: select.id }, "Sort by"), select, status,
      el("button", { type: "button", class: "quiet", "aria-label": "Save CSV of the rows", on: { click: save } }, "Save CSV")),
    words,
    el("div", { class: "rows-scroll", role: "region", "aria-label": "Rows to choose from", tabindex: 0 }, table, more));

  /** Save the rows that are found, in their order, with every column. */
  function save() {
    const head = ["row", ...facts.map(({ head: name }) => name), ...columns.map(({ name }) => name)];
    const lines = found.map((row) => [data.labels[row], ...facts.map(({ text }) => text(row)), ...columns.map((column, k) =>
      (rows[row][k] === null ? null : column.kind === "number" || column.kind === "whole" ? rows[row][k] : valueText(column, rows[row][k])))]);
    saveCsv(id, head, lines);
  }

  /** @param {number} row */
  function textOf(row) {
    texts ??= rows.map((values, at) => {
      const cells = columns.map((column, k) => `${column.name}=${valueText(column, values[k])}`);
      return [`row ${data.labels[at]}`, ...facts.map(({ head, text }) => `${head}=${text(at)}`), ...cells].join("\n").toLocaleLowerCase();
    });
    return texts[row];
  }

  function redraw() {
    facts = factsNow();
    const heads = [
      { name: "Row", right: false },
      ...facts.map(({ head: name, number: right }) => ({ name, right })),
      ...listed.map((/** @type {number} */ k) => ({ name: columns[k].name, right: isNumeric(columns[k]) })),
    ];
    head.replaceChildren(...heads.map(({ name, right }) => el("th", { scope: "col", dir: "auto", class: right ? "number" : null }, name)));
    const terms = wanted.split(/\s+/).filter(Boolean);
    const everyone = rows.map((_, row) => row);
    found = terms.length ? everyone.filter((row) => wanted && (textOf(row).includes(wanted) || terms.every((term) => textOf(row).includes(term)))) : everyone;
    const keys = rows.map((_, row) => orders[order].key(row));
    found.sort((a, b) => (keys[b] - keys[a]) || a - b);
    words.textContent = orders[order].words;
    status.textContent = terms.length ? `${found.length.toLocaleString("en")} of ${count(rows.length, "row")}` : count(rows.length, "row");
    body.replaceChildren(...found.slice(0, open).map(lineOf));
    if (!found.length) body.append(el("tr", {}, el("td", { colspan: heads.length }, "No row matches.")));
    more.hidden = found.length <= open;
    more.textContent = `Show more of the ${count(found.length, "row")}`;
    mark(chosen);
  }

  /** @param {number} row */
  function lineOf(row) {
    const button = el("button", { type: "button", class: "row-pick", "data-row": row, tabindex: -1, "aria-pressed": "false" }, String(data.labels[row]));
    const cells = [
      ...facts.map(({ text, number }) => el("td", { class: number ? "number" : null, dir: number ? null : "auto" }, text(row))),
      ...listed.map((/** @type {number} */ k) => el("td", { class: isNumeric(columns[k]) ? "number" : null, dir: isNumeric(columns[k]) ? null : "auto" }, valueText(columns[k], rows[row][k]))),
    ];
    return el("tr", { on: { click: () => choose(row) } }, el("th", { scope: "row" }, button), ...cells);
  }

  /** @param {number} row */
  function mark(row) {
    chosen = row;
    const buttons = /** @type {HTMLButtonElement[]} */ (all(".row-pick", body));
    let reachable = null;
    for (const button of buttons) {
      const is = Number(button.dataset.row) === row;
      button.setAttribute("aria-pressed", String(is));
      button.closest("tr")?.classList.toggle("chosen", is);
      button.tabIndex = -1;
      if (is) reachable = button;
    }
    const stop = reachable ?? buttons[0];
    if (stop) stop.tabIndex = 0;
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const buttons = all(".row-pick", body);
    const here = buttons.findIndex((button) => button === event.target);
    const last = buttons.length - 1;
    const there = { ArrowDown: Math.min(last, here + 1), ArrowUp: Math.max(0, here - 1), Home: 0, End: last, PageDown: Math.min(last, here + 10), PageUp: Math.max(0, here - 10) }[event.key];
    if (here < 0 || there === undefined) return;
    event.preventDefault();
    choose(Number(buttons[there].dataset.row));
    buttons[there].focus();
  }

  redraw();
  return { element, redraw, mark };
}
