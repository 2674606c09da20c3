import { request, type IncomingMessage } from "node:http";
import { sendAnswer } from "../lib/answer";
import { sendRaw, startServer, stopServers } from "./support/servers";

const limits = { limitBytes: 100, bodyTimeoutMs: 60 };

afterEach(stopServers);

function answering(status: number, headers?: Record<string, string>): Promise<number> {
  return startServer((req, res) => {
    sendAnswer(req, res, { status, ...(headers !== undefined && { headers }) }, limits);
  });
}

const post = (length: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;

describe("sendAnswer", () => {
  it("answers 200 with nothing, and a refusal with the words of its status", async () => {
    const ok = await sendRaw(await answering(200), [post(0)]);
    expect(ok.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n/,
    );
    const refusal = await sendRaw(await answering(405, { Allow: "POST" }), [post(0)]);
    expect(refusal.text).toMatch(/\r\nAllow: POST\r\n[^]*\r\n\r\nMethod Not Allowed\n$/);
    expect(refusal.text).not.toContain("Connection: close");
  });

  it("keeps the connection of a small body, and the next call on it apart", async () => {
    const port = await answering(403);
    const { text } = await sendRaw(port, [post(5), "hello", post(2), "yo"], {
      giveUpMs: 60,
      untilClosed: true,
    });
    expect(text.match(/HTTP\/1\.1 403/g)).toHaveLength(2);
  });

  it.each([
    ["a small body", 403, post(50)],
    ["no more of a timed out body", 408, post(50)],
    ["a large body", 403, post(101)],
    [
      "a body of unknown length",
      403,
      "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ],
  ])("does not wait for ever for %s", async (_what, status, head) => {
    const port = await answering(status);
    const answer = await sendRaw(port, [head], { untilClosed: true, giveUpMs: 5_000 });
    expect(answer.status).toBe(status);
    expect(answer.gaveUp).toBe(false);
  });

  it("gets a refusal through to a sender that writes on for 20 MB", async () => {
    const port = await answering(413);
    const chunk = Buffer.alloc(65_536);
    const outcome = await new Promise<number | string>((resolve) => {
      const upload = request({ port, method: "POST", headers: { "content-length": 20_971_520 } });
      upload.on("response", (response: IncomingMessage) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        upload.destroy();
      });
      upload.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      const write = () => {
        if (!upload.destroyed) upload.write(chunk, write);
      };
      write();
    });
    expect(outcome).toBe(413);
  });
});
