"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const findings = all(".finding");
  const groups = all(".group");
  const rows = all("#history tr[data-words]");
  const cells = all("#history td[data-severity]");
  const severities = ["breaking", "dangerous", "compatible", "docs"];

  const chosen = () => ({
    words: byId("words").value.toLowerCase().split(/\s+/).filter(Boolean),
    severities: new Set(all("input[name=severity]:checked").map((box) => box.value)),
    audience: byId("audience").value,
    rule: byId("rule").value,
  });

  const has = (text, words) => words.every((word) => text.includes(word));

  // How bad it is for the audience that is chosen, or for anybody.
  const severityOf = (element, audience) => element.dataset[audience || "severity"];

  const show = (element, severity) => {
    element.classList.remove(...severities);
    element.classList.add(severity);
  };

  const judge = (audience) => {
    for (const finding of findings) {
      const severity = severityOf(finding, audience);
      show(finding, severity);
      finding.querySelector(".badge").textContent = severity;
    }
    for (const cell of cells) {
      const severity = severityOf(cell, audience);
      show(cell, severity);
      cell.textContent = severity;
    }
  };

  const fits = (finding, { words, severities, audience, rule }) =>
    severities.has(severityOf(finding, audience)) &&
    (!audience || finding.dataset.breaks.split(" ").includes(audience)) &&
    (!rule || finding.dataset.rule === rule) &&
    has(finding.dataset.words, words);

  const filter = () => {
    const wanted = chosen();
    judge(wanted.audience);
    for (const finding of findings) finding.hidden = !fits(finding, wanted);
    for (const group of groups) group.hidden = !group.querySelector(".finding:not([hidden])");
    for (const row of rows) row.hidden = !has(row.dataset.words, wanted.words);
    const shown = findings.filter((finding) => !finding.hidden).length;
    byId("count").textContent =
      shown === findings.length ? `${shown} findings` : `${shown} of ${findings.length} findings`;
    byId("nothing").hidden = shown > 0 || findings.length === 0;
  };

  const reset = () => {
    byId("words").value = byId("audience").value = byId("rule").value = "";
    for (const box of all("input[name=severity]")) box.checked = true;
    filter();
  };

  const open = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches(".finding")) return;
    if (target.hidden) reset();
    target.open = true;
    target.scrollIntoView({ block: "start" });
  };

  const turn = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };

  byId("filter").addEventListener("input", filter);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", reset);
  byId("theme").addEventListener("click", turn);
  for (const button of all(".all")) {
    button.addEventListener("click", () => {
      byId("audience").value = button.dataset.for;
      filter();
      byId("filter").scrollIntoView();
    });
  }
  addEventListener("hashchange", open);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement.tagName !== "INPUT") {
      event.preventDefault();
      byId("words").focus();
    } else if (event.key === "Escape" && document.activeElement === byId("words")) {
      byId("words").value = "";
      filter();
    }
  });
  filter();
  open();
})();
