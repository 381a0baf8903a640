(() => {
  "use strict";

  // One function per kind of panel: it gets the panel's element and data, and
  // returns a function that shows the panel at one position of the slider.
  const panelKinds = { curves: curvesPanel };

  function curvesPanel(element, data) {
    const cursor = element.querySelector(".cil-cursor");
    const markers = element.querySelectorAll(".cil-marker");
    return (position) => {
      const x = data.x[position];
      moveTo(cursor, x, 0);
      markers.forEach((marker, k) => moveTo(marker, x, data.y[k][position]));
    };
  }

  function moveTo(shape, x, y) {
    shape.setAttribute("transform", `translate(${x} ${y})`);
  }

  function markRow(rows, position) {
    rows.forEach((row) => {
      row.classList.toggle("cil-current", Number(row.dataset.position) === position);
    });
  }

  function readData(root) {
    const holder = root.querySelector('script[type="application/json"]');
    return JSON.parse(holder.textContent);
  }

  function start(root) {
    const data = readData(root);
    const slider = root.querySelector("input");
    const readout = root.querySelector("output");
    const rows = root.querySelectorAll("tr[data-position]");
    const elements = root.querySelectorAll(".cil-panel");
    const panels = data.panels.map((panel, k) =>
      panelKinds[panel.kind](elements[k], panel)
    );

    function show() {
      const position = Number(slider.value);
      readout.textContent = data.texts[position];
      slider.setAttribute("aria-valuetext", data.texts[position]);
      markRow(rows, position);
      panels.forEach((showPanel) => showPanel(position));
    }

    slider.addEventListener("input", show);
    root.querySelector(".cil-controls").hidden = false;
    root.dataset.ready = "";
    show();
  }

  document.querySelectorAll(".cil-explorer:not([data-ready])").forEach(start);
})();
