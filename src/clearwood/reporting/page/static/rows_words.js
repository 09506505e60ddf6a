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
 * The explanation of a row: the sum, the prediction and the parts.
 * @typedef {object} Explained
 * @property {Float64Array | number[]} raw per raw output
 * @property {Float64Array | number[]} response per output
 * @property {ArrayLike<number>} parts per column and raw output
 */

/**
 * How parts add up and how a prediction is written, for one output.
 * @typedef {object} Scale
 * @property {"sum" | "factor" | "odds" | "score"} kind "sum" where parts add up to the prediction
 * @property {string} unit of what is added up
 * @property {string} output the class, or the name of the output
 * @property {"prediction" | "probability" | "score" | "class"} response what is predicted
 * @property {string[]} classes the labels; a prediction of a class is a position among them
 * @property {number} baseline what is added up, on average
 * @property {(raw: number) => number | null} onScale the prediction at a sum; null where it depends
 * on more than this one
 */

const MINUS = "−";

const NO_BREAK = "\u00a0";

/**
 * A number with its sign.
 * @param {number} value
 * @param {number} [digits]
 */
function signed(value, digits = IN_TABLES) {
  const text = number(Math.abs(value), digits);
  return text === "0" ? "0" : `${value < 0 ? MINUS : "+"}${text}`;
}

/**
 * A share in per cent, as the library writes it; number and sign stay on one line.
 * @param {number} value
 */
function percent(value) {
  const share = 100 * value;
  if (share > 0 && share < 0.01) return `under 0.01${NO_BREAK}%`;
  if (share >= 99.95 && share < 100) return `over 99.9${NO_BREAK}%`;
  return `${number(share, IN_SENTENCES)}${NO_BREAK}%`;
}

/**
 * The factor that a part multiplies by.
 * @param {number} part
 */
function factor(part) {
  return `×${number(Math.exp(part), IN_SENTENCES)}`;
}

/** @param {Scale} scale whether parts are points of a probability */
function inPoints(scale) {
  return scale.kind === "sum" && scale.response === "probability";
}

/**
 * A part without its unit: a factor, points of a probability, or a number.
 * @param {Scale} scale
 * @param {number} part
 */
function partNumber(scale, part) {
  if (scale.kind === "factor" || scale.kind === "odds") return factor(part);
  return signed((inPoints(scale) ? 100 : 1) * part, IN_SENTENCES);
}

/**
 * A part with its unit.
 * @param {Scale} scale
 * @param {number} part
 */
function partText(scale, part) {
  return inPoints(scale) ? `${partNumber(scale, part)} points` : partNumber(scale, part);
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
  if (column.kind === "whole" && Math.abs(value) < 1e15) return value.toLocaleString("en", { useGrouping: Math.abs(value) >= 10_000 }).replace("-", MINUS);
  return column.kind === "text" ? String(value) : number(value, OF_VALUES);
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
  if (scale.response === "class") return scale.classes[value] ?? "unknown";
  return scale.response === "probability" ? percent(value) : number(value, IN_SENTENCES);
}

/**
 * Words joined as in a sentence.
 * @param {string[]} words
 */
function joined(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** What rounding alone can leave of a part, as a share of everything that is added up; as in the library. */
const ROUNDING = 1024 * Number.EPSILON;

/**
 * The parts of one output, the largest first; what rounding alone leaves of a part is nothing.
 * @param {ArrayLike<number>} parts
 * @param {number} outputs how many raw outputs there are
 * @param {number} output
 * @param {number} baseline what the parts are added to
 * @returns {{column: number, part: number}[]}
 */
function sortedParts(parts, outputs, output, baseline) {
  const own = Array.from({ length: parts.length / outputs }, (_, column) => parts[column * outputs + output]);
  const size = own.reduce((sum, part) => sum + Math.abs(part), Math.abs(baseline));
  return own.map((part, column) => ({
    column,
    part: Math.abs(part) <= ROUNDING * size ? 0 : part,
  })).sort((a, b) => Math.abs(b.part) - Math.abs(a.part) || a.column - b.column);
}

/**
 * What changed the prediction most, in words.
 * @param {{column: number, part: number}[]} sorted
 * @param {RowColumn[]} columns
 * @param {any[]} values
 * @param {Scale} scale
 */
function reasons(sorted, columns, values, scale) {
  const total = sorted.reduce((sum, { part }) => sum + part, 0);
  const largest = Math.abs(sorted[0]?.part ?? 0);
  const shown = sorted.filter(({ part }) => part !== 0 && Math.abs(part) >= 0.1 * largest);
  const reason = (/** @type {{column: number, part: number}} */ { column, part }) =>
    `${columns[column].name} is ${valueText(columns[column], values[column])} (${partText(scale, part)})`;
  const along = shown.filter(({ part }) => part * total > 0).slice(0, 3).map(reason);
  const against = shown.filter(({ part }) => part * total < 0).slice(0, 2).map(reason);
  if (!along.length) return "";
  const first = `mostly because ${joined(along)}`;
  return against.length ? `${first}; in the opposite direction, ${joined(against)}` : first;
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
  const why = reasons(sortedParts(explained.parts, at.outputs, at.raw, scale.baseline), columns, values, scale);
  const because = why ? `, ${why}` : "";
  const named = scale.response === "probability" || scale.response === "score";
  const what = named ? `${scale.response} of ${scale.output}: ${predicted}` : predicted;
  const level = scale.onScale(scale.baseline);
  const direction = away < 0 ? "below" : "above";
  if (scale.kind === "sum") {
    const distance = inPoints(scale) ? `${number(100 * Math.abs(away), IN_SENTENCES)} points` : number(Math.abs(away), IN_SENTENCES);
    return `Predicted ${what}, ${distance} ${direction} the mean of ${predictionText(scale, scale.baseline)} over the rows on this page${because}.`;
  }
  const times = number(Math.exp(away), IN_SENTENCES);
  if (scale.kind === "factor" && level !== null) {
    return `Predicted ${what}, ${times} times the typical ${number(level, IN_SENTENCES)} of the rows on this page${because}.`;
  }
  if (scale.kind === "odds" && level !== null) {
    return `Predicted ${what}. The odds are ${times} times those of a typical row on this page (${percent(level)})${because}.`;
  }
  const score = `${number(raw, IN_SENTENCES)}, ${number(Math.abs(away), IN_SENTENCES)} ${direction} the mean of ${number(scale.baseline, IN_SENTENCES)}`;
  return `Predicted ${what}. The ${scale.unit} is ${score} over the rows on this page${because}.`;
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
