// What if: a control for every column of a row.

const MOST_CONTROLS = 12;

/**
 * @typedef {object} Controls
 * @property {HTMLElement} element
 * @property {(values: any[], original: any[]) => void} show write values into the controls
 */

/**
 * Make the controls.
 * @param {RowColumn[]} columns
 * @param {number[]} order the columns from the most important on
 * @param {string} id unique on the page
 * @param {(column: number, value: any) => void} change
 * @param {() => void} reset
 * @returns {Controls}
 */
function makeControls(columns, order, id, change, reset) {
  const usable = order.filter((k) => columns[k].kind !== "text");
  const controls = new Map(usable.map((k) => [k, makeControl(columns[k], `${id}-${k}`, (value) => change(k, value))]));
  const element = el("div", { class: "if-controls" });
  const lines = usable.map((k) => /** @type {Control} */ (controls.get(k)).element);
  element.append(...lines.slice(0, MOST_CONTROLS));
  if (lines.length > MOST_CONTROLS) {
    const rest = el("details", { class: "if-rest" },
      el("summary", {}, count(lines.length - MOST_CONTROLS, "other column")),
      ...lines.slice(MOST_CONTROLS));
    element.append(rest);
  }
  const button = el("button", { type: "button", class: "quiet if-reset", disabled: true, on: { click: reset } }, "Reset all values");
  element.append(el("div", { class: "if-foot" }, button));
  return {
    element,
    show(values, original) {
      for (const [k, control] of controls) control.show(values[k], original[k]);
      button.disabled = values.every((value, k) => value === original[k]);
    },
  };
}

/**
 * @typedef {object} Control
 * @property {HTMLElement} element
 * @property {(value: any, original: any) => void} show
 */

/**
 * @param {RowColumn} column
 * @param {string} id
 * @param {(value: any) => void} change
 * @returns {Control}
 */
function makeControl(column, id, change) {
  const note = el("span", { class: "if-note", id: `${id}-note` });
  /** @type {any} */
  let first = null;
  const back = el("button", { type: "button", class: "if-back", hidden: true, on: { click: () => change(first) } });
  const made = column.kind === "level" ? levelControl(column, id, change)
    : column.kind === "date" ? dateControl(column, id, change)
    : numberControl(column, id, change);
  const label = el("label", { for: made.for, dir: "auto", title: column.name }, column.name);
  const element = el("div", { class: "if-line" }, el("div", { class: "if-name" }, label, back), made.element, note);
  return {
    element,
    show(value, original) {
      first = original;
      made.show(value);
      const changed = value !== original;
      element.classList.toggle("changed", changed);
      back.hidden = !changed;
      back.textContent = `was ${valueText(column, original)}`;
      back.setAttribute("aria-label", `${column.name}: back to ${valueText(column, original)}`);
      note.textContent = remark(column, value);
    },
  };
}

/**
 * What is odd about a value, if anything.
 * @param {RowColumn} column
 * @param {any} value
 */
function remark(column, value) {
  if (value === null) return column.gaps ? "" : "never missing in the data";
  if (column.kind === "level") return column.counts && !column.counts[value] ? "does not occur in the data" : "";
  if (column.low === undefined || column.high === undefined) return "";
  if (value >= column.low && value <= column.high) return "";
  return `outside the range of the data: ${valueText(column, column.low)} to ${valueText(column, column.high)}`;
}

/**
 * @param {RowColumn} column
 * @param {string} id
 * @param {(value: any) => void} change
 */
function levelControl(column, id, change) {
  const levels = column.levels ?? [];
  const select = el("select", { id, dir: "auto", "aria-describedby": `${id}-note`, on: { change: () => change(select.value === "" ? null : Number(select.value)) } },
    ...levels.map((level, code) => el("option", { value: code }, level)));
  const lacking = el("option", { value: "" }, "missing");
  if (column.may_lack) select.append(lacking);
  return {
    for: id,
    element: el("div", { class: "if-inputs" }, select),
    show(/** @type {any} */ value) {
      if (value === null && !lacking.parentNode) select.append(lacking);
      select.value = value === null ? "" : String(value);
    },
  };
}

/**
 * How far one step of a slider goes: a whole one, or a round two-hundredth of the range.
 * @param {RowColumn} column
 */
function stepOf(column) {
  if (column.kind === "whole") return 1;
  const range = (column.high ?? 0) - (column.low ?? 0);
  if (!(range > 0)) return 0.1;
  return 10 ** Math.floor(Math.log10(range / 100));
}

/**
 * @param {RowColumn} column
 * @param {string} id
 * @param {(value: any) => void} change
 */
function numberControl(column, id, change) {
  const step = stepOf(column);
  const digits = Math.max(0, Math.min(20, -Math.floor(Math.log10(step) + 1e-9)));
  const low = column.low ?? 0;
  const high = column.high ?? 1;
  const slider = el("input", {
    type: "range", id, min: low, max: high > low ? high : low + 1, step: "any", "aria-describedby": `${id}-note`,
    on: {
      input: () => change(rounded(Number(slider.value))),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        // with step="any" a key would move a hundredth of the range past every round value
        const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        slider.value = String(rounded(Number(slider.value) + by * step)); // the next key starts here
        change(rounded(Number(slider.value)));
      },
    },
  });
  const box = el("input", {
    type: "number", step: "any", "aria-label": `${column.name}, as a number`,
    on: { change: () => (box.value === "" ? give() : change(typed())), input: () => Number.isFinite(box.valueAsNumber) && change(typed()) },
  });
  const lacking = el("input", { type: "checkbox", on: { change: () => (lacking.checked ? change(null) : change(known)) } });
  const tick = el("label", { class: "if-missing" }, lacking, "missing");
  let known = rounded((low + high) / 2);
  /** @type {any} */
  let shown = null;

  /** @param {number} value */
  function rounded(value) {
    const whole = Math.round(value / step) * step;
    return Math.min(high, Math.max(low, Number(whole.toFixed(digits))));
  }

  /** What was typed; a column of whole numbers has no others, and some curves have ends. */
  function typed() {
    const value = column.kind === "whole" ? Math.round(box.valueAsNumber) : box.valueAsNumber;
    const [least, most] = column.ends ?? [-Infinity, Infinity];
    return Math.min(most, Math.max(least, value));
  }

  // the value itself is kept to the last bit; what is shown of it has to fit
  function give() {
    box.value = shown === null ? "" : String(Number(shown.toPrecision(6)));
  }

  return {
    for: id,
    element: el("div", { class: "if-inputs" }, slider, box, column.may_lack && column.gaps ? tick : null),
    show(/** @type {any} */ value) {
      shown = value;
      if (value !== null) known = value;
      lacking.checked = value === null;
      slider.disabled = box.disabled = value === null;
      slider.value = String(value ?? known);
      slider.setAttribute("aria-valuetext", valueText(column, value));
      if (document.activeElement !== box || Number(box.value) !== value) give();
    },
  };
}

/**
 * @param {RowColumn} column
 * @param {string} id
 * @param {(value: any) => void} change
 */
function dateControl(column, id, change) {
  const withTime = [column.low, column.high].some((end) => (end ?? 0) % DAY !== 0);
  const length = withTime ? 16 : 10;
  const box = el("input", {
    type: withTime ? "datetime-local" : "date", id, "aria-describedby": `${id}-note`,
    on: {
      change: () => {
        const time = Date.parse(withTime ? `${box.value}Z` : `${box.value}T00:00Z`);
        if (Number.isFinite(time)) change(time * 1000);
      },
    },
  });
  const lacking = el("input", { type: "checkbox", on: { change: () => change(lacking.checked ? null : known) } });
  let known = column.low ?? 0;
  return {
    for: id,
    element: el("div", { class: "if-inputs" }, box, column.may_lack && column.gaps ? el("label", { class: "if-missing" }, lacking, "missing") : null),
    show(/** @type {any} */ value) {
      if (value !== null) known = value;
      lacking.checked = value === null;
      box.disabled = value === null;
      box.value = value === null ? "" : new Date(Math.round(value / 1000)).toISOString().slice(0, length);
    },
  };
}
