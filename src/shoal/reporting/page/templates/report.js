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

  /* tabs */
  const tabs = Array.from(document.querySelectorAll("[role=tab]"));
  function choose(tab, focus) {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
  }
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: place + 1, ArrowLeft: place - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      if (to !== undefined) { event.preventDefault(); choose(tabs[to % tabs.length], true); }
    });
  });
  if (tabs.length) choose(tabs[0], false);

  /* the map of a few people */
  const source = document.getElementById("people");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const map = document.getElementById("map"), slider = document.getElementById("when");
  const who = document.getElementById("who"), time = document.getElementById("time"), fits = document.getElementById("fits");
  const earlier = document.getElementById("earlier"), later = document.getElementById("later");
  const marks = document.getElementById("seen-at");
  let busy = [];
  const PAD = 14, narrow = window.matchMedia("(max-width: 640px)");
  let WIDTH = 960, HEIGHT = 560;
  function fitScreen() {
    WIDTH = narrow.matches ? 440 : 960; HEIGHT = narrow.matches ? 440 : 560;
    map.setAttribute("viewBox", "0 0 " + WIDTH + " " + HEIGHT);
  }
  const DAY = 86400, lasts = data.people[0].moments.slice(-1)[0][4];
  function clock(second, isEnd) {
    const day = isEnd ? Math.ceil(second / DAY) - 1 : Math.floor(second / DAY), two = (n) => String(n).padStart(2, "0");
    const minutes = Math.floor((second - day * DAY) / 60);
    return (lasts > DAY ? "day " + (day + 1) + ", " : "") + two(Math.floor(minutes / 60)) + ":" + two(minutes % 60);
  }
  function element(name, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    map.appendChild(made);
    return made;
  }
  function frame(person, moment) {
    const xs = [], ys = [];
    for (const s of person.samples) { xs.push(s[1], s[1] + 1); ys.push(s[2], s[2] + 1); }
    for (const record of [person.own].concat(moment[2].slice(0, Math.max(data.k - 1, 1)))) {
      for (const b of shownBoxes(person, record, moment)) { xs.push(b[2], b[3]); ys.push(b[4], b[5]); }
    }
    const west = Math.min(...xs), east = Math.max(...xs), south = Math.min(...ys), north = Math.max(...ys);
    const scale = Math.min((WIDTH - 2 * PAD) / Math.max(east - west, 1), (HEIGHT - 2 * PAD) / Math.max(north - south, 1));
    const left = (WIDTH - scale * (east - west)) / 2, below = (HEIGHT - scale * (north - south)) / 2;
    return { x: (v) => left + scale * (v - west), y: (v) => HEIGHT - below - scale * (v - south), scale };
  }
  function shownBoxes(person, record, moment) {
    const end = moment[0] + data.length;
    return (person.boxes[record] || []).filter((b) => b[1] > moment[0] && b[0] < end);
  }
  function draw() {
    const person = data.people[Number(who.value)], moment = person.moments[Number(slider.value)];
    const end = moment[0] + data.length, at = frame(person, moment);
    map.textContent = "";
    for (const p of data.places) {
      const x = at.x(p[0] + 0.5), y = at.y(p[1] + 0.5);
      if (x > 0 && x < WIDTH && y > 0 && y < HEIGHT) element("circle", { class: "place", cx: x.toFixed(1), cy: y.toFixed(1), r: 2 });
    }
    const lanes = [[person.own, "box own"]].concat(moment[2].map((record, i) => [record, "box record" + (i + 1)]));
    for (const [record, css] of lanes.reverse()) {
      for (const b of shownBoxes(person, record, moment)) {
        const width = Math.max(at.x(b[3]) - at.x(b[2]), 4), height = Math.max(at.y(b[4]) - at.y(b[5]), 4);
        element("rect", { class: css, x: at.x(b[2]).toFixed(1), y: at.y(b[5]).toFixed(1), width: width.toFixed(1), height: height.toFixed(1) });
      }
    }
    const line = person.samples.map((s) => at.x(s[1] + 0.5).toFixed(1) + "," + at.y(s[2] + 0.5).toFixed(1)).join(" ");
    element("polyline", { class: "raw", points: line });
    const isSeen = (s) => s[0] >= moment[0] && s[0] < end;
    for (const s of person.samples.slice().sort((a, b) => isSeen(a) - isSeen(b))) {  /* what was seen lies on top */
      const seen = isSeen(s);
      element("circle", { class: seen ? "sample seen" : "sample", cx: at.x(s[1] + 0.5).toFixed(1), cy: at.y(s[2] + 0.5).toFixed(1), r: seen ? 6 : 3 });
    }
    const length = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].filter((km) => (km / data.cell_km) * at.scale < WIDTH / 3).pop() || 0.1;
    const bar = (length / data.cell_km) * at.scale, low = HEIGHT - PAD;
    element("line", { class: "scale-bar", x1: PAD, x2: (PAD + bar).toFixed(1), y1: low, y2: low });
    element("text", { class: "scale", x: PAD, y: low - 7 }).textContent = length + " km";
    document.querySelectorAll("#lanes li").forEach((line) => {
      const box = line.querySelector(".box:not(.own)");
      if (box) line.hidden = !map.querySelector("." + box.classList[1]);
    });
    time.textContent = clock(moment[3], false) + " to " + clock(moment[4], true) + " " + data.zone;
    const n = moment[1], ownFits = moment[5], drawn = moment[2].length + (person.own >= 0 && ownFits ? 1 : 0);
    const number = n.toLocaleString("en"), records = n === 1 ? " record fits" : " records fit";
    const few = ownFits && n < data.k;
    fits.textContent = (person.samples.some(isSeen)
      ? number + (n < 1000 ? "" : " or more") + records + " what was seen" + (n > drawn ? "; " + drawn + " are drawn." : ".")
      : "Nothing was seen in this time; " + number + records + " that: no box of theirs lies wholly inside it.")
      + (few ? " That is fewer than " + data.k + "." : "")
      + (ownFits ? "" : " The person's own record is not among them, as happens where samples are suppressed.");
    fits.classList.toggle("broken", few);
    slider.setAttribute("aria-valuetext", time.textContent + ". " + fits.textContent);
    earlier.disabled = next(-1) === undefined; later.disabled = next(1) === undefined;
  }
  function next(step) { /* the neighbouring position in which something was seen */
    const now = Number(slider.value);
    return step < 0 ? busy.filter((i) => i < now).pop() : busy.find((i) => i > now);
  }
  function jump(step) { const to = next(step); if (to !== undefined) { slider.value = to; draw(); } }
  data.people.forEach((_, i) => {
    const option = document.createElement("option");
    option.value = String(i); option.textContent = "Person " + (i + 1);
    who.appendChild(option);
  });
  function start() {
    const person = data.people[Number(who.value)], last = person.moments.length - 1;
    const seen = person.moments.map((m) => person.samples.filter((s) => s[0] >= m[0] && s[0] < m[0] + data.length).length);
    busy = seen.flatMap((n, i) => (n ? [i] : []));
    marks.textContent = "";
    for (const i of busy) marks.appendChild(document.createElement("i")).style.left = (100 * i) / Math.max(last, 1) + "%";
    slider.max = last;
    slider.value = seen.indexOf(Math.max(...seen));
    draw();
  }
  fitScreen();
  narrow.addEventListener("change", () => { fitScreen(); draw(); });
  slider.addEventListener("input", draw);
  earlier.addEventListener("click", () => jump(-1));
  later.addEventListener("click", () => jump(1));
  who.addEventListener("change", start);
  start();
})();
