// What a form means while it is typed: names of the whole archive are suggested, and the server checks the fields.
const PAUSE = 350;

function afterTyping(element, act) {
  let timer = 0;
  let asked = new AbortController();
  element.addEventListener("input", () => {
    clearTimeout(timer);
    asked.abort(); // the answer would be about what stood there before
    asked = new AbortController();
    const { signal } = asked;
    timer = setTimeout(() => act(signal), PAUSE);
  });
}

async function ask(address, signal) {
  try {
    const answer = await fetch(address, { signal });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null; // without the server, the form still works when it is sent
  }
}

for (const input of document.querySelectorAll("[data-suggest=catalogs]")) {
  afterTyping(input, async (signal) => {
    const found = await ask(`/api/catalogs?${new URLSearchParams({ text: input.value.slice(0, 200) })}`, signal);
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
  afterTyping(form, async (signal) => {
    const fields = new FormData(form);
    fields.delete("form");
    const answer = await ask(`${form.dataset.check}?${new URLSearchParams(fields)}`, signal);
    if (signal.aborted) return;
    live.textContent = [answer?.words, answer?.hint].filter(Boolean).join(": ");
    live.classList.toggle("bad", answer?.valid === false);
  });
}
