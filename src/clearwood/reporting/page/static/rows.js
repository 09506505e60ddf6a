// Individual predictions: choose a row, see its parts, its path, the nearest rows; change it.

const NEAREST_SHOWN = 5;
const NEIGHBOURS = 10;

widgets.rows = (element, data) => {
  if (data?.labels?.length) startRows(element, data);
};

/**
 * Where explanations come from: the model in the page, or values that were computed beforehand.
 * @typedef {object} Source
 * @property {boolean} live whether rows can be changed
 * @property {number} outputs how many numbers are added up
 * @property {(row: number) => Explained | null} ofRow
 * @property {(values: Value[]) => Explained} ofValues
 * @property {(values: Value[]) => Float64Array | null} codes the model's own columns
 * @property {(output: number) => Scale} scale
 * @property {(output: number) => number} rawOf the raw output of an output
 */

/**
 * @param {any} data
 * @param {any[][]} rows
 * @returns {Source | null}
 */
function sourceOf(data, rows) {
  const shared = { response: data.response, classes: data.classes };
  if (data.model) {
    const model = readModel(data.model);
    /** @type {Explainer | null} */
    let ready = null;
    const explain = (/** @type {Value[]} */ values) => {
      ready ??= explainer(model, rows); // takes a moment, so it waits for the first row
      const code = model.encode(values);
      const raw = model.raw(code);
      return { raw, response: model.response(raw), parts: ready.parts(code) };
    };
    const link = data.model.link;
    /** @type {Record<string, Scale["kind"]>} */
    const kinds = { identity: "sum", log: "factor", logistic: "odds" };
    return {
      live: true,
      outputs: model.rawOutputs,
      ofRow: (row) => explain(rows[row]),
      ofValues: explain,
      codes: (values) => (model.kind === "forest" ? model.encode(values) : null),
      rawOf: (output) => data.model.shown[output],
      scale: (output) => ({
        kind: link.name === "logistic" && link.temperature !== 1 ? "score" : kinds[link.name] ?? "score",
        unit: data.model.unit,
        output: data.outputs[output],
        ...shared,
        baseline: data.model.baseline[data.model.shown[output]],
        onScale: (raw) => (["identity", "log", "logistic", "signed root", "softplus"].includes(link.name) ? LINKS[link.name](Float64Array.of(raw / link.temperature), link)[0] : null),
      }),
    };
  }
  if (!data.parts) return null;
  const parts = unpack(data.parts.values);
  const outputs = data.parts.outputs.length;
  const width = data.columns.length * outputs;
  const rawOf = (/** @type {number} */ output) => Math.min(output, outputs - 1);
  /** @type {Record<string, (raw: number) => number>} */
  const links = { sum: (raw) => raw, odds: logistic, factor: Math.exp };
  const ofRow = (/** @type {number} */ row) => {
    const own = Float64Array.from(parts.subarray(row * width, (row + 1) * width));
    const raw = Float64Array.from(data.parts.baseline);
    own.forEach((part, i) => { raw[i % outputs] += part; });
    return { raw, response: data.prediction.map((/** @type {number[]} */ output) => output[row]), parts: own };
  };
  return {
    live: false,
    outputs,
    ofRow,
    ofValues: () => ({ raw: [], response: [], parts: [] }),
    codes: () => null,
    rawOf,
    scale: (output) => ({
      kind: data.parts.kind,
      unit: data.parts.unit,
      output: data.outputs[output],
      ...shared,
      baseline: data.parts.baseline[rawOf(output)],
      onScale: (raw) => links[data.parts.kind]?.(raw) ?? null,
    }),
  };
}

/**
 * The rows of the page: columns come as lists, or packed with NaN for missing.
 * @param {any} data
 * @returns {any[][]}
 */
function rowsOf(data) {
  const columns = data.values.map((/** @type {any} */ own) =>
    Array.isArray(own) ? own : Array.from(unpack(own), (value) => (Number.isNaN(value) ? null : value)));
  return data.labels.map((/** @type {any} */ _, /** @type {number} */ row) => columns.map((/** @type {any[]} */ own) => own[row]));
}

/**
 * Bring the chapter to life.
 * @param {HTMLElement} element
 * @param {any} data
 */
function startRows(element, data) {
  const id = element.parentElement?.id ?? "rows";
  /** @type {RowColumn[]} */
  const columns = data.columns;
  const rows = rowsOf(data);
  const source = sourceOf(data, rows);
  const tree = treeOfPage();
  const several = data.outputs.length > 1;
  let output = 0;
  let chosen = 0;
  /** @type {any[]} */
  let values = [];
  /** @type {Explained | null} */
  let before = null;
  /** @type {Explained | null} */
  let shown = null;

  const picker = el("select", { id: `${id}-class`, on: { change: () => { output = picker.selectedIndex; list.redraw(); choose(chosen); } } },
    ...data.outputs.map((/** @type {string} */ name, /** @type {number} */ k) => el("option", { value: k }, name)));
  const list = makeRowList(data, rows, ordersOf(data, columns, rows, () => output), () => factsOf(data, () => output), choose, id);
  const title = el("h3", { id: `${id}-title` });
  const summary = el("p", { class: "rows-sentence", dir: "auto" });
  const spoken = el("p", { class: "unseen", role: "status" });
  const drawing = el("div", { class: "rows-fall" });
  const table = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The parts as a table" });
  const changes = el("div", { class: "rows-changes" });
  const path = el("div", { class: "rows-path" });
  const near = el("div", { class: "rows-near" });
  const why = el("div", { class: "rows-why" }, drawing, changes, el("details", { class: "data" }, el("summary", {}, "The parts as a table"), table,
    el("div", { class: "sheet-tools" }, el("button", { type: "button", class: "quiet", on: { click: saveParts } }, "Save CSV"))));
  const controls = source?.live ? makeControls(columns, data.order, `${id}-if`, change, () => choose(chosen)) : null;
  const result = el("p", { class: "if-result" });
  const form = controls ? el("section", { class: "rows-if", "aria-label": "What if" }, el("h4", {}, "What if"), result, el("p", { class: "rows-words" }, "Move a slider or choose a value; the prediction and its parts are recomputed."), controls.element) : null;

  const own = el("section", { class: "rows-one", "aria-labelledby": title.id },
    el("div", { class: "rows-head" }, title, several ? el("div", { class: "rows-class" }, el("label", { for: picker.id }, "Class"), picker) : null),
    summary, spoken,
    source ? el("div", { class: form ? "rows-grid" : "" }, form, why) : el("p", {}, "The parts of this prediction are not known."),
    path, near);
  element.append(list.element, own);

  const speak = settled(() => { spoken.textContent = summary.textContent; }, 700);
  let waiting = false;

  /** @param {number} row */
  function choose(row) {
    chosen = row;
    values = rows[row].slice();
    before = source?.ofRow(row) ?? null;
    list.mark(row);
    update();
  }

  /**
   * @param {number} column
   * @param {any} value
   */
  function change(column, value) {
    values[column] = value;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; update(); });
  }

  function update() {
    const isChanged = values.some((value, k) => value !== rows[chosen][k]);
    const now = isChanged && source?.live ? source.ofValues(values) : before;
    shown = now;
    title.textContent = isChanged ? `Row ${data.labels[chosen]}, changed` : `Row ${data.labels[chosen]}`;
    controls?.show(values, rows[chosen]);
    if (source && now && before) {
      const scale = source.scale(output);
      const at = { output, raw: source.rawOf(output), outputs: source.outputs };
      summary.textContent = sentence(now, columns, values, scale, at) + (isChanged ? ` Before the change: ${predictionText(scale, before.response[output])}.` : outcomeWords(data, chosen));
      const was = predictionText(scale, before.response[output]);
      result.replaceChildren("Predicted ", el("strong", {}, predictionText(scale, now.response[output])), isChanged ? `, before the change ${was}` : "");
      showParts(now, scale, at, isChanged);
    } else {
      summary.textContent = `Predicted ${factsOf(data, () => output)[0].text(chosen)}.${outcomeWords(data, chosen)}`;
    }
    showPath(isChanged);
    showNearest(isChanged);
    speak();
  }

  /**
   * @param {Explained} now
   * @param {Scale} scale
   * @param {{output: number, raw: number, outputs: number}} at
   * @param {boolean} isChanged
   */
  function showParts(now, scale, at, isChanged) {
    const sorted = sortedParts(now.parts, at.outputs, at.raw, scale.baseline);
    const bars = barsOf(sorted, columns, values, (k) => values[k] !== rows[chosen][k]);
    const was = isChanged && before ? before.raw[at.raw] : null;
    drawWaterfall(drawing, bars, { baseline: scale.baseline, raw: now.raw[at.raw], before: was, scale, alt: `Waterfall of the prediction. ${summary.textContent}` });
    table.replaceChildren(partsTable(sorted, columns, values, scale, now.raw[at.raw]));
    changes.replaceChildren(...(isChanged && before ? changesTable(columns, data.labels[chosen], rows[chosen], values, before, now, at, scale) : []));
  }

  /** Save the parts that are shown, of every output. */
  function saveParts() {
    if (!source || !shown) return;
    const names = data.model ? data.model.raw_outputs : data.parts.outputs;
    const head = ["column", "value", ...names.map((/** @type {string} */ name) => `part of ${name}`)];
    const lines = columns.map((column, k) => [
      column.name, valueText(column, values[k]), ...names.map((/** @type {any} */ _, /** @type {number} */ o) => shown?.parts[k * names.length + o] ?? null),
    ]);
    saveCsv(`row-${data.labels[chosen]}`, head, lines);
  }

  /** @param {boolean} isChanged */
  function showPath(isChanged) {
    if (!tree || !data.ways) return;
    const code = isChanged ? source?.codes(values) ?? null : null;
    const steps = isChanged ? (code && tree.questions ? followCode(tree, code) : null) : followWay(tree, data.ways[chosen]);
    document.dispatchEvent(new CustomEvent("clearwood-row", { detail: { label: data.labels[chosen], steps, isChanged } }));
    path.replaceChildren(el("h4", {}, "Its path through the tree"), steps ? pathWords(tree, steps, new Set(columns.filter((_, k) => values[k] === null)
      .map(({ name }) => name)), isChanged ? null : data.ways[chosen].length) : el("p", {}, "The path of a changed row cannot be shown on this page."));
  }

  /** @param {boolean} isChanged */
  function showNearest(isChanged) {
    const found = nearestRows(columns, rows, values, NEAREST_SHOWN, isChanged ? -1 : chosen);
    const facts = factsOf(data, () => output).filter(({ isError }) => !isError);
    const listed = data.order.slice(0, COLUMNS_LISTED);
    const heads = [
      { name: "Row", right: false },
      { name: "Distance", right: true },
      ...facts.map(({ head, number: right }) => ({ name: head, right })),
      ...listed.map((/** @type {number} */ k) => ({ name: columns[k].name, right: isNumeric(columns[k]) })),
    ];
    const lines = found.map(({ row, distance }) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "row-pick", on: { click: () => { choose(row); title.scrollIntoView({ block: "nearest" }); } } }, String(data.labels[row]))),
      el("td", { class: "number" }, number(distance, IN_SENTENCES)),
      ...facts.map(({ text, number: isNumber }) => el("td", { class: isNumber ? "number" : null }, text(row))),
      ...listed.map((/** @type {number} */ k) => el("td", isNumeric(columns[k]) ? { class: "number" } : { dir: "auto" }, valueText(columns[k], rows[row][k])))));
    near.replaceChildren(el("h4", {}, "Most similar rows"),
      el("p", { class: "rows-words" }, "Gower distance: the mean over columns of the difference of numbers, as a share of their range, and of 1 for levels that differ."),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Most similar rows" },
        el("table", {}, el("thead", {}, el("tr", {}, ...heads.map(({ name, right }) => el("th", { scope: "col", dir: "auto", class: right ? "number" : null }, name)))), el("tbody", {}, ...lines))));
  }

  let drawnAt = 0;
  const redraw = settled(() => {
    if (drawing.clientWidth === drawnAt) return;
    drawnAt = drawing.clientWidth;
    update();
  }, 100);
  if (source) new ResizeObserver(redraw).observe(drawing);

  const pick = /** @type {HTMLElement | null} */ (element.querySelector(".row-pick"));
  const first = Number(pick?.dataset.row ?? 0);
  if (several) {
    // begin with the most probable class of the first row
    const own = data.prediction.map((/** @type {number[]} */ of) => of[first]);
    output = picker.selectedIndex = own.indexOf(Math.max(...own));
    list.redraw();
  }
  choose(first);
}

/**
 * The ways to sort rows, with what they mean.
 * @param {any} data
 * @param {RowColumn[]} columns
 * @param {any[][]} rows
 * @param {() => number} output
 * @returns {RowOrder[]}
 */
function ordersOf(data, columns, rows, output) {
  const several = data.outputs.length > 1;
  const what = data.response !== "probability" ? "prediction" : several ? "probability of the class chosen below" : `probability of ${data.outputs[0]}`;
  /** @type {number[] | null} */
  let surprise = null;
  const orders = [
    { name: "prediction, highest first", words: `By ${what}, highest first.`, key: (/** @type {number} */ row) => data.prediction[output()][row] },
    { name: "prediction, lowest first", words: `By ${what}, lowest first.`, key: (/** @type {number} */ row) => -data.prediction[output()][row] },
    {
      name: "surprise",
      words: `Surprise: distance of the prediction from the mean prediction of the ${count(Math.min(NEIGHBOURS, rows.length - 1), "most similar row")}. Large for a row that the model treats differently from similar ones.`,
      key: (/** @type {number} */ row) => (surprise ??= surprises(data, columns, rows))[row],
    },
    { name: "row number", words: "In the order of the table, counted from 0.", key: (/** @type {number} */ row) => -data.labels[row] },
  ];
  if (data.error) {
    orders.unshift({ name: "error", words: `Error: ${data.error_words}; largest first.`, key: (row) => (data.error[row] === null ? -1 : Math.abs(data.error[row])) });
  }
  return orders;
}

/**
 * How far each prediction is from the mean of the nearest rows; over classes, half of the sum of
 * the distances.
 * @param {any} data
 * @param {RowColumn[]} columns
 * @param {any[][]} rows
 */
function surprises(data, columns, rows) {
  return rows.map((values, row) => {
    const near = nearestRows(columns, rows, values, NEIGHBOURS, row);
    const apart = data.prediction.map((/** @type {number[]} */ own) => {
      const mean = near.reduce((sum, other) => sum + own[other.row], 0) / Math.max(1, near.length);
      return Math.abs(own[row] - mean);
    });
    const sum = apart.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
    return apart.length > 1 ? sum / 2 : sum;
  });
}

/**
 * What the list says about a row besides its values.
 * @param {any} data
 * @param {() => number} output
 * @returns {RowFact[]}
 */
function factsOf(data, output) {
  const isProbability = data.response === "probability";
  const written = (/** @type {number} */ value) => (isProbability ? percent(value) : number(value));
  const label = (/** @type {number} */ row) =>
    (data.response === "class" ? data.classes[data.prediction[0][row]] : written(data.prediction[output()][row]));
  const head = !isProbability ? "Predicted" : `Probability of ${data.outputs[output()]}`;
  /** @type {RowFact[]} */
  const facts = [{ head, text: label, number: data.response !== "class" }];
  if (data.outputs.length > 1 && isProbability) {
    const likeliest = (/** @type {number} */ row) => {
      const own = data.prediction.map((/** @type {number[]} */ of) => of[row]);
      return data.outputs[own.indexOf(Math.max(...own))];
    };
    facts.push({ head: "Most probable", text: likeliest, number: false });
  }
  if (data.outcome) {
    const isNumber = typeof data.outcome[0] === "number";
    facts.push({ head: data.target ?? "Outcome", text: (row) => (isNumber ? number(data.outcome[row]) : String(data.outcome[row])), number: isNumber });
  }
  if (data.error) facts.push({ head: "Error", text: (row) => (data.error[row] === null ? "" : isProbability ? number(data.error[row], IN_SENTENCES) : signed(data.error[row])), number: true, isError: true });
  return facts;
}

/**
 * @param {any} data
 * @param {number} row
 */
function outcomeWords(data, row) {
  if (!data.outcome) return "";
  const outcome = data.outcome[row];
  return ` Outcome: ${typeof outcome === "number" ? number(outcome, OF_VALUES) : outcome}.`;
}

/**
 * @param {{column: number, part: number}[]} sorted
 * @param {RowColumn[]} columns
 * @param {any[]} values
 * @param {Scale} scale
 * @param {number} raw
 */
function partsTable(sorted, columns, values, scale, raw) {
  const factors = scale.kind === "factor" || scale.kind === "odds";
  const unit = scale.kind === "sum" ? "part" : `part (${scale.unit})`;
  const head = ["column", "value", unit, ...(factors ? [scale.kind === "odds" ? "odds ×" : "factor"] : [])];
  const line = (/** @type {string} */ name, /** @type {string} */ value, /** @type {number} */ part, /** @type {boolean} */ isPart) => el("tr", {},
    el("th", { scope: "row", dir: "auto" }, name), el("td", { dir: "auto" }, value),
    el("td", { class: "number" }, isPart ? signed(part) : number(part)),
    factors ? el("td", { class: "number" }, isPart ? factor(part) : "") : null);
  return el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((name, k) => el("th", { scope: "col", class: k > 1 ? "number" : null }, name)))),
    el("tbody", {}, line("mean", "", scale.baseline, false),
      ...sorted.map(({ column, part }) => line(columns[column].name, valueText(columns[column], values[column]), part, true)),
      line("this row", "", raw, false)));
}

/**
 * The effect of a change, part by part.
 * @param {RowColumn[]} columns
 * @param {number} row its position in the table
 * @param {any[]} original
 * @param {any[]} values
 * @param {Explained} before
 * @param {Explained} now
 * @param {{output: number, raw: number, outputs: number}} at
 * @param {Scale} scale
 */
function changesTable(columns, row, original, values, before, now, at, scale) {
  const total = now.raw[at.raw] - before.raw[at.raw];
  const written = (/** @type {number} */ part) => signed((inPoints(scale) ? 100 : 1) * part, IN_SENTENCES);
  const unit = inPoints(scale) ? " (points)" : "";
  const all = columns.map((column, k) => {
    const was = before.parts[k * at.outputs + at.raw];
    const is = now.parts[k * at.outputs + at.raw];
    return { k, was, is, moved: is - was, changed: values[k] !== original[k] };
  });
  const size = Math.max(...all.map(({ moved }) => Math.abs(moved)));
  const shown = all.filter(({ moved, changed }) => changed || Math.abs(moved) > 0.01 * size && size > 0)
    .sort((a, b) => Number(b.changed) - Number(a.changed) || Math.abs(b.moved) - Math.abs(a.moved)).slice(0, 12);
  const lines = shown.map(({ k, was, is, moved, changed }) => el("tr", { class: changed ? "changed" : null },
    el("th", { scope: "row", dir: "auto" }, columns[k].name),
    el("td", { dir: "auto" }, changed ? `${valueText(columns[k], original[k])} → ${valueText(columns[k], values[k])}` : valueText(columns[k], values[k])),
    ...[was, is, moved].map((part) => el("td", { class: "number" }, written(part)))));
  const ends = [before.raw[at.raw], now.raw[at.raw]].map((raw) => (scale.kind === "sum" ? predictionText(scale, raw) : number(raw)));
  const foot = el("tr", { class: "total" },
    el("th", { scope: "row" }, scale.kind === "sum" ? "prediction" : scale.unit), el("td", {}),
    ...[...ends, written(total)].map((text) => el("td", { class: "number" }, text)));
  const call = `cw.what_if(model, data, data[${row}], {${all.filter(({ changed }) => changed).map(({ k }) => `${JSON.stringify(columns[k].name)}: ${pythonValue(columns[k], values[k])}`).join(", ")}})`;
  return [el("h4", {}, "What changed"),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What changed" },
      el("table", {}, el("thead", {}, el("tr", {}, ...["column", "value", `part before${unit}`, `part now${unit}`, `difference${unit}`].map((name, k) => el("th", { scope: "col", class: k > 1 ? "number" : null }, name)))), el("tbody", {}, ...lines, foot))),
    el("p", { class: "rows-words" }, "In Python: ", el("code", {}, call))];
}

/**
 * A value as one types it in Python.
 * @param {RowColumn} column
 * @param {any} value
 */
function pythonValue(column, value) {
  if (value === null) return "None";
  return column.kind === "number" || column.kind === "whole" ? String(value) : JSON.stringify(valueText(column, value));
}

Object.assign(outside, { ordersOf, rowsOf, surprises });
