"use strict";
(function () {
  const root = document.documentElement;
  root.classList.add("js");

  /* theme: what the system says, until somebody says otherwise */
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  dark.addEventListener("change", label);
  label();

  /* tabs, each with an address of its own */
  const tabs = Array.from(document.querySelectorAll("[role=tab]"));
  const named = () => tabs.find((tab) => tab.hash === location.hash) || tabs[0];
  function choose(tab) {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
  }
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;  /* another window */
      event.preventDefault();  /* the page stays where it is scrolled to */
      if (location.hash !== tab.hash) history.pushState(null, "", tab.hash);
      choose(tab);
    });
    tab.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); tab.click(); return; }
      const to = { ArrowRight: place + 1, ArrowLeft: place - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs[to % tabs.length];
      history.replaceState(null, "", next.hash);  /* one step of the back button for all keys */
      choose(next);
      next.focus();
    });
  });
  for (const change of ["popstate", "hashchange"]) window.addEventListener(change, () => choose(named()));
  choose(named());
})();
