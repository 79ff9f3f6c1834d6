import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, RECURSION_AVAILABLE, type Answer } from 'dns-packet';

/** The answer for a name: its addresses of both families, or a failure. */
type DnsAnswer = string[] | { cname: string; addresses: string[] } | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export type DnsServer = {
  /** `address:port`. */
  address: string;
  /** Sets the answers for a name. Each query gets the next one; the last one repeats. */
  say(name: string, ...answers: DnsAnswer[]): void;
  /** Returns the number of queries for a name's IPv4 addresses. */
  askedFor(name: string): number;
  stop(): Promise<void>;
};

type Question = { name: string; type: string };

const RESPONSE_CODES = { NXDOMAIN: 3, SERVFAIL: 2 };

/** Starts a DNS server on loopback that answers over UDP what a test sets, and NXDOMAIN for all other names. */
export async function startDns(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const zone = new Map<string, DnsAnswer[]>();
  const counts = new Map<string, number>();

  function answerOf({ name, type }: Question): DnsAnswer {
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
    const dnsAnswer = answerOf(question);
    if (dnsAnswer === 'silence') return;
    const isFailure = typeof dnsAnswer === 'string';
    const code = isFailure ? RESPONSE_CODES[dnsAnswer] : 0;
    const answers = isFailure ? [] : recordsOf(question, dnsAnswer);
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

function recordsOf({ name, type }: Question, dnsAnswer: Exclude<DnsAnswer, string>): Answer[] {
  const { cname, addresses } = Array.isArray(dnsAnswer)
    ? { cname: undefined, addresses: dnsAnswer }
    : dnsAnswer;
  const isV6 = type === 'AAAA';
  const records = addresses
    .filter((address) => address.includes(':') === isV6)
    // A cache would keep this TTL. The client under test must not.
    .map((data): Answer => ({ type: isV6 ? 'AAAA' : 'A', name: cname ?? name, ttl: 300, data }));
  return cname === undefined ? records : [{ type: 'CNAME', name, ttl: 300, data: cname }, ...records];
}
