"""What Python's standard library states about itself, learnt as a knowledge graph.

Modules, classes and functions are the entities; "imports", "defines", "inherits" and "raises" the relations.
A tenth of the facts is held out; a model of the others has to find them, and is then asked some questions.
Everything is read from the Python that runs this, so another version of Python gives somewhat other answers.

    python examples/knowledge_graph.py
"""

from __future__ import annotations

import relscape as rs


def main() -> None:
    graph = rs.datasets.load_stdlib_facts().split(valid=0.05, test=0.1, random_state=0)
    print(graph)
    model = rs.KGEmbedding(
        "RotatE", 64, loss="self-adversarial", negatives=64, n_batches=20, n_epochs=40, random_state=0
    ).fit(graph)

    report = model.rank("test")
    print(f"\nWhere the held-out facts stand among {graph.n_entities:,} entities:\n{report}")

    first = (report.heads.ranks == 1) & (report.tails.ranks == 1)
    print("\nFacts it was never shown, and puts first from both ends:")
    for head, relation, tail in graph.named(graph.test[first])[::6]:
        print(f"  {head} {relation} {tail}")

    print("\nEntities alike:")
    for entity in ("ftplib", "json", "smtplib.SMTPException"):
        print(f"  {entity}: {', '.join(near.name for near in model.similar(entity, 3))}")

    print("\nWhat joins zipfile.ZipFile and ValueError?")
    for answer in model.predict_relations("zipfile.ZipFile", "ValueError", top=2, exclude_known=False):
        print(f"  {answer.name}, energy {answer.energy:.2f}{', known' if answer.known else ''}")

    told = model.explain("http.HTTPServer", "inherits", "socketserver.TCPServer", top=3)
    print(f"\nhttp.HTTPServer inherits socketserver.TCPServer (rank {told.tail_rank:.0f}) is most like")
    for fact in told.alike:
        print(f"  {fact.head} {fact.relation} {fact.tail}")

    print("\nKnown facts that surprise it most:")
    for odd in model.suspicious(top=3):
        print(f"  {odd.head} {odd.relation} {odd.tail}")


if __name__ == "__main__":
    main()
