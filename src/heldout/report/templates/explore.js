// Sorts and filters the table of configurations, and marks one of them in the table and in every figure.
(() => {
  "use strict";
  const holder = document.getElementById("configurations-data");
  const table = document.getElementById("ranking");
  if (!holder || !table) return;
  const byId = (id) => document.getElementById(id);
  const { greater, ...columns } = JSON.parse(holder.textContent);
  const MOST_SHOWN = 20, NEAR = 24;
  const body = table.tBodies[0];
  const entries = [...body.rows].map((row, place) => {
    const entry = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[place]]));
    const name = row.querySelector("th.name").firstChild.textContent.trim();
    const rank = Number(row.cells[0].textContent), wins = row.classList.contains("winner");
    return { ...entry, row, rank, name, wins };
  });
  const byIndex = new Map(entries.map((entry) => [entry.index, entry]));
  const firstOfFamily = new Set();
  const bests = new Set(entries.filter((e) => !firstOfFamily.has(e.family) && firstOfFamily.add(e.family)));

  // --- sorting and filtering ---

  const sortBy = byId("sort-by"), down = byId("sort-down"), family = byId("family"), parameter = byId("parameter");
  const find = byId("find"), bestOnly = byId("best-only"), showAll = byId("show-all"), holderOfValues = byId("values");
  const shown = byId("shown");

  let found = entries, order = entries;  // what matches, and all rows as they stand in the table
  const isShown = ({ row }) => !row.hidden && (!showAll || showAll.checked || !row.classList.contains("more"));

  function keyOf(entry, by) {
    if (by === "name") return entry.name;
    if (by[0] === "p" && by !== "pooled") return entry.values[Number(by.slice(1))];
    return by === "mean" ? entry.rank : entry[by];
  }

  const largestFirst = (by) => by === "selected" || ((by === "train" || by === "pooled") && greater);

  function compare(a, b) {  // the best, largest share or least value first; missing ones always last
    const by = sortBy.value, x = keyOf(a, by), y = keyOf(b, by);
    if (x === y) return a.rank - b.rank;
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    const text = typeof x === "string" || typeof y === "string";
    let difference = text ? String(x).localeCompare(String(y), "en", { numeric: true }) : x - y;
    if (largestFirst(by) !== down.checked) difference = -difference;
    return difference || a.rank - b.rank;
  }

  function matches(entry) {
    if (family && family.value && entry.family !== Number(family.value)) return false;
    if (bestOnly && bestOnly.checked && !bests.has(entry)) return false;
    if (find.value && !entry.name.toLowerCase().includes(find.value.toLowerCase())) return false;
    if (!parameter || parameter.value === "") return true;
    const value = entry.values[Number(parameter.value)];
    if (value === null) return false;
    const exact = byId("value"), least = byId("least"), most = byId("most");
    if (exact) return exact.value === "" || String(value) === exact.value;
    if (typeof value !== "number") return least.value === "" && most.value === "";
    return (least.value === "" || value >= Number(least.value)) && (most.value === "" || value <= Number(most.value));
  }

  function update() {
    const before = order;
    found = entries.filter(matches).sort(compare);
    const kept = new Set(found);
    order = [...found, ...entries.filter((entry) => !kept.has(entry))];
    for (const entry of entries) entry.row.hidden = !kept.has(entry);
    found.forEach((entry, place) => {
      entry.row.classList.toggle("more", place >= MOST_SHOWN && !entry.wins && entry !== marked);
    });
    if (order.some((entry, place) => entry !== before[place])) body.append(...order.map((entry) => entry.row));
    for (const dot of document.querySelectorAll("[data-c]")) {
      const entry = byIndex.get(Number(dot.dataset.c));
      dot.classList.toggle("out", entry !== undefined && !kept.has(entry));
    }
    for (const head of table.tHead.querySelectorAll("[data-sort]")) {
      const by = head.dataset.sort;
      const upwards = largestFirst(by) === down.checked;
      if (by === sortBy.value) head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    const count = found.filter(isShown).length;
    shown.textContent = found.length === entries.length && count === found.length
      ? `All ${count.toLocaleString("en")} configurations.`
      : `${count} of ${found.length.toLocaleString("en")} configurations`
        + `${found.length < entries.length ? ` that match, of ${entries.length.toLocaleString("en")}` : ""}.`;
    focusable();
  }

  function offerValues() {
    holderOfValues.replaceChildren();
    if (parameter.value === "") return;
    const all = entries.map((entry) => entry.values[Number(parameter.value)]).filter((value) => value !== null);
    const distinct = [...new Set(all)];
    const numeric = distinct.every((value) => typeof value === "number");
    distinct.sort((a, b) => (numeric ? a - b : String(a).localeCompare(String(b), "en", { numeric: true })));
    if (numeric && distinct.length > 15) {
      for (const [id, text] of [["least", "at least"], ["most", "at most"]]) {
        const label = document.createElement("label"), input = document.createElement("input");
        Object.assign(input, { type: "number", id, step: "any" });
        label.append(`${text} `, input);
        holderOfValues.append(label, " ");
      }
      return;
    }
    const label = document.createElement("label"), select = document.createElement("select");
    select.id = "value";
    select.append(new Option("any value", ""));
    for (const value of distinct) select.append(new Option(String(value), String(value)));
    label.append("is ", select);
    holderOfValues.append(label);
  }

  // --- marking one configuration ---

  let marked = null;
  const bar = byId("marked"), tip = byId("tip");

  function words(entry) {  // the numbers as the table shows them
    const cells = [...entry.row.querySelectorAll("td[data-label]")];
    const unit = (cell) => (cell.querySelector(".sd") ? " SD" : "");
    const scores = cells.map((cell) => `${cell.dataset.label} ${cell.textContent.trim()}${unit(cell)}`);
    return [`rank ${entry.rank}`, ...scores].join(", ");
  }

  function mark(entry) {
    for (const ring of document.querySelectorAll("circle.ring")) ring.remove();
    if (marked) marked.row.removeAttribute("aria-current");
    marked = entry;
    bar.hidden = entry === null;
    bar.replaceChildren();
    if (entry === null) return;
    entry.row.setAttribute("aria-current", "true");
    entry.row.classList.remove("more");
    for (const dot of document.querySelectorAll(`[data-c="${entry.index}"]`)) {
      const ring = dot.cloneNode();
      ring.removeAttribute("data-c");
      ring.setAttribute("class", "ring");
      ring.setAttribute("r", "7");
      dot.parentNode.append(ring);
    }
    const name = document.createElement("strong");
    name.textContent = entry.name;
    const go = document.createElement("button"), clear = document.createElement("button");
    Object.assign(go, { type: "button", textContent: "Show in the table" });
    Object.assign(clear, { type: "button", textContent: "Clear" });
    go.addEventListener("click", () => show(entry));
    clear.addEventListener("click", () => mark(null));
    bar.append(name, ` ${words(entry)} `, go, " ", clear);
  }

  function show(entry) {
    if (entry.row.hidden) reset();
    focusable(entry);
    entry.row.focus({ preventScroll: true });
    entry.row.scrollIntoView({ block: "center" });
  }

  const entryOf = (row) => entries.find((entry) => entry.row === row);

  function focusable(entry = marked) {  // one row is in the order of the Tab key; arrows go on from there
    for (const row of body.querySelectorAll("[tabindex]")) row.removeAttribute("tabindex");
    const first = entry && isShown(entry) ? entry : found.find(isShown);
    if (first) first.row.tabIndex = 0;
  }

  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (!row || event.target.closest("a") || String(getSelection())) return;
    const entry = entryOf(row);
    mark(entry === marked ? null : entry);
    focusable(entry);
  });
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const seen = found.filter(isShown).map((entry) => entry.row), at = seen.indexOf(row);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: seen.length - 1 }[event.key];
    if (next !== undefined) {
      const target = seen[Math.min(Math.max(next, 0), seen.length - 1)];
      focusable(entryOf(target));
      target.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      const entry = entryOf(row);
      mark(entry === marked ? null : entry);
    } else if (event.key === "Escape") {
      mark(null);
    } else {
      return;
    }
    event.preventDefault();
  });

  // --- figures: hover, click and arrows ---

  function dotNear(svg, event) {
    let best = null, least = NEAR * NEAR;
    for (const dot of svg.querySelectorAll("[data-c]:not(.out)")) {
      const box = dot.getBoundingClientRect();
      const x = box.left + box.width / 2 - event.clientX, y = box.top + box.height / 2 - event.clientY;
      if (x * x + y * y < least) [best, least] = [dot, x * x + y * y];
    }
    return best && byIndex.get(Number(best.dataset.c));
  }

  for (const svg of document.querySelectorAll("figure svg")) {
    if (!svg.querySelector("[data-c]")) continue;
    svg.classList.add("linked");
    svg.tabIndex = 0;
    svg.setAttribute("aria-roledescription", "figure with dots; the arrow keys mark one after another");
    svg.addEventListener("pointermove", (event) => {
      const entry = dotNear(svg, event);
      tip.hidden = !entry;
      if (!entry) return;
      tip.textContent = `${entry.name}: ${words(entry)}`;
      const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
      Object.assign(tip.style, { left: `${Math.max(left, 4)}px`, top: `${event.clientY + 16}px` });
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
    svg.addEventListener("click", (event) => {
      const entry = dotNear(svg, event);
      mark(entry === marked ? null : entry);
    });
    svg.addEventListener("keydown", (event) => {
      const dots = [...svg.querySelectorAll("[data-c]:not(.out)")];
      dots.sort((a, b) => a.getAttribute("cx") - b.getAttribute("cx") || a.getAttribute("cy") - b.getAttribute("cy"));
      const at = marked ? dots.findIndex((dot) => Number(dot.dataset.c) === marked.index) : -1;
      const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: dots.length - 1 };
      if (event.key in steps && dots.length) {
        const next = dots[Math.min(Math.max(steps[event.key], 0), dots.length - 1)];
        mark(byIndex.get(Number(next.dataset.c)));
      } else if (event.key === "Enter" && marked) {
        show(marked);
      } else if (event.key === "Escape") {
        mark(null);
      } else {
        return;
      }
      event.preventDefault();
    });
  }

  // --- controls ---

  function reset() {
    sortBy.value = "rank";
    find.value = "";
    for (const box of [down, bestOnly]) if (box) box.checked = false;
    for (const select of [family, parameter]) if (select) select.value = "";
    if (parameter) offerValues();
    update();
  }

  function markFromAddress() {
    const address = /^#c(\d+)$/.exec(location.hash);
    const entry = address && byIndex.get(Number(address[1]));
    if (!entry) return;
    mark(entry);
    show(entry);
  }

  for (const head of table.tHead.querySelectorAll("[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const by = head.dataset.sort === "mean" ? "rank" : head.dataset.sort;
      down.checked = sortBy.value === by && !down.checked;
      sortBy.value = by;
      update();
    });
  }
  if (parameter) parameter.addEventListener("input", offerValues);  // before the controls around it update
  for (const control of document.querySelectorAll(".controls, #show-all")) {
    control.addEventListener("input", update);
    control.hidden = false;
  }
  byId("reset").addEventListener("click", reset);
  shown.hidden = false;
  addEventListener("hashchange", markFromAddress);
  update();
  markFromAddress();
})();
