"use strict";
// Filters, sorts and turns the pages of tables. Everything is set as text, so nothing in a cell is markup.
(() => {
  const SIGNS = { proven: "✓", refuted: "✗", unknown: "?" };
  const RANKS = { refuted: 0, unknown: 1, proven: 2 };
  const order = new Intl.Collator("en", { numeric: true });
  const numbers = new Intl.NumberFormat("en");

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const drawHoldings = (cell, parts) => {
    const grid = cell.appendChild(element("div"));
    for (const [size, guaranteed, limit, remark] of parts) {
      const line = grid.appendChild(element("p"));
      if (size) line.append(element("span", "size", size), " ");
      const pair = line.appendChild(element("span", "pair"));
      pair.append(element("b", "", numbers.format(guaranteed)), " ");
      pair.append(element("span", "limit", `/ ${numbers.format(limit)}`));
      if (remark) pair.append(" ", element("span", "remark", remark));
    }
  };

  const drawCell = (kind, value) => {
    const cell = element(kind === "name" ? "th" : "td", kind === "name" ? "" : kind);
    if (kind === "name") cell.scope = "row";
    if (value === null || value === "") {
      cell.append(element("span", "none", "–"));
    } else if (kind === "number") {
      cell.textContent = numbers.format(value);
    } else if (kind === "word") {
      const word = cell.appendChild(element("span", `word ${value}`));
      const sign = word.appendChild(element("span", "", SIGNS[value] || ""));
      sign.ariaHidden = "true";
      word.append(` ${value}`);
    } else if (kind === "holdings") {
      drawHoldings(cell, value);
    } else {
      cell.textContent = value;
    }
    return cell;
  };

  // What a filter looks at; who holds something is found by the name of its column as well.
  const textOf = (kind, value, title) => {
    if (value === null) return "";
    if (kind !== "holdings") return String(value);
    return `${title} ${value.map(([size, , , remark]) => `${size} ${remark}`).join(" ")}`;
  };

  // What a column is sorted by; cells with nothing in them always come last.
  const keyOf = (kind, value) => {
    if (value === null || value === "") return null;
    if (kind === "word") return RANKS[value] ?? 3;
    return kind === "holdings" ? value.reduce((sum, part) => sum + part[1], 0) : value;
  };

  const compare = (one, other, turned) => {
    if (one === null || other === null) return (one === null) - (other === null);
    const found = typeof one === "number" ? one - other : order.compare(one, other);
    return turned ? -found : found;
  };

  const setUp = (paged) => {
    const { noun, perPage, kinds, words, rows } = JSON.parse(paged.querySelector("script").textContent);
    const valueOf = (row, column) => (words[column] ? words[column][row[column]] : row[column]);
    const body = paged.querySelector("tbody");
    const heads = [...paged.querySelectorAll("thead th")];
    const titles = heads.map((head) => head.textContent);
    const filter = paged.querySelector("input");
    const status = paged.querySelector("[role=status]");
    const buttons = [...paged.querySelectorAll("[data-by]")];
    let found = rows;
    let start = 0;
    let sorted = null;
    let texts = null;

    const show = () => {
      const shown = found.slice(start, start + perPage);
      body.replaceChildren(
        ...shown.map((row) => {
          const line = element("tr");
          line.append(...kinds.map((kind, column) => drawCell(kind, valueOf(row, column))));
          return line;
        }),
      );
      const all = `${numbers.format(rows.length)} ${noun}${rows.length === 1 ? "" : "s"}`;
      const some = found.length < rows.length ? `${numbers.format(found.length)} of ` : "";
      const range = `, ${numbers.format(start + 1)}–${numbers.format(start + shown.length)} shown`;
      status.textContent = `${some}${all}${found.length > perPage ? range : ""}`;
      buttons[0].disabled = start === 0;
      buttons[1].disabled = start + perPage >= found.length;
    };

    const choose = () => {
      const wanted = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      texts ??= rows.map((row) =>
        kinds.map((kind, i) => textOf(kind, valueOf(row, i), titles[i])).join(" ").toLowerCase(),
      );
      found = wanted.length ? rows.filter((_, i) => wanted.every((word) => texts[i].includes(word))) : [...rows];
      if (sorted) {
        const { column, turned } = sorted;
        const keys = new Map(found.map((row) => [row, keyOf(kinds[column], valueOf(row, column))]));
        found.sort((one, other) => compare(keys.get(one), keys.get(other), turned));
      }
      start = 0;
      show();
    };

    const sortBy = (column) => {
      const larger = kinds[column] === "number" || kinds[column] === "holdings";
      const again = sorted && sorted.column === column;
      sorted = { column, turned: again ? !sorted.turned : larger };
      heads.forEach((head, i) => {
        if (i === column) head.ariaSort = sorted.turned ? "descending" : "ascending";
        else head.removeAttribute("aria-sort");
      });
      choose();
    };

    heads.forEach((head, column) => {
      const button = element("button", "sort");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortBy(column));
    });
    filter.addEventListener("input", choose);
    buttons.forEach((button) =>
      button.addEventListener("click", () => {
        start += perPage * Number(button.dataset.by);
        show();
      }),
    );
    paged.querySelector(".pager").hidden = rows.length <= perPage;
    paged.querySelector(".controls").hidden = rows.length <= 5;
    show();
  };

  document.querySelectorAll("[data-table]").forEach(setUp);
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
  });
})();
