"""The pictures of the pages about methods, from data that every machine has: nothing is downloaded.

    python examples/method_pictures                        all of them, about two minutes
    python examples/method_pictures code cova              some, by the names of their pages

Each is written into the folder where this runs, as NAME.png.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from deciding import choose
from others import PICTURES as OTHERS
from relations import PICTURES as RELATIONS

from relscape.errors import RelscapeWarning, UnknownNameError

PICTURES = {**RELATIONS, **OTHERS, "choose": choose}


def main(names: Sequence[str] = ()) -> None:
    for name in names or PICTURES:
        if name not in PICTURES:
            raise UnknownNameError("picture", name, PICTURES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelscapeWarning)  # of things without relations, of steps used up
            PICTURES[name]()
        print(f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
