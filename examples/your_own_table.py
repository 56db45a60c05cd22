"""From a table of pairs to a saved map, and new things placed on it later.

Who ordered which dish: one line a pair, with a column that says how often. The same steps work for
documents and words, customers and products, genes and samples.

    python examples/your_own_table.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import relscape as rs

ORDERS = [
    ("Ada", "ramen", 5), ("Ada", "sushi", 4), ("Ada", "curry", 1),
    ("Ben", "sushi", 6), ("Ben", "ramen", 3),
    ("Cleo", "pizza", 5), ("Cleo", "pasta", 6), ("Cleo", "curry", 1),
    ("Dan", "pasta", 3), ("Dan", "pizza", 4),
    ("Eve", "curry", 6), ("Eve", "dal", 5), ("Eve", "pizza", 1),
    ("Finn", "dal", 4), ("Finn", "curry", 3), ("Finn", "ramen", 1),
]  # fmt: skip
NEWCOMERS = [("Gia", "dal", 2), ("Gia", "curry", 3), ("Hal", "sushi", 1)]


def write(path: Path, lines: list[tuple[str, str, int]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("guest", "dish", "times"), *lines])


def main() -> None:
    write(Path("orders.csv"), ORDERS)
    data = rs.read("orders.csv", rows="guest", columns="dish", weight="times")
    joint = rs.CorrespondenceAnalysis(n_components=2).fit(data).to_map()
    joint.save("orders-map")
    print("saved orders.csv and orders-map")
    for near in joint.neighbors("guest:Ada", k=3):
        print(f"near Ada: {near.kind} {near.label}, distance {near.distance:.2f}")

    write(Path("newcomers.csv"), NEWCOMERS)
    print("saved newcomers.csv")
    new = rs.read("newcomers.csv", rows="guest", columns="dish", weight="times")
    grown = rs.place(rs.Map.load("orders-map"), new)
    for guest in ("Gia", "Hal"):
        near = grown.neighbors(("guest", guest), among="guest", k=1)[0]
        print(f"{guest} is placed nearest to {near.label}")


if __name__ == "__main__":
    main()
