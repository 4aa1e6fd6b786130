
for (const button of document.querySelectorAll("button[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  const label = button.textContent;
  button.hidden = source === null;
  button.addEventListener("click", async () => {
    let result = "Copied";
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
    } catch {
      const folded = source.closest("details");
      if (folded !== null) folded.open = true;
      getSelection().selectAllChildren(source);
      if (!document.execCommand("copy")) result = "Selected: copy it with the keyboard";
    }
    button.textContent = result;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
