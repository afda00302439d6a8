import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// The server of `vite dev` passes what is not a file of the console on to a running Scarce.
const server = process.env.SCARCE_HTTP ?? 'http://127.0.0.1:7380'

export default defineConfig({
  base: '/console/',
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // One file each, always under the same name: the binary embeds them by name, and answers with an ETag.
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: 'console.js',
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith('.css')) ? 'console.css' : '[name][extname]'),
      },
    },
  },
  server: {
    proxy: {
      ...Object.fromEntries(['/v1', '/openapi.json', '/metrics', '/readyz', '/problems', '/docs'].map((path) => [path, server])),
      '/ws': { target: server, ws: true },
    },
  },
})
