// A model as plain arrays: decoding, prediction, link.
// Everything here is a pure function of its arguments; shapley.js shares predictions among columns.

/**
 * An array as text: base64 of little-endian numbers, or places in a table of values.
 * @typedef {{type?: string, data?: string, table?: Packed, index?: Packed}} Packed
 */

/**
 * A value of one of the user's columns: a number, the code of a level, microseconds since 1970 for
 * dates; null where it is missing.
 * @typedef {number | null} Value
 */

/**
 * A model that predicts. `encode` turns a row of the user's values into the model's own columns,
 * `raw` adds up, `response` applies the link.
 * @typedef {object} PageModel
 * @property {"forest" | "sum" | "tables"} kind
 * @property {any} data as it was carried
 * @property {number} players how many columns the user has
 * @property {number} rawOutputs how many numbers are added up
 * @property {(values: Value[]) => Float64Array} encode
 * @property {(code: Float64Array) => Float64Array} raw
 * @property {(raw: Float64Array) => Float64Array} response
 * @property {ForestArrays} [forest]
 */

/**
 * @typedef {object} Questions
 * @property {Uint8Array | Uint16Array | Uint32Array} feature
 * @property {Uint8Array | Uint16Array | Uint32Array} flags
 * @property {Float64Array} threshold
 * @property {Int32Array} start where a set of categories begins, in 32-bit words; -1 for numbers
 * @property {Int32Array} size how many words it has
 * @property {Uint32Array} words
 * @property {boolean} narrow whether values are rounded to single precision first
 */

/**
 * @typedef {object} ForestArrays
 * @property {any} nodes 0 at leaves, else the question's number from 1; left children come next
 * @property {Int32Array} right
 * @property {Int32Array} leaf the number of a leaf among leaves, -1 at other nodes
 * @property {number[]} roots
 * @property {Questions} questions
 * @property {any} player the user's column behind each of the model's
 * @property {Float64Array} values per leaf and value column
 * @property {number} valueColumns
 * @property {any} output the output of each tree, from 1; 0 where it adds to all
 */

const DEFAULT_LEFT = 1;
const ZERO_MISSING = 2;
const CATEGORICAL = 4;
const UNSEEN_LEFT = 8;
// Where zeros count as missing, so do values this close to zero: single precision's 1e-35.
const ZERO_BOUND = Math.fround(1e-35);

const DAY = 864e8; // microseconds
const HOUR = 36e8;
const ORIGIN = 946684800e6; // 2000-01-01

/** @type {Record<string, new (buffer: ArrayBuffer) => any>} */
const ARRAY_TYPES = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};

/**
 * Read an array.
 * @param {Packed} part
 * @returns {any} a typed array
 */
function unpack(part) {
  if (part.table && part.index) {
    const table = unpack(part.table);
    const index = unpack(part.index);
    const values = new Float64Array(index.length);
    for (let i = 0; i < index.length; i++) values[i] = table[index[i]];
    return values;
  }
  const text = atob(part.data ?? "");
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAY_TYPES[part.type ?? "u1"](bytes.buffer);
}

/**
 * Calendar features of a date, in the library's order.
 * @param {number} date microseconds since 1970
 * @returns {number[]} days since 2000-01-01, year, month, day of week, day of year, hour
 */
function calendarParts(date) {
  const day = Math.floor(date / DAY);
  const midnight = new Date(day * 864e5);
  const year = midnight.getUTCFullYear();
  const january = Date.UTC(year, 0, 1) / 864e5;
  return [
    (date - ORIGIN) / DAY,
    year,
    midnight.getUTCMonth() + 1,
    ((((day + 3) % 7) + 7) % 7) + 1,
    day - january + 1,
    (date - day * DAY) / HOUR,
  ];
}

/**
 * Read a model that `page_model` wrote.
 * @param {any} data
 * @returns {PageModel}
 */
function readModel(data) {
  const made = { forest: readForest, sum: readSum, tables: readTables }[
    /** @type {"forest" | "sum" | "tables"} */ (data.kind)
  ](data);
  return {
    kind: data.kind,
    data,
    players: data.columns.length,
    rawOutputs: data.raw_outputs.length,
    response: (raw) => linked(data.link, raw),
    ...made,
  };
}

/**
 * Apply a link and keep the outputs that are shown.
 * @param {any} link
 * @param {Float64Array} raw
 * @returns {Float64Array}
 */
function linked(link, raw) {
  const scaled = raw.map((value) => value / link.temperature);
  const found = LINKS[link.name](scaled, link);
  return Float64Array.from(link.pick, (/** @type {number} */ k) => found[k]);
}

/** @type {Record<string, (raw: Float64Array, link: any) => Float64Array>} */
const LINKS = {
  identity: (raw) => raw,
  log: (raw) => raw.map(Math.exp),
  logistic: (raw) => raw.map(logistic),
  softmax: (raw) => {
    const largest = Math.max(...raw);
    return normalised(raw.map((value) => Math.exp(value - largest)));
  },
  "one-vs-rest": (raw) => normalised(raw.map(logistic)),
  "signed root": (raw) => raw.map((value) => Math.sign(value) * value * value),
  softplus: (raw) => raw.map((value) => Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value)))),
  ordered: (raw, link) => {
    const below = link.cuts.map((/** @type {number} */ cut) => logistic(cut - raw[0]));
    return Float64Array.from([...below, 1], (value, k) => value - (k ? below[k - 1] : 0));
  },
};

/** @param {number} value */
function logistic(value) {
  return value >= 0 ? 1 / (1 + Math.exp(-value)) : Math.exp(value) / (1 + Math.exp(value));
}

/** @param {Float64Array} values */
function normalised(values) {
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => value / total);
}

// Forests

/** @param {any} data */
function readForest(data) {
  const forest = readTrees(data);
  const { nodes, right, leaf, roots, questions, values, valueColumns, output } = forest;
  const round = data.float32 ? Math.fround : (/** @type {number} */ value) => value;
  /** @param {Float64Array} code */
  const raw = (code) => {
    const total = Float64Array.from(data.base, round);
    for (let tree = 0; tree < roots.length; tree++) {
      let node = roots[tree];
      while (nodes[node]) {
        const question = nodes[node] - 1;
        node = goesLeft(questions, question, code[questions.feature[question]]) ? node + 1 : right[node];
      }
      const at = leaf[node] * valueColumns;
      const only = output[tree] - 1;
      if (only >= 0) total[only] = round(total[only] + values[at]);
      else for (let k = 0; k < total.length; k++) total[k] = round(total[k] + values[at + k]);
    }
    return data.divides ? total.map((value, k) => value / data.divisor[k]) : total;
  };
  return { forest, raw, encode: (/** @type {Value[]} */ row) => encodeRow(data, row) };
}

/**
 * Decode the trees and find right children: after a leaf comes the right child of the last node
 * that still lacks one, or the root of the next tree.
 * @param {any} data
 * @returns {ForestArrays}
 */
function readTrees(data) {
  const nodes = unpack(data.nodes);
  const right = new Int32Array(nodes.length).fill(-1);
  const leaf = new Int32Array(nodes.length).fill(-1);
  /** @type {number[]} */
  const roots = [];
  /** @type {number[]} */
  const open = [];
  let leaves = 0;
  for (let node = 0; node < nodes.length; node++) {
    if (node === 0 || nodes[node - 1] === 0) {
      const parent = open.pop();
      if (parent === undefined) roots.push(node);
      else right[parent] = node;
    }
    if (nodes[node]) open.push(node);
    else leaf[node] = leaves++;
  }
  const values = Float64Array.from(unpack(data.values));
  return {
    nodes,
    right,
    leaf,
    roots,
    questions: readQuestions(data.questions, data.precision),
    player: unpack(data.player),
    values,
    valueColumns: values.length / leaves,
    output: unpack(data.tree_output),
  };
}

/**
 * @param {any} data
 * @param {string} precision
 * @returns {Questions}
 */
function readQuestions(data, precision) {
  const set = unpack(data.set);
  const sizes = unpack(data.set_size);
  const starts = new Int32Array(sizes.length);
  for (let k = 1; k < sizes.length; k++) starts[k] = starts[k - 1] + sizes[k - 1];
  return {
    feature: unpack(data.feature),
    flags: unpack(data.flags),
    threshold: Float64Array.from(unpack(data.threshold)),
    start: Int32Array.from(set, (k) => (k ? starts[k - 1] : -1)),
    size: Int32Array.from(set, (k) => (k ? sizes[k - 1] : 0)),
    words: Uint32Array.from(unpack(data.words)),
    narrow: precision === "float32",
  };
}

/**
 * Whether a value of a question's column goes left; the rule of the library's forests.
 * @param {Questions} questions
 * @param {number} question
 * @param {number} value NaN for missing
 */
function goesLeft(questions, question, value) {
  const flags = questions.flags[question];
  const x = questions.narrow ? Math.fround(value) : value;
  if (x !== x || (flags & ZERO_MISSING && Math.abs(x) <= ZERO_BOUND)) return (flags & DEFAULT_LEFT) !== 0;
  if (!(flags & CATEGORICAL)) return x <= questions.threshold[question];
  if (!(x >= 0 && x < 32 * questions.size[question])) return (flags & UNSEEN_LEFT) !== 0;
  const code = Math.floor(x);
  const word = questions.words[questions.start[question] + (code >> 5)];
  return ((word >>> (code & 31)) & 1) === 1;
}

/**
 * Make the model's columns from a row of the user's.
 * @param {any} data
 * @param {Value[]} row
 * @returns {Float64Array}
 */
function encodeRow(data, row) {
  const code = new Float64Array(data.width).fill(NaN);
  for (let k = 0; k < row.length; k++) {
    const entry = data.columns[k];
    const value = row[k];
    if (value === null) {
      putPairs(code, entry.missing ?? []);
      continue;
    }
    putPairs(code, entry.base);
    if (entry.levels) {
      putPairs(code, entry.levels[value] ?? []);
    } else if (entry.take.length) {
      const parts = entry.date ? calendarParts(value) : [value];
      for (const [at, part, center, spread] of entry.take) {
        code[at] = center === 0 && spread === 1 ? parts[part] : (parts[part] - center) / spread;
      }
    }
  }
  return code;
}

/**
 * @param {Float64Array} code
 * @param {(number | null)[]} pairs a place, its value, and so on
 */
function putPairs(code, pairs) {
  for (let i = 0; i < pairs.length; i += 2) code[/** @type {number} */ (pairs[i])] = pairs[i + 1] ?? NaN;
}

// Sums of functions of one column

/** @param {any} data */
function readSum(data) {
  const outputs = data.constant.length;
  /** @param {Value[]} row */
  const encode = (row) => {
    const terms = new Float64Array(row.length * outputs);
    row.forEach((value, k) => {
      const added = termOf(data.columns[k], value, outputs);
      for (let o = 0; o < outputs; o++) terms[k * outputs + o] = added[o];
    });
    return terms;
  };
  /** @param {Float64Array} terms */
  const raw = (terms) => {
    const total = Float64Array.from(data.constant);
    for (let i = 0; i < terms.length; i++) total[i % outputs] += terms[i];
    return total;
  };
  return { encode, raw };
}

/**
 * What one column adds to each output.
 * @param {any} entry
 * @param {Value} value
 * @param {number} outputs
 * @returns {ArrayLike<number>}
 */
function termOf(entry, value, outputs) {
  const nothing = new Float64Array(outputs);
  if (value === null) return entry.missing ?? nothing.fill(NaN);
  if (entry.levels) return entry.levels[value] ?? nothing.fill(NaN);
  if (entry.calendar) {
    const parts = [...calendarParts(value), 1];
    for (let o = 0; o < outputs; o++) {
      nothing[o] = parts.reduce((sum, part, p) => sum + part * entry.calendar[p][o], 0);
    }
    return nothing;
  }
  const pieces = entry.pieces;
  if (!pieces.length) return nothing;
  let at = 0;
  for (let low = 0, high = pieces.length - 1; low <= high; ) {
    const middle = (low + high) >> 1;
    if (pieces[middle][0] <= value) {
      at = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  const [low, high, coefficients] = pieces[at];
  const half = (high - low) / 2;
  const t = half === 0 ? 0 : (value - low) / half - 1;
  for (let o = 0; o < outputs; o++) {
    let sum = 0;
    for (let p = coefficients.length - 1; p >= 0; p--) sum = sum * t + coefficients[p][o];
    nothing[o] = sum;
  }
  return nothing;
}

// Sums of tables

/** @param {any} data */
function readTables(data) {
  const outputs = data.constant.length;
  /** @param {Value[]} row */
  const encode = (row) =>
    Float64Array.from(data.axes, (/** @type {any} */ axis) => placeOn(axis, row[axis.player]));
  /** @param {Float64Array} code */
  const raw = (code) => {
    const total = Float64Array.from(data.constant);
    for (const term of data.terms) {
      const at = cellOf(term, code) * outputs;
      for (let o = 0; o < outputs; o++) total[o] += term.table[at + o];
    }
    return total;
  };
  return { encode, raw };
}

/**
 * Where a value lies on an axis of a table.
 * @param {any} axis
 * @param {Value} value
 */
function placeOn(axis, value) {
  if (value === null) return axis.missing ?? NaN;
  if (axis.levels) return axis.levels[value];
  let low = 0;
  let high = axis.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis.cuts[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return axis.places[low];
}

/**
 * The number of a cell of a table, counted along its last axis first.
 * @param {any} term
 * @param {Float64Array} code
 */
function cellOf(term, code) {
  return term.axes.reduce(
    (/** @type {number} */ cell, /** @type {number} */ axis, /** @type {number} */ k) =>
      cell * term.shape[k] + code[axis],
    0,
  );
}

/**
 * Predict a row.
 * @param {PageModel} model
 * @param {Value[]} row
 * @returns {{raw: Float64Array, response: Float64Array}}
 */
function predictRow(model, row) {
  const raw = model.raw(model.encode(row));
  return { raw, response: model.response(raw) };
}
