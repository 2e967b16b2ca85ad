import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { mockServer } from "./scripts/mock-server.mjs";

// Where the API lives while developing. Production serves pages and API from one origin.
const target = process.env.VEDETTE_URL ?? "http://127.0.0.1:8080";
const proxy = Object.fromEntries(
  ["/api_jsonrpc.php", "/api/live", "^/oncall/[^/]+\\.ics$"].map((path) => [
    path,
    { target, changeOrigin: true },
  ]),
);

export default defineConfig(({ mode }) => ({
  plugins: [react(), tailwindcss(), mode === "mock" && mockServer()],
  resolve: { tsconfigPaths: true },
  server: { host: "127.0.0.1", proxy: mode === "mock" ? {} : proxy },
  preview: { host: "127.0.0.1", proxy },
  // Busy machines need longer than the default of five seconds.
  test: { testTimeout: 120_000 },
  build: {
    target: "es2022",
    // Small files inlined as data: URLs would need a looser content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 400,
    manifest: true,
    rolldownOptions: {
      output: {
        // Small parts that several pages share travel together: a page costs few requests.
        codeSplitting: {
          groups: [{ name: "kit", test: /src\/(api|shared\/forms|ui|util)\//, minShareCount: 3 }],
        },
      },
    },
  },
}));
