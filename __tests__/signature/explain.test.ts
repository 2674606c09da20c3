import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { explainSignature } from "../../lib/signature/explain";
import { TYPESCRIPT } from "../support/child-processes";
import { CONTROL, hostileText, listTexts } from "../support/control-characters";
import { AUTH_TOKEN, PUBLIC_URL } from "../support/webhook-requests";

const root = join(__dirname, "..", "..");

/** Rejects two webhook requests, and prints how many files of the engine are loaded after each step. */
const SCRIPT = `
  const { createServer } = require("node:http");
  const { once } = require("node:events");
  const counts = [];
  const count = () => counts.push(
    Object.keys(require.cache).filter((file) => /lib.signature.explain.[a-z-]+[.]ts$/.test(file)).length,
  );
  const { pushWebhooks } = require("./lib/index.ts");
  count();
  const push = pushWebhooks({ authToken: "a", publicUrl: "https://a.example/" });
  const errors = [];
  push.onRejected((error) => errors.push(error));
  const server = createServer(push).listen(0, "127.0.0.1");
  once(server, "listening").then(async () => {
    const url = "http://127.0.0.1:" + server.address().port;
    for (const signature of ["malformed", "A".repeat(27) + "="]) {
      await fetch(url, { method: "POST", headers: { "x-service-signature": signature } });
    }
    count();
    const codes = errors.map((error) => error.explain().causes[0].code);
    count();
    server.close();
    server.closeAllConnections();
    console.log(JSON.stringify({ counts, codes }));
  });
`;

describe("the explain engine", () => {
  it("is loaded by the first explain(), not by the package or by a rejected request", async () => {
    const args = [...TYPESCRIPT, "-e", SCRIPT];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    const { counts, codes } = JSON.parse(stdout) as { counts: number[]; codes: string[] };
    expect(counts.slice(0, 2)).toEqual([0, 0]);
    expect(counts[2]).toBeGreaterThan(5);
    expect(codes).toEqual(["SIGNATURE_MALFORMED", "PARAMS_MISSING"]);
  }, 30_000);

  it("shows no control character of a request", () => {
    const hostile = hostileText;
    const pairs = fc.array(fc.tuple(hostile, hostile), { maxLength: 2 });
    fc.assert(
      fc.property(hostile, hostile, hostile, pairs, (path, received, signature, params) => {
        const report = explainSignature({
          authToken: AUTH_TOKEN,
          url: `${PUBLIC_URL}/${path}`,
          receivedUrl: `https://hooks.example.test/${received}`,
          params,
          signature,
        });
        expect(listTexts(report).join(" ")).not.toMatch(CONTROL);
      }),
      { numRuns: 50 },
    );
  });
});
