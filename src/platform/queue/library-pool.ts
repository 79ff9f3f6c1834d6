import type pg from 'pg';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/**
 * The same pool, whose failures to connect have no code. After some codes, for example that of a server that starts, the library sleeps up to
 * three minutes before it tries again, and goes on sleeping when the server is there. Without a code it tries once per second.
 */
export function failingWithoutCodes(pool: pg.Pool): pg.Pool {
  function connect(connected?: Connected): unknown {
    if (!connected)
      return pool.connect().catch((error: unknown) => {
        throw withoutCode(error);
      });
    pool.connect((error, client, done) => connected(error && withoutCode(error), client, done));
    return undefined;
  }
  return new Proxy(pool, {
    get: (target, name): unknown => (name === 'connect' ? connect : Reflect.get(target, name)),
  });
}

const withoutCode = (cause: unknown): Error =>
  new Error(cause instanceof Error ? cause.message : String(cause), { cause });
