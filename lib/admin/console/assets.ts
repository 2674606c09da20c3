import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the page, and its path in the router. */
export type Asset = ReturnType<typeof readAssets>[number];

const FOLDER = join(__dirname, "assets");
const FILES = [
  ["/", "page.html", "text/html; charset=utf-8"],
  ["/page.js", "page.js", "text/javascript; charset=utf-8"],
  ["/page.css", "page.css", "text/css; charset=utf-8"],
  ["/icon.svg", "icon.svg", "image/svg+xml"],
] as const;

/**
 * Reads the files of the page, once for each router.
 *
 * @throws Error when they are missing: this is a bundle, or a checkout that was not built.
 */
export function readAssets() {
  return FILES.map(([path, name, contentType]) => {
    const file = join(FOLDER, name);
    try {
      return { path, contentType, body: readFileSync(file) };
    } catch (cause) {
      const message = `adminRouter: the console's page is missing, no file ${JSON.stringify(file)}. In a checkout run "npm run build:page"; leave express-push-verification out of a bundle.`;
      throw new Error(message, { cause });
    }
  });
}

/** The page may load from and send to its own origin alone. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** The page for a person whom `authorize` rejects. */
export const FORBIDDEN_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Push webhooks: not allowed</title>
<main>
<h1>You may not see this page</h1>
<p>Sign in to the app with an account that may manage its webhooks. Then <a href="">load this page again</a>.</p>
</main>
`;
