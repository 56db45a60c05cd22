"""Which module should import which? Python's standard library as a network of documents.

Modules are the documents, the words of their documentation the contents, and imports the links. A tenth of
the imports is held out; a model of the others and of the words has to find them. Then it is asked what a
module that is not there yet would import, given nothing but some words. Everything is read from the Python
that runs this, so another version of Python gives somewhat other answers.

    python examples/document_network.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import relscape as rs
from relscape.plot import draw_map, save_picture
from relscape.scores.links import rank_links

NEW = {
    "a mail client": "mail message imap smtp login mailbox header mime",
    "a job runner": "process thread queue task wait timeout lock",
    "a site scraper": "http url request html parse tag cookie response header",
}


def main() -> None:
    library = rs.datasets.load_stdlib()
    words, modules = library.only("words"), library.entities["module"].ids
    imports, held_out = rs.hold_out_links(
        rs.read_links(library.only("imports"), modules), 0.1, random_state=0
    )
    model = rs.DocumentNetwork(content_weight=0.3, row_normalize=True, random_state=0).fit(words, imports)

    print(f"Where {len(held_out)} held-out imports stand among {len(modules) - 1} other modules:")
    popularity = np.bincount(imports[:, 1], minlength=len(modules))
    reports = {
        "links and contents": model.rank(held_out),
        "contents alone": rs.ContentOnly(random_state=0).fit(words, imports).rank(held_out),
        "the most imported": rank_links(
            lambda rows: np.tile(popularity, (len(rows), 1)), held_out, len(modules), imports
        ),
    }
    for name, report in reports.items():
        found = report.filtered
        figures = f"mean rank {found.mean_rank:5.1f}   hits@10 {found.hits[10]:4.0%}   AUC {found.auc:.2f}"
        print(f"  {name:20}{figures}")

    print("\nHeld-out imports among a module's first five suggestions:")
    for module, imported in modules[held_out]:
        first = [link.id for link in model.predict_links(module, top=5)]
        if imported in first:
            print(f"  {module} imports {imported} (suggestion {first.index(imported) + 1})")

    print("\nWhat else it would have them import:")
    for module in ("ftplib", "sched", "statistics", "webbrowser", "zipfile"):
        print(f"  {module}: {', '.join(link.id for link in model.predict_links(module, top=5))}")

    print("\nModules that do not exist, by some words:")
    known = set(library.entities["word"].ids)
    pairs = [(name, word) for name, text in NEW.items() for word in text.split() if word in known]
    wanted = rs.RelationalData.from_edges(pairs, rows="module", columns="word")
    for name, links in zip(wanted.entities["module"].ids, model.suggest(wanted, top=5), strict=True):
        print(f"  {name}: {', '.join(link.id for link in links)}")

    figure = draw_map(model.to_map().layout("tsne"), color="chapter", links=True, title="Who imports whom")
    save_picture(figure, Path("imports.png"), dpi=90)
    print("saved imports.png")


if __name__ == "__main__":
    main()
