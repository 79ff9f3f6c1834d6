import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, RECURSION_AVAILABLE, type Answer } from 'dns-packet';

/** What the server says of a name: its addresses, of both families; or how it fails. */
export type Said = string[] | { cname: string; addresses: string[] } | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export type DnsServer = {
  /** `address:port`. */
  address: string;
  /** What each name is; a name with several answers gives the first to its first asker, the last to all later ones. */
  say(name: string, ...answers: Said[]): void;
  /** How often a name was asked for, in one family. */
  askedFor(name: string): number;
  stop(): Promise<void>;
};

type Question = { name: string; type: string };

const RESPONSE_CODES = { NXDOMAIN: 3, SERVFAIL: 2 };

/** A name server on loopback that answers, over UDP, what a test says; NXDOMAIN for what nobody said. */
export async function startDns(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const zone = new Map<string, Said[]>();
  const counts = new Map<string, number>();

  function saidOf({ name, type }: Question): Said {
    const key = `${type} ${name.toLowerCase()}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const answers = zone.get(name.toLowerCase()) ?? ['NXDOMAIN'];
    return answers[count] ?? answers.at(-1) ?? 'NXDOMAIN';
  }

  socket.on('message', (message, from) => {
    const { id = 0, questions = [] } = decode(message);
    const [question] = questions;
    if (!question) return;
    const said = saidOf(question);
    if (said === 'silence') return;
    const isFailure = typeof said === 'string';
    const code = isFailure ? RESPONSE_CODES[said] : 0;
    const answers = isFailure ? [] : recordsOf(question, said);
    const flags = RECURSION_AVAILABLE | code;
    socket.send(encode({ type: 'response', id, flags, questions, answers }), from.port, from.address);
  });

  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    say(name, ...answers) {
      zone.set(name, answers);
    },
    askedFor: (name) => counts.get(`A ${name}`) ?? 0,
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function recordsOf({ name, type }: Question, said: Exclude<Said, string>): Answer[] {
  const { cname, addresses } = Array.isArray(said) ? { cname: undefined, addresses: said } : said;
  const isV6 = type === 'AAAA';
  const records = addresses
    .filter((address) => address.includes(':') === isV6)
    // ttl: what a cache on the way would hold to, and ours must not
    .map((data): Answer => ({ type: isV6 ? 'AAAA' : 'A', name: cname ?? name, ttl: 300, data }));
  return cname === undefined ? records : [{ type: 'CNAME', name, ttl: 300, data: cname }, ...records];
}
