// Charts: drawn by Vega when they come near, sized to their place, in the colours of the theme.

/** @typedef {Record<string, any>} Spec */

/**
 * Colours that charts name by what they are in the light theme, and where the theme keeps them.
 * @type {Record<string, string>}
 */
const THEMED = {
  "#d55e00": "--up",
  "#0072b2": "--down",
  "#6e6e6e": "--muted",
  "#f7f7f7": "--middle",
  "#f2f2f2": "--middle",
  "#ffffff": "--paper",
  "#8c8c8c": "--muted",
  "#b9b9b9": "--faint",
  "#efc3a4": "--up-soft",
  "#a9cce3": "--down-soft",
  "#000000": "--ink",
  black: "--ink",
  white: "--paper",
  "#009e73": "--green",
  "#cc79a7": "--pink",
  "#e69f00": "--amber",
  "#56b4e9": "--sky",
};

/** How many times its own width a chart of several plots may take. */
const MOST_STRETCH = 2;

/** Where a specification holds data and words, which are never restyled. */
const DATA = new Set(["values", "datasets", "by column", "domain", "field", "title", "text"]);

/**
 * What has been drawn, to be drawn again when the theme or the width changes.
 * @type {Map<HTMLElement, { spec: Spec, width: number, finalize: () => void }>}
 */
const drawn = new Map();

/** @type {((element: HTMLElement, spec: Spec, options: Spec) => Promise<any>) | undefined} */
let embed;

/** Start Vega, whose script waits in the page as text until the first chart needs it. */
function vegaEmbed() {
  if (!embed) {
    const source = document.getElementById("vega")?.textContent ?? "";
    document.head.append(el("script", {}, source));
    embed = /** @type {any} */ (window).vegaEmbed;
  }
  return /** @type {NonNullable<typeof embed>} */ (embed);
}

/**
 * Copy a value, changing what `change` changes on the way; data is left as it is.
 * @param {any} value
 * @param {(value: any) => any} change
 * @returns {any}
 */
function mapSpec(value, change) {
  if (Array.isArray(value)) return value.map((item) => mapSpec(item, change));
  if (value === null || typeof value !== "object") return change(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, DATA.has(key) ? item : mapSpec(item, change)]),
  );
}

/**
 * Turn data that is carried by column back into records.
 * @param {any} value
 * @returns {any}
 */
function unpackSpec(value) {
  if (Array.isArray(value)) return value.map(unpackSpec);
  if (value === null || typeof value !== "object") return value;
  const columns = value["by column"];
  if (columns !== null && typeof columns === "object") {
    const names = Object.keys(columns);
    return columns[names[0]].map((/** @type {any} */ _, /** @type {number} */ row) =>
      Object.fromEntries(names.map((name) => [name, columns[name][row]])),
    );
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpackSpec(item)]));
}

/** @param {string} property @returns {string} */
function themed(property) {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}

/**
 * Vega's settings for the theme of now and a width.
 * @param {number} width
 * @returns {Spec}
 */
function chartConfig(width) {
  const [ink, muted, line] = ["--ink", "--muted", "--line"].map(themed);
  const text = { labelColor: muted, titleColor: muted, labelFontSize: 12, titleFontSize: 12 };
  const limit = Math.round(Math.max(80, Math.min(220, width * 0.34)));
  return {
    aria: false, // the drawing has one text of its own
    background: "transparent",
    font: themed("--font"),
    padding: 2,
    view: { stroke: null },
    axis: {
      ...text,
      titleFontWeight: 500,
      titlePadding: 8,
      labelLimit: limit,
      maxExtent: limit + 40,
      titleLimit: width,
      gridColor: line,
      domainColor: line,
      tickColor: line,
    },
    legend: {
      ...text,
      titleFontWeight: 500,
      labelLimit: limit,
      ...(width < 480
        ? { orient: "bottom", columns: 2, layout: { bottom: { direction: "vertical" } } }
        : {}),
    },
    header: { ...text, labelLimit: limit },
    title: { color: ink, subtitleColor: muted, fontSize: 13, fontWeight: 600, anchor: "start" },
    mark: { color: themed("--down") },
    text: { color: ink },
    rule: { color: muted },
    axisXQuantitative: { tickCount: Math.max(3, Math.round(width / 90)) },
    axisYQuantitative: { tickCount: 5 },
    range: {
      category: ["--down", "--up", "--green", "--pink", "--amber", "--sky", "--ink"].map(themed),
    },
  };
}

/**
 * How wide the plots of a specification are side by side, axes and gaps not counted.
 * @param {Spec} spec
 * @returns {number}
 */
function span(spec) {
  if (spec.hconcat)
    return spec.hconcat.reduce(
      (/** @type {number} */ sum, /** @type {Spec} */ part) => sum + span(part),
      0,
    );
  if (spec.vconcat) return Math.max(...spec.vconcat.map(span));
  return typeof spec.width === "number" ? spec.width : 0;
}

/**
 * Widen or narrow every plot of a specification.
 * @param {Spec} spec
 * @param {number} factor
 * @returns {Spec}
 */
function stretch(spec, factor) {
  const copy = { ...spec };
  for (const key of ["hconcat", "vconcat"]) {
    if (copy[key]) copy[key] = copy[key].map((/** @type {Spec} */ part) => stretch(part, factor));
  }
  if (typeof copy.width === "number") copy.width = Math.max(24, Math.round(copy.width * factor));
  return copy;
}

/** @param {Spec} spec @returns {boolean} whether it is one plot, which takes any width */
function isSingle(spec) {
  const compound = ["hconcat", "vconcat", "concat", "facet", "repeat"].some((key) => key in spec);
  const facets = ["row", "column", "facet"].some((channel) => spec.encoding?.[channel]);
  return !compound && !facets && typeof spec.width !== "object";
}

/** @param {Spec} spec @returns {boolean} whether it writes beside its marks, perhaps past its edge */
function hasText(spec) {
  return (spec.mark?.type ?? spec.mark) === "text" || (spec.layer ?? []).some(hasText);
}

/**
 * Draw a chart into an element, or draw it again. The element should say what the chart shows
 * (`role="img"` with a label); where it does not, the specification's description does.
 * @param {HTMLElement} element
 * @param {Spec} spec of Vega-Lite
 * @returns {Promise<void>}
 */
async function drawChart(element, spec) {
  const width = Math.floor(element.clientWidth);
  if (width === 0) return;
  const before = drawn.get(element);
  const state = { spec, width, finalize: () => {} };
  drawn.set(element, state);
  if (spec.description && !element.hasAttribute("role")) {
    fill(element, { role: "img", "aria-label": spec.description }, []);
  }

  // Made off the page and then put in place, so that nothing jumps.
  const sheet = el("div", { "aria-hidden": "true" });
  let finalize = () => {};
  try {
    finalize = await drawFitting(sheet, recolour(spec), width);
  } catch (error) {
    console.warn("A chart could not be drawn:", error);
    const words = element.getAttribute("aria-label") ?? "";
    sheet.replaceChildren(el("p", { dir: "auto" }, `This chart could not be drawn. ${words}`));
  }
  if (drawn.get(element) !== state) {
    finalize(); // another drawing was asked for meanwhile
    return;
  }
  before?.finalize();
  state.finalize = finalize;
  element.replaceChildren(sheet);
  element.classList.add("drawn");
  // what must be scrolled must be reached
  if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
}

/**
 * Replace the colours that charts share by those of the theme of now.
 * @param {Spec} spec
 * @returns {Spec}
 */
function recolour(spec) {
  const colours = Object.fromEntries(
    Object.entries(THEMED).map(([light, name]) => [light, themed(name)]),
  );
  return mapSpec(spec, (value) =>
    typeof value === "string" ? (colours[value.toLowerCase()] ?? value) : value,
  );
}

/**
 * Draw a chart at a given width.
 * @param {HTMLElement} sheet
 * @param {Spec} spec
 * @param {number} width
 * @returns {Promise<() => void>} what to call when the drawing goes
 */
async function drawFitting(sheet, spec, width) {
  const config = chartConfig(width);
  const single = isSingle(spec);
  if (single && !hasText(spec)) {
    return put(sheet, { ...spec, width }, config, {
      autosize: { type: "fit-x", contains: "padding" },
    });
  }
  const start = single ? { ...spec, width: Math.max(60, width - 120) } : spec;
  let sized = start;
  let finalize = await put(sheet, sized, config);
  // Axes and gaps take what they take; a second look is needed where they change with the plots.
  for (let look = 0; look < 3; look += 1) {
    const total = sheet.querySelector("svg")?.width.baseVal.value ?? width;
    const plots = span(sized);
    if (!plots || (total <= width && total > width - 8)) break;
    const factor = (plots + width - 2 - total) / plots;
    if (plots * factor > span(start) * MOST_STRETCH) break;
    sized = stretch(sized, Math.max(0.2, factor));
    finalize();
    finalize = await put(sheet, sized, config);
  }
  return finalize;
}

/**
 * @param {HTMLElement} sheet
 * @param {Spec} spec
 * @param {Spec} config
 * @param {Spec} [layout] laid over what Vega-Lite makes of the specification
 * @returns {Promise<() => void>}
 */
async function put(sheet, spec, config, layout = {}) {
  const view = await vegaEmbed()(sheet, unpackSpec(spec), {
    mode: "vega-lite",
    patch: (/** @type {Spec} */ compiled) => ({ ...compiled, ...layout }),
    ast: true, // expressions are interpreted: the page's policy forbids code made from text
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    tooltip: showTooltip,
    config,
  });
  return () => view.finalize();
}

/**
 * Draw again what has been drawn: in the colours of now, at the widths of now.
 * @returns {Promise<void>}
 */
async function redrawCharts() {
  await Promise.all(Array.from(drawn, ([element, { spec }]) => drawChart(element, spec)));
}

/** @type {HTMLElement | undefined} */
let tooltip;

/**
 * Show what lies under the pointer.
 * @param {unknown} _handler
 * @param {MouseEvent} event
 * @param {unknown} _item
 * @param {any} value
 */
function showTooltip(_handler, event, _item, value) {
  if (!tooltip) {
    tooltip = el("div", { class: "tooltip", "aria-hidden": "true" });
    document.body.append(tooltip);
  }
  tooltip.hidden = value === null || value === undefined || value === "";
  if (tooltip.hidden) return;
  const pairs = typeof value === "object" ? Object.entries(value) : [["", value]];
  tooltip.replaceChildren(
    el(
      "dl",
      {},
      ...pairs.map(([name, shown]) =>
        el("div", {}, el("dt", {}, String(name)), el("dd", {}, String(shown))),
      ),
    ),
  );
  const box = tooltip.getBoundingClientRect();
  tooltip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  tooltip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8))}px`;
}

/**
 * A specification without the layers whose names begin with a word.
 * @param {Spec} spec
 * @param {string} word
 * @returns {Spec}
 */
function withoutLayers(spec, word) {
  const copy = { ...spec };
  for (const key of ["layer", "hconcat", "vconcat"]) {
    if (copy[key]) {
      copy[key] = copy[key]
        .filter((/** @type {Spec} */ part) => !String(part.name ?? "").startsWith(word))
        .map((/** @type {Spec} */ part) => withoutLayers(part, word));
    }
  }
  return copy;
}

/**
 * Bring a figure to life: drawn when near, its data one click away.
 * @param {HTMLElement} figure
 */
function startChart(figure) {
  const drawing = /** @type {HTMLElement} */ (figure.querySelector(".drawing"));
  const { toggle, layer } = figure.dataset;
  const box = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: true }));
  const draw = () => {
    const { spec } = readData(figure.id);
    return drawChart(drawing, layer && !box.checked ? withoutLayers(spec, layer) : spec);
  };
  if (toggle) {
    box.addEventListener("change", draw);
    drawing.before(el("label", { class: "toggle" }, box, ` ${toggle}`));
  }
  whenNear(drawing, draw);
  new ResizeObserver(
    settled(() => {
      const state = drawn.get(drawing);
      if (state && drawing.clientWidth && Math.abs(drawing.clientWidth - state.width) > 4) draw();
    }, 120),
  ).observe(drawing);
  figure.append(chartData(figure));
}
