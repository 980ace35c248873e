"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const narrow = window.matchMedia("(max-width: 860px)");
  const clusters = new Map(data.clusters.map((cluster) => [cluster.id, cluster]));
  const kinds = new Map(data.kinds.map((kind) => [kind.id, kind.said]));
  const places = new Map(data.places.map((place) => [place.id, place.said]));

  const ORDERS = {
    payoff: ["Payoff", (a, b) => b.new - a.new || b.touched - a.touched || b.payoff - a.payoff],
    lines: ["Lines that could go", (a, b) => b.lines - a.lines],
    copies: ["Copies", (a, b) => b.size - a.size],
    tokens: ["Size of the code", (a, b) => b.tokens - a.tokens],
    alike: ["Similarity", (a, b) => b.low - a.low],
    path: ["Path", (a, b) => compare(medoid(a).path, medoid(b).path) || medoid(a).first - medoid(b).first],
  };

  const state = {
    words: [], kinds: new Set(), change: "", place: "", language: "", folders: [], copies: 2, order: "payoff",
    // The cluster that is shown, and the one that the keys stand on.
    shown: null, at: null, member: new Map(), layout: "auto",
  };

  // Elements.

  function el(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }

  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
  }

  // Text always becomes a text node, never markup.
  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }

  const number = (n) => n.toLocaleString("en");
  const counted = (n, unit, units) => `${number(n)} ${n === 1 ? unit : units || unit + "s"}`;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const medoid = (cluster) => cluster.members[cluster.medoid];
  const nameOf = (cluster) => medoid(cluster).symbol || fileName(medoid(cluster).path);
  const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);
  const placeOf = (member) => `${member.path}:${member.first}-${member.last}`;
  const folderName = (at) => data.folders[at] || "(root)";

  // A sentence in which code stands between backticks.
  function prose(text) {
    return text.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));
  }

  function say(text) {
    $("said").textContent = text;
  }

  async function copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Some browsers keep the clipboard from local files.
      const area = el("textarea", { class: "unseen" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    say("Copied");
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  function command(text) {
    const code = el("code", {}, text);
    const button = el("button", { type: "button", onclick: () => copy(code.textContent, button) }, "Copy");
    return el("div", { class: "command" }, code, button);
  }

  // Which clusters pass.

  const texts = new Map(data.clusters.map((cluster) => {
    const words = cluster.members.map((member) => `${member.path} ${member.symbol || ""}`);
    return [cluster.id, `${cluster.id} ${cluster.kind} ${words.join(" ")}`.toLowerCase()];
  }));

  function passes(cluster, withFolders) {
    const text = texts.get(cluster.id);
    return state.words.every((word) => text.includes(word))
      && (state.kinds.size === 0 || state.kinds.has(cluster.kind))
      && (!state.change || cluster[state.change])
      && (!state.place || cluster.place === state.place)
      && (!state.language || cluster.members.some((member) => member.language === state.language))
      && cluster.size >= state.copies
      && (!withFolders || inFolders(cluster));
  }

  function inFolders(cluster) {
    const [one, other] = state.folders;
    if (one === undefined) return true;
    const count = (at) => cluster.members.filter((member) => member.folder === at).length;
    if (other === undefined) return count(one) > 0;
    return one === other ? count(one) > 1 : count(one) > 0 && count(other) > 0;
  }

  function visible() {
    const order = ORDERS[state.order][1];
    return data.clusters.filter((cluster) => passes(cluster, true)).sort(order);
  }

  // The list.

  let rows = [];

  function renderList() {
    rows = visible();
    const most = Math.max(...data.clusters.map((cluster) => cluster.payoff), 1e-9);
    $("list").replaceChildren(...rows.map((cluster) => row(cluster, most)));
    $("count").textContent = countText();
    if (rows.length === 0) $("list").append(emptyList());
    if (!rows.some((cluster) => cluster.id === state.at)) state.at = rows.length ? rows[0].id : null;
    markRows();
    const active = activeFilters();
    $("active-filters").textContent = active ? `(${active} on)` : "";
  }

  function countText() {
    const all = counted(data.clusters.length, "cluster");
    if (data.clusters.length === 0) return "";
    if (rows.length === 0) return `None of ${all}`;
    return rows.length < data.clusters.length ? `${number(rows.length)} of ${all}` : all;
  }

  function activeFilters() {
    return [state.kinds.size > 0, state.change, state.place, state.language, state.folders.length > 0, state.copies > 2]
      .filter(Boolean).length;
  }

  function emptyList() {
    if (data.clusters.length === 0) return el("li", { class: "empty" }, `${data.nothing}.`);
    return el("li", { class: "empty" }, "No cluster passes the search and the filters.", el("br"),
      el("button", { type: "button", onclick: reset }, "Reset"));
  }

  function tags(cluster) {
    return [
      el("span", { class: "tag" }, cluster.kind),
      cluster.failing || cluster.new ? el("span", { class: "tag bad" }, cluster.failing || "new") : null,
      cluster.touched ? el("span", { class: "tag warn" }, "touched") : null,
      cluster.place === "source" || cluster.omission ? null : el("span", { class: "tag" }, places.get(cluster.place)),
      cluster.omission ? el("span", { class: "tag warn" }, `left out by default: ${cluster.omission}`) : null,
    ];
  }

  function row(cluster, most) {
    const bar = el("i");
    bar.style.width = `${Math.max(2, 100 * cluster.payoff / most)}%`;
    const button = el("button", {
      type: "button", class: "row", "data-id": cluster.id, onclick: () => open(cluster.id),
    },
    el("span", { class: "first" },
      el("span", { class: "name" }, nameOf(cluster)),
      el("span", { class: "gain", title: "Lines that could go" }, `−${counted(cluster.lines, "line")}`)),
    el("span", { class: "where" }, el("bdi", { dir: "ltr" }, medoid(cluster).path)),
    el("span", { class: "facts" },
      tags(cluster),
      el("span", { class: "copies" }, counted(cluster.size, "copy", "copies")),
      el("span", {}, `alike ${cluster.similarity}`)),
    el("span", { class: "bar", "aria-hidden": "true" }, bar));
    return el("li", {}, button);
  }

  function markRows() {
    for (const button of $("list").querySelectorAll(".row")) {
      const is = button.dataset.id === state.shown;
      button.setAttribute("aria-current", is ? "true" : "false");
      // One stop for the tab key; the arrows do the rest.
      button.tabIndex = button.dataset.id === state.at ? 0 : -1;
    }
  }

  function rowButton(id) {
    return $("list").querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  // Moves the keys to the next row; beside the list its cluster is shown at once.
  function move(step) {
    if (rows.length === 0) return;
    const from = rows.findIndex((cluster) => cluster.id === state.at);
    const isShown = narrow.matches || state.shown === state.at;
    const to = isShown ? Math.min(rows.length - 1, Math.max(0, from + step)) : Math.max(0, from);
    state.at = rows[to].id;
    markRows();
    if (!narrow.matches || document.body.dataset.screen === "detail") show(state.at, false);
    if (document.body.dataset.screen === "list" || !narrow.matches) {
      const button = rowButton(state.at);
      button.focus({ preventScroll: true });
      button.scrollIntoView({ block: "nearest" });
    }
  }

  // What is shown. The address holds the cluster's id, so that a link leads to it and "back" works.

  function open(id) {
    show(id, true);
    $("detail").focus({ preventScroll: true });
  }

  function show(id, isStep) {
    const hash = id ? `#${id}` : "#overview";
    if (location.hash !== hash) {
      if (isStep) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    }
    render(id);
  }

  function render(id) {
    state.shown = id;
    if (id) state.at = id;
    document.body.dataset.screen = "detail";
    $("overview-button").setAttribute("aria-pressed", id ? "false" : "true");
    $("detail").replaceChildren(id ? detail(clusters.get(id)) : overview());
    $("detail").scrollTop = 0;
    if (narrow.matches) window.scrollTo(0, 0);
    markRows();
  }

  function showList() {
    document.body.dataset.screen = "list";
    if (narrow.matches) {
      history.replaceState(null, "", location.pathname + location.search);
      const button = state.at && rowButton(state.at);
      if (button) {
        button.scrollIntoView({ block: "center" });
        button.focus({ preventScroll: true });
      }
    }
  }

  function follow() {
    const id = decodeURIComponent(location.hash.slice(1));
    if (clusters.has(id)) render(id);
    else if (id === "overview" || !narrow.matches) render(null);
    else showList();
  }

  const back = () => el("button", { type: "button", class: "back", onclick: showList }, "← Clusters");

  // One cluster.

  function detail(cluster) {
    const code = el("div");
    const members = memberList(cluster, () => renderCode(code, cluster));
    renderCode(code, cluster);
    return el("div", { class: "inner" },
      back(),
      el("div", { class: "head" }, el("h2", {}, nameOf(cluster)), tags(cluster)),
      el("p", { class: "soft" }, el("code", {}, cluster.id)),
      el("p", { class: "lead" }, `Copies that ${kinds.get(cluster.kind)}.`,
        cluster.reason ? ` ${cluster.omission || "judged"}: ${cluster.reason}.` : null,
        cluster.discounts ? ` ${cluster.discounts}.` : null),
      el("dl", { class: "figures" },
        figure("Copies", number(cluster.size)),
        figure("Lines that could go", number(cluster.lines)),
        figure("Similarity", cluster.similarity),
        figure("Tokens", number(cluster.tokens))),
      differs(cluster),
      el("section", { class: "card" },
        el("h3", {}, "Members"),
        el("p", { class: "soft" }, "The medoid is most like all others; choose what to compare it with."),
        members),
      code,
      verdict(cluster));
  }

  function figure(name, ...value) {
    return el("div", {}, el("dt", {}, name), el("dd", {}, value));
  }

  function differs(cluster) {
    if (!cluster.differs) return null;
    const examples = cluster.examples.flatMap((example, at) => [at ? " " : ": ", el("code", {}, example)]);
    return el("p", { class: "differs" }, `The others differ from the medoid in up to ${cluster.differs}`, examples);
  }

  function chosen(cluster) {
    if (state.member.has(cluster.id)) return state.member.get(cluster.id);
    return cluster.members.findIndex((member, at) => at !== cluster.medoid && member.code);
  }

  function memberList(cluster, changed) {
    const items = cluster.members.map((member, at) => {
      const isMedoid = at === cluster.medoid;
      const input = isMedoid || !member.code ? null : el("input", {
        type: "radio", name: "member", value: at, checked: at === chosen(cluster),
        onchange: () => { state.member.set(cluster.id, at); changed(); },
      });
      return el("li", {}, el("label", { class: isMedoid ? "medoid" : member.code ? null : "without" },
        input,
        el("span", { class: "path" }, placeOf(member), member.symbol ? [" ", el("b", {}, member.symbol)] : null),
        member.touched ? el("span", { class: "tag warn" }, "touched") : null,
        member.freshness ? el("span", { class: "tag warn" }, member.freshness) : null,
        el("span", { class: "alike" }, isMedoid ? "medoid" : member.similarity)));
    });
    const more = cluster.size - cluster.members.length;
    if (more > 0) items.push(el("li", { class: "soft" }, `… ${number(more)} more`));
    return el("ol", { class: "members" }, items);
  }

  function isSplit() {
    return state.layout === "auto" ? !narrow.matches : state.layout === "split";
  }

  function renderCode(box, cluster) {
    const at = chosen(cluster);
    const other = cluster.members[at];
    const first = medoid(cluster);
    if (!other || !other.code || !first.code) {
      box.replaceChildren(el("p", { class: "notice" }, "The code is not in this page; this shows it:"),
        command(`sai duplicates --show ${cluster.id}`));
      return;
    }
    const layout = (name, value) => el("button", {
      type: "button", "aria-pressed": String(isSplit() === (value === "split")),
      onclick: () => { state.layout = value; renderCode(box, cluster); },
    }, name);
    const sides = [side(first, other.code.medoid_marks), side(other, other.code.marks)];
    box.replaceChildren(
      el("div", { class: "code-head" },
        el("h3", {}, "The medoid and the chosen member"),
        el("div", { class: "switch", role: "group", "aria-label": "Layout" },
          layout("Side by side", "split"), layout("One below the other", "unified"))),
      el("div", { class: "code-box" },
        isSplit() ? splitTable(sides, expand(other.code.rows)) : unifiedTable(sides, expand(other.code.rows))));
  }

  // Rows from runs of rows.
  function expand(runs) {
    const expanded = [];
    for (let at = 0; at < runs.length; at += 4) {
      const [left, right, count, same] = runs.slice(at, at + 4);
      for (let n = 0; n < count; n += 1) {
        expanded.push({ left: left < 0 ? -1 : left + n, right: right < 0 ? -1 : right + n, same: same === 1 });
      }
    }
    return expanded;
  }

  function side(member, marks) {
    const lines = [];
    let start = 0;
    for (const line of member.code.text.split("\n")) {
      lines.push([start, start + line.length]);
      start += line.length + 1;
    }
    return {
      member, lines, text: member.code.text, colors: ranges(member.code.colors, 3), marks: ranges(marks, 2),
      margin: margin(member.code.text),
    };
  }

  // Blanks that all lines begin with; they are not shown.
  function margin(text) {
    let common = null;
    for (const line of text.split("\n")) {
      const blank = /^[ \t]*/.exec(line)[0];
      if (blank.length === line.length) continue;
      if (common === null) common = blank;
      while (!blank.startsWith(common)) common = common.slice(0, -1);
    }
    return (common || "").length;
  }

  // Columns that blanks take.
  const columnsOf = (blank) => [...blank].reduce((at, c) => (c === "\t" ? at + 4 - at % 4 : at + 1), 0);

  function ranges(numbers, width) {
    const all = [];
    let end = 0;
    for (let at = 0; at < numbers.length; at += width) {
      const start = end + numbers[at];
      end = start + numbers[at + 1];
      all.push([start, end, numbers[at + 2]]);
    }
    return all;
  }

  // The ranges that reach into a stretch; they are in order.
  function within(all, start, end) {
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[middle][1] <= start) low = middle + 1;
      else high = middle;
    }
    const found = [];
    for (let at = low; at < all.length && all[at][0] < end; at += 1) found.push(all[at]);
    return found;
  }

  // A line's code; where it wraps it goes on a little to the right of its beginning.
  function codeCell(kind, side, at) {
    const [from, end] = side.lines[at];
    const start = Math.min(from + side.margin, end);
    const blank = /^[ \t]*/.exec(side.text.slice(start, end))[0];
    const cell = el("td", { class: kind },
      blank ? el("span", { class: "blank" }, blank) : null, line(side, start + blank.length, end));
    const columns = columnsOf(blank) + 2;
    cell.style.paddingLeft = `calc(var(--gap) + ${columns}ch)`;
    cell.style.textIndent = `-${columns}ch`;
    return cell;
  }

  function line(side, start, end) {
    const colors = within(side.colors, start, end);
    const marks = within(side.marks, start, end);
    const borders = new Set([start, end]);
    for (const [from, to] of [...colors, ...marks]) {
      borders.add(Math.max(from, start));
      borders.add(Math.min(to, end));
    }
    const sorted = [...borders].sort((a, b) => a - b);
    const pieces = [];
    for (let n = 0; n + 1 < sorted.length; n += 1) {
      const [from, to] = [sorted[n], sorted[n + 1]];
      const covers = ([a, b]) => a <= from && to <= b;
      const color = colors.find(covers);
      const text = side.text.slice(from, to);
      const name = color ? `c${color[2]}` : null;
      if (marks.some(covers)) pieces.push(el("mark", { class: name }, text));
      else pieces.push(name ? el("span", { class: name }, text) : text);
    }
    return pieces;
  }

  const lineNumber = (side, at) => (at < 0 ? "" : String(side.member.first + at));

  function sideHead(side, role, span) {
    return el("th", { colspan: span, scope: "col" },
      `${role}${side.member.symbol ? `: ${side.member.symbol}` : ""}`,
      el("span", { class: "mono" }, placeOf(side.member)));
  }

  function cutRow(sides, span) {
    const cut = Math.max(...sides.map((side) => side.member.code.cut));
    if (cut === 0) return null;
    return el("tr", {}, el("td", { class: "cut", colspan: span },
      prose(`… up to ${counted(cut, "more line")} not shown here; \`sai duplicates --show ${state.shown}\` shows all`)));
  }

  function splitTable(sides, all) {
    const cells = (side, at, changed) => [
      el("td", { class: "n" }, lineNumber(side, at)),
      at < 0 ? el("td", { class: "void" }) : codeCell(changed, side, at),
    ];
    const body = all.map((row) => el("tr", {},
      cells(sides[0], row.left, row.same ? null : "gone"),
      cells(sides[1], row.right, row.same ? null : "come")));
    return el("table", { class: "code split" },
      el("colgroup", {}, el("col", { class: "n" }), el("col"), el("col", { class: "n" }), el("col")),
      el("thead", {}, el("tr", {}, sideHead(sides[0], "Medoid", 2), sideHead(sides[1], "Member", 2))),
      el("tbody", {}, body, cutRow(sides, 4)));
  }

  function unifiedTable(sides, all) {
    const one = (row, which) => {
      const at = which === 1 ? row.right : row.left;
      const kind = which === 2 ? null : which === 0 ? "gone" : "come";
      return el("tr", {},
        el("td", { class: "n" }, which === 1 ? "" : lineNumber(sides[0], row.left)),
        el("td", { class: "n" }, which === 0 ? "" : lineNumber(sides[1], row.right)),
        el("td", { class: `sign ${kind || ""}` }, which === 2 ? "" : which === 0 ? "−" : "+"),
        codeCell(kind, sides[which === 1 ? 1 : 0], at));
    };
    const body = [];
    let come = [];
    for (const row of all) {
      if (row.same) {
        body.push(...come, one(row, 2));
        come = [];
      } else {
        if (row.left >= 0) body.push(one(row, 0));
        if (row.right >= 0) come.push(one(row, 1));
      }
    }
    body.push(...come);
    const head = (side, role) => el("tr", {}, sideHead(side, role, 4));
    return el("table", { class: "code unified" },
      el("colgroup", {}, el("col", { class: "n" }), el("col", { class: "n" }), el("col", { class: "sign" }), el("col")),
      el("thead", {}, head(sides[0], "− Medoid"), head(sides[1], "+ Member")),
      el("tbody", {}, body, cutRow(sides, 4)));
  }

  function verdict(cluster) {
    const kind = el("select", { onchange: update },
      ["intentional", "boilerplate", "real"].map((name) => el("option", { value: name }, name)));
    const reason = el("input", { type: "text", placeholder: "why the copies shall stay", oninput: update });
    const box = command("");
    function update() {
      const because = (reason.value || "…").replaceAll("'", "'\\''");
      box.firstChild.textContent = `sai duplicates --verdict ${cluster.id} ${kind.value} --because '${because}'`;
    }
    update();
    return el("section", { class: "card" },
      el("h3", {}, "Judge it"),
      el("p", { class: "soft" }, "The command writes sai-duplicates.yml, which your team commits. ",
        "An intentional or boilerplate cluster is hidden until it gains a member."),
      el("div", { class: "verdict" }, el("label", {}, "Verdict", kind), el("label", {}, "Because", reason)),
      box,
      command(`sai duplicates --show ${cluster.id}`));
  }

  // Totals and the map.

  function overview() {
    return el("div", { class: "inner" },
      back(),
      el("div", { class: "head" }, el("h2", {}, data.of_a_change ? "Copies that touch the change" : "Overview")),
      data.clusters.length === 0 ? el("p", { class: "notice" }, prose(`${data.nothing}.`)) : null,
      el("dl", { class: "figures" },
        figure("Clusters", number(data.found)),
        figure("Lines that could go", number(data.spare_lines)),
        figure("Copied lines", number(data.copied_lines), " ", el("small", {}, data.share)),
        figure("Compared", counted(data.lines, "line"), " ", el("small", {}, counted(data.files, "file")))),
      data.gate ? el("p", { class: "notice" }, `${data.gate}.`) : null,
      data.notes.map((note) => el("p", { class: "notice" }, prose(note))),
      data.changed ? el("p", { class: "notice" },
        prose(`${counted(data.changed, "file")} changed since indexing; \`sai sync\` brings the index up to date.`)) : null,
      data.cut.map((text) => el("p", { class: "notice" }, prose(text))),
      map(),
      leftOut(),
      el("section", { class: "card" },
        el("h3", {}, "Let no new copies in"),
        el("p", { class: "soft" }, "Keep what is known in a file that you commit; in CI only what is new then fails."),
        command("sai duplicates --baseline sai-baseline.json --update-baseline"),
        command("sai duplicates --baseline sai-baseline.json --fail-on new")));
  }

  function leftOut() {
    if (data.left_out.length === 0) return null;
    return el("section", { class: "card" },
      el("h3", {}, "Left out"),
      el("ul", { class: "plain" }, data.left_out.map((left) =>
        el("li", {}, el("span", {}, prose(left.said)), el("code", { class: "soft" }, left.flag)))),
      el("p", { class: "soft" }, prose("`--all` shows everything.")));
  }

  // Clusters and lines that each pair of folders shares; a folder with itself counts what repeats in it.
  function shared() {
    const pairs = new Map();
    for (const cluster of data.clusters.filter((cluster) => passes(cluster, false))) {
      const counts = new Map();
      for (const member of cluster.members) counts.set(member.folder, (counts.get(member.folder) || 0) + 1);
      const inside = [...counts.keys()].sort((a, b) => a - b);
      for (const [n, one] of inside.entries()) {
        for (const other of inside.slice(n)) {
          if (one === other && counts.get(one) < 2) continue;
          const key = `${one} ${other}`;
          const pair = pairs.get(key) || { one, other, clusters: 0, lines: 0 };
          pair.clusters += 1;
          pair.lines += cluster.lines;
          pairs.set(key, pair);
        }
      }
    }
    return pairs;
  }

  function map() {
    const pairs = shared();
    if (pairs.size === 0) return null;
    const used = [...new Set([...pairs.values()].flatMap((pair) => [pair.one, pair.other]))].sort((a, b) => a - b);
    const best = [...pairs.values()].sort((a, b) => b.lines - a.lines).slice(0, 8);
    return el("section", { class: "card" },
      el("h3", {}, "Which folders share code"),
      el("p", { class: "soft" }, "Each square stands for two folders: the number counts their common clusters, ",
        "the shade the lines that could go. Choose one to see its clusters."),
      used.length > 1 ? el("div", { class: "map-box", tabindex: "0", role: "group", "aria-label": "Map, scrollable" }, matrix(pairs, used)) : null,
      el("ol", { class: "pairs" }, best.map((pair) => {
        const is = isChosen(pair.one, pair.other);
        return el("li", {}, el("button", {
          type: "button", "aria-pressed": String(is), onclick: () => choose(is ? [] : [pair.one, pair.other]),
        },
        el("span", { class: "path" }, pair.one === pair.other
          ? `within ${folderName(pair.one)}` : `${folderName(pair.one)} ↔ ${folderName(pair.other)}`),
        el("span", { class: "amount" }, `${counted(pair.clusters, "cluster")}, ${counted(pair.lines, "line")}`)));
      })));
  }

  const isChosen = (one, other) => state.folders.length === 2 && state.folders[0] === one && state.folders[1] === other;

  function matrix(pairs, used) {
    const size = 26;
    const chars = narrow.matches ? 18 : 38;
    const label = 10 + 7.3 * Math.max(...used.map((at) => Math.min(chars, folderName(at).length)));
    const left = label + 30;
    const most = Math.max(...[...pairs.values()].map((pair) => pair.lines));
    const parts = [];
    used.forEach((one, y) => {
      const top = y * size;
      const name = folderName(one);
      const short = name.length > chars ? `…${name.slice(1 - chars)}` : name;
      parts.push(svg("text", { class: "label", x: label, y: top + 17, "text-anchor": "end", onclick: () => choose([one]) },
        svg("title", {}, name), short));
      parts.push(svg("text", { class: "index", x: left - 6, y: top + 17, "text-anchor": "end" }, String(y + 1)));
      used.slice(0, y + 1).forEach((other, x) => {
        const pair = pairs.get(`${other} ${one}`);
        const at = { x: left + x * size, y: top, width: size, height: size, rx: 4 };
        if (!pair) {
          parts.push(svg("rect", at));
          return;
        }
        const shade = Math.max(1, Math.ceil(5 * Math.sqrt(pair.lines / most)));
        const is = isChosen(other, one);
        const said = `${folderName(other)} ↔ ${name}: ${counted(pair.clusters, "cluster")}, ${counted(pair.lines, "line")} could go`;
        parts.push(svg("g", { class: is ? "cell chosen" : "cell", onclick: () => choose(is ? [] : [other, one]) },
          svg("title", {}, said),
          svg("rect", { ...at, class: `m${shade}` }),
          svg("text", { class: `number on${shade}`, x: left + x * size + size / 2, y: top + 17 },
            pair.clusters > 999 ? "1k+" : String(pair.clusters))));
      });
    });
    used.forEach((_, x) => {
      parts.push(svg("text", { class: "index", x: left + x * size + size / 2, y: used.length * size + 14, "text-anchor": "middle" }, String(x + 1)));
    });
    const width = left + used.length * size + 4;
    const height = used.length * size + 20;
    return svg("svg", {
      class: "map", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": "Map of folders that share code; the list below it holds the largest pairs",
    }, parts);
  }

  function choose(folders) {
    state.folders = folders;
    fillFolders();
    filtersChanged();
    if (state.shown === null) {
      const top = $("detail").scrollTop;
      $("detail").replaceChildren(overview());
      $("detail").scrollTop = top;
    }
    say($("count").textContent);
    if (narrow.matches && folders.length) showList();
  }

  // Filters.

  function options(select, all, first) {
    select.replaceChildren(el("option", { value: "" }, first),
      ...all.map(([value, said]) => el("option", { value }, said)));
    select.disabled = all.length === 0;
  }

  function tally(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return counts;
  }

  function fillFolders() {
    const counts = tally(data.clusters.flatMap((cluster) => [...new Set(cluster.members.map((member) => member.folder))]));
    const all = [...counts].sort((a, b) => a[0] - b[0]).map(([at, n]) => [String(at), `${folderName(at)} (${n})`]);
    const [one, other] = state.folders;
    if (other !== undefined) {
      all.unshift(["pair", one === other ? `twice in ${folderName(one)}` : `${folderName(one)} ↔ ${folderName(other)}`]);
    }
    options($("folder"), all, "all");
    $("folder").value = other !== undefined ? "pair" : one !== undefined ? String(one) : "";
  }

  function fillFilters() {
    const byKind = tally(data.clusters.map((cluster) => cluster.kind));
    $("kinds").replaceChildren(...data.kinds.filter((kind) => byKind.has(kind.id)).map((kind) => el("button", {
      type: "button", "aria-pressed": "false", "data-kind": kind.id, title: `Copies that ${kind.said}`,
      onclick: (event) => {
        if (state.kinds.has(kind.id)) state.kinds.delete(kind.id);
        else state.kinds.add(kind.id);
        event.currentTarget.setAttribute("aria-pressed", String(state.kinds.has(kind.id)));
        filtersChanged();
      },
    }, `${kind.id} ${number(byKind.get(kind.id))}`)));
    const changes = [["new", "new"], ["touched", "touches the change"]].flatMap(([value, said]) => {
      const n = data.clusters.filter((cluster) => cluster[value]).length;
      return n ? [[value, `${said} (${n})`]] : [];
    });
    options($("change"), changes, "all");
    $("change-field").hidden = changes.length === 0;
    const byPlace = tally(data.clusters.map((cluster) => cluster.place));
    options($("place"), data.places.filter((place) => byPlace.has(place.id))
      .map((place) => [place.id, `${place.said} (${byPlace.get(place.id)})`]), "all");
    const languages = tally(data.clusters.flatMap((cluster) => [...new Set(cluster.members.map((member) => member.language))]));
    options($("language"), [...languages].sort((a, b) => b[1] - a[1]).map(([name, n]) => [name, `${name} (${n})`]), "all");
    $("order").replaceChildren(...Object.entries(ORDERS).map(([value, [said]]) => el("option", { value }, said)));
    $("copies").value = "2";
    fillFolders();
  }

  function filtersChanged() {
    renderList();
  }

  function reset() {
    Object.assign(state, { words: [], kinds: new Set(), change: "", place: "", language: "", folders: [], copies: 2, order: "payoff" });
    $("search").value = "";
    fillFilters();
    filtersChanged();
    if (state.shown === null) $("detail").replaceChildren(overview());
  }

  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("search").addEventListener("input", (event) => {
    state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    filtersChanged();
  });
  for (const name of ["change", "place", "language", "order"]) {
    $(name).addEventListener("change", (event) => { state[name] = event.target.value; filtersChanged(); });
  }
  $("folder").addEventListener("change", (event) => {
    const value = event.target.value;
    if (value !== "pair") choose(value === "" ? [] : [Number(value)]);
  });
  $("copies").addEventListener("input", (event) => {
    state.copies = Math.max(2, Number(event.target.value) || 2);
    filtersChanged();
  });
  $("reset").addEventListener("click", reset);

  // Light and dark.

  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // A browser may keep its storage from local files; then the system's choice counts.
  function remembered() {
    try { return localStorage.getItem("sai-theme"); } catch { return null; }
  }

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    $("theme-button").textContent = theme === "dark" ? "Light" : "Dark";
  }

  function switchTheme() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(theme);
    try { localStorage.setItem("sai-theme", theme); } catch { /* it holds for this page alone */ }
  }

  dark.addEventListener("change", () => { if (!remembered()) setTheme(dark.matches ? "dark" : "light"); });
  $("theme-button").addEventListener("click", switchTheme);

  // Keys.

  function nextMember(step) {
    const cluster = state.shown && clusters.get(state.shown);
    if (!cluster) return;
    const inputs = [...document.querySelectorAll('.members input[type="radio"]')];
    const at = inputs.findIndex((input) => input.checked);
    const to = inputs[at + step];
    if (to) to.click();
  }

  function escape() {
    if (document.activeElement === $("search")) {
      if ($("search").value) {
        $("search").value = "";
        state.words = [];
        filtersChanged();
      } else {
        $("search").blur();
      }
    } else if (narrow.matches && document.body.dataset.screen === "detail") {
      showList();
    } else if (state.shown) {
      show(null, true);
      const button = state.at && rowButton(state.at);
      if (button) button.focus();
    }
  }

  const KEYS = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    Enter: () => state.at && open(state.at),
    n: () => nextMember(1), p: () => nextMember(-1),
    s: () => {
      state.layout = isSplit() ? "unified" : "split";
      if (state.shown) render(state.shown);
    },
    "/": () => { if (narrow.matches) showList(); $("search").focus(); $("search").select(); },
    m: () => show(null, true), t: switchTheme, "?": () => $("help").showModal(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (event.key === "Escape") {
      escape();
      return;
    }
    const target = event.target;
    const isField = target.matches("input, select, textarea");
    if (isField) {
      // From the search the list is one key away.
      if (target === $("search") && (event.key === "ArrowDown" || event.key === "Enter") && rows.length) {
        event.preventDefault();
        state.at = rows[0].id;
        markRows();
        if (event.key === "Enter") open(state.at);
        else rowButton(state.at).focus();
      }
      return;
    }
    const isButton = target.matches("button, summary, a");
    if (event.key === "Enter" && isButton) return;
    // In the details the arrows scroll.
    if (event.key.startsWith("Arrow") && target.closest("#detail")) return;
    const act = KEYS[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });

  $("overview-button").addEventListener("click", () => show(null, true));
  $("help-button").addEventListener("click", () => $("help").showModal());
  window.addEventListener("popstate", follow);
  narrow.addEventListener("change", () => { if (state.shown) render(state.shown); });

  document.title = `Duplicate code${data.name ? ` in ${data.name}` : ""}`;
  $("subtitle").textContent = [data.name, `${counted(data.found, "cluster")}`,
    `${number(data.copied_lines)} of ${counted(data.lines, "line")} copied (${data.share})`].filter(Boolean).join(" · ");
  setTheme(remembered() || (dark.matches ? "dark" : "light"));
  // Where there is room for them beside the list.
  $("more-filters").open = !narrow.matches && window.innerHeight >= 1000;
  fillFilters();
  renderList();
  follow();
})();
