"use strict";
(function () {
  /* the map of a few people: boxes and samples in cells, times in slots */
  const data = JSON.parse(document.getElementById("people-data").textContent);
  const map = document.getElementById("map"), slider = document.getElementById("when");
  const who = document.getElementById("who"), time = document.getElementById("time"), fits = document.getElementById("fits");
  const overlaps = document.getElementById("overlaps");
  const earlier = document.getElementById("earlier"), later = document.getElementById("later");
  const marks = document.getElementById("seen-at");
  let busy = [];
  const LEFT = 58, RIGHT = 16, TOP = 34, BOTTOM = 30, LENGTHS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const narrow = window.matchMedia("(max-width: 640px)");
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
    for (const record of [person.own].concat(moment[2])) {
      for (const b of shownBoxes(person, record, moment)) { xs.push(b[2], b[3]); ys.push(b[4], b[5]); }
    }
    const west = Math.min(...xs), east = Math.max(...xs), south = Math.min(...ys), north = Math.max(...ys);
    const width = WIDTH - LEFT - RIGHT, height = HEIGHT - TOP - BOTTOM, room = 8;  /* for marks at the border */
    const scale = Math.min((width - 2 * room) / Math.max(east - west, 1), (height - 2 * room) / Math.max(north - south, 1));
    const left = LEFT + (width - scale * (east - west)) / 2, below = BOTTOM + (height - scale * (north - south)) / 2;
    return { x: (v) => left + scale * (v - west), y: (v) => HEIGHT - below - scale * (v - south), scale };
  }
  function drawGrid(at) {  /* the coordinates of the other maps, in km, and a bar */
    const km = at.scale / data.cell_km, step = LENGTHS.find((length) => length * km >= WIDTH / 8) || 1000;
    const x = (v) => at.x(data.corner[0] + v / data.cell_km), y = (v) => at.y(data.corner[1] + v / data.cell_km);
    const told = (v) => String(Number((v * step).toFixed(1)));
    const right = WIDTH - RIGHT, bottom = HEIGHT - BOTTOM;
    for (let n = Math.ceil((LEFT - x(0)) / km / step); x(n * step) <= right; n++) {
      element("line", { class: "grid", x1: x(n * step).toFixed(1), x2: x(n * step).toFixed(1), y1: TOP, y2: bottom });
      element("text", { class: "tick", x: x(n * step).toFixed(1), y: bottom + 20, "text-anchor": "middle" }).textContent = told(n);
    }
    for (let n = Math.ceil((y(0) - bottom) / km / step); y(n * step) >= TOP; n++) {
      element("line", { class: "grid", x1: LEFT, x2: right, y1: y(n * step).toFixed(1), y2: y(n * step).toFixed(1) });
      element("text", { class: "tick", x: LEFT - 8, y: (y(n * step) + 5).toFixed(1), "text-anchor": "end" }).textContent = told(n);
    }
    element("text", { class: "tick", x: LEFT - 8, y: TOP - 14, "text-anchor": "end" }).textContent = "km";
    element("line", { class: "scale-bar", x1: (right - step * km).toFixed(1), x2: right, y1: TOP - 12, y2: TOP - 12 });
    element("text", { class: "tick", x: (right - step * km - 8).toFixed(1), y: TOP - 7, "text-anchor": "end" }).textContent = step + " km";
  }
  function tellOverlaps(drawn) {  /* boxes in the order in which they are drawn */
    const holds = (b, a) => b[2] <= a[2] && b[3] >= a[3] && b[4] <= a[4] && b[5] >= a[5];
    const under = drawn.filter((box, i) => drawn.some((over, j) => j > i && holds(over, box))).length;
    const boxes = drawn.length === 1 ? "1 box is drawn" : drawn.length + " boxes are drawn";
    const lie = under === 0 ? "none lies" : under === 1 ? "1 lies" : under + " lie";
    return boxes + ", with fills that one sees through" + (drawn.length > 1 ? "; " + lie + " wholly under another." : ".");
  }
  function shownBoxes(person, record, moment) {
    const end = moment[0] + data.length;
    return (person.boxes[record] || []).filter((b) => b[1] > moment[0] && b[0] < end);
  }
  function draw() {
    const person = data.people[Number(who.value)], moment = person.moments[Number(slider.value)];
    const end = moment[0] + data.length, at = frame(person, moment);
    map.textContent = "";
    drawGrid(at);
    const drawnBoxes = [];
    for (const p of data.places) {
      const x = at.x(p[0] + 0.5), y = at.y(p[1] + 0.5);
      if (x > LEFT && x < WIDTH - RIGHT && y > TOP && y < HEIGHT - BOTTOM) element("circle", { class: "place", cx: x.toFixed(1), cy: y.toFixed(1), r: 2 });
    }
    const lanes = [[person.own, "box own"]].concat(moment[2].map((record, i) => [record, "box record" + (i + 1)]));
    for (const [record, css] of lanes.reverse()) {
      for (const b of shownBoxes(person, record, moment)) {
        drawnBoxes.push(b);
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
    overlaps.textContent = tellOverlaps(drawnBoxes);
    document.querySelectorAll("#lanes li").forEach((line) => {
      const box = line.querySelector(".box:not(.own)");
      if (box) line.hidden = !map.querySelector("." + box.classList[1]);
    });
    time.dataset.who = who.selectedOptions[0].textContent;  /* for paper, where nobody can be chosen */
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
