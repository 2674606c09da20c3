/** HTTP/2 frames as bytes (RFC 9113), for what the client of `node:http2` does not send. */
import { connect } from "node:net";

export const FLAGS = { endStream: 0x1, endHeaders: 0x4, padded: 0x8 };
const TYPES = { data: 0x0, headers: 0x1, rstStream: 0x3, settings: 0x4, continuation: 0x9 };
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** One frame, on stream 1 unless told. */
export function frame(
  type: keyof typeof TYPES,
  flags: number,
  payload: Buffer | string = "",
  streamId = 1,
): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head.writeUInt8(TYPES[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, bytes]);
}

/** A payload with its padding, for a frame with the flag `padded`. */
export function pad(payload: Buffer | string, length: number): Buffer {
  return Buffer.concat([Buffer.from([length]), Buffer.from(payload), Buffer.alloc(length)]);
}

/** A SETTINGS frame that sets the window of each stream to no bytes at all. */
export const NO_WINDOW = frame("settings", 0, Buffer.from([0, 4, 0, 0, 0, 0]), 0);

/** A field block: literal fields without indexing, without Huffman coding (RFC 7541, 6.2.2). */
export function encodeFields(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), encodeText(name), encodeText(value)]),
  );
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  // Of 7 bits, then 7 more with each byte (RFC 7541, 5.1).
  const rest = bytes.length - 127;
  const length = rest < 128 ? [127, rest] : [127, (rest & 0x7f) | 0x80, rest >> 7];
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** What a server sends on stream 1. */
export interface FrameResponse {
  /** Whether HEADERS with `:status` 200 came: its only status that is one byte of HPACK. */
  isOk: boolean;
  /** Whether HEADERS of any status came. */
  hasHeaders: boolean;
  /** Whether END_STREAM came. */
  isWhole: boolean;
  /** Whether stream 1, or the whole connection, was closed by RST_STREAM, GOAWAY or a FIN. */
  isClosed: boolean;
  gaveUp: boolean;
}

/** Sends frames, and reads until END_STREAM on stream 1, its reset, or the end of the connection. */
export async function sendFrames(
  port: number,
  frames: Buffer[],
  giveUpMs = 3_000,
): Promise<FrameResponse> {
  const socket = connect({ port, host: "127.0.0.1" });
  const response = {
    isOk: false,
    hasHeaders: false,
    isWhole: false,
    isClosed: false,
    gaveUp: false,
  };
  await new Promise<void>((resolve) => {
    let received = Buffer.alloc(0);
    const timer = setTimeout(() => {
      response.gaveUp = true;
      resolve();
    }, giveUpMs);
    const close = () => {
      response.isClosed = true;
      clearTimeout(timer);
      resolve();
    };
    socket
      .on("error", close)
      .on("end", close)
      .on("data", (chunk) => {
        received = Buffer.concat([received, chunk]);
        while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
          const end = 9 + received.readUIntBE(0, 3);
          const [type = 0, flags = 0] = received.subarray(3, 5);
          const streamId = received.readUInt32BE(5);
          if (streamId === 1 && type === TYPES.headers) {
            response.hasHeaders = true;
            // Entry 8 of the static table of HPACK.
            response.isOk ||= received[9] === 0x88;
          }
          const isEnd = type <= TYPES.headers && (flags & FLAGS.endStream) !== 0;
          response.isWhole ||= streamId === 1 && isEnd;
          received = received.subarray(end);
          if (type === 0x7 || (streamId === 1 && (type === TYPES.rstStream || isEnd))) close();
        }
      });
    socket.write(Buffer.concat([PREFACE, frame("settings", 0, "", 0), ...frames]));
  });
  socket.destroy();
  return response;
}
