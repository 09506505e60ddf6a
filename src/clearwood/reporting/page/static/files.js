// Files that the page carries as text, to save.

widgets.files = (element, data) => {
  for (const file of data?.files ?? []) {
    const save = () => saveText(file.name, file.text);
    const label = `Save ${file.name}`;
    element.append(el("button", { type: "button", class: "quiet", on: { click: save } }, label), " ");
  }
};
