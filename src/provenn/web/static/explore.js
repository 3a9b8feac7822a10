// Every click in the explorer loads a new picture: what was clicked stays where it was, and keeps the keyboard's focus.
"use strict";

const KEPT = "provenn-explorer";
const frame = document.querySelector("[data-explorer]");
const find = (place) => [...frame.querySelectorAll("a[data-place]")].find((link) => link.dataset.place === place);

function placeInFrame(link) {
  const box = link.getBoundingClientRect(), room = frame.getBoundingClientRect();
  return { x: box.left - room.left, y: box.top - room.top, width: box.width, height: box.height };
}

function moveTo(link, x, y) {
  const now = placeInFrame(link);
  frame.scrollBy(now.x - x, now.y - y);
}

function recall() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    sessionStorage.removeItem(KEPT);
    return kept?.path === location.pathname ? kept : null;
  } catch {
    return null; // a browser may keep nothing
  }
}

frame.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-place]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { x, y } = placeInFrame(link);
  const isByKeyboard = event.detail === 0;
  try {
    const kept = { path: location.pathname, place: link.dataset.place, x, y, top: scrollY, isByKeyboard };
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // then the picture begins at the selected catalog
  }
});

const kept = recall();
const clicked = kept && (find(kept.place) ?? find(kept.place.replace(/ more$/, "")) ?? find(kept.place.split(" ")[0]));
if (clicked) {
  moveTo(clicked, kept.x, kept.y);
  scrollTo(0, kept.top);
  if (kept.isByKeyboard) clicked.focus({ preventScroll: true });
} else {
  const selected = frame.querySelector("a[aria-current]");
  const { width, height } = selected ? placeInFrame(selected) : {};
  if (selected) moveTo(selected, (frame.clientWidth - width) / 2, (frame.clientHeight - height) / 2);
}
