/* Pages whose title begins with the query come first, then pages whose titles contain it; pictures and pages of single
   names come later. */
const asked = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();

var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const name = title.toLowerCase();
    if (!asked || anchor || docname.startsWith("changelog")) return score;
    const bonus = name.startsWith(asked) ? 40 : name.includes(asked) ? 20 : 0;
    return score + (/^(auto_gallery|api\/generated)/.test(docname) ? bonus / 2 : bonus);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
