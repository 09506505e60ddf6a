// The data behind a chart, as tables and files.

/** @typedef {{ columns: string[], rows: Cell[][] }} Rows */

/**
 * A disclosure that makes the tables when it is first opened.
 * @param {HTMLElement} figure
 * @returns {HTMLElement}
 */
function chartData(figure) {
  const title = figure.querySelector(".chart-title")?.textContent ?? "";
  const summary = el("summary", {}, "Data", el("span", { class: "unseen" }, ` of: ${title}`));
  const details = el("details", { class: "data" }, summary);
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const tables = chartTables(readData(figure.id));
    tables.forEach((table, place) => {
      const name = tables.length > 1 ? `${figure.id}-${place + 1}` : figure.id;
      details.append(makeSheet(name, table));
    });
    if (!tables.length) details.append(el("p", {}, "This chart has no data."));
  });
  return details;
}

/**
 * The tables behind a chart: its own, or the data of its specification.
 * @param {{ spec: Spec, table?: Record<string, Cell[]> }} data
 * @returns {Rows[]}
 */
function chartTables(data) {
  if (data.table) {
    const columns = Object.keys(data.table);
    const first = data.table[columns[0]] ?? [];
    return [
      {
        columns,
        rows: first.map((_, row) => columns.map((name) => data.table?.[name][row] ?? null)),
      },
    ];
  }
  /** @type {Map<string, Rows>} */
  const found = new Map();
  const add = (/** @type {any[]} */ records) => {
    const columns = Array.from(new Set(records.flatMap((record) => Object.keys(record))));
    const rows = records.map((record) => columns.map((name) => record[name] ?? null));
    found.set(JSON.stringify([columns, rows]), { columns, rows });
  };
  const look = (/** @type {any} */ value) => {
    if (value === null || typeof value !== "object") return;
    for (const [key, item] of Object.entries(value)) {
      if (key === "values" && Array.isArray(item) && typeof item[0] === "object") add(item);
      else if (key === "datasets") Object.values(item).forEach(add);
      else look(item);
    }
  };
  look(unpackSpec(data.spec));
  const tables = Array.from(found.values());
  const long = tables.filter((table) => table.rows.length > 1);
  return long.length ? long : tables; // one row beside longer tables is a line to compare with
}
