// Choices: tabs where the names are few and short, a list to choose from where they are not.

const MOST_TABS = 6;
const MOST_LETTERS = 90;

/**
 * Let one of several views be shown.
 * @param {HTMLElement} choice
 */
function startChoice(choice) {
  const panels = Array.from(choice.children).filter((child) => child.classList.contains("option"));
  if (panels.length < 2) return;
  const names = panels.map((panel) => panel.querySelector(".option-title")?.textContent ?? "");
  const short = names.length <= MOST_TABS && names.join("").length <= MOST_LETTERS;
  choice.prepend(short ? tabs(choice, panels, names) : list(choice, panels, names));
}

/** @param {Element[]} panels @param {number} place */
function showPanel(panels, place) {
  panels.forEach((panel, other) => panel.toggleAttribute("hidden", other !== place));
}

/**
 * @param {HTMLElement} choice
 * @param {Element[]} panels
 * @param {string[]} names
 * @returns {HTMLElement}
 */
function tabs(choice, panels, names) {
  const buttons = names.map((name, place) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${panels[place].id}-tab`,
        dir: "auto",
        "aria-controls": panels[place].id,
        on: { click: () => select(place), keydown: move },
      },
      name,
    ),
  );
  panels.forEach((panel) => {
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `${panel.id}-tab`);
  });

  /** @param {number} place */
  function select(place) {
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === place));
      button.tabIndex = other === place ? 0 : -1;
    });
    showPanel(panels, place);
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const here = buttons.findIndex((button) => button === event.target);
    const last = buttons.length - 1;
    const there = {
      ArrowRight: here === last ? 0 : here + 1,
      ArrowLeft: here === 0 ? last : here - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (there === undefined) return;
    event.preventDefault();
    select(there);
    buttons[there].focus();
  }

  select(0);
  return el(
    "div",
    { class: "tabs", role: "tablist", "aria-label": choice.dataset.label },
    ...buttons,
  );
}

/**
 * @param {HTMLElement} choice
 * @param {Element[]} panels
 * @param {string[]} names
 * @returns {HTMLElement}
 */
function list(choice, panels, names) {
  const select = el(
    "select",
    { id: `${choice.id}-list`, dir: "auto", on: { change: show } },
    ...names.map((name, place) => el("option", { value: place }, name)),
  );
  const step = (/** @type {number} */ by) => () => {
    select.selectedIndex = (select.selectedIndex + by + names.length) % names.length;
    show();
  };
  const position = el("span", { class: "count", role: "status" });

  function show() {
    showPanel(panels, select.selectedIndex);
    position.textContent = `${select.selectedIndex + 1} of ${names.length}`;
  }

  show();
  return el(
    "div",
    { class: "picker" },
    el("label", { for: select.id }, choice.dataset.label ?? ""),
    select,
    el(
      "button",
      { type: "button", class: "quiet", "aria-label": "Previous", on: { click: step(-1) } },
      "←",
    ),
    el(
      "button",
      { type: "button", class: "quiet", "aria-label": "Next", on: { click: step(1) } },
      "→",
    ),
    position,
  );
}
