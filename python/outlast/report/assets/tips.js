"use strict";
// What an element with data-tip says of itself: under the pointer, with the keyboard's focus, and where it is touched.
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let shown = null;

  const hide = () => {
    if (shown !== null) shown.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };

  const place = () => {
    const at = shown.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    // Below what it explains, or above where there is no room, and never beyond the window.
    const below = at.bottom + 6 + own.height <= window.innerHeight || at.top < own.height + 6;
    tip.style.left = `${Math.max(8, Math.min(at.left, width - own.width - 8))}px`;
    tip.style.top = `${below ? at.bottom + 6 : at.top - own.height - 6}px`;
  };

  const show = (element) => {
    if (element === shown) return;
    hide();
    shown = element;
    tip.replaceChildren(...element.dataset.tip.split("\n").map((line, number) => {
      const own = document.createElement(number === 0 ? "b" : "span");
      own.textContent = line;
      return own;
    }));
    element.setAttribute("aria-describedby", "tip");
    tip.hidden = false;
    place();
  };

  const told = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const element = told(event);
    if (element !== null) show(element);
    else if (shown !== null && !shown.contains(document.activeElement)) hide();
  });
  document.addEventListener("focusin", (event) => (told(event) === null ? hide() : show(told(event))));
  document.addEventListener("focusout", hide);
  // A second touch of the same puts it away.
  document.addEventListener("click", (event) => {
    const element = told(event);
    if (element === null) hide();
    else if (event.pointerType === "touch" && element === shown && !element.matches(":focus")) hide();
    else show(element);
  });
  document.addEventListener("keydown", (event) => (event.key === "Escape" ? hide() : undefined));
  document.addEventListener("scroll", () => (shown === null ? undefined : place()), { capture: true, passive: true });
})();
