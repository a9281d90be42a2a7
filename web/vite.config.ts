import { defineConfig } from "vite";

// The bundle is committed: the same source gives the same bytes, wherever it is built.
export default defineConfig({
  base: "/console/",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../tidemark/api/console_bundle",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});
