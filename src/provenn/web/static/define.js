// What a form means while it is typed: names of the whole archive are suggested, and the server checks the fields.
const PAUSE = 350;

function afterTyping(element, act) {
  let timer = 0;
  element.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(act, PAUSE);
  });
}

async function ask(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null; // without the server, the form still works when it is sent
  }
}

for (const input of document.querySelectorAll("[data-suggest=catalogs]")) {
  afterTyping(input, async () => {
    const found = await ask(`/api/catalogs?${new URLSearchParams({ text: input.value.slice(0, 200) })}`);
    if (!found) return;
    const options = found.catalogs.flatMap((catalog) => catalog.names).map((name) => {
      const option = document.createElement("option");
      option.value = name;
      return option;
    });
    if (options.length) document.getElementById(input.getAttribute("list")).replaceChildren(...options);
  });
}

for (const form of document.querySelectorAll("form[data-check]")) {
  const live = form.querySelector("[data-live]");
  afterTyping(form, async () => {
    const fields = new FormData(form);
    fields.delete("form");
    const answer = await ask(`${form.dataset.check}?${new URLSearchParams(fields)}`);
    if (!answer) return;
    live.textContent = [answer.words, answer.hint].filter(Boolean).join(": ");
    live.classList.toggle("bad", !answer.valid);
  });
}
