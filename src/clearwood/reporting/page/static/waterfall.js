// A waterfall: from the mean, column by column, to the prediction.

const MOST_BARS = 10;
const NARROW = 460;

/**
 * @typedef {object} Bar
 * @property {string} label
 * @property {string} value
 * @property {number} part
 * @property {boolean} [changed]
 */

/**
 * The bars to draw: the largest parts, and the others together; parts of nothing have no bar.
 * @param {{column: number, part: number}[]} sorted
 * @param {RowColumn[]} columns
 * @param {any[]} values
 * @param {(column: number) => boolean} isChanged
 * @returns {Bar[]}
 */
function barsOf(sorted, columns, values, isChanged) {
  const moving = sorted.filter(({ part }) => Math.abs(part) > 1e-6 * Math.abs(sorted[0].part));
  const kept = moving.length <= MOST_BARS ? moving : moving.slice(0, MOST_BARS - 1);
  const bars = kept.map(({ column, part }) => ({
    label: columns[column].name,
    value: valueText(columns[column], values[column]),
    part,
    changed: isChanged(column),
  }));
  if (kept.length < moving.length) {
    const rest = moving.slice(kept.length);
    bars.push({
      label: count(rest.length, "other column"),
      value: "",
      part: rest.reduce((sum, { part }) => sum + part, 0),
      changed: false,
    });
  }
  return bars;
}

/**
 * Draw a waterfall into an element.
 * @param {HTMLElement} element
 * @param {Bar[]} bars
 * @param {{baseline: number, raw: number, before: number | null, scale: Scale, alt: string}} about
 */
function drawWaterfall(element, bars, about) {
  const width = Math.max(260, Math.floor(element.clientWidth || 640));
  const narrow = width < NARROW;
  const labels = narrow ? 0 : Math.min(240, Math.round(width * 0.36));
  const line = narrow ? 46 : 30;
  const top = 34;
  const height = top + bars.length * line + 40;
  const ends = [about.baseline];
  for (const bar of bars) ends.push(ends[ends.length - 1] + bar.part);
  const marks = about.before === null ? ends : [...ends, about.before];
  const low = Math.min(...marks);
  const high = Math.max(...marks);
  const room = 62; // for the numbers beside the bars
  const left = labels + room;
  const right = width - room;
  const x = (/** @type {number} */ value) =>
    high > low ? left + ((value - low) / (high - low)) * (right - left) : (left + right) / 2;
  const text = (/** @type {Bar} */ bar) => partNumber(about.scale, bar.part);

  const svg = svgEl("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": about.alt });
  const rule = (/** @type {number} */ value, /** @type {string} */ kind) =>
    svgEl("line", { class: kind, x1: x(value), x2: x(value), y1: top - 8, y2: height - 30 });
  svg.append(rule(about.baseline, "fall-mean"));
  if (about.before !== null) svg.append(rule(about.before, "fall-before"));
  bars.forEach((bar, k) => {
    const y = top + k * line;
    const middle = y + (narrow ? 31 : line / 2);
    const from = x(ends[k]);
    const to = x(ends[k + 1]);
    const words = bar.value ? `${bar.label} = ${bar.value}` : bar.label;
    const space = narrow ? width : labels;
    svg.append(
      svgEl("text", { class: bar.changed ? "fall-label changed" : "fall-label", x: narrow ? 0 : labels, y: narrow ? y + 14 : middle, "text-anchor": narrow ? "start" : "end", "dominant-baseline": "central" },
        svgEl("title", {}, words), shortened(words, space)),
      svgEl("rect", { class: bar.part < 0 ? "fall-down" : "fall-up", x: Math.min(from, to), y: middle - 9, width: Math.max(1, Math.abs(to - from)), height: 18, rx: 2 }),
    );
    if (k + 1 < bars.length) svg.append(svgEl("line", { class: "fall-link", x1: to, x2: to, y1: middle + 9, y2: middle + line - 9 }));
    const onRight = bar.part >= 0;
    svg.append(svgEl("text", { class: "fall-number", x: onRight ? Math.max(from, to) + 6 : Math.min(from, to) - 6, y: middle, "text-anchor": onRight ? "start" : "end", "dominant-baseline": "central" }, text(bar)));
  });
  const written = (/** @type {number} */ raw) => {
    const shown = about.scale.kind === "sum" ? raw : about.scale.onScale(raw);
    return shown === null || about.scale.response === "class" ? number(raw, IN_SENTENCES) : predictionText(about.scale, shown);
  };
  svg.append(
    endLabel(x(about.baseline), 14, `${about.scale.kind === "sum" ? "mean" : "typical"} ${written(about.baseline)}`, width),
    endLabel(x(about.raw), height - 14, `this row ${written(about.raw)}`, width, "fall-end strong"),
    svgEl("line", { class: "fall-link", x1: x(about.raw), x2: x(about.raw), y1: height - 38, y2: height - 24 }),
  );
  element.replaceChildren(svg);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {number} width
 * @param {string} [kind]
 */
function endLabel(x, y, text, width, kind = "fall-end") {
  const half = text.length * 3.6;
  const anchor = x < half ? "start" : x > width - half ? "end" : "middle";
  return svgEl("text", { class: kind, x: Math.max(0, Math.min(width, x)), y, "text-anchor": anchor, "dominant-baseline": "central" }, text);
}

/**
 * Cut a text to the space there is for it.
 * @param {string} text
 * @param {number} space in pixels
 */
function shortened(text, space) {
  const most = Math.max(8, Math.floor(space / 7.2));
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
