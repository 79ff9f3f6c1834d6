import type { Socket } from 'node:net';
import { TargetError } from './failures.js';

// Some old servers and proxies send `100 Continue` that nobody asked for, and RFC 9110 (15.2) requires a client to accept it. undici ends the
// connection at a 100, although it skips every other 1xx, and has no option for it. So the status is changed to 102 before undici reads
// it. See decision 0082.

/** Position of the status in `HTTP/1.1 100 Continue`. */
const STATUS_AT = 9;
const STATUS_DIGITS = 3;
/** Interim responses and empty lines before one response, in bytes. undici does not limit them, and reads 2 MB of them in a second of CPU. */
const MAX_BYTES = 16_384;
/** A response whose body comes in chunks of one byte has 6 bytes for each, and a head and a trailer have at most 16 KiB. */
const BYTES_PER_BYTE = 8;
const MAX_SPARE_BYTES = 65_536;
const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const TWO = 0x32;

const WITHOUT_END = 'the receiver sends interim responses without end';
const MUCH_LONGER = 'the response is far longer than its content';

type ResponseStart = {
  /**
   * Call before each request on the connection. Bytes after the head of its final response are counted, but not examined.
   *
   * @param maxBytes the maximum size of its body
   */
  expectResponse(maxBytes: number): void;
};

/**
 * Makes undici skip `100 Continue` on this socket, as it skips other interim responses. Ends a connection that sends them without end, and one
 * whose response has far more bytes than its body may have: undici neither limits the extensions of chunks nor counts them.
 */
export function skipContinue(socket: Socket): ResponseStart {
  const scanner = makeScanner();
  let spare = 0;
  const read = socket.read.bind(socket);

  function end(error: string): null {
    socket.destroy(new TargetError('unreachable', 'not_http', error));
    return null;
  }

  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (!Buffer.isBuffer(chunk)) return chunk;
    spare -= chunk.length;
    if (spare < 0) return end(MUCH_LONGER);
    return scanner.scan(chunk) ? chunk : end(WITHOUT_END);
  };
  return {
    expectResponse(maxBytes) {
      spare = MAX_SPARE_BYTES + BYTES_PER_BYTE * maxBytes;
      scanner.expectResponse();
    },
  };
}

/** Reads status lines and the ends of interim responses, which can be cut into chunks at any byte. */
function makeScanner() {
  let place: 'status' | 'interim' | 'final' = 'final';
  let bytes = 0;
  let position = 0;
  let status = 0;
  let lineLength = 0;

  function expectStatus(): void {
    place = 'status';
    position = 0;
    status = 0;
  }

  function takeStatusByte(chunk: Buffer, index: number, byte: number): void {
    // Empty lines before a response are ignored.
    if (position === 0 && (byte === CR || byte === LF)) return;
    if (position >= STATUS_AT) status = status * 10 + (byte - ZERO);
    position += 1;
    if (position < STATUS_AT + STATUS_DIGITS) return;
    if (status === 100) chunk[index] = TWO;
    place = status >= 100 && status < 200 ? 'interim' : 'final';
    lineLength = position;
  }

  /** An empty line ends the interim response, and the next one begins. */
  function takeInterimByte(byte: number): void {
    if (byte === LF && lineLength === 0) expectStatus();
    else if (byte === LF) lineLength = 0;
    else if (byte !== CR) lineLength += 1;
  }

  return {
    expectResponse(): void {
      bytes = 0;
      expectStatus();
    },
    /** Returns false if there were too many bytes before the final response. */
    scan(chunk: Buffer): boolean {
      let index = 0;
      for (; index < chunk.length && place !== 'final'; index += 1) {
        const byte = chunk[index] ?? 0;
        if (place === 'status') takeStatusByte(chunk, index, byte);
        else takeInterimByte(byte);
      }
      bytes += index;
      return bytes <= MAX_BYTES;
    },
  };
}
