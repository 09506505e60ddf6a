// Rows in words: values, predictions, parts, and the sentence that sums a row up.

/**
 * @typedef {object} RowColumn
 * @property {string} name
 * @property {"number" | "whole" | "level" | "date" | "text"} kind
 * @property {string[]} [levels]
 * @property {number[]} [counts] how often each level occurs
 * @property {number} [low] the least value in the data
 * @property {number} [high]
 * @property {number} gaps how many values are missing in the data
 * @property {[number, number]} [ends] what the page can compute with lies between these
 * @property {boolean} [may_lack] whether the model takes a missing value
 */

/**
 * What is known about a row: the sum, the prediction and the parts.
 * @typedef {object} Explained
 * @property {Float64Array | number[]} raw per raw output
 * @property {Float64Array | number[]} response per output
 * @property {ArrayLike<number>} parts per column and raw output
 */

/**
 * How parts add up and how a prediction is written, for one output.
 * @typedef {object} Scale
 * @property {"same" | "factor" | "odds" | "score"} kind "same" where parts add up to the prediction
 * @property {string} unit of what is added up
 * @property {string} output the class, or the name of the output
 * @property {boolean} isProbability
 * @property {boolean} isScore whether it is a classifier's score that is no probability
 * @property {number} baseline what is added up, on average
 * @property {(raw: number) => number | null} onScale the prediction at a sum; null where it depends
 * on more than this one
 */

const MINUS = "−";

/**
 * A number with its sign.
 * @param {number} value
 */
function signed(value) {
  const text = number(Math.abs(value));
  return text === "0" ? "0" : `${value < 0 ? MINUS : "+"}${text}`;
}

/**
 * A probability in per cent.
 * @param {number} value
 */
function percent(value) {
  const share = 100 * value;
  if (share > 99 && share < 100) return `${(Math.floor(share * 100) / 100).toString()} %`;
  return `${number(Number(share.toPrecision(3)))} %`;
}

/**
 * A factor: what a part multiplies with.
 * @param {number} part
 */
function factor(part) {
  return `×${number(Number(Math.exp(part).toPrecision(3)))}`;
}

/**
 * A part as a person reads it: what it multiplies with, points of a probability, or a number.
 * @param {Scale} scale
 * @param {number} part
 */
function partText(scale, part) {
  if (scale.kind === "factor" || scale.kind === "odds") return factor(part);
  if (scale.kind === "same" && scale.isProbability) return `${signed(Number((100 * part).toPrecision(3)))} points`;
  return signed(Number(part.toPrecision(3)));
}

/**
 * A value as a person would write it.
 * @param {RowColumn} column
 * @param {any} value
 * @returns {string}
 */
function valueText(column, value) {
  if (value === null || value === undefined) return "missing";
  if (column.kind === "level") return column.levels?.[value] ?? "unknown";
  if (column.kind === "date") return dateText(value);
  if (column.kind === "whole" && Math.abs(value) < 1e15) return value.toLocaleString("en").replace("-", MINUS);
  return column.kind === "text" ? String(value) : number(value);
}

/**
 * A date, with its time where it has one.
 * @param {number} microseconds
 */
function dateText(microseconds) {
  const text = new Date(Math.round(microseconds / 1000)).toISOString();
  return microseconds % DAY === 0 ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

/**
 * A prediction as a person would write it.
 * @param {Scale} scale
 * @param {number} value
 */
function predictionText(scale, value) {
  return scale.isProbability ? percent(value) : number(value);
}

/**
 * Words joined as in a sentence.
 * @param {string[]} words
 */
function joined(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/**
 * The parts of one output, the largest first.
 * @param {ArrayLike<number>} parts
 * @param {number} outputs how many raw outputs there are
 * @param {number} output
 * @returns {{column: number, part: number}[]}
 */
function sortedParts(parts, outputs, output) {
  return Array.from({ length: parts.length / outputs }, (_, column) => ({
    column,
    part: parts[column * outputs + output],
  })).sort((a, b) => Math.abs(b.part) - Math.abs(a.part) || a.column - b.column);
}

/**
 * What moved the prediction most, in words.
 * @param {{column: number, part: number}[]} sorted
 * @param {RowColumn[]} columns
 * @param {any[]} values
 * @param {Scale} scale
 */
function reasons(sorted, columns, values, scale) {
  const total = sorted.reduce((sum, { part }) => sum + part, 0);
  const largest = Math.abs(sorted[0]?.part ?? 0);
  const shown = sorted.filter(({ part }) => part !== 0 && Math.abs(part) >= 0.1 * largest);
  const told = (/** @type {{column: number, part: number}} */ { column, part }) =>
    `${columns[column].name} is ${valueText(columns[column], values[column])} (${partText(scale, part)})`;
  const along = shown.filter(({ part }) => part * total > 0).slice(0, 3).map(told);
  const against = shown.filter(({ part }) => part * total < 0).slice(0, 2).map(told);
  if (!along.length) return "";
  const first = `mostly because ${joined(along)}`;
  return against.length ? `${first}; against it, ${joined(against)}` : first;
}

/**
 * A row summed up in a sentence or two.
 * @param {Explained} explained
 * @param {RowColumn[]} columns
 * @param {any[]} values
 * @param {Scale} scale
 * @param {{output: number, raw: number, outputs: number}} at which output, and its raw output
 */
function sentence(explained, columns, values, scale, at) {
  const raw = explained.raw[at.raw];
  const predicted = predictionText(scale, explained.response[at.output]);
  const away = raw - scale.baseline;
  const why = reasons(sortedParts(explained.parts, at.outputs, at.raw), columns, values, scale);
  const because = why ? `; ${why}` : "";
  const what = scale.isProbability ? "probability" : scale.isScore ? "score" : "";
  const of = what ? ` as the ${what} of ${scale.output}` : "";
  const level = scale.onScale(scale.baseline);
  if (scale.kind === "same") {
    const direction = away < 0 ? "below" : "above";
    const distance = scale.isProbability ? `${number(Number((100 * Math.abs(away)).toPrecision(3)))} points` : number(Math.abs(away));
    const mean = predictionText(scale, scale.baseline);
    return `Predicted ${predicted}${of}, ${distance} ${direction} the mean ${mean} of the rows here${because}.`;
  }
  if (scale.kind === "factor" && level !== null) {
    return `Predicted ${predicted}, ${number(Number(Math.exp(away).toPrecision(3)))} times the typical ${number(level)} of the rows here${because}.`;
  }
  if (scale.kind === "odds" && level !== null) {
    return `Predicted ${predicted}${of}: the odds are ${number(Number(Math.exp(away).toPrecision(3)))} times those of a typical row here (${percent(level)})${because}.`;
  }
  const direction = away < 0 ? "below" : "above";
  return `Predicted ${predicted}${of}. The ${scale.unit} is ${number(raw)}, ${number(Math.abs(away))} ${direction} the mean ${number(scale.baseline)} of the rows here${because}.`;
}

/**
 * How unlike two rows are, from 0 to 1 (Gower): the mean over columns of how far numbers are apart
 * as a share of their range, and of whether levels differ. A value that one of them lacks counts as
 * different.
 * @param {RowColumn[]} columns
 * @param {any[]} one
 * @param {any[]} other
 */
function gower(columns, one, other) {
  let sum = 0;
  for (let k = 0; k < columns.length; k++) {
    const a = one[k];
    const b = other[k];
    if (a === b) continue;
    const range = (columns[k].high ?? 0) - (columns[k].low ?? 0);
    const apart = a === null || b === null || columns[k].kind === "level" || columns[k].kind === "text" || !range;
    sum += apart ? 1 : Math.min(1, Math.abs(a - b) / range);
  }
  return columns.length ? sum / columns.length : 0;
}

/**
 * The rows nearest to one, nearest first.
 * @param {RowColumn[]} columns
 * @param {any[][]} rows
 * @param {any[]} values
 * @param {number} most
 * @param {number} [without] a row that does not count
 * @returns {{row: number, distance: number}[]}
 */
function nearestRows(columns, rows, values, most, without = -1) {
  return rows
    .map((row, at) => ({ row: at, distance: at === without ? Infinity : gower(columns, values, row) }))
    .sort((a, b) => a.distance - b.distance || a.row - b.row)
    .filter(({ distance }) => distance < Infinity)
    .slice(0, most);
}

Object.assign(outside, { gower, nearestRows, sentence, valueText, sortedParts });
