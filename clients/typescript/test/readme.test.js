// The example of the README, run against a server and checked by the compiler: SCARCE_URL=… node --test

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const run = (words, env = {}) => spawnSync(process.execPath, words, { encoding: "utf8", env: { ...process.env, ...env } });

test("the README's example prints what the README says, and its types are right", () => {
  const page = readFileSync(path("../README.md"), "utf8");
  const block = (language) => page.match(new RegExp("```" + language + "\\n([^]*?)```"))[1];
  const example = path("types/readme.mjs");
  writeFileSync(example, block("js"));
  try {
    const { stdout, stderr } = run([example]);
    assert.equal(stdout + stderr, block("text"));
    const types = run([path("../node_modules/typescript/bin/tsc"), "-p", path("types/tsconfig.json")]);
    assert.equal(types.stdout + types.stderr, "");
  } finally {
    rmSync(example);
  }
});
