// Loads a module of the console as it is, types and all.

import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))

export async function load(path) {
  return (await runnerImport(`./src/${path}`, { root, configFile: false, logLevel: 'silent' })).module
}
