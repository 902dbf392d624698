/* Search over SECTIONS, which tools/site.py writes above: [address, page, heading, text] of every section of the docs. */
"use strict";
(function () {
  const MOST = 12, BEFORE = 60, AFTER = 110;
  const up = document.currentScript.dataset.up;
  const form = document.getElementById("search"), box = form.querySelector("input"), list = document.getElementById("found");
  const plain = (text) => text.toLowerCase();
  const sections = SECTIONS.map(([address, page, heading, text]) => ({
    address, page, heading, text, titles: " " + plain(page + " " + heading), words: " " + plain(text),
  }));
  let chosen = -1;
  form.hidden = false;

  /* where a word, or one that it begins, stands in a text; a text begins with a space, and -1 is nowhere */
  function place(text, word) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (!/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
    }
    return -1;
  }
  /* 0 where a word is missing; a word of a title counts as ten of the text, and the earlier the better */
  function score(section, words) {
    let sum = 0;
    for (const word of words) {
      const inTitles = place(section.titles, word), inText = place(section.words, word);
      if (inTitles < 0 && inText < 0) return 0;
      sum += (inTitles < 0 ? 0 : 10) + (inText < 0 ? 0 : 1 + 1 / (1 + inText / 200));
    }
    return sum;
  }
  function find(query) {
    const words = plain(query).split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return sections.map((section) => ({ section, score: score(section, words), words })).filter((hit) => hit.score > 0)
      .sort((a, b) => b.score - a.score);
  }
  function excerpt(section, words) {  /* whole words around the first that was asked for */
    const first = words.map((word) => place(section.words, word)).find((at) => at > 0) || 0;
    const begin = first > BEFORE ? section.text.indexOf(" ", first - BEFORE) : 0;
    const cut = section.text.lastIndexOf(" ", first + AFTER), end = first + AFTER < section.text.length && cut > begin ? cut : undefined;
    const made = document.createElement("span");
    made.textContent = (begin ? "…" : "") + section.text.slice(begin, end) + (end ? " …" : "");
    return made;
  }
  function show() {
    const hits = find(box.value), asked = box.value.trim() !== "";
    list.textContent = "";
    chosen = -1;
    for (const { section, words } of hits.slice(0, MOST)) {
      const link = document.createElement("a"), line = document.createElement("li"), title = document.createElement("strong");
      link.href = up + section.address;
      title.textContent = section.heading === section.page ? section.page : section.page + ": " + section.heading;
      link.append(title, excerpt(section, words));
      line.append(link);
      list.append(line);
    }
    if (asked) {
      const count = document.createElement("li");
      count.className = "soft";
      count.textContent = !hits.length ? "Nothing found: every word must begin a word of a section."
        : hits.length > MOST ? hits.length + " sections, the first " + MOST + " are shown." : hits.length + (hits.length === 1 ? " section." : " sections.");
      list.append(count);
    }
    list.hidden = !asked;
  }
  function choose(step) {
    const links = Array.from(list.querySelectorAll("a"));
    if (!links.length) return;
    chosen = (chosen + step + links.length) % links.length;
    links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
    links[chosen].scrollIntoView({ block: "nearest" });
  }
  box.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const links = list.querySelectorAll("a");
    if (links.length) location.href = links[Math.max(chosen, 0)].href;
    if (links.length) list.hidden = true;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); choose(event.key === "ArrowDown" ? 1 : -1); }
    if (event.key === "Escape") { box.value = ""; show(); box.blur(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target) || event.target.closest("a")) list.hidden = true; });
  box.addEventListener("focus", () => { list.hidden = box.value.trim() === ""; });
})();
