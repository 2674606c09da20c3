import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the page. */
export interface Asset {
  contentType: string;
  body: Buffer;
}

/** The files of the page, by their paths in the router. */
export type Assets = ReadonlyMap<string, Asset>;

/** Where the build puts them: beside this module. */
const FOLDER = join(__dirname, "assets");
const FILES: readonly (readonly [path: string, file: string, contentType: string])[] = [
  ["/", "page.html", "text/html; charset=utf-8"],
  ["/page.js", "page.js", "text/javascript; charset=utf-8"],
  ["/page.css", "page.css", "text/css; charset=utf-8"],
  ["/icon.svg", "icon.svg", "image/svg+xml"],
];

/**
 * Reads the files of the page, once for each router.
 *
 * @throws Error when they are missing: this is a bundle, or a checkout that was not built.
 */
export function readAssets(): Assets {
  const missing = FILES.find(([, file]) => !existsSync(join(FOLDER, file)));
  if (missing !== undefined) {
    throw new Error(
      `adminRouter: the console's page is missing, no file ${JSON.stringify(join(FOLDER, missing[1]))}. In a checkout run "npm run build:page"; leave express-push-verification out of a bundle.`,
    );
  }
  return new Map(
    FILES.map(([path, file, contentType]) => [
      path,
      { contentType, body: readFileSync(join(FOLDER, file)) },
    ]),
  );
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

/** The page for a person whom `authorize` rejects: no files of the console are served. */
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
