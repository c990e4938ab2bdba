/* What a test asks of a page: each function returns a list of lines, empty where all is well. */
window.probes = (() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && !isUnseen(element);
  const isUnseen = (element) => Boolean(element.closest(".unseen, .skip"));
  const name = (element) => {
    const classes = [...element.classList].map((one) => `.${one}`).join("");
    const text = (element.getAttribute("aria-label") || element.textContent || element.name || "").trim();
    return `${element.localName}${classes} “${text.replace(/\s+/g, " ").slice(0, 40)}”`;
  };

  function outline() {
    const headings = all("h1, h2, h3, h4, h5, h6").filter((one) => one.checkVisibility());
    return {
      title: document.title,
      lang: document.documentElement.lang,
      headings: headings.map((one) => Number(one.localName[1])),
      landmarks: ["header", "main", "footer"].map((one) => all(`body > ${one}`).length),
      navigations: all("nav").map((one) => one.getAttribute("aria-label") || ""),
      skip: document.querySelector("a.skip")?.getAttribute("href") ?? "",
    };
  }

  /** Opens what is folded; a menu would cover what is below it. */
  function openDetails() {
    for (const one of all("main details:not(.drop)")) one.open = true;
  }

  const scrolls = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return true;
    return false;
  };

  /** Elements that make the page wider than its window, or whose text is cut off. */
  function tooWide() {
    const page = document.scrollingElement;
    if (page.scrollWidth <= innerWidth) return cut();
    const out = all("body *").filter((one) => isSeen(one) && one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one));
    const deepest = out.filter((one) => !out.some((other) => other !== one && one.contains(other)));
    return [`the page is ${page.scrollWidth} px wide in ${innerWidth}`, ...deepest.map(name), ...cut()];
  }

  const LONGEST_NAME = "The names of the sites of our friends and of theirs ".repeat(2).slice(0, 100);

  /** What does not fit as letters grow, in a window of 844 px height: the page, or the header, with the longest name of a site. */
  function atLargeLetters() {
    const found = [], page = document.scrollingElement, { style } = document.documentElement;
    const header = document.querySelector("body > header"), name = document.querySelector(".site-name span");
    const [former, menus] = [name?.textContent, header?.querySelectorAll(".drop") ?? []];
    if (name) name.textContent = LONGEST_NAME;
    for (const percent of [100, 130, 150, 175, 200]) {
      const note = (text) => found.push(`${innerWidth} px, ${percent} %: ${text}`);
      style.fontSize = `${percent}%`;
      if (page.scrollWidth > innerWidth) note(tooWide().filter((line) => !line.startsWith("cut off")).join(", "));
      if (header?.offsetHeight > 844 / 5) note(`the header is ${header.offsetHeight} px high`);
      for (const menu of [null, ...menus]) {
        if (menu) menu.open = true;
        for (const one of header?.querySelectorAll("a, button, summary") ?? []) {
          const box = one.getBoundingClientRect();
          if (one.checkVisibility() && box.width && (box.left < 0 || box.right > innerWidth)) note(`${one.textContent.trim()} is out of sight`);
        }
        if (menu) menu.open = false;
      }
    }
    style.fontSize = "";
    if (name) name.textContent = former;
    return found;
  }

  const hides = (style, axis) => ["hidden", "clip"].includes(style[`overflow${axis}`]);

  /** Text of which a part lies outside of a box that hides what does not fit. */
  function cut() {
    const lost = new Set();
    for (const frame of all("body *")) {
      const style = getComputedStyle(frame);
      if (!(hides(style, "X") || hides(style, "Y")) || !isSeen(frame)) continue;
      const edge = frame.getBoundingClientRect();
      if (edge.width <= 1) continue; // there for assistive technology alone
      const walk = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const text = walk.currentNode;
        if (!text.data.trim() || !isSeen(text.parentElement)) continue;
        if (frame.closest("[title]")?.title.includes(text.data.trim())) continue; // shown whole there
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        const wide = hides(style, "X") && (box.right > edge.right + 2 || box.left < edge.left - 2);
        const high = hides(style, "Y") && (box.bottom > edge.bottom + 2 || box.top < edge.top - 2);
        if (wide || high) lost.add(`cut off: ${name(text.parentElement)} in ${name(frame)}`);
      }
    }
    return [...lost];
  }

  /** What is cut off, or makes the page wider, only once a reader widens lines, words and letters (WCAG 1.4.12). */
  function cutBySpacing() {
    const before = new Set(tooWide());
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      "* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }" +
        "p { margin-bottom: 2em !important }",
    );
    document.adoptedStyleSheets.push(sheet);
    const after = tooWide().filter((line) => !before.has(line));
    document.adoptedStyleSheets.pop();
    return after;
  }

  const FOCUSABLE = "a[href], button:enabled, input:enabled:not([type=hidden]), select:enabled, textarea:enabled, summary, [tabindex='0']";

  /** A key must have been pressed before, or the browser shows no focus. */
  function withoutFocusRing() {
    const missing = new Set();
    for (const one of all(FOCUSABLE)) {
      if (!one.checkVisibility({ visibilityProperty: true })) continue;
      document.activeElement?.blur();
      const shadow = getComputedStyle(one).boxShadow;
      one.focus({ preventScroll: true });
      if (document.activeElement !== one) continue;
      const style = getComputedStyle(one);
      const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
      if (!ring && style.boxShadow === shadow) missing.add(name(one));
    }
    document.activeElement?.blur();
    return [...missing];
  }

  const FINGER = 44;
  const PROSE = "p, td, dd, dt, h1, h2, h3, h4, figcaption, .facts, .help, .what, .detail";

  /** A link in a line of text may be as high as the line (WCAG 2.5.8, whose 24 pixels axe looks after). */
  function isInText(element) {
    if (element.localName !== "a") return false;
    if (element.closest(PROSE)) return true;
    const item = element.closest("li");
    return Boolean(item) && item.textContent.trim() !== element.textContent.trim();
  }

  /** Whether every point that a finger on the middle covers belongs to the target. */
  function isHitAround(element, area) {
    area.scrollIntoView({ block: "center", inline: "center" });
    const box = area.getBoundingClientRect();
    const [x, y, reach] = [box.left + box.width / 2, box.top + box.height / 2, FINGER / 2 - 0.6];
    const wide = box.width < FINGER ? reach : 0;
    const high = box.height < FINGER ? reach : 0;
    return [[wide, 0], [-wide, 0], [0, high], [0, -high]].every(([right, down]) => {
      const hit = document.elementFromPoint(x + right, y + down);
      return hit && (area.contains(hit) || element.contains(hit));
    });
  }

  function smallTargets() {
    if (!matchMedia("(pointer: coarse)").matches) return ["this is no screen to touch"];
    const small = new Set(), modal = document.querySelector("dialog:modal");
    for (const one of all(FOCUSABLE)) {
      if (!isSeen(one) || isInText(one) || (modal && !modal.contains(one))) continue;
      const area = one.closest("label") || one;
      const box = area.getBoundingClientRect();
      if ((box.width >= FINGER - 0.5 && box.height >= FINGER - 0.5) || isHitAround(one, area)) continue;
      small.add(`${name(one)}: ${Math.round(box.width)} × ${Math.round(box.height)}`);
    }
    scrollTo(0, 0);
    return [...small];
  }

  return { outline, openDetails, tooWide, atLargeLetters, cutBySpacing, withoutFocusRing, smallTargets };
})();
