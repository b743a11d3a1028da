"use strict";
// Draws the differences of queries, and the table of queries with their lists. All text enters as text nodes.
(() => {
  const by = id => document.getElementById(id);
  const data = JSON.parse(by("data").textContent);
  const alone = data.base === null, atOnce = 20, lists = data.lists || {};
  const state = {system: data.shown, metric: 0, sort: "gain", falling: false, page: 0, open: -1, all: false, at: 0};
  let order = [], drawn = [];

  const make = (tag, attributes, ...children) => {
    const svg = ["svg", "path"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      if (value !== null && value !== undefined) made.setAttribute(name, value);
    made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
    return made;
  };
  const named = text => make("bdi", null, text);
  const sentence = parts => parts.map(([kind, text]) =>
    kind === "name" ? named(text) : make("span", {class: {"+": "better", "-": "worse"}[kind]}, text));

  // The text of a number as Python prints it; Python rounds halves to even, and only x = odd / 32 has four and a half.
  const scientific = (size, digits) => {
    let text = size.toExponential(digits);
    const unit = 10 ** (Number(text.split("e")[1]) - digits);
    if (unit >= 1 && size % (2 * unit) === unit / 2) text = (size - unit / 2).toExponential(digits);
    const [front, exponent] = text.split("e");
    return `${front}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  };
  const shown = (x, signed) => {
    if (x === null) return "";
    const size = Math.abs(x), isHalf = size * 32 % 2 === 1, below = Math.floor(size * 1e4);
    const text = size > 0 && size < 5e-5 ? scientific(size, 1) : size >= 1e6 ? scientific(size, 4)
      : isHalf && below % 2 === 0 ? (below / 1e4).toFixed(4) : size.toFixed(4);
    return (x < 0 ? "\u2212" : signed && x > 0 ? "+" : "") + text.replace("e-", "e\u2212");
  };
  // Values are whole numbers of the metric's last decimal, or texts where a whole number would not print the same.
  const scales = data.decimals.map(n => Number(`1e${n}`));
  const value = (system, i, metric = state.metric) => {
    const x = data.values[system][metric][i];
    return typeof x === "number" ? x / scales[metric] : x === null ? null : Number(x);
  };
  const whole = (system, i) => {
    const x = data.values[system][state.metric][i];
    return typeof x === "string" ? Number(x) * scales[state.metric] : x;
  };
  const difference = i => {
    const exact = data.exact[state.system][state.metric][i];
    if (alone || exact !== undefined) return alone ? value(state.system, i) : exact;
    const x = whole(state.system, i), y = whole(data.base, i);
    return x === null || y === null ? null : (x - y) / scales[state.metric];
  };
  const gain = i => difference(i) === null ? null : data.up[state.metric] ? difference(i) : -difference(i);
  const kind = x => alone ? "" : x > 0 ? "better" : x < 0 ? "worse" : "";

  // --- query by query ---
  const draw = () => {
    const queries = data.ids.map((_, i) => i).filter(i => gain(i) !== null).sort((a, b) => gain(b) - gain(a));
    const n = Math.min(queries.length, 1000), sent = data.drawn && data.drawn[state.system][state.metric];
    drawn = Array.from({length: n}, (_, j) => queries[n > 1 ? Math.round(j * (queries.length - 1) / (n - 1)) : 0]);
    const gains = sent || drawn.map(gain), sign = data.up[state.metric] ? 1 : -1;
    if (sent) drawn = gains.map(() => null);
    // Bars show the values of a system alone, and otherwise its gains.
    const heights = gains.map(x => alone ? sign * x : x), largest = Math.max(...heights.map(Math.abs), 0) || 1;
    const onFloor = alone && heights.every(x => x >= 0), zero = onFloor ? 200 : 100, width = 1000 / heights.length;
    for (const path of by("bars").querySelectorAll("path")) {
      const side = path.getAttribute("class") === "better" ? 1 : -1;
      path.setAttribute("d", heights.map((x, j) => side * x > 0
        ? `M${(j * width).toFixed(1)} ${zero}v${(-zero * x / largest).toFixed(1)}h${(width * 0.9).toFixed(2)}V${zero}z` : "").join(""));
    }
    for (const end of ["y1", "y2"]) by("bars").querySelector("line").setAttribute(end, zero);
    by("axis-top").textContent = shown(alone ? largest : sign * largest, !alone);
    by("axis-middle").textContent = onFloor ? "" : "0";
    by("axis-bottom").textContent = onFloor ? "0" : shown(alone ? -largest : -sign * largest, !alone);
    if (!alone) {
      const [better, , worse] = data.counts[state.system][state.metric];
      by("n-better").textContent = `${better.toLocaleString("en")} better`;
      by("n-worse").textContent = `${worse.toLocaleString("en")} worse`;
    }
    by("picture").setAttribute("aria-valuemax", Math.max(gains.length, 1));
    by("cursor").hidden = by("tip").hidden = true;
  };
  const point = j => {
    state.at = Math.max(0, Math.min(drawn.length - 1, j));
    const i = drawn[state.at], picture = by("picture"), where = 100 * (state.at + 0.5) / drawn.length;
    if (i === undefined || i === null) return;
    by("cursor").hidden = by("tip").hidden = false;
    by("cursor").style.left = `${where}%`;
    by("tip").style.left = `${Math.min(where, 75)}%`;
    by("tip-name").replaceChildren(named(data.ids[i]));
    by("tip-value").replaceChildren(shown(difference(i), !alone));
    by("tip-value").className = kind(gain(i));
    by("tip-text").textContent = data.queries ? data.queries[i] : "";
    picture.setAttribute("aria-valuenow", state.at + 1);
    picture.setAttribute("aria-valuetext",
      `query ${data.ids[i]}, ${alone ? "value" : "difference"} ${shown(difference(i), !alone)}`);
  };

  // --- queries ---
  const find = () => {
    const words = by("find").value.toLowerCase(), show = by("show").value, segment = by("segment").value.split(" ");
    const keys = {gain, id: null, base: i => value(data.base, i), own: i => value(state.system, i)};
    data.by.forEach((one, j) => { keys[`by${j}`] = i => one.of[i]; });
    const key = keys[state.sort];
    order = data.ids.map((_, i) => i).filter(i =>
      (!words || data.ids[i].toLowerCase().includes(words) || (data.queries && data.queries[i].toLowerCase().includes(words)))
      && (show === "all" || (show === "lists" ? i in lists : show === "better" ? gain(i) > 0 : gain(i) < 0))
      && (segment.length < 2 || data.by[segment[0]].of[i] === Number(segment[1])));
    const sign = state.falling ? -1 : 1;
    const compare = key === null ? (a, b) => (data.ids[a] < data.ids[b] ? -1 : data.ids[a] > data.ids[b] ? 1 : 0)
      : (a, b) => key(a) === null ? (key(b) === null ? 0 : sign * Infinity) : key(b) === null ? -sign * Infinity : key(a) - key(b);
    order.sort((a, b) => sign * compare(a, b) || a - b);
  };
  const heads = () => {
    const columns = [["id", "query"], ...(alone ? [] : [["base", data.systems[data.base]]]),
      ["own", data.systems[state.system]], ...(alone ? [] : [["gain", "difference"]]),
      ...data.by.map((one, j) => [`by${j}`, one.name])];
    by("queries-table").tHead.replaceChildren(make("tr", null, columns.map(([key, text]) => {
      const sorted = state.sort === key || (alone && state.sort === "gain" && key === "own");
      const button = make("button", {type: "button"}, named(text), sorted ? (state.falling ? " \u2193" : " \u2191") : "");
      button.onclick = () => {
        state.falling = sorted && !state.falling; state.sort = alone && key === "own" ? "gain" : key; state.page = 0;
        render();
        by("queries-table").tHead.querySelectorAll("button")[columns.findIndex(one => one[0] === key)].focus();
      };
      return make("th", {scope: "col", class: key.startsWith("by") ? "wide" : key === "id" ? "" : "number",
        "aria-sort": sorted ? (state.falling ? "descending" : "ascending") : null}, button);
    })));
    return columns.length;
  };
  const render = () => {
    find();
    const n = heads(), pages = Math.max(1, Math.ceil(order.length / atOnce));
    state.page = Math.max(0, Math.min(state.page, pages - 1));
    const first = state.page * atOnce, rows = [];
    for (const i of order.slice(first, first + atOnce)) {
      const open = i === state.open;
      const row = make("tr", {tabindex: 0, "aria-expanded": open, class: "query", "data-query": i},
        make("th", {scope: "row"}, named(data.ids[i]), data.queries ? make("small", {class: "text"}, data.queries[i]) : null),
        alone ? null : make("td", {class: "number"}, shown(value(data.base, i))),
        make("td", {class: "number"}, shown(value(state.system, i))),
        alone ? null : make("td", {class: `number ${kind(gain(i))}`}, shown(difference(i), true)),
        data.by.map(one => make("td", {class: "wide"}, named(one.values[one.of[i]]))));
      const toggle = () => { state.open = open ? -1 : i; state.all = false; render(); focus(i); };
      row.onclick = toggle;
      row.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } };
      rows.push(row);
      if (open) rows.push(make("tr", {class: "open"}, make("td", {colspan: n}, bothLists(i))));
    }
    by("rows").replaceChildren(...rows);
    const turn = (text, step) => {
      const button = make("button", {type: "button"}, text);
      button.disabled = state.page + step < 0 || state.page + step >= pages;
      button.onclick = () => { state.page += step; render(); };
      return button;
    };
    const last = Math.min(first + atOnce, order.length), total = order.length.toLocaleString("en");
    by("pager").replaceChildren(order.length ? `${first + 1} to ${last} of ${total} queries ` : "No query. ",
      ...(pages > 1 ? [turn("back", -1), turn("next", 1)] : []));
  };
  const focus = i => { const row = by("rows").querySelector(`[data-query="${i}"]`); if (row) row.focus(); return row; };
  const open = i => {
    by("find").value = by("segment").value = ""; by("show").value = "all";
    state.open = i; state.all = false; find(); state.page = Math.floor(order.indexOf(i) / atOnce); render();
    const row = focus(i);
    if (row) row.scrollIntoView({block: "start"});
  };

  // --- the two lists of a query ---
  const bothLists = i => {
    const found = lists[i] && lists[i][state.system];
    if (!found) return make("p", {class: "about"}, "The lists of this query are not in this file. ", data.why);
    const ranked = side => found.rows.filter(row => row[side] !== null).sort((a, b) => a[side] - b[side]);
    const least = Math.max(data.depth, 10), cut = side => ranked(side).slice(0, state.all ? undefined : least);
    const left = alone ? [] : cut(2), right = cut(3), n = Math.max(left.length, right.length);
    const moved = (row, side) => {
      const [here, other] = side === 2 ? [row[2], row[3]] : [row[3], row[2]], verb = side === 2 ? "to" : "from";
      if (alone) return "";
      if (other === null) return side === 2 ? "gone" : "new";
      return here === other ? "=" : `${row[3] < row[2] ? "\u2191" : "\u2193"} ${verb} ${other}`;
    };
    const item = (row, side, at, rows) => {
      const grade = row[1] === null ? make("b", {class: "grade unknown", title: "not judged"}, "?")
        : make("b", {class: `grade ${row[1] <= 0 ? "zero" : row[1] >= data.top ? "top" : ""}`}, `${row[1]}`.replace("-", "\u2212"));
      const own = side === 3 || !right.includes(row), text = data.texts && data.texts[row[0]];
      const next = rows[at + 1], last = data.depth && row[side] <= data.depth && next && next[side] > data.depth;
      return make("li", {class: last ? "last" : "", "data-document": row[0]}, make("span", {class: "rank"}, `${row[side]}`), grade,
        make("span", {class: "what"}, text ? make("span", {class: "text"}, text) : null, named(data.documents[row[0]])),
        make("span", {class: "moved"},
          own && row[4] ? make("b", {class: row[4][0] === "+" ? (data.up[0] ? "better" : "worse") : (data.up[0] ? "worse" : "better")}, row[4]) : null,
          make("small", null, moved(row, side))));
    };
    const list = (rows, side, system) => make("div", {class: "list"},
      make("h3", null, named(data.systems[system]), make("span", null, shown(value(system, i, 0)))),
      make("ol", null, rows.map((row, at) => item(row, side, at, rows))));
    const curves = make("svg", {viewBox: `0 0 100 ${10 * n}`, height: 62 * n, preserveAspectRatio: "none", class: "curves", "aria-hidden": "true"});
    left.forEach((row, from) => {
      const to = right.indexOf(row), y = 10 * from + 5, z = 10 * to + 5;
      if (to >= 0) curves.append(make("path", {d: `M0 ${y}C50 ${y} 50 ${z} 100 ${z}`, fill: "none", "vector-effect": "non-scaling-stroke",
        class: !row[4] ? "" : (row[4][0] === "+") === data.up[0] ? "better" : "worse"}));
    });
    const box = make("div", {class: alone ? "lists alone" : "lists"}, alone ? null : list(left, 2, data.base),
      alone ? null : make("div", {class: "between"}, make("h3"), curves), list(right, 3, state.system));
    box.onmouseover = event => {
      const item = event.target.closest("li");
      for (const one of box.querySelectorAll("li"))
        one.classList.toggle("same", item !== null && one.dataset.document === item.dataset.document);
    };
    const longest = Math.max(ranked(2).length, ranked(3).length);
    const button = make("button", {type: "button"}, state.all ? `first ${least} documents` : `all ${longest} documents`);
    button.onclick = () => { state.all = !state.all; render(); by("rows").querySelector(".open button").focus(); };
    const about = [
      alone ? "" : found.sum ? `Signed numbers: what each document adds to the difference in ${data.metrics[0]}; they sum to it. `
        : `Signed numbers: the effect on the difference in ${data.metrics[0]} of leaving the document out of both lists; they need not sum to it. `,
      "Boxes: grade; ? is not judged. ", data.depth ? `Dashed line: only the first ${data.depth} count. ` : "",
      found.n > found.rows.length ? `Of ${found.n} documents ${found.rows.length} are kept here. ` : "",
      found.neither ? `${found.neither} relevant ${found.neither > 1 ? "documents are" : "document is"} in ${alone ? "no list" : "neither list"}.` : ""];
    return [make("p", {class: "reason"}, sentence(found.why)), box, longest > least ? button : null,
      make("p", {class: "about"}, about.join(""))];
  };

  // --- controls ---
  for (const one of document.querySelectorAll(".script")) one.hidden = false;
  for (const id of ["find", "show", "segment"]) by(id).oninput = () => { state.page = 0; render(); };
  if (by("picture")) {
    const picture = by("picture");
    for (const id of ["system", "metric"])
      by(id).oninput = () => { state[id] = Number(by(id).value); state.page = 0; draw(); render(); };
    const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9};
    const at = event => Math.floor(drawn.length * (event.clientX - picture.getBoundingClientRect().left) / picture.clientWidth);
    picture.setAttribute("role", "slider");
    picture.setAttribute("aria-valuemin", 1);
    picture.setAttribute("aria-valuenow", 1);
    picture.onmousemove = event => point(at(event));
    picture.onfocus = () => point(state.at);
    picture.onmouseleave = picture.onblur = () => { by("cursor").hidden = by("tip").hidden = true; };
    picture.onclick = event => { point(at(event)); if (drawn[state.at] !== null) open(drawn[state.at]); };
    picture.onkeydown = event => {
      if (event.key in steps) { event.preventDefault(); point(state.at + steps[event.key]); }
      else if (event.key === "Enter" && drawn[state.at] !== null) open(drawn[state.at]);
    };
    draw();
  }
  const fromAddress = () => {
    let wanted = location.hash.slice(1);
    try { wanted = decodeURIComponent(wanted); } catch { /* no encoded text */ }
    const i = data.ids.indexOf(wanted);
    if (wanted && i >= 0) open(i);
    return wanted && i >= 0;
  };
  addEventListener("hashchange", fromAddress);
  if (!fromAddress()) { find(); state.open = order.length ? order[0] : -1; render(); }
})();
