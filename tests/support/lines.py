"""Runs verbs of the command line one after another in this process, for a copy of the project.

`python -m tests.support.lines LINES`: a JSON array of argument lists. The status, the output and
the errors of each are printed as JSON.
"""

from __future__ import annotations

import json
import sys

from tests.support.command import invoke


def main(lines: list[list[str]]) -> None:
    ran = [invoke(*line) for line in lines]
    json.dump([(each.exit_code, each.stdout, each.stderr) for each in ran], sys.stdout)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
