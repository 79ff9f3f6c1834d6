import { Agent } from 'node:http';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { REHEARSAL } from './credentials.js';
import { ask, askSteadily, codeOf, isServed, type Question } from '../service/client.js';

/** Requests of the two tenants that do not move. */
export type Neighbours = { stop(): Promise<{ requests: number; failures: string[]; slowestMs: number }> };

const PER_SECOND = 20;

/** @param tokens of an administrator of each tenant */
export function startNeighbours(url: string, tokens: { two: string; gateway: string }): Neighbours {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const ending = { isOver: false };
  const failures: string[] = [];
  let requests = 0;
  let slowestMs = 0;
  const running = askSteadily(
    PER_SECOND,
    () => ending.isOver,
    async (n) => {
      const question = questionOf(n, tokens);
      const sentMs = performance.now();
      const outcome = await ask(url, question, agent).catch(codeOf);
      requests += 1;
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - sentMs));
      if (!isServed(outcome))
        failures.push(
          `${question.path} ${typeof outcome === 'string' ? outcome : `${outcome.status} ${outcome.text}`}`,
        );
    },
  );
  return {
    async stop() {
      ending.isOver = true;
      await running;
      agent.destroy();
      return { requests, failures, slowestMs };
    },
  };
}

function questionOf(n: number, { two, gateway }: { two: string; gateway: string }): Question {
  const ofTwo = { host: DEMO.hosts.two };
  const ofGateway = { host: 'gateway.example.com', authorization: `Bearer ${gateway}` };
  const post = (path: string, headers: Record<string, string>, body: object): Question => ({
    ...{ method: 'POST', path: `/api/${path}.php`, headers, body },
  });
  switch (n % 4) {
    case 0:
      return post(
        'Prealert',
        { ...ofTwo, 'x-api-key': REHEARSAL.apiKeys.TWO },
        { UserCode: 'TWO-3001', TrackingNumber: `NEIGHBOUR-${n}` },
      );
    case 1:
      return post('RetrievePackages', { ...ofTwo, authorization: `Bearer ${two}` }, { limit: 20 });
    case 2:
      return post('ReceivePackage', ofGateway, { tracking_number: `NEIGHBOUR-${n}`, weight: 1.5 });
    default:
      return post('RetrievePackages', ofGateway, { limit: 20 });
  }
}
