// Tables: sorted by their heads, searched, shown in full on demand, saved as CSV.

/** How many rows of a chart's data are put into the page; the file to save has all. */
const MOST_ROWS = 500;

/**
 * What stands in a cell: the number behind the text where there is one.
 * @param {HTMLTableCellElement} cell
 * @returns {Cell}
 */
function cellValue(cell) {
  const text = cell.querySelector("data")?.value ?? cell.textContent ?? "";
  if (text === "") return null;
  return cell.classList.contains("number")
    ? Number(text.replace("inf", "Infinity").replace("−", "-").replaceAll(",", ""))
    : text;
}

/**
 * Order two cells; empty ones come last whichever way.
 * @param {Cell} a
 * @param {Cell} b
 * @param {number} direction 1 or -1
 * @returns {number}
 */
function compareCells(a, b, direction) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  return direction * String(a).localeCompare(String(b), "en", { numeric: true });
}

/**
 * Bring a table to life.
 * @param {HTMLElement} figure
 * @param {Rows} [whole] the data, where the table shows a part of it
 */
function startSheet(figure, whole) {
  const table = /** @type {HTMLTableElement} */ (figure.querySelector("table"));
  const body = table.tBodies[0];
  const heads = Array.from(/** @type {HTMLTableSectionElement} */ (table.tHead).rows[0].cells);
  const columns = heads.map((head) => head.textContent ?? "");
  const lines = Array.from(body.rows, (row) => ({ row, values: Array.from(row.cells, cellValue) }));
  const inOrder = lines.slice();
  const shown = Number(figure.dataset.shown ?? lines.length);
  let open = lines.length <= shown;
  let wanted = "";

  const rest = el("button", {
    type: "button",
    class: "quiet",
    on: {
      click: () => {
        open = !open;
        show();
      },
    },
  });
  const paper = el("p", { class: "paper" }); // says what paper leaves out
  const status = el("span", { class: "count", role: "status" });
  const search = el("input", {
    type: "search",
    placeholder: "Find",
    "aria-label": `Find in: ${caption()}`,
    on: {
      input: () => {
        wanted = search.value.trim().toLocaleLowerCase();
        show();
      },
    },
  });
  const save = el(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": `Save CSV: ${caption()}`,
      on: {
        click: () =>
          saveCsv(
            figure.id || "table",
            whole?.columns ?? columns,
            whole?.rows ?? inOrder.map((line) => line.values),
          ),
      },
    },
    "Save CSV",
  );

  /** @returns {string} */
  function caption() {
    return figure.querySelector("figcaption")?.textContent?.trim() ?? "";
  }

  function show() {
    const found = lines.filter(
      (line) => !wanted || (line.row.textContent ?? "").toLocaleLowerCase().includes(wanted),
    );
    const kept = new Set(open ? found : found.slice(0, shown));
    for (const line of lines) line.row.hidden = !kept.has(line);
    rest.hidden = found.length <= shown;
    rest.textContent = open
      ? `Show ${count(shown, "row")}`
      : `Show all ${count(found.length, "row")}`;
    rest.setAttribute("aria-expanded", String(open));
    paper.textContent = kept.size < lines.length ? `${kept.size.toLocaleString("en")} of ${count(lines.length, "row")}` : "";
    status.textContent = wanted
      ? `${found.length.toLocaleString("en")} of ${count(lines.length, "row")}`
      : "";
  }

  heads.forEach((head, place) => {
    if (lines.length < 2) return;
    const name = Array.from(head.childNodes);
    const button = el(
      "button",
      { type: "button", class: "sort", on: { click: () => sort(place) } },
      ...name,
    );
    head.append(button);
  });

  /** @param {number} place */
  function sort(place) {
    const head = heads[place];
    const first = head.classList.contains("number") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const direction = order === "ascending" ? 1 : -1;
    lines.sort((a, b) => compareCells(a.values[place], b.values[place], direction));
    body.append(...lines.map((line) => line.row));
    show();
  }

  reachWhenWide(/** @type {HTMLElement} */ (table.parentElement), table);
  figure.append(
    el("div", { class: "sheet-tools" }, lines.length > 10 ? search : null, status, rest, save),
    paper,
  );
  show();
}

/**
 * Let a table that is wider than its place be reached and scrolled by keyboard; others are no stop.
 * @param {HTMLElement} box
 * @param {HTMLElement} table
 */
function reachWhenWide(box, table) {
  const look = () => {
    const wide = box.scrollWidth > box.clientWidth;
    // its label needs a role; a group is no landmark to pass on the way through the page
    fill(box, wide ? { tabindex: 0, role: "region" } : { role: "group" }, []);
    if (!wide) box.removeAttribute("tabindex");
  };
  const observer = new ResizeObserver(look);
  observer.observe(box);
  observer.observe(table);
}

/**
 * Make a table of a chart's data.
 * @param {string} name
 * @param {Rows} data
 * @returns {HTMLElement}
 */
function makeSheet(name, data) {
  const numeric = data.columns.map((_, place) =>
    data.rows.every((row) => row[place] === null || typeof row[place] === "number"),
  );
  const kind = (/** @type {number} */ place) =>
    numeric[place] ? { class: "number" } : { dir: "auto" };
  const total = count(data.rows.length, "row");
  const shown = data.rows.slice(0, MOST_ROWS);
  const caption =
    shown.length < data.rows.length
      ? `The first ${shown.length} of ${total}; the CSV file has all`
      : total;

  const head = data.columns.map((column, place) =>
    el("th", { scope: "col", ...kind(place) }, column),
  );
  const body = shown.map((row) => {
    const cells = row.map((cell, place) => el("td", kind(place), writtenCell(cell)));
    return el("tr", {}, ...cells);
  });
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body));
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": `Data of ${name}` };
  const figure = el(
    "figure",
    { class: "sheet", id: `${name}-data`, "data-shown": 10 },
    el("figcaption", {}, caption),
    el("div", scroll, table),
  );
  startSheet(figure, data);
  return figure;
}

/** @param {Cell} cell @returns {Node | string} */
function writtenCell(cell) {
  if (typeof cell === "number") return el("data", { value: cell }, number(cell));
  return cell === null ? "" : String(cell);
}
