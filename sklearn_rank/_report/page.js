"use strict";
// Draws the differences of queries, and the table of queries with their lists. All text enters as text nodes.
(() => {
  const by = id => document.getElementById(id);
  const data = JSON.parse(by("data").textContent);
  const alone = data.base === null, atOnce = 20, lists = data.lists || {};
  const state = {system: data.shown, metric: data.metric, sort: "gain", falling: false, page: 0, open: -1, all: false, at: 0};
  let order = [], drawn = [];

  const make = (tag, attributes, ...children) => {
    const svg = ["svg", "path", "text"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      if (value !== null && value !== undefined) made.setAttribute(name, value);
    made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
    return made;
  };
  // Words of up to 14 characters are never broken.
  const long = text => text.split(/\s/).some(word => word.length > 14) ? "long" : null;
  const named = text => make("bdi", {class: long(text)}, text);
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
    // Bars show the values of a system alone, and otherwise its gains.
    const heights = gains.map(x => alone ? sign * x : x), side = alone ? 1 : sign;
    const top = Math.max(...heights, 0), bottom = Math.min(...heights, 0);
    const scale = 200 / (top - bottom || 1), zero = top * scale, width = 1000 / heights.length;
    for (const path of by("bars").querySelectorAll("path")) {
      const above = path.getAttribute("class") === "better" ? 1 : -1;
      path.setAttribute("d", heights.map((x, j) => above * x > 0
        ? `M${(j * width).toFixed(1)} ${zero.toFixed(1)}v${(-scale * x).toFixed(1)}h${(width * 0.9).toFixed(2)}V${zero.toFixed(1)}z` : "").join(""));
    }
    const mean = data.mean[state.system][state.metric];
    const levels = {zero, mean: mean === null ? zero : zero - scale * (alone ? mean : sign * mean)};
    for (const one of by("bars").querySelectorAll("line"))
      for (const end of ["y1", "y2"]) one.setAttribute(end, levels[one.getAttribute("class")]);
    by("mean").textContent = mean === null ? "" : `dashed: mean ${shown(mean, !alone)}`;
    const ends = `${shown(sign * gains[0], !alone)} to ${shown(sign * gains.at(-1), !alone)}`;
    by("ends").textContent = gains.length ? `${by("picture").getAttribute("aria-label").split(":")[0]}: ${ends}.` : "No values.";
    const texts = [];
    if (top) texts.push([10, shown(side * top, !alone), "axis-top"]);
    if ((zero > 20 && zero < 180) || !(top && bottom)) texts.push([Math.min(Math.max(zero + 4, 10), 200), "0", "axis-middle"]);
    if (bottom) texts.push([200, shown(side * bottom, !alone), "axis-bottom"]);
    const wide = 8 * Math.max(...texts.map(one => one[1].length));
    by("axis").setAttribute("width", wide);
    by("axis").replaceChildren(...texts.map(([y, text, id]) => make("text", {x: wide, y, "text-anchor": "end", id}, text)));
    if (!alone) {
      const [better, , worse] = data.counts[state.system][state.metric];
      by("n-better").textContent = `${better.toLocaleString("en")} better`;
      by("n-worse").textContent = `${worse.toLocaleString("en")} worse`;
    }
    if (!data.drawn) by("picture").setAttribute("aria-valuemax", Math.max(gains.length, 1));
    by("cursor").hidden = by("tip").hidden = true;
  };
  const point = j => {
    state.at = Math.max(0, Math.min(drawn.length - 1, j));
    const i = drawn[state.at], picture = by("picture"), where = 100 * (state.at + 0.5) / drawn.length;
    if (i === undefined) return;
    by("cursor").hidden = by("tip").hidden = false;
    by("cursor").style.left = `${where}%`;
    by("tip-name").replaceChildren(named(data.ids[i]));
    by("tip-value").replaceChildren(shown(difference(i), !alone));
    by("tip-value").className = kind(gain(i));
    by("tip-text").textContent = data.queries ? data.queries[i] : "";
    const figure = by("tip").parentElement, beside = picture.offsetLeft + picture.offsetWidth * where / 100 + 12;
    by("tip").style.left = `${Math.max(0, Math.min(beside, figure.clientWidth - by("tip").offsetWidth))}px`;
    picture.setAttribute("aria-valuenow", state.at + 1);
    picture.setAttribute("aria-valuetext",
      `query ${data.ids[i]}, ${alone ? "value" : "difference"} ${shown(difference(i), !alone)}`);
  };

  // --- queries ---
  const asWords = text => text.normalize("NFC").toLowerCase();
  const searched = data.ids.map((id, i) => asWords(data.queries ? `${id}\n${data.queries[i]}` : id));
  const areWhole = data.ids.every(id => /^-?\d{1,15}$/.test(id));
  const compareIds = areWhole ? (a, b) => Number(data.ids[a]) - Number(data.ids[b])
    : (a, b) => (data.ids[a] < data.ids[b] ? -1 : data.ids[a] > data.ids[b] ? 1 : 0);
  const find = () => {
    const words = asWords(by("find").value), show = by("show").value, segment = by("segment").value.split(" ");
    const keys = {gain, id: null, base: i => value(data.base, i), own: i => value(state.system, i)};
    data.by.forEach((one, j) => { keys[`by${j}`] = i => one.of[i]; });
    const key = keys[state.sort];
    order = data.ids.map((_, i) => i).filter(i =>
      (!words || searched[i].includes(words))
      && (show === "all" || (show === "lists" ? i in lists : show === "better" ? gain(i) > 0 : gain(i) < 0))
      && (segment.length < 2 || data.by[segment[0]].of[i] === Number(segment[1])));
    const sign = state.falling ? -1 : 1;
    const compare = key === null ? compareIds
      : (a, b) => key(a) === null ? (key(b) === null ? 0 : sign * Infinity) : key(b) === null ? -sign * Infinity : key(a) - key(b);
    order.sort((a, b) => sign * compare(a, b) || a - b);
  };
  const heads = () => {
    const columns = [["id", "query"], ...(alone ? [] : [["base", data.systems[data.base]]]),
      ["own", data.systems[state.system]], ...(alone ? [] : [["gain", "difference"]]),
      ...data.by.map((one, j) => [`by${j}`, one.name])];
    by("queries-table").caption.replaceChildren(named(data.metrics[state.metric]));
    by("queries-table").tHead.replaceChildren(make("tr", null, columns.map(([key, text]) => {
      const sorted = state.sort === key || (alone && state.sort === "gain" && key === "own");
      // Gains rise where errors fall: the arrow follows the numbers in the column.
      const falls = state.sort === "gain" && !data.up[state.metric] ? !state.falling : state.falling;
      const button = make("button", {type: "button"}, named(text), sorted ? (falls ? " \u2193" : " \u2191") : "");
      button.onclick = () => {
        state.falling = sorted && !state.falling; state.sort = alone && key === "own" ? "gain" : key; state.page = 0;
        render();
        by("queries-table").tHead.querySelectorAll("button")[columns.findIndex(one => one[0] === key)].focus();
      };
      return make("th", {scope: "col", class: key.startsWith("by") ? "wide" : key === "id" ? "" : "number",
        "aria-sort": sorted ? (falls ? "descending" : "ascending") : null}, button);
    })));
    return columns.length;
  };
  const toAddress = i => {
    try { history.replaceState(null, "", i < 0 ? location.pathname : `#${encodeURIComponent(data.ids[i])}`); }
    catch { /* an address that cannot change */ }
  };
  const render = () => {
    find();
    const n = heads(), pages = Math.max(1, Math.ceil(order.length / atOnce));
    state.page = Math.max(0, Math.min(state.page, pages - 1));
    const first = state.page * atOnce, rows = [];
    for (const i of order.slice(first, first + atOnce)) {
      const open = i === state.open;
      const button = make("button", {type: "button", "aria-expanded": open}, named(data.ids[i]));
      const row = make("tr", {class: open ? "query is-open" : "query", "data-query": i},
        make("th", {scope: "row"}, button, data.queries ? make("small", {class: `text ${long(data.queries[i]) || ""}`}, data.queries[i]) : null),
        alone ? null : make("td", {class: "number"}, shown(value(data.base, i))),
        make("td", {class: "number"}, shown(value(state.system, i))),
        alone ? null : make("td", {class: `number ${kind(gain(i))}`}, shown(difference(i), true)),
        data.by.map(one => make("td", {class: "wide"}, named(one.values[one.of[i]]))));
      row.onclick = () => { state.open = open ? -1 : i; state.all = false; toAddress(state.open); render(); focus(i); };
      rows.push(row);
      if (open) rows.push(make("tr", {class: "open"}, make("td", {colspan: n}, bothLists(i))));
    }
    by("rows").replaceChildren(...rows);
    const turn = (text, step) => {
      const button = make("button", {type: "button"}, text);
      button.disabled = state.page + step < 0 || state.page + step >= pages;
      button.onclick = () => {
        state.page += step; render();
        const [back, next] = by("pager").querySelectorAll("button");
        (step < 0 ? (back.disabled ? next : back) : next.disabled ? back : next).focus();
      };
      return button;
    };
    const last = Math.min(first + atOnce, order.length), total = order.length.toLocaleString("en");
    by("pager").replaceChildren(order.length ? `${first + 1} to ${last} of ${total} queries ` : "No query. ",
      ...(pages > 1 ? [turn("back", -1), turn("next", 1)] : []));
  };
  const focus = i => { const row = by("rows").querySelector(`[data-query="${i}"] button`); if (row) row.focus(); return row; };
  const open = i => {
    by("find").value = by("segment").value = ""; by("show").value = "all";
    state.open = i; state.all = false; toAddress(i); find(); state.page = Math.floor(order.indexOf(i) / atOnce); render();
    const row = focus(i);
    if (row) row.scrollIntoView({block: "center"});
  };
  const csv = () => {
    const quoted = text => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const pairs = data.systems.flatMap((_, s) => data.metrics.map((_, m) => [s, m]));
    const lines = [["query", ...data.by.map(one => one.name), ...pairs.map(([s, m]) => `${data.systems[s]} ${data.metrics[m]}`)]];
    data.ids.forEach((id, i) => lines.push([id, ...data.by.map(one => one.values[one.of[i]]),
      ...pairs.map(([s, m]) => { const x = value(s, i, m); return x === null ? "" : `${x}`; })]));
    return lines.map(line => line.map(quoted).join(",")).join("\r\n") + "\r\n";
  };

  // --- the two lists of a query ---
  const bothLists = i => {
    const found = lists[i] && lists[i][state.system], metric = data.metrics[state.metric];
    if (!found) return make("p", {class: "about"}, "The lists of this query are not in this file. ", data.why);
    const reasons = found.reasons[state.metric] || {adds: [], why: [["", value(state.system, i) === null || (!alone && value(data.base, i) === null)
      ? `${metric} is undefined for this query.` : `${metric} is not explained by documents.`]], neither: 0, sum: true, depth: 0};
    found.rows.forEach((row, at) => { row[4] = reasons.adds[at] || ""; });
    const ranked = side => found.rows.filter(row => row[side] !== null).sort((a, b) => a[side] - b[side]);
    const least = Math.max(reasons.depth, 10), cut = side => ranked(side).slice(0, state.all ? undefined : least);
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
      const next = rows[at + 1], last = reasons.depth && row[side] <= reasons.depth && next && next[side] > reasons.depth;
      return make("li", {class: last ? "last" : "", "data-document": row[0]}, make("span", {class: "rank"}, `${row[side]}`), grade,
        make("span", {class: "what"}, text ? make("span", {class: "text"}, text) : null, named(data.documents[row[0]])),
        make("span", {class: "moved"},
          own && row[4] ? make("b", {class: row[4][0] === "+" ? (data.up[state.metric] ? "better" : "worse") : (data.up[state.metric] ? "worse" : "better")}, row[4]) : null,
          make("small", null, moved(row, side))));
    };
    const list = (rows, side, system) => make("div", {class: "list"},
      make("h3", null, named(data.systems[system]), make("span", null, `${metric} ${shown(value(system, i))}`)),
      make("ol", null, rows.map((row, at) => item(row, side, at, rows))));
    const curves = make("svg", {viewBox: `0 0 100 ${10 * n}`, height: (data.texts ? 62 : 28) * n, preserveAspectRatio: "none", class: "curves", "aria-hidden": "true"});
    left.forEach((row, from) => {
      const to = right.indexOf(row), y = 10 * from + 5, z = 10 * to + 5;
      if (to >= 0) curves.append(make("path", {d: `M0 ${y}C50 ${y} 50 ${z} 100 ${z}`, fill: "none", "vector-effect": "non-scaling-stroke",
        class: !row[4] ? "" : (row[4][0] === "+") === data.up[state.metric] ? "better" : "worse"}));
    });
    const box = make("div", {class: `lists ${alone ? "alone" : ""} ${data.texts ? "" : "short"}`}, alone ? null : list(left, 2, data.base),
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
      alone || !reasons.adds.length ? "" : reasons.sum ? `Signed numbers: what each document adds to the difference in ${metric}; they sum to it. `
        : `Signed numbers: the effect on the difference in ${metric} of leaving the document out of both lists; they need not sum to it. `,
      "Boxes: grade; ? is not judged. ", reasons.depth ? `Dashed line: only the first ${reasons.depth} count. ` : "",
      found.n > found.rows.length ? `Of ${found.n} documents ${found.rows.length} are kept here. ` : "",
      reasons.neither ? `${reasons.neither} relevant ${reasons.neither > 1 ? "documents are" : "document is"} in ${alone ? "no list" : "neither list"}.` : ""];
    const copy = make("button", {type: "button"}, "copy as text");
    copy.onclick = () => {
      const written = (side, system) => [`${data.systems[system]}: ${metric} ${shown(value(system, i))}`,
        ...ranked(side).map(row => `${row[side]}. ${data.documents[row[0]]} (${row[1] === null ? "not judged" : `grade ${row[1]}`})${row[4] && side === 3 ? ` ${row[4]}` : ""}`)];
      const lines = [`Query ${data.ids[i]}${data.queries ? `: ${data.queries[i]}` : ""}`, reasons.why.map(part => part[1]).join(""),
        ...(alone ? [] : ["", ...written(2, data.base)]), "", ...written(3, state.system)];
      const area = make("textarea", null, lines.join("\n"));
      box.append(area);
      area.select();
      copy.textContent = document.execCommand("copy") ? "copied" : "copy as text";
      area.remove();
    };
    const link = make("a", {href: `#${encodeURIComponent(data.ids[i])}`}, "link");
    return [make("p", {class: "reason"}, `${metric}: `, sentence(reasons.why)), box,
      make("p", {class: "uses"}, longest > least ? button : null, copy, link), make("p", {class: "about"}, about.join(""))];
  };

  // --- controls ---
  for (const one of document.querySelectorAll(".script")) one.hidden = false;
  for (const id of ["find", "show", "segment"]) by(id).oninput = () => { state.page = 0; render(); };
  const download = make("button", {type: "button"}, "values as CSV");
  download.onclick = () => {
    const address = URL.createObjectURL(new Blob(["\ufeff", csv()], {type: "text/csv"}));
    make("a", {href: address, download: "values.csv"}).click();
    URL.revokeObjectURL(address);
  };
  by("pager").after(make("p", {class: "script"}, download));
  for (const id of ["system", "metric"])
    by(id).oninput = () => { state[id] = Number(by(id).value); state.page = 0; if (by("picture")) draw(); render(); };
  if (by("picture")) {
    const picture = by("picture");
    if (!data.drawn) {
      const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9};
      const at = event => Math.floor(drawn.length * (event.clientX - picture.getBoundingClientRect().left) / picture.clientWidth);
      for (const [name, text] of [["role", "slider"], ["tabindex", 0], ["aria-valuemin", 1], ["aria-valuenow", 1]])
        picture.setAttribute(name, text);
      picture.onmousemove = event => point(at(event));
      picture.onfocus = () => point(state.at);
      picture.onmouseleave = picture.onblur = () => { by("cursor").hidden = by("tip").hidden = true; };
      picture.onclick = event => { point(at(event)); if (drawn.length) open(drawn[state.at]); };
      picture.onkeydown = event => {
        if (event.key in steps) { event.preventDefault(); point(state.at + steps[event.key]); }
        else if (event.key === "Enter" && drawn.length) { event.preventDefault(); open(drawn[state.at]); }
      };
    }
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
  if (!fromAddress()) { find(); state.open = order.length && order[0] in lists ? order[0] : -1; render(); }
})();
