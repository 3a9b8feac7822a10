// Zoom and pan for pictures of lineages. Without it a picture scrolls like any other; links in it work either way.
"use strict";

for (const frame of document.querySelectorAll("[data-graph]")) {
  const svg = frame.querySelector("svg");
  if (svg) enliven(frame, svg);
}

function enliven(frame, svg) {
  const { width, height } = svg.viewBox.baseVal;
  const tools = document.querySelector(`[data-for="${frame.id}"]`);
  const view = { x: width / 2, y: height / 2, scale: 1 };

  svg.setAttribute("width", "100%");
  frame.classList.add("live");
  const fit = () => Math.min(svg.clientWidth / width, innerHeight * 0.75 / height, 1);
  svg.setAttribute("height", Math.round(Math.min(innerHeight * 0.75, height * Math.max(fit(), 0.6))));

  function show() {
    const w = svg.clientWidth / view.scale, h = svg.clientHeight / view.scale;
    view.x = clamp(view.x, width, w);
    view.y = clamp(view.y, height, h);
    svg.setAttribute("viewBox", `${view.x - w / 2} ${view.y - h / 2} ${w} ${h}`);
  }
  // What is smaller than the frame stays in its middle; of what is larger, no edge comes far into the frame.
  const clamp = (at, whole, seen) => seen >= whole ? whole / 2 : Math.min(Math.max(at, seen / 2), whole - seen / 2);

  function zoom(factor, x = view.x, y = view.y) {
    const scale = Math.min(Math.max(view.scale * factor, Math.min(fit(), 0.2)), 4);
    view.x = x + (view.x - x) * view.scale / scale;
    view.y = y + (view.y - y) * view.scale / scale;
    view.scale = scale;
    show();
  }
  function move(right, down) {
    view.x += right / view.scale;
    view.y += down / view.scale;
    show();
  }
  function whole() {
    view.scale = fit();
    view.x = width / 2;
    view.y = height / 2;
    show();
  }
  // Where it is in the frame, as its size is now.
  function towards(element, always) {
    const box = element.getBoundingClientRect(), room = svg.getBoundingClientRect();
    const right = box.left + box.width / 2 - room.left - room.width / 2;
    const down = box.top + box.height / 2 - room.top - room.height / 2;
    const outside = box.left < room.left || box.right > room.right || box.top < room.top || box.bottom > room.bottom;
    if (always || outside) move(right, down);
  }
  const focus = [...svg.querySelectorAll("a")].find((one) => one.getAttribute("href") === frame.dataset.focus);
  function full() {
    view.scale = 1;
    show();
    if (focus) towards(focus, true);
  }

  const keys = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": whole,
    ArrowLeft: () => move(-60, 0), ArrowRight: () => move(60, 0),
    ArrowUp: () => move(0, -60), ArrowDown: () => move(0, 60),
  };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  frame.addEventListener("focusin", (event) => {
    if (event.target !== frame && event.target.matches(":focus-visible")) towards(event.target, false);
  });
  const buttons = { in: () => zoom(1.25), out: () => zoom(0.8), fit: whole, full };
  tools?.addEventListener("click", (event) => buttons[event.target.dataset.do]?.());

  // The wheel scrolls the page, unless somebody is busy with the picture.
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !frame.contains(document.activeElement)) return;
    event.preventDefault();
    const room = svg.getBoundingClientRect();
    const x = view.x + (event.clientX - room.left - room.width / 2) / view.scale;
    const y = view.y + (event.clientY - room.top - room.height / 2) / view.scale;
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, x, y);
  }, { passive: false });

  let held = null, dragged = false;
  svg.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.button === 0) held = { x: event.clientX, y: event.clientY };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const right = held.x - event.clientX, down = held.y - event.clientY;
    if (!dragged && Math.hypot(right, down) < 5) return;
    if (!dragged) svg.setPointerCapture(event.pointerId);
    dragged = true;
    held = { x: event.clientX, y: event.clientY };
    move(right, down);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = null; });
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => { if (dragged) event.preventDefault(); }, true);
  addEventListener("resize", show);

  if (tools) tools.hidden = false;
  for (const one of document.querySelectorAll("[data-with-script]")) one.hidden = false;
  if (fit() >= 0.6) whole();
  else {
    view.scale = 0.8;
    show();
    if (focus) towards(focus, true);
  }
}
