import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome } from './journal.js';
import { PrinterAwayError, type Prepared, type Printer } from './printer.js';
import { isCompleteStatus, problemOf } from './printer-status.js';

const CONNECT_MS = 10_000;
/** A printer that answers status queries does so at once. */
const STATUS_MS = 1_000;
/** Longer than a round trip in the network of a warehouse. */
const SETTLE_MS = 100;

type Address = { host: string; port: number };

/** Sends each label over a connection of its own to a raw port, usually 9100. */
export function makeTcpPrinter(address: Address, timeoutMs: number): Printer {
  // Printers that do not answer are asked once, because each question costs a second.
  let answersStatus = true;
  return {
    name: `the printer at ${address.host}:${address.port}`,
    async open(job) {
      const socket = await connectTo(address);
      if (answersStatus) {
        const status = await readStatus(socket);
        answersStatus = status !== undefined;
        const problem = status === undefined ? undefined : problemOf(status);
        if (problem !== undefined) {
          socket.destroy();
          throw new PrinterAwayError(problem);
        }
      }
      return prepare(socket, job.zpl, timeoutMs);
    },
    recover: async () => ({
      status: 'unconfirmed',
      reason: 'The print bridge ended while it sent the label.',
    }),
    async discard() {
      // Nothing is left of a connection.
    },
  };
}

async function connectTo({ host, port }: Address): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true, allowHalfOpen: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    // An error later closes the connection, which `prepare` notices.
    return socket.on('error', () => undefined);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    const isTimeout = error instanceof Error && error.name === 'AbortError';
    throw new PrinterAwayError(
      isTimeout ? `no connection within ${CONNECT_MS / 1_000} seconds` : messageOf(error),
    );
  }
}

/** Returns what the printer answers to `~HS`; undefined if it answers nothing. */
async function readStatus(socket: Socket): Promise<string | undefined> {
  let answer = '';
  const onData = (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  };
  socket.on('data', onData).write('~HS\n');
  for (let waited = 0; waited < STATUS_MS && !isCompleteStatus(answer) && !socket.readableEnded; waited += 20)
    await pause(20);
  socket.off('data', onData);
  return isCompleteStatus(answer) ? answer : undefined;
}

function prepare(socket: Socket, zpl: string, timeoutMs: number): Prepared {
  const broken = () => 'broken' as const;
  const ended = once(socket, 'end').then(() => 'ended' as const, broken);
  const closed = once(socket, 'close').then(broken, broken);
  // Without a reader the end of the connection is not noticed.
  socket.resume();
  return {
    isReady: () => !socket.readableEnded && socket.writable,
    async print(): Promise<Outcome> {
      const late = pause(timeoutMs, 'late' as const, { ref: false });
      socket.write(zpl);
      // A printer that had closed the connection before is noticed in this time.
      const early = await Promise.race([ended, closed, pause(SETTLE_MS, 'open' as const)]);
      socket.end();
      // The printer closes its side when it has read everything.
      const result = early === 'open' ? await Promise.race([ended, closed, late]) : 'broken';
      socket.destroy();
      if (result === 'ended') return { status: 'printed' };
      return { status: 'unconfirmed', reason: result === 'late' ? slow(timeoutMs) : BROKEN };
    },
    async cancel() {
      socket.destroy();
    },
  };
}

const BROKEN = 'The connection to the printer broke while the label was sent.';
const slow = (timeoutMs: number) => `The printer did not take the label within ${timeoutMs / 1_000} seconds.`;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
