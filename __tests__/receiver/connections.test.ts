import { Agent, createServer, request, type Server } from "node:http";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
} from "node:http2";
import { connect, type AddressInfo, type Socket } from "node:net";
import { createConnections, type Connections } from "../../lib/receiver/connections";

let server: Server | undefined;
const agents: Agent[] = [];

afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** Starts a server whose responses are delayed by the milliseconds in the path. */
async function start(connections: Connections): Promise<(delayMs: number) => Promise<string>> {
  server = createServer((req, res) => {
    const endRequest = connections.begin(req, res);
    const respond = () => {
      endRequest();
      res.end();
    };
    setTimeout(respond, Number(req.url?.slice(1)));
  }).listen(0);
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return (delayMs) =>
    new Promise((resolve, reject) => {
      request({ agent, port, path: `/${delayMs}` }, (res) => {
        res.resume().on("end", () => resolve(String(res.headers.connection)));
      })
        .on("error", reject)
        .end();
    });
}

async function timeOf(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

describe("createConnections", () => {
  it("waits for running requests, and ends the keep-alive of their connections", async () => {
    const connections = createConnections();
    const send = await start(connections);
    await send(0);
    const response = send(100);
    await new Promise((resolve) => setTimeout(resolve, 30));
    server?.close();
    expect(await timeOf(connections.drain(5_000))).toBeGreaterThan(40);
    expect(await response).toBe("close");
  });

  it("waits for the open connections of a server that no longer listens", async () => {
    const connections = createConnections();
    const send = await start(connections);
    const first = send(60);
    await new Promise((resolve) => setTimeout(resolve, 20));
    server?.close();
    const drained = timeOf(connections.drain(5_000));
    expect(await first).toBe("close");
    expect(await drained).toBeLessThan(1_000);
  });

  it("does not wait for idle connections of a server that still listens", async () => {
    const connections = createConnections();
    const send = await start(connections);
    expect(await send(0)).toBe("keep-alive");
    expect(await timeOf(connections.drain(5_000))).toBeLessThan(500);
  });

  it("resolves at its deadline in any case", async () => {
    const connections = createConnections();
    const send = await start(connections);
    send(2_000).catch(() => "the server is closed after the test");
    await new Promise((resolve) => setTimeout(resolve, 30));
    const tookMs = await timeOf(connections.drain(80));
    expect(tookMs).toBeGreaterThan(70);
    expect(tookMs).toBeLessThan(1_000);
  });

  describe("at its deadline", () => {
    const sockets: Socket[] = [];
    let http2Server: Http2Server | undefined;
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
      http2Server?.close();
    });

    /** Opens a connection, sends text and resolves when the server has had time to read it. */
    async function open(text: string): Promise<Socket> {
      const { port } = server!.address() as AddressInfo;
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      sockets.push(socket);
      socket.resume().write(text);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return socket;
    }

    it.each([
      ["headers", "POST /0 HTTP/1.1\r\nhost: a\r\nx-half: "],
      ["a body", "POST /5000 HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf"],
    ])("destroys a connection with a half-sent request: %s", async (_what, text) => {
      const connections = createConnections();
      const send = await start(connections);
      await send(0);
      const socket = await open(text);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      server?.close();
      const tookMs = await timeOf(connections.drain(100));
      expect(tookMs).toBeGreaterThan(90);
      expect(tookMs).toBeLessThan(1_000);
      expect(await timeOf(closed)).toBeLessThan(500);
    });

    it("closes a half-sent stream of HTTP/2", async () => {
      const connections = createConnections();
      const arrived = new Promise<void>((resolve) => {
        http2Server = createHttp2Server((req, res) => {
          req.stream.once("close", connections.begin(req as never, res as never));
          resolve();
        }).listen(0);
      });
      const session = connectHttp2(
        `http://127.0.0.1:${(http2Server!.address() as AddressInfo).port}`,
      );
      const stream = session.request({ ":method": "POST" }, { endStream: false });
      const closed = new Promise((resolve) => stream.on("error", () => {}).once("close", resolve));
      stream.write("half");
      await arrived;
      http2Server?.close();
      expect(await timeOf(connections.drain(100))).toBeLessThan(1_000);
      expect(await timeOf(closed)).toBeLessThan(500);
      session.destroy();
    });

    it("follows the sessions of one server for many receivers", async () => {
      const receivers = Array.from({ length: 12 }, createConnections);
      let ofServer: ServerHttp2Session | undefined;
      const answered = new Promise<void>((resolve) => {
        http2Server = createHttp2Server((req, res) => {
          for (const each of receivers) each.begin(req as never, res as never)();
          ofServer = req.stream.session as ServerHttp2Session;
          res.end();
          resolve();
        }).listen(0);
      });
      const { port } = http2Server!.address() as AddressInfo;
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      session.request().resume();
      await answered;
      const followed = [
        [http2Server!, "session"],
        [ofServer!, "close"],
      ] as const;
      for (const [emitter, event] of followed) {
        const count = emitter.listenerCount(event);
        expect(count).toBeGreaterThan(10);
        // Beyond it, Node warns of a leak.
        expect(emitter.getMaxListeners()).toBeGreaterThanOrEqual(count);
      }
      session.destroy();
    });

    it("leaves a request whose body is complete, and its response, alone", async () => {
      const connections = createConnections();
      const send = await start(connections);
      const response = send(400);
      await new Promise((resolve) => setTimeout(resolve, 50));
      server?.close();
      await connections.drain(50);
      expect(await response).toBe("close");
    });

    it("leaves a request of another part of the app alone", async () => {
      const connections = createConnections();
      const send = await start(connections);
      await send(0);
      const [own] = server!.listeners("request") as (() => void)[];
      server?.off("request", own!).on("request", (_req, res) => {
        setTimeout(() => res.end("late"), 400);
      });
      const { port } = server!.address() as AddressInfo;
      const response = fetch(`http://127.0.0.1:${port}/other`).then((other) => other.text());
      await new Promise((resolve) => setTimeout(resolve, 50));
      server?.close();
      await connections.drain(50);
      expect(await response).toBe("late");
    });

    it("leaves connections of a server that still listens alone", async () => {
      const connections = createConnections();
      const send = await start(connections);
      await send(0);
      const socket = await open("POST /0 HTTP/1.1\r\nhost: a\r\nx-half: ");
      await connections.drain(50);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(socket.destroyed).toBe(false);
    });
  });

  it.each([[null], ["a name"], [{}]])(
    "counts a request whose socket has the server %p",
    async (odd) => {
      const connections = createConnections();
      const req = { socket: { server: odd } } as never;
      connections.begin(req, { headersSent: false } as never)();
      expect(await timeOf(connections.drain(1_000))).toBeLessThan(500);
    },
  );

  it("counts a response without a request, as adapters of serverless platforms have", async () => {
    const connections = createConnections();
    const begin = () => connections.begin({} as never, { headersSent: false } as never);
    const first = begin();
    const drained = timeOf(connections.drain(1_000));
    const second = begin();
    first();
    setTimeout(second, 30);
    expect(await drained).toBeGreaterThan(20);
    expect(await drained).toBeLessThan(900);
  });
});
