"use strict";
// Keeps the parts of the page up to date. A part is replaced only where it changed, so that nothing flickers.

const gone = document.getElementById("gone");
const noAnswer = gone.textContent;
const shown = {};

function put(id, html) {
  if (shown[id] === html) return;
  shown[id] = html;
  document.getElementById(id).innerHTML = html;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text; // a screen reader reads what changed
}

function whenSeen() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));
}

async function follow(address) {
  for (;;) {
    let wait = 5;
    try {
      const answer = await fetch(address, { cache: "no-store" });
      if (!answer.ok) throw new Error(await answer.text());
      const found = await answer.json();
      if (found.ended) {
        location.reload();
        return;
      }
      for (const [id, html] of Object.entries(found.parts)) put(id, html);
      if (found.state) write(document.getElementById("state"), found.state);
      if (found.title) document.title = found.title;
      wait = found.wait;
      gone.hidden = true;
    } catch (error) {
      write(gone, error instanceof TypeError ? noAnswer : error.message);
      gone.hidden = false;
    }
    await new Promise((go) => setTimeout(go, 1000 * wait));
    await whenSeen();
  }
}

follow("progress");
follow("estimate");
