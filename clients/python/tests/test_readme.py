"""The example of the README, run against a server: SCARCE_URL=… python -m unittest"""

import pathlib
import re
import subprocess
import sys
import unittest

README = pathlib.Path(__file__).parent.parent / "README.md"


class Readme(unittest.TestCase):
    def test_the_example_prints_what_the_readme_says(self):
        page = README.read_text()
        code, shown = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("python", "text"))
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.stdout + run.stderr, shown)


if __name__ == "__main__":
    unittest.main()
