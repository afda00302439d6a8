import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const GZIPPED_BYTES_MAX = 250_000

test('what a browser must load is small', () => {
  const script = readFileSync(new URL('../../dist/console.js', import.meta.url))
  const bytes = gzipSync(script).length
  assert.ok(bytes > 10_000 && bytes < GZIPPED_BYTES_MAX, `${bytes} bytes`)
})

test('nothing in the page comes from elsewhere', () => {
  for (const name of ['index.html', 'console.css']) {
    const text = readFileSync(new URL(`../../dist/${name}`, import.meta.url), 'utf8')
    assert.doesNotMatch(text, /https?:\/\//, name)
  }
})
