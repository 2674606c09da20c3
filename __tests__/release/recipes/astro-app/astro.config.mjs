import node from "@astrojs/node";
export default {
  output: "server",
  adapter: node({ mode: "standalone" }),
  server: { host: "127.0.0.1" },
  security: { checkOrigin: false },
  // Another package of this folder has an older version of cookie.
  vite: { ssr: { noExternal: ["cookie"] } },
};
