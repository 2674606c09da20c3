import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { readUserInfo, sendCall, type SendOptions } from "../lib/send";
import { startTarget, stopEmulators } from "./support/emulators";

afterEach(stopEmulators);

function send(url: string, options: Partial<SendOptions> = {}, body = "a=1") {
  return sendCall(
    { method: "POST", url, headers: { "X-Test": "1" }, body },
    {
      connectTimeoutMs: 5_000,
      timeoutMs: 5_000,
      auth: undefined,
      dropConnection: false,
      signal: new AbortController().signal,
      onSent: () => {},
      ...options,
    },
  );
}

const failure = (code: string, isConnectionFailure: boolean) =>
  expect.objectContaining({ name: "SendFailure", code, isConnectionFailure });

describe("sendCall", () => {
  it("sends the target byte for byte", async () => {
    let seen: string | undefined;
    const url = await startTarget((req, res) => {
      seen = req.url;
      res.end();
    });
    for (const target of ["/it's/a/../b//c?q='x'&%2f=%2F+&[]|", "/", "/?", "/a?b=c?d"]) {
      await send(url + target);
      expect(seen).toBe(target);
    }
    await send(`${url}?a=1`);
    expect(seen).toBe("/?a=1");
    await send(`${url}/Zoë`);
    expect(seen).toBe("/Zo%C3%AB");
  });

  it("gives the answer, whatever it says", async () => {
    const url = await startTarget((req, res) => {
      void text(req).then((body) => {
        res.writeHead(418, { "X-Kind": "tea" });
        return res.end(`${String(req.headers["x-test"])} ${body}`);
      });
    });
    await expect(send(url)).resolves.toMatchObject({
      status: 418,
      headers: { "x-kind": "tea" },
      body: "1 a=1",
    });
  });

  it("follows no redirect", async () => {
    let calls = 0;
    const url = await startTarget((_req, res) => {
      calls++;
      res.writeHead(307, { Location: "/elsewhere" }).end();
    });
    await expect(send(url)).resolves.toMatchObject({ status: 307 });
    expect(calls).toBe(1);
  });

  it("keeps the beginning of a long answer", async () => {
    const url = await startTarget((_req, res) => void res.end("x".repeat(100_000)));
    expect((await send(url)).body).toHaveLength(16_384);
  });

  it("sends user info as credentials", async () => {
    let seen: string | undefined;
    const url = await startTarget((req, res) => {
      seen = req.headers.authorization;
      res.end();
    });
    expect(readUserInfo("http://h/")).toBeUndefined();
    const auth = readUserInfo("http://bot:s%40crt@h/");
    expect(auth).toBe("bot:s@crt");
    await send(url, { auth });
    expect(seen).toBe(`Basic ${btoa("bot:s@crt")}`);
  });

  it("fails for good when the answer does not come in time", async () => {
    const url = await startTarget(() => {});
    await expect(send(url, { timeoutMs: 30 })).rejects.toEqual(failure("TIMEOUT", false));
  });

  it("fails for good when the answer breaks off", async () => {
    const url = await startTarget((_req, res) => {
      res.writeHead(200, { "Content-Length": "10" });
      res.write("x", () => res.destroy());
    });
    await expect(send(url)).rejects.toEqual(failure("ECONNRESET", false));
  });

  it("says that the connection failed", async () => {
    const url = await startTarget((req) => void req.socket.destroy());
    await expect(send(url)).rejects.toEqual(failure("ECONNRESET", true));
    await stopEmulators();
    await expect(send(url)).rejects.toEqual(failure("ECONNREFUSED", true));
  });

  it("gives up connecting", async () => {
    // A TCP connection alone is not yet one of TLS: this one never is.
    const silent = createServer((socket) => void socket.resume()).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const { port } = silent.address() as AddressInfo;
    await expect(send(`https://127.0.0.1:${port}/`, { connectTimeoutMs: 30 })).rejects.toEqual(
      failure("CONNECT_TIMEOUT", true),
    );
    await new Promise((resolve) => silent.close(resolve));
  });

  it("cuts the connection after the whole call was sent", async () => {
    let received: string | undefined;
    let got!: () => void;
    const arrived = new Promise<void>((resolve) => (got = resolve));
    const url = await startTarget((req) => {
      void text(req).then((body) => {
        received = body;
        return got();
      });
    });
    let sent = false;
    const options = { dropConnection: true, onSent: () => void (sent = true) };
    await expect(send(url, options)).rejects.toEqual(failure("DROPPED", true));
    expect(sent).toBe(true);
    await arrived;
    expect(received).toBe("a=1");
  });

  it("ends when it is told to", async () => {
    const url = await startTarget(() => {});
    const ending = new AbortController();
    const sending = send(url, { signal: ending.signal, onSent: () => ending.abort() });
    await expect(sending).rejects.toEqual(failure("CLOSED", false));
    await expect(send(url, { signal: ending.signal })).rejects.toEqual(failure("CLOSED", false));
  });
});
