import { defineConfig, type Plugin } from "vite";

const OUTPUT = "../src/relscape/explorer/static";

/**
 * Write the tags of index.html without `crossorigin`, which a page opened from disk cannot satisfy, and keep
 * the script free of `</script`, so that it can be put into a page as it is.
 */
function plainTags(): Plugin {
  return {
    name: "plain-tags",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk") file.code = file.code.replaceAll("</script", "<\\/script");
      }
    },
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replaceAll(" crossorigin", ""),
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [plainTags()],
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 100_000,
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: "assets/explorer.js",
        assetFileNames: "assets/explorer[extname]",
      },
    },
  },
});
