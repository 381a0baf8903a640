(() => {
  "use strict";

  // A panel is a drawing in which some elements change. For every position of the
  // controls it follows, the page carries the words that these elements take.
  function panelView(element, data, words) {
    const changing = element.querySelectorAll("[data-slot]");
    const readout = element.querySelector("output");
    let shown = null;
    return (position) => {
      const key = data.follows.map((k) => position[k]).join(" ");
      if (key !== shown) {
        shown = key;
        const n = data.positions.indexOf(key);
        data.slots.forEach(([k, attribute, numbers]) => {
          change(changing[k], attribute, words[numbers[n]]);
        });
        readout.textContent = words[data.texts[n]];
      }
      return readout.textContent;
    };
  }

  function change(element, attribute, word) {
    if (attribute === "text") {
      element.textContent = word;
    } else if (attribute === "html") {
      element.innerHTML = word;
    } else {
      element.setAttribute(attribute, word);
    }
  }

  // A row or a table says where it is current: a number for each control, or * for any.
  function isCurrent(element, position) {
    const matches = (place) =>
      place.split(" ").every((n, k) => n === "*" || Number(n) === position[k]);
    return element.dataset.at.split(",").some(matches);
  }

  // A slider may depend on a choice: keep its value there, or else its place.
  function adjust(slider, captions, before) {
    const same = captions.indexOf(before);
    const place = same < 0 ? Math.min(Number(slider.value), captions.length - 1) : same;
    slider.max = captions.length - 1;
    slider.value = place;
  }

  function start(root) {
    const holder = root.querySelector('script[type="application/json"]');
    const data = JSON.parse(holder.textContent);
    const bar = root.querySelector(".cil-controls");
    const inputs = [...bar.querySelectorAll("select, input")];
    const elements = root.querySelectorAll(".cil-panel");
    const views = data.panels.map((panel, k) =>
      panelView(elements[k], panel, data.words)
    );
    const rows = root.querySelectorAll("tr[data-at]");
    const tables = root.querySelectorAll("table[data-at]");
    const captions = inputs.map(() => "");

    function captionsOf(k) {
      const { within, captions } = data.controls[k];
      return captions[within === null ? 0 : Number(inputs[within].value)];
    }

    function show(changed) {
      inputs.forEach((input, k) => {
        if (changed !== undefined && data.controls[k].within === changed) {
          adjust(input, captionsOf(k), captions[k]);
        }
        captions[k] = captionsOf(k)[Number(input.value)];
      });
      const position = inputs.map((input) => Number(input.value));
      const texts = views.map((view) => view(position)).join("; ");
      inputs.forEach((input, k) => {
        if (input.type === "range") {
          input.setAttribute("aria-valuetext", `${captions[k]}; ${texts}`);
          input.parentElement.querySelector(".cil-value").textContent = captions[k];
        }
      });
      rows.forEach((row) => row.classList.toggle("cil-current", isCurrent(row, position)));
      tables.forEach((table) => {
        table.hidden = !isCurrent(table, position);
      });
    }

    inputs.forEach((input, k) => input.addEventListener("input", () => show(k)));
    bar.hidden = false;
    root.dataset.ready = "";
    show();
  }

  document.querySelectorAll(".cil-explorer:not([data-ready])").forEach(start);
})();
