// One tree: places that open and close, with the rows that come to them.

const OPEN_LEVELS = 3;
// Deeper places are not set in any further: the lines would leave the page.
const FLAT_FROM = 9;
const CLASS_COLOURS = ["down", "up", "green", "pink", "amber", "sky", "muted"];

/** The row that was chosen last, and whether its way is to be opened: the tree may start later. */
/** @type {{label: number, steps: Steps | null, isChanged: boolean} | null} */
let lastRow = null;
let wayWanted = false;
document.addEventListener("clearwood-row", (event) => { lastRow = /** @type {CustomEvent} */ (event).detail; });
document.addEventListener("clearwood-way", () => { wayWanted = true; });

widgets.tree = (element, data) => {
  if (data?.question) startTree(element, data);
};

/**
 * @typedef {object} PageTree
 * @property {any} data
 * @property {any} question the question of each place from 1; 0 where it asks nothing
 * @property {any} split its split in `data.splits`
 * @property {any} rows how many rows come to each place
 * @property {any} answer what a leaf answers, from 1; 0 at other places
 * @property {any} below how many leaves a closed place has below it
 * @property {Int32Array} right
 * @property {Questions | null} questions to follow new rows with
 */

/** @typedef {{place: number, left: boolean | null}[]} Steps the places on a way, and where it goes on */

/**
 * @param {any} data
 * @returns {PageTree}
 */
function readTree(data) {
  const question = unpack(data.question);
  const right = new Int32Array(question.length).fill(-1);
  /** @type {number[]} */
  const open = [];
  for (let place = 0; place < question.length; place++) {
    if (place > 0 && question[place - 1] === 0) right[/** @type {number} */ (open.pop())] = place;
    if (question[place]) open.push(place);
  }
  return {
    data,
    question,
    right,
    split: unpack(data.split),
    rows: unpack(data.rows),
    answer: unpack(data.answer),
    below: unpack(data.below),
    questions: data.questions ? readQuestions(data.questions, data.precision) : null,
  };
}

/** The tree of this page, if it has one. */
function treeOfPage() {
  const widget = all(".widget").find((one) => one.dataset.widget === "tree");
  const data = widget ? readData(widget.id) : null;
  return data?.question ? readTree(data) : null;
}

/**
 * @param {PageTree} tree
 * @param {(place: number, step: number) => boolean | null} goes
 * @returns {Steps}
 */
function follow(tree, goes) {
  const steps = [];
  let place = 0;
  while (tree.question[place]) {
    const left = goes(place, steps.length);
    if (left === null) break;
    steps.push({ place, left });
    place = left ? place + 1 : tree.right[place];
  }
  return [...steps, { place, left: null }];
}

/**
 * Follow a way that is known: "1" for left, "0" for right.
 * @param {PageTree} tree
 * @param {string} way
 */
function followWay(tree, way) {
  return follow(tree, (_, step) => (step < way.length ? way[step] === "1" : null));
}

/**
 * Follow a row of the model's columns.
 * @param {PageTree} tree
 * @param {Float64Array} code
 */
function followCode(tree, code) {
  const questions = /** @type {Questions} */ (tree.questions);
  return follow(tree, (place) => {
    const question = tree.question[place] - 1;
    return goesLeft(questions, question, code[questions.feature[question]]);
  });
}

/**
 * What a way asks of each column, put together: two bounds of one column are one condition.
 * @param {PageTree} tree
 * @param {Steps} steps
 * @param {Set<string>} [lacking] columns that the row has no value of
 * @returns {string[]}
 */
function conditionsOf(tree, steps, lacking = new Set()) {
  /** @type {Map<string, any>} */
  const found = new Map();
  for (const { place, left } of steps) {
    if (left === null) continue;
    const split = tree.data.splits[tree.split[place]];
    const name = tree.data.columns[split.column];
    if (lacking.has(name) || split.is_known) {
      const missing = lacking.has(name) || !left;
      found.set(`m${split.column}`, missing ? { text: `${name} is missing` } : { name, known: split.column });
    } else if (split.cut !== undefined) {
      const own = found.get(`n${split.column}`) ?? { name, low: -Infinity, high: Infinity };
      if (left) own.high = Math.min(own.high, split.cut);
      else own.low = Math.max(own.low, split.cut);
      found.set(`n${split.column}`, own);
    } else if (split.left) {
      const passes = left ? split.left : split.right;
      const own = found.get(`l${split.column}`);
      const kept = own ? own.labels.filter((/** @type {string} */ label) => passes.includes(label)) : passes;
      found.set(`l${split.column}`, { name, labels: kept });
    } else {
      found.set(`t${tree.split[place]}${left}`, { text: left ? split.text : `not: ${split.text}` });
    }
  }
  const conditions = Array.from(found.values()).filter(
    ({ known }) => known === undefined || !(found.has(`n${known}`) || found.has(`l${known}`)),
  );
  return conditions.map(conditionText);
}

/** @param {any} condition */
function conditionText(condition) {
  if (condition.text) return condition.text;
  if (condition.known !== undefined) return `${condition.name} is known`;
  if (condition.labels) {
    const labels = condition.labels;
    if (!labels.length) return `${condition.name} is none of the known levels`;
    const shown = labels.length > 6 ? [...labels.slice(0, 5), `${labels.length - 5} others`] : labels;
    return `${condition.name} is ${shown.length > 1 ? `${shown.slice(0, -1).join(", ")} or ${shown[shown.length - 1]}` : shown[0]}`;
  }
  const { name, low, high } = condition;
  if (low === -Infinity) return `${name} ≤ ${number(high)}`;
  return high === Infinity ? `${name} > ${number(low)}` : `${number(low)} < ${name} ≤ ${number(high)}`;
}

/**
 * What stands at the end of a way.
 * @param {PageTree} tree
 * @param {number} place
 */
function endText(tree, place) {
  const answer = tree.answer[place];
  if (answer) return answerText(tree.data.answers[answer - 1]);
  return `${tree.below[place].toLocaleString("en")} more ${tree.below[place] === 1 ? "leaf" : "leaves"}`;
}

/** @param {any} answer */
function answerText(answer) {
  if (!answer.certified) return "ensemble predicts";
  return answer.value === undefined || answer.value === null ? answer.text : number(answer.value);
}

/**
 * A way in words.
 * @param {PageTree} tree
 * @param {Steps} steps
 * @param {Set<string>} lacking columns that the row has no value of
 * @param {number | null} whole how many questions the row is asked, where that is known
 */
function pathWords(tree, steps, lacking, whole) {
  const end = steps[steps.length - 1].place;
  const conditions = conditionsOf(tree, steps, lacking);
  const passed = steps.length - 1;
  const questions = count(passed, "question");
  const answer = tree.answer[end] ? tree.data.answers[tree.answer[end] - 1] : null;
  const of = whole === null ? questions : `${passed} of its ${count(whole, "question")}`;
  const lead = !answer
    ? `After ${of} it reaches a part of the tree that this page does not carry (${endText(tree, end)}). So far:`
    : answer.certified
      ? `After ${questions} the tree predicts ${answerText(answer)}, as the model does, because:`
      : `After ${questions} it reaches a leaf that is not certified, where the model itself is used.`;
  const chapter = all(".widget").find((one) => one.dataset.widget === "tree")?.closest("section");
  const open = () => document.dispatchEvent(new CustomEvent("clearwood-way"));
  const link = el("a", { href: `#${chapter?.id ?? ""}`, on: { click: open } }, "Show it in the tree");
  return el("div", {}, el("p", {}, lead),
    conditions.length ? el("ul", { class: "conditions" }, ...conditions.map((text) => el("li", { dir: "auto" }, text))) : null,
    el("p", {}, link));
}

/**
 * The colour of an answer: of its class, or between blue and orange by its value.
 * @param {HTMLElement} element
 * @param {any} answer
 * @param {{low: number, high: number}} range
 */
function paint(element, answer, range) {
  if (!answer.certified) return;
  if (answer.class !== undefined) {
    element.style.background = `var(--${CLASS_COLOURS[answer.class % CLASS_COLOURS.length]})`;
  } else if (answer.value !== undefined && range.high > range.low) {
    const share = (100 * (answer.value - range.low)) / (range.high - range.low);
    element.style.background = `color-mix(in oklab, var(--up) ${share.toFixed(0)}%, var(--down))`;
  }
}

/**
 * Bring the tree to life.
 * @param {HTMLElement} element
 * @param {any} data
 */
function startTree(element, data) {
  const tree = readTree(data);
  const values = data.answers.map((/** @type {any} */ answer) => answer.value).filter((/** @type {any} */ value) => typeof value === "number");
  const range = { low: Math.min(...values), high: Math.max(...values) };
  /** @type {Map<number, HTMLElement>} */
  const lines = new Map();
  /** @type {Map<number, (open: boolean) => void>} */
  const toggles = new Map();

  /**
   * @param {number} place
   * @param {string} from the way here: yes, no, or nothing at the root
   * @param {number} level
   * @returns {HTMLElement}
   */
  function item(place, from, level) {
    const way = from ? el("span", { class: `tree-way ${from}` }, from) : null;
    const asks = tree.question[place] > 0;
    const line = el("div", { class: tree.rows[place] ? "tree-line" : "tree-line empty" });
    const li = el("li", {}, line);
    lines.set(place, li);
    if (lastRow?.steps?.some((step) => step.place === place)) li.classList.add("on-way");
    if (asks) {
      const under = el("ul", { hidden: true, class: level >= FLAT_FROM ? "flat" : null });
      const button = el("button", { type: "button", class: "tree-toggle", "aria-expanded": "false", dir: "auto", on: { click: () => toggle(button.getAttribute("aria-expanded") !== "true") } },
        `${data.splits[tree.split[place]].text}?`);
      const toggle = (/** @type {boolean} */ open) => {
        if (open && !under.childElementCount) under.append(item(place + 1, "yes", level + 1), item(tree.right[place], "no", level + 1));
        under.hidden = !open;
        button.setAttribute("aria-expanded", String(open));
      };
      toggles.set(place, toggle);
      line.append(...[way, button].filter((part) => part !== null), support(place));
      li.append(under);
      if (level < OPEN_LEVELS) toggle(true);
    } else {
      const answer = tree.answer[place] ? data.answers[tree.answer[place] - 1] : null;
      const chip = el("span", { class: "tree-chip", "aria-hidden": "true" });
      if (answer) paint(chip, answer, range);
      const kind = answer ? (answer.certified ? "tree-answer" : "tree-answer open") : "tree-answer closed";
      line.append(...[way, el("span", { class: kind, dir: "auto" }, chip, endText(tree, place))].filter((part) => part !== null), support(place));
    }
    return li;
  }

  /** @param {number} place */
  function support(place) {
    const n = tree.rows[place];
    const share = data.n_rows ? n / data.n_rows : 0;
    const bar = el("span", { class: "tree-bar", "aria-hidden": "true" }, el("span", {}));
    /** @type {HTMLElement} */ (bar.firstElementChild).style.width = `${100 * share}%`;
    const mean = data.mean?.[place];
    const words = count(n, "row");
    const outcome = mean === null || mean === undefined ? "" : `${data.outcome} ${data.classes.length === 2 ? percent(mean) : number(mean)}`;
    return el("span", { class: "tree-support" }, bar,
      el("span", { class: "tree-count" }, el("span", { class: "tree-rows" }, words), data.mean ? el("span", { class: "tree-mean", dir: "auto" }, outcome) : null));
  }

  /** @param {boolean} open */
  function everywhere(open) {
    if (open) {
      // opening a place makes the places below it, so the list grows while it is walked
      for (let place = 0; place < tree.question.length; place++) toggles.get(place)?.(true);
    } else {
      for (const [place, toggle] of toggles) if (place > 0) toggle(false);
    }
  }

  const button = (/** @type {string} */ text, /** @type {() => void} */ act) => el("button", { type: "button", class: "quiet", on: { click: act } }, text);
  const marked = el("p", { class: "rows-words", role: "status" });
  const notes = data.n_closed
    ? `This page carries the ${count(tree.question.length, "node")} with the most rows; ${data.n_closed.toLocaleString("en")} of them continue below, with ${data.rows_closed.toLocaleString("en")} of ${count(data.n_rows, "row")}.`
    : "";
  element.append(
    el("div", { class: "tree-tools" }, button("Open all", () => everywhere(true)), button("Close all", () => everywhere(false)), legend(data, range)),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The tree" }, el("ul", { class: "tree-root" }, item(0, "", 0))),
    marked,
    el("p", { class: "rows-words" }, `The bar is the share of the ${count(data.n_rows, "row")} that reach a node. ${notes}`));

  /** @param {boolean} open whether places on the way are opened */
  function mark(open) {
    for (const line of all(".on-way", element)) line.classList.remove("on-way");
    marked.textContent = lastRow?.steps ? `The path of row ${lastRow.label}${lastRow.isChanged ? ", changed," : ""} is marked.` : "";
    for (const { place, left } of lastRow?.steps ?? []) {
      if (open && left !== null) toggles.get(place)?.(true);
      lines.get(place)?.classList.add("on-way");
    }
  }

  document.addEventListener("clearwood-row", () => mark(false));
  document.addEventListener("clearwood-way", () => mark(true));
  mark(wayWanted);
}

/**
 * What colours mean.
 * @param {any} data
 * @param {{low: number, high: number}} range
 */
function legend(data, range) {
  const answers = data.answers.filter((/** @type {any} */ answer) => answer.certified);
  const used = Array.from(new Set(answers.map((/** @type {any} */ answer) => answer.class))).filter((k) => k !== undefined).sort();
  const entry = (/** @type {any} */ answer, /** @type {string} */ text) => {
    const chip = el("span", { class: "tree-chip", "aria-hidden": "true" });
    paint(chip, answer, range);
    return el("span", { class: "tree-key", dir: "auto" }, chip, text);
  };
  if (used.length) return el("div", { class: "tree-legend" }, ...used.slice(0, 12).map((k) => entry({ certified: true, class: k }, data.classes[/** @type {number} */ (k)])));
  if (!(range.high > range.low)) return el("div", {});
  return el("div", { class: "tree-legend" }, entry({ certified: true, value: range.low }, number(range.low)), entry({ certified: true, value: range.high }, number(range.high)));
}


Object.assign(outside, { readTree, followWay, followCode, conditionsOf });
