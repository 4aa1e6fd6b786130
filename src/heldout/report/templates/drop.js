"use strict";
// A file that is dropped anywhere on the page is sent at once; one that is chosen is sent by the button.

const form = document.getElementById("drop");
const input = document.getElementById("file");
const problem = document.getElementById("problem");
const zone = form.querySelector(".zone");

function isTooLarge() {
  const file = input.files[0];
  problem.textContent = file && file.size > Number(form.dataset.most) ? problem.dataset.large : "";
  problem.hidden = problem.textContent === "";
  return !problem.hidden;
}

input.addEventListener("change", isTooLarge);

form.addEventListener("submit", (event) => {
  if (isTooLarge()) {
    event.preventDefault();
    return;
  }
  form.querySelector("button").disabled = true;
  document.getElementById("working").textContent = `Reading ${input.files[0].name} and estimating …`;
});

addEventListener("pageshow", () => {
  form.querySelector("button").disabled = false;
  document.getElementById("working").textContent = "";
});

addEventListener("dragover", (event) => {
  event.preventDefault();
  zone.classList.add("over");
});

addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) zone.classList.remove("over");
});

addEventListener("drop", (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  if (event.dataTransfer.files.length !== 1) {
    problem.textContent = "Drop one file.";
    problem.hidden = false;
    return;
  }
  input.files = event.dataTransfer.files;
  form.requestSubmit();
});
