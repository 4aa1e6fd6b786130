// Uses a report like a reader, and writes what it saw to the page: see test_report_exploration.py.
"use strict";
const found = {};
addEventListener("load", () => setTimeout(() => { read(); }, 300));
function read() {
  const page = document.querySelector("#scripted").contentDocument, $ = (id) => page.getElementById(id);
  const rows = () => [...page.querySelectorAll("#ranking tbody tr")].filter((row) => row.getClientRects().length);
  const names = () => rows().map((row) => row.querySelector("th").firstChild.textContent.trim());
  const set = (id, value) => {
    const control = $(id);
    if (control.type === "checkbox") control.checked = value; else control.value = value;
    for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
  };
  const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const marks = () => ({
    bar: $("marked").hidden ? "" : $("marked").innerText, rings: page.querySelectorAll("circle.ring").length,
    current: [...page.querySelectorAll("tr[aria-current]")].map((row) => row.id),
  });

  found.first = { names: names(), shown: $("shown").textContent, controls: !page.querySelector(".controls").hidden };
  set("show-all", true);
  found.all = names();
  set("sort-by", "train");
  found.byTrain = rows().map((row) => parseFloat(row.querySelector('[data-label="training rows"]').textContent));
  set("sort-down", true);
  found.byTrainReversed = rows().map((row) => parseFloat(row.querySelector('[data-label="training rows"]').textContent));
  $("reset").click();
  found.reset = names();

  const head = page.querySelector('th[data-sort="pooled"]');
  head.querySelector("button").click();
  const pooled = () => rows().map((row) => parseFloat(row.querySelector('[data-label="pooled"]').textContent));
  found.byHead = { pooled: pooled(), sort: head.getAttribute("aria-sort") };
  head.querySelector("button").click();
  found.byHeadAgain = { pooled: pooled(), sort: head.getAttribute("aria-sort") };
  $("reset").click();

  const [, first] = $("family").options;
  found.family = first.textContent;
  set("family", first.value);
  found.ofFamily = { names: names(), shown: $("shown").textContent, out: page.querySelectorAll("[data-c].out").length };
  $("reset").click();
  set("best-only", true);
  found.best = names();
  $("reset").click();
  set("find", "weights=DISTANCE");
  found.ofName = names();
  $("reset").click();
  const option = [...$("parameter").options].find((each) => each.textContent === "n_neighbors");
  set("parameter", option.value);
  set("least", "5");
  set("most", "9");
  found.ofRange = names();
  const weights = [...$("parameter").options].find((each) => each.textContent === "weights");
  set("parameter", weights.value);
  set("value", "uniform");
  found.ofValue = names();
  $("reset").click();

  const dots = [...page.querySelectorAll("figure svg [data-c]")];
  found.dots = dots.length;
  rows()[2].querySelector("td").click();
  found.clicked = { ...marks(), row: rows()[2].id };
  rows()[2].querySelector("td").click();
  found.unclicked = marks();

  const start = page.querySelector("#ranking tbody tr[tabindex]");
  const after = rows()[rows().indexOf(start) + 1].id;
  start.focus();
  press(page.activeElement, "ArrowDown");
  press(page.activeElement, "ArrowDown");
  press(page.activeElement, "ArrowUp");
  found.focused = { is: page.activeElement.id, after };
  press(page.activeElement, "Enter");
  found.entered = marks();
  press(page.activeElement, "Escape");
  found.escaped = marks();

  const svg = dots[0].closest("svg"), box = dots[0].getBoundingClientRect();
  const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };
  svg.dispatchEvent(new PointerEvent("pointermove", at));
  found.tip = $("tip").hidden ? "" : $("tip").innerText;
  svg.dispatchEvent(new MouseEvent("click", at));
  found.fromFigure = { ...marks(), dot: dots[0].dataset.c };
  press(svg, "End");
  found.lastDot = marks();
  press(svg, "Enter");
  found.shownRow = page.activeElement.id;
  press(svg, "Escape");

  set("family", [...$("family").options].map((each) => each.value)[2]);
  page.location.hash = "#c0";
  setTimeout(() => {
    found.fromAddress = marks();
    found.text = page.body.innerText;
    found.scripts = page.scripts.length;
    found.ids = page.querySelectorAll("svg [tabindex], svg[tabindex]").length;
    const still = document.querySelector("#still").contentDocument;
    const lines = () => [...still.querySelectorAll("#ranking tbody tr")].filter((row) => row.getClientRects().length);
    found.still = {
      rows: lines().length, controls: still.querySelector(".controls").getClientRects().length,
      buttons: still.querySelectorAll("thead button").length,
      links: [...still.querySelectorAll(".families a, nav a")].every((a) => still.querySelector(a.getAttribute("href"))),
      defaults: [...still.querySelectorAll("#parameters ~ details")].map((each) => each.open),
    };
    still.getElementById("show-all").checked = true;
    found.still.all = lines().length;
    found.loaded = document.querySelector("#scripted").contentWindow.performance.getEntriesByType("resource").length;
    console.log("the reader is done");
    document.body.dataset.found = JSON.stringify(found);
  }, 200);
}
