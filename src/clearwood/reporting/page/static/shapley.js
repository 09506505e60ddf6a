// Exact interventional Shapley values over the rows that the page carries.
//
// A leaf is worth its value to a coalition S of columns where the row x meets the leaf's conditions
// on S and a background row b meets those on the other columns. Let x fail the conditions of q
// columns of the path. Only background rows that meet all of these count; let such a row fail p of
// the columns that x meets. Then each of the p columns gains (p − 1)! q! / (p + q)! of the value and
// each of the q columns loses p! (q − 1)! / (p + q)!, and the others get nothing. Background rows
// are bits of a word, so that thirty-two of them are followed down a tree at once.

/**
 * @typedef {object} Explainer
 * @property {Float64Array} baseline mean raw prediction over the rows
 * @property {(code: Float64Array) => Float64Array} parts per player and raw output
 */

/**
 * Prepare Shapley values of a model over rows.
 * @param {PageModel} model
 * @param {Value[][]} rows
 * @returns {Explainer}
 */
function explainer(model, rows) {
  const codes = rows.map(model.encode);
  const share = model.data.weights
    ? Float64Array.from(model.data.weights)
    : new Float64Array(rows.length).fill(1 / rows.length);
  if (model.kind === "forest") return forestExplainer(model, codes, share);
  return model.kind === "sum" ? sumExplainer(model, codes, share) : tablesExplainer(model, codes, share);
}

/**
 * The mean of what rows have, by their shares.
 * @param {ArrayLike<number>[]} rows
 * @param {Float64Array} share
 */
function weightedMean(rows, share) {
  const mean = new Float64Array(rows.length ? rows[0].length : 0);
  rows.forEach((row, r) => {
    for (let i = 0; i < mean.length; i++) mean[i] += share[r] * row[i];
  });
  return mean;
}

/**
 * @param {PageModel} model
 * @param {Float64Array[]} codes
 * @param {Float64Array} share
 * @returns {Explainer}
 */
function sumExplainer(model, codes, share) {
  const means = weightedMean(codes, share);
  return {
    baseline: Float64Array.from(model.data.baseline),
    parts: (code) => code.map((term, i) => term - means[i]),
  };
}

/**
 * @param {PageModel} model
 * @param {Float64Array[]} codes
 * @param {Float64Array} share
 * @returns {Explainer}
 */
function tablesExplainer(model, codes, share) {
  const outputs = model.rawOutputs;
  const owner = model.data.axes.map((/** @type {any} */ axis) => axis.player);
  /** @type {((code: Float64Array, parts: Float64Array) => void)[]} */
  const adders = model.data.terms.map((/** @type {any} */ term) => {
    const { axes, shape, table } = term;
    const mean = weightedMean(
      codes.map((code) => {
        const at = cellOf(term, code) * outputs;
        return table.slice(at, at + outputs);
      }),
      share,
    );
    const players = axes.map((/** @type {number} */ axis) => owner[axis]);
    if (axes.length === 1 || players[0] === players[1]) {
      return (/** @type {Float64Array} */ code, /** @type {Float64Array} */ parts) => {
        const at = cellOf(term, code) * outputs;
        for (let o = 0; o < outputs; o++) parts[players[0] * outputs + o] += table[at + o] - mean[o];
      };
    }
    // means along one axis, over the rows' places on the other
    const first = new Float64Array(shape[0] * outputs);
    const second = new Float64Array(shape[1] * outputs);
    codes.forEach((code, r) => {
      for (let i = 0; i < shape[0]; i++) {
        for (let o = 0; o < outputs; o++) {
          first[i * outputs + o] += share[r] * table[(i * shape[1] + code[axes[1]]) * outputs + o];
        }
      }
      for (let j = 0; j < shape[1]; j++) {
        for (let o = 0; o < outputs; o++) {
          second[j * outputs + o] += share[r] * table[(code[axes[0]] * shape[1] + j) * outputs + o];
        }
      }
    });
    return (/** @type {Float64Array} */ code, /** @type {Float64Array} */ parts) => {
      const at = cellOf(term, code) * outputs;
      for (let o = 0; o < outputs; o++) {
        const one = first[code[axes[0]] * outputs + o];
        const other = second[code[axes[1]] * outputs + o];
        const joint = table[at + o] - one - other + mean[o];
        parts[players[0] * outputs + o] += one - mean[o] + joint / 2;
        parts[players[1] * outputs + o] += other - mean[o] + joint / 2;
      }
    };
  });
  return {
    baseline: Float64Array.from(model.data.baseline),
    parts: (code) => {
      const parts = new Float64Array(model.players * outputs);
      for (const add of adders) add(code, parts);
      return parts;
    },
  };
}

/**
 * Shares (p − 1)! q! / (p + q)! of columns that only x meets, for p from 1.
 * @param {number} most
 */
function shapleyShares(most) {
  const shares = new Float64Array((most + 1) * (most + 1));
  for (let q = 0; q <= most; q++) {
    // 1 / (p · C(p + q, p)), built up so that no factorial grows large
    let choose = 1;
    for (let p = 1; p + q <= most; p++) {
      choose *= (p + q) / p;
      shares[p * (most + 1) + q] = 1 / (p * choose);
    }
  }
  return shares;
}

/**
 * @param {PageModel} model
 * @param {Float64Array[]} codes
 * @param {Float64Array} share
 * @returns {Explainer}
 */
function forestExplainer(model, codes, share) {
  const forest = /** @type {ForestArrays} */ (model.forest);
  const { nodes, right, leaf, roots, questions, player, valueColumns, output } = forest;
  const outputs = model.rawOutputs;
  const words = (codes.length + 31) >> 5;
  const everyone = new Int32Array(words);
  for (let r = 0; r < codes.length; r++) everyone[r >> 5] |= 1 << (r & 31);
  const left = answersOf(questions, codes, words);
  const most = deepest(forest);
  const shares = shapleyShares(most);
  const width = most + 1;
  const values = scaledValues(model);

  // What is known at each level of the walk; one level is one question asked.
  const levels = depthOf(forest) + 1;
  const alive = new Int32Array((levels + 1) * words); // rows that meet all that x fails
  const met = new Int32Array((levels + 1) * words); // rows that meet a column's conditions so far
  const at = new Int32Array(model.players).fill(-1); // where in `met` a column's rows are
  const fails = new Uint8Array(model.players); // whether x fails a column's conditions
  const path = new Int32Array(levels + 1); // the columns of the path
  let onPath = 0;
  let failing = 0;
  const failed = new Uint8Array(words * 32); // how many columns each row fails at a leaf
  const hits = new Int32Array(codes.length);
  const gain = new Float64Array(levels + 1);
  /** @type {Float64Array} */
  let parts = new Float64Array(0);
  /** @type {Uint8Array} */
  let answers = new Uint8Array(0);
  let only = -1;

  /**
   * @param {number} node
   * @param {number} level
   */
  const walk = (node, level) => {
    const number = nodes[node];
    if (number === 0) {
      settle(node, level);
      return;
    }
    const question = number - 1;
    descend(node + 1, level, question, true);
    descend(right[node], level, question, false);
  };

  /**
   * @param {number} child
   * @param {number} level
   * @param {number} question
   * @param {boolean} toLeft
   */
  const descend = (child, level, question, toLeft) => {
    const k = player[questions.feature[question]];
    const before = at[k];
    const failedBefore = fails[k];
    const here = (level + 1) * words;
    const bits = question * words;
    for (let w = 0; w < words; w++) {
      const meets = toLeft ? left[bits + w] : everyone[w] & ~left[bits + w];
      met[here + w] = before < 0 ? meets : met[before + w] & meets;
    }
    const fits = (answers[question] === 1) === toLeft;
    const failsNow = failedBefore === 1 || !fits;
    if (failsNow) {
      let some = 0;
      for (let w = 0; w < words; w++) some |= alive[here + w] = alive[here - words + w] & met[here + w];
      if (some === 0) return; // neither x nor any row put together with it gets here
    } else {
      for (let w = 0; w < words; w++) alive[here + w] = alive[here - words + w];
    }
    at[k] = here;
    fails[k] = failsNow ? 1 : 0;
    if (before < 0) path[onPath++] = k;
    if (failsNow && !failedBefore) failing++;
    walk(child, level + 1);
    if (failsNow && !failedBefore) failing--;
    if (before < 0) onPath--;
    at[k] = before;
    fails[k] = failedBefore;
  };

  /**
   * @param {number} node
   * @param {number} level
   */
  const settle = (node, level) => {
    const here = level * words;
    let touched = 0;
    for (let i = 0; i < onPath; i++) {
      gain[i] = 0;
      const k = path[i];
      if (fails[k]) continue;
      for (let w = 0; w < words; w++) {
        let rest = alive[here + w] & ~met[at[k] + w];
        while (rest) {
          const row = (w << 5) + 31 - Math.clz32(rest & -rest);
          if (failed[row]++ === 0) hits[touched++] = row;
          rest &= rest - 1;
        }
      }
    }
    const q = failing;
    if (touched) {
      for (let i = 0; i < onPath; i++) {
        const k = path[i];
        if (fails[k]) continue;
        let sum = 0;
        for (let w = 0; w < words; w++) {
          let rest = alive[here + w] & ~met[at[k] + w];
          while (rest) {
            const row = (w << 5) + 31 - Math.clz32(rest & -rest);
            sum += share[row] * shares[failed[row] * width + q];
            rest &= rest - 1;
          }
        }
        gain[i] = sum;
      }
    }
    let loss = 0;
    if (q > 0) {
      // rows that fail none of x's columns: the q columns share the whole value
      for (let w = 0; w < words; w++) {
        let rest = alive[here + w];
        while (rest) {
          const row = (w << 5) + 31 - Math.clz32(rest & -rest);
          loss += share[row] * shares[q * width + failed[row]];
          rest &= rest - 1;
        }
      }
    }
    for (let i = 0; i < touched; i++) failed[hits[i]] = 0;
    const value = leaf[node] * valueColumns;
    for (let i = 0; i < onPath; i++) {
      const k = path[i];
      const weight = fails[k] ? -loss : gain[i];
      if (weight === 0) continue;
      if (only >= 0) parts[k * outputs + only] += weight * values[value];
      else for (let o = 0; o < outputs; o++) parts[k * outputs + o] += weight * values[value + o];
    }
  };

  return {
    baseline: Float64Array.from(model.data.baseline),
    parts: (code) => {
      parts = new Float64Array(model.players * outputs);
      answers = new Uint8Array(questions.feature.length);
      for (let q = 0; q < answers.length; q++) {
        answers[q] = goesLeft(questions, q, code[questions.feature[q]]) ? 1 : 0;
      }
      alive.set(everyone, 0);
      for (let tree = 0; tree < roots.length; tree++) {
        only = output[tree] - 1;
        walk(roots[tree], 0);
      }
      return parts;
    },
  };
}

/**
 * What leaves add to the raw prediction, after the division of means and votes.
 * @param {PageModel} model
 */
function scaledValues(model) {
  const { values, valueColumns, output, roots, leaf, nodes } = /** @type {ForestArrays} */ (model.forest);
  const divisor = model.data.divisor;
  const scaled = new Float64Array(values.length);
  for (let tree = 0; tree < roots.length; tree++) {
    const end = tree + 1 < roots.length ? roots[tree + 1] : nodes.length;
    for (let node = roots[tree]; node < end; node++) {
      if (leaf[node] < 0) continue;
      for (let c = 0; c < valueColumns; c++) {
        const i = leaf[node] * valueColumns + c;
        scaled[i] = values[i] / divisor[output[tree] ? output[tree] - 1 : c];
      }
    }
  }
  return scaled;
}

/**
 * For every question the rows that go left, as bits.
 * @param {Questions} questions
 * @param {Float64Array[]} codes
 * @param {number} words
 */
function answersOf(questions, codes, words) {
  const left = new Int32Array(questions.feature.length * words);
  for (let q = 0; q < questions.feature.length; q++) {
    const feature = questions.feature[q];
    for (let r = 0; r < codes.length; r++) {
      if (goesLeft(questions, q, codes[r][feature])) left[q * words + (r >> 5)] |= 1 << (r & 31);
    }
  }
  return left;
}

/**
 * The most questions on one path.
 * @param {ForestArrays} forest
 */
function depthOf(forest) {
  const { nodes, right } = forest;
  const depth = new Int32Array(nodes.length);
  let most = 0;
  for (let node = 0; node < nodes.length; node++) {
    if (!nodes[node]) continue;
    depth[node + 1] = depth[right[node]] = depth[node] + 1;
    most = Math.max(most, depth[node] + 1);
  }
  return most;
}

/**
 * The most columns on one path, or more.
 * @param {ForestArrays} forest
 */
function deepest(forest) {
  const players = new Set(forest.player).size;
  return Math.max(1, Math.min(players, depthOf(forest)));
}

Object.assign(outside, { readModel, predictRow, explainer });
